/**
 * `pushed` filters a plan by conditions, and moves each as far down as it can, for example into the
 * scan of a table. A condition that cannot be true where the row of one side of an outer join is
 * missing changes the join: a left join becomes an inner one, and a full join a left or an inner
 * one. `withoutOuter` changes joins so for conditions that stay above, and `ofOtherSide` derives
 * conditions on one side of a join from those on the other side's keys.
 */
import { compileConditionTree, type Expression } from '../../sql/index.ts';
import { isWithin, joinOf } from './joins.ts';
import { neverTrue } from './nulls.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { filtered, joinSchema } from './steps.ts';
import { columnsIn, conjuncts, isComparison, joined, rewritten, textOf } from './trees.ts';

/** The plan with only those rows for which all terms are true. */
export function pushed(plan: Plan, terms: readonly Expression[]): Plan {
  if (terms.length === 0) return plan;
  switch (plan.kind) {
    case 'scan':
      if (plan.limit !== undefined || plan.offset !== undefined) break;
      for (const term of terms) compileConditionTree(term, plan.schema);
      return { ...plan, filters: [...plan.filters, ...newTerms(plan.filters, terms)] };
    case 'filter':
      return pushed(plan.input, [...conjuncts(plan.condition), ...terms]);
    case 'project': {
      const [through, above] = parted(terms, (term) =>
        substituted(term, plan.schema.fields, plan.values),
      );
      const input = pushed(plan.input, through);
      return kept({ ...plan, input }, above);
    }
    case 'group': {
      if (plan.keys.length === 0 || plan.sets !== undefined) break;
      const keys = plan.schema.fields.slice(0, plan.keys.length);
      const [through, above] = parted(terms, (term) => substituted(term, keys, plan.keys));
      const input = pushed(plan.input, through);
      return kept({ ...plan, input }, above);
    }
    case 'union': {
      // A part that has only nulls in a column has no type there that a condition could be read with.
      const isTyped = (term: Expression): boolean =>
        [...columnsIn([term])].every((name) => {
          const types = [plan, ...plan.inputs].map(
            ({ schema }) => schema.fields.find((field) => field.name === name)?.type,
          );
          return types.every((type) => String(type) === String(types[0]));
        });
      const [through, above] = parted(terms, (term) => (isTyped(term) ? term : undefined));
      return kept({ ...plan, inputs: plan.inputs.map((input) => pushed(input, through)) }, above);
    }
    case 'expand': {
      const names = namesOf(plan.input);
      const [through, above] = parted(terms, (term) => (isWithin(term, names) ? term : undefined));
      return kept({ ...plan, input: pushed(plan.input, through) }, above);
    }
    case 'mark': {
      const names = namesOf(plan.left);
      const [through, above] = parted(terms, (term) => (isWithin(term, names) ? term : undefined));
      return kept({ ...plan, left: pushed(plan.left, through) }, above);
    }
    case 'join': {
      const inner = withoutMissing(plan, terms);
      if (inner.join === 'inner') {
        const all = [...conjuncts(inner.condition), ...terms];
        return joinOf('inner', inner.left, inner.right, all, inner.keys);
      }
      if (inner.join === 'full') return kept(inner, terms);
      const names = namesOf(inner.left);
      const [through, above] = parted(terms, (term) => (isWithin(term, names) ? term : undefined));
      const left = pushed(inner.left, through);
      // Where nulls match, none of the right side may be lost.
      const same = inner.nullsMatch === true ? [] : ofOtherSide(through, inner);
      const right = pushed(inner.right, same);
      return kept({ ...inner, left, right }, above);
    }
    default:
  }
  return kept(plan, terms);
}

/**
 * The plan, for terms that are going to be true of all rows that matter. Rows with nulls for missing
 * ones that cannot fulfil them need not be made: outer joins become inner ones, however far below.
 */
export function withoutOuter(plan: Plan, terms: readonly Expression[]): Plan {
  switch (plan.kind) {
    case 'filter':
    case 'checked':
      return { ...plan, input: withoutOuter(plan.input, terms) };
    case 'mark':
      return { ...plan, left: withoutOuter(plan.left, terms) };
    case 'project': {
      const [below] = parted(terms, (term) =>
        substituted(term, plan.schema.fields, plan.values, true),
      );
      return { ...plan, input: withoutOuter(plan.input, below) };
    }
    case 'join': {
      const inner = withoutMissing(plan, terms);
      if (inner.join === 'full') return inner;
      if (inner !== plan && inner.join === 'inner') {
        return joinOf('inner', inner.left, inner.right, conjuncts(inner.condition), inner.keys);
      }
      const left = withoutOuter(inner.left, terms);
      return {
        ...inner,
        left,
        right: inner.join === 'inner' ? withoutOuter(inner.right, terms) : inner.right,
      };
    }
    default:
      return plan;
  }
}

