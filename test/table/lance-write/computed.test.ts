/** Versions that writers of Lance stage for a table with a computed column: no wrong value gets into it. */
import { beforeEach, expect, test } from 'vitest';
import type { RecordBatchStream } from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { ParsedField } from '../../../src/format/lance/parsed-fragment.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import {
  type ClientFragment,
  fragmentMembers,
  LanceClient,
  type Operation,
} from '../../helpers/lance-client.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { idsOf, people } from '../../helpers/people.ts';

const ID = { id: ['t'] };
let db: Awaited<ReturnType<typeof connect>>;
let client: LanceClient;

beforeEach(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable(ID, people(5));
  const table = await db.openTable('t');
  await table.addColumns({ computed: [{ name: 'twice', valueSql: 'id * 2' }] });
  await table.refreshColumn('twice');
  client = new LanceClient(filesOf(fs, '/c'), 'data/t.table');
});

const create = (request: CreateTableVersionRequest): Promise<unknown> =>
  db.namespace.createTableVersion({ ...ID, ...request });
const rows = async (): Promise<unknown[]> => (await db.openTable('t')).query().toArray();
/** Rows as a client sends them that has read the column: with values of its own, or with nulls. */
async function taken(k: number, valueSql = 'id * 2', names?: string[]): Promise<RecordBatchStream> {
  const plain = await connect('/c', { fs: memoryFs() });
  await plain.namespace.createTable(ID, people(5));
  await (await plain.openTable('t')).addColumns([{ name: 'twice', valueSql }]);
  return plain.namespace.queryTable({
    ...ID,
    k,
    ...(names === undefined ? {} : { columns: { column_names: names } }),
  });
}
const NULLS = 'CAST(NULL AS BIGINT)';
/** Rows as a client sends them that leaves the column out. */
async function without(count: number, member: 100 | 108 = 100): Promise<CreateTableVersionRequest> {
  const added = {
    id: ++client.manifest.maxFragmentId,
    files: [await client.dataFile(people(count, 5), [0, 1])],
    deletion: undefined,
    physicalRows: count,
  };
  client.manifest.fragments.push(added);
  const at = member === 100 ? 1 : 3;
  return client.stage([member, (into) => into.message(at, fragmentMembers(added))]);
}
const twices = async (): Promise<unknown[]> =>
  (await (await db.openTable('t')).query().toArray()).map(({ twice }) => twice);
/** A transaction that says that the fields of the client's manifest are all there are. */
const project = (): Operation => [
  109,
  (into) => {
    for (const field of client.manifest.fields) into.message(1, fieldMembers(field));
  },
];

/** All fields and fragments of the client's manifest, as a merge lists them. */
const merge = (): Operation => [
  105,
  (into) => {
    for (const each of client.manifest.fragments) into.message(1, fragmentMembers(each));
    for (const field of client.manifest.fields) into.message(2, fieldMembers(field));
  },
];
const field = (
  name: string,
  id: number,
  metadata: Map<string, string> = new Map(),
): ParsedField => ({
  id,
  name,
  logicalType: 'int64',
  parent: -1,
  nullable: true,
  metadata,
  dictionary: false,
  primaryKey: false,
});
const fieldAt = (at: number): { -readonly [Key in keyof ParsedField]: ParsedField[Key] } =>
  client.manifest.fields.at(at) as ParsedField;
/** Another file of the first fragment for one of its fields. */
async function replaced(id: number, name: string): Promise<CreateTableVersionRequest> {
  const [fragment] = client.manifest.fragments as [ClientFragment];
  fragment.files = fragment.files.map((file) => ({
    ...file,
    fields: file.fields.map((each) => (each === id ? -2 : each)),
  }));
  fragment.files.push(await client.dataFile(await taken(5, 'id * 2', [name]), [id]));
  return client.stage([108, (into) => into.message(2, fragmentMembers(fragment)).packed(4, [id])]);
}
const refused: [
  string,
  () => CreateTableVersionRequest | Promise<CreateTableVersionRequest>,
  string,
][] = [
  [
    'an append with values',
    async () => client.append(await taken(2), 2),
    'values of the computed column "twice" in the new fragment 1',
  ],
  [
    'an update',
    async () => client.update(await taken(1), 1, new Map([[0, [0]]])),
    'values of the computed column "twice" in the new fragment 1',
  ],
  [
    'other values in place of it',
    () => replaced(2, 'twice'),
    'other values of the computed column "twice"',
  ],
  [
    'other values of what it reads',
    () => replaced(0, 'id'),
    'other values of the column "id", which is read by the computed column "twice"',
  ],
  [
    'another name for the column that it reads',
    () => {
      fieldAt(0).name = 'other';
      return client.stage(project());
    },
    'a change of the column "id", which is read by the computed column "twice"',
  ],
  [
    'a drop of the column that it reads',
    () => {
      client.manifest.fields.shift();
      return client.stage(project());
    },
    'a change of the column "id", which is read by the computed column "twice"',
  ],
  [
    'another name for it',
    () => {
      fieldAt(-1).name = 'other';
      return client.stage(project());
    },
    'a change of the computed column "other"',
  ],
  [
    'a column that may not be null',
    () => {
      fieldAt(-1).nullable = false;
      return client.stage(project());
    },
    'a change of the computed column "twice"',
  ],
  [
    'the column that it reads without values',
    () => {
      const [fragment] = client.manifest.fragments as [ClientFragment];
      fragment.files = fragment.files.map((file) => ({
        ...file,
        fields: file.fields.map((each) => (each === 0 ? -2 : each)),
      }));
      return client.stage([
        108,
        (into) => into.message(2, fragmentMembers(fragment)).packed(4, [0]),
      ]);
    },
    'other values of the column "id", which is read by the computed column "twice"',
  ],
  [
    'an append of which one row has a value',
    async () => client.append(await taken(2, 'CASE WHEN id = 1 THEN id * 2 END'), 2),
    'values of the computed column "twice" in the new fragment 1',
  ],
  [
    'an overwrite that declares it',
    async () => {
      client.manifest.fragments = [];
      return client.stage([
        102,
        (into) => {
          for (const each of client.manifest.fields) into.message(2, fieldMembers(each));
        },
      ]);
    },
    'rows or a declaration of the computed column "twice"',
  ],
  [
    'a declaration that is taken away',
    () => {
      fieldAt(-1).metadata = new Map();
      return client.stage([110, () => {}]);
    },
    'the end of the declaration of the computed column "twice"',
  ],
  [
    'another expression',
    () => {
      const { metadata } = fieldAt(-1);
      fieldAt(-1).metadata = new Map([...metadata, ['computed_column.expression', 'id * 3']]);
      return client.stage([110, () => {}]);
    },
    'another declaration of the computed column "twice"',
  ],
  [
    'a computed column of its own',
    () => {
      client.manifest.fields.push(field('more', 3, new Map(fieldAt(-1).metadata)));
      return client.stage(merge());
    },
    'rows or a declaration of the computed column "more"',
  ],
];

