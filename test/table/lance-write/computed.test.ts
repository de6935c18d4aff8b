/** Versions that writers of Lance stage for a table with a computed column: no wrong value gets into it. */
import { beforeEach, expect, test } from 'vitest';
import type { RecordBatchStream } from '../../../src/arrow/apache.ts';
import { fieldMembers } from '../../../src/format/lance/lance-fields.ts';
import type { CreateTableVersionRequest } from '../../../src/protocol/index.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { LanceClient, type Operation } from '../../helpers/lance-client.ts';
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
/** Rows with a value for each column, of a table where none is computed. */
async function taken(k: number): Promise<RecordBatchStream> {
  const plain = await connect('/c', { fs: memoryFs() });
  await plain.namespace.createTable(ID, people(5));
  await (await plain.openTable('t')).addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  return plain.namespace.queryTable({ ...ID, k });
}
/** A transaction that says that the fields of the client's manifest are all there are. */
const project = (): Operation => [
  109,
  (into) => {
    for (const field of client.manifest.fields) into.message(1, fieldMembers(field));
  },
];

const refused: [string, () => CreateTableVersionRequest | Promise<CreateTableVersionRequest>][] = [
  ['an append', async () => client.append(await taken(2), 2)],
  ['an update', async () => client.update(await taken(1), 1, new Map([[0, [0]]]))],
  [
    'another name for the column that it reads',
    () => {
      (client.manifest.fields[0] as { name: string }).name = 'other';
      return client.stage(project());
    },
  ],
  [
    'a declaration that is taken away',
    () => {
      Object.assign(client.manifest.fields.at(-1) as object, { metadata: new Map() });
      return client.stage([110, () => {}]);
    },
  ],
];

test.each(refused)('%s is refused, and nothing changes', async (_, stage) => {
  const before = await rows();
  await expect(create(await stage())).rejects.toMatchObject({
    code: 'Unsupported',
    message: expect.stringContaining('beside the computed column "twice"'),
  });
  expect(await rows()).toEqual(before);
  expect(await (await db.openTable('t')).version()).toBe(3);
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
