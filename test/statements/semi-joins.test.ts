/** Rows with a match or without one: semi and anti joins, IN, NOT IN and EXISTS as terms of WHERE. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Connection } from '../../src/sdk/connection.ts';
import { type Catalog, statementCatalog } from './catalog.ts';

let db: Connection;
let rows: Catalog['rows'];

beforeAll(async () => {
  ({ db, rows } = await statementCatalog());
  const field = (name: string, type: string) => ({ name, type: { type }, nullable: true });
  const schema = {
    fields: [field('id', 'int32'), field('k', 'int64'), field('t', 'utf8'), field('x', 'float64')],
  };
  for (const [name, count] of [
    ['small', 9],
    ['large', 60],
    ['whole', 20],
  ] as const) {
    const table = await db.createEmptyTable(name, schema as never);
    const made = Array.from({ length: count }, (_, id) => ({
      id,
      k: name !== 'whole' && id % 5 === 3 ? null : (id * 7) % 11,
      t: name !== 'whole' && id % 4 === 1 ? null : `t${id % 6}`,
      x: id % 7,
    }));
    await table.add(made.slice(0, count >> 1));
    await table.add(made.slice(count >> 1));
  }
});
afterAll(() => db.close());

const ids = async (table: string, where: string): Promise<unknown[]> =>
  (await rows(`SELECT o.id FROM ${table} o WHERE ${where} ORDER BY 1`)).map(({ id }) => id);

/** A CASE is no term of WHERE that a join carries out. */
const asValue = (where: string): string => `CASE WHEN ${where} THEN true ELSE false END`;

describe.each([
  ['small', 'large'],
  ['large', 'small'],
  ['large', 'whole'],
  ['whole', 'small'],
])('rows of %s by those of %s', (outer, inner) => {
  test.each([
    `o.k IN (SELECT k FROM ${inner})`,
    `o.k IN (SELECT k FROM ${inner} WHERE t = 't2')`,
    `o.k NOT IN (SELECT k FROM ${inner})`,
    `o.k NOT IN (SELECT k FROM ${inner} WHERE k IS NOT NULL AND k < 8)`,
    `o.k NOT IN (SELECT k FROM ${inner} WHERE id < 0)`,
    `o.k NOT IN (SELECT k FROM ${inner} WHERE k IS NULL OR k < 5)`,
    `o.k NOT IN (SELECT x FROM ${inner} WHERE x > 3)`,
    `o.t NOT IN (SELECT t FROM ${inner} WHERE id = 2)`,
    `o.t NOT IN (SELECT t FROM ${inner} WHERE t IS NULL)`,
    `o.x <> ALL (SELECT k FROM ${inner} WHERE k > 2)`,
    `o.k + 1 NOT IN (SELECT i.k FROM ${inner} i WHERE i.t = o.t)`,
    `NOT (o.k IN (SELECT k FROM ${inner} WHERE k = 4)) AND o.id > 1`,
  ])('%s', async (where) => {
    expect(await ids(outer, where)).toEqual(await ids(outer, asValue(where)));
    // A condition that comes later, and is moved below the join.
    const later = await rows(
      `SELECT id FROM (SELECT o.id, o.k FROM ${outer} o WHERE ${where}) q WHERE k = 7 ORDER BY 1`,
    );
    expect(later.map(({ id }) => id)).toEqual(
      await ids(outer, `${asValue(where)} AND CASE WHEN o.k = 7 THEN true ELSE false END`),
    );
  });

  test.each([
    ['i.k = o.k', ''],
    ['i.k = o.k AND i.t = o.t', ''],
    ['i.k = o.k', ' AND i.x > o.x'],
    ['i.k = o.k', " AND (i.x < o.x OR o.t = 't1')"],
    ['i.t = o.t', ' AND i.id <> o.id AND i.x > 2 AND o.x < 5'],
    ['i.k > o.k', ''],
    ['i.k = o.k', " AND o.t = 't2'"],
  ])('EXISTS and joins where %s%s', async (keys, more) => {
    const pairs = await rows(
      `SELECT DISTINCT o.id FROM ${outer} o, ${inner} i WHERE ${keys}${more} ORDER BY 1`,
    );
    const found = pairs.map(({ id }) => id);
    const all = await ids(outer, 'true');
    const others = all.filter((id) => !found.includes(id));
    const query = `EXISTS (SELECT 1 FROM ${inner} i WHERE ${keys}${more})`;
    expect(await ids(outer, query)).toEqual(found);
    expect(await ids(outer, `NOT ${query}`)).toEqual(others);
    const joined = async (kind: string): Promise<unknown[]> =>
      (
        await rows(
          `SELECT o.id FROM ${outer} o ${kind} JOIN ${inner} i ON ${keys}${more} ORDER BY 1`,
        )
      ).map(({ id }) => id);
    expect(await joined('SEMI')).toEqual(found);
    expect(await joined('ANTI')).toEqual(others);
  });

  test.each([
    `SELECT k, t FROM ${inner}`,
    `SELECT k, t FROM ${inner} WHERE id < 0`,
    `SELECT k, t FROM ${inner} WHERE k IS NOT NULL AND t IS NOT NULL`,
    `SELECT k, t FROM ${inner} WHERE k IS NULL AND id < 9`,
    `SELECT k, NULL FROM ${inner} WHERE k = 7`,
  ])('(k, t) NOT IN (%s)', async (query) => {
    const [all, values] = [
      await rows(`SELECT id, k, t FROM ${outer} ORDER BY 1`),
      (await rows(query)).map((row) => Object.values(row)),
    ];
    // Two values are different where neither is null; rows are where any two values are.
    const differ = (a: unknown, b: unknown): boolean => a !== null && b !== null && a !== b;
    const kept = all.filter(({ k, t }) => values.every(([a, b]) => differ(k, a) || differ(t, b)));
    expect(await ids(outer, `(o.k, o.t) NOT IN (${query})`)).toEqual(kept.map(({ id }) => id));
  });
});

