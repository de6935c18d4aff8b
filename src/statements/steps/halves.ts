/**
 * `halvesBelow` moves semi and anti joins, such as those of IN and EXISTS, below inner and left
 * joins. It moves such a join to the input of the other join that has all its left columns; below a
 * left join, only to the left input. So fewer rows are joined afterwards. The join stays where it
 * is if that input is estimated to have more rows than the other join gives.
 */
import { rowsOf } from './estimates.ts';
import { withInputs } from './inputs.ts';
import { isWithin } from './joins.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { isHalf, joinSchema } from './steps.ts';

export function halvesBelow(plan: Plan): Plan {
  const below = withInputs(plan, halvesBelow);
  if (below.kind !== 'join' || !isHalf(below.join)) return below;
  return movedOnto(below.left, below) ?? below;
}

/** The plan without the rows that a half join leaves out, which is put further below; undefined where it cannot. */
function movedOnto(plan: Plan, half: JoinStep): Plan | undefined {
  if (plan.kind === 'filter') {
    const input = movedOnto(plan.input, half);
    return input && { ...plan, input };
  }
  if (plan.kind !== 'join' || plan.join === 'full') return undefined;
  const rows = rowsOf(plan);
  for (const side of plan.join === 'inner' ? (['left', 'right'] as const) : (['left'] as const)) {
    const input = plan[side];
    if (!isOf(half, input) || rowsOf(input) > rows) continue;
    const moved: Plan = movedOnto(input, half) ?? {
      ...half,
      left: input,
      schema: joinSchema(half.join, input, half.right),
    };
    return { ...plan, [side]: moved };
  }
  return undefined;
}

/** Whether a half join reads columns of this plan alone on its left side. */
function isOf({ keys, condition, right }: JoinStep, plan: Plan): boolean {
  const own = namesOf(plan);
  const both = new Set([...own, ...namesOf(right)]);
  return (
    keys.every(({ left }) => isWithin(left, own)) &&
    (condition === undefined || isWithin(condition, both))
  );
}
