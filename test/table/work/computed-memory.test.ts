/** The values of all computed columns of a batch count for requestMemory together. */
import { expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import { connect } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const ROWS = 1_000;

/** With a clock that stands still columns are made at once; else each look at it finds the turn over. */
async function opened(slow: boolean) {
  let now = 1_000;
  const tick = (): number => {
    if (slow) now += 10;
    return now;
  };
  const env = { ...systemEnv, now: tick };
  const db = await connect('/root', { fs: memoryFs(), env, requestMemory: 1 << 19 });
  return db.createTable(
    't',
    Array.from({ length: ROWS }, (_, id) => ({ id, x: id / 2 })),
  );
}

const columns = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`y${at}`, `x + ${at}`]));

test.each([
  ['at once', false],
  ['in turns', true],
])('many columns that fit one by one are refused together, made %s', async (_, slow) => {
  const table = await opened(slow);
  // 8 kB a column.
  await expect(table.query().select(columns(120)).toArray()).rejects.toMatchObject({
    code: 'InvalidInput',
    message: expect.stringContaining('requestMemory'),
  });
  for (let round = 0; round < 3; round++) {
    expect(await table.query().select(columns(50)).toArray()).toHaveLength(ROWS);
  }
});

test.each([
  ['at once', false],
  ['in turns', true],
])('what a batch took is given back before the next one is made %s', async (_, slow) => {
  const table = await opened(slow);
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, x: id }));
  for (let batch = 0; batch < 5; batch++) await table.add(rows);
  expect(await table.query().select(columns(50)).toArray()).toHaveLength(6 * ROWS);
});
