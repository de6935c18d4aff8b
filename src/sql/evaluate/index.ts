/**
 * Exports the evaluation of bound trees over columns, the selection of rows by truth values, and
 * the conversion of results to Arrow vectors. The other folders of sql/ also find parts of
 * evaluation here that they share, such as casts, the rounding of decimals, comparisons with a
 * constant, checks of LIKE patterns, and estimates of cost.
 */

export { canCast } from './cast.ts';
export { EXACT_DIGITS, roundedQuotient } from './cast-numbers.ts';
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
export { isAmong } from './evaluate-in.ts';
export { checkPattern } from './like-pattern.ts';
export { countSelected, selectedRows } from './selection.ts';
export { toVector } from './to-arrow.ts';
export { isLight, type Weight, weightOf } from './weight.ts';
