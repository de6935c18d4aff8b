/**
 * Picks rows by position, from a column or chunked column (`gather`) or from a record batch
 * (`gatherBatch`). Both throw InvalidInput for a position past the end, and `gather` for a column
 * without chunks. gather-data.ts picks the rows of one chunk, and gather-parts.ts those of several.
 */

import { firstAbove } from '../binary-search.ts';
import { DirspaceError } from '../errors.ts';
import { drained } from '../steps.ts';
import { Data, type RecordBatch, type Vector } from './apache.ts';
import { columnsOf, nullColumn, recordBatch } from './arrow-data.ts';
import { gatherData } from './gather-data.ts';
import { gatherParts, type PlacedRows } from './gather-parts.ts';

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

/** Rows of several chunks, each copied to its place. */
function gatherChunks(chunks: readonly Data[], indices: Uint32Array): Data {
  const [first] = chunks;
  if (first === undefined)
    throw new DirspaceError('InvalidInput', 'There are no chunks to pick rows from');
  const starts = new Uint32Array(chunks.length + 1);
  for (const [at, { length }] of chunks.entries()) {
    starts[at + 1] = (starts[at] as number) + length;
  }
  checkIndices(indices, starts[chunks.length] as number);
  if (indices.length === 0) return nullColumn(first.type, 0);
  const sources = placedRows(chunks, starts, indices);
  const partRows = 2 ** Math.ceil(Math.log2(indices.length));
  const [whole] = drained(gatherParts(first.type, sources, indices.length, partRows));
  return whole as Data;
}

/** The rows that are of each chunk. */
function placedRows(
  chunks: readonly Data[],
  starts: Uint32Array,
  indices: Uint32Array,
): PlacedRows[] {
  const owners = new Uint32Array(indices.length);
  const counts = new Uint32Array(chunks.length);
  let owner = 0;
  for (let at = 0; at < indices.length; at++) {
    const index = indices[at] as number;
    if (index < (starts[owner] as number) || index >= (starts[owner + 1] as number)) {
      owner = firstAbove(starts, index) - 1;
    }
    owners[at] = owner;
    counts[owner] = (counts[owner] as number) + 1;
  }
  const placed = chunks.map((data, chunk) => ({
    data,
    rows: new Uint32Array(counts[chunk] as number),
    places: new Uint32Array(counts[chunk] as number),
  }));
  counts.fill(0);
  for (let at = 0; at < indices.length; at++) {
    const chunk = owners[at] as number;
    const { rows, places } = placed[chunk] as PlacedRows;
    const next = counts[chunk] as number;
    rows[next] = (indices[at] as number) - (starts[chunk] as number);
    places[next] = at;
    counts[chunk] = next + 1;
  }
  return placed.filter(({ rows }) => rows.length > 0);
}
