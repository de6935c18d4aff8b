/**
 * `withoutEmpty` finds the steps of a plan that cannot give a row, because of a condition that is
 * never true or of LIMIT 0. It replaces such a step by one that reads nothing and keeps the
 * condition, if there is one, as the reason. It also replaces the steps above that need its rows,
 * such as inner joins, groups by keys and sorts, and drops it from UNION and anti joins.
 */
import type { Expression } from '../../sql/index.ts';
import { neverTogether } from './contradictions.ts';
import { withInputs } from './inputs.ts';
import type { JoinStep, Plan, ValuesStep } from './plan-tree.ts';
import { pairSchema } from './steps.ts';
import { conjuncts } from './trees.ts';

export function withoutEmpty(plan: Plan): Plan {
  const own = ownReason(plan);
  if (own !== undefined) return none(plan, own);
  const changed = withInputs(plan, withoutEmpty);
  switch (changed.kind) {
    case 'scan':
    case 'values':
    case 'working':
    case 'single':
      return changed;
    case 'recursive':
      return isEmpty(changed.base) ? none(changed, changed.base.never) : changed;
    case 'join':
      return joinWithoutEmpty(changed);
    case 'mark':
      return isEmpty(changed.left) ? none(changed, changed.left.never) : changed;
    case 'union': {
      const inputs = changed.inputs.filter((input) => !isEmpty(input));
      const [first] = changed.inputs;
      return inputs.length === 0 && first !== undefined && isEmpty(first)
        ? none(changed, first.never)
        : { ...changed, inputs };
    }
    case 'group':
      // One group there is without rows, too: that of no keys.
      if (changed.keys.length === 0 || changed.sets?.some(({ length }) => length === 0))
        return changed;
      break;
    case 'limit':
      if (changed.limit === 0) return none(changed);
      break;
    default:
  }
  return isEmpty(changed.input) ? none(changed, changed.input.never) : changed;
}

/** The condition for which a step itself has no rows. */
function ownReason(plan: Plan): Expression | undefined {
  if (plan.kind === 'scan') return neverTogether(plan.filters, plan.schema);
  if (plan.kind === 'filter') return neverTogether(conjuncts(plan.condition), plan.schema);
  const needsPairs = plan.kind === 'join' && (plan.join === 'inner' || plan.join === 'semi');
  return needsPairs ? neverPaired(plan) : undefined;
}

const neverPaired = (plan: JoinStep): Expression | undefined =>
  plan.condition === undefined
    ? undefined
    : neverTogether(conjuncts(plan.condition), pairSchema(plan));

function joinWithoutEmpty(plan: JoinStep): Plan {
  const { left, right } = plan;
  const [hasLeft, hasRight] = [!isEmpty(left), !isEmpty(right)];
  const both = hasLeft && hasRight;
  const isNeeded = {
    ...{ inner: both, semi: both, left: hasLeft, anti: hasLeft },
    full: hasLeft || hasRight,
  };
  if (!isNeeded[plan.join]) return none(plan, (isEmpty(left) ? left : (right as Empty)).never);
  if (plan.join === 'anti' && !hasRight) return left;
  const never = neverPaired(plan);
  if (never === undefined) return plan;
  if (plan.join === 'anti') return left;
  const alone: JoinStep = { ...plan, keys: [], condition: { kind: 'boolean', value: false } };
  return plan.join === 'left' ? { ...alone, right: none(right, never) } : alone;
}

type Empty = ValuesStep & { readonly rows: readonly [] };

const isEmpty = (plan: Plan): plan is Empty => plan.kind === 'values' && plan.rows.length === 0;

const none = ({ schema }: Plan, never?: Expression): ValuesStep => ({
  ...{ kind: 'values', rows: [], schema },
  ...(never === undefined ? {} : { never }),
});
