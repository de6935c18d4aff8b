/** Exports the reading of JSON text as rows: one object per line, or one array of objects. */

export { parseExactJson } from './exact-json.ts';
export { type JsonRow, jsonArray, jsonLines } from './json-rows.ts';
export { jsonRows } from './json-source.ts';
