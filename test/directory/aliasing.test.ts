/** What is handed out is the caller's: nothing done to it changes what is read or written later. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Row, SpoilingCallers } from '../helpers/aliasing.ts';
import { casesOf } from '../helpers/long.ts';
import { randomRows } from '../helpers/random-rows.ts';
import { seeded } from '../helpers/seeded.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

test.each([
  ['small', 12, 24, casesOf(5, 8)],
  ['large', 2_600, 9, casesOf(3, 5)],
])(
  'random %s tables answer the same after every result was spoilt',
  async (_, rows, steps, runs) => {
    const violations: string[] = [];
    const tables = fc.sample(randomRows, { seed: rows, numRuns: runs });
    for (const [at, { schema, rows: samples }] of tables.entries()) {
      const callers = new SpoilingCallers(temporaryFolder(), seeded(rows + at), (what) =>
        violations.push(`table ${at}, ${what}`),
      );
      await callers.run(schema, samples as Row[], rows, steps);
      expect(callers.compared).toBeGreaterThan(0);
    }
    expect(violations).toEqual([]);
  },
  120_000,
);
