/**
 * Exports the code that computes the SQL functions. bind/ decides which function a call means and
 * checks its arguments; registered.ts keeps the functions that programs register. Forms such as
 * coalesce and CASE are nodes of the bound tree, which evaluate/ computes.
 */

export {
  CLOCK_FIELDS,
  DATE_FIELDS,
  extractField,
  fieldName,
  TRUNCATIONS,
  truncateTo,
} from './dates.ts';
export { DIGEST_FUNCTIONS } from './digests.ts';
export { levenshtein } from './distances.ts';
export { moveDate, moveInstant, moveTimestamp, negateInterval, sumIntervals } from './intervals.ts';
export { LIST_SUMMARIES, listMean } from './list-summaries.ts';
export { LIST_FUNCTIONS, quantified } from './lists.ts';
export { EXTREME_FUNCTIONS, NUMBER_FUNCTIONS } from './numbers.ts';
export { compileRegexp, REGEXP_FUNCTIONS } from './regexp.ts';
export {
  addFunction,
  type FunctionSignature,
  functionsVersion,
  type RegisteredFunction,
  registeredFunction,
  registeredNames,
  type UserFunction,
} from './registered.ts';
export { strictInSteps } from './rows.ts';
export { STRING_FUNCTIONS } from './strings.ts';
export {
  LISTED_TEXT_BYTES,
  TEXT_LIST_BYTES,
  TEXT_PART_FUNCTIONS,
  textSlice,
} from './text-parts.ts';
export { type BucketWidth, bucketStart } from './time-buckets.ts';
export { readBy, writtenBy } from './time-formats.ts';
export {
  DIFFERENCES,
  dayName,
  makeDate,
  makeTimestamp,
  monthName,
  SPAN_FIELDS,
  scaleInterval,
  spanField,
  unitNumber,
} from './time-spans.ts';
