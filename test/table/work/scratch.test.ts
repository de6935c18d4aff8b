/** Reads through memory that is used again: nothing that was read before changes under its reader. */
import { expect, test } from 'vitest';
import { connect, Index } from '../../../src/index.ts';
import { ByteCache } from '../../../src/table/work/cache.ts';
import { LentColumns, Scratch } from '../../../src/table/work/scratch.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { seeded } from '../../helpers/seeded.ts';

const ROWS = 5_000;

const row = (table: number, id: number) => ({
  id: BigInt(id),
  x: table * 1e6 + id,
  text: `text ${table} ${'x'.repeat(id % 40)} ${id}`,
  flag: id % 3 === 0,
  maybe: id % 5 === 0 ? null : `m${id}`,
  vector: [id, table],
  nested: { a: id, b: id % 2 === 0 ? [] : [`${table}`, `${id}`] },
  list: id % 4 === 0 ? [] : [[id, id + 1], []],
});

test('columns of each file are lent apart, and given back together', () => {
  const scratch = new Scratch();
  const lent = new LentColumns(scratch);
  expect(lent.ofFile(0)).toBe(lent);
  const other = lent.ofFile(1);
  expect(other).not.toBe(lent);
  expect(lent.ofFile(1)).toBe(other);
  expect(lent.ofFile(2)).not.toBe(other);
  // The first column of a file is not that of another.
  const data = {} as never;
  other.columns.set(0, data);
  expect(lent.columns.has(0)).toBe(false);
  const memory = [lent.take(100).buffer, other.take(9_000).buffer];
  lent.giveBack();
  expect(other.columns.size).toBe(0);
  expect([scratch.take(100).buffer, scratch.take(9_000).buffer]).toEqual(memory);
});

test('tables updated at once keep every value of every row', async () => {
  const db = await connect({ uri: '/c', fs: memoryFs() as never, durability: 'relaxed' });
  const tables = await Promise.all(
    [1, 2, 3].map(async (number) => {
      const rows = Array.from({ length: ROWS }, (_, id) => row(number, id));
      return { number, table: await db.createTable(`t${number}`, rows) };
    }),
  );
  await Promise.all(
    tables.map(({ table }) =>
      table.update({ where: 'CAST(x AS bigint) % 3 = 0', valuesSql: { x: 'x + 0.5' } }),
    ),
  );
  for (const { number, table } of tables) {
    const found = await table.query().orderBy({ columnName: 'id' }).toArray();
    const expected = Array.from({ length: ROWS }, (_, id) => row(number, id)).map((was) => ({
      ...was,
      x: was.x % 3 === 0 ? was.x + 0.5 : was.x,
    }));
    const plain = (rows: readonly object[]) =>
      JSON.stringify(rows, (_, value) => {
        if (typeof value === 'bigint') return String(value);
        return ArrayBuffer.isView(value) ? Array.from(value as unknown as number[]) : value;
      });
    const differing = found.findIndex(
      (row, at) => plain([row]) !== plain([expected[at] as object]),
    );
    expect(plain(found.slice(differing, differing + 1))).toBe(
      plain(expected.slice(differing, differing + 1)),
    );
    expect(found.length).toBe(ROWS);
  }
  expect((await db.namespace.verify?.({}))?.problems).toEqual([]);
  await db.close();
});

test('memory is lent once at a time, and the largest is not kept', () => {
  const scratch = new Scratch();
  const first = scratch.take(100);
  const second = scratch.take(100);
  expect(second.buffer === first.buffer).toBe(false);
  scratch.give(first);
  expect(scratch.take(60) === first).toBe(true);
  const large = scratch.take(17 * 1024 * 1024);
  scratch.give(large);
  expect(scratch.take(17 * 1024 * 1024) === large).toBe(false);
});

test('of several that are large enough the smallest is lent', () => {
  const scratch = new Scratch();
  const large = scratch.take(1_000_000);
  const small = scratch.take(10_000);
  scratch.give(large);
  scratch.give(small);
  expect(scratch.take(5_000) === small).toBe(true);
  expect(scratch.take(5_000) === large).toBe(true);
});

test('what was lent for one batch fits another that is a little larger', () => {
  const scratch = new Scratch();
  const memory = scratch.take(4_600_000);
  scratch.give(memory);
  expect(scratch.take(4_601_234) === memory).toBe(true);
  expect(memory.byteLength).toBeLessThan(4_600_000 * 1.25 + 4096);
});

