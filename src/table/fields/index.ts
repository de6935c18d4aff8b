/**
 * Exports the handling of columns by field id: assigning ids, checking names, finding fields by
 * path, adapting columns of older schemas, widening and narrowing types, computed columns.
 */

export {
  type Adapter,
  adapterBetween,
  adapterOf,
  type StoredField,
  storedTree,
} from './adapt.ts';
export { checkName, checkWidth, refuseTwins } from './column-names.ts';
export {
  type ComputedColumn,
  computedColumns,
  computedMetadata,
  keptMetadata,
  plainMetadata,
  refuseChange,
  refuseDrop,
  refuseMetadata,
  refuseValue,
  staleColumns,
} from './computed-columns.ts';
export { checkDeclared, declaredColumn, withoutValues, withStale } from './declare-computed.ts';
export { assignFieldIds, fieldTree, type IdentifiedField, listFieldIds } from './field-ids.ts';
export {
  changeNode,
  type FieldPlace,
  fieldMetadata,
  findField,
  leafOf,
  noColumn,
  nodeWithChildren,
  requireOpen,
  structPath,
} from './field-paths.ts';
export { canNarrow, type Evaluate, Misfit, misfitError, Narrowing } from './narrow.ts';
export { canWiden, isListLike, listsFit, withChildren } from './widen.ts';
