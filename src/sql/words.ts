/**
 * `SQL_WORDS` lists the words of a SELECT for completion: keywords in upper case, the most frequent
 * first, and the sorted names of built-in functions, aggregates and window functions. `reserved`
 * lists the keywords, in lower case, that may need quotes as names.
 */
import { FUNCTION_NAMES } from './bind/index.ts';
import { AGGREGATES, KEYWORDS as NO_NAMES, WINDOW_FUNCTIONS } from './parse/index.ts';

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN ' +
  'DISTINCT JOIN ON USING LEFT RIGHT FULL INNER CROSS UNION ALL EXCEPT INTERSECT VALUES WITH ' +
  'CASE WHEN THEN ELSE END CAST EXISTS TRUE FALSE ASC DESC NULLS FIRST LAST OVER PARTITION FILTER ' +
  'FOR VERSION TAG BRANCH OF';

export const SQL_WORDS: {
  readonly keywords: readonly string[];
  readonly functions: readonly string[];
  readonly reserved: readonly string[];
} = {
  keywords: KEYWORDS.split(' '),
  functions: [...new Set([...FUNCTION_NAMES, ...AGGREGATES, ...WINDOW_FUNCTIONS])].sort(),
  reserved: [...NO_NAMES.keys()],
};
