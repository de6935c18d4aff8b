import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/sdk/connection.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let db: Connection;
let rows: Catalog['rows'];

beforeAll(async () => {
  ({ db, rows } = await statementCatalog());
  const of = (count: number, make: (at: number) => Record<string, unknown>) =>
    Array.from({ length: count }, (_, at) => make(at));
  await db.createTable(
    'a',
    of(12, (at) => ({ id: at, b: at % 5 === 0 ? null : at % 4, x: at % 3, t: `t${at % 2}` })),
  );
  await db.createTable(
    'b',
    of(6, (at) => ({ id: at, c: at % 3 === 0 ? null : at, y: at % 2, u: `t${at % 3}` })),
  );
  await db.createTable(
    'c',
    of(4, (at) => ({ id: at, z: at === 2 ? null : at })),
  );
});
afterAll(() => db.close());

const planOf = (sql: string): Promise<string> => db.sql(sql).explainPlan();
const FROM = 'SELECT a.id AS i, b.id AS j FROM';

describe('outer joins', () => {
  test.each([
    ['a comparison of a missing column', 'a LEFT JOIN b ON a.b = b.id', 'b.y > 0'],
    ['a column that is not null', 'a LEFT JOIN b ON a.b = b.id', 'b.y IS NOT NULL'],
    ['a call of null', 'a LEFT JOIN b ON a.b = b.id', "upper(b.u) = 'T1'"],
    ['both terms of OR', 'a LEFT JOIN b ON a.b = b.id', 'b.y = 1 OR b.c = 4'],
    ['an equation with the other side', 'a LEFT JOIN b ON a.x > 5', 'a.b = b.id'],
    ['the right side', 'b RIGHT JOIN a ON a.b = b.id', 'b.y + a.x > 0'],
    ['both sides', 'a FULL JOIN b ON a.b = b.id', 'a.x = b.y'],
    ['a list', 'a LEFT JOIN b ON a.b = b.id', 'b.y IN (1, 7)'],
  ])('become inner ones by %s', async (_, from, where) => {
    const plan = await planOf(`${FROM} ${from} WHERE ${where}`);
    expect(plan).toContain('Join (inner)');
    expect(plan).not.toContain('Keep rows');
  });

  test.each([
    ['a value in place of null', 'coalesce(b.y, 1) = 1'],
    ['a test for null', 'b.y IS NULL'],
    ['a test of truth', '(b.y > 0) IS NOT TRUE'],
    ['one term of OR', 'b.y > 0 OR a.x = 1'],
    ['a CASE', 'CASE WHEN b.y > 0 THEN false ELSE true END'],
    ['a list that is not negated alone', 'NOT (b.y > 0 AND a.x = 1)'],
    ['a distinct test', 'b.y IS DISTINCT FROM 0'],
  ])('stay for %s', async (_, where) => {
    expect(await planOf(`${FROM} a LEFT JOIN b ON a.b = b.id WHERE ${where}`)).toContain(
      'Join (left)',
    );
  });

  test('a full join becomes a left one of the side that is needed', async () => {
    const one = await planOf(`${FROM} a FULL JOIN b ON a.b = b.id WHERE a.x > 0`);
    expect(one).toContain('Join (left) on b = b.id');
    expect(one).toContain('where x > 0');
    const other = await planOf(`${FROM} a FULL JOIN b ON a.b = b.id WHERE b.y > 0`);
    expect(other).toContain('Join (left) on b.id = b');
    expect(other).toContain('where y > 0');
  });

  test('a condition of the join above makes the one below an inner one', async () => {
    const plan = await planOf(
      `${FROM} a LEFT JOIN b ON a.b = b.id JOIN c ON b.c = c.id WHERE a.x >= 0`,
    );
    expect(plan).not.toContain('Join (left)');
    const derived = await planOf(
      `SELECT * FROM c JOIN (SELECT a.id, b.c FROM a LEFT JOIN b ON a.b = b.id) q ON q.c = c.id`,
    );
    expect(derived).not.toContain('Join (left)');
    const ofMissing = await planOf(
      `SELECT * FROM c LEFT JOIN (SELECT a.id, b.c FROM a LEFT JOIN b ON a.b = b.id) q ON q.c = c.id`,
    );
    expect(ofMissing.match(/Join \(left\)/g)).toHaveLength(1);
    const kept = await planOf(
      `SELECT * FROM (SELECT a.id, b.c FROM a LEFT JOIN b ON a.b = b.id) q LEFT JOIN c ON q.c = c.id`,
    );
    expect(kept.match(/Join \(left\)/g)).toHaveLength(2);
  });

  test('a comparison of a key with a constant is told to both tables', async () => {
    const plan = await planOf(`${FROM} a LEFT JOIN b ON a.b = b.id WHERE a.b = 2`);
    expect(plan).toContain('where b = 2');
    expect(plan).toContain('where b.id = 2');
    const inner = await planOf(`${FROM} a JOIN b ON a.b = b.id WHERE b.id BETWEEN 1 AND 2`);
    expect(inner.match(/BETWEEN|>= 1/g)).toHaveLength(2);
  });
});

