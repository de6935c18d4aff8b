/** What a profile tells of columns, compared with counting the rows one by one. */
import { Field, Int32, Schema, tableFromArrays } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import type { Env } from '../../../src/env.ts';
import { systemEnv } from '../../../src/env.ts';
import { type ColumnProfile, connect, type Table } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

interface Values {
  readonly n: number | null;
  readonly big: bigint | null;
  readonly text: string | null;
  readonly day: Date | null;
  readonly ok: boolean | null;
  readonly vector: Float32Array;
  readonly tags: string[] | null;
}

const opened = async (env?: Partial<Env>): Promise<Awaited<ReturnType<typeof connect>>> =>
  connect('/c', {
    fs: memoryFs(),
    ...(env === undefined ? {} : { env: { ...systemEnv, ...env } }),
  });

function randomRows(seed: number, count: number): Values[] {
  const random = seeded(seed);
  const some = <Value>(value: Value): Value | null => (random() < 0.1 ? null : value);
  return Array.from({ length: count }, (_, at) => ({
    n: some(random() < 0.05 ? Number.NaN : (random() - 0.5) * 10 ** Math.floor(random() * 8)),
    big: some(BigInt(Math.floor(random() * 50)) * 3n ** 36n - 2n ** 61n),
    text: some(['', 'a', 'bé', '漢字', `x${at % 40}`][Math.floor(random() * 5)] as string),
    day: some(new Date(Math.floor(random() * 1e12))),
    ok: some(random() < 0.3),
    vector: Float32Array.of(random(), random() * 3, 1),
    tags: some(['p', 'q', 'r'].slice(0, Math.floor(random() * 4))),
  }));
}

const columnOf = (columns: readonly ColumnProfile[], name: string): ColumnProfile =>
  columns.find((column) => column.name === name) as ColumnProfile;

const known = <Value>(values: readonly (Value | null)[]): Value[] =>
  values.filter((value) => value !== null);

/** How many values lie in each bucket. */
function recount(
  values: readonly (number | bigint)[],
  edges: readonly (number | bigint)[],
): number[] {
  return edges.slice(1).map((edge, at) => {
    const low = edges[at] as number | bigint;
    return values.filter((value) => value >= low && value < edge).length;
  });
}

function checkNumbers(column: ColumnProfile, values: readonly number[]): void {
  const numbers = values.filter((value) => !Number.isNaN(value));
  expect(column.nans).toBe(values.length - numbers.length);
  expect(column.min).toBe(Math.min(...numbers));
  expect(column.max).toBe(Math.max(...numbers));
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  expect(column.mean).toBeCloseTo(mean, 6);
  const { edges = [], counts } = column.histogram ?? {};
  expect(counts).toEqual(recount(numbers, edges as number[]));
  expect(counts?.reduce((sum, count) => sum + count, 0)).toBe(numbers.length);
}

function checkTop(column: ColumnProfile, values: readonly unknown[]): void {
  const counts = new Map<unknown, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = [...counts.values()].sort((a, b) => b - a).slice(0, column.top.length);
  expect(column.top.map(({ count }) => count)).toEqual(most);
  for (const { value, count } of column.top) expect(counts.get(value)).toBe(count);
  expect(column.distinct).toBe(counts.size);
  expect(column.distinctExact && column.topExact).toBe(true);
}

