/** Every case, in the order in which they are run. */
import type { ConformanceCase } from './case.ts';
import { COLUMN_CASES } from './cases/columns.ts';
import { ENTRY_CASES } from './cases/entries.ts';
import { INDEX_CASES } from './cases/indexes.ts';
import { NAMESPACE_CASES } from './cases/namespaces.ts';
import { QUERY_CASES } from './cases/queries.ts';
import { ROW_CASES } from './cases/rows.ts';
import { TABLE_CASES } from './cases/tables.ts';
import { VERSION_CASES } from './cases/versions.ts';

export const CASES: readonly ConformanceCase[] = [
  ...NAMESPACE_CASES,
  ...TABLE_CASES,
  ...ENTRY_CASES,
  ...ROW_CASES,
  ...QUERY_CASES,
  ...COLUMN_CASES,
  ...VERSION_CASES,
  ...INDEX_CASES,
];

export const titleOf = ({ operation, name }: ConformanceCase): string => `${operation}: ${name}`;

/** Whether the names have the case, or its whole operation. */
export const isNamed = (one: ConformanceCase, names: ReadonlySet<string>): boolean =>
  names.has(one.operation) || names.has(titleOf(one));
