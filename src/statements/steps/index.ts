/**
 * Exports the steps that plans of statements are made of: their types (`Plan`), functions that
 * build them, and rewrites that make a plan faster, such as moving conditions down and ordering
 * joins. plan/ builds plans with them, and execute/ carries plans out.
 */
export { withoutEmpty } from './empty.ts';
export { rowsOf } from './estimates.ts';
export { frameTrees } from './frame-trees.ts';
export { halvesBelow } from './halves.ts';
export { inputsOf, withInputs } from './inputs.ts';
export { joinsInOrder } from './join-order.ts';
export { comparableKeys, isWithin, joinOf } from './joins.ts';
export { castOf, castUnlessSame, commonKeyType, MOST_DIGITS } from './key-types.ts';
export { groupsNarrowed } from './narrowed.ts';
export type {
  CheckedStep,
  ExpandStep,
  GroupStep,
  JoinStep,
  MarkStep,
  Plan,
  ProjectStep,
  RecursiveStep,
  RepeatStep,
  ScanStep,
  SingleStep,
  SortKey,
  SourceRequest,
  TableSource,
  ValuesStep,
  WindowStep,
  WorkingStep,
} from './plan-tree.ts';
export { namesOf, pruned } from './pruned.ts';
export { pushed } from './pushed.ts';
export { NamedOnce, withShared } from './shared.ts';
export { OF_SIDE, onSides } from './sides.ts';
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
  COUNT_ROWS,
  callTree,
  columnsIn,
  columnTree,
  conjuncts,
  joined,
  rewritten,
  textOf,
  visit,
} from './trees.ts';
