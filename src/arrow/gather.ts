/**
 * Picks rows by position, from a column or chunked column (`gather`) or a batch (`gatherBatch`).
 * Positions past the end throw InvalidInput. gather-data.ts does the copying.
 */

import { DirspaceError } from '../errors.ts';
import { Data, type RecordBatch, type Vector } from './apache.ts';
import { columnsOf, nullColumn, recordBatch } from './arrow-data.ts';
import { concatData } from './concat.ts';
import { gatherData } from './gather-data.ts';

/**
 * The rows at `indices`, in that order, repeats allowed. Every index must be below the length.
 * @throws InvalidInput for an index past the end
 */
export function gather(column: Data | Vector, indices: Uint32Array): Data {
  if (column instanceof Data) {
    checkIndices(indices, column.length);
    return gatherData(column, indices);
  }
  const [only] = column.data;
  if (only !== undefined && column.data.length === 1) {
    checkIndices(indices, only.length);
    return gatherData(only, indices);
  }
  return gatherChunks(column.data, indices);
}

/** The rows of a batch at `indices`, in that order. */
export function gatherBatch(batch: RecordBatch, indices: Uint32Array): RecordBatch {
  checkIndices(indices, batch.numRows);
  return recordBatch(
    batch.schema,
    columnsOf(batch).map((column) => gatherData(column, indices)),
    indices.length,
  );
}

function checkIndices(indices: Uint32Array, length: number): void {
  let highest = -1;
  for (let at = 0; at < indices.length; at += 1) {
    if ((indices[at] as number) > highest) highest = indices[at] as number;
  }
  if (highest >= length)
    throw new DirspaceError('InvalidInput', `Row ${highest} is not among ${length} rows`);
}

/** Rows of several chunks: picked chunk by chunk, joined, then put into the order asked for. */
function gatherChunks(chunks: readonly Data[], indices: Uint32Array): Data {
  const starts = [0];
  for (const chunk of chunks) starts.push((starts.at(-1) ?? 0) + chunk.length);
  const total = starts.at(-1) ?? 0;
  checkIndices(indices, total);
  const order = Uint32Array.from(indices, (_, at) => at).sort(
    (a, b) => (indices[a] as number) - (indices[b] as number),
  );
  const picked: Data[] = [];
  let next = 0;
  for (const [at, chunk] of chunks.entries()) {
    const start = starts[at] as number;
    const from = next;
    while (
      next < order.length &&
      (indices[order[next] as number] as number) < start + chunk.length
    ) {
      next += 1;
    }
    if (next === from) continue;
    const local = order
      .subarray(from, next)
      .map((position) => (indices[position] as number) - start);
    picked.push(gatherData(chunk, local));
  }
  const [first] = chunks;
  if (first === undefined)
    throw new DirspaceError('InvalidInput', 'There are no chunks to pick rows from');
  if (picked.length === 0) return nullColumn(first.type, 0);
  const joined = concatData(picked);
  const back = new Uint32Array(order.length);
  let sorted = true;
  for (const [at, position] of order.entries()) {
    back[position] = at;
    if (position !== at) sorted = false;
  }
  return sorted ? joined : gatherData(joined, back);
}
