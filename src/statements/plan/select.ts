/**
 * `plannedSelect` plans one SELECT with its ORDER BY and LIMIT. It plans the clauses in the order
 * in which SQL runs them, from FROM and WHERE to ORDER BY and LIMIT. An aggregate in the wrong
 * place, a column that is not grouped, more than 1,000 items (`MOST_ITEMS`), and more than 100 keys
 * of GROUP BY or of DISTINCT ON throw InvalidInput; an unknown column throws TableColumnNotFound.
 * correlated.ts also uses the functions for single clauses: `selected` for WHERE, `itemsOf` for the
 * items, and `aggregatesOf` for the aggregates. `isOfMany` tells whether an expression has an
 * aggregate or a window function.
 */
import {
  type AggregateExpression,
  type Expression,
  formatExpression,
  type OrderItem,
  refuse,
  type Select,
  type WindowSpec,
} from '../../sql/index.ts';
import {
  asWritten,
  checkOrder,
  columnTree,
  conjuncts,
  distinctRows,
  filtered,
  firstRows,
  type GroupStep,
  type Plan,
  projected,
  pushed,
  rewritten,
  type SortKey,
  sorted,
  textOf,
  visit,
} from '../steps/index.ts';
import { plannedCorrelated } from './correlated.ts';
import { atMost } from './fresh-names.ts';
import { plannedTables } from './from-clause.ts';
import { memberOf, plannedGroups } from './groups.ts';
import {
  type PlannedQuery,
  type Planner,
  placeOf,
  type RowWindow,
  sortKey,
  windowed,
} from './planner.ts';
import type { Scope } from './scope.ts';
import { hasSubquery, Subqueries } from './subqueries.ts';
import { sumsOfParts } from './sums.ts';
import { plannedWindows } from './windows.ts';

/** Limits of one SELECT, so that planning it takes only a moment. */
export const MOST_ITEMS = 1_000;
const MOST_STARS = 16;
const MOST_KEYS = 100;

interface Item {
  readonly name: string;
  readonly value: Expression;
}

