/** Staged versions that change more than their transaction says: rows of a compaction, other fragments. */
import { beforeEach, expect, test } from 'vitest';
import {
  Int32,
  type RecordBatchStream,
  recordBatchStream,
  Table,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import {
  type ClientFragment,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';
import { idsOf } from '../../helpers/people.ts';

type Row = readonly [id: number, name: string | null];

let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

/** Fragments 0, 1 and 2 with the ids 0 to 3, 4 to 6 and 7 to 9; of the first, row 1 is deleted. */
beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, stream([0, 1, 2, 3].map(row)));
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
  await create(await client.append(stream([4, 5, 6].map(row)), 3));
  await create(await client.append(stream([7, 8, 9].map(row)), 3));
  await create(client.delete(new Map([[0, [1]]])));
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });
const ids = (): Promise<number[]> => idsOf(db.namespace, ['t']);
const at = (place: number): ClientFragment => client.manifest.fragments[place] as ClientFragment;

const row = (id: number): Row => [id, `name ${id}`];
function stream(rows: readonly Row[]): RecordBatchStream {
  const table = new Table({
    id: vectorFromArray(
      rows.map(([id]) => id),
      new Int32(),
    ),
    name: vectorFromArray(
      rows.map(([, name]) => name),
      new Utf8(),
    ),
  });
  return recordBatchStream(table.schema, table.batches);
}

async function fragmentOf(rows: readonly Row[]): Promise<ClientFragment> {
  return {
    id: ++client.manifest.maxFragmentId,
    files: [await client.dataFile(stream(rows), [0, 1])],
    deletion: undefined,
    physicalRows: rows.length,
  };
}

type Group = readonly [before: readonly ClientFragment[], after: readonly ClientFragment[]];

const rewrite = (...groups: readonly Group[]): Operation => [
  104,
  (into) => {
    for (const [before, after] of groups) {
      into.message(3, (group) => {
        for (const each of before) group.message(1, fragmentMembers(each));
        for (const each of after) group.message(2, fragmentMembers(each));
      });
    }
  },
];

/** Puts fragments of these rows in the place of fragments 0 and 1. */
async function compacted(
  ...parts: readonly (readonly Row[])[]
): Promise<CreateTableVersionRequest> {
  const after: ClientFragment[] = [];
  for (const rows of parts) after.push(await fragmentOf(rows));
  const before = client.manifest.fragments.splice(0, 2);
  client.manifest.fragments.push(...after);
  return client.stage(rewrite([before, after]));
}

const LIVE = [0, 2, 3, 4, 5, 6];

