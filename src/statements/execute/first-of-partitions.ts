/**
 * `onlyFirst` leaves out rows that are not among the first of their partition, before they are put
 * in order: those whose first key comes behind the keys of enough other rows. Rows with equal keys
 * stay, and so do those whose key is null or NaN, so more rows than asked for may be left and have
 * to be put in order. All rows stay if the keys are not numbers, dates or times that doubles hold
 * exactly, or if the partitions are so small that less than half of the rows could go.
 */
import { batchBytes, gatherBatch, type RecordBatch } from '../../arrow/index.ts';
import { asSafeNumbers, type Column, validityOf } from '../../sql/index.ts';
import type { SortKey } from '../steps/index.ts';
import { columnReader, oneStep, type Relation, run, type Work } from './relation.ts';

export interface PartitionedRows {
  readonly batches: readonly RecordBatch[];
  /** The number of the partition of each row, by batch. */
  readonly partitions: readonly Int32Array[];
}

/** @param first how many rows of each partition are wanted */
export async function onlyFirst(
  { batches, partitions }: PartitionedRows,
  { schema }: Relation,
  key: SortKey,
  first: number,
  work: Work,
): Promise<PartitionedRows> {
  const held = work.memory.hold('The first rows of partitions');
  try {
    const read = columnReader([key.value], schema, work);
    const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
    const count = 1 + partitions.reduce((most, own) => Math.max(most, greatest(own)), 0);
    if (2 * first * count > rows) return { batches, partitions };
    held.set(8 * (first * count + rows));
    const best = new Best(count, first);
    const keys: Float64Array[] = [];
    for (const [at, batch] of batches.entries()) {
      const own = keysOf((await read(batch))[0] as Column, key.ascending);
      if (own === undefined) return { batches, partitions };
      best.add(own, partitions[at] as Int32Array);
      keys.push(own);
      await run(work, oneStep());
    }
    const left: RecordBatch[] = [];
    const ofLeft: Int32Array[] = [];
    for (const [at, batch] of batches.entries()) {
      const own = partitions[at] as Int32Array;
      const places = best.among(keys[at] as Float64Array, own);
      if (places.length === 0) continue;
      const some = gatherBatch(batch, places);
      held.set(held.bytes + batchBytes(some));
      left.push(some);
      ofLeft.push(Int32Array.from(places, (row) => own[row] as number));
      await run(work, oneStep());
    }
    return { batches: left, partitions: ofLeft };
  } finally {
    held.end();
  }
}

function greatest(numbers: Int32Array): number {
  let most = 0;
  for (let at = 0; at < numbers.length; at++) {
    if ((numbers[at] as number) > most) most = numbers[at] as number;
  }
  return most;
}

/** Numbers that are less for rows that come first, NaN for null; undefined for values that have none. */
function keysOf(column: Column, ascending: boolean): Float64Array | undefined {
  const values =
    column.form === 'number'
      ? column.values
      : column.form === 'wide'
        ? asSafeNumbers(column)
        : undefined;
  if (values === undefined || values === null) return undefined;
  const valid = validityOf(column);
  const keys = new Float64Array(column.length);
  const sign = ascending ? 1 : -1;
  for (let row = 0; row < keys.length; row++) {
    keys[row] = valid !== null && valid[row] === 0 ? Number.NaN : sign * (values[row] as number);
  }
  return keys;
}

/** The least keys of each partition, in order. */
class Best {
  readonly #first: number;
  readonly #keys: Float64Array;

  constructor(partitions: number, first: number) {
    this.#first = first;
    this.#keys = new Float64Array(partitions * first).fill(Number.POSITIVE_INFINITY);
  }

  add(keys: Float64Array, partitions: Int32Array): void {
    const first = this.#first;
    const best = this.#keys;
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row] as number;
      const from = (partitions[row] as number) * first;
      let at = from + first - 1;
      if (!(key < (best[at] as number))) continue;
      for (; at > from && key < (best[at - 1] as number); at--) best[at] = best[at - 1] as number;
      best[at] = key;
    }
  }

  /** The rows that are not behind the last of these keys. */
  among(keys: Float64Array, partitions: Int32Array): Uint32Array {
    const rows = new Uint32Array(keys.length);
    let count = 0;
    for (let row = 0; row < keys.length; row++) {
      const last = this.#keys[((partitions[row] as number) + 1) * this.#first - 1] as number;
      if (!((keys[row] as number) > last)) rows[count++] = row;
    }
    return rows.subarray(0, count);
  }
}
