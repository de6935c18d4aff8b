/**
 * `joinsInOrder` reorders inner joins of three or more plans so that few rows are joined. It
 * repeatedly joins the two plans whose join is estimated to give the fewest rows. Two plans of
 * several rows without an equation between them are joined only when no other pair is left. Two
 * columns that are both equal to a third one count as equal (equal-columns.ts). A left join below
 * the inner joins is carried out after all of them, if no condition of the inner joins above it
 * reads the columns that it adds.
 */
import type { Expression } from '../../sql/index.ts';
import { type EqualColumns, equalColumns, equationsWithin, keysBetween } from './equal-columns.ts';
import { differentKeys, joinedRowsOf, rowsOf } from './estimates.ts';
import { withInputs } from './inputs.ts';
import { equationOf, isWithin, joinOf } from './joins.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { pushed } from './pushed.ts';
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
  /** The equations of sets of equal columns; those of other terms come besides. */
  readonly keys: JoinStep['keys'];
  /** At most how many different values the keys have. */
  readonly different: number | undefined;
  /** Whether there is an equation between the two, or one of them has one row. */
  readonly isBound: boolean;
  readonly rows: number;
}

const sideOf = (plan: Plan): Side => ({ plan, names: namesOf(plan) });

function ordered(plans: readonly Plan[], all: readonly Expression[]): Plan {
  const { sets, others } = equalColumns(plans, all);
  let sides = plans.map((plan) => sideOf(pushed(plan, equationsWithin(plan, sets))));
  let open = [...others];
  let pairs = sides.flatMap((one, at) =>
    sides.slice(at + 1).map((two) => pairOf(one, two, sets, open)),
  );
  while (sides.length > 1) {
    const best = pairs.reduce((found, pair) => (isBetter(pair, found) ? pair : found));
    const [a, b] = best.sides;
    const names = new Set([...a.names, ...b.names]);
    // Constants are conditions of the last join, as those that read all plans are.
    const isLast = sides.length === 2;
    const own = open.filter((term) => isLast || (hasColumns(term) && isWithin(term, names)));
    open = open.filter((term) => !own.includes(term));
    const step = joinOf('inner', a.plan, b.plan, own, best.keys);
    const joined = sideOf(
      best.different === undefined ? step : { ...step, different: best.different },
    );
    const rest = sides.filter((side) => side !== a && side !== b);
    pairs = [
      ...pairs.filter(({ sides: [one, two] }) => rest.includes(one) && rest.includes(two)),
      ...rest.map((other) => pairOf(joined, other, sets, open)),
    ];
    sides = [...rest, joined];
  }
  return (sides[0] as Side).plan;
}

const hasColumns = (term: Expression): boolean => columnsIn([term]).size > 0;

function pairOf(
  one: Side,
  two: Side,
  sets: readonly EqualColumns[],
  terms: readonly Expression[],
): Pair {
  const keys = keysBetween(one.names, two.names, sets, terms);
  const isBound = keys.length > 0 || Math.min(rowsOf(one.plan), rowsOf(two.plan)) <= 1;
  const different = keys.length === 0 ? undefined : differentKeys(one.plan, two.plan, keys);
  return {
    sides: [one, two],
    keys: keys.flatMap(({ key, isOfSet }) => (isOfSet ? [key] : [])),
    different,
    isBound,
    rows: joinedRowsOf(one.plan, two.plan, different),
  };
}

/** Of two that give as many rows, the one that is written first. */
const isBetter = (one: Pair, other: Pair): boolean =>
  one.isBound === other.isBound ? one.rows < other.rows : one.isBound;
