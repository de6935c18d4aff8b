/** Changes through the SDK: what did not come stays, and a condition is never lost on the way. */
import { expect, test } from 'vitest';
import {
  Decimal,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  Schema,
  Struct,
  tableFromArrays,
  Utf8,
} from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { DataInput } from '../../src/sdk/convert/data.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { memoryFs } from '../helpers/catalogs.ts';

const schema = new Schema([
  new Field('id', new Int64(), true),
  new Field('name', new Utf8(), true),
  new Field('x', new Int32(), true),
]);

async function setUp(rows: object[], as = schema): Promise<Table> {
  const db = await connect('/c', { fs: memoryFs() });
  return db.createTable('t', rows, { schema: as });
}

const two = [
  { id: 1n, name: 'a', x: 1 },
  { id: 2n, name: 'b', x: 2 },
];
const upsert = (table: Table, data: DataInput) =>
  table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(data);
const sorted = async (table: Table) =>
  (await table.query().toArray()).sort((a, b) => Number(a.id) - Number(b.id));

async function* streamed(rows: readonly object[]): AsyncGenerator<object> {
  yield* rows;
}
const given = [
  { id: 2n, x: 20, name: undefined },
  { id: 3n, x: 30 },
];
test.each([
  ['an array', () => given],
  ['a stream', () => streamed(given)],
  ['Arrow data', () => tableFromArrays({ x: Int32Array.of(20, 30), id: [2n, 3n] })],
])('columns that do not come with a merge keep their values: %s', async (_, data) => {
  const table = await setUp(two);
  expect(await upsert(table, data() as DataInput)).toMatchObject({
    numUpdatedRows: 1,
    numInsertedRows: 1,
  });
  expect(await sorted(table)).toEqual([
    two[0],
    { id: 2n, name: 'b', x: 20 },
    { id: 3n, name: null, x: 30 },
  ]);
});

test('a column that some row has came for all of them; null is a value', async () => {
  const table = await setUp(two);
  await upsert(table, [
    { id: 1n, name: null },
    { id: 2n, x: 7 },
  ]);
  expect(await sorted(table)).toEqual([
    { id: 1n, name: null, x: null },
    { id: 2n, name: null, x: 7 },
  ]);
});

test('a merge without its key, or with a column that only comes late, is refused', async () => {
  const table = await setUp(two);
  await expect(upsert(table, [{ x: 1 }])).rejects.toThrow(/key column "id"/);
  const late = Array.from({ length: 9000 }, (_, i) => (i < 8999 ? { id: 10n } : { id: 9n, x: 1 }));
  await expect(upsert(table, streamed(late))).rejects.toThrow(/those of the first rows/);
  expect(await table.version()).toBe(1);
});

test('members of structs that do not come with a merge keep their values', async () => {
  const inner = new Struct([new Field('p', new Utf8(), true), new Field('q', new Utf8(), true)]);
  const type = new Struct([new Field('n', new Int32(), true), new Field('in', inner, true)]);
  const nested = new Schema([new Field('id', new Int64(), true), new Field('s', type, true)]);
  const table = await setUp(
    [
      { id: 1n, s: { n: 1, in: { p: 'p', q: 'q' } } },
      { id: 2n, s: null },
      { id: 3n, s: { n: 3, in: null } },
      { id: 4n, s: { n: 4, in: { p: 'p4', q: 'q4' } } },
    ],
    nested,
  );
  await upsert(table, [
    { id: 1n, s: { in: { q: 'Q' } } },
    { id: 2n, s: { in: { q: 'Q' } } },
    { id: 3n, s: { in: { q: 'Q' } } },
    { id: 4n, s: null },
    { id: 5n, s: { in: { q: 'Q' } } },
  ]);
  expect(await sorted(table)).toEqual([
    { id: 1n, s: { n: 1, in: { p: 'p', q: 'Q' } } },
    { id: 2n, s: { n: null, in: { p: null, q: 'Q' } } },
    { id: 3n, s: { n: 3, in: { p: null, q: 'Q' } } },
    { id: 4n, s: null },
    { id: 5n, s: { n: null, in: { p: null, q: 'Q' } } },
  ]);
});

