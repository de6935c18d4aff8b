/** Versions that writers of Lance stage: what is taken, what is refused, and what the client goes on with. */
import { beforeEach, expect, test } from 'vitest';
import {
  Field,
  Float64,
  Int32,
  List,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  tableFromArrays,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { ParsedDataFile, ParsedDeletion } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import {
  type ClientFragment,
  type ClientManifest,
  encodeClientManifest,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
/** Where a manifest says which table its writer has read. */
const TABLE = 'dirspace.incarnation';
let db: Awaited<ReturnType<typeof connect>>;
let files: CatalogFiles;
let client: LanceClient;
let current: ReturnType<typeof memoryFs>;

beforeEach(async () => {
  const fs = memoryFs();
  current = fs;
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id: ['t'] }, people(5));
  client = new LanceClient(files, FOLDER);
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ id: ['t'], ...request });
const ids = (version?: number): Promise<number[]> =>
  idsOf(db.namespace, ['t'], version === undefined ? {} : { version });
const rowsOf = async (): Promise<unknown[]> =>
  (await (await db.openTable('t')).query().toArray()).map((row) => ({ ...row }));
const problems = async (): Promise<unknown> => (await db.namespace.verify?.({}))?.problems;
const numbers = (columns: Record<string, Int32Array | Float64Array>): RecordBatchStream => {
  const table = tableFromArrays(columns);
  return recordBatchStream(table.schema, table.batches);
};
const fragment = (at: number): ClientFragment => client.manifest.fragments[at] as ClientFragment;
/** A transaction that says that these fields, or these fragments, are all there is. */
const of = (member: number, manifest: ClientManifest): Operation => [
  member,
  (into) => {
    for (const each of manifest.fragments) into.message(1, fragmentMembers(each));
    for (const each of manifest.fields) into.message(2, fieldMembers(each));
  },
];
const project = (): Operation => [
  109,
  (into) => {
    for (const each of client.manifest.fields) into.message(1, fieldMembers(each));
  },
];
const field = (
  name: string,
  id: number,
  logicalType: string,
): ClientManifest['fields'][number] => ({
  id,
  name,
  logicalType,
  parent: -1,
  nullable: true,
  metadata: new Map(),
  dictionary: false,
  primaryKey: false,
});