describe('the order of joins', () => {
  test.each([
    'a, c, b WHERE a.b = b.id AND b.c = c.id',
    'c CROSS JOIN a LEFT JOIN b d ON a.id = d.id, b WHERE a.b = b.id AND b.c = c.id',
    'a LEFT JOIN b d ON a.x = d.y, c, b WHERE a.b = b.id AND b.c = c.id',
    '(a CROSS JOIN c) LEFT JOIN b d ON a.x = d.y CROSS JOIN b WHERE a.b = b.id AND b.c = c.id',
  ])('has no pairs without an equation: %s', async (from) => {
    const plan = await planOf(`${FROM} ${from}`);
    expect(plan).not.toContain('Pair all rows');
  });

  test('a left join whose columns other joins read stays below these', async () => {
    const sql = `${FROM} a LEFT JOIN b ON a.b = b.id, c d, c WHERE coalesce(b.c, 1) = d.id AND d.id = c.id`;
    expect(await planOf(sql)).toContain('Join (inner) on d.id = coalesce(c, 1)');
  });
});

describe('columns that are equal to one column', () => {
  test('are equal to each other, and one equation of them is a key', async () => {
    const plan = await planOf(`${FROM} a, b, c WHERE a.b = b.id AND b.id = c.id AND a.x = c.id`);
    expect(plan).toMatch(/Read a:.*where b = x/);
    expect(plan.match(/ AND /g)).toBeNull();
  });

  test('are joined first with the smallest table, which says how many values there are', async () => {
    const of = (count: number, make: (at: number) => Record<string, unknown>) =>
      Array.from({ length: count }, (_, at) => make(at));
    await db.createTable(
      'lands',
      of(4, (at) => ({ land: at })),
    );
    await db.createTable(
      'sellers',
      of(100, (at) => ({ seller: at, land: at % 4 })),
    );
    await db.createTable(
      'buyers',
      of(900, (at) => ({ buyer: at, land: at % 4 })),
    );
    await db.createTable(
      'sales',
      of(10_000, (at) => ({ buyer: at % 900, seller: (at * 7) % 100 })),
    );
    const sql = `SELECT count(*) AS n FROM sellers s, buyers b, sales x, lands l
      WHERE b.land = s.land AND s.land = l.land AND x.buyer = b.buyer AND x.seller = s.seller`;
    const plan = await planOf(sql);
    // By land alone a buyer would have 25 sellers.
    expect(plan).toMatch(/Join \(inner\) on .*land AND .*seller/);
    let n = 0;
    for (let at = 0; at < 10_000; at++) if ((at % 900) % 4 === ((at * 7) % 100) % 4) n++;
    expect(await rows(sql)).toEqual([{ n }]);
  });

  test.each([
    'a.b = b.id AND b.id = c.id AND a.x = c.id',
    'a.b = b.c AND b.c = c.z AND c.z = a.b',
    'a.b = b.c AND a.x = b.c AND c.id = a.x',
    'a.t = b.u AND a.x = b.y AND c.z = b.y',
  ])('have the pairs of nested loops: %s', async (where) => {
    const select = 'SELECT a.id AS i, b.id AS j, c.id AS k FROM a, b, c WHERE';
    const plain = await rows(`${select} ${where} ORDER BY 1, 2, 3`);
    const whole = `CASE WHEN ${where} THEN true ELSE false END`;
    expect(plain).toEqual(await rows(`${select} ${whole} ORDER BY 1, 2, 3`));
    expect(plain.length).toBeGreaterThan(0);
  });
});

