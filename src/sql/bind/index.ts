/**
 * Exports the binder, which resolves a syntax tree against a schema: columns, types, folded
 * constants.
 */

export { bindExpression, bindPredicate, bindTerms, prepareLists } from './bind.ts';
export { bindValue } from './bind-value.ts';