/** The least is what AND of truths is, the greatest what OR is. */
const TRUTHS = { false: 0, null: 1, true: 2 };
const truth = (value: unknown): number => TRUTHS[String(value) as keyof typeof TRUTHS];
const equal = (a: unknown, b: unknown): number =>
  a === null || b === null ? TRUTHS.null : a === b ? TRUTHS.true : TRUTHS.false;

describe.each([
  ['small', 'large', 'true'],
  ['large', 'small', 'true'],
  ['large', 'whole', 'true'],
  ['large', 'large', 'i.k IS NOT NULL'],
  ['large', 'large', 'i.k IS NULL'],
  ['large', 'large', 'i.id < 0'],
  ['large', 'large', 'i.x = 3'],
])('as values: rows of %s among those of %s where %s', (outer, inner, where) => {
  /** Compares what a value is for each row with what all rows of the other table tell. */
  const check = async (
    value: string,
    of: (row: Record<string, unknown>, other: Record<string, unknown>) => number,
  ): Promise<void> => {
    const [own, others] = [
      await rows(`SELECT * FROM ${outer}`),
      await rows(`SELECT * FROM ${inner} i WHERE ${where}`),
    ];
    const expected = own.map((row) => Math.max(0, ...others.map((other) => of(row, other))));
    const found = await rows(
      `SELECT ${value} AS v, NOT ${value} AS w, CASE WHEN ${value} OR o.id < 0 THEN 2 ELSE 0 END AS z FROM ${outer} o`,
    );
    expect(found.map(({ v }) => truth(v))).toEqual(expected);
    expect(found.map(({ w }) => 2 - truth(w))).toEqual(expected);
    const sure = own.filter((_, at) => expected[at] === TRUTHS.true).map(({ id }) => id);
    expect(await ids(outer, `(${value} OR o.id < 0)`)).toEqual(sure);
  };

  test('one value', async () => {
    await check(`o.k IN (SELECT i.k FROM ${inner} i WHERE ${where})`, (a, b) => equal(a.k, b.k));
    await check(`o.x IN (SELECT i.k FROM ${inner} i WHERE ${where})`, (a, b) => equal(a.x, b.k));
    await check(`7 IN (SELECT i.k FROM ${inner} i WHERE ${where})`, (_, b) => equal(7, b.k));
  });
  test('rows of values', async () => {
    const query = `FROM ${inner} i WHERE ${where}`;
    await check(`(o.k, o.t) IN (SELECT i.k, i.t ${query})`, (a, b) =>
      Math.min(equal(a.k, b.k), equal(a.t, b.t)),
    );
    await check(`(o.t, o.x, o.k) IN (SELECT i.t, i.x, i.k ${query})`, (a, b) =>
      Math.min(equal(a.t, b.t), equal(a.x, b.x), equal(a.k, b.k)),
    );
  });
  test('one value beside an equation', async () => {
    // An equation that is not true leaves the row out.
    await check(`o.k IN (SELECT i.k FROM ${inner} i WHERE i.t = o.t AND ${where})`, (a, b) =>
      equal(a.t, b.t) === TRUTHS.true ? equal(a.k, b.k) : TRUTHS.false,
    );
    await check(
      `EXISTS (SELECT 1 FROM ${inner} i WHERE i.t = o.t AND i.k = o.k AND ${where})`,
      (a, b) =>
        equal(a.t, b.t) === TRUTHS.true && equal(a.k, b.k) === TRUTHS.true
          ? TRUTHS.true
          : TRUTHS.false,
    );
  });
});

