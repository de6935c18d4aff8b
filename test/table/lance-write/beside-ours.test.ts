/** What clients of Lance stage beside commits of ours, what goes when they hang up, and what they leave behind. */
import { beforeEach, expect, test } from 'vitest';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { fragmentMembers, LanceClient } from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
const T = `/c/${FOLDER}`;
const id = ['t'];
let fs: ReturnType<typeof memoryFs>;
let db: Awaited<ReturnType<typeof connect>>;
let files: CatalogFiles;
let client: LanceClient;

beforeEach(async () => {
  fs = memoryFs();
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id }, people(5));
  client = new LanceClient(files, FOLDER);
});

const create = (request: CreateTableVersionRequest, signal?: AbortSignal): Promise<unknown> =>
  db.namespace.createTableVersion({ id, ...request }, signal === undefined ? {} : { signal });
const optimize = async (options: object = {}): Promise<unknown> =>
  (await db.openTable('t')).optimize(options);

test('Lance finds fragments by ascending ids, and its changes leave our order of rows', async () => {
  for (const from of [5, 6]) await db.namespace.insertIntoTable({ id }, people(1, from));
  await db.namespace.insertIntoTable({ id }, people(3000, 100));
  await optimize({ compaction: { targetRows: 2000 }, cleanupOlderThan: false });
  client.open();
  expect(client.manifest.fragments.map((each) => each.id)).toEqual([3, 4]);
  const before = [0, 1, 2, 3, 4, 5, 6];
  expect((await idsOf(db.namespace, id)).slice(0, 8)).toEqual([...before, 100]);
  await create(await client.append(people(1, 9), 1));
  await create(client.delete(new Map([[4, [0]]])));
  const found = await idsOf(db.namespace, id);
  expect(found.slice(0, 7)).toEqual([...before.slice(1), 100]);
  expect(found.at(-1)).toBe(9);
});

test.each([
  ['updated', 101, 1],
  ['removed', 101, 2],
  ['updated', 108, 2],
  ['removed', 108, 1],
] as const)('refused: a fragment that is gone, as %s by %s', async (what, operation, member) => {
  await db.namespace.insertIntoTable({ id }, people(1, 5));
  client.open();
  const [gone] = client.manifest.fragments as [LanceClient['manifest']['fragments'][number]];
  await optimize({ cleanupOlderThan: false });
  client.open();
  const request = client.stage([
    operation,
    (into) => {
      if (what === 'updated') into.message(member, fragmentMembers(gone));
      else into.packed(member, [gone.id]);
    },
  ]);
  await expect(create(request)).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining(
      what === 'updated'
        ? `fragment ${gone.id} is not as it lists it`
        : `there was no fragment ${gone.id} before`,
    ),
  });
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2, 3, 4, 5]);
});

test.each([101, 108])(
  'taken: a fragment whose last rows went, as updated and as removed by %s',
  async (operation) => {
    await db.namespace.insertIntoTable({ id }, people(1, 5));
    client.open();
    // As a client leaves it that found the other rows deleted meanwhile.
    const [gone] = client.manifest.fragments.splice(0, 1) as typeof client.manifest.fragments;
    const { id: number } = gone as { id: number };
    const request = client.stage([
      operation,
      (into) => {
        const members = fragmentMembers(gone as never);
        if (operation === 101) into.message(1, members).packed(2, [number]);
        else into.packed(1, [number]).message(2, members);
      },
    ]);
    await create(request);
    expect(await idsOf(db.namespace, id)).toEqual([5]);
  },
);

test.each([
  ['by its own name', {}, false],
  ['with a field that was dropped since', { fields: [0, 7] }, true],
])(
  'a fragment whose file the client lists %s, and its manifest as we do',
  async (_, differs, isDropped) => {
    await create(await client.append(people(4, 5), 4));
    const [, listed] = client.manifest.fragments as [
      unknown,
      Parameters<typeof fragmentMembers>[0],
    ];
    await db.namespace.deleteFromTable({ id, predicate: 'id = 0' });
    if (isDropped) await db.namespace.alterTableDropColumns({ id, columns: ['name'] });
    const stage = (file: object): CreateTableVersionRequest => {
      client.open();
      const [, found] = client.manifest.fragments as [unknown, typeof listed];
      const deletion = client.deletion(found, [1]);
      found.deletion = deletion;
      const files = listed.files.map((each) => ({ ...each, ...file }));
      return client.stage([
        101,
        (into) => into.message(1, fragmentMembers({ ...listed, files, deletion })),
      ]);
    };
    for (const other of [{ path: 'x.lance' }, { fileSize: 9 }, { fields: [7, 1] }])
      await expect(create(stage(other))).rejects.toThrow('fragment 1 is not as it lists it');
    await create(stage(differs));
    expect(await idsOf(db.namespace, id)).toEqual([1, 2, 3, 4, 5, 7, 8]);
  },
);

