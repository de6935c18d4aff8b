/**
 * `plannedCorrelated` plans a subquery whose WHERE reads columns of the query around it, and
 * returns undefined for other subqueries. The subquery is run once for all rows. The caller joins
 * the outer query with its result, by the keys and terms in `correlated`. Each condition that reads
 * outer columns must be an equation between outer columns on one side and own columns on the other;
 * only EXISTS as a condition of WHERE may have other ones. Anything else throws InvalidInput, and
 * so do clauses such as GROUP BY.
 */
import type { Field } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  compileTree,
  type Expression,
  type OrderItem,
  refuse,
  type Select,
  type SubqueryExpression,
} from '../../sql/index.ts';
import {
  COUNT_ROWS,
  callTree,
  castUnlessSame,
  columnsIn,
  columnTree,
  commonKeyType,
  conjuncts,
  distinctRows,
  firstRows,
  grouped,
  type NamedValue,
  namesOf,
  type Plan,
  projected,
  rewritten,
  textOf,
  visit,
} from '../steps/index.ts';
import { aggregateName, aggregateType } from './functions.ts';
import { plannedGroups } from './groups.ts';
import { type PlannedQuery, type Planner, placeOf, type RowWindow, sortKey } from './planner.ts';
import type { Scope } from './scope.ts';
import { aggregatesOf, isOfMany, itemsOf, selected } from './select.ts';
import { hasSubquery } from './subqueries.ts';

/** What a query in place of a value is asked for, and the names of the query around it. */
export interface Asked {
  readonly form: SubqueryExpression['form'];
  readonly outer: Scope;
  /** Whether terms that are no equations may stand beside them. */
  readonly takesTerms: boolean;
  /** A tree in names of the query around it, as a tree of its plan. */
  mapped(tree: Expression): Expression;
  /** The type of such a tree of the plan. */
  typeOf(tree: Expression): Field['type'];
}

/** How the rows of a correlated query are found for a row of the query around it. */
export interface Correlated {
  /** Columns of its plan, and what they have to be equal to. */
  readonly keys: readonly { readonly name: string; readonly outer: Expression }[];
  /** Terms over columns of its plan and of the query around it. */
  readonly terms?: readonly Expression[];
  /** What the query gives: of `in` a value of each row, of `value` that of the only row of its keys. */
  readonly value?: Expression;
  /** A column that counts the rows of the keys, where several are a mistake. */
  readonly count?: string;
}

interface Parts {
  readonly select: Select;
  readonly orderBy: readonly OrderItem[];
  readonly window: RowWindow;
  readonly tables: Plan;
  readonly scope: Scope;
}

type Key = NamedValue & { readonly outer: Expression };

/** Undefined where the query reads nothing of the one around it. */
export function plannedCorrelated(
  planner: Planner,
  asked: Asked,
  parts: Parts,
): PlannedQuery | undefined {
  const { select, scope } = parts;
  const own: Expression[] = [];
  const pairs: { inner: Expression; outer: Expression }[] = [];
  const others: Expression[] = [];
  for (const term of conjuncts(select.where)) {
    const read = outerColumn(term, scope, asked.outer);
    const pair = read === undefined ? undefined : pairOf(planner, asked, term, scope);
    if (read === undefined) own.push(planner.resolvedRow(term, scope, 'WHERE'));
    else if (pair !== undefined) pairs.push(pair);
    else if (asked.takesTerms && !hasSubquery(term)) others.push(term);
    else refuseColumn(read);
  }
  if (pairs.length + others.length === 0) return undefined;
  refuseParts(asked, parts);
  const plan = selected(planner.plain, parts.tables, scope, own);
  const keys = pairs.map(({ inner, outer }): Key => {
    const cast = commonKeyType(asked.typeOf(outer), compileTree(inner, plan.schema).type);
    if (cast === 'none') {
      refuse(inner.at ?? outer.at, `${textOf(inner)} and ${textOf(outer)} cannot be compared`);
    }
    const name = planner.freshName(labelOf(inner));
    return { name, value: castUnlessSame(inner, cast), outer };
  });
  const items = itemsOf(select, scope);
  if (others.length > 0) {
    const terms = others.map((term) => ofBoth(planner, asked, term, scope));
    const names = [...columnsIn(terms)].filter((name) => namesOf(plan).has(name));
    const columns = [...keys, ...names.map((name) => ({ name, value: columnTree(name) }))];
    return { plan: projected(plan, columns), names: [], correlated: { keys, terms } };
  }
  if (asked.form === 'exists') {
    return { plan: distinctRows(projected(plan, keys)), names: [], correlated: { keys } };
  }
  const [item] = items;
  if (item === undefined || items.length !== 1) {
    return refuse(
      select.at,
      `A sub-select in place of a value has one column, and this one has ${items.length}`,
    );
  }
  if (asked.form === 'value') return onlyValue(planner, plan, keys, item, parts);
  const name = planner.freshName(labelOf(item.value));
  const values = projected(plan, [...keys, { name, value: item.value }]);
  return { plan: values, names: [], correlated: { keys, value: columnTree(name) } };
}

