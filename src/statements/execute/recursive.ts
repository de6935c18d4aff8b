/**
 * `recursiveRows` carries out a query of WITH RECURSIVE round by round, until a round gives no
 * rows. It keeps the rows of the round before in memory, and without ALL also the distinct rows of
 * all rounds. `workingRows` gives the rows of the round before. A query that needs more than
 * 100,000 rounds throws InvalidInput.
 */
import { batchBytes, columnsOf, gatherBatch, type RecordBatch } from '../../arrow/index.ts';
import { loadColumn, refuse } from '../../sql/index.ts';
import { KeyNumbers } from '../keys/index.ts';
import type { RecursiveStep, WorkingStep } from '../steps/index.ts';
import { oneStep, type Relation, run, type Work } from './relation.ts';
import { unitedRows } from './rows.ts';

const MOST_ROUNDS = 100_000;

export function workingRows({ rows, schema }: WorkingStep, work: Work): Relation {
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      yield* work.working?.get(rows) ?? [];
    },
  };
}

export function recursiveRows(
  plan: RecursiveStep,
  work: Work,
  relationOf: (plan: RecursiveStep['base'], work: Work) => Relation,
): Relation {
  const { schema } = plan;
  return {
    schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const working = new Map(work.working);
      const own = { ...work, working };
      const inRound = (input: Relation): Relation => unitedRows([input], schema, own);
      const step = inRound(relationOf(plan.step, own));
      const distinct = plan.all ? undefined : new DistinctBatches(schema.fields.length);
      const held = work.memory.hold(`The rows of ${plan.name}`);
      let kept = 0;
      try {
        for (let round = 0; ; round++) {
          if (round > MOST_ROUNDS) {
            refuse(
              plan.at,
              `${plan.name} goes on after ${MOST_ROUNDS} rounds; give its second part a condition that ends it, or write UNION in place of UNION ALL`,
            );
          }
          const next: RecordBatch[] = [];
          let bytes = 0;
          const input = round === 0 ? inRound(relationOf(plan.base, own)) : step;
          for await (const batch of input.batches()) {
            const rows = distinct === undefined ? batch : await distinct.newRows(batch, work);
            if (rows.numRows === 0) continue;
            next.push(rows);
            bytes += batchBytes(rows);
            held.set(kept + bytes + (distinct?.bytes ?? 0));
            yield rows;
          }
          if (next.length === 0) return;
          working.set(plan.rows, next);
          kept = bytes;
          await run(work, oneStep());
        }
      } finally {
        held.end();
      }
    },
  };
}

/** Leaves out rows that came before. */
class DistinctBatches {
  #keys: KeyNumbers | undefined;
  #seen = new Uint8Array(1024);
  readonly #width: number;

  constructor(width: number) {
    this.#width = width;
  }

  get bytes(): number {
    return this.#seen.length + (this.#keys?.bytes ?? 0);
  }

  async newRows(batch: RecordBatch, work: Work): Promise<RecordBatch> {
    if (this.#width === 0) return batch;
    this.#keys ??= new KeyNumbers(batch.schema.fields.map(({ type }) => type));
    await run(work, this.#keys.reserve(batch.numRows));
    const numbers = this.#keys.add(columnsOf(batch).map(loadColumn));
    if (this.#keys.size > this.#seen.length) {
      const seen = new Uint8Array(2 * this.#keys.size);
      seen.set(this.#seen);
      this.#seen = seen;
    }
    const rows: number[] = [];
    for (let row = 0; row < numbers.length; row++) {
      const number = numbers[row] as number;
      if (this.#seen[number] === 1) continue;
      this.#seen[number] = 1;
      rows.push(row);
    }
    return rows.length === batch.numRows ? batch : gatherBatch(batch, Uint32Array.from(rows));
  }
}
