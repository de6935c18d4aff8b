/**
 * Takes conditions of OR apart for joins. `withoutShared` draws out the terms that all alternatives
 * have, so that equations among them become keys. `impliedBy` gives the conditions on single
 * columns that follow from all alternatives, so that they can move into the tables below. Terms
 * that may fail stay where they are, since what stands before them may rule rows out.
 */
import type { Expression } from '../../sql/index.ts';
import { columnsIn, conjuncts, isComparison, joined, textOf } from './trees.ts';

/**
 * Terms that are true together where `term` is: what all of its alternatives have, and the rest.
 * @param canFail whether some row may make a term throw
 */
export function withoutShared(
  term: Expression,
  canFail: (term: Expression) => boolean,
): readonly Expression[] {
  if (term.kind !== 'or') return [term];
  const alternatives = term.args.map(conjuncts);
  const [first = [], ...others] = alternatives.map(
    (terms) => new Map(terms.map((one) => [textOf(one), one])),
  );
  const shared = new Map(
    [...first].filter(
      ([text, one]) => others.every((alternative) => alternative.has(text)) && !canFail(one),
    ),
  );
  if (shared.size === 0) return [term];
  const rests = alternatives.map((terms) =>
    joined(terms.filter((one) => !shared.has(textOf(one)))),
  );
  const left = rests.filter((rest) => rest !== undefined);
  // An alternative of nothing else makes the others needless.
  return [...shared.values(), ...(left.length < rests.length ? [] : [anyOf(left)])];
}

/**
 * For each column that every alternative compares with constants: that one of these comparisons is
 * true.
 * @param canFail as for `withoutShared`
 */
export function impliedBy(
  term: Expression,
  canFail: (term: Expression) => boolean,
): readonly Expression[] {
  if (term.kind !== 'or') return [];
  const alternatives = term.args.map((arg) =>
    byColumn(conjuncts(arg).filter((one) => !canFail(one))),
  );
  const [first, ...others] = alternatives;
  if (first === undefined) return [];
  return [...first.keys()].flatMap((name): Expression[] => {
    if (!others.every((alternative) => alternative.has(name))) return [];
    const args = alternatives.flatMap((alternative) => joined(alternative.get(name) ?? []) ?? []);
    return [anyOf(args)];
  });
}

/** That one of the terms is true, each of which is asked once. */
function anyOf(terms: readonly Expression[]): Expression {
  const args = [...new Map(terms.map((one) => [textOf(one), one])).values()];
  const [only] = args;
  return args.length === 1 && only !== undefined ? only : { kind: 'or', args };
}

function byColumn(terms: readonly Expression[]): Map<string, Expression[]> {
  const found = new Map<string, Expression[]>();
  for (const term of terms) {
    if (!isComparison(term)) continue;
    const [name = ''] = columnsIn([term]);
    found.set(name, [...(found.get(name) ?? []), term]);
  }
  return found;
}