/** The first column of a term that the query around it has, and this one has not. */
function outerColumn(term: Expression, scope: Scope, outer: Scope): Expression | undefined {
  let found: Expression | undefined;
  visit(term, (part) => {
    if (part.kind === 'column' && found === undefined && isOuter(part.path, scope, outer)) {
      found = part;
    }
    return found === undefined;
  });
  return found;
}

const isOuter = (path: readonly string[], scope: Scope, outer: Scope): boolean =>
  scope.find(path, undefined) === undefined && outer.find(path, undefined) !== undefined;

/** The two sides of an equation, one of each query; undefined for other terms. */
function pairOf(
  planner: Planner,
  { outer, mapped }: Asked,
  term: Expression,
  scope: Scope,
): { inner: Expression; outer: Expression } | undefined {
  if (term.kind !== 'binary' || term.op !== '=' || hasSubquery(term)) return undefined;
  const sides = [term.left, term.right];
  const isOf = (tree: Expression, wanted: boolean): boolean => {
    let columns = 0;
    let others = 0;
    visit(tree, (part) => {
      if (part.kind !== 'column') return true;
      if (isOuter(part.path, scope, outer) === wanted) columns++;
      else others++;
      return true;
    });
    return columns > 0 && others === 0;
  };
  const theirs = sides.find((side) => isOf(side, true));
  const ours = sides.find((side) => isOf(side, false));
  if (theirs === undefined || ours === undefined) return undefined;
  return {
    inner: planner.resolvedRow(ours, scope, 'WHERE'),
    outer: mapped(planner.resolvedRow(theirs, outer, 'WHERE')),
  };
}

/** A term in names of both plans. */
const ofBoth = (planner: Planner, asked: Asked, term: Expression, scope: Scope): Expression =>
  rewritten(term, (part) => {
    if (part.kind !== 'column') return undefined;
    const isTheirs = isOuter(part.path, scope, asked.outer);
    const found = planner.resolvedRow(part, isTheirs ? asked.outer : scope, 'WHERE');
    return isTheirs ? asked.mapped(found) : found;
  });

const refuseColumn = (column: Expression): never =>
  refuse(
    column.at,
    `The sub-select reads ${textOf(column)} of the query around it in a term other than "column = ${textOf(column)}", which is not supported; write a join in its place`,
    { details: { column: textOf(column) } },
  );

/** @throws InvalidInput for parts that a query with columns of the one around it cannot have */
function refuseParts(asked: Asked, { select, window: { limit, offset = 0 } }: Parts): void {
  const isValue = asked.form === 'value';
  const values = select.items.flatMap((item) =>
    item.kind === 'star' ? item.replace.map(({ value }) => value) : [item.value],
  );
  const parts: [boolean, string][] = [
    [
      select.groupBy.length > 0 || select.groupByAll || select.groupingSets !== undefined,
      'GROUP BY',
    ],
    [select.distinctOn !== undefined, 'DISTINCT ON'],
    [select.having !== undefined, 'HAVING'],
    [select.qualify !== undefined, 'QUALIFY'],
    [values.some(hasSubquery), 'a sub-select among its columns'],
    [!isValue && values.some(isOfMany), 'aggregates'],
    [offset > 0, 'OFFSET'],
    [limit === 0 || (asked.form === 'in' && limit !== undefined), `LIMIT ${limit}`],
  ];
  for (const [isThere, what] of parts) {
    if (!isThere) continue;
    refuse(
      select.at,
      `The sub-select reads columns of the query around it and has ${what}, which is not supported; write a join in its place`,
    );
  }
}