export function plannedSelect(
  planner: Planner,
  select: Select,
  orderBy: readonly OrderItem[],
  window: RowWindow,
): PlannedQuery {
  const { plan: tables, scope } = plannedTables(planner.plain, select.from);
  if (planner.asked !== undefined) {
    const parts = { select, orderBy, window, tables, scope };
    const correlated = plannedCorrelated(planner, planner.asked, parts);
    if (correlated !== undefined) return correlated;
  }
  const where =
    select.where === undefined ? undefined : planner.resolvedRow(select.where, scope, 'WHERE');
  let plan = selected(planner, tables, scope, conjuncts(where));
  let items = itemsOf(select, scope);
  const names = items.map(({ name }) => name);
  const ofNames = (tree: Expression): Expression => resolved(tree, scope, items, select);
  const groupedBy = groupKeys(select, scope, items);
  let keysBy = groupedBy.keys;
  let having = select.having === undefined ? undefined : ofNames(select.having);
  let qualify = select.qualify === undefined ? undefined : ofNames(select.qualify);
  const named = (tree: Expression): Expression => {
    const place = placeOf(tree, names);
    return place === undefined ? ofNames(tree) : (items[place] as Item).value;
  };
  let order = orderBy.map((item): SortKey => sortKey(named(item.value), item));
  let firstOf = select.distinctOn?.map(named) ?? [];
  const everything = (): Expression[] => [
    ...items.map(({ value }) => value),
    ...order.map(({ value }) => value),
    ...firstOf,
    ...[having, qualify].filter((tree) => tree !== undefined),
  ];
  const rewriteAll = (change: (tree: Expression) => Expression): void => {
    items = items.map((item) => ({ ...item, value: change(item.value) }));
    order = order.map((key) => ({ ...key, value: change(key.value) }));
    firstOf = firstOf.map(change);
    having = having && change(having);
    qualify = qualify && change(qualify);
  };

  /** Puts columns in place of queries: of those within keys and aggregates, or of all that are left. */
  const placeQueries = (
    change: (queries: Subqueries) => void,
    mapped?: (tree: Expression) => Expression,
  ): void => {
    const queries = new Subqueries(planner, plan, scope, mapped);
    change(queries);
    plan = queries.plan;
  };
  const isKey = new Set(keysBy.map(textOf));
  const ofGroups = (part: Expression): boolean =>
    (part.kind === 'aggregate' && part.over === undefined) || isKey.has(textOf(part));
  if ([...keysBy, ...aggregatesOf(everything())].some(hasSubquery)) {
    placeQueries((queries) => {
      keysBy = keysBy.map((key) => queries.rewrite(key));
      rewriteAll((tree) =>
        rewritten(tree, (part) => (ofGroups(part) ? queries.rewrite(part) : undefined)),
      );
    });
  }
  const ofParts = sumsOfParts(everything(), plan.schema);
  if (ofParts !== undefined) rewriteAll(ofParts);
  const aggregates = aggregatesOf(everything());
  let ofGroup: ((tree: Expression) => Expression) | undefined;
  atMost(keysBy.length, MOST_KEYS, 'keys of GROUP BY', select.at);
  atMost(firstOf.length, MOST_KEYS, 'keys of DISTINCT ON', select.at);
  atMost(aggregates.length, MOST_ITEMS, 'aggregates', select.at);
  if (
    keysBy.length + aggregates.length > 0 ||
    select.groupByAll ||
    groupedBy.sets !== undefined ||
    having !== undefined
  ) {
    const groups = plannedGroups(planner, plan, keysBy, aggregates, groupedBy.sets);
    plan = groups.plan;
    rewriteAll(groups.rewrite);
    ofGroup = groups.rewrite;
  }
  if (everything().some(hasSubquery)) {
    placeQueries((queries) => rewriteAll((tree) => queries.rewrite(tree)), ofGroup);
  }
  if (having !== undefined) plan = pushed(plan, conjuncts(having));
  having = undefined;
  const windows = plannedWindows(planner, plan, everything());
  plan = windows.plan;
  rewriteAll(windows.rewrite);
  if (qualify !== undefined) plan = filtered(plan, qualify);
  for (const [place, { value }] of order.entries()) {
    const written = textOf(asWritten(value, planner.written));
    checkOrder(value, plan.schema, written, orderBy[place]?.value.at);
  }

  return finishedSelect(planner, plan, {
    items,
    order,
    firstOf,
    isDistinct: select.distinct,
    window,
    names,
    at: select.at,
  });
}

/** The rows for which all terms are true; those without queries are told to the tables first. */
export function selected(
  planner: Planner,
  tables: Plan,
  scope: Scope,
  terms: readonly Expression[],
): Plan {
  const plain = pushed(
    tables,
    terms.filter((term) => !hasSubquery(term)),
  );
  if (!terms.some(hasSubquery)) return plain;
  const queries = new Subqueries(planner, plain, scope);
  const left = terms.filter(hasSubquery).flatMap((term) => queries.matching(term) ?? []);
  return pushed(queries.plan, left);
}

/** The items with `*` written out, in names of the plan. */
export function itemsOf(select: Select, scope: Scope): Item[] {
  atMost(select.items.length, MOST_ITEMS, 'items of SELECT', select.at);
  const stars = select.items.filter(({ kind }) => kind === 'star');
  atMost(stars.length, MOST_STARS, 'stars', select.at);
  return select.items.flatMap((item): Item[] => {
    if (item.kind === 'star') {
      const columns = scope.star(item.path, item.at);
      const dropped = new Set(item.exclude.map((name) => name.toLowerCase()));
      for (const name of item.exclude) {
        if (!columns.some((column) => column.name.toLowerCase() === name.toLowerCase())) {
          refuse(item.at, `EXCLUDE names ${name}, which is no column of it`);
        }
      }
      const kept = columns.filter(({ name }) => !dropped.has(name.toLowerCase()));
      if (kept.length === 0) refuse(item.at, 'EXCLUDE leaves no column');
      return item.replace.length === 0 ? kept : replacedItems(kept, item.replace, scope, select);
    }
    const value = resolved(item.value, scope, [], select);
    return [{ name: item.alias ?? nameOf(item.value, value), value }];
  });
}

