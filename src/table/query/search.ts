/**
 * `searchVectors`: finds the rows whose vectors are nearest to the query's, by measuring vectors
 * exactly; no index of vectors is used. With `prefilter` it measures only rows that match the
 * predicate; otherwise it filters the nearest rows afterwards. Vectors that are null or hold a null
 * never match. Rows are given nearest first, or in the order that the request asks for.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { planFound } from './found-columns.ts';
import { type FoundOrder, orderedFound } from './found-order.ts';
import { DISTANCE, distancesOf, type Found, foundStream, postfiltered } from './found-rows.ts';
import { nearestRows, type SearchRequest } from './nearest.ts';
import { vectorColumn } from './vector-column.ts';

/** Rows nearest first; with several vectors those of the first come first. */
export async function searchVectors(
  engine: Engine,
  snapshot: Snapshot,
  request: SearchRequest & { readonly order?: FoundOrder | undefined },
): Promise<RecordBatchStream> {
  const column = vectorColumn(snapshot, request.vectorColumn, request.vectors);
  const added = distancesOf(request.vectors.length);
  const plan = await planFound(engine, snapshot, { ...request, filter: undefined }, added);
  const held = plan.memory.hold(`The nearest rows of ${request.vectors.length} query vectors`);
  let found: Found;
  try {
    found = await nearestRows(engine, snapshot, request, column, plan, held);
    if (!request.prefilter && request.filter !== undefined) {
      const asked = { ...request, memory: plan.memory };
      found = await postfiltered(engine, snapshot, asked, request.filter, found);
    }
    if (request.order !== undefined)
      found = await orderedFound(plan, found, DISTANCE, request.order);
  } finally {
    held.end();
  }
  return foundStream(plan, found, added);
}