test('appended rows, with the manifest of the version where Lance looks for it', async () => {
  const uuid = '00000000-1111-2222-3333-444444444444';
  client.manifest.maxFragmentId += 1;
  const added: ClientFragment = {
    id: 1,
    files: [await client.dataFile(people(3, 5), [0, 1])],
    deletion: undefined,
    physicalRows: 3,
  };
  client.manifest.fragments.push(added);
  const request = client.stage([100, (into) => into.message(1, fragmentMembers(added))], { uuid });
  const answer = (await create(request)) as { version: { manifest_path: string } };
  expect(await ids()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(answer.version.manifest_path).toMatch(/_versions\/18446744073709551613\.manifest$/);
  expect(client.names()).toHaveLength(2);
  const found = client.read('18446744073709551613.manifest');
  expect(found.transaction).toMatchObject({ uuid, operation: { kind: 'append' } });
  expect(found.writerFlags).toBe(0n);
  expect(files.all().filter((path) => path.includes('.manifest-'))).toEqual([]);
  // Sent again, as after a lost answer.
  files.write(`${FOLDER}/_versions/${request.manifest_path.split('/').at(-1)}`, new Uint8Array());
  const again = client.stageBytes(
    encodeClientManifest(client.manifest, [100, () => {}], { uuid }),
    2,
  );
  expect(await create(again)).toEqual(answer);
  expect(await ids(1)).toEqual([0, 1, 2, 3, 4]);
  expect(await problems()).toEqual([]);
});

test('a client goes on with the names of its own files', async () => {
  await create(await client.append(people(3, 5), 3));
  await create(client.delete(new Map([[1, [0]]])));
  await create(client.delete(new Map([[0, [1, 2]]])));
  await create(client.delete(new Map([[1, [0, 2]]])));
  expect(await ids()).toEqual([0, 3, 4, 6]);
  expect(await problems()).toEqual([]);
});

test('columns that come from files of their own, are replaced, and go', async () => {
  await create(await client.append(people(3, 5), 3));
  client.manifest.fields.push(field('twice', 2, 'double'));
  for (const [at, each] of client.manifest.fragments.entries()) {
    const from = at === 0 ? 0 : 5;
    const twice = Float64Array.from({ length: each.physicalRows }, (_, row) => 2 * (from + row));
    each.files.push(await client.dataFile(numbers({ twice }), [2]));
  }
  await create(client.stage(of(105, client.manifest)));
  expect((await rowsOf())[6]).toEqual({ id: 6, name: 'name 6', twice: 12 });
  // One fragment gets another file for the column, and says of the first that it is not there any more.
  const old = fragment(1);
  old.files[1] = { ...(old.files[1] as (typeof old.files)[number]), fields: [-2] };
  old.files.push(await client.dataFile(numbers({ twice: Float64Array.of(1, 2, 3) }), [2]));
  const updates: Operation = [108, (into) => into.message(2, fragmentMembers(old)).packed(4, [2])];
  await create(client.stage(updates));
  expect((await rowsOf())[6]).toEqual({ id: 6, name: 'name 6', twice: 2 });
  client.manifest.fields.splice(1, 1);
  client.manifest.fields[1] = field('double', 2, 'double');
  await create(client.stage(project()));
  expect((await rowsOf())[6]).toEqual({ id: 6, double: 2 });
  expect(await ids(2)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(await problems()).toEqual([]);
});

test('a column of nulls, and one that has the id of another that was dropped', async () => {
  client.manifest.fields.push(field('none', 2, 'int32'));
  await create(client.stage(of(105, client.manifest)));
  client.manifest.fields.pop();
  await create(client.stage(project()));
  client.manifest.fields.push(field('again', 2, 'double'));
  const again = Float64Array.of(1, 2, 3, 4, 5);
  fragment(0).files.push(await client.dataFile(numbers({ again }), [2]));
  await create(client.stage(of(105, client.manifest)));
  expect((await rowsOf())[4]).toEqual({ id: 4, name: 'name 4', again: 5 });
  // Lance knows it by its own number, whoever writes next; a column of ours gets a new one in both.
  await (await db.openTable('t')).addColumns([{ name: 'ours', valueSql: 'id + 1' }]);
  expect(client.newest().fields.map(({ id, name }) => [name, id])).toEqual([
    ['id', 0],
    ['name', 1],
    ['again', 2],
    ['ours', 4],
  ]);
  expect(client.newest().fragments[0]?.files[0]?.fields).toEqual([0, 1, 2, 4]);
  client.open();
  await create(client.delete(new Map([[0, [0]]])));
  expect((await rowsOf())[3]).toEqual({ id: 4, name: 'name 4', again: 5, ours: 5n });
  expect(await problems()).toEqual([]);
});

test('a column that goes after Lance knew it by another id than ours: its number stays in files', async () => {
  client.manifest.fields.push(field('none', 2, 'int32'));
  await create(client.stage(of(105, client.manifest)));
  client.manifest.fields.pop();
  await create(client.stage(project()));
  client.manifest.fields.push(field('again', 2, 'double'), field('last', 3, 'double'));
  const again = Float64Array.of(1, 2, 3, 4, 5);
  fragment(0).files.push(await client.dataFile(numbers({ again, last: again }), [2, 3]));
  await create(client.stage(of(105, client.manifest)));
  client.open();
  const [file] = fragment(0).files as [ParsedDataFile];
  expect(file.fields).toEqual([0, 1, 2, 3]);
  client.manifest.fields.splice(2, 1);
  await create(client.stage(project()));
  await create(client.delete(new Map([[0, [0]]])));
  expect((await rowsOf())[3]).toEqual({ id: 4, name: 'name 4', last: 5 });
  // It is not said to be a column that is there, nor one that is there to be gone.
  for (const fields of [
    [0, 1, 3, 2],
    [0, 1, 3, -2],
    [0, 1, 2, 99],
  ]) {
    client.open();
    const columns = [0, 1, 2, 3];
    fragment(0).files[0] = { ...(fragment(0).files[0] as ParsedDataFile), fields, columns };
    const request = client.delete(new Map([[0, [0, 1]]]));
    await expect(create(request)).rejects.toThrow('otherwise than it is');
  }
  expect(await problems()).toEqual([]);
});

test('a compaction: ids are reserved first, and others may append meanwhile', async () => {
  await create(await client.append(people(3, 5), 3));
  client.manifest.maxFragmentId += 1;
  await create(client.stage([107, (into) => into.integer(1, 1)]));
  await db.namespace.insertIntoTable({ id: ['t'] }, people(2, 8));
  const [one, two] = client.manifest.fragments as [ClientFragment, ClientFragment];
  client.open();
  const joined: ClientFragment = {
    id: 2,
    files: [await client.dataFile(people(8), [0, 1])],
    deletion: undefined,
    physicalRows: 8,
  };
  client.manifest.fragments.splice(0, 2, joined);
  const rewrite: Operation = [
    104,
    (into) =>
      into.message(3, (group) => {
        for (const each of [one, two]) group.message(1, fragmentMembers(each));
        group.message(2, fragmentMembers(joined));
      }),
  ];
  await create(client.stage(rewrite));
  expect(await ids()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(client.newest().fragments.map(({ id }) => id)).toEqual([2, 3]);
  // The id was given out once.
  client.manifest.fragments.splice(0, 1, {
    ...joined,
    files: [await client.dataFile(people(8), [0, 1])],
  });
  client.manifest.fragments.push({ ...joined, id: 2 });
  await expect(create(client.stage(rewrite))).rejects.toThrow('two fragments have the id 2');
  expect(await problems()).toEqual([]);
});

test('refused: rows of nulls that take more than their files, over all fragments', async () => {
  const wide = field('wide', 0, 'fixed_size_list:float:3300000');
  client.manifest.fields = [wide, field('x', 1, 'double')];
  const overwriting = async (fields: readonly number[], ...rows: number[]): Promise<Operation> => {
    client.manifest.fragments = [];
    for (const count of rows) {
      const values = numbers({ x: new Float64Array(count) });
      client.manifest.fragments.push({
        id: ++client.manifest.maxFragmentId,
        files: [await client.dataFile(values, fields)],
        deletion: undefined,
        physicalRows: count,
      });
    }
    return of(102, client.manifest);
  };
  const three = await overwriting([0], 10, 10);
  await expect(create(client.stage(three))).rejects.toThrow('with fragment 2 its rows take');
  client.open();
  client.manifest.fields = [wide, field('x', 1, 'double')];
  await create(client.stage(await overwriting([1], 20)));
  // A fragment that loses its only column has one of nulls in its file.
  const old = fragment(0);
  old.files = old.files.map((file) => ({ ...file, fields: [-2] }));
  const update: Operation = [108, (into) => into.message(2, fragmentMembers(old)).packed(4, [1])];
  await expect(create(client.stage(update))).rejects.toThrow('with fragment 1 its rows take');
});

test('an overwrite begins its fields anew, and the same client appends to it', async () => {
  const overwrite = async (): Promise<CreateTableVersionRequest> => {
    client.manifest.fields = [field('x', 0, 'double')];
    const fresh: ClientFragment = {
      id: ++client.manifest.maxFragmentId,
      files: [await client.dataFile(numbers({ x: Float64Array.of(1, 2) }), [0])],
      deletion: undefined,
      physicalRows: 2,
    };
    client.manifest.fragments = [fresh];
    return client.stage(of(102, client.manifest));
  };
  await create(await overwrite());
  await create(await client.append(numbers({ x: Float64Array.of(3) }), 1));
  expect(await rowsOf()).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
  expect(await ids(1)).toEqual([0, 1, 2, 3, 4]);
  await db.namespace.insertIntoTable({ id: ['t'] }, numbers({ x: Float64Array.of(4) }));
  client.open();
  expect(client.manifest.fields.map(({ id }) => id)).toEqual([0]);
  await create(client.delete(new Map([[1, [0]]])));
  expect(await rowsOf()).toEqual([{ x: 2 }, { x: 3 }, { x: 4 }]);
  expect(await problems()).toEqual([]);
});

/** The fragments at these places, renumbered as Lance does, in place of all. */
function listAgain(...places: readonly number[]): CreateTableVersionRequest {
  client.manifest.fragments = places.map((at) => ({
    ...fragment(at),
    id: ++client.manifest.maxFragmentId,
  }));
  return client.stage(of(102, client.manifest));
}

test('an overwrite lists fragments of before again, and writes a new one', async () => {
  await db.namespace.insertIntoTable({ id: ['t'] }, people(3, 5));
  await db.namespace.insertIntoTable({ id: ['t'] }, people(2, 8));
  client.open();
  const again = listAgain(2, 0);
  await create(again);
  expect(await ids()).toEqual([8, 9, 0, 1, 2, 3, 4]);
  const { fragments } = await (await db.openTable('t')).files();
  expect(fragments.map(({ id }) => id)).toEqual([3, 4]);
  // The same client goes on with its own manifest, and so does one that opens the table.
  await create(client.delete(new Map([[4, [0, 1]]])));
  client.open();
  await create(await client.append(people(1, 20), 1));
  expect(await ids()).toEqual([8, 9, 2, 3, 4, 20]);
  const fresh: ClientFragment = {
    id: 0,
    files: [
      await client.dataFile(
        people(1, 30),
        client.manifest.fields.map(({ id }) => id),
      ),
    ],
    deletion: undefined,
    physicalRows: 1,
  };
  client.manifest.fragments.push(fresh);
  await create(listAgain(3, 0));
  expect(await ids()).toEqual([30, 8, 9]);
  await (await db.openTable('t')).optimize();
  expect(await ids()).toEqual([30, 8, 9]);
  expect(await problems()).toEqual([]);
});

test('an overwrite that lists fragments again otherwise than they are is refused', async () => {
  await db.namespace.insertIntoTable({ id: ['t'] }, people(3, 5));
  client.open();
  const first = structuredClone(client.manifest);
  const begin = (): void => {
    client.manifest = structuredClone(first);
  };
  await expect(create(listAgain(0, 0))).rejects.toThrow('has the files of another fragment');
  begin();
  fragment(0).physicalRows = 4;
  await expect(create(listAgain(0))).rejects.toThrow('has 4 rows, and had 5');
  begin();
  client.manifest.fields = client.manifest.fields.map((each) => ({ ...each, id: each.id + 20 }));
  await expect(create(listAgain(0))).rejects.toThrow('other columns or deleted rows');
  begin();
  await create(client.delete(new Map([[0, [1]]])));
  client.open();
  const deleted = structuredClone(client.manifest);
  fragment(0).deletion = undefined;
  await expect(create(listAgain(0))).rejects.toThrow('1 of its rows were deleted');
  client.manifest = deleted;
  expect(await ids()).toEqual([0, 2, 3, 4, 5, 6, 7]);
  // Its deleted rows stay so.
  await create(listAgain(1, 0));
  expect(await ids()).toEqual([5, 6, 7, 0, 2, 3, 4]);
  expect(await problems()).toEqual([]);
});

test('a restore, and one of another content', async () => {
  const before = structuredClone(client.manifest);
  await create(client.delete(new Map([[0, [0, 1]]])));
  client.manifest = { ...structuredClone(before), version: 2 };
  await create(client.stage([106, (into) => into.integer(1, 1)]));
  expect(await ids()).toEqual([0, 1, 2, 3, 4]);
  fragment(0).deletion = client.deletion(fragment(0), [3]);
  await expect(create(client.stage([106, (into) => into.integer(1, 1)]))).rejects.toThrow(
    'its transaction is restore, and fragment 0 has lost rows',
  );
  client.manifest.version = 3;
  await expect(create(client.stage([106, (into) => into.integer(1, 9)]))).rejects.toThrow(
    'it restores version 9, and the newest is 3',
  );
  client.open();
  await create(client.stage([106, (into) => into.integer(1, 3)]));
  expect(await ids()).toEqual([0, 1, 2, 3, 4]);
});

test('a restore of a version that cannot be looked at is not refused as one that is gone', async () => {
  const before = structuredClone(client.manifest);
  await create(client.delete(new Map([[0, [0, 1]]])));
  client.manifest = { ...structuredClone(before), version: 2 };
  const staged = client.stage([106, (into) => into.integer(1, 1)]);
  const file = files.all().find((path) => /versions-.*\/0+1\.json$/.test(path)) as string;
  const bytes = files.read(file);
  files.write(file, Buffer.from('torn'));
  const again = await connect('/c', { fs: current, lance: 'write' });
  await expect(again.namespace.createTableVersion({ id: ['t'], ...staged })).rejects.toMatchObject({
    code: 'Corrupt',
  });
  files.write(file, bytes);
  await again.namespace.createTableVersion({ id: ['t'], ...staged });
  expect(await ids()).toEqual([0, 1, 2, 3, 4]);
});

test('metadata of schema and table', async () => {
  client.manifest.schemaMetadata.set('a', 'b');
  client.manifest.tableMetadata.set('c', 'd');
  await create(client.stage([110, () => {}]));
  expect(client.newest()).toMatchObject({
    schemaMetadata: new Map([['a', 'b']]),
    tableMetadata: new Map([
      ['c', 'd'],
      [TABLE, expect.any(String)],
    ]),
  });
  // Lance shows the name of the table beside it; here it is none of the user's metadata.
  const { metadata } = await db.namespace.describeTable({ id: ['t'] });
  expect(JSON.stringify(metadata ?? {})).not.toContain(TABLE);
  // A user may take all of it away.
  client.manifest.tableMetadata.clear();
  const replaced: Operation = [110, (into) => into.message(7, (map) => map.integer(2, 1))];
  await create(client.stage(replaced));
  expect([...client.newest().tableMetadata.keys()]).toEqual([TABLE]);
});

/** Everything goes, some of it goes, and more comes. */
const others: [string, () => Promise<CreateTableVersionRequest>][] = [
  [
    'delete',
    async () => {
      client.manifest.fragments = [];
      return client.stage([101, (into) => into.packed(2, [0])]);
    },
  ],
  [
    'overwrite',
    async () => {
      client.manifest.fragments = [];
      return client.stage(of(102, client.manifest));
    },
  ],
  [
    'append',
    async () => {
      client.manifest.fragments = [];
      client.manifest.maxFragmentId = -1;
      return client.append(numbers({ x: Float64Array.of(9) }), 1);
    },
  ],
];

test.each(others)(
  '%s by a client that has read a dropped table of that name',
  async (kind, stage) => {
    const isEmpty = kind === 'append';
    await db.namespace.dropTable({ id: ['t'] });
    await db.namespace.createTable(
      { id: ['t'] },
      isEmpty ? numbers({ x: Float64Array.of() }) : people(3, 5),
    );
    const before = await rowsOf();
    const request = await stage();
    await expect(create(request)).rejects.toMatchObject({ code: 'TableNotFound' });
    // Nor what says nothing of the table.
    client.open();
    client.manifest.tableMetadata.delete(TABLE);
    await expect(create(await stage())).rejects.toThrow(`has no ${TABLE}`);
    expect(await rowsOf()).toEqual(before);
    client.open();
    await create(await stage());
    expect(await rowsOf()).toEqual(isEmpty ? [{ x: 9 }] : []);
  },
);

test('a restored version of before Lance wrote the table names no table', async () => {
  const fs = memoryFs();
  const before = await connect('/c', { fs, lance: 'sync' });
  await before.namespace.createTable({ id: ['t'] }, people(3));
  await before.close();
  const catalog = await connect('/c', { fs, lance: 'write' });
  await catalog.namespace.insertIntoTable({ id: ['t'] }, people(2, 3));
  const other = new LanceClient(filesOf(fs, '/c'), FOLDER);
  other.manifest.tableMetadata.delete(TABLE);
  other.manifest.fragments.pop();
  const request = other.stage([106, (into) => into.integer(1, 1)]);
  await catalog.namespace.createTableVersion({ id: ['t'], ...request });
  expect(await idsOf(catalog.namespace, ['t'])).toEqual([0, 1, 2]);
  other.open();
  expect([...other.manifest.tableMetadata.keys()]).toEqual([TABLE]);
  // One of since has to.
  other.manifest.tableMetadata.delete(TABLE);
  await catalog.namespace.insertIntoTable({ id: ['t'] }, people(1, 9));
  other.manifest.version += 1;
  await expect(
    catalog.namespace.createTableVersion({
      id: ['t'],
      ...other.stage([106, (into) => into.integer(1, 3)]),
    }),
  ).rejects.toThrow(`has no ${TABLE}`);
});

test('a number that is taken: the versions in between are there to build on', async () => {
  const request = await client.append(people(1, 9), 1);
  await db.namespace.insertIntoTable({ id: ['t'] }, people(1, 5));
  await expect(create(request)).rejects.toMatchObject({
    code: 'ConcurrentModification',
    message: expect.stringContaining('the next one is 3'),
  });
  expect(client.names()).toHaveLength(2);
  client.open();
  await create(await client.append(people(1, 9), 1));
  expect(await ids()).toEqual([0, 1, 2, 3, 4, 5, 9]);
  // Ahead of the newest one.
  client.manifest.version += 1;
  await expect(create(await client.append(people(1, 9), 1))).rejects.toThrow('the next one is 4');
  const data = files
    .all()
    .filter((path) => path.startsWith(`${FOLDER}/data/`) && path.endsWith('.arrow'));
  expect(data).toHaveLength(3);
});

test.each(['read', 'sync'] as const)('a table with lance: %s takes none', async (lance) => {
  const fs = memoryFs();
  const catalog = await connect('/c', { fs, lance: 'sync' });
  await catalog.namespace.createTable({ id: ['t'], properties: { lance } }, people(5));
  await catalog.namespace.createTable({ id: ['w'] }, people(5));
  const others = new LanceClient(filesOf(fs, '/c'), 'data/w.table');
  const request = others.stage([107, () => {}]);
  const path = request.manifest_path.replace('w.table', 't.table');
  await expect(
    catalog.namespace.createTableVersion({ id: ['t'], ...request, manifest_path: path }),
  ).rejects.toMatchObject({ code: 'PermissionDenied' });
});

test('what a client of Lance prunes is there again for whoever asks for the version', async () => {
  await create(client.delete(new Map([[0, [1]]])));
  await db.namespace.deleteFromTable({ id: ['t'], predicate: 'id = 3' });
  const names = (): string[] =>
    files.all().filter((path) => /_versions\/.*manifest$|_deletions\/0-0-/.test(path));
  const before = names();
  const { fragments } = client.read('18446744073709551613.manifest');
  const pruned = [
    '_versions/18446744073709551613.manifest',
    '_versions/18446744073709551614.manifest',
    `_deletions/0-0-${fragments[0]?.deletion?.id}.arrow`,
  ];
  for (const path of pruned) current.unlinkSync(`/c/${FOLDER}/${path}`);
  expect(names()).toHaveLength(before.length - 3);
  const { versions } = await db.namespace.listTableVersions({ id: ['t'] }, { forLance: true });
  expect(versions).toHaveLength(3);
  expect(names()).toEqual(before);
  expect(await problems()).toEqual([]);
});

test('older files of clients go with cleanup, and are no damage before', async () => {
  await create(await client.append(people(3, 5), 3));
  await create(client.delete(new Map([[1, [0]]])));
  files.write(
    `${FOLDER}/_transactions/1-00000000-1111-2222-3333-444444444444.txn`,
    new Uint8Array(3),
  );
  client.stage([107, () => {}]);
  const left = (): string[] =>
    files.all().filter((path) => /\.lance$|\.txn$|manifest-|_deletions\/1-[1-9]/.test(path));
  expect(left()).toHaveLength(4);
  expect(await problems()).toEqual([]);
  const table = await db.openTable('t');
  await table.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true, compaction: false });
  expect(left()).toHaveLength(0);
  expect(await ids()).toEqual([0, 1, 2, 3, 4, 6, 7]);
});

/** Changes of an append that would be taken, and what is said of them. */
const REFUSED: Record<
  string,
  [change: (manifest: ClientManifest, added: ClientFragment) => void, says: string, code?: string]
> = {
  'an id that was given out': [
    (_, added) => Object.assign(added, { id: 0 }),
    'two fragments have the id 0',
  ],
  'an id far ahead': [
    (manifest, added) => {
      added.id = manifest.maxFragmentId = 2 ** 31;
    },
    'far above',
  ],
  'an id above its largest': [
    (_, added) => Object.assign(added, { id: 7 }),
    'its id is not from 1 to 1',
  ],
  'a largest id that goes back': [
    (manifest) => {
      manifest.maxFragmentId = -1;
    },
    'was given out',
  ],
  'more rows than there are': [(_, added) => Object.assign(added, { physicalRows: 4 }), 'damaged'],
  'fewer rows than there are': [(_, added) => Object.assign(added, { physicalRows: 2 }), 'damaged'],
  'no rows': [(_, added) => Object.assign(added, { physicalRows: 0 }), 'has 0 rows'],
  'a fragment without files': [
    (_, added) => Object.assign(added, { files: [] }),
    'fragment 1 is new, and none of its files has a field of the table',
  ],
  'a fragment whose files hold no field of the table': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, fields: [-2, -2] }));
    },
    'fragment 1 is new, and none of its files has a field of the table',
  ],
  'more rows than its files can stand for': [
    (_, added) => Object.assign(added, { physicalRows: 2 ** 25 }),
    'its rows take 335544320 bytes at least, and 268435456 may come from',
  ],
  'a file elsewhere': [(_, added) => renamed(added, '../data/x.lance'), 'has a file'],
  'a file of ours': [
    (manifest, added) => renamed(added, manifest.fragments[0]?.files[0]?.path ?? ''),
    'has a file',
  ],
  'a file that is not there': [(_, added) => renamed(added, 'x.lance'), 'there is no file'],
  'another size of the file': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, fileSize: 99 }));
    },
    'not 99',
  ],
  'a newer file': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, minorVersion: 1 }));
    },
    'of version 2.1',
    'Unsupported',
  ],
  'a base path': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, base: 1 }));
    },
    'under the base path 1',
    'Unsupported',
  ],
  'a column that the file does not have': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, columns: [0, 9] }));
    },
    'column 9',
  ],
  'a column of another type': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, columns: [1, 0] }));
    },
    'is "name" of type "dict:string:int32:false", and field 0 is "id" of type "int32"',
  ],
  'more fields than columns': [
    (_, added) => {
      added.files = added.files.map((file) => ({ ...file, columns: [0] }));
    },
    '2 fields and 1 columns',
  ],
  'a fragment that is gone': [
    (manifest) => void manifest.fragments.shift(),
    'its transaction is append, and fragment 0 is gone',
  ],
  'rows of a fragment that are gone': [
    (manifest) => {
      const [first] = manifest.fragments as [ClientFragment];
      first.deletion = client.deletion(first, [1]);
    },
    'its transaction is append, and fragment 0 has lost rows',
  ],
  'other rows of a fragment': [
    (manifest, added) => {
      const [first] = manifest.fragments as [ClientFragment];
      first.files = added.files;
    },
    'damaged|share the file|files of fragment 0',
  ],
  'another number of rows of a fragment': [
    (manifest) => Object.assign(manifest.fragments[0] as ClientFragment, { physicalRows: 4 }),
    'fragment 0 has 4 rows, and had 5',
  ],
  'a field more': [
    (manifest) => void manifest.fields.push(field('x', 2, 'double')),
    'its transaction is append, and its fields are others',
  ],
  'a field of another type': [
    (manifest) => {
      manifest.fields[0] = field('id', 0, 'int64');
    },
    'field 0 is "int64", and was int32',
  ],
  'two fields of one id': [
    (manifest) => {
      manifest.fields[1] = field('name', 0, 'string');
    },
    'two fields have the id',
  ],
  'a type that tables cannot hold': [
    (manifest) => void manifest.fields.push(field('x', 2, 'map')),
    'not|cannot',
  ],
  'a name that readers of Lance cannot read': [
    (manifest) => void manifest.fields.push(field('x`y', 2, 'double')),
    'column "x`y" has a name with a backtick',
    'Unsupported',
  ],
  'metadata of the schema': [
    (manifest) => void manifest.schemaMetadata.set('a', 'b'),
    'the metadata of its schema is another',
  ],
  'metadata of the table': [
    (manifest) => void manifest.tableMetadata.set('a', 'b'),
    'the metadata of its table is another',
  ],
};

