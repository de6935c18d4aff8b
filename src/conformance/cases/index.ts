/** Exports the conformance cases, one list for each part of the protocol. */

export { COLUMN_CASES } from './columns.ts';
export { DERIVED_CASES } from './derived.ts';
export { ENTRY_CASES } from './entries.ts';
export { INDEX_CASES } from './indexes.ts';
export { NAMESPACE_CASES } from './namespaces.ts';
export { QUERY_CASES } from './queries.ts';
export { ROW_CASES } from './rows.ts';
export { TABLE_CASES } from './tables.ts';
export { VERSION_CASES } from './versions.ts';
