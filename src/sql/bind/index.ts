/**
 * Exports the binder, which turns a syntax tree into a typed tree for a schema: it resolves
 * columns, checks types and computes constants.
 */

export { bindExpression, bindPredicate, bindTerms, prepareLists } from './bind.ts';
export { isBuiltIn } from './bind-call.ts';
export { bindValue } from './bind-value.ts';
