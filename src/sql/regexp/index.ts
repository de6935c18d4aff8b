/**
 * Exports regular expressions (`compileRegexp`, `LinearRegexp`) that match in time linear in the
 * text, and the types of a search and of a match.
 */

export { compileRegexp, LinearRegexp } from './regexp.ts';
export type { Search } from './search.ts';
export type { Found } from './text.ts';
