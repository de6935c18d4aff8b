/** Functions of FROM that give rows: unnest, generate_series and range. */
import { beforeAll, expect, test } from 'vitest';
import { type Catalog, statementCatalog } from './catalog.ts';

let catalog: Catalog;
beforeAll(async () => {
  catalog = await statementCatalog();
  await catalog.db.createTable('posts', [
    { id: 1, tags: ['a', 'b'], n: 2n },
    { id: 2, tags: null, n: 0n },
    { id: 3, tags: ['b', null], n: 1n },
  ]);
});

const answer = async (sql: string): Promise<unknown[][]> =>
  (await catalog.rows(sql)).map((row) => Object.values(row));

test.each<[about: string, sql: string, rows: unknown[][]]>([
  ['with its end', 'SELECT * FROM generate_series(1, 3)', [[1], [2], [3]]],
  ['without it', 'SELECT * FROM range(2)', [[0], [1]]],
  ['downwards', 'SELECT x FROM range(3, 0, -2) r(x)', [[3], [1]]],
  ['the wrong way round', 'SELECT x FROM generate_series(3, 1) r(x)', []],
  ['of NULL', 'SELECT x FROM generate_series(1, NULL) r(x)', []],
  [
    'up to the greatest number',
    'SELECT x - 9223372036854775806 FROM generate_series(9223372036854775806, 9223372036854775807) r(x)',
    [[0], [1]],
  ],
  [
    'of months, each after the one before',
    "SELECT CAST(x AS text) FROM generate_series(TIMESTAMP '2020-01-31', TIMESTAMP '2020-04-01', INTERVAL '1 month') r(x)",
    [['2020-01-31T00:00:00'], ['2020-02-29T00:00:00'], ['2020-03-29T00:00:00']],
  ],
  [
    'of hours backwards over 1970, without the end',
    "SELECT CAST(x AS text) FROM range(DATE '1970-01-01', DATE '1969-12-31', INTERVAL '-12 hours') r(x)",
    [['1970-01-01T00:00:00'], ['1969-12-31T12:00:00']],
  ],
  [
    'of an interval that turns round',
    "SELECT count(*) FROM range(DATE '2021-01-15', DATE '2022-03-01', INTERVAL '1 month -29 days') r(x)",
    [[9]],
  ],
  ['items of a list', "SELECT x FROM unnest(['b', NULL]) u(x)", [['b'], [null]]],
  ['the name of its column', 'SELECT s, s.s FROM unnest([7]) s', [[7, 7]]],
  [
    'numbered',
    "SELECT x, o FROM unnest(['a', 'b']) WITH ORDINALITY u(x, o) ORDER BY o DESC",
    [
      ['b', 2],
      ['a', 1],
    ],
  ],
  [
    'of a column, with a condition on both',
    "SELECT id, tag FROM posts, unnest(posts.tags) u(tag) WHERE id < 3 AND tag <> 'a'",
    [[1, 'b']],
  ],
  [
    'of a column, grouped',
    'SELECT tag, count(*) FROM posts p CROSS JOIN LATERAL unnest(p.tags) u(tag) GROUP BY tag ORDER BY tag',
    [
      ['a', 1],
      ['b', 2],
      [null, 1],
    ],
  ],
  [
    'of a column, rows without items kept',
    'SELECT id, tag, o FROM posts LEFT JOIN unnest(tags) WITH ORDINALITY u(tag, o) ON true ORDER BY id, o',
    [
      [1, 'a', 1],
      [1, 'b', 2],
      [2, null, null],
      [3, 'b', 1],
      [3, null, 2],
    ],
  ],
  ['of a column, with ON', "SELECT id FROM posts JOIN unnest(tags) u(t) ON t = 'a'", [[1]]],
  [
    'one of the rows of another',
    'SELECT id, s, t FROM posts, generate_series(1, n) s(s), range(s) t(t) ORDER BY id, s, t',
    [
      [1, 1, 0],
      [1, 2, 0],
      [1, 2, 1],
      [3, 1, 0],
    ],
  ],
  [
    'joined as a table',
    'SELECT n.n, p.id FROM range(1, 3) n(n) LEFT JOIN posts p ON p.id = n.n AND p.n > 0',
    [
      [1, 1],
      [2, null],
    ],
  ],
  ['only columns that are read', 'SELECT count(*) FROM posts, unnest(tags) u(t)', [[4]]],
])('%s', async (_, sql, rows) => {
  expect(await answer(sql)).toEqual(rows);
});