/** The items of a star with other values for some names; tables of a join may share a name. */
function replacedItems(
  items: readonly Item[],
  replace: Extract<Select['items'][number], { kind: 'star' }>['replace'],
  scope: Scope,
  select: Select,
): Item[] {
  atMost(replace.length, MOST_ITEMS, 'columns of REPLACE', select.at);
  const names = new Set(items.map(({ name }) => name.toLowerCase()));
  const values = new Map<string, Expression>();
  for (const { name, value } of replace) {
    const key = name.toLowerCase();
    if (!names.has(key)) refuse(value.at, `REPLACE names ${name}, which is no column of it`);
    if (values.has(key)) refuse(value.at, `REPLACE names ${name} twice`);
    values.set(key, resolved(value, scope, [], select));
  }
  return items.map(({ name, value }) => ({ name, value: values.get(name.toLowerCase()) ?? value }));
}

/** The name of an item without an alias: that of the column it reads, otherwise its text. */
function nameOf(written: Expression, value: Expression): string {
  if (written.kind === 'column') {
    const name = written.path.at(-1) ?? '';
    const [internal = ''] = value.kind === 'column' ? value.path : [];
    // The name as the table writes it, if the letter case differs.
    return internal.toLowerCase() === name.toLowerCase() ? internal : name;
  }
  return written.kind === 'field' ? written.name : formatExpression(written);
}

/** A tree in names of the plan. Aliases of items are found where no column has the name. */
function resolved(
  tree: Expression,
  scope: Scope,
  items: readonly Item[],
  { windows }: Select,
): Expression {
  return rewritten(tree, (part) => {
    if (part.kind === 'aggregate' && typeof part.over === 'string') {
      const { over: name } = part;
      const known = windows.find((window) => window.name.toLowerCase() === name.toLowerCase());
      const spec: WindowSpec = known?.spec ?? refuse(part.at, `WINDOW defines no ${name}`);
      return resolved({ ...part, over: spec }, scope, items, { windows } as Select);
    }
    if (part.kind !== 'column') return undefined;
    const alias =
      part.path.length === 1
        ? placeOf(
            part,
            items.map(({ name }) => name),
          )
        : undefined;
    const found = scope.find(part.path, part.at);
    if (found !== undefined || alias === undefined)
      return found ?? scope.resolve(part.path, part.at);
    return items[alias]?.value;
  });
}

/** The keys of GROUP BY, each once, and its sets of them, where there are several. */
function groupKeys(
  select: Select,
  scope: Scope,
  items: readonly Item[],
): { keys: Expression[]; sets: GroupStep['sets'] } {
  if (select.groupByAll) {
    const keys = items.map(({ value }) => value).filter((value) => !isOfMany(value));
    return { keys: distinct(keys), sets: undefined };
  }
  const names = items.map(({ name }) => name);
  const keys = select.groupBy.map((tree) => {
    const named = tree.kind === 'column' ? scope.find(tree.path, tree.at) : undefined;
    const place = named === undefined ? placeOf(tree, names) : undefined;
    const key =
      place === undefined ? resolved(tree, scope, items, select) : (items[place] as Item).value;
    if (isOfMany(key)) refuse(tree.at, 'GROUP BY takes no aggregates and no windows');
    return key;
  });
  const once = distinct(keys);
  const places = new Map(once.map((key, place) => [textOf(key), place]));
  const sets = select.groupingSets?.map((set) => [
    ...new Set(set.map((at) => places.get(textOf(keys[at] as Expression)) as number)),
  ]);
  return { keys: once, sets };
}

