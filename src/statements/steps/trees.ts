/**
 * Searches, rewrites and builds trees of expressions for the planner. `rewritten`, `visit` and
 * `columnsIn` do not look into the query of a subquery, and the first two pass over literals.
 * `conjuncts` and `joined` take AND apart and build it, `columnTree` and `callTree` build columns
 * and calls, `isComparison` recognises a comparison of one column with constants, and `asWritten`
 * gives columns the names of the statement. `textOf` returns equal texts for equal trees, by which
 * the planner finds repeated expressions.
 */
import { type AggregateExpression, type Expression, formatExpression } from '../../sql/index.ts';

/**
 * The tree with each of its parts replaced by what `change` makes of it, or the tree itself where
 * nothing is. Parts of what is replaced are not looked at, nor are those of queries in place of
 * values, nor literals: lists may have many.
 */
export function rewritten(
  tree: Expression,
  change: (part: Expression) => Expression | undefined,
): Expression {
  if (LITERALS.has(tree.kind)) return tree;
  const changed = change(tree);
  if (changed !== undefined) return changed;
  // Names in a query in place of a value are its own.
  if (tree.kind === 'subquery') {
    return tree.arg === undefined ? tree : { ...tree, arg: rewritten(tree.arg, change) };
  }
  return parts(tree, (part) => rewritten(part, change)) as Expression;
}

const LITERALS: ReadonlySet<string> = new Set(['number', 'string', 'boolean', 'null', 'bytes']);

/**
 * A copy whose expressions, however deep in lists and plain members, are what `change` makes of
 * them; the value itself where all stay as they are.
 */
function parts(value: object, change: (part: Expression) => Expression): object {
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const part = partOf(member, change);
    if (part === member) continue;
    copy ??= { ...value };
    copy[name] = part;
  }
  return copy ?? value;
}

function listParts(
  items: readonly unknown[],
  change: (part: Expression) => Expression,
): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let at = 0; at < items.length; at++) {
    const part = partOf(items[at], change);
    if (part === items[at]) continue;
    copy ??= [...items];
    copy[at] = part;
  }
  return copy ?? items;
}

function partOf(value: unknown, change: (part: Expression) => Expression): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return listParts(value, change);
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

/** Whether a term compares one column with constants. */
export function isComparison(term: Expression): boolean {
  const isColumn = (tree: Expression): boolean => tree.kind === 'column' && tree.path.length === 1;
  const isConstant = (tree: Expression): boolean => columnsIn([tree]).size === 0;
  switch (term.kind) {
    case 'binary':
      return isColumn(term.left)
        ? isConstant(term.right)
        : isConstant(term.left) && isColumn(term.right);
    case 'in':
      return isColumn(term.arg) && term.items.every(isConstant);
    case 'between':
      return isColumn(term.arg) && isConstant(term.low) && isConstant(term.high);
    default:
      return false;
  }
}

/** A call of an aggregate or a window function, without arguments where none are given. */
export const callTree = (
  name: string,
  more: Partial<AggregateExpression> = {},
): AggregateExpression => ({
  ...{ kind: 'aggregate', name, args: [], star: false, distinct: false, orderBy: [] },
  ...more,
});

/** The call of count(*). */
export const COUNT_ROWS: AggregateExpression = callTree('count', { star: true });

const texts = new WeakMap<Expression, string>();

/** A text that is the same for trees that mean the same. It is kept as long as the tree. */
export function textOf(tree: Expression): string {
  const known = texts.get(tree);
  if (known !== undefined) return known;
  const text = formatExpression(tree);
  texts.set(tree, text);
  return text;
}
