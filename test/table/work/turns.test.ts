/**
 * Long work passes the event loop on between its parts, whatever it is made of: counted in rounds of the
 * loop under a clock that finds every turn over, so that no machine is too slow for it.
 */
import { expect, test } from 'vitest';
import {
  Table as ArrowTable,
  type Data,
  Dictionary,
  Field,
  Int32,
  makeData,
  Null,
  RecordBatch,
  Schema,
  Struct,
  tableFromArrays,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { elapsed, systemEnv, wholeMillis } from '../../../src/env.ts';
import { type Connection, connect } from '../../../src/index.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { Turn } from '../../../src/table/work/turn.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';

/** Megabytes of a long text: a search of it ends its turn several times. */
const LONG = 5;

const several = (count: number, of: (at: number) => string, joint: string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(joint);

/** A table whose clock finds every turn over. */
async function opened(rows: number): Promise<{ db: Connection; table: Table }> {
  let now = 0;
  const env = { ...systemEnv, now: () => (now += 10) };
  const db = await connect('/root', { fs: memoryFs(), env });
  const data = Array.from({ length: rows }, (_, id) => ({ id, x: id / 2, s: `t${id}` }));
  return { db, table: await db.createTable('t', data) };
}

const made = async (rows: number): Promise<Table> => (await opened(rows)).table;

/** How often the event loop went round while the work was done. */
async function roundsOf(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let over = false;
  const count = (): void => {
    rounds += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work();
  over = true;
  return rounds;
}

test.each([
  ['ORs', several(900, (at) => `id * ${at} + x > ${at}e15`, ' OR ')],
  ['ANDs', several(900, (at) => `id * ${at} + x < ${at + 1}e15`, ' AND ')],
  [
    'branches',
    `CASE ${several(900, (at) => `WHEN id * 3 = ${at + 7} THEN ${at}`, ' ')} ELSE 1 END = 3`,
  ],
  ['COALESCE', `coalesce(${several(900, () => 'nullif(id * 3, id * 3)', ', ')}, 1) = 1`],
])('a condition of many %s ends its turn within a single row', async (_, condition) => {
  const table = await made(1);
  // What reads the text is loaded first.
  await table.countRows('id * 3 + x > 3e15 OR id * 4 = 2');
  const before = await roundsOf(() => table.countRows('id * 2 + x > 3e15'));
  const rounds = await roundsOf(() => table.countRows(condition));
  expect(rounds).toBeGreaterThan(before + 2);
});

test('each of many computed columns has a turn of its own', async () => {
  const table = await made(3);
  const columns = Object.fromEntries(
    Array.from({ length: 200 }, (_, at) => [`y${at}`, `x + ${at}`]),
  );
  let found: unknown[] = [];
  const rounds = await roundsOf(async () => {
    found = await table.query().select(columns).toArray();
  });
  // One to compile it, and one to compute it.
  expect(rounds).toBeGreaterThan(2 * 200);
  expect(found[2]).toMatchObject({ y0: 1, y7: 8, y199: 200 });
});

test('new values of rows are computed in steps', async () => {
  const table = await made(1);
  const sum = `CASE ${several(900, (at) => `WHEN id * 3 = ${at + 7} THEN ${at}`, ' ')} ELSE x END`;
  const rounds = await roundsOf(() => table.update({ where: 'id = 0', valuesSql: { x: sum } }));
  const plain = await roundsOf(() => table.update({ where: 'id = 0', valuesSql: { x: 'x * 2' } }));
  expect(rounds).toBeGreaterThan(plain + 2);
});

test('verifying goes through versions, fragments and columns in turns', async () => {
  const { db, table } = await opened(2);
  for (let id = 10; id < 30; id++) await table.add([{ id, x: 1, s: 'added' }]);
  const rounds = await roundsOf(async () => {
    expect(await db.namespace.verify?.({ id: [] })).toMatchObject({ ok: true });
  });
  // 21 versions, of up to 21 fragments each, and 3 columns of every fragment.
  expect(rounds).toBeGreaterThanOrEqual(21 + (21 * 22) / 2 + 3 * 21);
});

test.each([
  ['length', 'length(s) = 3'],
  ['a pattern', "regexp_like(s, 'q+z{3}')"],
  ['LIKE', "s LIKE '%q%z3%'"],
  ['ILIKE', "s ILIKE '%x%z3%'"],
  ['LIKE of a character that may be any', "s LIKE '%q_z3%'"],
  ['LIKE of a long text', `s LIKE '%${'xq'.repeat(50)}3%'`],
])('%s of one long text is found in turns', async (_, condition) => {
  const { db } = await opened(1);
  const table = await db.createTable('long', [{ s: 'x'.repeat(LONG << 20) }]);
  await table.countRows(condition.replaceAll('3', '4'));
  const rounds = await roundsOf(() => table.countRows(condition));
  expect(rounds).toBeGreaterThan(3);
});

test.each([
  ['replacing', "regexp_replace(repeat(s, 10000), '[\\w\\W]{1000}', '', 'g') = 'q'"],
  ['replacing in a constant', "regexp_replace(repeat('a', 10000), '[\\w\\W]{999}', '', 'g') = s"],
  ['finding groups', "regexp_match(repeat(s, 9000), '(?:(a)|b){0,500}?(a*)$') IS NULL"],
  ['matching', "regexp_like(concat(t, s), '[ab]*a[ab]{900}c')"],
  ['a pattern of the row', "regexp_like(concat(t, s), concat('[ab]*a[ab]{900}c', s))"],
])('a regular expression ends its turn within a text: %s', async (_, condition) => {
  const { db } = await opened(1);
  const random = seeded(3);
  const t = Array.from({ length: 8000 }, () => (random() < 0.5 ? 'a' : 'b')).join('');
  const table = await db.createTable('one', [{ s: 'a', t }]);
  await table.countRows("regexp_like(repeat(s, 2), '[bc]')");
  const before = await roundsOf(() => table.countRows("regexp_like(repeat(s, 3), '[bc]')"));
  expect(await roundsOf(() => table.countRows(condition))).toBeGreaterThan(before + 2);
});

test('the entries of a dictionary are gone through in turns with a regular expression', async () => {
  const { db } = await opened(1);
  const random = seeded(5);
  const text = (): string =>
    Array.from({ length: 2000 }, () => (random() < 0.5 ? 'a' : 'b')).join('');
  const entries = Array.from({ length: 4 }, text);
  const d = vectorFromArray([...entries, ...entries], new Dictionary(new Utf8(), new Int32()));
  const table = await db.createTable('entries', tableFromArrays({ d } as never) as never);
  await table.countRows("regexp_like(d, '[bc]')");
  const before = await roundsOf(() => table.countRows("regexp_like(d, '[bd]')"));
  for (const hard of [
    "regexp_like(d, '[ab]*a[ab]{500}c')",
    "regexp_replace(d, '[ab]*a[ab]{500}c', '', 'g') = 'q'",
  ]) {
    const rounds = await roundsOf(() => table.countRows(hard));
    // More than one for each entry: a step ends within one.
    expect(rounds).toBeGreaterThan(before + entries.length);
  }
});

test('each pattern that comes from a row is compiled in a turn of its own', async () => {
  const table = await made(40);
  await table.countRows("regexp_like(s, concat('[bc]', s))");
  const before = await roundsOf(() => table.countRows("regexp_like(s, concat('[bd]', 't'))"));
  const rounds = await roundsOf(() => table.countRows("regexp_like(s, concat('[bd]', s))"));
  expect(rounds).toBeGreaterThanOrEqual(before + 30);
});

test('two searches for one pattern go on side by side', async () => {
  const { db } = await opened(1);
  const table = await db.createTable('one', [{ s: 'a' }]);
  const rest = (length: number): string =>
    `regexp_replace(repeat(s, ${length}), '[\\w\\W]{1000}', '', 'g') = '${'a'.repeat(length - 5000)}'`;
  const counts = [5001, 5007, 5011].map((length) => table.countRows(rest(length)));
  expect(await Promise.all(counts)).toEqual([1, 1, 1]);
});

test.each([
  ['texts just under a megabyte', 2, 1_000_000],
  ['many texts', 40, 20_000],
])('LIKE of many characters that may be any goes through %s in turns', async (_, rows, length) => {
  const { db } = await opened(1);
  const texts = Array.from({ length: rows }, (__, at) => ({ s: `${at}`.padEnd(length, 'x') }));
  const table = await db.createTable('long', texts);
  const like = (wild: number): string => `s LIKE '%x${'_'.repeat(wild)}q%'`;
  await table.countRows(like(0));
  const before = await roundsOf(() => table.countRows("s LIKE '%xq%'"));
  const rounds = await roundsOf(() => table.countRows(like(99)));
  // 4 Mi comparisons between two steps, at worst.
  expect(rounds).toBeGreaterThan(before + (rows * length * 100) / (1 << 24));
  expect(await table.countRows(`s LIKE '%x${'_'.repeat(99)}x%'`)).toBe(rows);
});

test.each([
  ['all rows', (table: Table) => table.query().toArray()],
  ['some rows', (table: Table) => table.query().where('c0 >= 10').toArray()],
  ['few rows', (table: Table) => table.query().where('c0 >= 60').toArray()],
])('many columns of a batch are decoded in turns: %s', async (_, read) => {
  const { db } = await opened(1);
  const tableOf = (columns: number): Promise<Table> => {
    const names = Array.from({ length: columns }, (__, at) => `c${at}`);
    const row = (id: number) => Object.fromEntries(names.map((name) => [name, id]));
    return db.createTable(
      `of${columns}`,
      Array.from({ length: 80 }, (__, id) => row(id)),
    );
  };
  const [few, many] = [await tableOf(120), await tableOf(1_200)];
  let found: unknown[] = [];
  const before = await roundsOf(() => read(few));
  const rounds = await roundsOf(async () => {
    found = await read(many);
  });
  expect(rounds).toBeGreaterThanOrEqual(before + 8);
  expect(found.at(-1)).toMatchObject({ c0: 79, c127: 79, c128: 79, c1199: 79 });
});

test('the long footer of a fragment is decoded in turns, and read back in turns', async () => {
  const fs = memoryFs();
  let now = 0;
  const env = { ...systemEnv, now: () => (now += 10) };
  const batches = 12;
  /** Batches that are full by their rows, of columns that take no bytes. */
  const tableOf = async (db: Connection, columns: number): Promise<Table> => {
    const rows = 65_536;
    const [id] = vectorFromArray(new Int8Array(rows)).data as unknown as [Data];
    const nothing = makeData({ type: new Null(), length: rows });
    const fields = Array.from({ length: columns }, (_, at) => new Field(`c${at}`, new Null()));
    const schema = new Schema([new Field('id', id.type), ...fields]);
    const children = [id, ...fields.map(() => nothing)];
    const data = makeData({ type: new Struct(schema.fields), length: rows, children });
    const batch = new RecordBatch(schema, data as Data<Struct>);
    return db.createTable(`of${columns}`, new ArrowTable(schema, Array(batches).fill(batch)));
  };
  const writing = await connect('/root', { fs, env });
  await tableOf(writing, 0);
  const short = await roundsOf(() => tableOf(writing, 1));
  expect(await roundsOf(() => tableOf(writing, 900))).toBeGreaterThanOrEqual(short + batches);
  const reading = await connect('/root', { fs, env });
  const roundsToRead = (name: string): Promise<number> =>
    roundsOf(async () => {
      const table = await reading.openTable(name);
      expect(await table.query().select(['id']).limit(1).toArray()).toEqual([{ id: 0 }]);
    });
  await roundsToRead('of0');
  const few = await roundsToRead('of1');
  expect(few).toBeLessThan(batches / 2);
  expect(await roundsToRead('of900')).toBeGreaterThanOrEqual(batches);
});

test('rows of long texts are gone through a few at a time', async () => {
  const { db } = await opened(1);
  const rows = (length: number): { s: string }[] =>
    Array.from({ length: 200 }, (_, at) => ({ s: `${at}`.padEnd(length) }));
  const [short, long] = [
    await db.createTable('short', rows(20)),
    await db.createTable('long', rows(50_000)),
  ];
  const condition = "upper(s) = 'X' OR lower(s) = 'y'";
  const atOnce = await roundsOf(() => short.countRows(condition));
  expect(await roundsOf(() => long.countRows(condition))).toBeGreaterThan(atOnce + 3);
});

test.each([
  ['LIKE of a column', 's LIKE s', 100, 20_000, 1],
  ['ILIKE of a column', 's ILIKE s', 100, 20_000, 1],
  ['LIKE of an expression', "s LIKE concat('%', s, '%')", 100, 20_000, 1],
  ['LIKE of a short text', 's LIKE s', 20_000, 8, 1],
  ['LIKE of one long text', "s LIKE concat('%', s, 'q%')", 1, 2_000_000, 0],
  ['LIKE of many parts', "s LIKE concat(repeat('%x', 450000), '%')", 1, 500_000, 1],
  [
    'LIKE of many parts of the row',
    "s LIKE concat(repeat('%x', 9 * length(s) / 10), '%')",
    1,
    500_000,
    1,
  ],
])('%s as its pattern goes on in turns', async (_, condition, rows, length, share) => {
  const { db } = await opened(1);
  const texts = Array.from({ length: rows }, (__, at) => ({ s: `${at}`.padEnd(length, 'x') }));
  const table = await db.createTable('patterns', texts);
  await table.countRows("s LIKE 'q%'");
  const before = await roundsOf(() => table.countRows("s LIKE 'x%'"));
  let found = -1;
  const rounds = await roundsOf(async () => {
    found = await table.countRows(condition);
  });
  expect(found).toBe(share * rows);
  expect(rounds).toBeGreaterThan(before + 3);
});

test.each(["split_part(s, s, 1) = 'q'", "btrim(s, s) = 'q'", "strpos(s, concat(s, 'q')) = 1"])(
  '%s goes through rows of long texts, and one of 2 MB, in turns',
  async (condition) => {
    const { db } = await opened(1);
    const texts = Array.from({ length: 30 }, (_, at) => ({ s: `${at}`.padEnd(100_000, 'x') }));
    const table = await db.createTable('texts', texts);
    await table.countRows("s LIKE 'q%'");
    const before = await roundsOf(() => table.countRows("s LIKE 'x%'"));
    expect(await roundsOf(() => table.countRows(condition))).toBeGreaterThan(before + 15);
    const one = await db.createTable('one', [{ s: 'x'.repeat(2 << 20) }]);
    const alone = await roundsOf(() => one.countRows("s LIKE 'x%'"));
    expect(await roundsOf(() => one.countRows(condition))).toBeGreaterThan(alone + 3);
  },
);

test.each(["replace(s, 'x', 'yy') = 'q'", "reverse(s) = 'q'"])(
  '%s goes through 4 MiB of bytes at most in a turn, and as strings through a longer text',
  async (condition) => {
    const { db } = await opened(1);
    // Replacing takes as long as there are places, and a turn is over by bytes.
    const texts = Array.from({ length: 30 }, (_, at) => ({
      s: `${at}`.padEnd(1 << 20, '-------x'),
    }));
    const table = await db.createTable('texts', texts);
    await table.countRows("s LIKE 'q%'");
    const before = await roundsOf(() => table.countRows("s LIKE 'x%'"));
    expect(await roundsOf(() => table.countRows(condition))).toBeGreaterThan(before + 7);
    if (condition.startsWith('reverse')) return;
    const one = await db.createTable('one', [{ s: 'x'.repeat(5 << 20) }]);
    const alone = await roundsOf(() => one.countRows("s LIKE 'x%'"));
    expect(await roundsOf(() => one.countRows(condition))).toBeGreaterThan(alone + 3);
  },
);

test('turns are over by the time that is told apart from a clock that stands', async () => {
  const env = { ...systemEnv, now: () => 5, elapsed: () => spent };
  let spent = 100;
  const turn = new Turn(env);
  spent = 107;
  expect(turn.isOver()).toBe(false);
  spent = 108;
  expect(turn.isOver()).toBe(true);
  await turn.pass();
  spent = 115;
  expect(turn.isOver()).toBe(false);
  // A catalog hands it on, with whole milliseconds.
  expect(elapsed(wholeMillis(env))).toBe(115);
  expect(elapsed(wholeMillis({ ...systemEnv, now: () => 7.5 }))).toBe(7);
});

test('a scan goes by that time too', async () => {
  let spent = 0;
  const env = { ...systemEnv, now: () => 5, elapsed: () => (spent += 30) };
  const db = await connect('/root', { fs: memoryFs(), env });
  const rows = Array.from({ length: 600 }, (_, id) => ({ s: `t${id}` }));
  const table = await db.createTable('t', rows);
  const rounds = await roundsOf(() => table.countRows("regexp_like(s, 'q+z{3}')"));
  // By that time each slice takes long, so that the next ones are small; by the other there are four.
  expect(rounds).toBeGreaterThan(100);
});
