/**
 * The steps of plans: what they are (`Plan`), how they are built with their schemas, how conditions
 * move down through them, and the order of their joins. plan/ builds plans of statements from
 * these, and execute/ carries them out.
 */
export { withoutEmpty } from './empty.ts';
export { rowsOf } from './estimates.ts';
export { halvesBelow } from './halves.ts';
export { inputsOf } from './inputs.ts';
export { joinsInOrder } from './join-order.ts';
export { comparableKeys, isWithin, joinOf, keyOf } from './joins.ts';
export { castOf, castUnlessSame, commonKeyType, MOST_DIGITS } from './key-types.ts';
export type {
  CheckedStep,
  GroupStep,
  JoinStep,
  MarkStep,
  Plan,
  RepeatStep,
  ScanStep,
  SingleStep,
  SortKey,
  SortStep,
  SourceOrder,
  SourceRequest,
  TableSource,
  ValuesStep,
  WindowStep,
} from './plan-tree.ts';
export { namesOf, pruned } from './pruned.ts';
export { pushed } from './pushed.ts';
export {
  checkOrder,
  distinctRows,
  filtered,
  firstRows,
  grouped,
  groupedBySets,
  isHalf,
  marked,
  type NamedValue,
  pairSchema,
  projected,
  renamed,
  sorted,
  united,
} from './steps.ts';
export {
  asWritten,
  columnsIn,
  columnTree,
  conjuncts,
  joined,
  rewritten,
  textOf,
  visit,
} from './trees.ts';
