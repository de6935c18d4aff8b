/**
 * Exports the evaluation of bound trees over columns, the selection of rows by truth values, and
 * the conversion to Arrow vectors. Other folders of sql/ also find here whether a cast exists
 * (`canCast`), values as text (`textOf`), the rounding of decimals (`rounded`), comparison with a
 * constant, the reading of a few bytes as one number (`packed`, `lastFour`), checks of LIKE
 * patterns, and estimates of cost.
 */

export { canCast } from './cast.ts';
export { textOf } from './cast-text.ts';
export {
  type EntryValues,
  entriesInSteps,
  evaluateConstant,
  evaluateInSteps,
  logicInSteps,
} from './evaluate.ts';
export { rounded } from './evaluate-arithmetic.ts';
export { compareWithConstant, lastFour, packed } from './evaluate-compare.ts';
export { checkPattern } from './like-pattern.ts';
export { countSelected, selectedRows } from './selection.ts';
export { toVector } from './to-arrow.ts';
export { isLight, type Weight, weightOf } from './weight.ts';