/** The join without rows that have nulls for a missing one, where the terms are not true of them. */
function withoutMissing(plan: JoinStep, terms: readonly Expression[]): JoinStep {
  if (plan.join !== 'left' && plan.join !== 'full') return plan;
  const never = (side: Plan): boolean => {
    const names = namesOf(side);
    return terms.some((term) => reads(term, names) && neverTrue(term, plan.schema, names));
  };
  const needsRight = never(plan.right);
  if (plan.join === 'left') return needsRight ? asJoin('inner', plan) : plan;
  const needsLeft = never(plan.left);
  if (needsLeft && needsRight) return asJoin('inner', plan);
  if (needsLeft) return asJoin('left', plan);
  return needsRight ? asJoin('left', turned(plan)) : plan;
}

const reads = (term: Expression, names: ReadonlySet<string>): boolean =>
  [...columnsIn([term])].some((name) => names.has(name));

const asJoin = (join: JoinStep['join'], plan: JoinStep): JoinStep => ({
  ...plan,
  join,
  schema: joinSchema(join, plan.left, plan.right),
});

/** The same join with its sides exchanged. */
const turned = (plan: JoinStep): JoinStep => ({
  ...plan,
  left: plan.right,
  right: plan.left,
  keys: plan.keys.map(({ left, right }) => ({ left: right, right: left })),
});

/**
 * Comparisons of keys of the left side with constants, for the keys of the right side that they
 * are equal to.
 */
export function ofOtherSide(
  terms: readonly Expression[],
  { keys, left, right }: Pick<JoinStep, 'keys' | 'left' | 'right'>,
): Expression[] {
  return terms.flatMap((term) => {
    if (!isComparison(term)) return [];
    const [name = '', ...more] = columnsIn([term]);
    const key = keys.find(({ left: own }) => own.kind === 'column' && own.path[0] === name);
    if (more.length > 0 || key === undefined) return [];
    const [ours, theirs] = [key.left, key.right];
    if (ours.kind !== 'column' || theirs.kind !== 'column') return [];
    if (ours.path.length > 1 || theirs.path.length > 1) return [];
    if (typeIn(left, name) !== typeIn(right, theirs.path[0] ?? '')) return [];
    return rewritten(term, (part) => (part.kind === 'column' ? theirs : undefined));
  });
}

const typeIn = ({ schema }: Plan, name: string): string =>
  String(schema.fields.find((field) => field.name === name)?.type);

/** Terms that are not among those before. */
function newTerms(before: readonly Expression[], terms: readonly Expression[]): Expression[] {
  const known = new Set(before.map(textOf));
  return terms.filter((term) => !known.has(textOf(term)));
}

function kept(plan: Plan, terms: readonly Expression[]): Plan {
  const condition = joined(terms);
  return condition === undefined ? plan : filtered(plan, condition);
}

function parted(
  terms: readonly Expression[],
  below: (term: Expression) => Expression | undefined,
): [through: Expression[], above: Expression[]] {
  const through: Expression[] = [];
  const above: Expression[] = [];
  for (const term of terms) {
    const moved = below(term);
    if (moved === undefined) above.push(term);
    else through.push(moved);
  }
  return [through, above];
}

/**
 * A term in names of the step below, where those it reads are columns there as well.
 * @param readsOthers whether it may read columns of other steps, which keep their names
 */
function substituted(
  term: Expression,
  fields: readonly { readonly name: string }[],
  values: readonly Expression[],
  readsOthers = false,
): Expression | undefined {
  const byName = new Map(fields.map(({ name }, at) => [name, values[at] as Expression]));
  const isPlain = [...columnsIn([term])].every((name) =>
    readsOthers && !byName.has(name) ? true : byName.get(name)?.kind === 'column',
  );
  if (!isPlain) return undefined;
  return rewritten(term, (part) => {
    if (part.kind !== 'column') return undefined;
    const below = byName.get(part.path[0] ?? '');
    return below?.kind === 'column'
      ? { ...below, path: [...below.path, ...part.path.slice(1)] }
      : part;
  });
}
