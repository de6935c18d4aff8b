/**
 * Exports regular expressions (`compileRegexp`, `LinearRegexp`) that match in time linear in the
 * text.
 */

export { compileRegexp, LinearRegexp } from './regexp.ts';
export type { Search } from './search.ts';
export type { Found } from './text.ts';
