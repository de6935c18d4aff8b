/**
 * T26: callers that overwrite or transfer every buffer of every result, on random tables, on the
 * handles that read and write them and over REST in process: later answers are those of rows that
 * never were in the engine, also after updates, compaction, new columns and a restart.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Row, SpoilingCallers } from '../helpers/aliasing.ts';
import { randomRows } from '../helpers/random-rows.ts';
import { seeded } from '../helpers/seeded.ts';
import { breathe, inRounds } from './rounds.ts';
import type { ProofContext, ProofRow } from './row.ts';

const TABLES = { ci: 8, short: 60, nightly: 60 };
/** Rows and steps: fragments that are read whole, and fragments that are read in parts. */
const SMALL = { rows: 12, steps: 24 };
const LARGE = { rows: 2_600, steps: 12 };

async function run(context: ProofContext): Promise<{ cases: number; note: string }> {
  let tables = 0;
  const cases = await inRounds(context, async (seed) => {
    const many = TABLES[context.size];
    const random = fc.sample(randomRows, { seed: seed | 0, numRuns: many });
    let compared = 0;
    for (const [at, { schema, rows }] of random.entries()) {
      const root = mkdtempSync(join(tmpdir(), 'dirspace-aliasing-'));
      try {
        const callers = new SpoilingCallers(root, seeded(seed + at), (what) =>
          context.violated(`seed ${seed}, table ${at}, ${what}`, seed),
        );
        const size = at % 3 === 2 ? LARGE : SMALL;
        await callers.run(schema, rows as Row[], size.rows, size.steps);
        compared += callers.compared;
        tables += 1;
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
      await breathe();
    }
    return compared;
  });
  return { cases, note: `answers of ${tables} tables` };
}

export const aliasing: ProofRow = { row: "T26 results are the caller's", run };