test.each(refused)('%s is refused, and nothing changes', async (_, stage, message) => {
  const before = await rows();
  await expect(create(await stage())).rejects.toMatchObject({
    code: 'Unsupported',
    message: expect.stringContaining(message),
  });
  expect(await rows()).toEqual(before);
  expect(await (await db.openTable('t')).version()).toBe(3);
});

test.each<[string, () => Promise<CreateTableVersionRequest>]>([
  ['an append without the column', () => without(3)],
  ['a merge that inserts without the column', () => without(3, 108)],
  ['an append of nulls', async () => client.append(await taken(3, NULLS), 3)],
])('%s has rows to be filled', async (_, stage) => {
  await create(await stage());
  expect(await twices()).toEqual([0n, 2n, 4n, 6n, 8n, null, null, null]);
  await (await db.openTable('t')).refreshColumn('twice');
  const ids = await idsOf(db.namespace, ['t']);
  expect(await twices()).toEqual(ids.map((id) => BigInt(2 * id)));
  client.open();
  await create(client.delete(new Map([[1, [0]]])));
  await create(await without(2));
  expect(await twices()).toEqual([
    ...[...ids.slice(0, 5), ...ids.slice(6)].map((id) => BigInt(2 * id)),
    null,
    null,
  ]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('rows that the client updates lose their value where it sends none', async () => {
  await create(await client.update(await taken(1, NULLS), 1, new Map([[0, [0]]])));
  expect(await twices()).toEqual([2n, 4n, 6n, 8n, null]);
});

test('a compaction keeps the values', async () => {
  const [before] = client.manifest.fragments as [ClientFragment];
  const after: ClientFragment = {
    id: ++client.manifest.maxFragmentId,
    files: [await client.dataFile(await taken(5), [0, 1, 2])],
    deletion: undefined,
    physicalRows: 5,
  };
  client.manifest.fragments = [after];
  const groups: Operation = [
    104,
    (into) =>
      into.message(3, (group) =>
        group.message(1, fragmentMembers(before)).message(2, fragmentMembers(after)),
      ),
  ];
  await create(client.stage(groups));
  expect(await twices()).toEqual([0n, 2n, 4n, 6n, 8n]);
});

test('what it reads may be made nullable', async () => {
  fieldAt(0).nullable = true;
  await create(client.stage(project()));
  expect(await twices()).toEqual([0n, 2n, 4n, 6n, 8n]);
});

test('columns beside it come, get another name and go', async () => {
  client.manifest.fields.push(field('more', 3));
  await create(client.stage(merge()));
  client.open();
  fieldAt(1).name = 'called';
  await create(client.stage(project()));
  client.open();
  client.manifest.fields.splice(1, 1);
  await create(client.stage(project()));
  expect(await rows()).toMatchObject([{ id: 0, twice: 0n, more: null }, {}, {}, {}, {}]);
  expect(await twices()).toEqual([0n, 2n, 4n, 6n, 8n]);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});

test('a delete, metadata and a drop of the column are taken, and then all is', async () => {
  await create(client.delete(new Map([[0, [1]]])));
  expect(await idsOf(db.namespace, ['t'])).toEqual([0, 2, 3, 4]);
  client.open();
  client.manifest.schemaMetadata.set('a', 'b');
  await create(client.stage([110, () => {}]));
  client.open();
  client.manifest.fields.pop();
  await create(client.stage(project()));
  client.open();
  await create(await client.append(people(2, 90), 2));
  expect(await idsOf(db.namespace, ['t'])).toContain(91);
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
});
