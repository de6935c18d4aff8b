/**
 * Exports the binder, which turns a syntax tree into a typed tree for a schema: it resolves
 * columns, checks types and computes constants. `bindTerms` and `prepareLists` do so for long
 * conditions in steps. `bindValue` binds a value for a column; `isBuiltIn` tells whether a name
 * belongs to a built-in function, `checkFunctionName` refuses names of no function, and
 * `FUNCTION_NAMES` lists the built-in ones.
 */

export { bindExpression, bindPredicate, bindTerms, prepareLists } from './bind.ts';
export { checkFunctionName, FUNCTION_NAMES, isBuiltIn } from './bind-call.ts';
export { bindValue } from './bind-value.ts';
