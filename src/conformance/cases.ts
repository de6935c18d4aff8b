/**
 * Lists the conformance cases in the order in which they run (`CASES`). `titleOf` formats the title
 * of a case, and `isNamed` tells whether a set of names includes the case or its operation.
 */

import {
  COLUMN_CASES,
  DERIVED_CASES,
  ENTRY_CASES,
  INDEX_CASES,
  NAMESPACE_CASES,
  QUERY_CASES,
  ROW_CASES,
  TABLE_CASES,
  VERSION_CASES,
} from './cases/index.ts';
import type { ConformanceCase } from './kit/index.ts';

export const CASES: readonly ConformanceCase[] = [
  ...NAMESPACE_CASES,
  ...TABLE_CASES,
  ...ENTRY_CASES,
  ...ROW_CASES,
  ...QUERY_CASES,
  ...COLUMN_CASES,
  ...VERSION_CASES,
  ...INDEX_CASES,
  ...DERIVED_CASES,
];

export const titleOf = ({ operation, name }: ConformanceCase): string => `${operation}: ${name}`;

/** Whether the names have the case, or its whole operation. */
export const isNamed = (one: ConformanceCase, names: ReadonlySet<string>): boolean =>
  names.has(one.operation) || names.has(titleOf(one));