const renamed = (added: ClientFragment, path: string): void => {
  added.files = added.files.map((file) => ({ ...file, path }));
};

async function refused(
  change: (manifest: ClientManifest, added: ClientFragment) => void,
): Promise<{ code: string; message: string }> {
  const added: ClientFragment = {
    id: ++client.manifest.maxFragmentId,
    files: [await client.dataFile(people(3, 5), [0, 1])],
    deletion: undefined,
    physicalRows: 3,
  };
  client.manifest.fragments.push(added);
  change(client.manifest, added);
  const before = files.all().filter((path) => !path.includes('manifest-'));
  const request = client.stage([100, (into) => into.message(1, fragmentMembers(added))]);
  const error = await create(request).then(
    () => undefined,
    (reason: unknown) => reason as { code: string; message: string },
  );
  if (error === undefined) throw new Error('It was taken.');
  expect(files.all().filter((path) => !path.includes('manifest-'))).toEqual(before);
  expect(await ids()).toEqual([0, 1, 2, 3, 4]);
  return error;
}

test.each(Object.entries(REFUSED))('refused: %s', async (_, [change, says, code]) => {
  const error = await refused(change);
  expect(error.message).toMatch(new RegExp(says));
  if (code !== undefined) expect(error.code).toBe(code);
  else expect(['InvalidInput', 'Unsupported']).toContain(error.code);
});

