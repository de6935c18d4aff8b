/**
 * `plannedGroups` plans GROUP BY: it adds the step that groups rows by keys and sums them up, and
 * returns a function that puts the columns of that step into the expressions of later clauses. This
 * function throws InvalidInput for a column that is not grouped. Without grouping sets, keys that
 * follow from other keys, such as `a - 1` beside `a`, are computed once for each group. `memberOf`
 * finds a member of a struct that is itself a column of the step.
 */
import {
  type AggregateExpression,
  checkFunctionName,
  compileTree,
  type Expression,
  type Family,
  familyOf,
  refuse,
} from '../../sql/index.ts';
import {
  asWritten,
  columnsIn,
  columnTree,
  type GroupStep,
  grouped,
  groupedBySets,
  type NamedValue,
  type Plan,
  projected,
  rewritten,
  textOf,
} from '../steps/index.ts';
import { aggregateType } from './functions.ts';
import type { Planner } from './planner.ts';

export function plannedGroups(
  planner: Planner,
  input: Plan,
  keys: readonly Expression[],
  aggregates: readonly AggregateExpression[],
  sets?: GroupStep['sets'],
): { plan: Plan; rewrite: (tree: Expression) => Expression } {
  const named = keys.map((value) => ({
    name: planner.freshName(value.kind === 'column' ? `${value.path.join('.')} ` : textOf(value)),
    value,
  }));
  const calls = aggregates.map((call) => ({ name: planner.freshName(textOf(call)), call }));
  const typeOf = (call: AggregateExpression): GroupStep['schema']['fields'][number]['type'] =>
    aggregateType(
      call,
      call.args.map((arg) => compileTree(arg, input.schema).type),
    );
  const setName = planner.freshName('set');
  const plan =
    sets === undefined
      ? groupedByFew(input, named, calls, typeOf)
      : groupedBySets(
          grouped(...computedOnce(planner, input, named), calls, typeOf),
          sets,
          setName,
        );
  const keyTexts = keys.map(textOf);
  const names = new Map([
    ...named.map(({ name, value }) => [textOf(value), name] as const),
    ...calls.map(({ name, call }) => [textOf(call), name] as const),
  ]);
  const rewrite = (tree: Expression): Expression => {
    // A constant that is a key is null in groups of other sets; those within expressions are no keys.
    const key = sets === undefined ? undefined : names.get(textOf(tree));
    if (key !== undefined) return columnTree(key, tree.at);
    return rewritten(tree, (part) => {
      const name = names.get(textOf(part));
      if (name !== undefined) return columnTree(name, part.at);
      if (part.kind === 'call' && part.name === 'grouping') {
        const places = part.args.map((arg) => keyTexts.indexOf(textOf(arg)));
        if (places.includes(-1)) refuse(part.at, 'grouping(..) takes keys of GROUP BY');
        return groupingOf(places, sets, columnTree(setName));
      }
      // An aggregate of other databases is told as such, not by the columns that it is given.
      if (part.kind === 'call') checkFunctionName(part.name, part.at);
      if (part.kind !== 'column') return undefined;
      const member = memberOf(part, names);
      if (member !== undefined) return member;
      return refuse(
        part.at,
        `${textOf(asWritten(part, planner.written))} is of one row; name it in GROUP BY, or put it into an aggregate such as any_value(..)`,
      );
    });
  };
  return { plan, rewrite };
}

/**
 * Groups by the keys that the others follow from, and computes these of the keys of each group.
 * Equal values of such keys are the same value, which zeros and NaNs of floats and the parts of
 * intervals are not.
 */
function groupedByFew(
  input: Plan,
  keys: readonly NamedValue[],
  calls: Parameters<typeof grouped>[2],
  typeOf: Parameters<typeof grouped>[3],
): Plan {
  const names = new Map<string, string>();
  for (const { name, value } of keys) {
    const isWhole = value.kind === 'column' && value.path.length === 1;
    if (isWhole && SAME_IF_EQUAL.has(familyOf(compileTree(value, input.schema).type))) {
      names.set(value.path[0] ?? '', name);
    }
  }
  const follows = ({ value }: NamedValue): boolean => {
    if (value.kind === 'column') return false;
    const columns = [...columnsIn([value])];
    if (columns.length === 0 || !columns.every((column) => names.has(column))) return false;
    return !compileTree(value, input.schema).callsProgram;
  };
  const few = keys.filter((key) => !follows(key));
  // The checks of all keys are those of one step.
  const all = grouped(input, keys, calls, typeOf);
  if (few.length === keys.length) return all;
  const columns = all.schema.fields.map(({ name }) => ({ name, value: columnTree(name) }));
  const ofKeys = keys.map((key) => {
    if (!follows(key)) return { name: key.name, value: columnTree(key.name) };
    const value = rewritten(key.value, (part) =>
      part.kind === 'column'
        ? { ...part, path: [names.get(part.path[0] ?? '') as string, ...part.path.slice(1)] }
        : undefined,
    );
    return { name: key.name, value };
  });
  const groups = grouped(input, few, calls, typeOf);
  // A key that fails for a row fails there, whether or not something reads the groups.
  const mayFail = keys.filter(
    (key) => follows(key) && compileTree(key.value, input.schema).canFail,
  );
  const checked = mayFail.map(({ value }) => value);
  return projected({ ...groups, checked }, [...ofKeys, ...columns.slice(keys.length)]);
}

/** Families of values that are equal only where they are the same in every respect. */
const SAME_IF_EQUAL: ReadonlySet<Family> = new Set<Family>([
  ...(['bool', 'int', 'decimal', 'text', 'bytes', 'date', 'time', 'timestamp'] as const),
]);

/** The keys as columns of the input, so that they are computed once for all sets. */
function computedOnce(
  planner: Planner,
  input: Plan,
  keys: readonly NamedValue[],
): [input: Plan, keys: readonly NamedValue[]] {
  const isColumn = ({ value }: NamedValue): boolean => value.kind === 'column';
  if (keys.every(isColumn)) return [input, keys];
  const computed = input.schema.fields.map(
    ({ name }) => ({ name, value: columnTree(name) }) as NamedValue,
  );
  const named = keys.map((key) => {
    if (isColumn(key)) return key;
    const name = planner.freshName(key.name);
    computed.push({ name, value: key.value });
    return { name: key.name, value: columnTree(name) };
  });
  return [projected(input, computed), named];
}

/** A number with a bit for each of the keys, the last one lowest: whether a row is not grouped by it. */
function groupingOf(
  places: readonly number[],
  sets: GroupStep['sets'],
  set: Expression,
): Expression {
  const number = (value: number): Expression => ({ kind: 'number', text: String(value) });
  const whens = (sets ?? []).map((keys, at) => ({
    when: { kind: 'binary', op: '=', left: set, right: number(at) } as const,
    value: number(places.reduce((bits, place) => 2 * bits + (keys.includes(place) ? 0 : 1), 0)),
  }));
  return sets === undefined ? number(0) : { kind: 'case', whens };
}

type ColumnTree = Extract<Expression, { kind: 'column' }>;

/** A member of a struct that is itself there under another name. */
export function memberOf(
  part: ColumnTree,
  names: ReadonlyMap<string, string>,
): ColumnTree | undefined {
  for (let length = part.path.length - 1; length >= 1; length--) {
    const name = names.get(textOf({ kind: 'column', path: part.path.slice(0, length) }));
    if (name !== undefined) return { ...part, path: [name, ...part.path.slice(length)] };
  }
  return undefined;
}
