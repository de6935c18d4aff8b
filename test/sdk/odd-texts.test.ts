/** Texts that PostgreSQL has not, and rows may have: zero characters, and halves of pairs. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Connection, connect, type Table } from '../../src/index.ts';

let db: Connection;
let table: Table;

beforeEach(async () => {
  db = await connect('memory://');
  table = await db.createTable('t', [{ s: 'a\0b' }, { s: 'ab' }, { s: 'a' }]);
});

afterAll(() => db.close());

const texts = async (): Promise<unknown[]> =>
  (await table.query().toArray()).map(({ s }) => s as unknown);

test.each([
  ["s = 'a\0b'", 1],
  ["s IN ('a\0b', 'a')", 2],
  ["s LIKE 'a\0%'", 1],
  ["s < 'a\0'", 1],
  ['s = $$a\0b$$', 1],
  ["s = 'a' -- \0", 1],
])('a zero character within the quotes of %j is a character', async (where, rows) => {
  expect(await table.countRows(where)).toBe(rows);
  await table.createIndex('s');
  expect(await table.countRows(where)).toBe(rows);
});

test('a row whose text has a zero character is updated and deleted by it', async () => {
  await table.update({ where: "s = 'a\0b'", values: { s: 'c\0d' } });
  expect(await texts()).toEqual(['ab', 'a', 'c\0d']);
  await table.delete("s = 'c\0d'");
  expect(await texts()).toEqual(['ab', 'a']);
});

test('a zero character outside of quotes is refused', async () => {
  await expect(table.countRows("s\0 = 'a'")).rejects.toMatchObject({ code: 'InvalidInput' });
});

test('half of a pair of surrogates is stored as it is where rows are added', async () => {
  await table.add([{ s: 'x\ud800' }]);
  await table.update({ where: "s = 'a'", values: { s: '\ud83dy' } });
  expect((await texts()).slice(-2).sort()).toEqual(['x\ufffd', '\ufffdy']);
});
