/** Reads through memory that is used again: nothing that was read before changes under its reader. */
import { expect, test } from 'vitest';
import { connect } from '../src/index.ts';
import { Scratch } from '../src/table/scratch.ts';
import { memoryFs } from './helpers/catalogs.ts';

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
