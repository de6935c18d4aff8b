/**
 * Exports operations on texts: search in linear time, conversion to lower and upper case, whole
 * numbers and times as texts, the layout of columns of UTF-8 texts, bounds of their bytes, and the
 * WebAssembly kernels (`textKernels`).
 */

export {
  finderInSteps,
  finderOf,
  LongNeedle,
  SHORT_NEEDLE,
  type TextFinder,
} from './find-text.ts';
export { foldedInSteps, lowerText } from './fold-text.ts';
export { integerTexts } from './integer-texts.ts';
export { inOneCase, MOST_AT_ONCE } from './letter-case.ts';
export {
  checkColumnBytes,
  copyText,
  isAscii,
  MOST_COLUMN_BYTES,
  spanOf,
  TextWriter,
  textBytes,
  type WordBytes,
  wordBytes,
} from './text-columns.ts';
export { MOST_PART, textKernels } from './text-kernels.ts';
export { TimeTexts } from './time-texts.ts';
