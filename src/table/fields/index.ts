/**
 * Field ids and paths: finds columns by identity through renames, and adapts batches of older schemas.
 */

export { type Adapter, adapterBetween, adapterOf } from './adapt.ts';
export { checkName, refuseTwins } from './column-names.ts';
export { assignFieldIds, fieldTree, type IdentifiedField, listFieldIds } from './field-ids.ts';
export {
  changeNode,
  type FieldPlace,
  findField,
  leafOf,
  nodeWithChildren,
  requireOpen,
} from './field-paths.ts';
export { canWiden, isListLike, listsFit, withChildren } from './widen.ts';
