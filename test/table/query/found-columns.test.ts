/** What a search adds to its rows, in expressions and as a sort key, and other orders of the rows. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { type Connection, connect, Index, type Table } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

let db: Connection;
let namespace: DirectoryNamespace;
let table: Table;
beforeAll(async () => {
  const fs = memoryFs();
  db = await connect('/c', { fs, durability: 'relaxed' });
  namespace = await openDirectoryNamespace({ root: '/c', fs });
  const rows = Array.from({ length: 40 }, (_, id) => ({
    id,
    other: (id * 7) % 40,
    third: id % 3 === 0 ? null : id % 3,
    text: `word ${'filler '.repeat(id % 4)}`,
    vector: [id, 1],
  }));
  table = await db.createTable('t', rows);
  return async () => {
    await namespace.close();
    await db.close();
  };
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

  test('may stand beside a column of any name', async () => {
    const select = JSON.parse('{"__proto__":"id + 1","constructor":"id","d":"_distance * 2"}');
    const found = await near().select(select).limit(1).toArrow();
    const names = ['__proto__', 'constructor', 'd', '_distance'];
    expect(found.schema.fields.map(({ name }) => name)).toEqual(names);
    expect(names.map((_, at) => Number(found.getChildAt(at)?.get(0)))).toEqual([4, 3, 0, 0]);
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

  test('reads a column of the table before what the search adds by the same name', async () => {
    const rows = [0, 1, 2, 3].map((id) => ({
      id,
      query_index: id + 100,
      _distance: `${id} km`,
      vector: [id, 1],
    }));
    const named = await db.createTable('named', rows);
    const search = named.query().nearestTo([3, 1]);
    const two = named.query().nearestTo([3, 1]).addQueryVector([0, 1]).limit(1);
    const sums = await two.select({ sum: 'query_index + length(_distance)', id: 'id' }).toArray();
    expect(sums.map((row) => ({ ...row }))).toEqual([
      { sum: 107, id: 3, _distance: 0, query_index: 0 },
      { sum: 104, id: 0, _distance: 0, query_index: 1 },
    ]);
    // In the answer, the name is that of what the search adds.
    const whole = await search.limit(2).toArrow();
    expect(whole.schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id Float64',
      'query_index Float64',
      'vector FixedSizeList[2]<Float32>',
      '_distance Float32',
    ]);
    expect(whole.toArray().map(({ _distance }) => _distance)).toEqual([0, 1]);
    await expect(search.select({ _distance: '_distance' }).toArray()).rejects.toThrow(
      'adds a column "_distance" itself',
    );
    const own = await search.select({ own: '_distance' }).limit(1).toArray();
    expect(own.map((row) => ({ ...row }))).toEqual([{ own: '3 km', _distance: 0 }]);
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
      'No field named _distance',
    );
    await expect(table.query().select({ x: '_score' }).toArray()).rejects.toThrow('_score');
    await expect(
      near().select({ x: '_distance' }).where('_distance < 1').toArray(),
    ).rejects.toThrow('_distance');
  });
});

describe('a filter after the search', () => {
  const idsOf = (rows: { id: number }[]): number[] => rows.map(({ id }) => id);

  test('reads the distance, beside columns and the row id', async () => {
    const close = near().where('_distance < 2 AND id <> 3').postfilter();
    expect(idsOf(await close.limit(4).toArray())).toEqual([2, 4]);
    const far = near().where('_distance + _rowid > 8').postfilter().limit(5);
    expect(idsOf(await far.toArray())).toEqual([5]);
    expect(await far.explainPlan(true)).toContain('Filter: _distance + _rowid > 8');
    expect(await far.explainPlan(true)).not.toMatch(/Columns read:.*_distance/);
    const several = near().addQueryVector([20, 1]).where('query_index = 1').postfilter();
    expect(idsOf(await several.limit(2).toArray())).toEqual([20, 19]);
    await expect(near().where('_score > 1').postfilter().toArray()).rejects.toThrow(
      'No field named _score',
    );
    const places = await near().where('_rowoffset IN (2, 5)').postfilter().limit(5).toArray();
    expect(idsOf(places)).toEqual([2, 5]);
  });

  test('reads the score', async () => {
    // `postfilter` of the SDK is of vector searches; requests have it for texts too.
    const request = {
      id: ['t'],
      k: 8,
      vector: { single_vector: [] },
      full_text_query: { string_query: { query: 'word' } },
      prefilter: false,
      columns: { column_names: ['id', 'text'] },
    };
    const found = async (filter: string): Promise<number[]> => {
      const answered: number[] = [];
      for await (const batch of await namespace.queryTable({ ...request, filter }))
        answered.push(...(batch.getChild('id') as unknown as number[]));
      return answered;
    };
    const rows = await words().limit(8).toArray();
    expect(idsOf(rows)).toEqual([0, 4, 8, 12, 16, 20, 24, 28]);
    const least = `_score > ${rows[7]._score * 0.99}`;
    expect(await found(`${least} AND id > 4`)).toEqual([8, 12, 16, 20, 24, 28]);
    const named = { full_text_query: { string_query: { query: 'word', columns: [] } } };
    const batches = await namespace.queryTable({ ...request, ...named });
    let count = 0;
    for await (const { numRows } of batches) count += numRows;
    expect(count, 'no columns are as none that are named').toBe(8);
    expect(await found('_score < 0')).toEqual([]);
    await expect(found('_distance < 1')).rejects.toThrow('No field named _distance');
  });

  test('reads the column of the table where it has one of that name', async () => {
    const own = await db.createTable('own', [
      { id: 1, _distance: 7, vector: [0, 1] },
      { id: 2, _distance: 9, vector: [0, 2] },
    ]);
    const kept = own.query().nearestTo([0, 1]).select(['id']).where('_distance > 8').postfilter();
    expect(idsOf(await kept.toArray())).toEqual([2]);
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
