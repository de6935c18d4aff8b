/**
 * Exports the readers and writers of JSON files, of one object per line or one array of objects,
 * `parseExactJson`, and the writing of single cells as JSON, which the CSV writer uses for nested
 * values.
 */

export { parseExactJson } from './exact-json.ts';
export { jsonCell, wordOf } from './json-cells.ts';
export { type JsonRow, jsonArray, jsonLines } from './json-rows.ts';
export { jsonRows } from './json-source.ts';
export { encodeJson, encodeJsonLines } from './json-writer.ts';