async function check(table: Table, rows: readonly Values[], where?: string): Promise<void> {
  const profile = await table.profile({ budgetMs: 60_000, ...(where ? { where } : {}) });
  expect(profile).toMatchObject({ rows: rows.length, rowsExact: true, sampled: false });
  expect(profile.rowsMatched).toBe(rows.length);
  for (const column of profile.columns) {
    const values = rows.map((row) => row[column.name as keyof Values]);
    expect([column.name, column.rows]).toEqual([column.name, rows.length]);
    expect(column.nulls).toBe(values.filter((value) => value === null).length);
    expect(column.histogram?.counts.length ?? 0).toBeLessThanOrEqual(20);
  }
  const { columns } = profile;
  checkNumbers(columnOf(columns, 'n'), known(rows.map(({ n }) => n)));
  const big = columnOf(columns, 'big');
  const bigs = known(rows.map((row) => row.big));
  checkTop(big, bigs.map(String));
  const edges = (big.histogram?.edges ?? []).map((edge) => BigInt(edge as string));
  expect(big.histogram?.counts).toEqual(recount(bigs, edges));
  const sorted = bigs.toSorted((a, b) => (a < b ? -1 : 1));
  expect([BigInt(big.min as string), BigInt(big.max as string)]).toEqual([
    sorted[0],
    sorted.at(-1),
  ]);
  const text = columnOf(columns, 'text');
  const texts = known(rows.map((row) => row.text));
  checkTop(text, texts);
  expect(text).toMatchObject({ min: '', max: '漢字', boundsExact: true });
  const lengths = texts.map((value) => [...value].length);
  expect(text.histogram).toMatchObject({
    of: 'lengths',
    counts: recount(lengths, (text.histogram?.edges ?? []) as number[]),
  });
  const day = columnOf(columns, 'day');
  const days = known(rows.map((row) => row.day)).map(Number);
  const instants = (day.histogram?.edges ?? []).map((edge) => Date.parse(`${edge}Z`));
  expect(day.histogram?.counts).toEqual(recount(days, instants));
  expect(Date.parse(`${day.min}Z`)).toBe(Math.min(...days));
  const ok = known(rows.map((row) => row.ok));
  const trues = ok.filter(Boolean).length;
  expect(columnOf(columns, 'ok').histogram?.counts).toEqual([ok.length - trues, trues]);
  const norms = rows.map(({ vector }) => Math.hypot(...vector));
  const vector = columnOf(columns, 'vector');
  expect(vector).toMatchObject({ kind: 'vector', distinct: rows.length });
  expect(vector.histogram?.counts).toEqual(
    recount(norms, (vector.histogram?.edges ?? []) as number[]),
  );
  const tags = columnOf(columns, 'tags');
  checkTop(
    tags,
    known(rows.map((row) => row.tags)).map((value) => JSON.stringify(value)),
  );
}

test.each([1, 2, 3])('counts what is there: seed %i', async (seed) => {
  const db = await opened();
  const rows = randomRows(seed, 400);
  const table = await db.createTable('t', rows.slice(0, 150) as never);
  await check(table, rows.slice(0, 150));
  await table.add(rows.slice(150) as never);
  await check(table, rows);
  const random = seeded(seed);
  const edge = Math.floor(random() * 1e12);
  const left = rows.filter(({ day }) => day === null || Number(day) >= edge);
  await table.delete(`day < TIMESTAMP '${new Date(edge).toISOString().slice(0, -1)}'`);
  await check(table, left);
  await check(
    table,
    left.filter(({ ok }) => ok === true),
    'ok',
  );
  await db.close();
});

describe('a sample', () => {
  /** A clock on which every look takes a while. */
  const slowClock = () => {
    let now = 0;
    return { now: () => (now += 10) };
  };

  test('is of whole batches, and tells so', async () => {
    const db = await opened(slowClock());
    const table = await db.createTable('t', [{ id: 0, half: 0 }]);
    for (let at = 1; at < 20; at++) await table.add([{ id: at, half: at % 2 }]);
    const profile = await table.profile({ budgetMs: 1_000 });
    expect(profile).toMatchObject({ rows: 20, rowsExact: true, sampled: true });
    expect(profile.rowsScanned).toBeGreaterThan(0);
    expect(profile.rowsScanned).toBeLessThan(20);
    const id = columnOf(profile.columns, 'id');
    // From the statistics of all fragments.
    expect(id).toMatchObject({ min: 0, max: 19, boundsExact: true, allNulls: 0 });
    expect(id).toMatchObject({ rows: profile.rowsScanned, nulls: 0 });
    // All were met once, so that all are taken to be distinct.
    expect(id).toMatchObject({ distinct: 20, distinctExact: false });
    const half = columnOf(profile.columns, 'half');
    expect(half.distinct).toBe(2);
    const filtered = await table.profile({ budgetMs: 1, where: 'id >= 0' });
    expect(filtered).toMatchObject({ rows: 20, rowsExact: false, rowsScanned: 1, rowsMatched: 1 });
    const one = filtered.columns[0];
    expect(one).toMatchObject({ boundsExact: false });
    expect(one?.min).toBe(one?.max);
    expect(one).not.toHaveProperty('allNulls');
    await db.close();
  });

  test('has no bounds of rows that were deleted', async () => {
    const db = await opened(slowClock());
    const table = await db.createTable('t', [{ id: 0 }, { id: 1 }]);
    for (let at = 1; at < 10; at++) await table.add([{ id: at * 2 }, { id: at * 2 + 1 }]);
    await table.delete('id = 0 OR id = 19');
    const { columns, sampled } = await table.profile({ budgetMs: 1 });
    expect(sampled).toBe(true);
    expect(columns[0]).toMatchObject({ boundsExact: false });
    await db.close();
  });
});

