/** Joins by comparisons of order, beside the pairs of all rows for which their condition is true. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/sdk/connection.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let db: Connection;
let rows: Catalog['rows'];

beforeAll(async () => {
  ({ db, rows } = await statementCatalog());
  const field = (name: string, type: string) => ({ name, type: { type }, nullable: true });
  const schema = {
    fields: [
      field('id', 'int32'),
      field('k', 'int64'),
      field('x', 'float64'),
      field('n', 'int32'),
      field('d', 'date32:day'),
      field('t', 'timestamp:us'),
    ],
  };
  const day = (at: number): Date => new Date(Date.UTC(2026, 0, 1 + at));
  const of = (count: number, step: number) =>
    Array.from({ length: count }, (_, id) => ({
      id,
      k: id % 7 === 3 ? null : BigInt((id * step) % 23) + (id % 5 === 0 ? 2n ** 53n : 0n),
      x: id % 6 === 4 ? null : id % 11 === 2 ? Number.NaN : ((id * step) % 17) - 5.5,
      n: id % 9 === 8 ? null : (id * step) % 13,
      d: id % 8 === 5 ? null : day((id * step) % 20),
      t: id % 10 === 7 ? null : new Date(day((id * step) % 19).getTime() + id * 3_600_000),
    }));
  for (const [name, made] of [
    ['few', of(14, 5)],
    ['many', of(90, 7)],
    ['none', []],
  ] as const) {
    const table = await db.createEmptyTable(name, schema as never);
    if (made.length === 0) continue;
    await table.add(made.slice(0, made.length >> 1) as never);
    await table.add(made.slice(made.length >> 1) as never);
  }
});
afterAll(() => db.close());

describe.each([
  ['few', 'many'],
  ['many', 'few'],
  ['many', 'many'],
  ['few', 'none'],
  ['none', 'few'],
])('%s a and %s b', (left, right) => {
  test.each([
    'b.n BETWEEN a.n AND a.n + 2',
    'a.n BETWEEN b.n - 1 AND b.n',
    'a.k < b.k',
    'a.k >= b.k AND a.id <> b.id',
    'a.x > b.x',
    'a.x <= b.x AND a.x > b.x - 3',
    'a.n > b.x AND b.id > a.id AND a.n < b.id',
    'a.k > b.x',
    'a.d > b.t',
    "a.t < b.t AND a.t > b.t - INTERVAL '2 days'",
    'CAST(a.n AS decimal(9, 3)) - 0.5 < CAST(b.n AS decimal(5, 1))',
    'CAST(a.n AS decimal(9, 3)) > b.x',
    'a.n NOT BETWEEN b.n AND b.n + 4',
    'a.n < b.n AND NULL',
    'b.n <> 0 AND a.x > 10 % b.n',
    'a.n <> 0 AND a.n > 0 AND 20 / a.n < b.n',
    'a.n < b.n AND a.n + a.id > b.n AND a.x < 3 AND b.id > 2',
  ])('%s', async (condition) => {
    const pairs = await rows(
      `SELECT a.id AS i, b.id AS j FROM ${left} a CROSS JOIN ${right} b
       WHERE CASE WHEN ${condition} THEN true ELSE false END ORDER BY 1, 2`,
    );
    const [lefts, rights] = (await Promise.all(
      [left, right].map(async (name) =>
        (await rows(`SELECT id FROM ${name} ORDER BY 1`)).map(({ id }) => id),
      ),
    )) as [number[], number[]];
    const joined = (kind: string, items = 'a.id AS i, b.id AS j'): Promise<unknown> =>
      rows(
        `SELECT ${items} FROM ${left} a ${kind} JOIN ${right} b ON ${condition} ORDER BY ${items.includes('j') ? '1, 2' : '1'}`,
      );
    expect(await joined('INNER')).toEqual(pairs);
    const withLeft = lefts.map((i) => pairs.some((pair) => pair.i === i));
    const alone = lefts.filter((_, at) => !withLeft[at]);
    const both = lefts.filter((_, at) => withLeft[at]);
    expect(await joined('SEMI', 'a.id AS i')).toEqual(both.map((i) => ({ i })));
    expect(await joined('ANTI', 'a.id AS i')).toEqual(alone.map((i) => ({ i })));
    const text = (found: unknown): string[] =>
      (found as object[]).map((row) => JSON.stringify(Object.values(row))).sort();
    const ofLeft = [...pairs, ...alone.map((i) => ({ i, j: null }))];
    expect(text(await joined('LEFT'))).toEqual(text(ofLeft));
    const others = rights.filter((j) => !pairs.some((pair) => pair.j === j));
    expect(text(await joined('FULL'))).toEqual(
      text([...ofLeft, ...others.map((j) => ({ i: null, j }))]),
    );
  });
});

test('of many rows only those within the bounds are paired', async () => {
  const table = await db.createTable(
    'long',
    Array.from({ length: 60_000 }, (_, id) => ({ id, low: id * 10, high: id * 10 + 5 })),
  );
  // All pairs would be 3.6 thousand million.
  const found = await rows(
    'SELECT count(*) AS n, sum(b.id - a.id) AS s FROM long a JOIN long b ON a.low BETWEEN b.low AND b.high',
  );
  expect(found).toEqual([{ n: 60_000, s: 0 }]);
  const one = await rows(
    'SELECT count(*) AS n FROM long a JOIN long b ON a.id > b.id AND a.id < b.id + 3',
  );
  expect(one).toEqual([{ n: 119_997 }]);
  expect(await table.countRows()).toBe(60_000);
});