test('kept memory is bounded in number and bytes', () => {
  const scratch = new Scratch();
  const keptOf = (count: number, bytes: number): number => {
    const lent = Array.from({ length: count }, () => scratch.take(bytes));
    for (const buffer of lent) scratch.give(buffer);
    const again = Array.from({ length: count }, () => scratch.take(bytes));
    return again.filter((buffer) => lent.some((known) => known === buffer)).length;
  };
  expect(keptOf(9, 100)).toBe(8);
  expect(keptOf(8, 15 * 1024 * 1024)).toBe(4);
});

test('a key was noted from the second time on, until many others were', () => {
  const cache = new ByteCache(0);
  expect([cache.noted('a'), cache.noted('a'), cache.noted('a')]).toEqual([false, true, true]);
  for (let other = 0; other < 16_383; other++) cache.noted(`${other}`);
  expect(cache.noted('a')).toBe(true);
  for (let other = 0; other < 16_384; other++) cache.noted(`later ${other}`);
  expect(cache.noted('a')).toBe(false);
});

test('a filter reads each column once, and keeps columns that are asked for again', async () => {
  const fs = memoryFs() as never;
  const rows = Array.from({ length: ROWS }, (_, id) => row(1, id));
  await (await connect({ uri: '/c', fs })).createTable('t', rows, { compression: 'none' });
  const table = await (await connect({ uri: '/c', fs })).openTable('t');
  const query = () => table.query().where('x >= 1002000').select(['x', 'text']);
  const bytesRead = async () =>
    Number(/bytes read (\d+)/.exec(await query().analyzePlan())?.[1] ?? Number.NaN);
  const texts = rows.reduce((bytes, { text }) => bytes + text.length, 0);
  const once = ROWS * 8 + ROWS * 4 + texts;
  for (const _ of ['into lent memory', 'to be kept']) {
    const bytes = await bytesRead();
    expect(bytes).toBeGreaterThan(once);
    expect(bytes).toBeLessThan(once + 1_000);
  }
  expect(await bytesRead()).toBe(0);
});

test('vectors that an index chose are read whole only while they have room', async () => {
  const fs = memoryFs() as never;
  const count = 20_000;
  const random = seeded(3);
  const rows = Array.from({ length: 2 * count }, (_, id) => ({
    id,
    vector: Float32Array.from({ length: 32 }, random),
  }));
  const made = await (await connect({ uri: '/c', fs })).createTable('t', rows.slice(0, count));
  await made.add(rows.slice(count));
  await made.createIndex('vector', { config: Index.ivfFlat({ maxIterations: 2 }) });
  const all = count * 32 * 4;
  const readWith = async (bufferBytes: number): Promise<number[]> => {
    const table = await (await connect({ uri: '/c', fs, bufferBytes })).openTable('t');
    const search = (id: number) => table.vectorSearch([...(rows[id]?.vector ?? [])]).limit(1);
    const read: number[] = [];
    for (const id of [0, 700, 1_400, 2_100]) {
      const plan = await search(id).select(['id']).analyzePlan();
      expect(plan).toContain('vector_idx finds ');
      read.push(Number(/bytes read (\d+)/.exec(plan)?.[1]));
    }
    expect(await search(7).toArray()).toMatchObject([{ id: 7, _distance: 0 }]);
    return read;
  };
  // Beside the index two fragments have no room.
  expect((await readWith(2.2 * all)).at(-1)).toBeLessThan(all / 4);
  const [first, second, , last] = await readWith(8 * all);
  expect(first).toBeLessThan(all / 4);
  expect(second).toBeGreaterThan(2 * all);
  expect(last).toBeLessThan(all / 8);
});

test('what a filter finds does not change when its memory is lent again', async () => {
  const fs = memoryFs() as never;
  const rows = Array.from({ length: ROWS }, (_, id) => row(1, id));
  await (await connect({ uri: '/c', fs })).createTable('t', rows);
  const table = await (await connect({ uri: '/c', fs })).openTable('t');
  const filters = ['x >= 1002000', 'x < 1002000 AND flag', 'id < 4000 AND maybe IS NULL'];
  const found = await Promise.all(filters.map((where) => table.query().where(where).toArray()));
  const expected = [
    rows.filter(({ x }) => x >= 1_002_000),
    rows.filter(({ x, flag }) => x < 1_002_000 && flag),
    rows.filter(({ id, maybe }) => id < 4_000n && maybe === null),
  ];
  for (const [at, answer] of found.entries()) {
    const wanted = expected[at] ?? [];
    expect(answer.length).toBe(wanted.length);
    const same = (row: (typeof answer)[number], of: (typeof rows)[number] | undefined) =>
      row.text === of?.text && row.maybe === of?.maybe && row.x === of?.x;
    expect(answer.every((row, index) => same(row, wanted[index]))).toBe(true);
  }
});
