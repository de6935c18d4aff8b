/**
 * `searchVectors`: finds the rows whose vectors are nearest to the query's, by measuring vectors
 * exactly; no index is used. With `prefilter` it measures only rows that match the predicate;
 * otherwise it filters the nearest rows afterwards. Vectors that are null or hold a null never
 * match.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { ColumnRequest } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import {
  DISTANCE,
  type Found,
  foundStream,
  planFound,
  postfiltered,
  QUERY_INDEX,
  withoutValues,
} from './found-rows.ts';
import { nearestRows, type SearchRequest } from './nearest.ts';
import { vectorColumn } from './vector-column.ts';

/** Rows nearest first; with several vectors those of the first come first. */
export async function searchVectors(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest,
): Promise<RecordBatchStream> {
  const column = vectorColumn(snapshot, request.vectorColumn, request.vectors);
  const columns = withoutDistance(request.columns);
  const plan = await planFound(engine, snapshot, { ...request, columns, filter: undefined });
  const held = plan.memory.hold(`The nearest rows of ${request.vectors.length} query vectors`);
  let found: Found;
  try {
    found = await nearestRows(engine, snapshot, request, column, plan, held);
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found);
    }
  } finally {
    held.end();
  }
  return foundStream(plan, found, DISTANCE);
}

export const withoutDistance = (columns: ColumnRequest | undefined): ColumnRequest | undefined =>
  withoutValues(columns, DISTANCE, QUERY_INDEX);