test('in batches, and in the order of the rows', async () => {
  const [row] = await catalog.rows(
    'SELECT count(*) AS n, sum(x) AS s, max(x) AS m FROM range(200000) r(x)',
  );
  expect(row).toEqual({ n: 200_000, s: 19_999_900_000, m: 199_999 });
  const sizes: number[] = [];
  for await (const batch of catalog.db.sql('SELECT x FROM range(200000) r(x)')) {
    sizes.push(batch.numRows);
  }
  expect(Math.max(...sizes)).toBe(65_536);
});

test('batches of long texts have few rows', async () => {
  const own = await statementCatalog();
  await own.db.createTable('long', [{ text: 'x'.repeat(1 << 20), n: 20n }]);
  const sizes: number[] = [];
  for await (const batch of own.db.sql('SELECT text, i FROM long, generate_series(1, n) s(i)')) {
    sizes.push(batch.numRows);
  }
  expect(sizes).toEqual([8, 8, 4]);
});

test.each([
  ['a vector', 'v', 3],
  ['texts in a struct', 's', 5],
  ['a list of texts', 'l', 5],
])('batches of %s have few rows', async (_, column, least) => {
  const own = await statementCatalog();
  const text = 'x'.repeat(1 << 20);
  const row = {
    v: Array.from({ length: 200_000 }, (__, at) => at / 3),
    s: { text },
    l: [text],
    n: 20n,
  };
  await own.db.createTable('wide', [row, row]);
  const sizes: number[] = [];
  for await (const batch of own.db.sql(`SELECT ${column}, i FROM wide, range(n) s(i)`))
    sizes.push(batch.numRows);
  expect(sizes.reduce((sum, size) => sum + size)).toBe(40);
  expect(sizes.length).toBeGreaterThanOrEqual(least);
});

test('items and their numbers go on in the next batch', async () => {
  const own = await statementCatalog();
  const rows = [70_000, 0, 3, 140_000].map((count, id) => ({
    id,
    items: Array.from({ length: count }, (_, at) => (at % 7 === 0 ? null : `${id}-${at}`)),
  }));
  await own.db.createTable('long', rows);
  const sql = `SELECT id, count(*) AS n, count(item) AS c, min(o) AS a, max(o) AS b,
    bool_and(item IS NULL OR item = CAST(id AS bigint) || '-' || (o - 1)) AS same
    FROM long LEFT JOIN unnest(items) WITH ORDINALITY u(item, o) ON true GROUP BY id ORDER BY id`;
  expect(await own.rows(sql)).toEqual(
    rows.map(({ id, items: { length } }) => ({
      id,
      n: Math.max(1, length),
      c: length - Math.ceil(length / 7),
      a: length === 0 ? null : 1,
      b: length === 0 ? null : length,
      same: true,
    })),
  );
});

