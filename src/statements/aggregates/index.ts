/**
 * Exports the states that aggregates keep for groups of rows. `aggregateOf` describes a call,
 * `accumulator` creates its state, and `resultOf` computes the results in steps; execute/ decides
 * which rows belong to which group. `DistinctWords` counts distinct values without groups. Joins,
 * sorts and windows also use the functions that pick rows of several batches by their places.
 */
export { type Accumulator, type GroupRange, resultOf } from './accumulator.ts';
export { accumulator } from './accumulators.ts';
export { aggregateOf, columnsOfCall } from './aggregate-of.ts';
export { DistinctWords } from './distinct-words.ts';
export {
  allPlaces,
  BATCH_ROWS,
  columnsInOne,
  partitioned,
  placedRows,
  placesOf,
  type RowPlaces,
} from './row-places.ts';
export { sumCheck } from './sums.ts';