test.each<[string, Operation, string, string]>([
  ['an index', [103, () => {}], 'an index (create_index)', 'Unsupported'],
  ['a branch', [113, () => {}], 'its transaction is clone', 'InvalidInput'],
  ['data above files', [115, () => {}], 'data_overlay', 'Unsupported'],
  ['what nobody knows', [199, () => {}], 'Transaction.199', 'Unsupported'],
])('refused: %s', async (_, operation, says, code) => {
  await expect(create(client.stage(operation))).rejects.toMatchObject({
    code,
    message: expect.stringContaining(says),
  });
});

test.each<[string, (into: Parameters<Operation[1]>[0]) => void, string]>([
  ['a base path', (into) => into.message(18, (base) => base.text(4, '/x')), 'the base path'],
  [
    'a configuration',
    (into) => into.message(16, (entry) => entry.text(1, 'lance.auto_cleanup')),
    'lance.auto_cleanup',
  ],
  ['stable row ids', (into) => into.integer(14, 7), 'stable row id'],
  ['an allocation of field ids', (into) => into.integer(24, 7), 'max_allocated_field_id'],
  ['a tag', (into) => into.text(8, 'x'), 'tag'],
  ['a member that nobody knows', (into) => into.integer(99, 1), 'Manifest.99'],
])('refused: a manifest with %s', async (_, extra, says) => {
  await expect(create(client.stage([107, () => {}], { extra }))).rejects.toMatchObject({
    code: 'Unsupported',
    message: expect.stringContaining(says),
  });
});

