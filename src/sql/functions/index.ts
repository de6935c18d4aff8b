/**
 * Exports the functions of the SQL dialect, one file per kind of argument. bind/bind-call.ts holds
 * their signatures. evaluate/ computes coalesce and nullif, which are nodes of the bound tree.
 */

export { DATE_FIELDS, extractField, fieldName, TRUNCATIONS, truncateTo } from './dates.ts';
export { moveDate, moveTimestamp, negateInterval, sumIntervals } from './intervals.ts';
export { LIST_FUNCTIONS, quantified } from './lists.ts';
export { EXTREME_FUNCTIONS, NUMBER_FUNCTIONS } from './numbers.ts';
export { compileRegexp, REGEXP_FUNCTIONS } from './regexp.ts';
export { STRING_FUNCTIONS } from './strings.ts';
