/**
 * `plannedWindows` plans the window functions of a SELECT. It adds one step for each distinct
 * window, with a column for each distinct call over it. It returns the new plan, and a function
 * that replaces the calls in an expression by these columns. It throws InvalidInput for more than
 * 100 calls, and for calls that cannot be carried out: for example a window function within
 * another, ORDER BY within a call (allowed only for quantiles), or a window ordered by values that
 * have no order.
 */
import { Field, Schema } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  compileTree,
  type Expression,
  type RowFrame,
  refuse,
  type WindowSpec,
} from '../../sql/index.ts';
import {
  asWritten,
  COUNT_ROWS,
  checkOrder,
  columnTree,
  frameTrees,
  type Plan,
  rewritten,
  textOf,
  visit,
  type WindowStep,
} from '../steps/index.ts';
import { atMost } from './fresh-names.ts';
import { aggregateName, skipsNulls, windowType } from './functions.ts';
import { type Planner, sortKey } from './planner.ts';

const MOST_CALLS = 100;

type WindowCall = AggregateExpression & { readonly over: WindowSpec };

export function plannedWindows(
  planner: Planner,
  input: Plan,
  trees: readonly Expression[],
): { plan: Plan; rewrite: (tree: Expression) => Expression } {
  const names = new Map<string, string>();
  /** Calls by what is written of their windows. */
  const windows = new Map<string, { name: string; call: WindowCall }[]>();
  for (const tree of trees) {
    visit(tree, (part) => {
      if (part.kind !== 'aggregate' || typeof part.over !== 'object') return true;
      const text = textOf(part);
      if (names.has(text)) return false;
      const call = checkedCall(part as WindowCall);
      const name = planner.freshName(text);
      names.set(text, name);
      // Any call will do to write a window as text.
      const key = textOf({ ...COUNT_ROWS, over: call.over });
      windows.set(key, [...(windows.get(key) ?? []), { name, call }]);
      return false;
    });
  }
  atMost(names.size, MOST_CALLS, 'window functions', undefined);
  let plan = input;
  const written = (key: Expression): string => textOf(asWritten(key, planner.written));
  for (const calls of windows.values()) plan = windowStep(plan, calls, written);
  const rewrite = (tree: Expression): Expression =>
    rewritten(tree, (part) => {
      const name = part.kind === 'aggregate' ? names.get(textOf(part)) : undefined;
      return name === undefined ? undefined : columnTree(name, part.at);
    });
  return { plan, rewrite };
}

function checkedCall(call: WindowCall): WindowCall {
  const { args, over, filter, at } = call;
  const parts = [
    ...args,
    ...(filter === undefined ? [] : [filter]),
    ...over.partitionBy,
    ...over.orderBy.map(({ value }) => value),
  ];
  for (const part of parts) {
    visit(part, (inner) => {
      if (inner.kind === 'aggregate')
        refuse(inner.at ?? at, 'A window function is given another one');
      return true;
    });
  }
  // That of WITHIN GROUP is by the argument.
  const isShare = aggregateName(call.name).startsWith('quantile_');
  if (call.orderBy.length > 0 && !isShare) {
    refuse(at, 'ORDER BY within a call is not supported with OVER');
  }
  return filter === undefined ? withDefault(call) : filteredCall(call, filter);
}

/** An aggregate that skips nulls, given a null where the condition of its FILTER is not true. */
function filteredCall({ filter: _, ...call }: WindowCall, filter: Expression): WindowCall {
  const { name, at } = call;
  if (!skipsNulls(name)) {
    refuse(at, `FILTER is not supported with OVER for ${name}`);
  }
  const [value, ...more] = call.star ? [ONE] : call.args;
  if (value === undefined) return call;
  const given: Expression = { kind: 'case', whens: [{ when: filter, value }] };
  return { ...call, star: false, args: [given, ...more] };
}

const ONE: Expression = { kind: 'number', text: '1' };

/** The value and the default of lag and lead in the one type that holds both. */
function withDefault(call: WindowCall): WindowCall {
  const [value, distance, otherwise, ...more] = call.args;
  const isShift = call.name === 'lag' || call.name === 'lead';
  if (!isShift || value === undefined || distance === undefined || otherwise === undefined) {
    return call;
  }
  // That there are too many arguments is told by their number.
  if (more.length > 0) return call;
  const first = (one: Expression, other: Expression): Expression => ({
    kind: 'case',
    whens: [
      { when: { kind: 'is', arg: { kind: 'null' }, test: 'null', negated: false }, value: one },
    ],
    otherwise: other,
  });
  return { ...call, args: [first(value, otherwise), distance, first(otherwise, value)] };
}

/** @throws InvalidInput for a frame that the order of its window does not fit */
function checkFrame({ orderBy, at }: WindowSpec, { unit, startBy, endBy }: RowFrame): void {
  if (unit === 'groups' && orderBy.length === 0) refuse(at, 'A frame of GROUPS needs an ORDER BY');
  const distance = startBy ?? endBy;
  if (distance === undefined) return;
  if (orderBy.length !== 1) {
    refuse(distance.at ?? at, 'A frame of RANGE with a distance needs an ORDER BY of one value');
  }
  for (const by of [startBy, endBy]) if (by !== undefined) checkDistance(by, at);
}

/** A number or an interval that is written, not below zero. */
function checkDistance(distance: Expression, window: number | undefined): void {
  const at = distance.at ?? window;
  if (distance.kind === 'number') return;
  if (distance.kind !== 'cast' || distance.arg.kind !== 'string') {
    refuse(at, "The distance of a frame is a number or an interval, such as INTERVAL '1 day'");
  }
  const isBack = /(^|[^\d])-|ago/i.test(distance.arg.value);
  if (isBack) refuse(at, 'The distance of a frame is not below zero');
}

function windowStep(
  input: Plan,
  calls: readonly { readonly name: string; readonly call: WindowCall }[],
  written: (key: Expression) => string,
): WindowStep {
  const { over } = (calls[0] as { call: WindowCall }).call;
  const { partitionBy, orderBy } = over;
  const frame = over.frame ?? (orderBy.length === 0 ? 'whole' : 'peers');
  for (const { value } of orderBy) checkOrder(value, input.schema, written(value), value.at);
  if (typeof frame === 'object') checkFrame(over, frame);
  const fields = calls.map(({ name, call }) => {
    const types = call.args.map((arg) => compileTree(arg, input.schema).type);
    return new Field(name, windowType(call, types), true);
  });
  const step: WindowStep = {
    kind: 'window',
    input,
    partitionBy,
    orderBy: orderBy.map(({ value, ...direction }) => sortKey(value, direction)),
    frame,
    calls: calls.map(({ call }) => call),
    schema: new Schema([...input.schema.fields, ...fields]),
  };
  // A distance that the key does not fit is refused here, with its place.
  for (const tree of frameTrees(step) ?? []) compileTree(tree, input.schema);
  return step;
}
