/** Columns that are chosen by the dotted paths of fields of structs, as LanceDB's SDK takes them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Connection, connect, type Table } from '../../src/index.ts';

let db: Connection;
let table: Table;

beforeAll(async () => {
  db = await connect('memory://');
  table = await db.createTable('t', [
    { id: 1, st: { a: { b: 5 } }, 'st.c': 7, list: [{ q: 1 }], vector: [1, 2] },
    { id: 2, st: { a: { b: 6 } }, 'st.c': 8, list: [], vector: [2, 2] },
  ]);
});

afterAll(() => db.close());

test('a path is a column of its own name', async () => {
  expect(await table.query().select(['st.a.b', 'id']).toArray()).toEqual([
    { 'st.a.b': 5, id: 1 },
    { 'st.a.b': 6, id: 2 },
  ]);
  expect(await table.query().select(['st.a']).limit(1).toArray()).toEqual([{ 'st.a': { b: 5 } }]);
  const schema = await table.query().select(['st.a.b']).outputSchema();
  expect(schema.fields.map(({ name }) => name)).toEqual(['st.a.b']);
});

test('a vector search, rows by offset and an order take paths too', async () => {
  const near = table.vectorSearch([2, 2]).select(['st.a.b', '_distance']).limit(1);
  expect(await near.toArray()).toEqual([{ 'st.a.b': 6, _distance: 0 }]);
  const taken = table.takeOffsets([1, 0]).select(['st.a.b']);
  expect(await taken.toArray()).toEqual([{ 'st.a.b': 6 }, { 'st.a.b': 5 }]);
  const ordered = table
    .query()
    .select(['st.a.b'])
    .orderBy([{ columnName: 'st.a.b', ascending: false }]);
  expect(await ordered.toArray()).toEqual([{ 'st.a.b': 6 }, { 'st.a.b': 5 }]);
});

test('a column whose name has a dot comes before a path', async () => {
  expect(await table.query().select(['st.c']).limit(1).toArray()).toEqual([{ 'st.c': 7 }]);
});

test.each(['st.x', 'st.', '.a', 'ST.a', 'list.q', 'list.item.q', 'id.x'])(
  'the path %s is refused',
  async (path) => {
    await expect(table.query().select([path]).toArray()).rejects.toMatchObject({
      code: 'TableColumnNotFound',
      message: expect.stringContaining('Fields of structs are named with dots: a.b.'),
    });
  },
);