describe('groups of which a join asks for few', () => {
  beforeAll(async () => {
    const of = (count: number, make: (at: number) => Record<string, unknown>) =>
      Array.from({ length: count }, (_, at) => make(at));
    await db.createTable(
      'parts',
      of(50, (at) => ({ part: at, size: at % 10 })),
    );
    await db.createTable(
      'lines',
      of(3000, (at) => ({ part: at % 60 === 59 ? null : at % 60, n: at % 13 })),
    );
  });
  const MEAN = 'SELECT avg(n) FROM lines i WHERE i.part = ';

  test.each([
    `SELECT part, n FROM parts p JOIN lines l USING (part) WHERE size = 3 AND n < (${MEAN} p.part)`,
    `SELECT part, (${MEAN} p.part) AS mean FROM parts p WHERE size = 3`,
    'SELECT p.part, q.n FROM parts p JOIN (SELECT part, sum(n) AS n FROM lines GROUP BY part HAVING sum(n) > 200) q ON q.part = p.part WHERE size = 3',
  ])('are made of the rows of these alone: %s', async (sql) => {
    const plan = await planOf(sql);
    expect(plan).toMatch(/Sum up by.*\n(.*Compute.*\n)?.*Join \(semi\)/);
    const every = sql.replace('size = 3', 'CASE WHEN size = 3 THEN true ELSE false END');
    const plainly = sql.includes('USING') ? every.replace('n <', '0 + n <') : every;
    const order = ' ORDER BY 1, 2';
    expect(await rows(sql + order)).toEqual(await rows(plainly + order));
    expect((await rows(sql)).length).toBeGreaterThan(3);
  });

  test.each([
    'SELECT l.n, q.n FROM lines l JOIN (SELECT part, count(*) AS n FROM lines GROUP BY part) q ON q.part = l.part',
    'SELECT p.part FROM parts p JOIN (SELECT part, sum(n) AS n FROM lines GROUP BY part) q ON q.n = p.part WHERE size = 3',
    'SELECT q.n FROM (SELECT part, sum(n) AS n FROM lines GROUP BY part) q LEFT JOIN parts p ON q.part = p.part AND size = 3',
  ])('others are made of all rows: %s', async (sql) => {
    expect(await planOf(sql)).not.toContain('Join (semi)');
  });
});

describe('alternatives', () => {
  const where = '(a.b = b.id AND a.x = 1 AND b.y = 0) OR (a.b = b.id AND a.x = 2 AND b.y = 1)';

  test('that share an equation are joined by it, and bound each table', async () => {
    const plan = await planOf(`${FROM} a, b WHERE ${where}`);
    expect(plan).toContain('Join (inner) on b = b.id AND');
    expect(plan).toMatch(/Read a: .*, where x = 1 OR x = 2$/m);
    expect(plan).toMatch(/Read b: .*, where y = 0 OR y = 1$/m);
    expect(await planOf(`${FROM} a JOIN b ON ${where}`)).toBe(plan);
  });

  test('of equal terms ask for each once', async () => {
    const three = '(a.x = 1 AND b.y = 0) OR (a.x = 2 AND b.y = 1) OR (a.x = 1 AND b.y = 2)';
    const plan = await planOf(`${FROM} a JOIN b ON a.b = b.id AND (${three})`);
    expect(plan).toMatch(/Read a: .*, where x = 1 OR x = 2$/m);
    const shared = '(a.x = 3 AND b.y = 0) OR (a.x = 3 AND b.c = 1) OR (b.y = 0 AND a.x = 3)';
    expect(await planOf(`${FROM} a JOIN b ON a.b = b.id AND (${shared})`)).toMatch(
      /Read b: .*, where y = 0 OR c = 1$/m,
    );
  });

  test.each([
    where,
    'a.b = b.id OR a.b = b.id AND a.x = 1',
    '(a.b = b.id AND a.x = 1) OR (a.b = b.id AND b.c > 2)',
    "(a.x = 1 AND b.y = 0 AND a.t = 't1') OR (a.x = 2 AND a.id > 3 AND b.y < 2)",
    '(a.x = 1 AND b.y = 0) OR a.b = b.c',
    // Of the row with the id 0 nobody may ask what stands behind the first terms.
    '(b.id <> 0 AND a.x > 0 AND 10 / CAST(b.id AS bigint) >= 2) OR (b.id > 3 AND a.x < 2 AND 10 / CAST(b.id AS bigint) >= 2)',
    '(b.id <> 0 AND a.x > 0 AND b.y >= 1 / CAST(b.id AS bigint)) OR (b.id > 3 AND a.x < 2 AND b.y >= 1 / CAST(b.id AS bigint))',
  ])('have the pairs of nested loops: %s', async (condition) => {
    for (const join of ['JOIN', 'LEFT JOIN', 'FULL JOIN']) {
      const plain = await rows(`${FROM} a ${join} b ON ${condition} ORDER BY 1, 2`);
      const whole = `CASE WHEN ${condition} THEN true ELSE false END`;
      expect(plain).toEqual(await rows(`${FROM} a ${join} b ON ${whole} ORDER BY 1, 2`));
      expect(plain.length).toBeGreaterThan(0);
    }
    const exists = `SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.b = b.id AND (${condition})) ORDER BY 1`;
    const pairs = await rows(`${FROM} a, b WHERE a.b = b.id AND (${condition})`);
    const ids = [...new Set(pairs.map(({ i }) => i))].sort((one, two) => Number(one) - Number(two));
    expect(await rows(exists)).toEqual(ids.map((id) => ({ id })));
  });
});

