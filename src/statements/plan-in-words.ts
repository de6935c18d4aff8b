/**
 * `planInWords` describes a plan as text, one line for each step. The steps whose rows a step reads
 * stand below it, indented. Columns have the names of the statement.
 */
import type { Expression } from '../sql/index.ts';
import type { PlannedStatement } from './plan/index.ts';
import {
  asWritten,
  inputsOf,
  OF_SIDE,
  type Plan,
  rewritten,
  type SortKey,
  textOf as treeText,
} from './steps/index.ts';

type TextOf = (tree: Expression) => string;
type Written = PlannedStatement['written'];

export const planInWords = ({
  plan,
  written,
}: Pick<PlannedStatement, 'plan' | 'written'>): string => lines(plan, 0, written).join('\n');

function lines(plan: Plan, depth: number, written: Written): string[] {
  const values = new Map(inputsOf(plan).flatMap(valuesOf));
  const textOf: TextOf = (tree) => treeText(asWritten(replaced(tree, values), written));
  const said = `${'  '.repeat(depth)}${words(plan, textOf)}`;
  return [said, ...inputsOf(plan).flatMap((input) => lines(input, depth + 1, written))];
}

/** Columns of a step that stand for what it computes: keys, aggregates and window functions. */
function valuesOf(plan: Plan): [string, Expression][] {
  switch (plan.kind) {
    case 'group': {
      const trees = [...plan.keys, ...plan.aggregates];
      return plan.schema.fields.map(({ name }, at) => [name, trees[at] as Expression]);
    }
    case 'window': {
      const from = plan.schema.fields.length - plan.calls.length;
      return plan.calls.map((call, at) => [plan.schema.fields[from + at]?.name ?? '', call]);
    }
    case 'join':
      return inputsOf(plan).flatMap(ofSide);
    case 'filter':
    case 'checked':
    case 'sort':
    case 'limit':
      return valuesOf(plan.input);
    default:
      return [];
  }
}

/** What is computed of a side of a join below it. */
function ofSide(side: Plan): [string, Expression][] {
  if (side.kind !== 'project') return [];
  const below = new Map(valuesOf(side.input));
  return side.schema.fields.flatMap(({ name }, at): [string, Expression][] =>
    name.startsWith(OF_SIDE) ? [[name, replaced(side.values[at] as Expression, below)]] : [],
  );
}

/** Of one step alone: written out to the tables a plan could be as long as its steps allow. */
const replaced = (tree: Expression, values: ReadonlyMap<string, Expression>): Expression =>
  rewritten(tree, (part) => {
    const value = part.kind === 'column' ? values.get(part.path[0] ?? '') : undefined;
    if (value === undefined || part.kind !== 'column') return undefined;
    const members = part.path.slice(1);
    return value.kind === 'column' ? { ...value, path: [...value.path, ...members] } : value;
  });

const commas = (trees: Iterable<Expression>, textOf: TextOf): string =>
  [...trees].map(textOf).join(', ');

/** What is computed once for several values; columns that are only read are not told. */
function once(shared: readonly Expression[] | undefined, textOf: TextOf): string {
  const computed = shared?.filter(({ kind }) => kind !== 'column') ?? [];
  return computed.length === 0 ? '' : `, once: ${commas(computed, textOf)}`;
}

const order = (keys: readonly SortKey[], textOf: TextOf): string =>
  keys.map(({ value, ascending }) => `${textOf(value)}${ascending ? '' : ' DESC'}`).join(', ');

function words(plan: Plan, textOf: TextOf): string {
  switch (plan.kind) {
    case 'scan': {
      const columns = plan.schema.fields.map(({ name }) => plan.columns.get(name) ?? name);
      const parts = [
        `Read ${plan.label}: ${columns.length === 0 ? 'no columns' : columns.join(', ')}`,
        ...plan.filters.map((filter) => `where ${textOf(filter)}`),
        ...(plan.orderBy.length === 0 ? [] : [`in order of ${order(plan.orderBy, textOf)}`]),
        ...(plan.limit === undefined ? [] : [`at most ${plan.limit} rows`]),
        ...((plan.offset ?? 0) === 0 ? [] : [`from row ${plan.offset} on`]),
      ];
      return parts.join(', ');
    }
    case 'filter':
      return `Keep rows where ${textOf(plan.condition)}`;
    case 'project':
      return `Compute ${commas(plan.values, textOf)}${once(plan.shared, textOf)}`;
    case 'join': {
      const on = plan.keys.map(({ left, right }) => `${textOf(left)} = ${textOf(right)}`);
      const condition = plan.condition === undefined ? [] : [textOf(plan.condition)];
      const all = [...on, ...condition].join(' AND ');
      return all === '' ? 'Pair all rows' : `Join (${plan.join}) on ${all}`;
    }
    case 'mark': {
      const on = plan.keys.map(({ left, right }) => `${textOf(left)} = ${textOf(right)}`);
      return `Tell whether there is a row with ${on.join(' AND ')}`;
    }
    case 'group': {
      const keysOf = (set: readonly number[]): string =>
        `(${commas(
          set.map((at) => plan.keys[at] as Expression),
          textOf,
        )})`;
      const keys = plan.sets?.map(keysOf).join(', ') ?? commas(plan.keys, textOf);
      const by = keys === '' ? '' : ` by ${keys}`;
      const what = plan.aggregates.length === 0 ? 'Keep distinct rows' : 'Sum up';
      const calls = plan.aggregates.length === 0 ? '' : `: ${commas(plan.aggregates, textOf)}`;
      return `${what}${by}${calls}${once(plan.shared, textOf)}`;
    }
    case 'window':
      return `Window functions: ${commas(plan.calls, textOf)}${
        plan.first === undefined ? '' : `, of the first ${plan.first} rows of each partition`
      }`;
    case 'sort': {
      const most = plan.limit === undefined ? '' : `, the first ${plan.limit}`;
      return `Put in order of ${order(plan.keys, textOf)}${most}`;
    }
    case 'limit': {
      const from = plan.offset === 0 ? '' : ` from row ${plan.offset} on`;
      const most =
        plan.limit === Number.MAX_SAFE_INTEGER ? 'All rows' : `At most ${plan.limit} rows`;
      return `${most}${from}`;
    }
    case 'union':
      return 'One after the other';
    case 'single':
      return `The one row of (${plan.text})`;
    case 'checked':
      return `At most one row of (${plan.text}) for each`;
    case 'repeat':
      return `Repeat each row ${textOf(plan.times)} times`;
    case 'expand':
      return plan.of === 'list'
        ? `Each row for every item of ${plan.args.map(textOf).join(', ')}`
        : `Each row for every value from ${plan.args.map(textOf).join(', ')}`;
    case 'recursive':
      return `Rounds of ${plan.name}: the first rows, then what comes of those before`;
    case 'working':
      return 'The rows of the round before';
    case 'values':
      if (plan.rows.length === 0) {
        return plan.never === undefined
          ? 'No rows'
          : `No rows: ${textOf(plan.never)} is never true`;
      }
      return plan.schema.fields.length === 0
        ? 'One row without a table'
        : `Rows of VALUES: ${plan.rows.length}`;
  }
}