/** One row for the keys, with the value that the query has for them. */
function onlyValue(
  planner: Planner,
  plan: Plan,
  keys: readonly Key[],
  item: NamedValue,
  parts: Parts,
): PlannedQuery {
  const aggregates = aggregatesOf([item.value]);
  if (aggregates.length > 0) return ofGroup(planner, plan, keys, item, aggregates);
  if (isOfMany(item.value)) {
    refuse(
      parts.select.at,
      'The sub-select reads columns of the query around it and has window functions, which is not supported; write a join in its place',
    );
  }
  const name = planner.freshName(labelOf(item.value));
  const shown = [...keys, { name, value: item.value }];
  const columns = shown.map((column) => ({ name: column.name, value: columnTree(column.name) }));
  const rows =
    parts.window.limit === 1
      ? projected(firstOfKeys(planner, plan, shown, keys, item, parts), columns)
      : projected(plan, shown);
  const different = parts.select.distinct ? distinctRows(rows) : rows;
  const count = planner.freshName(`${labelOf(item.value)} rows`);
  const value = planner.freshName(labelOf(item.value));
  const calls = [
    { name: count, call: COUNT_ROWS },
    { name: value, call: callTree('any_value', { args: [columnTree(name)] }) },
  ];
  const named = keys.map((key) => ({
    name: planner.freshName(key.name),
    value: columnTree(key.name),
  }));
  const groups = grouped(different, named, calls, (call) => typeOf(call, different));
  return {
    plan: groups,
    names: [],
    correlated: {
      keys: keys.map(({ outer }, at) => ({ name: named[at]?.name ?? '', outer })),
      value: columnTree(value),
      count,
    },
  };
}

/** What a column of the plan is called that stands for a tree. */
const labelOf = (tree: Expression): string =>
  tree.kind === 'column' ? tree.path.join('.') : textOf(tree);

const typeOf = (call: AggregateExpression, input: Plan): Field['type'] =>
  aggregateType(
    call,
    call.args.map((arg) => compileTree(arg, input.schema).type),
  );

/** Aggregates that are 0, and not null, of no rows. */
const ZERO_OF_NONE: ReadonlySet<string> = new Set(['count', 'regr_count']);

/** Aggregates of the rows of each key. Of keys without rows, counts are 0 and others null. */
function ofGroup(
  planner: Planner,
  plan: Plan,
  keys: readonly Key[],
  item: NamedValue,
  aggregates: readonly AggregateExpression[],
): PlannedQuery {
  const input = projected(plan, [
    ...keys,
    ...plan.schema.fields.map(({ name }) => ({ name, value: columnTree(name) })),
  ]);
  const columns = keys.map(({ name }) => columnTree(name));
  const groups = plannedGroups(planner, input, columns, aggregates);
  const names = groups.plan.schema.fields.map(({ name }) => name);
  const counts = new Set(
    aggregates.flatMap(({ name }, at) =>
      ZERO_OF_NONE.has(aggregateName(name)) ? [names[keys.length + at]] : [],
    ),
  );
  const value = rewritten(groups.rewrite(item.value), (part) =>
    part.kind === 'column' && counts.has(part.path[0])
      ? { kind: 'call', name: 'coalesce', args: [part, { kind: 'number', text: '0' }] }
      : undefined,
  );
  return {
    plan: groups.plan,
    names: [],
    correlated: {
      keys: keys.map(({ outer }, at) => ({ name: names[at] as string, outer })),
      value,
    },
  };
}

/** The first row of each key in order. */
function firstOfKeys(
  planner: Planner,
  plan: Plan,
  shown: readonly NamedValue[],
  keys: readonly Key[],
  item: NamedValue,
  { orderBy, scope }: Parts,
): Plan {
  const order = orderBy.map((given) => {
    const isItem = placeOf(given.value, [item.name]) !== undefined;
    const value = isItem ? item.value : planner.resolvedRow(given.value, scope, 'ORDER BY');
    return { name: planner.freshName(labelOf(value)), value, given };
  });
  return firstRows(
    projected(plan, [...shown, ...order]),
    keys.map(({ name }) => columnTree(name)),
    order.map(({ name, given }) => sortKey(columnTree(name), given)),
    planner.freshName('row number'),
  );
}
