/**
 * What a statement computes once for each row or batch: values that several expressions have in
 * common, values of one side of a join, and the first rows of partitions.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { RequestMemory } from '../../src/request-memory.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { registerFunction } from '../../src/sdk/functions.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let db: Connection;
let rows: Catalog['rows'];

const type = (name: string) => ({ type: name });
const FIELDS = {
  id: type('int32'),
  g: type('utf8'),
  n: type('int32'),
  f: type('float64'),
  d: type('decimal128:10:2'),
  t: type('utf8'),
};

const PLACES = ['north', 'south', 'a "quoted" place', '', 'é'];

beforeAll(async () => {
  ({ db, rows } = await statementCatalog());
  const fields = Object.entries(FIELDS).map(([name, of]) => ({ name, type: of, nullable: true }));
  const made = Array.from({ length: 60 }, (_, id) => ({
    id,
    g: id % 11 === 0 ? null : (PLACES[id % 5] as string),
    n: id % 7 === 0 ? null : (id * 37) % 13,
    f: [0, -0, Number.NaN, null, 1.5, -2][id % 6] ?? null,
    d: id % 9 === 0 ? null : `${(id % 4) - 1}.${10 + (id % 3)}`,
    t: id % 8 === 0 ? null : 'x'.repeat(id % 5),
  }));
  const t = await db.createEmptyTable('t', { fields } as never);
  await t.add(made.slice(0, 20));
  await t.add(made.slice(20));
  await db.createEmptyTable('none', { fields } as never);
  const few = await db.createEmptyTable('few', { fields } as never);
  await few.add(made.slice(3, 10));
});
afterAll(() => db.close());

const planOf = (sql: string): Promise<string> => db.sql(sql).explainPlan();
const FROM = ['t', 'none', '(SELECT * FROM t WHERE id > 3 LIMIT 30 OFFSET 7) q'];

describe('values that several expressions have in common', () => {
  test.each([
    ['aggregates', 'SELECT sum(n * f), avg(n * f) FROM t', 'once: n * f'],
    [
      'parts of others',
      'SELECT sum(d * (1 - d)), sum(d * (1 - d) * (1 + d)) FROM t',
      'once: d * (1 - d)',
    ],
    ['keys', 'SELECT n % 3, max(n % 3 + f) FROM t GROUP BY n % 3', 'once: n % 3'],
    [
      'filters',
      'SELECT sum(n) FILTER (WHERE n * f > 1), count(*) FILTER (WHERE n * f > 1) FROM t',
      'once: n * f > 1',
    ],
    ['items', 'SELECT n * f + 1, n * f + 2 FROM t', 'once: n * f'],
    ['sets of keys', 'SELECT g, n, sum(n * f) FROM t GROUP BY CUBE (g, n)', 'once: n * f'],
  ])('are computed once: %s', async (_, sql, told) => {
    const plan = await planOf(sql);
    expect(plan.split('\n').filter((line) => line.endsWith(told))).toHaveLength(1);
  });

  test.each([
    ['texts', 'SELECT max(g || t), min(g || t) FROM t'],
    ['what one text is made into', 'SELECT max(length(t)), min(length(t)) FROM t'],
    ['columns', 'SELECT sum(n), avg(n) FROM t'],
    [
      'branches of CASE',
      'SELECT CASE WHEN n > 5 THEN 10 / n END, CASE WHEN n > 7 THEN 10 / n END FROM t',
    ],
    ['later terms of AND', 'SELECT n > 5 AND 10 / n > 1, n > 7 AND 10 / n > 1 FROM t'],
    ['later values of coalesce', 'SELECT coalesce(n, 10 / n), coalesce(f, 10 / n) FROM t'],
  ])('are computed where they stand: %s', async (_, sql) => {
    expect(await planOf(sql)).not.toContain('once:');
  });

  test('do not fail for rows that need them not', async () => {
    const sql = (second: string) =>
      `SELECT sum(CASE WHEN n > 0 THEN 10 / n END) AS a, sum(${second}) AS b FROM t`;
    expect(await rows(sql('CASE WHEN n > 0 THEN 10 / n + 1 END'))).toHaveLength(1);
    await expect(rows(sql('10 / n'))).rejects.toThrow(/[Dd]ivi/);
  });

  test('are those of the program as often as they are written', async () => {
    let calls = 0;
    const end = registerFunction('told', (value: number) => value + 0 * calls++, {
      args: ['double'],
      returns: 'double',
    });
    try {
      await rows('SELECT sum(told(id) + 1e0), sum(told(id) + 2e0) FROM few');
      expect(calls).toBe(14);
    } finally {
      end();
    }
  });

  test.each(
    FROM.flatMap((from) => ['', 'GROUP BY g', 'GROUP BY ROLLUP (g)'].map((by) => [from, by])),
  )('have the values of each alone: FROM %s %s', async (from, by) => {
    const values = [
      'sum(d * (1 - d))',
      'sum(d * (1 - d) * (1 + d))',
      'avg(d * (1 - d))',
      'min(d)',
      'sum(d)',
      'max(n * f)',
      'min(n * f)',
      'count(n * f)',
      'count(DISTINCT n * f)',
      'sum(n % 4) FILTER (WHERE n % 4 > 1)',
      'bool_or(n % 4 > 1)',
      "string_agg(t, ',' ORDER BY n % 4, id)",
      'array_agg(n % 4 ORDER BY id)',
    ];
    const key = by === '' ? '' : 'g, ';
    const tail = by === '' ? '' : 'ORDER BY g';
    const sql = (items: string) => `SELECT ${key}${items} FROM ${from} ${by} ${tail}`;
    const together = values.map((value, at) => `${value} AS c${at}`).join(', ');
    expect(await planOf(sql(together))).toContain('once:');
    const found = await rows(sql(together));
    for (const [at, value] of values.entries()) {
      const alone = await rows(sql(`${value} AS c${at}`));
      expect(alone.map((row) => row[`c${at}`])).toEqual(found.map((row) => row[`c${at}`]));
    }
  });

  test.each(FROM)('of items have the values of each alone: FROM %s', async (from) => {
    const values = ['d * 2', 'd * 2 + d', 'n * f', 'n * f > 1', '-(n * f)', 'n * f IS NULL', 'd'];
    const together = values.map((value, at) => `${value} AS c${at}`).join(', ');
    expect(await planOf(`SELECT ${together} FROM ${from}`)).toMatch(/once: (q\.)?d \* 2, /);
    const found = await rows(`SELECT id, ${together} FROM ${from} ORDER BY id`);
    for (const [at, value] of values.entries()) {
      const alone = await rows(`SELECT id, ${value} AS c${at} FROM ${from} ORDER BY id`);
      expect(alone.map((row) => row[`c${at}`])).toEqual(found.map((row) => row[`c${at}`]));
    }
  });
});

describe('values in common of large batches', () => {
  test.each([
    ['items', (one: string, two: string) => `SELECT ${one} AS a, ${two} AS b FROM large`],
    ['sums', (one: string, two: string) => `SELECT sum(${one}) AS a, sum(${two}) AS b FROM large`],
    [
      'sets of keys',
      (one: string, two: string) =>
        `SELECT sum(${one}) AS a, sum(${two}) AS b FROM large GROUP BY GROUPING SETS ((), (n % 2))`,
    ],
  ])('are counted as memory, a part of a batch at a time: %s', async (_, sql) => {
    const requestMemory = 8 << 20;
    const small = await statementCatalog({ requestMemory });
    const take = vi.spyOn(RequestMemory.prototype, 'take');
    try {
      const numbers = Array.from({ length: 6_000 }, (_, n) => ({ n }));
      await small.db.createTable('large', numbers);
      const sum = (most: number) =>
        Array.from({ length: 40 }, (_, at) => `CAST(n * ${at + 1}.5 > ${most} AS int)`).join(' + ');
      const ofItems = sql(sum(500), sum(700));
      expect(await small.db.sql(ofItems).explainPlan()).toContain('once:');
      const alone = async (most: number) =>
        (await small.rows(sql(sum(most), '1'))).map(({ a }) => a);
      take.mockClear();
      const found = await small.rows(ofItems);
      const counted = take.mock.calls.filter(([, what]) => /several columns|groups/.test(what));
      const most = Math.max(...counted.map(([bytes]) => bytes));
      expect(most).toBeGreaterThan(requestMemory / 9);
      expect(most).toBeLessThan(requestMemory / 7);
      expect(found.map(({ a }) => a)).toEqual(await alone(500));
      expect(found.map(({ b }) => b)).toEqual(await alone(700));
    } finally {
      take.mockRestore();
      await small.db.close();
    }
  });
});

describe('values of one side of a join', () => {
  const below = async (sql: string): Promise<string[]> => {
    const lines = (await planOf(sql)).split('\n');
    const join = lines.findIndex((line) => /Join|Pair/.test(line));
    return lines.slice(join + 1).filter((line) => line.includes('Compute'));
  };
  const PAIRS = 't a JOIN few b ON a.n = b.n';

  test.each([
    ['items', `SELECT length(a.t), b.id FROM ${PAIRS} ORDER BY 1`],
    ['the other side', `SELECT length(b.t), a.id FROM ${PAIRS}`],
    ['aggregates', `SELECT sum(length(a.t)) FROM ${PAIRS}`],
    ['keys', `SELECT length(a.t), count(*) FROM ${PAIRS} GROUP BY length(a.t)`],
    ['the left side', 'SELECT length(a.t) FROM t a LEFT JOIN few b ON a.n = b.n'],
    ['all pairs', 'SELECT length(a.t) + b.id FROM t a, few b'],
    ['below a condition', 'SELECT length(a.t) FROM t a, few b WHERE a.n + b.n > 1'],
  ])('are computed below it: %s', async (_, sql) => {
    const computed = await below(sql);
    expect(computed).toHaveLength(1);
    expect(computed[0]).toContain('length(');
  });

  test.each([
    ['the side that may be missing', 'SELECT length(b.t) FROM t a LEFT JOIN few b ON a.n = b.n'],
    [
      'either side of a full join',
      'SELECT length(b.t), length(a.t) FROM t a FULL JOIN few b ON a.n = b.n',
    ],
    ['what may fail', 'SELECT CAST(a.t AS int) FROM t a, few b'],
    ['texts', 'SELECT upper(a.t) FROM t a, few b'],
    ['both sides', 'SELECT length(a.t || b.t) FROM t a, few b'],
    ['sums of numbers', 'SELECT a.f + 1 FROM t a, few b'],
    [
      'a join of few pairs',
      "SELECT length(a.t), a.t FROM t a JOIN few b ON a.n = b.n AND b.g = 'x'",
    ],
  ])('are computed above it: %s', async (_, sql) => {
    expect(await below(sql)).toEqual([]);
  });

  test('are told by what they are made of', async () => {
    expect(await planOf(`SELECT length(a.t) + b.id AS x FROM ${PAIRS}`)).toMatch(
      /^Compute length\((a\.)?t\) \+ /,
    );
  });

  test.each(FROM)('have the values of the pairs: FROM %s', async (from) => {
    const end = registerFunction('length_of', (text: string) => text.length, {
      args: ['utf8'],
      returns: 'double',
    });
    const sql = (length: string, join: string): string =>
      `SELECT a.id AS x, b.id AS y, ${length} AS l, ${length} + b.n AS m,
        CASE WHEN b.n > 3 THEN ${length} END AS c, a.g, sqrt(a.n) AS s
      FROM ${from.replace(' q', '')} a ${join} ORDER BY ALL`;
    try {
      for (const join of [
        'JOIN few b ON a.n = b.n',
        'LEFT JOIN few b ON a.n = b.n',
        'CROSS JOIN few b',
      ]) {
        const few = sql('CAST(length(a.t) AS double)', join);
        const all = sql('length_of(a.t)', join);
        expect((await below(few)).join('').includes('length(')).toBe(from !== 'none');
        expect((await below(all)).join('')).not.toContain('length');
        expect(await rows(few)).toEqual(await rows(all));
      }
    } finally {
      end();
    }
  });
});

describe('the first rows of partitions', () => {
  const numbered = (from: string, order: string, more = '') =>
    `SELECT *, row_number() OVER (PARTITION BY g ORDER BY ${order}) AS r${more} FROM ${from}`;

  test.each(['r <= 2', 'r < 3', 'r = 2', '2 >= r', 'r BETWEEN 1 AND 2', 'r <= 2 AND id > 5'])(
    'are told to the window: %s',
    async (where) => {
      expect(await planOf(`SELECT * FROM (${numbered('t', 'n, id')}) s WHERE ${where}`)).toMatch(
        /of the first [23] rows of each partition/,
      );
    },
  );

  test.each([
    [
      'other functions',
      numbered('t', 'n', ', sum(n) OVER (PARTITION BY g ORDER BY n) AS s'),
      'r <= 2',
    ],
    ['ranks', 'SELECT *, rank() OVER (PARTITION BY g ORDER BY n) AS r FROM t', 'r <= 2'],
    ['no partitions', 'SELECT *, row_number() OVER (ORDER BY n) AS r FROM t', 'r <= 2'],
    ['rows behind', numbered('t', 'n'), 'r >= 2'],
    ['one of two', numbered('t', 'n'), 'r <= 2 OR id = 1'],
    ['many', numbered('t', 'n'), 'r <= 100'],
    ['later keys that may fail', numbered('t', 'n, 1 / n'), 'r <= 2'],
  ])('are not told: %s', async (_, from, where) => {
    expect(await planOf(`SELECT * FROM (${from}) s WHERE ${where}`)).not.toContain('of the first');
  });

  test('are those of a key that the program computes once for each row', async () => {
    let calls = 0;
    const end = registerFunction('ranked', (value: number) => value + 0 * calls++, {
      args: ['double'],
      returns: 'double',
    });
    try {
      for (const order of ['ranked(id)', 'n, ranked(id)']) {
        calls = 0;
        const few = `SELECT * FROM (${numbered('t', order)}) s WHERE r <= 1`;
        expect(await rows(few)).toHaveLength(6);
        expect(calls).toBe(60);
      }
    } finally {
      end();
    }
  });

  const orders = ['n', 'f', 'd', 'id'].flatMap((key) =>
    ['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'].map((way) => `${key}${way}`),
  );
  test.each([...orders, 't DESC', 'n, f DESC', 'f, n'])(
    'are those of the order by %s',
    async (order) => {
      for (const from of FROM) {
        for (const first of [1, 2, 5]) {
          const few = `SELECT * FROM (${numbered(from, order)}) s WHERE r <= ${first} ORDER BY g, r`;
          const all = `SELECT * FROM (${numbered(from, order)}) s WHERE r + 0 <= ${first} ORDER BY g, r`;
          expect(await rows(few)).toEqual(await rows(all));
        }
      }
    },
  );
});