test('a condition that is misspelt, or no text, changes nothing', async () => {
  const table = await setUp(two);
  const refused = async (change: () => Promise<unknown>): Promise<void> => {
    await expect(change()).rejects.toMatchObject({ code: 'InvalidInput' });
  };
  const values = { x: 0 };
  await refused(() => table.update({ values, where: 5 } as never));
  await refused(() => table.update({ values, where: null } as never));
  await refused(() => table.update({ values, filter: 'id = 1' } as never));
  await refused(() => table.update({ x: '0' }, { predicate: 'id = 1' } as never));
  await refused(() => table.update({ values, valuesSql: { name: "'x'" } } as never));
  const merge = () => table.mergeInsert('id');
  const condition = { condition: 'source.x > target.x' } as never;
  await refused(async () => merge().whenMatchedUpdateAll(condition).execute(two));
  await refused(async () => merge().whenNotMatchedBySourceDelete({ where: 1 } as never));
  await refused(async () =>
    merge()
      .whenMatchedUpdateAll()
      .execute(two, { timeoutMS: 1 } as never),
  );
  await refused(() => table.alterColumns([{ path: 'x', newName: 'y' } as never]));
  await refused(() => table.optimize({ dryrun: true } as never));
  await refused(() => table.optimize({ compaction: { targetRow: 1 } as never }));
  expect(await table.version()).toBe(1);
});

test('a new column of nulls is nullable and keeps the metadata of its field', async () => {
  const table = await setUp(two);
  await expect(table.addColumns(new Field('n', new Int32(), false))).rejects.toThrow(/nullable/);
  await table.addColumns(new Field('n', new Int32(), true, new Map([['unit', 'm']])));
  const field = (await table.schema()).fields.at(-1);
  expect([field?.name, field?.metadata.get('unit')]).toEqual(['n', 'm']);
});

test('numbers as text, as decimals are read, go into columns that hold exactly them', async () => {
  const numbers = new Schema([
    new Field('price', new Decimal(2, 20), true),
    new Field('id', new Int64(), true),
    new Field('f', new Float32(), true),
  ]);
  const table = await setUp([{ price: '1.10', id: 1n, f: 1 }], numbers);
  const [row] = await table.query().toArray();
  expect(row?.price).toBe('1.10');
  const values = { price: '123456789012345678.25', id: '9007199254740993', f: '0.5' };
  await table.update({ values });
  expect(await table.query().toArray()).toEqual([
    { price: '123456789012345678.25', id: 9007199254740993n, f: 0.5 },
  ]);
  for (const value of ['1.001', 'abc', '']) {
    await expect(table.update({ values: { price: value } })).rejects.toThrow(/"price"/);
  }
  await expect(table.update({ values: { id: '1.5' } })).rejects.toThrow(/without loss/);
  await expect(table.update({ values: { f: '16777217' } })).rejects.toThrow(/without loss/);
});

test('whole numbers beyond the safe range are set as they are', async () => {
  const numbers = new Schema([
    new Field('wide', new Int64(), true),
    new Field('double', new Float64(), true),
  ]);
  const table = await setUp([{ wide: 1n, double: 1 }], numbers);
  await table.update({ values: { wide: 2 ** 60, double: 2 ** 63 } });
  expect(await table.query().toArray()).toEqual([{ wide: 2n ** 60n, double: 2 ** 63 }]);
});

test('properties that an update would set are not left out in silence', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  await db.createTable('t', two);
  const updates = [['x', '0']];
  const request = { id: ['t'], updates, properties: { owner: 'me' } };
  await expect(db.namespace.updateTable(request)).rejects.toMatchObject({ code: 'Unsupported' });
  expect(await db.namespace.updateTable({ ...request, properties: {} })).toMatchObject({
    updated_rows: 2,
  });
});
