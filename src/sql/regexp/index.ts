/** Regular expressions in time linear in the text: syntax, automaton, search. */

export { compileRegexp, type Found, LinearRegexp } from './regexp.ts';
