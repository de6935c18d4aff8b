/**
 * Exports the evaluation of bound trees over the columns of a batch: to truth values, to selected
 * rows, and to Arrow columns.
 */

export { canCast } from './cast.ts';
export { evaluateConstant, evaluateInSteps, logicInSteps } from './evaluate.ts';
export { rounded } from './evaluate-arithmetic.ts';
export { compareWithConstant, lastFour, packed } from './evaluate-compare.ts';
export { finderInSteps, finderOf, type TextFinder } from './find-text.ts';
export { checkPattern } from './like-pattern.ts';
export { countSelected, selectedRows } from './selection.ts';
export { toVector } from './to-arrow.ts';
export { isLight, type Weight, weightOf } from './weight.ts';
