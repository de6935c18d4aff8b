/** Ordered reads beside other work: what they hold, and that the event loop goes on meanwhile. */
import { tableFromArrays } from 'apache-arrow';
import { expect, test } from 'vitest';
import { systemEnv } from '../../../src/env.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

/** How often the event loop came round while `work` was under way. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let over = false;
  const next = (): void => {
    turns += 1;
    if (!over) setImmediate(next);
  };
  setImmediate(next);
  await work();
  over = true;
  return turns;
}

const ROWS = 200_000;

test.each([10, undefined])(
  'the event loop goes on while rows are sorted, with a limit of %s',
  async (limit) => {
    let now = 0;
    // Each look at the clock finds the turn over.
    const env = { ...systemEnv, now: () => (now += 10) };
    const connection = await connect(temporaryFolder(), { durability: 'relaxed', env });
    const x = Int32Array.from({ length: ROWS }, (_, row) => (row * 7919) % ROWS);
    const table = await connection.createTable('t', tableFromArrays({ x }));
    const query = table.query().orderBy({ columnName: 'x', ascending: false });
    const limited = limit === undefined ? query.select(['x']) : query.limit(limit);
    let found: number[] = [];
    const turns = await turnsOf(async () => {
      found = (await limited.toArray()).map((row) => row.x as number);
    });
    const rows = limit ?? ROWS;
    expect(found).toEqual(Array.from({ length: rows }, (_, at) => ROWS - 1 - at));
    // Rows are ranked 16,384 at a time; sorting all of them takes more such steps.
    expect(turns).toBeGreaterThan(limit === undefined ? 50 : 14);
  },
);