test('refused: deleted rows that would come back, or that are counted otherwise', async () => {
  await create(client.delete(new Map([[0, [1, 2]]])));
  const attempts: [readonly number[] | undefined, number | undefined, string][] = [
    [undefined, undefined, 'has no deletion file'],
    [[1], undefined, 'counts 1 of 5 rows, and 2 were deleted'],
    [[0, 1, 3], undefined, 'that were deleted would come back'],
    [[1, 2, 3], 4, 'has 3 rows, not 4'],
    [[0, 1, 2, 3], 5, 'counts 5 of 5 rows'],
  ];
  for (const [rows, count, says] of attempts) {
    client.open();
    const [first] = client.manifest.fragments as [ClientFragment];
    first.deletion = rows === undefined ? undefined : client.deletion(first, rows);
    if (count !== undefined)
      first.deletion = { ...(first.deletion as ParsedDeletion), rows: count };
    const request = client.stage([101, (into) => into.message(1, fragmentMembers(first))]);
    await expect(create(request)).rejects.toThrow(says);
  }
  expect(await ids()).toEqual([0, 3, 4]);
});

/** Replaces all by one fragment of these rows. */
async function replacedBy(
  rows: RecordBatchStream,
  fields: ClientManifest['fields'],
  count: number,
): Promise<CreateTableVersionRequest> {
  client.manifest.fields = fields;
  const fresh: ClientFragment = {
    id: ++client.manifest.maxFragmentId,
    files: [
      await client.dataFile(
        rows,
        fields.map(({ id }) => id),
      ),
    ],
    deletion: undefined,
    physicalRows: count,
  };
  client.manifest.fragments = [fresh];
  return client.stage(of(102, client.manifest));
}

