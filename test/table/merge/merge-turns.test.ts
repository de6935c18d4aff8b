/** Merges of many rows: in steps, in batches of the table's own size, in bounded memory. */
import { describe, expect, test } from 'vitest';
import { tableFromArrays, Utf8, vectorFromArray } from '../../../src/arrow/apache.ts';
import { systemEnv } from '../../../src/env.ts';
import { connect } from '../../../src/index.ts';
import type { Table } from '../../../src/sdk/table/table.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

/** More than one batch of a fragment, and more than one part of a merge. */
const ROWS = 80_000;
const step = (row: number): number => (row * 7919) % ROWS;
const texts = (of: (row: number) => string) =>
  vectorFromArray(
    Array.from({ length: ROWS }, (_, row) => of(row)),
    new Utf8(),
  );
const keysOf = (add: number) => Int32Array.from({ length: ROWS }, (_, row) => step(row) + add);

/** Half of the rows are in the table, which has 80,000 of its own; all come as one batch. */
const table = tableFromArrays({
  k: keysOf(0),
  w: BigInt64Array.from(keysOf(0), BigInt),
  s: texts((row) => `key ${step(row)}`) as never,
  x: new Int32Array(ROWS),
});
const came = tableFromArrays({
  k: keysOf(ROWS / 2),
  w: BigInt64Array.from(keysOf(ROWS / 2), BigInt),
  s: texts((row) => `key ${step(row) + ROWS / 2}`) as never,
  x: new Int32Array(ROWS).fill(1),
});

async function made(requestMemory = 1 << 30) {
  let now = 0;
  const tick = (): number => {
    // Each look at the clock finds the turn over.
    now += 10;
    return now;
  };
  const env = { ...systemEnv, now: tick };
  const db = await connect('/root', { fs: memoryFs(), env, requestMemory });
  return db.createTable('t', table as never);
}

describe.each(casesOf([[['k']], [['k', 's']]], [[['k']], [['w']], [['s']], [['k', 's']]]))(
  'by %j',
  (on) => {
    test('rows of one large batch are matched, replaced and added', async () => {
      const target = await made();
      let turns = 0;
      let over = false;
      const count = (): void => {
        turns += 1;
        if (!over) setImmediate(count);
      };
      setImmediate(count);
      const merged = await target
        .mergeInsert(on)
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(came as never);
      over = true;
      expect(merged).toMatchObject({ numUpdatedRows: ROWS / 2, numInsertedRows: ROWS / 2 });
      expect(await target.countRows()).toBe(ROWS * 1.5);
      expect(await target.countRows('x = 1')).toBe(ROWS);
      expect(await target.countRows(`x = 1 AND k >= ${ROWS / 2} AND w = k`)).toBe(ROWS);
      expect(await target.countRows(`x = 0 AND k < ${ROWS / 2}`)).toBe(ROWS / 2);
      expect(await target.countRows(`s <> 'key ' || CAST(k AS text)`)).toBe(0);
      // 16,384 rows at a time, both as the index is made and as the table's rows are looked up.
      expect(turns).toBeGreaterThan(30);
    });

    test('of two rows with one key, far apart, both are named', async () => {
      const target = await made();
      const twice = came.concat(came.slice(5, 6)) as never;
      const merging = target.mergeInsert(on).whenMatchedUpdateAll().execute(twice);
      const kept = step(5) + ROWS / 2 < ROWS;
      if (!kept) return void (await merging);
      await expect(merging).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(`Rows 5 and ${ROWS} of the data have the same key (`),
      });
    });
  },
);

test('a condition that is costly is looked at in slices of the pairs', async () => {
  const target = await made();
  const costly = Array.from({ length: 40 }, (_, at) => `upper(target.s) <> 'K${at}'`).join(' AND ');
  const where = `${costly} AND source.k % 3 = 0`;
  const merged = await target
    .mergeInsert('k')
    .whenMatchedUpdateAll({ where })
    .execute(came as never);
  const third = Array.from({ length: ROWS / 2 }, (_, at) => at + ROWS / 2).filter(
    (k) => k % 3 === 0,
  );
  expect(merged.numUpdatedRows).toBe(third.length);
  expect(await target.countRows('x = 1 AND k % 3 = 0')).toBe(third.length);
  expect(await target.countRows('x = 1')).toBe(third.length);
});

test('rows beyond requestMemory are refused before anything is written', async () => {
  const target = await made(2 << 20);
  const merging = target
    .mergeInsert('k')
    .whenNotMatchedInsertAll()
    .execute(came as never);
  await expect(merging).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('The rows of a merge'),
    details: { limit: 'requestMemory', requestMemory: 2 << 20 },
  });
  expect(await target.version()).toBe(1);
  const few = came.slice(0, 100) as never;
  const merged = await target.mergeInsert('k').whenNotMatchedInsertAll().execute(few);
  expect(merged.numInsertedRows).toBeGreaterThan(0);
});

describe('a signal ends a change within one turn, and nothing of it is there', () => {
  test.each<[string, (target: Table, signal: AbortSignal) => Promise<unknown>]>([
    [
      'a merge',
      (target, signal) =>
        target
          .mergeInsert('k')
          .whenNotMatchedInsertAll()
          .execute(came as never, { signal }),
    ],
    [
      'an update',
      (target, signal) => target.update({ valuesSql: { s: 'upper(lower(s))' } }, { signal }),
    ],
    ['a delete', (target, signal) => target.delete("upper(lower(s)) <> 'x'", { signal })],
  ])('%s', async (_, change) => {
    const target = await made();
    const controller = new AbortController();
    const reason = new Error('the caller left');
    let rounds = 0;
    let since = 0;
    let over = false;
    const next = (): void => {
      rounds += 1;
      if (rounds === 4) controller.abort(reason);
      if (rounds > 4) since += 1;
      if (!over) setImmediate(next);
    };
    setImmediate(next);
    await expect(change(target, controller.signal)).rejects.toBe(reason);
    over = true;
    expect(rounds).toBeGreaterThanOrEqual(4);
    // Of batches under way each ends in a turn of its own; then files are removed.
    expect(since).toBeLessThan(30);
    expect(await target.version()).toBe(1);
  });
});
