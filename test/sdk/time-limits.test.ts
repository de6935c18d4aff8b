/** Limits of the time and of the batches of one call, and the words that LanceDB's programs look for. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Connection, connect, type Table } from '../../src/index.ts';

let db: Connection;
let table: Table;

beforeEach(async () => {
  db = await connect('memory://');
  const rows = Array.from({ length: 250 }, (_, id) => ({ id, vector: [id, 1] }));
  table = await db.createTable('t', rows);
});

afterEach(async () => {
  await db.close();
});

test.each([
  ['a query', () => table.query().toArray({ timeoutMs: 0 })],
  ['a search as Arrow', () => table.vectorSearch([1, 1]).toArrow({ timeoutMs: 0 })],
  ['a stream', () => table.query().stream({ timeoutMs: 0 })],
  ['a step of a query', () => table.query().execute({ timeoutMs: 0 }).next()],
  ['a statement', () => db.sql('select id from t').toArray({ timeoutMs: 0 })],
] as const)('no time for %s is over at once', async (_, call) => {
  const said = 'Query timeout after 0 ms (timeoutMs).';
  await expect(call()).rejects.toMatchObject({ name: 'TimeoutError', message: said });
});

test('no time for a merge is over at once, and changes nothing', async () => {
  const merge = table.mergeInsert('id').whenNotMatchedInsertAll();
  await expect(
    merge.execute([{ id: 999, vector: [1, 1] }], { timeoutMs: 0 }),
  ).rejects.toMatchObject({
    name: 'TimeoutError',
    message: 'The merge insert timed out after 0 ms (timeoutMs).',
  });
  expect(await table.version()).toBe(1);
});

test('a signal of the program ends a call of limited time with its own reason', async () => {
  const own = AbortSignal.abort(new DOMException('mine', 'TimeoutError'));
  const query = table.query().toArray({ timeoutMs: 60_000, signal: own });
  await expect(query).rejects.toBe(own.reason);
  await expect(table.query().toArray({ timeoutMs: -1 })).rejects.toThrow('timeoutMs is -1');
});

test('toArrow takes a number of rows to a batch', async () => {
  const { batches } = await table.query().toArrow({ maxBatchLength: 100 });
  expect(batches.map(({ numRows }) => numRows)).toEqual([100, 100, 50]);
  const none = await table.query().where('id < 0').toArrow({ maxBatchLength: 100 });
  expect([none.numRows, none.schema.fields.length]).toEqual([0, 2]);
  await expect(table.query().toArrow({ maxBatchLength: 0 })).rejects.toThrow('maxBatchLength');
});
