/** What a statement computes once: sums that differ by a constant, keys that follow from keys. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/sdk/connection.ts';
import { registerFunction } from '../../src/sdk/functions.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let db: Connection;
let rows: Catalog['rows'];

const COLUMNS = {
  g: 'utf8',
  i: 'int32',
  s: 'int8',
  u: 'uint32',
  l: 'int64',
  f: 'float64',
} as const;

beforeAll(async () => {
  ({ db, rows } = await statementCatalog());
  const fields = Object.entries(COLUMNS).map(([name, type]) => ({
    name,
    type: { type },
    nullable: true,
  }));
  const t = await db.createEmptyTable('t', { fields } as never);
  await t.add([
    { g: 'a', i: 2147483647, s: 127, u: 4294967295, l: 1, f: 0 },
    { g: 'a', i: 2147483647, s: -128, u: 4294967295, l: 2, f: -0 },
    { g: 'a', i: null, s: 1, u: null, l: 3, f: Number.NaN },
    { g: 'b', i: null, s: null, u: null, l: null, f: null },
    { g: null, i: -2147483648, s: 0, u: 0, l: 5, f: 1 },
    { g: null, i: -2147483648, s: 0, u: 1, l: 5, f: 1.5 },
  ]);
  await db.createEmptyTable('none', { fields } as never);
});
afterAll(() => db.close());

const planOf = (sql: string): Promise<string> => db.sql(sql).explainPlan();

describe('sums that differ by a constant', () => {
  test.each(['i', 's', 'u'])('are made of one sum of %s', async (column) => {
    const plan = await planOf(`SELECT sum(${column} + 1), sum(${column} - 2) FROM t`);
    expect(plan).toContain(`Sum up: sum(${column}), count(${column})`);
  });

  test.each([
    ['one alone', 'sum(i + 1)'],
    ['twice the same one', 'sum(i + 1), sum(i + 1) + 1'],
    ['64 bits', 'sum(l + 1), sum(l + 2)'],
    ['floats', 'sum(f + 1), sum(f + 2)'],
    ['fractions', 'sum(i + 1.5), sum(i + 2.5)'],
    ['large constants', 'sum(i + 10000000000), sum(i + 20000000000)'],
    ['DISTINCT', 'sum(DISTINCT i + 1), sum(DISTINCT i + 2)'],
    ['windows', 'sum(i + 1) OVER (), sum(i + 2) OVER ()'],
    ['other filters', 'sum(i + 1) FILTER (WHERE s > 0), sum(i + 2)'],
  ])('are computed of the rows for %s', async (_, items) => {
    expect(await planOf(`SELECT ${items} FROM t`)).not.toMatch(/count\(/);
  });

  test.each([
    ['t', ''],
    ['t', 'GROUP BY g'],
    ['none', ''],
    ['none', 'GROUP BY g'],
    ['(SELECT * FROM t LIMIT 3 OFFSET 1) q', 'GROUP BY g'],
  ])('have the values of the rows: %s %s', async (from, by) => {
    const items = (of: (column: string) => string): string =>
      ['i', 's', 'u']
        .flatMap((column, at) => [
          `sum(${of(column)} + 1) AS p${at}`,
          `sum(999999999 + ${of(column)}) AS q${at}`,
          `sum(${of(column)} - 3) AS r${at}`,
          `sum(${of(column)} - 3) FILTER (WHERE f > 0) AS v${at}`,
          `sum(${of(column)} - 4) FILTER (WHERE f > 0) + 1 AS w${at}`,
        ])
        .join(', ');
    const few = items((column) => column);
    const all = items((column) => `CAST(${column} AS bigint)`);
    const order = by === '' ? '' : 'ORDER BY g';
    const key = by === '' ? '' : 'g, ';
    const having =
      by === '' ? '' : 'HAVING count(*) > 0 AND coalesce(sum(i + 7), 0) < 9999999999999';
    expect(await planOf(`SELECT ${key}${few} FROM ${from} ${by} ${having} ${order}`)).toContain(
      'count(',
    );
    expect(await planOf(`SELECT ${all} FROM ${from} ${by}`)).not.toContain('count(');
    expect(await rows(`SELECT ${key}${few} FROM ${from} ${by} ${having} ${order}`)).toEqual(
      await rows(`SELECT ${key}${all} FROM ${from} ${by} ${order}`),
    );
  });
});

describe('sums with a filter of the program', () => {
  test('call it for each of them', async () => {
    let calls = 0;
    const signature = { args: ['double'], returns: 'bool' } as const;
    const end = registerFunction('among_first', () => ++calls <= 3, signature);
    const sum = (addend: number) => `sum(s + ${addend}) FILTER (WHERE among_first(s))`;
    const sql = (items: string) => `SELECT ${items} FROM t WHERE s >= 0 AND s < 127`;
    try {
      expect(await rows(sql(`${sum(1)} AS a, ${sum(2)} AS b`))).toEqual([{ a: 4, b: null }]);
      expect(calls).toBe(6);
      calls = 0;
      expect(await rows(sql(`${sum(1)} AS a`))).toEqual([{ a: 4 }]);
      expect(calls).toBe(3);
    } finally {
      end();
    }
  });

  test.each(['sum(s) > 1', 'sum(s) OVER () > 1', 's', 'missing', 'nothing(s)'])(
    'are refused as one alone is: %s',
    async (filter) => {
      const sum = (addend: number) => `sum(s + ${addend}) FILTER (WHERE ${filter})`;
      const told = (sql: string): Promise<string> =>
        rows(sql).then(
          () => 'rows',
          ({ message }) => message.replace(/ \(at position.*/s, ''),
        );
      const alone = await told(`SELECT ${sum(1)} FROM t`);
      expect(await told(`SELECT ${sum(1)}, ${sum(2)} FROM t`)).toBe(alone);
      expect(alone).not.toBe('rows');
    },
  );
});