const distinct = (trees: readonly Expression[]): Expression[] => [
  ...new Map(trees.map((tree) => [textOf(tree), tree])).values(),
];

export function isOfMany(tree: Expression): boolean {
  let found = false;
  visit(tree, (part) => {
    if (part.kind === 'aggregate') found = true;
    return !found;
  });
  return found;
}

/**
 * The calls that groups are summed up by; those of windows are not, but what is within them may be.
 */
export function aggregatesOf(trees: readonly Expression[]): AggregateExpression[] {
  const found = new Map<string, AggregateExpression>();
  const look = (tree: Expression): void =>
    visit(tree, (part) => {
      if (part.kind !== 'aggregate' || part.over !== undefined) return true;
      for (const inner of [...part.args, ...part.orderBy.map(({ value }) => value)]) {
        if (isOfMany(inner))
          refuse(part.at, `${part.name}(..) is given another aggregate or a window`);
      }
      if (part.filter !== undefined && isOfMany(part.filter)) {
        refuse(part.at, 'FILTER takes a condition of one row');
      }
      if (part.distinct) checkDistinctOrder(part);
      found.set(textOf(part), part);
      return false;
    });
  for (const tree of trees) look(tree);
  return [...found.values()];
}

/** Equal values may have different keys, of which none is the right one. */
function checkDistinctOrder({ name, args, orderBy }: AggregateExpression): void {
  const given = new Set(args.map(textOf));
  for (const { value } of orderBy) {
    if (!given.has(textOf(value))) {
      refuse(value.at, `With DISTINCT, ORDER BY of ${name}(..) takes what the call is given`);
    }
  }
}

interface Finish {
  readonly items: readonly Item[];
  readonly order: readonly SortKey[];
  /** Keys of DISTINCT ON. */
  readonly firstOf: readonly Expression[];
  readonly isDistinct: boolean;
  readonly window: RowWindow;
  readonly names: readonly string[];
  readonly at: number | undefined;
}

/** The values of the items, with those to order by beside them until the rows are in order. */
function finishedSelect(planner: Planner, input: Plan, finish: Finish): PlannedQuery {
  const { items, order, firstOf, isDistinct, window, names, at } = finish;
  const shown = items.map(({ name, value }) => ({ name: planner.freshName(name), value }));
  const byText = new Map(shown.map(({ name, value }) => [textOf(value), name]));
  const hidden: Item[] = [];
  /** The name of the column that holds the value: one that is shown, or a hidden one. */
  const columnOf = (value: Expression): string => {
    const text = textOf(value);
    let name = byText.get(text);
    if (name === undefined) {
      name = planner.freshName(text);
      byText.set(text, name);
      hidden.push({ name, value });
    }
    return name;
  };
  const keys = order.map((key): SortKey => {
    const { value } = key;
    if (!isDistinct || byText.has(textOf(value)))
      return { ...key, value: columnTree(columnOf(value)) };
    const member = value.kind === 'column' ? memberOf(value, byText) : undefined;
    if (member === undefined) refuse(value.at, 'With DISTINCT, ORDER BY takes what is selected');
    return { ...key, value: member };
  });
  const distinctOn = firstOf.map((value) => columnTree(columnOf(value)));
  let plan: Plan = projected(input, [...shown, ...hidden]);
  if (isDistinct) plan = distinctRows(plan, at);
  if (distinctOn.length > 0) {
    plan = firstRows(plan, distinctOn, keys, planner.freshName('row number'));
  }
  plan = windowed(sorted(plan, keys), window);
  if (plan.schema.fields.length > shown.length) {
    plan = projected(
      plan,
      shown.map(({ name }) => ({ name, value: columnTree(name) })),
    );
  }
  return { plan, names };
}
