/** A compiled regular expression that matches and finds in whole texts at once. */
import { compileRegexp, type Found, type LinearRegexp } from '../../src/sql/regexp/index.ts';
import { drained } from '../../src/steps.ts';

export interface Finder {
  readonly compiled: LinearRegexp;
  /** Whether UTF-8 text has a match. */
  matches(data: Uint8Array, start: number, end: number): boolean;
  /** The first match; positions of groups only where `groups` asks for them. */
  find(text: string, groups: boolean): Found | null;
  /** Calls `each` with all matches from left to right. */
  findAll(text: string, groups: boolean, each: (found: Found) => void): void;
}

export function finderFor(pattern: string, flags: string): Finder {
  const compiled = compileRegexp(pattern, flags);
  const search = (
    text: string,
    groups: boolean,
    all: boolean,
    each: (found: Found) => void,
  ): void => {
    const searcher = compiled.takeSearcher();
    drained(searcher.inSteps(text, { groups, all, each }));
    compiled.giveBack(searcher);
  };
  return {
    compiled,
    matches: (data, start, end) => {
      const matcher = compiled.takeMatcher();
      const found = drained(matcher.inSteps(data, start, end));
      compiled.giveBack(matcher);
      return found;
    },
    find: (text, groups) => {
      let first: Found | null = null;
      search(text, groups, false, (found) => {
        first = found;
      });
      return first;
    },
    findAll: (text, groups, each) => search(text, groups, true, each),
  };
}