test('all batches of a large fragment are counted once', async () => {
  const db = await opened();
  const rows = { id: Int32Array.from({ length: 140_000 }, (_, at) => at % 1_000) };
  const table = await db.createTable('t', tableFromArrays(rows));
  const { columns, rowsScanned } = await table.profile({ budgetMs: 60_000, top: 1 });
  expect(rowsScanned).toBe(140_000);
  expect(columns[0]).toMatchObject({ rows: 140_000, distinct: 1_000, mean: 499.5 });
  expect(columns[0]?.top).toMatchObject([{ count: 140 }]);
  const again = await table.profile({ budgetMs: 60_000, top: 1 });
  expect(again.columns).toEqual(columns);
  await db.close();
});

test('integers that a double would round stay below the edge that they are below', async () => {
  const db = await opened();
  const values = [0n, 2n ** 60n - 1n, 2n ** 60n, 2n ** 61n - 1n, 2n ** 61n];
  const table = await db.createTable(
    't',
    values.map((n) => ({ n })),
  );
  const { columns } = await table.profile({ budgetMs: 60_000, buckets: 600 });
  const { edges = [], counts } = columns[0]?.histogram ?? {};
  const exact = edges.map((edge) => BigInt(edge as string));
  expect(exact).toContain(2n ** 60n);
  expect(counts).toEqual(recount(values, exact));
  await db.close();
});

test('what cannot be asked is refused', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1 }]);
  await expect(table.profile({ columns: ['ID'] })).rejects.toMatchObject({
    code: 'TableColumnNotFound',
  });
  const wrong = [
    { buckets: 1_001 },
    { top: 1_001 },
    { budgetMs: 1e9 },
    { buckets: 0 },
    { budget: 1 },
  ];
  for (const options of [...wrong, { where: 'id >' }]) {
    await expect(table.profile(options as never)).rejects.toMatchObject({ code: 'InvalidInput' });
  }
  await expect(table.profile({ top: 0, columns: ['id'] })).resolves.toMatchObject({
    columns: [{ top: [] }],
  });
  await db.close();
});

test('of a table without rows nothing is told', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1, text: 'a' }]);
  await table.delete('true');
  const { columns, rows } = await table.profile();
  expect(rows).toBe(0);
  for (const column of columns) {
    expect(column).toMatchObject({ min: null, max: null, distinct: 0, top: [] });
    expect(column).not.toHaveProperty('histogram');
  }
  await db.close();
});

test('what is set aside for each column counts before any row is read', async () => {
  const db = await connect('/c', { fs: memoryFs(), requestMemory: 1 << 20 });
  const fields = Array.from({ length: 40 }, (_, at) => new Field(`c${at}`, new Int32(), true));
  const table = await db.createTable('wide', [], undefined, { schema: new Schema(fields) });
  await expect(table.profile()).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('The profile of the columns'),
  });
  expect((await table.profile({ columns: ['c1', 'c2'] })).columns).toHaveLength(2);
});
