/** What plans say of indexes, what a fast search leaves out, and what changes take from coverage. */
import { expect, test } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import { Index } from '../../../src/sdk/table/index-config.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const rowsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: from + at,
    other: at,
    text: `word${(from + at) % 7} common`,
  }));

async function made(count = 5_000, lance: 'off' | 'read' = 'read'): Promise<Table> {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed', lance });
  return (await db.createTable('t', rowsOf(0, count))) as unknown as Table;
}

const noteOf = (plan: string): string | undefined =>
  plan
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line.startsWith('Index:'));

test('a plan counts the fragments that are scanned, and says what an order uses', async () => {
  const table = await made();
  const ordered = table.query().orderBy({ columnName: 'id' }).limit(2);
  expect(noteOf(await ordered.explainPlan())).toBeUndefined();
  await table.createIndex('id');
  await table.add(rowsOf(9_000, 10));
  await table.add(rowsOf(10_000, 10));
  const plan = async (where: string): Promise<string | undefined> =>
    noteOf(await table.query().where(where).explainPlan());
  expect(await plan('id = 77')).toBe('Index: id_idx names 1 of 5020 rows');
  expect(await plan('id = 9005')).toBe(
    'Index: id_idx names 0 of 5020 rows; fragments that are not covered and are scanned: 1',
  );
  expect(await plan('id IN (9005, 10005, 4)')).toMatch(/are scanned: 2$/);
  expect(noteOf(await ordered.explainPlan())).toBe(
    'Index: id_idx gives the first 2 of the order among 2 of 5020 rows; fragments that are not covered and are scanned: 2',
  );
  expect(noteOf(await table.query().limit(1).explainPlan())).toBeUndefined();
});

test.each([
  ['id >= 70 AND id < 72', 2],
  ['id > 70 AND id >= 71 AND 75 > id AND id <= 80', 4],
  ['id >= 71 AND id > 71 AND id <= 75 AND id < 75', 3],
  ['id BETWEEN 70 AND 90 AND id < 80', 10],
  ['id > 80 AND id < 70', 0],
])('the ends of a range that AND joins are looked up together: %s', async (where, count) => {
  const table = await made();
  await table.createIndex('id');
  await table.createIndex('other');
  expect(noteOf(await table.query().where(where).explainPlan())).toBe(
    `Index: id_idx names ${count} of 5000 rows`,
  );
  expect(await table.countRows(where)).toBe(count);
  const more = `${where} AND other < 4000 AND other >= 0`;
  expect(noteOf(await table.query().where(more).explainPlan())).toMatch(
    `Index: id_idx names ${count} of 5000 rows`,
  );
});

test('a fast search leaves out rows of a full-text index alone', async () => {
  const table = await made(50);
  const fast = async (): Promise<number> =>
    (await table.query().fullTextSearch('common').fastSearch().limit(100).toArray()).length;
  expect(await fast()).toBe(50);
  await table.createIndex('text', { config: Index.fts() });
  await table.add(rowsOf(50, 5));
  expect(await fast()).toBe(50);
  expect((await table.query().fullTextSearch('common').limit(100).toArray()).length).toBe(55);
  const search = table.query().fullTextSearch('common').fastSearch();
  expect(await search.explainPlan()).toContain('text_idx for 50 rows, and 5 are left out');
  expect((await table.query().where('id >= 48').fastSearch().toArray()).length).toBe(7);
  await table.optimize();
  expect(await fast()).toBe(55);
});

test('a search without columns is of those with an index, or of all', async () => {
  const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const table = await db.createTable('t', [
    { id: 1, text: 'fox', title: 'none', more: { note: 'none' } },
    { id: 2, text: 'none', title: 'fox', more: { note: 'none' } },
    { id: 3, text: 'none', title: 'none', more: { note: 'fox' } },
  ]);
  const ids = async (columns?: string[]): Promise<number[]> =>
    (
      await table
        .query()
        .fullTextSearch('fox', columns && { columns })
        .toArray()
    )
      .map(({ id }) => id)
      .sort();
  expect(await ids()).toEqual([1, 2]);
  await table.createIndex('title', { config: Index.btree() });
  expect(await ids()).toEqual([1, 2]);
  await table.createIndex('text', { config: Index.fts() });
  expect([await ids(), await ids([]), await ids(['title', 'text'])]).toEqual([[1], [1], [1, 2]]);
  await table.createIndex('more.note', { config: Index.fts() });
  await table.createIndex('more.note', { config: Index.fts({ stem: false }), name: 'other' });
  expect(await ids()).toEqual([1, 3]);
  expect(await table.search('fox').explainPlan()).toContain('in text, more.note, by BM25');
  await table.dropColumns(['more']);
  expect(await ids()).toEqual([1]);
  await table.dropIndex('text_idx');
  expect(await ids()).toEqual([1, 2]);
});

test('a widened column has no index until it is optimized, and rewritten rows have none', async () => {
  const table = await made(50, 'off');
  await table.addColumns([{ name: 'small', valueSql: 'cast(id as int)' }]);
  await table.createIndex('small', { config: Index.btree() });
  await table.createIndex('id');
  const covered = async (): Promise<unknown> =>
    (await table.listIndices()).map(({ numIndexedRows }) => numIndexedRows);
  await table.alterColumns([{ path: 'small', dataType: 'int64' } as never]);
  expect(await covered()).toEqual([50, 0]);
  expect(await table.countRows('small = 7')).toBe(1);
  await table.optimize();
  expect(await covered()).toEqual([50, 50]);
  await table.update({ where: 'id = 3', values: { other: 1 } });
  expect(await covered()).toEqual([49, 49]);
});
