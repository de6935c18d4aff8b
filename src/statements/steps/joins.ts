/**
 * Plans joins and filters. `joinOf` builds a join of two plans from its conditions. `pushed`
 * filters a plan and moves conditions as far down as it can, for example into the scan of a table.
 * `comparableKeys` converts the keys of a join to common types. Keys that cannot be compared throw
 * InvalidInput.
 */
import { compileConditionTree, compileTree, type Expression, refuse } from '../../sql/index.ts';
import { commonKeyType } from './key-types.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { filtered, joinSchema } from './steps.ts';
import { columnsIn, conjuncts, joined, rewritten, textOf } from './trees.ts';

export const isWithin = (tree: Expression, names: ReadonlySet<string>): boolean =>
  [...columnsIn([tree])].every((name) => names.has(name));

/** A join of two plans whose pairs fulfil all terms. */
export function joinOf(
  join: JoinStep['join'],
  left: Plan,
  right: Plan,
  terms: readonly Expression[],
  before: readonly JoinStep['keys'][number][] = [],
): JoinStep {
  const [leftNames, rightNames] = [namesOf(left), namesOf(right)];
  const keys = [...before];
  const toLeft: Expression[] = [];
  const toRight: Expression[] = [];
  const rest: Expression[] = [];
  const schema = joinSchema(join, left, right);
  for (const term of terms) {
    compileConditionTree(term, schema);
    const reads = columnsIn([term]);
    if (reads.size > 0 && join === 'inner' && isWithin(term, leftNames)) toLeft.push(term);
    else if (reads.size > 0 && join !== 'full' && isWithin(term, rightNames)) toRight.push(term);
    else {
      const key = keyOf(term, leftNames, rightNames);
      if (key === undefined) rest.push(term);
      else keys.push(key);
    }
  }
  const condition = joined(rest);
  return {
    kind: 'join',
    join,
    left: pushed(left, toLeft),
    right: pushed(right, toRight),
    keys,
    ...(condition === undefined ? {} : { condition }),
    schema,
  };
}

/** The two sides of an equation between the tables; undefined for other terms. */
export function keyOf(
  term: Expression,
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
): JoinStep['keys'][number] | undefined {
  if (term.kind !== 'binary' || term.op !== '=') return undefined;
  const [a, b] = [term.left, term.right];
  if (columnsIn([a]).size === 0 || columnsIn([b]).size === 0) return undefined;
  if (isWithin(a, left) && isWithin(b, right)) return { left: a, right: b };
  return isWithin(b, left) && isWithin(a, right) ? { left: b, right: a } : undefined;
}

/** The plan with only those rows for which all terms are true. */
export function pushed(plan: Plan, terms: readonly Expression[]): Plan {
  if (terms.length === 0) return plan;
  switch (plan.kind) {
    case 'scan':
      if (plan.limit !== undefined || plan.offset !== undefined) break;
      for (const term of terms) compileConditionTree(term, plan.schema);
      return { ...plan, filters: [...plan.filters, ...terms] };
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
      if (plan.keys.length === 0) break;
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
    case 'join': {
      if (plan.join === 'inner') {
        const all = [...conjuncts(plan.condition), ...terms];
        return joinOf('inner', plan.left, plan.right, all, plan.keys);
      }
      if (plan.join === 'full') break;
      const names = namesOf(plan.left);
      const [through, above] = parted(terms, (term) => (isWithin(term, names) ? term : undefined));
      return kept({ ...plan, left: pushed(plan.left, through) }, above);
    }
    default:
  }
  return kept(plan, terms);
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

/** A term in names of the step below, where those it reads are columns there as well. */
function substituted(
  term: Expression,
  fields: readonly { readonly name: string }[],
  values: readonly Expression[],
): Expression | undefined {
  const byName = new Map(fields.map(({ name }, at) => [name, values[at] as Expression]));
  const isPlain = [...columnsIn([term])].every((name) => byName.get(name)?.kind === 'column');
  if (!isPlain) return undefined;
  return rewritten(term, (part) => {
    if (part.kind !== 'column') return undefined;
    const below = byName.get(part.path[0] ?? '');
    return below?.kind === 'column'
      ? { ...below, path: [...below.path, ...part.path.slice(1)] }
      : part;
  });
}

/**
 * The keys of a join in forms that are equal where SQL says so: numbers of different kinds, and
 * times of different units, are converted. @throws InvalidInput for those that cannot be compared
 */
export function comparableKeys({ left, right, keys }: JoinStep): JoinStep['keys'] {
  return keys.map((key) => {
    const types = [
      compileTree(key.left, left.schema).type,
      compileTree(key.right, right.schema).type,
    ] as const;
    const cast = commonKeyType(types[0], types[1]);
    if (cast === 'same') return key;
    if (cast === 'none') {
      refuse(
        key.left.at ?? key.right.at,
        `${textOf(key.left)} and ${textOf(key.right)} cannot be compared; cast one of them`,
      );
    }
    const as = (arg: Expression): Expression => ({ kind: 'cast', arg, type: cast, lenient: false });
    return { left: as(key.left), right: as(key.right) };
  });
}
