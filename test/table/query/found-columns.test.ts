/** What a search adds to its rows, in expressions and as a sort key, and other orders of the rows. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Connection, connect, Index, type Table } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

let db: Connection;
let table: Table;
beforeAll(async () => {
  db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
  const rows = Array.from({ length: 40 }, (_, id) => ({
    id,
    other: (id * 7) % 40,
    third: id % 3 === 0 ? null : id % 3,
    text: `word ${'filler '.repeat(id % 4)}`,
    vector: [id, 1],
  }));
  table = await db.createTable('t', rows);
  return () => db.close();
});

const near = () => table.query().nearestTo([3, 1]);
const words = () => table.query().fullTextSearch('word');

describe('an expression', () => {
  test('reads the distance, beside columns and the row id', async () => {
    const select = { id: 'id', d: '_distance * 2', n: '_distance + other', r: '_rowid + 0' };
    const rows = await near().select(select).limit(3).toArray();
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { id: 3, d: 0, n: 21, r: 3n, _distance: 0 },
      { id: 2, d: 2, n: 15, r: 2n, _distance: 1 },
      { id: 4, d: 2, n: 29, r: 4n, _distance: 1 },
    ]);
    const alone = await near().select({ d: '_distance' }).limit(2).withRowId().toArrow();
    expect(alone.schema.fields.map(({ name }) => name)).toEqual(['d', '_distance', '_rowid']);
    expect(alone.toArray().map(({ d, _rowid }) => [d, _rowid])).toEqual([
      [0, 3n],
      [1, 2n],
    ]);
    const both = await near().select({ x: '_distance + _rowid' }).limit(2).toArray();
    expect(both.map(({ x }) => x)).toEqual([3, 3]);
  });

  test('reads the score, and a score by its own name is there once', async () => {
    const rows = await words().select({ s: '_score * 2', id: 'id' }).limit(3).toArray();
    for (const { s, _score } of rows) expect(s).toBeCloseTo(2 * _score, 6);
    expect(rows.map(({ id }) => id)).toEqual([0, 4, 8]);
    const named = await words().select({ id: 'id', _score: '_score' }).limit(1).toArrow();
    expect(named.schema.fields.map(({ name }) => name)).toEqual(['id', '_score']);
    const schema = await words().select({ s: '_score * 2' }).outputSchema();
    expect(schema.fields.map(({ name }) => name)).toEqual(['s', '_score']);
  });

  test('tells several query vectors apart', async () => {
    const asked = near().addQueryVector([20, 1]).select({ q: 'query_index * 10', id: 'id' });
    expect((await asked.limit(1).toArray()).map(({ q, id }) => [Number(q), id])).toEqual([
      [0, 3],
      [10, 20],
    ]);
  });

  test('is told in plans, and refused where it cannot be', async () => {
    const asked = words().select({ s: '_score * 2', id: 'id' });
    expect(await asked.explainPlan()).toContain('Projection: _score * 2 AS s, id');
    await expect(words().select({ _score: 'id' }).toArray()).rejects.toThrow(
      'adds a column "_score" itself',
    );
    await expect(words().select({ x: '_score + _rowoffset' }).toArray()).rejects.toEqual(
      expect.objectContaining({ code: 'Unsupported' }),
    );
    await expect(words().select({ x: '_distance' }).toArray()).rejects.toThrow(
      'no column _distance',
    );
    await expect(table.query().select({ x: '_score' }).toArray()).rejects.toThrow('_score');
    await expect(
      near().select({ x: '_distance' }).where('_distance < 1').toArray(),
    ).rejects.toThrow('_distance');
  });
});

describe('an order', () => {
  const ids = async (asked: { toArray(): Promise<{ id: number }[]> }): Promise<number[]> =>
    (await asked.toArray()).map(({ id }) => id);

  test('is of the rows found, before some are passed over', async () => {
    const other = { columnName: 'other' };
    expect(await ids(near().limit(5).orderBy(other))).toEqual([1, 2, 3, 4, 5]);
    const falling = { columnName: 'other', ascending: false };
    expect(await ids(near().limit(2).offset(1).orderBy(falling))).toEqual([3, 2]);
    expect(await ids(words().limit(4).orderBy(falling))).toEqual(
      [4, 8, 12, 0].sort((a, b) => ((b * 7) % 40) - ((a * 7) % 40)),
    );
    expect(await ids(words().limit(0).orderBy(other))).toEqual([]);
    expect(await ids(words().where('id > 1000').orderBy(other))).toEqual([]);
  });

  test('can be by what the search adds, and keeps rows of equal keys best first', async () => {
    const farthest = { columnName: '_distance', ascending: false };
    expect(await ids(near().limit(4).orderBy(farthest))).toEqual([1, 2, 4, 3]);
    const keys = [{ columnName: 'third', nullsFirst: true }, { columnName: '_score' }];
    expect(await ids(words().limit(6).orderBy(keys))).toEqual([0, 12, 4, 16, 8, 20]);
    const third = { columnName: 'third', nullsFirst: true };
    expect(await ids(near().limit(7).orderBy(third))).toEqual([3, 0, 6, 4, 1, 2, 5]);
  });

  test('after a filter that counts afterwards, and through an index', async () => {
    const asked = near().where('id <> 3').postfilter().limit(3).orderBy({ columnName: 'other' });
    expect(await ids(asked)).toEqual([2, 4]);
    const copy = await db.createTable('indexed', await table.query().toArrow());
    await copy.createIndex('text', { config: Index.fts() });
    const falling = { columnName: 'id', ascending: false };
    expect(await ids(copy.search('word').limit(3).orderBy(falling) as never)).toEqual([8, 4, 0]);
    const plan = await copy.search('word').orderBy(falling).explainPlan();
    expect(plan).toContain('Order: id descending');
    expect(plan).not.toContain('Index:');
  });

  test('by no column is refused before anything is read', async () => {
    for (const asked of [near(), words()]) {
      for (const columnName of ['nothing', 'vector']) {
        const ordered = asked.orderBy({ columnName });
        await expect(ordered.toArray()).rejects.toThrow(columnName);
        await expect(ordered.explainPlan()).rejects.toThrow(columnName);
      }
    }
  });
});
