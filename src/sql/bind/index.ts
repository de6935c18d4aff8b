/** Binds a syntax tree to a schema: finds columns, decides types, folds constants. */

export { bindExpression, bindPredicate, bindTerms, prepareLists } from './bind.ts';
export { bindValue } from './bind-value.ts';
