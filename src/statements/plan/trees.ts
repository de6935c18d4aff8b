/**
 * Walks over trees of expressions for the planner: `rewritten` replaces parts, `visit` looks at
 * them, `columnsIn` lists the columns that are read, `conjuncts` and `joined` split and combine
 * terms of AND.
 */
import { type Expression, formatExpression } from '../../sql/index.ts';

/**
 * The tree with each of its parts replaced by what `change` makes of it. Parts of what is replaced
 * are not looked at, nor are those of queries in place of values.
 */
export function rewritten(
  tree: Expression,
  change: (part: Expression) => Expression | undefined,
): Expression {
  const changed = change(tree);
  if (changed !== undefined) return changed;
  // Names in a query in place of a value are its own.
  if (tree.kind === 'subquery') {
    return tree.arg === undefined ? tree : { ...tree, arg: rewritten(tree.arg, change) };
  }
  return parts(tree, (part) => rewritten(part, change)) as Expression;
}

/**
 * A copy whose expressions, however deep in lists and plain members, are what `change` makes of
 * them.
 */
function parts(value: object, change: (part: Expression) => Expression): object {
  if (Array.isArray(value)) {
    return value.map((item) => partOf(item, change));
  }
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) copy[name] = partOf(member, change);
  return copy;
}

function partOf(value: unknown, change: (part: Expression) => Expression): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isExpression(value) ? change(value) : parts(value, change);
}

const isExpression = (value: object): value is Expression => 'kind' in value;

/** Calls `see` with the tree and its parts, where it asks for them. */
export function visit(tree: Expression, see: (part: Expression) => boolean): void {
  rewritten(tree, (part) => (see(part) ? undefined : part));
}

/** Names of the columns that a tree reads. */
export function columnsIn(trees: Iterable<Expression>): Set<string> {
  const names = new Set<string>();
  for (const tree of trees) {
    visit(tree, (part) => {
      if (part.kind === 'column') names.add(part.path[0] ?? '');
      return true;
    });
  }
  return names;
}

/** The terms that have to be true together. */
export function conjuncts(tree: Expression | undefined): Expression[] {
  if (tree === undefined) return [];
  return tree.kind === 'and' ? tree.args.flatMap(conjuncts) : [tree];
}

export function joined(terms: readonly Expression[]): Expression | undefined {
  const [only] = terms;
  return terms.length > 1 ? { kind: 'and', args: terms } : only;
}

/** The tree with names of the statement in place of those of a plan. */
export const asWritten = (
  tree: Expression,
  written: ReadonlyMap<string, readonly string[]>,
): Expression =>
  rewritten(tree, (part) => {
    if (part.kind !== 'column') return undefined;
    const [first = '', ...members] = part.path;
    return { ...part, path: [...(written.get(first) ?? [first]), ...members] };
  });

export const columnTree = (name: string, at?: number): Expression => ({
  kind: 'column',
  path: [name],
  ...(at === undefined ? {} : { at }),
});

/** A text that is the same for trees that mean the same. */
export const textOf = formatExpression;