test('a client that hangs up: nothing is published, and nothing of it stays but its own files', async () => {
  const request = await client.append(people(3, 5), 3);
  const before = files.all();
  const reason = new Error('hung up');
  // Aborted at each of the looks that the work takes.
  for (let looks = 1; ; looks++) {
    const { signal, seen } = endingAt(looks, reason);
    const outcome = await create(request, signal).then(
      () => 'taken',
      (error: unknown) => error,
    );
    if (outcome === 'taken') {
      expect(seen()).toBeLessThan(looks);
      expect(looks).toBeGreaterThan(2);
      break;
    }
    expect(outcome).toBe(reason);
    expect(files.all()).toEqual(before);
  }
  expect(await idsOf(db.namespace, id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

/** A signal that is aborted once it was looked at so many times. */
function endingAt(
  looks: number,
  reason: Error,
): { readonly signal: AbortSignal; readonly seen: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let count = 0;
  signal.throwIfAborted = () => {
    if (++count === looks) controller.abort(reason);
    if (signal.aborted) throw signal.reason;
  };
  return { signal, seen: () => count };
}

/** What a client wrote for a version that never came. */
const LEFT = [
  `${T}/data/011101100100010011110111f2b9e14efa9d95ee6606e8e8ac.lance`,
  `${T}/_versions/18446744073709551613.manifest-00000000-1111-2222-3333-444444444444`,
  `${T}/_deletions/0-1-77.arrow`,
  `${T}/_deletions/0-0-77.bin`,
  `${T}/_transactions/1-f6d8fe70-b79a-41f1-ab37-30f6f2881395.txn`,
];
const THEIRS = `${T}/_versions/18446744073709551600.manifest`;
const left = (): string[] => LEFT.filter((file) => fs.existsSync(file));
function leave(days: number): void {
  const then = new Date(Date.now() - days * 24 * 3_600_000);
  for (const folder of ['_deletions', '_transactions'])
    fs.mkdirSync(`${T}/${folder}`, { recursive: true });
  for (const file of LEFT) {
    fs.writeFileSync(file, 'x');
    fs.utimesSync(file, then, then);
  }
}

test.each(['read', 'sync', 'off', 'write'] as const)(
  'what clients of Lance left goes by age, with the table in the mode %s by now',
  async (lance) => {
    await create(client.delete(new Map([[0, [1]]])));
    await db.close();
    db = await connect('/c', { fs, lance });
    await db.namespace.insertIntoTable({ id }, people(1, 5));
    const unverified = {
      cleanupOlderThan: new Date(0),
      deleteUnverified: true,
      compaction: false,
    };
    leave(6);
    await optimize();
    expect(left()).toEqual(LEFT);
    await optimize(unverified);
    // Where Lance may write, a user says so of files of clients too; elsewhere they may be of another dataset.
    expect(left()).toEqual(lance === 'write' ? [] : LEFT);
    leave(8);
    if (lance !== 'write') {
      fs.writeFileSync(THEIRS, 'of another program, which may refer to the files');
      await optimize();
      expect(left()).toEqual(LEFT);
      fs.unlinkSync(THEIRS);
    }
    await optimize();
    expect(left()).toEqual([]);
    expect(await idsOf(db.namespace, id)).toEqual([0, 2, 3, 4, 5]);
    expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
  },
);

test('the primary key that a program sets is one for Lance, and stays one', async () => {
  const table = await db.openTable('t');
  await table.alterColumns([{ path: 'id', nullable: false }]);
  await table.setUnenforcedPrimaryKey('id');
  const keys = (): unknown => {
    client.open();
    return client.manifest.fields.map(({ name, primaryKey }) => [name, primaryKey]);
  };
  const found = keys();
  expect(found).toContainEqual(['id', true]);
  await create(client.delete(new Map([[client.manifest.fragments[0]?.id ?? 0, [0]]])));
  expect(keys()).toEqual(found);
});