const streamOf = (table: Table): RecordBatchStream =>
  recordBatchStream(table.schema, table.batches);
const withNull = (): RecordBatchStream =>
  streamOf(new Table({ x: vectorFromArray([1, null], new Float64()) }));

test('refused: nulls where none may be', async () => {
  const required = { ...field('x', 0, 'double'), nullable: false };
  await expect(create(await replacedBy(withNull(), [required], 2))).rejects.toThrow(
    'has nulls in "x", which may not be null',
  );
  client.open();
  await create(await replacedBy(withNull(), [field('x', 0, 'double')], 2));
  client.manifest.fields = [required];
  await expect(create(client.stage(project()))).rejects.toThrow('it is null in 1 rows');
  client.open();
  client.manifest.fields.push({ ...field('y', 1, 'double'), nullable: false });
  await expect(create(client.stage(of(105, client.manifest)))).rejects.toThrow(
    'the column "y" may not be null, and fragment 1 does not have it',
  );
});

test('refused: a data file whose own schema is another than that of the table', async () => {
  await create(
    await replacedBy(numbers({ x: Float64Array.of(1, 2) }), [field('x', 0, 'double')], 2),
  );
  const attempt = (rows: RecordBatchStream): Promise<unknown> =>
    client.append(rows, 2).then((request) => create(request));
  const longs = tableFromArrays({ x: BigInt64Array.of(1n, 2n) });
  await expect(attempt(streamOf(longs))).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringMatching(
      /column 0 of the file ".*" is "x" of type "int64", and field 0 is "x" of type "double"/,
    ),
  });
  client.open();
  const fields = [...client.manifest.fields, field('y', 1, 'double')];
  const pair = { x: Float64Array.of(1, 2), y: Float64Array.of(3, 4) };
  await create(await replacedBy(numbers(pair), fields, 2));
  // Each column stands for the other field.
  const swapped = await client.append(numbers(pair), 2);
  const added = client.manifest.fragments.at(-1) as ClientFragment;
  client.manifest.version -= 1;
  added.files = added.files.map((file) => ({ ...file, columns: file.columns.toReversed() }));
  const append: Operation = [100, (into) => into.message(1, fragmentMembers(added))];
  await expect(create(client.stage(append))).rejects.toThrow('is "y", which is another field');
  client.open();
  // Another name is one that the field had.
  client.manifest.fields[0] = field('renamed', 0, 'double');
  await create(client.stage(project()));
  await create(await client.append(numbers(pair), 2));
  expect(swapped.version).toBe(4);
  expect(await rowsOf()).toHaveLength(4);
});