test('series of numbers within and beyond those of doubles', async () => {
  const series = async (call: string) =>
    (await catalog.rows(`SELECT CAST(x AS text) AS x FROM ${call} r(x)`)).map(({ x }) => x);
  expect(await series('generate_series(9007199254740990, 9007199254740994, 2)')).toEqual([
    '9007199254740990',
    '9007199254740992',
    '9007199254740994',
  ]);
  expect(await series('range(-4294967297, -4294967300, -1)')).toEqual([
    '-4294967297',
    '-4294967298',
    '-4294967299',
  ]);
  expect(await series('generate_series(-1, 1)')).toEqual(['-1', '0', '1']);
  expect(
    await catalog.rows(
      'SELECT a.x, b.y FROM range(3) a(x) LEFT JOIN range(a.x) b(y) ON true ORDER BY x, y',
    ),
  ).toEqual([
    { x: 0, y: null },
    { x: 1, y: 0 },
    { x: 2, y: 0 },
    { x: 2, y: 1 },
  ]);
});

test('a series of timestamps of one type goes by the clocks of its zone, in its unit', async () => {
  const cast = (text: string) =>
    `arrow_cast(TIMESTAMP '${text}', 'Timestamp(Nanosecond, Some("Europe/Berlin"))')`;
  const sql = `SELECT CAST(t AS text) AS t FROM generate_series(${cast('2026-03-28 11:00:00')},
    ${cast('2026-03-30 12:00:00')}, INTERVAL '1 day') s(t)`;
  expect((await catalog.rows(sql)).map(({ t }) => String(t).slice(0, 13))).toEqual([
    ...['2026-03-28T11', '2026-03-29T11', '2026-03-30T11'],
  ]);
});

test('a format of many letters is written', async () => {
  const format = '%Y'.repeat(100_000);
  const [row] = await catalog.rows(
    `SELECT length(strftime(DATE '2020-01-02', '${format}')) AS n, count(*) AS c FROM range(1)`,
  );
  expect(row).toEqual({ n: 400_000, c: 1 });
});

test('a long series ends when it is aborted', async () => {
  const sql = 'SELECT count(*) FROM range(5000000) a(x), generate_series(x, x + 1000) b(y)';
  await expect(catalog.db.sql(sql).toArray({ timeoutMs: 1 })).rejects.toThrow();
});

test('the plan tells of it', async () => {
  const plan = await catalog.db.sql('SELECT t FROM posts, unnest(tags) u(t)').explainPlan();
  expect(plan).toContain('Each row for every item of tags');
  expect(await catalog.db.sql('SELECT x FROM range(3) r(x)').explainPlan()).toContain(
    'Each row for every value from 0, 3, 1',
  );
});

test.each<[sql: string, message: string]>([
  ['SELECT * FROM range(1, 5, 0)', 'The step of a series is 0'],
  [
    "SELECT * FROM range(DATE '2020-01-01', DATE '2020-01-02', INTERVAL '0 days')",
    'The step of a series is 0',
  ],
  ['SELECT count(*) FROM range(10000001)', 'A series has 10000000 values at most'],
  ['SELECT * FROM range(1.5)', 'range takes whole numbers, or two dates or timestamps and'],
  ['SELECT * FROM range()', 'range takes 1 to 3 arguments, not 0'],
  ['SELECT * FROM unnest(5)', 'unnest takes a list, not int64'],
  ['SELECT * FROM unnest([1], [2])', 'unnest takes one list, not 2'],
  ['SELECT * FROM unnest([1]) u(a, b)', '2 names are given to the 1 columns of unnest'],
  ['SELECT * FROM unnest(missing)', 'There is no column missing'],
  ['SELECT * FROM glob(1)', 'The function glob gives no rows; unnest, generate_series, range do'],
  ['SELECT unnest(tags) FROM posts', 'write FROM .., unnest(x) AS u(item)'],
  ['SELECT 1 FROM posts RIGHT JOIN unnest(tags) u(t) ON true', 'is joined by CROSS JOIN'],
  ["SELECT 1 FROM posts LEFT JOIN unnest(tags) u(t) ON t = 'a'", 'is joined by CROSS JOIN'],
  ['SELECT 1 FROM posts, LATERAL (SELECT 1)', 'LATERAL is supported before unnest'],
])('refuses %s', async (sql, message) => {
  await expect(answer(sql)).rejects.toThrow(message);
});