describe('conditions that are never true', () => {
  test.each([
    ['1 = 0', '1 = 0'],
    ['NULL', 'NULL'],
    ['a.x = NULL', 'x = NULL'],
    ["a.x = 1 AND a.t = 't1' AND 2 = a.x", 'x = 1 AND 2 = x'],
    ["a.t = 't1' AND a.t = 't2'", "t = 't1' AND t = 't2'"],
    ['a.x > 5 AND a.x < 3', 'x > 5 AND x < 3'],
    ['a.x >= 5 AND 5 > a.x', 'x >= 5 AND 5 > x'],
    ['a.x BETWEEN 7 AND 3', 'x BETWEEN 7 AND 3'],
    ['a.x = 1 AND a.x <> 1', 'x = 1 AND x <> 1'],
    ['a.x IS NULL AND a.x + 1 > 0', 'x IS NULL AND x + 1 > 0'],
  ])('read nothing: %s', async (where, said) => {
    const plan = await planOf(`${FROM} a JOIN b ON a.b = b.id WHERE ${where} ORDER BY 1`);
    expect(plan).toBe(`No rows: ${said} is never true`);
    expect(await rows(`SELECT count(*) AS n FROM a LEFT JOIN b ON true WHERE ${where}`)).toEqual([
      { n: 0 },
    ]);
    expect(await rows(`SELECT x FROM a WHERE ${where} GROUP BY x HAVING count(*) > 0`)).toEqual([]);
  });

  test.each([
    'a.x >= 5 AND a.x <= 5',
    "a.t = 't1' AND a.t < 't2'",
    'a.x = 1 AND a.b = 2',
    'a.x > 1 AND a.x <> 0',
    'a.x <> 0 AND a.x >= 1',
    'a.x = 1.0 AND a.x = 1',
    'a.x = 0.1 AND a.x = 0.10000000000000001',
    "a.x = 1 AND a.x < 1.5 AND a.t <> 'x'",
    'a.x IS NULL AND coalesce(a.x, 1) = 1',
    '1 / 0 = 1',
  ])('others are left to the rows: %s', async (where) => {
    expect(await planOf(`${FROM} a JOIN b ON a.b = b.id WHERE ${where}`)).not.toContain('No rows');
  });

  test('joins that never pair keep the rows of an outer side', async () => {
    const plan = await planOf('SELECT * FROM a LEFT JOIN b ON a.b = b.id AND 1 = 0');
    expect(plan).toContain('No rows: 1 = 0 is never true');
    expect(plan).not.toContain('Read b');
    const count = async (from: string): Promise<unknown> =>
      (await rows(`SELECT count(*) AS n, count(b.id) AS b FROM ${from}`))[0];
    expect(await count('a LEFT JOIN b ON 1 = 0')).toEqual({ n: 12, b: 0 });
    expect(await count('a FULL JOIN b ON a.b = b.id AND 1 = 0')).toEqual({ n: 18, b: 6 });
    expect(await count('a RIGHT JOIN b ON NULL')).toEqual({ n: 6, b: 6 });
    expect(await count('a JOIN b ON b.y = NULL')).toEqual({ n: 0, b: 0 });
    expect(await rows('SELECT id FROM a WHERE 1 = 0 UNION ALL SELECT 7 LIMIT 3')).toEqual([
      { id: 7 },
    ]);
    expect(await planOf('SELECT id FROM a WHERE x > 1 LIMIT 0')).toBe('No rows');
    expect(await rows('SELECT a.id, (SELECT b.u FROM b WHERE 1 = 0) AS u FROM a LIMIT 1')).toEqual([
      { id: 0, u: null },
    ]);
  });
});

