/**
 * `groupsNarrowed` leaves rows out before they are grouped, if an inner or left join above asks
 * only for the groups of few keys. It puts a semi join with the keys of the join's other side below
 * the group. Joins of this kind come from subqueries that sum up a whole table for a few rows of
 * the query around them. The other side is then read twice, so this is done only if its rows, and
 * those of its tables, are at most a quarter of the group's.
 */
import { rowsOf } from './estimates.ts';
import { halvesBelow } from './halves.ts';
import { inputsOf, withInputs } from './inputs.ts';
import { equationOf, joinOf } from './joins.ts';
import type { GroupStep, JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { projected } from './steps.ts';
import { columnTree } from './trees.ts';

/** How many times as many rows the group has to have. */
const TIMES = 4;

export function groupsNarrowed(plan: Plan): Plan {
  const below = withInputs(plan, groupsNarrowed);
  if (below.kind !== 'join' || (below.join !== 'inner' && below.join !== 'left')) return below;
  const { left, right, keys } = below;
  const ofRight = narrowed(right, left, keys);
  if (ofRight !== undefined) return { ...below, right: ofRight };
  const turned = keys.map((key) => ({ left: key.right, right: key.left }));
  const ofLeft = below.join === 'inner' ? narrowed(left, right, turned) : undefined;
  return ofLeft === undefined ? below : { ...below, left: ofLeft };
}

/** @param keys of the other side and of the plan; undefined where nothing is to be left out */
function narrowed(plan: Plan, other: Plan, keys: JoinStep['keys']): Plan | undefined {
  switch (plan.kind) {
    case 'filter': {
      const input = narrowed(plan.input, other, keys);
      return input && { ...plan, input };
    }
    case 'project': {
      const own = keys.flatMap(({ left, right }) => {
        const at = plan.schema.fields.findIndex(({ name }) => name === plainName(right));
        const value = plan.values[at];
        return value === undefined ? [] : [{ left, right: value }];
      });
      const input = narrowed(plan.input, other, own);
      return input && { ...plan, input };
    }
    case 'group':
      return plan.sets === undefined ? narrowedGroup(plan, other, keys) : undefined;
    default:
      return undefined;
  }
}

function narrowedGroup(
  plan: GroupStep,
  other: Plan,
  keys: JoinStep['keys'],
): GroupStep | undefined {
  const { input } = plan;
  const names = namesOf(input);
  const equations = keys.flatMap(({ left, right }) => {
    const theirs = plainName(left);
    const at = plan.schema.fields.findIndex(({ name }) => name === plainName(right));
    const key = plan.keys[at];
    if (theirs === undefined || key === undefined || names.has(theirs)) return [];
    return [{ theirs, left: key, right: columnTree(theirs) }];
  });
  if (equations.length === 0) return undefined;
  if (TIMES * rowsOf(other) > rowsOf(input) || TIMES * rowsRead(other) > rowsRead(input)) {
    return undefined;
  }
  const columns = [...new Set(equations.map(({ theirs }) => theirs))].map((name) => ({
    name,
    value: columnTree(name),
  }));
  const rows = joinOf('semi', input, projected(other, columns), equations.map(equationOf));
  return { ...plan, input: halvesBelow(rows) };
}

const plainName = (tree: JoinStep['keys'][number]['left']): string | undefined =>
  tree.kind === 'column' && tree.path.length === 1 ? tree.path[0] : undefined;

/** How many rows the tables of a plan have, or make. */
function rowsRead(plan: Plan): number {
  if (plan.kind === 'scan') return plan.source.rowCount;
  const inputs = inputsOf(plan);
  return inputs.length === 0
    ? rowsOf(plan)
    : inputs.reduce((sum, input) => sum + rowsRead(input), 0);
}
