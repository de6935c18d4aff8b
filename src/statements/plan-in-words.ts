/**
 * `planInWords`: describes a plan as text, with one step a line, each above the steps that it reads
 * from.
 */
import type { Plan, SortKey } from './plan/index.ts';
import { textOf } from './plan/index.ts';

export const planInWords = (plan: Plan): string => lines(plan, 0).join('\n');

function lines(plan: Plan, depth: number): string[] {
  const said = `${'  '.repeat(depth)}${words(plan)}`;
  return [said, ...inputs(plan).flatMap((input) => lines(input, depth + 1))];
}

function inputs(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case 'scan':
    case 'values':
      return [];
    case 'join':
      return [plan.left, plan.right];
    case 'union':
      return plan.inputs;
    default:
      return [plan.input];
  }
}

const commas = (trees: Iterable<Parameters<typeof textOf>[0]>): string =>
  [...trees].map(textOf).join(', ');

const order = (keys: readonly SortKey[]): string =>
  keys.map(({ value, ascending }) => `${textOf(value)}${ascending ? '' : ' DESC'}`).join(', ');

function words(plan: Plan): string {
  switch (plan.kind) {
    case 'scan': {
      const columns = plan.schema.fields.map(({ name }) => plan.columns.get(name) ?? name);
      const parts = [
        `Read ${plan.label}: ${columns.length === 0 ? 'no columns' : columns.join(', ')}`,
        ...plan.filters.map((filter) => `where ${textOf(filter)}`),
        ...(plan.orderBy.length === 0 ? [] : [`in order of ${order(plan.orderBy)}`]),
        ...(plan.limit === undefined ? [] : [`at most ${plan.limit} rows`]),
        ...((plan.offset ?? 0) === 0 ? [] : [`from row ${plan.offset} on`]),
      ];
      return parts.join(', ');
    }
    case 'filter':
      return `Keep rows where ${textOf(plan.condition)}`;
    case 'project':
      return `Compute ${commas(plan.values)}`;
    case 'join': {
      const on = plan.keys.map(({ left, right }) => `${textOf(left)} = ${textOf(right)}`);
      const condition = plan.condition === undefined ? [] : [textOf(plan.condition)];
      const all = [...on, ...condition].join(' AND ');
      return all === '' ? 'Pair all rows' : `Join (${plan.join}) on ${all}`;
    }
    case 'group': {
      const by = plan.keys.length === 0 ? '' : ` by ${commas(plan.keys)}`;
      const what = plan.aggregates.length === 0 ? 'Keep distinct rows' : 'Sum up';
      const calls = plan.aggregates.length === 0 ? '' : `: ${commas(plan.aggregates)}`;
      return `${what}${by}${calls}`;
    }
    case 'window':
      return `Window functions: ${commas(plan.calls)}`;
    case 'sort': {
      const most = plan.limit === undefined ? '' : `, the first ${plan.limit}`;
      return `Put in order of ${order(plan.keys)}${most}`;
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
    case 'repeat':
      return `Repeat each row ${textOf(plan.times)} times`;
    case 'values':
      return 'One row without a table';
  }
}