test.each<[string, (readonly Row[])[]]>([
  ['one fragment', [LIVE.map(row)]],
  ['several fragments', [LIVE.slice(0, 4).map(row), LIVE.slice(4).map(row)]],
])('a compaction to %s', async (_, parts) => {
  await create(await compacted(...parts));
  // Lance keeps its fragments in the order of their ids.
  expect(await ids()).toEqual([7, 8, 9, ...LIVE]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('a compaction whose new fragment has deleted rows of its own', async () => {
  const added = await fragmentOf([row(99), ...LIVE.map(row)]);
  added.deletion = client.deletion(added, [0]);
  const before = client.manifest.fragments.splice(0, 2, added);
  await create(client.stage(rewrite([before, [added]])));
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('a compaction that lists a file without fields before that of its fragment', async () => {
  const added = await fragmentOf(LIVE.map(row));
  const [file] = added.files as [(typeof added.files)[number]];
  const empty = { ...file, path: 'gone.lance', fields: file.fields.map(() => -2) };
  const before = client.manifest.fragments.splice(0, 2, added);
  const listed = { ...added, files: [empty, file] };
  await create(client.stage(rewrite([before, [listed]])));
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('a compaction of a fragment whose rows are all gone meanwhile', async () => {
  const [zero, one] = [at(0), at(1)];
  zero.deletion = client.deletion(zero, [0, 1, 2]);
  await create(client.stage([101, (into) => into.message(1, fragmentMembers(zero))]));
  const added = await fragmentOf([3, 4, 5, 6].map(row));
  client.manifest.fragments.splice(0, 2, added);
  await create(client.stage(rewrite([[zero, one], [added]])));
  expect(await ids()).toEqual([3, 4, 5, 6, 7, 8, 9]);
});

const VALUES = 'stand for fragments 0, 1, and their rows hold other values of';

test.each<[string, (readonly Row[])[], string]>([
  ['a value', [[row(0), row(2), [3, 'other'], row(4), row(5), row(6)]], `${VALUES} "name"`],
  ['a null', [[row(0), row(2), [3, null], row(4), row(5), row(6)]], `${VALUES} "name"`],
  ['a row that is gone', [[0, 2, 3, 4, 5].map(row)], 'fragments 3 stand for fragments 0, 1, and 6'],
  ['every row', [], 'fragments none stand for fragments 0, 1, and 6 rows became 0'],
  ['a row that is there twice', [[...LIVE, 6].map(row)], '6 rows became 7'],
  ['a row in place of another', [[0, 2, 3, 4, 5, 5].map(row)], `${VALUES} "id"`],
  ['rows that changed places', [[2, 0, 3, 4, 5, 6].map(row)], `${VALUES} "id"`],
  ['a deleted row', [[0, 1, 2, 3, 4, 5].map(row)], `${VALUES} "id"`],
  ['fragments that changed places', [[4, 5, 6].map(row), [0, 2, 3].map(row)], `${VALUES} "id"`],
])('refused: a compaction that changes %s', async (_, parts, says) => {
  await expect(create(await compacted(...parts))).rejects.toThrow(says);
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('refused: rows that went to another group, and groups of other fragments', async () => {
  const [zero, one, two] = client.manifest.fragments as [
    ClientFragment,
    ClientFragment,
    ClientFragment,
  ];
  const first = await fragmentOf([0, 2, 4].map(row));
  const second = await fragmentOf([3, 5, 6].map(row));
  const staged = (fragments: ClientFragment[], ...groups: Group[]): CreateTableVersionRequest => {
    client.manifest.version = 4;
    client.manifest.fragments = fragments;
    return client.stage(rewrite(...groups));
  };
  const after = [two, first, second];
  await expect(create(staged(after, [[zero], [first]], [[one], [second]]))).rejects.toThrow(
    'fragments 3 stand for fragments 0, and their rows hold other values of "id"',
  );
  await expect(
    create(
      staged(after, [
        [zero, one, zero],
        [first, second],
      ]),
    ),
  ).rejects.toThrow('fragment 0, which it removes, is still there or was not');
  await expect(
    create(
      staged(after, [
        [zero, one, two],
        [first, second],
      ]),
    ),
  ).rejects.toThrow('fragment 2, which it removes, is still there or was not');
  await expect(create(staged(after, [[zero], [first, second]]))).rejects.toThrow(
    'fragment 1 is gone',
  );
  const others = 'its new fragments are others, or in another order';
  await expect(
    create(
      staged(after, [
        [zero, one],
        [second, first],
      ]),
    ),
  ).rejects.toThrow(others);
  const twice: Group[] = [
    [[zero], [first]],
    [[one], [first]],
  ];
  await expect(create(staged(after, ...twice))).rejects.toThrow(others);
  const smaller = { ...second, physicalRows: 2 };
  await expect(
    create(
      staged(after, [
        [zero, one],
        [first, smaller],
      ]),
    ),
  ).rejects.toThrow(others);
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

/** Stages version 5 by the operation after the change. */
function changed(change: () => void, operation: () => Operation): CreateTableVersionRequest {
  change();
  return client.stage(operation());
}

const merge = (fragments: readonly ClientFragment[]): Operation => [
  105,
  (into) => {
    for (const each of fragments) into.message(1, fragmentMembers(each));
    for (const each of client.manifest.fields) into.message(2, fieldMembers(each));
  },
];

test('refused: fragments that are elsewhere, whatever was done', async () => {
  const swap = (): void => void client.manifest.fragments.reverse();
  await expect(create(changed(swap, () => [107, () => {}]))).rejects.toThrow(
    'its transaction is reserve_fragments, and fragment 0 is elsewhere',
  );
  client.open();
  const added = await fragmentOf([row(20)]);
  client.manifest.fragments.splice(1, 0, added);
  const append: Operation = [100, (into) => into.message(1, fragmentMembers(added))];
  await expect(create(client.stage(append))).rejects.toThrow('fragment 1 is elsewhere');
  client.open();
  const [zero, one, two] = client.manifest.fragments as [
    ClientFragment,
    ClientFragment,
    ClientFragment,
  ];
  const same = await fragmentOf([0, 2, 3].map(row));
  client.manifest.fragments = [same, two, one];
  await expect(create(client.stage(rewrite([[zero], [same]])))).rejects.toThrow(
    'its transaction is rewrite, and fragment 1 is elsewhere',
  );
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('refused: a delete or an update that leaves what it says is gone, or has other deleted rows', async () => {
  for (const member of [101, 108]) {
    client.open();
    const gone: Operation = [member, (into) => into.packed(member === 101 ? 2 : 1, [1])];
    await expect(create(client.stage(gone))).rejects.toThrow('fragment 1 is still there');
    client.open();
    const one = at(1);
    const said = { ...one, deletion: client.deletion(one, [0]) };
    const list = member === 101 ? 1 : 2;
    const others = [{ rows: 2 }, { id: 77n }, { readVersion: 1n }, { kind: 'bitmap' }] as const;
    for (const other of [undefined, ...others]) {
      client.open();
      at(1).deletion = other && { ...said.deletion, ...other };
      const deleted: Operation = [member, (into) => into.message(list, fragmentMembers(said))];
      await expect(create(client.stage(deleted))).rejects.toThrow(
        'fragment 1 is not as it lists it',
      );
    }
    // Where the rows of one that is gone are by now, the client does not know.
    client.open();
    const stale: Operation = [member, (into) => into.packed(member === 101 ? 2 : 1, [77])];
    await expect(create(client.stage(stale))).rejects.toThrow('there was no fragment 77 before');
  }
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('refused: an update that does not list its new rows or its columns', async () => {
  const added = await fragmentOf([row(20)]);
  client.manifest.fragments.push(added);
  const listing = (fragment: ClientFragment): Operation => [
    108,
    (into) => into.message(3, fragmentMembers(fragment)),
  ];
  const other = { ...added, files: [await client.dataFile(stream([row(21)]), [0, 1])] };
  await expect(create(client.stage(listing(other)))).rejects.toThrow(
    'its transaction is update, and it does not list fragment 3 so',
  );
  for (const [name, modified] of [
    ['"name"', [0]],
    ['"id"', [1]],
  ] as const) {
    client.open();
    const file = await client.dataFile(stream([20, 21, 22].map(row)), [0, 1]);
    at(1).files = [{ ...(at(1).files[0] as typeof file), fields: [-2, -2] }, file];
    const update: Operation = [
      108,
      (into) => into.message(2, fragmentMembers(at(1))).packed(4, [...modified]),
    ];
    await expect(create(client.stage(update))).rejects.toThrow(
      `fragment 1 has other values of the column ${name}`,
    );
  }
  client.open();
  at(1).files = at(1).files.map((file) => ({ ...file, fields: [0, -2] }));
  const lost: Operation = [108, (into) => into.message(2, fragmentMembers(at(1)))];
  await expect(create(client.stage(lost))).rejects.toThrow(
    'fragment 1 has no values of the column "name"',
  );
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('refused: a merge that lists other fragments, or gives columns of before other values', async () => {
  const listed = [...client.manifest.fragments];
  await expect(create(client.stage(merge(listed.slice(1))))).rejects.toThrow(
    'its transaction is merge, and 3 fragments are there, where it lists 2',
  );
  const changes = [{ fileSize: 1 }, { fields: [0, 7] }, { columns: [1, 0] }, { path: 'x.lance' }];
  for (const change of changes) {
    client.open();
    const files = at(1).files.map((file) => ({ ...file, ...change }));
    const others = [at(0), { ...at(1), files }, at(2)];
    await expect(create(client.stage(merge(others)))).rejects.toThrow(
      'fragment 1 is not as it lists it',
    );
  }
  client.open();
  const replaced = await client.dataFile(stream([20, 21, 22].map(row)), [0, 1]);
  at(1).files = [{ ...(at(1).files[0] as typeof replaced), fields: [-2, -2] }, replaced];
  await expect(create(client.stage(merge(client.manifest.fragments)))).rejects.toThrow(
    'its transaction is merge, and fragment 1 has other values of the column "id"',
  );
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});

test('refused: an append of other files than it lists, or of columns that its files do not have', async () => {
  const added = await fragmentOf([row(20)]);
  client.manifest.fragments.push(added);
  const other = { ...added, files: [await client.dataFile(stream([row(20)]), [0, 1])] };
  const listing = (fragment: ClientFragment): Operation => [
    100,
    (into) => into.message(1, fragmentMembers(fragment)),
  ];
  await expect(create(client.stage(listing(other)))).rejects.toThrow(
    'its transaction is append, and it does not list fragment 3 so',
  );
  client.open();
  const beyond = await fragmentOf([row(20)]);
  beyond.files = beyond.files.map((file) => ({ ...file, columns: [0, 2] }));
  client.manifest.fragments.push(beyond);
  await expect(create(client.stage(listing(beyond)))).rejects.toThrow(
    /column 2 of the file "\w+\.lance" is none of its own schema, and field 1 is "name" of type "string"/,
  );
  expect(await ids()).toEqual([...LIVE, 7, 8, 9]);
});