describe('keys that follow from other keys', () => {
  const SUM_UP = /Sum up by ([^:]*):/;
  const keysIn = async (sql: string): Promise<string | undefined> =>
    SUM_UP.exec(await planOf(sql))?.[1]?.replaceAll('q.', '');

  test('are computed of the groups', async () => {
    const sql = (keys: string) => `SELECT ${keys}, count(*) AS n FROM t GROUP BY ${keys}`;
    expect(await keysIn(sql('i, i - 1, s + i, s'))).toBe('i, s');
    expect(await keysIn(sql('upper(g), g, g || i, i'))).toBe('g, i');
  });

  test('stay keys where they tell rows apart that others do not', async () => {
    expect(await keysIn('SELECT f, 1 / f, count(*) FROM t GROUP BY f, 1 / f')).toBe('f, 1 / f');
    const found = await rows(
      'SELECT 1 / f AS x, count(*) AS n FROM t WHERE f = 0 GROUP BY f, 1 / f ORDER BY x',
    );
    expect(found).toEqual([
      { x: -Infinity, n: 1 },
      { x: Infinity, n: 1 },
    ]);
    expect(await keysIn('SELECT i, s + 1, count(*) FROM t GROUP BY i, s + 1')).toBe('i, s + 1');
  });

  test('stay keys where a program computes them', async () => {
    let calls = 0;
    const signature = { args: ['double'], returns: 'double' } as const;
    const end = registerFunction('next_number', () => ++calls, signature);
    try {
      const found = await rows(
        'SELECT i, next_number(i) AS k, count(*) AS n FROM t WHERE i IS NOT NULL GROUP BY i, next_number(i)',
      );
      expect(found.map(({ n }) => n)).toEqual([1, 1, 1, 1]);
    } finally {
      end();
    }
  });

  test.each(['t', 'none', '(SELECT * FROM t LIMIT 4 OFFSET 1) q'])(
    'have the values of the rows: %s',
    async (from) => {
      const keys = "g, upper(g) || '!', i, i % 7, CAST(i AS text), s, s + i";
      const items = `g, upper(g) || '!' AS a, i, i % 7 AS b, CAST(i AS text) AS c, s, s + i AS d, count(*) AS n, sum(f) AS e`;
      const tail = 'HAVING count(*) < 9 AND coalesce(i % 7, 0) < 6 ORDER BY ALL';
      const few = `SELECT ${items} FROM ${from} GROUP BY ${keys} ${tail}`;
      // Of several sets of keys each is a key of its own.
      const all = `SELECT * FROM (SELECT ${items} FROM ${from} GROUP BY GROUPING SETS ((${keys}), (${keys})) ${tail}) q`;
      expect(await keysIn(few)).toBe('g, i, s');
      const found = await rows(few);
      const twice = await rows(all);
      expect(twice.filter((_, at) => at % 2 === 0)).toEqual(found);
      expect(twice).toHaveLength(2 * found.length);
    },
  );

  test('fail where one of the rows does', async () => {
    await expect(
      rows('SELECT i, i / (i - 2147483647) AS x, count(*) FROM t GROUP BY i, i / (i - 2147483647)'),
    ).rejects.toThrow(/[Dd]ivi/);
  });

  test('fail for one of many groups, however few of them are wanted', async () => {
    const of = (from: number): string =>
      `FROM (SELECT range AS k FROM range(40000)) r GROUP BY k, 1 / (k - ${from})`;
    for (const last of [5, 39_999]) {
      for (const sql of [
        `SELECT k ${of(last)} LIMIT 1`,
        `SELECT k, count(*) ${of(last)} LIMIT 1 OFFSET 2`,
        `SELECT k ${of(last)} ORDER BY k LIMIT 1`,
        `SELECT 1 WHERE EXISTS (SELECT k ${of(last)} HAVING count(*) > 0)`,
        `SELECT q.k FROM (SELECT k, count(*) AS n ${of(last)}) q JOIN t ON q.n = t.s LIMIT 1`,
      ]) {
        await expect(rows(sql), sql).rejects.toThrow(/[Dd]ivi/);
        expect(await rows(sql.replaceAll(`- ${last})`, '+ 1)'))).toHaveLength(1);
      }
    }
  });

  test('fail even if the statement does not show them', async () => {
    const by = 'GROUP BY i, i / (i - 2147483647)';
    const of = `(SELECT i, count(*) AS n FROM t ${by})`;
    for (const sql of [
      `SELECT i FROM t ${by}`,
      `SELECT count(*) FROM ${of} q`,
      `${of} UNION ALL SELECT 1, 2`,
      `SELECT q.n FROM ${of} q JOIN t ON t.s = q.n`,
      `SELECT i FROM t ${by} ORDER BY i`,
    ]) {
      await expect(rows(sql), sql).rejects.toThrow(/[Dd]ivi/);
      const fine = sql.replaceAll('2147483647', '5');
      const alone = fine.replaceAll(', i / (i - 5)', '');
      const order = (found: object[]) => found.map((row) => JSON.stringify(row)).sort();
      expect(order(await rows(fine)), fine).toEqual(order(await rows(alone)));
    }
  });
});
