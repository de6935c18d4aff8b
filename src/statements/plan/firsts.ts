/**
 * `firstsOfPartitions` tells windows how many rows of each partition are wanted, so that the rows
 * behind need not be put in order. It changes windows with PARTITION BY and ORDER BY whose only
 * functions are `row_number()`, if the filter right above compares a row number with a constant,
 * such as `<= 3`, and at most 64 rows pass. It returns the plan with `first` in these windows.
 * Windows whose ORDER BY calls functions of the program, or may fail for rows that are left out, keep
 * all rows.
 */
import { compileTree, type Expression } from '../../sql/index.ts';
import { conjuncts, type Plan, type WindowStep, withInputs } from '../steps/index.ts';

/** More rows of a partition are not found without an order of all. */
const MOST = 64;

export function firstsOfPartitions(plan: Plan): Plan {
  const step = withInputs(plan, firstsOfPartitions);
  if (step.kind !== 'filter' || step.input.kind !== 'window') return step;
  const window = step.input;
  const { calls, partitionBy, orderBy } = window;
  if (partitionBy.length === 0 || orderBy.length === 0) return step;
  if (!calls.every(({ name }) => name === 'row_number') || !isSure(window)) return step;
  const terms = conjuncts(step.condition);
  const firsts = terms.map((term) => asked(term, window)).filter((first) => first <= MOST);
  if (firsts.length === 0) return step;
  return { ...step, input: { ...window, first: Math.min(...firsts) } };
}

/** The first key is computed twice, and the others of fewer rows. */
const isSure = ({ orderBy, input }: WindowStep): boolean =>
  orderBy.every(({ value }, at) => {
    const compiled = compileTree(value, input.schema);
    return !compiled.callsProgram && (at === 0 || !compiled.canFail);
  });

/** How many rows of a partition a term is true of at most. */
function asked(term: Expression, window: WindowStep): number {
  const names = window.schema.fields.slice(-window.calls.length).map(({ name }) => name);
  const isNumber = (tree: Expression): boolean =>
    tree.kind === 'column' && tree.path.length === 1 && names.includes(tree.path[0] ?? '');
  if (term.kind === 'between' && !term.negated && isNumber(term.arg)) return countOf(term.high);
  if (term.kind !== 'binary') return Number.POSITIVE_INFINITY;
  const { op, left, right } = term;
  if (isNumber(left) && (op === '<=' || op === '=' || op === '<')) return countOf(right);
  if (isNumber(right) && (op === '>=' || op === '=' || op === '>')) return countOf(left);
  return Number.POSITIVE_INFINITY;
}

const countOf = (tree: Expression): number =>
  tree.kind === 'number' && /^[1-9]\d*$/.test(tree.text)
    ? Number(tree.text)
    : Number.POSITIVE_INFINITY;
