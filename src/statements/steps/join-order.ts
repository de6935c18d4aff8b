/**
 * `joinsInOrder` reorders inner joins of three or more plans so that few rows are joined. It
 * repeatedly joins the two plans whose join is estimated to give the fewest rows. Two plans of
 * several rows without an equation between them are joined only when no other pair is left. A left
 * join below the inner joins is carried out after all of them, if no condition of the inner joins
 * above it reads the columns that it adds.
 */
import type { Expression } from '../../sql/index.ts';
import { joinedRowsOf, rowsOf } from './estimates.ts';
import { withInputs } from './inputs.ts';
import { equationOf, isWithin, joinOf, keyOf } from './joins.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { columnsIn, conjuncts } from './trees.ts';

export function joinsInOrder(plan: Plan): Plan {
  if (plan.kind !== 'join' || plan.join !== 'inner') return withInputs(plan, joinsInOrder);
  const parts: Parts = { plans: [], terms: [], outer: [] };
  collect(plan, [], parts);
  if (parts.plans.length + parts.outer.length < 3) return withInputs(plan, joinsInOrder);
  const inner = ordered(parts.plans.map(joinsInOrder), parts.terms);
  return parts.outer.reduceRight<Plan>(
    (left, step) => joinOf('left', left, joinsInOrder(step.right), termsOf(step)),
    inner,
  );
}

/** What inner joins consist of; the left joins between them from the uppermost down. */
interface Parts {
  readonly plans: Plan[];
  readonly terms: Expression[];
  readonly outer: JoinStep[];
}

/** @param above conditions of the inner joins above */
function collect(plan: Plan, above: readonly Expression[], parts: Parts): void {
  if (plan.kind === 'join' && plan.join === 'inner') {
    const own = termsOf(plan);
    parts.terms.push(...own);
    for (const side of [plan.left, plan.right]) collect(side, [...above, ...own], parts);
  } else if (plan.kind === 'join' && plan.join === 'left' && !reads(above, plan.right)) {
    parts.outer.push(plan);
    collect(plan.left, above, parts);
  } else parts.plans.push(plan);
}

function reads(terms: readonly Expression[], plan: Plan): boolean {
  const names = namesOf(plan);
  return [...columnsIn(terms)].some((name) => names.has(name));
}

const termsOf = ({ keys, condition }: JoinStep): Expression[] => [
  ...keys.map(equationOf),
  ...conjuncts(condition),
];

/** A plan that is still to be joined. */
interface Side {
  readonly plan: Plan;
  readonly names: ReadonlySet<string>;
}

interface Pair {
  readonly sides: readonly [Side, Side];
  /** Whether there is an equation between the two, or one of them has one row. */
  readonly isBound: boolean;
  readonly rows: number;
}

const sideOf = (plan: Plan): Side => ({ plan, names: namesOf(plan) });

function ordered(plans: readonly Plan[], terms: readonly Expression[]): Plan {
  let sides = plans.map(sideOf);
  let open = [...terms];
  let pairs = sides.flatMap((one, at) => sides.slice(at + 1).map((two) => pairOf(one, two, open)));
  while (sides.length > 1) {
    const best = pairs.reduce((found, pair) => (isBetter(pair, found) ? pair : found));
    const [a, b] = best.sides;
    const names = new Set([...a.names, ...b.names]);
    // Constants are conditions of the last join, as those that read all plans are.
    const isLast = sides.length === 2;
    const own = open.filter((term) => isLast || (hasColumns(term) && isWithin(term, names)));
    open = open.filter((term) => !own.includes(term));
    const joined = sideOf(joinOf('inner', a.plan, b.plan, own));
    const others = sides.filter((side) => side !== a && side !== b);
    pairs = [
      ...pairs.filter(({ sides: [one, two] }) => others.includes(one) && others.includes(two)),
      ...others.map((other) => pairOf(joined, other, open)),
    ];
    sides = [...others, joined];
  }
  return (sides[0] as Side).plan;
}

const hasColumns = (term: Expression): boolean => columnsIn([term]).size > 0;

function pairOf(one: Side, two: Side, terms: readonly Expression[]): Pair {
  const keys = terms.flatMap((term) => keyOf(term, one.names, two.names) ?? []);
  const isBound = keys.length > 0 || Math.min(rowsOf(one.plan), rowsOf(two.plan)) <= 1;
  return { sides: [one, two], isBound, rows: joinedRowsOf(one.plan, two.plan, keys) };
}

/** Of two that give as many rows, the one that is written first. */
const isBetter = (one: Pair, other: Pair): boolean =>
  one.isBound === other.isBound ? one.rows < other.rows : one.isBound;
