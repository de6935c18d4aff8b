/**
 * Goals of rows. `{times: 2}` is reached where ours takes at most half of the faster of LanceDB's two
 * connections; `against` names another side. `{atMost: 40}` is a bound on our median; `of: 'cpu'`
 * puts it on processor time.
 */

const LANCE = ['lancedb', 'lancedb-ns'];

/** The figure that a goal compares ours with, or undefined where that side did not run. */
export function against(sides, name = 'lancedb') {
  const names = name === 'lancedb' ? LANCE : [name];
  const found = names.map((side) => sides[side]).filter((side) => side?.median !== undefined);
  return found.toSorted((a, b) => a.median - b.median)[0];
}

/** True, false, or null where the other side is missing. */
export function reached(sides, goal) {
  const member = goal.of ?? 'median';
  if (goal.atMost !== undefined) return sides.ours[member] <= goal.atMost;
  const other = against(sides, goal.against);
  return other === undefined ? null : other[member] >= goal.times * sides.ours[member];
}

export function describe(goal, unit) {
  const what = goal.of === 'cpu' ? ' CPU' : '';
  if (goal.atMost !== undefined) return `<= ${goal.atMost} ${unit}${what}`;
  const name = goal.against ?? 'lancedb';
  return `${Number(goal.times.toFixed(2))}x ${name}${what}`;
}

/** A workload's goals as a list; a bare number is a ratio to LanceDB. */
export function goalsOf({ goal, goals }) {
  if (goals !== undefined) return goals;
  return goal === undefined ? [] : [{ times: goal }];
}
