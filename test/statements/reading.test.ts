/** Which rows statements read: versions, memory, ownership, rights of others; and queries of groups. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { statementCatalog } from './catalog.ts';

test('versions are read by number, tag and branch', async () => {
  const { db, rows } = await statementCatalog();
  const table = await db.openTable('cities');
  await (await table.tags()).create('first', 1);
  await table.add([{ name: 'Bern', country: 'CH' }]);
  const side = await (await table.branches()).create('side');
  await side.add([{ name: 'Lyon', country: 'FR' }]);
  const count = async (from: string): Promise<unknown> =>
    (await rows(`SELECT count(*) AS n FROM cities ${from}`))[0]?.n;
  expect(await count('')).toBe(5);
  expect(await count('FOR VERSION AS OF 1')).toBe(4);
  expect(await count("FOR VERSION AS OF 'first'")).toBe(4);
  expect(await count("FOR TAG 'first' AS t")).toBe(4);
  expect(await count("FOR BRANCH 'side'")).toBe(6);
  const both = `SELECT a.name AS n FROM cities a LEFT JOIN cities FOR TAG 'first' b ON a.name = b.name WHERE b.country IS NULL AND a.name IS NOT NULL`;
  expect(await rows(both)).toEqual([{ n: 'Bern' }]);
  await db.close();
});

test('names are looked up in the namespace that is named', async () => {
  const { db } = await statementCatalog();
  const [row] = await db
    .sql('SELECT count(*) AS n FROM people', { namespacePath: ['prod'] })
    .toArray();
  expect(row).toEqual({ n: 5n });
  await expect(
    db.sql('SELECT * FROM cities', { namespacePath: ['prod'] }).toArray(),
  ).rejects.toThrow('The table prod.cities was not found');
  await db.close();
});

test('a version stands before the alias or after it', async () => {
  const { rows, db } = await statementCatalog();
  await (await db.openTable('people', ['prod'])).delete('id = 2');
  const all = [{ n: 5 }];
  for (const table of [
    'FOR VERSION AS OF 3 AS p',
    'p FOR VERSION AS OF 3',
    'AS p FOR VERSION AS OF 3',
  ]) {
    expect(await rows(`SELECT count(p.id) AS n FROM prod.people ${table}`)).toEqual(all);
  }
  const twice = 'SELECT 1 FROM prod.people FOR VERSION AS OF 3 p FOR VERSION AS OF 2';
  await expect(rows(twice)).rejects.toThrow('A table is read at one version');
  const without = 'SELECT 1 FROM prod.people VERSION AS OF 1';
  await expect(rows(without)).rejects.toThrow('FOR is missing: write FOR VERSION AS OF');
  await expect(rows('SELECT 1; SELECT 2')).rejects.toThrow('give one statement at a time');
  await db.close();
});

test('deleted rows are not counted', async () => {
  const { db, rows } = await statementCatalog();
  const table = await db.openTable('people', ['prod']);
  await table.delete('id = 2');
  expect(await rows('SELECT count(*) AS n, sum(id) AS s FROM prod.people')).toEqual([
    { n: 4, s: 13 },
  ]);
  expect(await rows('SELECT count(*) AS n FROM prod.people')).toEqual([{ n: 4 }]);
  await db.close();
});

test('what a caller does to an answer changes no later one', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const values = Float64Array.from({ length: 20_000 }, (_, at) => at);
  await db.createTable(
    't',
    Array.from(values, (x) => ({ x })),
  );
  const sum = async (): Promise<unknown> =>
    (await db.sql('SELECT sum(x) AS s FROM t').toArray())[0]?.s;
  const before = await sum();
  for await (const batch of db.sql('SELECT x FROM t')) {
    const [column] = batch.data.children;
    (column as { values: Float64Array }).values.fill(0);
  }
  expect(await sum()).toBe(before);
  await db.close();
});

test('what is kept in memory is bounded, and the bound is named', async () => {
  const db = await connect('/c', { fs: memoryFs(), requestMemory: 4 * 1024 * 1024 });
  const rows = Array.from({ length: 60_000 }, (_, id) => ({ id, name: `somebody number ${id}` }));
  await db.createTable('t', rows);
  const refused = async (sql: string): Promise<void> => {
    await expect(db.sql(sql).toArray()).rejects.toMatchObject({
      code: 'InvalidInput',
      details: { limit: 'requestMemory' },
    });
  };
  await refused('SELECT name, count(*) FROM t GROUP BY name');
  await refused('SELECT count(DISTINCT name) FROM t');
  await refused('SELECT id, name FROM t ORDER BY upper(name)');
  await refused('SELECT max(a.id) FROM t a JOIN t b ON a.name = b.name');
  await refused('SELECT lag(name) OVER (ORDER BY id) FROM t');
  await refused('SELECT array_agg(name) FROM t');
  const long = Array.from({ length: 10_000 }, (_, id) => ({ id, key: `${id} `.repeat(60) }));
  await db.createTable('long', long);
  expect(
    await db.sql('SELECT count(*) AS n FROM (SELECT array_agg(id) FROM long) q').toArray(),
  ).toEqual([{ n: 1n }]);
  await refused('SELECT array_agg(id ORDER BY key) FROM long');
  // What is refused gives back what it had.
  expect(await db.sql('SELECT count(*) AS n, max(id) AS m FROM t WHERE id > 5').toArray()).toEqual([
    { n: 59_994n, m: 59_999 },
  ]);
  await db.close();
});

test('a statement that is not wanted any more ends', async () => {
  const { db } = await statementCatalog();
  const ending = new AbortController();
  const long =
    'SELECT count(*) FROM prod.people a, prod.people b, prod.people c, prod.people d, prod.people e, prod.people f, prod.people g, prod.people h, prod.people i, prod.people j, prod.people k';
  const answer = db.sql(long).toArray({ signal: ending.signal });
  await nextRound();
  ending.abort(new Error('enough'));
  await expect(answer).rejects.toThrow('enough');
  await db.close();
});

test('groups of a query', async () => {
  const { db } = await statementCatalog();
  const table = await db.openTable('people', ['prod']);
  const groups = table
    .query()
    .where('id > 1')
    .groupBy('city')
    .aggregate({ n: 'count(*)', mean: 'avg(age)' })
    .having('count(*) > 0')
    .orderBy({ columnName: 'n', ascending: false })
    .limit(1);
  expect(await groups.toArray()).toEqual([{ city: 'Rome', n: 2n, mean: 35.5 }]);
  expect(await table.query().aggregate({ 'all of them': 'count(*)' }).toArray()).toEqual([
    { 'all of them': 5n },
  ]);
  await table.delete('id = 1');
  const before = await table.query().groupBy(['id % 2']).aggregate({ n: 'count(*)' }).toArray();
  expect(before).toHaveLength(2);
  await table.checkout((await table.version()) - 1);
  expect(await table.query().aggregate({ n: 'count(*)' }).toArray()).toEqual([{ n: 5n }]);
  await db.close();
});

test('texts of a query of groups are terms, and nothing else', async () => {
  const { db } = await statementCatalog();
  const table = await db.openTable('cities');
  const away = 'true) UNION ALL SELECT name, id FROM prod.people --';
  for (const query of [
    table.query().where(away).groupBy('name').aggregate({ n: 'count(*)' }),
    table.query().groupBy(away).aggregate({ n: 'count(*)' }),
    table
      .query()
      .groupBy('name')
      .aggregate({ n: `count(*) ${away}` }),
    table.query().groupBy('name').aggregate({ n: 'count(*)' }).having(away),
  ]) {
    await expect(query.toArray()).rejects.toThrow(/closes nothing|Cannot read the expression/);
  }
  const quoted = table.query().groupBy('name').aggregate({ 'a" FROM x': 'count(*)' });
  expect(Object.keys((await quoted.toArray())[0] ?? {})).toEqual(['name', 'a" FROM x']);
  expect(() => table.query().limit(3).groupBy('name')).toThrow('follow where alone');
  await db.close();
});

test('a table that took the name of another is not meant', async () => {
  const { db } = await statementCatalog();
  const table = await db.openTable('cities');
  await db.dropTable('cities');
  await db.createTable('cities', [{ name: 'x', country: 'y' }]);
  await expect(table.query().aggregate({ n: 'count(*)' }).toArray()).rejects.toThrow('cities');
  await db.close();
});

test('the plan tells what is read', async () => {
  const { db } = await statementCatalog();
  const plan = await db
    .sql(
      "SELECT p.name FROM prod.people p JOIN cities c ON p.city = c.name WHERE p.id > 3 AND c.country = 'IT' ORDER BY p.age LIMIT 2",
    )
    .explainPlan();
  expect(plan).toContain('Read prod.people: name, city, age, where id > 3');
  expect(plan).toContain("Read cities: name, where country = 'IT'");
  expect(plan).toContain('the first 2');
  const read = await db.sql('SELECT name FROM prod.people ORDER BY age DESC LIMIT 2').explainPlan();
  expect(read).toContain('in order of age DESC, at most 2 rows');
  const united = await db
    .sql(
      "SELECT n FROM (SELECT name AS n, id FROM prod.people UNION SELECT name, 7 FROM cities) u WHERE n > 'b'",
    )
    .explainPlan();
  expect(united).toContain("Read prod.people: id, name, where name > 'b'");
  expect(united).toContain("Read cities: name, where cities.name > 'b'");
  const own = await db
    .sql(
      'SELECT b.city, count(*) FROM prod.people a JOIN prod.people b ON a.id = b.id GROUP BY b.city HAVING count(*) > 1 ORDER BY count(*)',
    )
    .explainPlan();
  expect(own).toContain('Keep rows where count(*) > 1');
  expect(own).toContain('Compute b.city, count(*)');
  expect(own).toContain('Sum up by b.city: count(*)');
  expect(own).toContain('Join (inner) on id = b.id');
  await expect(
    db.sql('SELECT b.name FROM cities a, cities b GROUP BY a.name').explainPlan(),
  ).rejects.toThrow('b.name is of one row');
  await db.close();
});

test('bounds come from statistics where these tell them, and from rows elsewhere', async () => {
  const { db, rows } = await statementCatalog();
  const bounds =
    'SELECT min(id) AS a, max(name) AS b, count(*) AS n, max(score) AS s FROM prod.people';
  expect(await rows(bounds)).toEqual([{ a: 1, b: 'eve', n: 5, s: 4 }]);
  const table = await db.openTable('people', ['prod']);
  await table.delete('id = 1 OR id = 5');
  expect(await rows(bounds)).toEqual([{ a: 2, b: 'dee', n: 3, s: 2.5 }]);
  expect(await rows('SELECT max(id) AS m FROM prod.people WHERE id < 4')).toEqual([{ m: 3 }]);
  await db.createTable('odd', [
    { f: 1, t: 'x'.repeat(500) },
    { f: Number.NaN, t: 'y' },
  ]);
  const [odd] = await rows('SELECT min(f) AS a, max(f) AS b, max(t) AS c, min(t) AS d FROM odd');
  expect(odd).toEqual({ a: 1, b: Number.NaN, c: 'y', d: 'x'.repeat(500) });
  await db.createTable('nan', [{ f: 1 }, { f: Number.NaN }]);
  expect(await rows('SELECT min(f) AS a, max(f) AS b FROM nan')).toEqual([{ a: 1, b: Number.NaN }]);
  await db.createEmptyTable('none', {
    fields: [{ name: 'x', type: { type: 'int64' }, nullable: true }],
  } as never);
  expect(await rows('SELECT min(x) AS a, count(*) AS n FROM none')).toEqual([{ a: null, n: 0 }]);
  await db.close();
});

test('a time limit ends a statement beside a signal of the caller', async () => {
  const { db } = await statementCatalog();
  const tables = Array.from({ length: 14 }, (_, at) => `prod.people t${at}`).join(', ');
  // A condition on all tables can leave out no row before the last of them is joined.
  const sum = Array.from({ length: 14 }, (_, at) => `t${at}.id`).join(' + ');
  const long = db.sql(`SELECT count(*) FROM ${tables} WHERE ${sum} < 0`);
  const { signal } = new AbortController();
  await expect(long.toArray({ timeoutMs: 50, signal })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  await db.close();
});

test('texts of many selected rows are given as indices into their column', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => ({
    at,
    city: at % 7 === 0 ? null : `city ${at % 5}`,
    name: `n${at % 3}`,
  }));
  const { db } = await statementCatalog();
  const table = await db.createTable('many', rows.slice(0, 400));
  await table.add(rows.slice(400));
  await table.delete('at % 10 = 1');
  for (const condition of ['at < 500', 'at < 300 AND at >= 20', 'at < 9', "city = 'city 2'"]) {
    const sql = (from: string): string =>
      `SELECT city, name, count(*) AS n, max(city) AS m, string_agg(name, '' ORDER BY at) AS s FROM ${from} GROUP BY city, name ORDER BY city, name`;
    const read = await db.sql(sql(`many WHERE ${condition}`)).toArray();
    // The condition is no one of the reading here.
    const within = `(SELECT * FROM many LIMIT 1000) q WHERE ${condition}`;
    const kept = await db.sql(sql(within)).toArray();
    expect(read).toEqual(kept);
    expect(read.length).toBeGreaterThan(0);
  }
});