/** The rows of joins as nested loops make them, for each order of conditions and places. */
describe('answers do not depend on where conditions stand', () => {
  const orders = ' ORDER BY 1 NULLS FIRST, 2 NULLS FIRST, 3 NULLS FIRST';
  const select = 'SELECT a.id AS i, b.id AS j, c.id AS k FROM';
  test.each([
    ['a LEFT JOIN b ON a.b = b.id LEFT JOIN c ON b.c = c.id', 'c.z > 0'],
    ['a LEFT JOIN b ON a.b = b.id LEFT JOIN c ON b.c = c.id', 'c.z IS NULL'],
    ['a LEFT JOIN b ON a.b = b.id LEFT JOIN c ON b.c = c.id', 'b.y = a.x'],
    ['a FULL JOIN b ON a.b = b.id FULL JOIN c ON b.c = c.id', 'c.id = 1'],
    ['a FULL JOIN b ON a.b = b.id FULL JOIN c ON b.c = c.id', 'a.x = 1'],
    ['a FULL JOIN b ON a.b = b.id FULL JOIN c ON b.c = c.id', 'b.y = 1'],
    ['a FULL JOIN b ON a.b = b.id FULL JOIN c ON b.c = c.id', 'a.x = 1 AND c.z = 1'],
    ['a RIGHT JOIN b ON a.b = b.id LEFT JOIN c ON a.x = c.id', 'a.x = c.z'],
    ['a LEFT JOIN b ON a.b = b.id AND a.x = 1, c', 'a.x = c.id'],
    ['c CROSS JOIN b LEFT JOIN a ON a.b = b.id AND a.x > c.id', 'b.c = c.id AND a.x IS NULL'],
    ['c CROSS JOIN b LEFT JOIN a ON a.b = b.id AND a.x = c.id', 'b.c = c.id AND b.y = 0'],
    ['c LEFT JOIN b ON b.c = c.id RIGHT JOIN a ON a.b = b.id', 'a.x = 1 AND c.z IS NULL'],
  ])('%s where %s', async (from, where) => {
    const plain = await rows(`${select} ${from} WHERE ${where}${orders}`);
    // A CASE is no term of AND, and true of the same rows.
    const whole = await rows(
      `${select} ${from} WHERE CASE WHEN ${where} THEN true ELSE false END${orders}`,
    );
    expect(plain).toEqual(whole);
    expect(plain.length).toBeGreaterThan(0);
  });
});

describe('SEMI and ANTI joins', () => {
  type Row = Record<string, unknown>;
  const same = (one: unknown, other: unknown): boolean => one !== null && one === other;

  test.each<[from: string, on: string, isBelow: boolean, has: (row: Row, c: Row) => boolean]>([
    ['a JOIN b ON a.b = b.y', 'a.x = c.z', true, (row, c) => same(row.x, c.z)],
    ['a JOIN b ON a.b = b.y', 'b.c = c.z', true, (row, c) => same(row.c, c.z)],
    [
      'a LEFT JOIN b ON a.b = b.y',
      'a.x = c.z AND c.id < a.id',
      true,
      (row, c) => same(row.x, c.z) && Number(c.id) < Number(row.i),
    ],
    // A row without a partner has a value to be looked up, which none of b has.
    [
      'a LEFT JOIN b ON a.b = b.y',
      'coalesce(b.c, 1) = c.z',
      false,
      (row, c) => same(row.c ?? 1, c.z),
    ],
    [
      'a FULL JOIN b ON a.b = b.y',
      'coalesce(a.x, 1) = c.z',
      false,
      (row, c) => same(row.x ?? 1, c.z),
    ],
    [
      'a JOIN b ON a.b = b.y',
      'a.x + b.y = c.z',
      false,
      (row, c) => same(Number(row.x) + Number(row.y), c.z),
    ],
  ])('behind %s ON %s: below it is %s', async (from, on, isBelow, has) => {
    const columns = 'a.id AS i, b.id AS j, a.x, b.c, b.y';
    const pairs = await rows(`SELECT ${columns} FROM ${from} ORDER BY 1, 2`);
    const others = await rows('SELECT id, z FROM c');
    for (const kind of ['SEMI', 'ANTI']) {
      const sql = `SELECT ${columns} FROM ${from} ${kind} JOIN c ON ${on} ORDER BY 1, 2`;
      const wanted = pairs.filter((row) => others.some((c) => has(row, c)) === (kind === 'SEMI'));
      expect(await rows(sql)).toEqual(wanted);
      const joins = [...(await planOf(sql)).matchAll(/Join \((\w+)\)/g)].map(([, join]) => join);
      expect(joins.indexOf(kind.toLowerCase())).toBe(isBelow ? 1 : 0);
    }
  });
});
