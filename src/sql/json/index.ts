/**
 * Exports the SQL functions of texts that hold JSON (`JSON_FUNCTIONS`, `JSON_LISTS` for paths of
 * several values), the parser of the paths that they take (`jsonPath`), and whether a path is of
 * several values (`isOfSeveral`). The JSON is read from the text itself: numbers keep their digits,
 * and of two members with one name the first counts.
 */

export { JSON_FUNCTIONS, JSON_LISTS } from './json-functions.ts';
export { isOfSeveral, jsonPath } from './json-path.ts';