test('refused: members of a struct that stand elsewhere in their file', async () => {
  const of2 = new Struct([new Field('a', new Float64(), true)]);
  const rows = (): RecordBatchStream =>
    streamOf(
      new Table({
        s: vectorFromArray([{ a: 1 }], of2),
        a: vectorFromArray([2], new Float64()),
      }),
    );
  const fields = [
    field('s', 0, 'struct'),
    { ...field('a', 1, 'double'), parent: 0 },
    field('a', 2, 'double'),
  ];
  await create(await replacedBy(rows(), fields, 1));
  await client.append(rows(), 1);
  client.manifest.version -= 1;
  const added = client.manifest.fragments.at(-1) as ClientFragment;
  added.files = added.files.map((file) => {
    const [s, inner, outer] = file.columns as [number, number, number];
    return { ...file, columns: [s, outer, inner] };
  });
  const append: Operation = [100, (into) => into.message(1, fragmentMembers(added))];
  await expect(create(client.stage(append))).rejects.toThrow('is "a" in another place');
});

/** Manifests that say something else than their transaction, which was built before. */
const CONTRADICTED: Record<string, [member: number, change: () => void, says: string]> = {
  'a column that got another name': [
    105,
    () => {
      client.manifest.fields[1] = {
        ...(client.manifest.fields[1] as ReturnType<typeof field>),
        name: 'z',
      };
    },
    'its transaction is merge, and it does not list field 1, "z", so',
  ],
  'a field that is gone': [
    109,
    () => void client.manifest.fields.pop(),
    'its transaction is project, and it lists 2 fields, of which 1 are there',
  ],
  'a field that came': [
    109,
    () => void client.manifest.fields.push(field('x', 2, 'double')),
    'its transaction is project, and it does not list field 2, "x", so',
  ],
  'a field that may be null': [
    102,
    () => {
      const [first] = client.manifest.fields as [ReturnType<typeof field>];
      client.manifest.fields[0] = { ...first, nullable: !first.nullable };
    },
    'its transaction is overwrite, and it does not list field 0',
  ],
  'fragments that are gone': [
    102,
    () => void client.manifest.fragments.pop(),
    'its transaction is overwrite, and 0 fragments are there, where it lists 1',
  ],
  'a fragment of another file': [
    102,
    () => {
      const added = fragment(0);
      client.manifest.fragments[0] = {
        ...added,
        files: added.files.map((file) => ({ ...file, path: 'another.lance' })),
      };
    },
    'its transaction is overwrite, and it does not list fragment 1 so',
  ],
  'a fragment of other rows': [
    102,
    () => {
      client.manifest.fragments[0] = { ...fragment(0), physicalRows: 2 };
    },
    'its transaction is overwrite, and it does not list fragment 1 so',
  ],
};

test.each(Object.entries(CONTRADICTED))(
  'refused: against the transaction, %s',
  async (_, [member, change, says]) => {
    if (member === 102) {
      const id = ++client.manifest.maxFragmentId;
      const dataFiles = [await client.dataFile(people(3), [0, 1])];
      client.manifest.fragments = [{ id, files: dataFiles, deletion: undefined, physicalRows: 3 }];
    }
    const { fields, fragments } = client.manifest;
    const before = { ...client.manifest, fields: [...fields], fragments: [...fragments] };
    const operation =
      member === 109
        ? ([
            109,
            (into) => {
              for (const each of before.fields) into.message(1, fieldMembers(each));
            },
          ] satisfies Operation)
        : of(member, before);
    change();
    await expect(create(client.stage(operation))).rejects.toThrow(says);
    expect(await ids()).toEqual([0, 1, 2, 3, 4]);
  },
);

const twins = new Struct([1, 2].map(() => new Field('a', new Int32(), true)));

test.each([
  ['a struct', twins],
  ['structs in a list', new List(new Field('item', twins, true))],
])(
  '%s of two members of one name stays as it came, and no change makes another',
  async (_, type) => {
    const fields = [new Field('id', new Int32(), true), new Field('c', type, true)];
    await db.createTable('u', [], undefined, { schema: new Schema(fields) });
    client = new LanceClient(files, 'data/u.table');
    const stage = (change: (name: string, id: number) => string): Promise<unknown> => {
      client.open();
      client.manifest.fields = client.manifest.fields.map((each) => ({
        ...each,
        name: change(each.name, each.id),
      }));
      return db.namespace.createTableVersion({ id: ['u'], ...client.stage(project()) });
    };
    await stage((name) => (name === 'id' ? 'number' : name));
    const names = async () =>
      (await (await db.openTable('u')).schema()).fields.map(({ name }) => name);
    expect(await names()).toEqual(['number', 'c']);
    const last = Math.max(...client.manifest.fields.map(({ id }) => id));
    await stage((name, id) => (id === last ? 'b' : name));
    await expect(stage((name, id) => (id === last ? 'a' : name))).rejects.toThrow(
      'There is a column "a" already',
    );
  },
);

test('refused: a merge that drops or moves columns, a projection that adds one', async () => {
  const [first, second] = client.manifest.fields as [
    ReturnType<typeof field>,
    ReturnType<typeof field>,
  ];
  for (const fields of [[first], [second, first]]) {
    client.open();
    client.manifest.fields = fields;
    await expect(create(client.stage(of(105, client.manifest)))).rejects.toThrow(
      'is gone or elsewhere',
    );
  }
  client.open();
  client.manifest.fields.push(field('x', 2, 'double'));
  await expect(create(client.stage(project()))).rejects.toThrow(
    'its transaction is project, and the field "x" is new',
  );
});

