/** Regular expressions in time linear in the text: syntax, automaton, search. */

export { compileRegexp, LinearRegexp } from './regexp.ts';
export type { Search } from './search.ts';
export type { Found } from './text.ts';
