/**
 * Exports the states of aggregates over groups of rows. `accumulator` creates the state of one
 * aggregate, which `aggregateOf` describes by its call, and `resultOf` computes its result in steps; execute/ decides which rows are of which
 * group. `DistinctWords` counts distinct values without groups. Sums of frames use `sumCheck` and
 * `meanOf`. Functions on places of rows in several batches, which collected values are put in
 * order by, are exported for joins, sorts and windows too.
 */
export { type Accumulator, type Aggregate, type GroupRange, resultOf } from './accumulator.ts';
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
export { meanOf, sumCheck } from './sums.ts';