test('a column that tells whether a row is there reads each table once', async () => {
  for (const where of [
    '(o.k, o.t) NOT IN (SELECT k, t FROM small)',
    '(o.id = 1 OR o.k IN (SELECT k FROM small))',
    '(o.id = 1 OR NOT EXISTS (SELECT 1 FROM small i WHERE i.k = o.k))',
    'o.k NOT IN (SELECT i.k FROM small i WHERE i.t = o.t)',
  ]) {
    const plan = await db.sql(`SELECT o.id FROM large o WHERE ${where} AND o.x < 5`).explainPlan();
    expect(plan).toContain('Tell whether there is a row with ');
    expect(plan.match(/Read small/g)).toHaveLength(1);
    expect(plan).toMatch(/Read large: id, k(, t)?, where x < 5/);
  }
});

test('no distinct rows are made for a semi join, and no join is read twice', async () => {
  const plan = async (where: string): Promise<string> =>
    db.sql(`SELECT o.id FROM large o WHERE ${where}`).explainPlan();
  for (const [where, join] of [
    ['o.k IN (SELECT k FROM small)', 'semi'],
    ['o.k NOT IN (SELECT k FROM small)', 'anti'],
    ['EXISTS (SELECT 1 FROM small i WHERE i.k = o.k)', 'semi'],
    ['NOT EXISTS (SELECT 1 FROM small i WHERE i.k = o.k AND i.x > o.x)', 'anti'],
  ] as const) {
    const said = await plan(where);
    expect(said).toContain(`Join (${join}) on`);
    expect(said).not.toContain('distinct');
    expect(said.match(/Read small/g)).toHaveLength(1);
  }
  expect(await plan('o.k IN (SELECT k FROM small WHERE 1 = 0)')).toContain('No rows');
  expect(await plan('o.k NOT IN (SELECT k FROM small WHERE 1 = 0)')).toMatch(
    /^Compute id\n {2}Read large: id[^\n]*$/,
  );
  const pushed = await plan('o.k IN (SELECT k FROM small) AND o.k = 4');
  expect(pushed).toContain('Read large: id, k, where k = 4');
});

test('NOT IN of many values in a row is refused', async () => {
  const sql = `SELECT id FROM large WHERE (${'id, '.repeat(8)}k) NOT IN (SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9)`;
  await expect(rows(sql)).rejects.toThrow('IN takes rows of 8 values at most here');
  const three =
    'SELECT id FROM large WHERE (id, k, 1) NOT IN (SELECT 7, NULL, 1) ORDER BY id DESC LIMIT 1';
  expect(await rows(three)).toEqual([{ id: 59 }]);
});

test('the keys that are kept count against the memory of a request', async () => {
  const many = Array.from({ length: 60_000 }, (_, at) => ({ k: at * 1.5 }));
  const own = await statementCatalog({ requestMemory: 1 << 20 });
  await own.db.createTable('many', many);
  for (const where of ['k IN (SELECT k + 1 FROM many)', 'k NOT IN (SELECT k + 1 FROM many)']) {
    await expect(own.rows(`SELECT count(*) FROM many WHERE ${where}`)).rejects.toThrow(
      'The keys of a join that are kept in memory',
    );
  }
  await expect(
    own.rows('SELECT count(*) FROM many WHERE (k, 1) NOT IN (SELECT k + 1, 1 FROM many)'),
  ).rejects.toThrow('The keys of IN or EXISTS that are kept in memory');
  await own.db.close();
});

test.each(['EXISTS', 'NOT EXISTS'])(
  '%s with an inequality keeps the smaller left side',
  async (form) => {
    const own = await statementCatalog({ requestMemory: 3 << 20 });
    const many = await own.db.createTable('many', [{ k: 0, v: 0 }]);
    await many.add(Array.from({ length: 200_000 }, (_, at) => ({ k: at % 50_000, v: at % 7 })));
    const few = Array.from({ length: 40 }, (_, id) => ({
      ...{ id, k: id < 30 ? id * 3 : null, v: id < 20 ? 3 : 10 },
    }));
    await own.db.createTable('few', few);
    const sql = `SELECT f.id FROM few f WHERE ${form} (SELECT 1 FROM many m WHERE m.k = f.k AND m.v > f.v)`;
    const pairs = few.filter(({ k, v }) =>
      [0, 1, 2, 3].some((round) => k !== null && (k + round * 50_000) % 7 > v),
    );
    const wanted = few.filter((row) => pairs.includes(row) === (form === 'EXISTS'));
    expect(wanted.length).toBeGreaterThan(9);
    expect(await own.rows(sql)).toEqual(wanted.map(({ id }) => ({ id })));
    // The other side does not fit.
    const turned =
      'SELECT m.k FROM many m WHERE EXISTS (SELECT 1 FROM many f WHERE m.k = f.k AND m.v > f.v)';
    await expect(own.rows(turned)).rejects.toThrow('requestMemory');
    await own.db.close();
  },
);
