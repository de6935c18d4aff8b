/**
 * Estimates how many rows a plan gives, from the numbers of rows of its tables and the forms of its
 * conditions. `rowsOf` estimates the rows of a plan, `differentOf` and `differentKeys` the
 * different values of keys, and `joinedRowsOf` the pairs of rows of two plans that agree in them.
 */
import type { Expression } from '../../sql/index.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { conjuncts } from './trees.ts';

/** The share of rows that a condition is taken to leave, where its form tells no other. */
const SHARE = 0.3;
const OF_EQUATION = 0.02;
/** Rounds that a recursive query is taken to have, and the rows of one. */
const ROUNDS = 100;
/** Items that a list is taken to have, and values of a series. */
const ITEMS = 5;
const VALUES = 1000;

export function rowsOf(plan: Plan): number {
  switch (plan.kind) {
    case 'scan': {
      const { rowCount } = plan.source;
      const rows = Math.max(Math.min(1, rowCount), rowCount * shareOf(plan.filters));
      return Math.min(rows, plan.limit ?? Number.MAX_SAFE_INTEGER);
    }
    case 'filter':
      return rowsOf(plan.input) * shareOf(conjuncts(plan.condition));
    case 'join': {
      const rows =
        joinedRowsOf(plan.left, plan.right, plan.different ?? differentIn(plan)) *
        shareOf(conjuncts(plan.condition));
      if (plan.join === 'inner') return rows;
      if (plan.join === 'semi') return Math.min(rows, rowsOf(plan.left));
      if (plan.join === 'anti') return rowsOf(plan.left) * SHARE;
      const least = plan.join === 'full' ? rowsOf(plan.right) : 0;
      return Math.max(rows, rowsOf(plan.left), least);
    }
    case 'mark':
      return rowsOf(plan.left);
    case 'group':
      return plan.keys.length === 0 ? 1 : rowsOf(plan.input) * SHARE * (plan.sets?.length ?? 1);
    case 'limit':
      return Math.min(rowsOf(plan.input), plan.limit);
    case 'union':
      return plan.inputs.reduce((sum, input) => sum + rowsOf(input), 0);
    case 'single':
      return 1;
    case 'values':
      return plan.rows.length;
    case 'recursive':
      return rowsOf(plan.base) * ROUNDS;
    case 'working':
      return ROUNDS;
    case 'expand':
      return rowsOf(plan.input) * (plan.of === 'list' ? ITEMS : VALUES);
    default:
      return rowsOf(plan.input);
  }
}

const shareOf = (terms: readonly Expression[]): number =>
  terms.reduce((share, term) => share * shareOfTerm(term), 1);

function shareOfTerm(term: Expression): number {
  switch (term.kind) {
    case 'binary':
      return term.op === '=' ? OF_EQUATION : term.op === '<>' ? 1 : SHARE;
    case 'in':
      return term.negated ? 1 : Math.min(SHARE, term.items.length * OF_EQUATION);
    case 'is':
      return term.test === 'null' && term.negated ? 1 : OF_EQUATION * 5;
    case 'and':
      return shareOf(term.args);
    case 'or':
      return Math.min(
        1,
        term.args.reduce((sum, arg) => sum + shareOfTerm(arg), 0),
      );
    default:
      return SHARE;
  }
}

/**
 * Pairs of rows with equal keys. Each row of the larger side is taken to have one partner among all
 * rows of the other's table.
 * @param different how many different values the keys have; undefined where there are no keys
 */
export const joinedRowsOf = (left: Plan, right: Plan, different: number | undefined): number =>
  (rowsOf(left) * rowsOf(right)) / Math.max(1, different ?? 1);

/**
 * At most how many different values the keys of a join have together: as many as their numbers
 * multiplied, and as there are rows in the table of either side.
 */
export function differentKeys(
  left: Plan,
  right: Plan,
  keys: readonly { readonly key: JoinStep['keys'][number]; readonly different: number }[],
): number {
  const ofKeys = keys.map(({ key, different }) => ({
    left: differentOf(left, key.left),
    right: differentOf(right, key.right),
    different,
  }));
  const product = ofKeys.reduce(
    (all, key) => all * Math.max(1, Math.min(key.left, key.right, key.different)),
    1,
  );
  return Math.min(
    product,
    Math.max(...ofKeys.map((key) => key.left)),
    Math.max(...ofKeys.map((key) => key.right)),
  );
}

const differentIn = ({ left, right, keys }: JoinStep): number | undefined =>
  keys.length === 0
    ? undefined
    : differentKeys(
        left,
        right,
        keys.map((key) => ({ key, different: Number.MAX_SAFE_INTEGER })),
      );

/** At most how many different values a key has: as many as there are rows in its table. */
export function differentOf(plan: Plan, key: Expression): number {
  if (key.kind !== 'column') return rowsOf(plan);
  const [name = ''] = key.path;
  switch (plan.kind) {
    case 'scan':
      return plan.source.rowCount;
    case 'filter':
    case 'sort':
    case 'window':
    case 'checked':
      return differentOf(plan.input, key);
    case 'project': {
      const at = plan.schema.fields.findIndex((field) => field.name === name);
      const value = plan.values[at];
      return value === undefined ? rowsOf(plan) : differentOf(plan.input, value);
    }
    case 'mark':
      return differentOf(plan.left, key);
    case 'join': {
      const isLeft = plan.left.schema.fields.some((field) => field.name === name);
      return differentOf(isLeft ? plan.left : plan.right, key);
    }
    default:
      return rowsOf(plan);
  }
}