test('refused: a file of two fragments, a field that comes back, rows lost by a compaction', async () => {
  const file = await client.dataFile(people(3, 5), [0, 1]);
  const twice = [1, 2].map((id) => ({ id, files: [file], deletion: undefined, physicalRows: 3 }));
  client.manifest.fragments.push(...twice);
  client.manifest.maxFragmentId = 2;
  const append: Operation = [
    100,
    (into) => {
      for (const each of twice) into.message(1, fragmentMembers(each));
    },
  ];
  await expect(create(client.stage(append))).rejects.toThrow('share the file');
  client.open();
  client.manifest.maxFragmentId = 1;
  await create(client.stage([107, () => {}]));
  const [old] = client.manifest.fragments as [ClientFragment];
  const fewer = { id: 1, files: [file], deletion: undefined, physicalRows: 3 };
  client.manifest.fragments = [fewer];
  const rewrite: Operation = [
    104,
    (into) =>
      into.message(3, (group) => {
        group.message(1, fragmentMembers(old)).message(2, fragmentMembers(fewer));
      }),
  ];
  await expect(create(client.stage(rewrite))).rejects.toThrow('5 rows became 3');
  client.open();
  const dropped = client.manifest.fields.pop() as ClientManifest['fields'][number];
  await create(client.stage(project()));
  client.manifest.fields.push(dropped);
  await expect(create(client.stage(of(105, client.manifest)))).rejects.toThrow(
    'was written with it before',
  );
});

test('refused: a field in another one, and parts of a column in two places', async () => {
  const pair = new Struct([
    new Field('a', new Float64(), true),
    new Field('b', new Float64(), true),
  ]);
  const rows = new Table({ s: vectorFromArray([{ a: 1, b: 2 }], pair) });
  const fields = [
    field('s', 0, 'struct'),
    { ...field('a', 1, 'double'), parent: 0 },
    { ...field('b', 2, 'double'), parent: 0 },
  ];
  await create(await replacedBy(streamOf(rows), fields, 1));
  client.manifest.fields[2] = field('b', 2, 'double');
  await expect(create(client.stage(project()))).rejects.toThrow('field 2 is in field -1');
  client.open();
  const [only] = client.manifest.fragments as [ClientFragment];
  only.files = only.files.map((file) => ({ ...file, fields: [0, 1, -2] }));
  const update: Operation = [108, (into) => into.message(2, fragmentMembers(only))];
  await expect(create(client.stage(update))).rejects.toThrow(
    'of which only parts stand in new files',
  );
});

test('refused: paths and names that are none of a staged manifest here', async () => {
  const request = client.stage([107, () => {}]);
  const name = request.manifest_path.split('/').at(-1) as string;
  const given = [
    `c/data/t.table/_versions/../_versions/${name}`,
    `c/data/other.table/_versions/${name}`,
    `c/data/t.table/${name}`,
    `c/data/t.table/_versions/${name.replace('manifest-', 'manifest')}`,
    `c/data/t.table/_versions/${name.replace('18446744073709551613', '18446744073709551612')}`,
    `c/data/t.table/_versions/18446744073709551614.manifest`,
  ];
  for (const path of given) {
    await expect(create({ ...request, manifest_path: path })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  }
  await expect(create({ ...request, manifest_size: 7 })).rejects.toThrow('and 7 are due');
  await expect(create({ ...request, naming_scheme: 'V1' })).rejects.toThrow('"V1"');
  const target = `${files.root}/elsewhere`;
  files.write('elsewhere', files.read(`${FOLDER}/_versions/${name}`));
  const linked = name.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
  files.link(target, `${FOLDER}/_versions/${linked}`);
  const path = request.manifest_path.replace(name, linked);
  await expect(create({ ...request, manifest_path: path })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await create(request);
});

test('what Lance does not see of a field stays, through appends and changes of columns', async () => {
  const metadata = new Map([
    ['lance-encoding:blob', 'true'],
    ['unit', 'px'],
  ]);
  const columns = { id: vectorFromArray([1, 2], new Float64()) };
  const plain = new Table(columns);
  const schema = new Schema([new Field('id', new Float64(), true, metadata)]);
  const own = new Table(schema, plain.batches as never);
  await db.createTable('b', own as never);
  const folder = 'data/b.table';
  const blobs = new LanceClient(files, folder);
  const metadataNow = async (): Promise<unknown> => {
    const { fields } = await (await db.openTable('b')).schema();
    return Object.fromEntries((fields[0] as Field).metadata);
  };
  expect([...(blobs.manifest.fields[0]?.metadata.keys() ?? [])]).toEqual(['unit']);
  blobs.manifest.maxFragmentId += 1;
  const added: ClientFragment = {
    id: 1,
    files: [await blobs.dataFile(recordBatchStream(plain.schema, plain.batches), [0])],
    deletion: undefined,
    physicalRows: 2,
  };
  blobs.manifest.fragments.push(added);
  const append: Operation = [100, (into) => into.message(1, fragmentMembers(added))];
  await db.namespace.createTableVersion({ id: ['b'], ...blobs.stage(append) });
  expect(await metadataNow()).toEqual({ 'lance-encoding:blob': 'true', unit: 'px' });

  blobs.manifest = blobs.newest();
  const [only] = blobs.manifest.fields;
  blobs.manifest.fields = [
    { ...(only as ClientManifest['fields'][number]), name: 'x', metadata: new Map() },
  ];
  const renamed: Operation = [
    109,
    (into) => {
      for (const each of blobs.manifest.fields) into.message(1, fieldMembers(each));
    },
  ];
  await db.namespace.createTableVersion({ id: ['b'], ...blobs.stage(renamed) });
  expect(await metadataNow()).toEqual({ 'lance-encoding:blob': 'true' });
  const table = await db.openTable('b');
  expect(await table.countRows()).toBe(4);
  expect(await problems()).toEqual([]);
});
