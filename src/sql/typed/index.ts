/**
 * Exports the parts that the folders of sql/ share: families of types, bound trees, evaluated
 * columns, name resolution, comparison of values, nested values as text, and coercion rules.
 */

export {
  type Bound,
  type BoundColumn,
  type BoundLiteral,
  type CastMode,
  callsProgram,
  canFail,
  childrenOf,
  flagsOf,
  type RowFunction,
} from './bound.ts';
export {
  coerce,
  coerceToCommon,
  commonType,
  comparedNanos,
  describe,
  formsOf,
  isTemporal,
  literal,
  locationOf,
  nanosPerUnit,
  sameForm,
  settle,
} from './coerce.ts';
export {
  asExactNumbers,
  asSafeNumbers,
  asSigned64,
  BOOL,
  type BytesColumn,
  bothValid,
  type Column,
  columnOf,
  constantColumn,
  FALSE,
  type ListColumn,
  maskNulls,
  type NumberArray,
  type NumberColumn,
  reader,
  TRUE,
  truthColumn,
  UNKNOWN,
  type Validity,
  type Value,
  validityOf,
  type WideColumn,
} from './column.ts';
export { findIn, nearestName, resolveName, VIRTUAL_COLUMNS, virtualColumn } from './names.ts';
export { compareExact, compareNumbers, compareValues, holds, MIRRORED } from './order.ts';
export { dayOf, type Times, timesOf } from './times.ts';
export {
  BINARY,
  clockZoneOf,
  decimalScale,
  elementType,
  type Family,
  FLOAT64,
  familyOf,
  INT64,
  integerRange,
  isNumeric,
  isOrdered,
  isWide,
  listOf,
  roundToFloat,
  timeUnitOf,
  timeZoneOf,
  typeText,
  UINT64,
  UTF8,
} from './types.ts';
export { exactText } from './value-text.ts';
