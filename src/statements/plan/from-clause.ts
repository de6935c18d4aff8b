/**
 * `plannedTables` plans the FROM clause of a SELECT: tables, subqueries, queries of WITH, functions
 * that give rows (table-functions.ts), and joins. Tables separated by commas become a cross join.
 * It returns the plan with all columns, and the `Scope` that resolves column names. A table also
 * has the hidden column `ROW_ID`, unless it has a column of that name. Without FROM the plan has
 * one row and no columns. An alias of two tables, too many names for columns, and a USING that a
 * side lacks throw InvalidInput.
 */
import { Field, Schema, Uint64 } from '../../arrow/index.ts';
import { type Expression, refuse, type TableReference } from '../../sql/index.ts';
import {
  columnTree,
  conjuncts,
  filtered,
  isHalf,
  joinOf,
  type Plan,
  projected,
  renamed,
  type TableSource,
} from '../steps/index.ts';
import { type PlannedQuery, type Planner, tableLabel } from './planner.ts';
import { type MergedColumn, Scope, type ScopeColumn } from './scope.ts';
import { type FunctionReference, plannedFunction, readsColumns } from './table-functions.ts';

export interface PlannedTables {
  readonly plan: Plan;
  readonly scope: Scope;
}

/** Tables that commas separate are paired row by row, until WHERE says which pairs are wanted. */
export function plannedTables(
  planner: Planner,
  references: readonly TableReference[],
): PlannedTables {
  const { plan, scope } = crossed(planner, references);
  return { plan, scope: scope.within(planner.around) };
}

function crossed(planner: Planner, references: readonly TableReference[]): PlannedTables {
  const [first, ...more] = references;
  if (first === undefined) return oneRow();
  return more.reduce(
    (left, reference) => {
      if (reference.kind === 'function' && readsColumns(reference)) {
        return expanded(planner, left, reference);
      }
      const right = plannedTable(planner, reference);
      return {
        plan: joinOf('inner', left.plan, right.plan, []),
        scope: bothScopes(left.scope, right.scope),
      };
    },
    plannedTable(planner, first),
  );
}

function oneRow(): PlannedTables {
  const schema = new Schema([]);
  return { plan: { kind: 'values', rows: [[]], schema }, scope: new Scope([]) };
}

/** Each row of the left side with every row that a function gives for it. */
function expanded(
  planner: Planner,
  left: PlannedTables,
  reference: FunctionReference,
  keepsRows = false,
): PlannedTables {
  const { plan, scope } = plannedFunction(planner, reference, left, keepsRows);
  return { plan, scope: bothScopes(left.scope, scope) };
}

/** @throws InvalidInput where one alias stands for two tables */
function bothScopes(left: Scope, right: Scope): Scope {
  for (const { path, isAlias } of right.tables) {
    const twin = left.tables.find(
      (table) => isAlias === true && table.isAlias === true && table.path[0] === path[0],
    );
    if (twin !== undefined) refuse(undefined, `The alias ${path[0]} stands for two tables`);
  }
  return new Scope([...left.tables, ...right.tables], [...left.merged, ...right.merged]);
}

function plannedTable(planner: Planner, reference: TableReference): PlannedTables {
  switch (reference.kind) {
    case 'table': {
      const named =
        reference.path.length === 1 ? planner.named(reference.path[0] ?? '') : undefined;
      if (named !== undefined) {
        if (reference.travel !== undefined) {
          refuse(reference.at, `${reference.path[0]} is a query of WITH, which has no versions`);
        }
        const query = planner.plannedNamed(named);
        const columns = reference.columns.length > 0 ? reference.columns : named.columns;
        return derived(planner, query, [reference.alias ?? named.name], columns, reference.at);
      }
      const source = planner.source(reference);
      return scanned(planner, source, reference);
    }
    case 'derived': {
      const query = planner.query(reference.query);
      const path = reference.alias === undefined ? [] : [reference.alias];
      return derived(planner, query, path, reference.columns, reference.at);
    }
    case 'function':
      return plannedFunction(planner, reference, oneRow());
    case 'join':
      return plannedJoin(planner, reference);
  }
}

function scanned(
  planner: Planner,
  source: TableSource,
  reference: Extract<TableReference, { kind: 'table' }>,
): PlannedTables {
  const { alias, path, columns: renames, at } = reference;
  const label = alias ?? path.at(-1) ?? '';
  const { fields } = source.schema;
  checkRenames(renames, fields.length, at);
  const columns: ScopeColumn[] = [];
  const names = new Map<string, string>();
  const own: Field[] = [];
  for (const [place, field] of fields.entries()) {
    const name = renames[place] ?? field.name;
    const internal = planner.freshName(name, label);
    names.set(internal, field.name);
    own.push(renamed(field, internal));
    columns.push({ name, internal, type: field.type });
  }
  if (!fields.some(({ name }) => name === ROW_ID)) {
    const internal = planner.freshName(ROW_ID, label);
    names.set(internal, ROW_ID);
    own.push(new Field(internal, new Uint64(), false));
    columns.push({ name: ROW_ID, internal, type: new Uint64(), isHidden: true });
  }
  return {
    plan: {
      kind: 'scan',
      source,
      label: tableLabel(reference),
      columns: names,
      filters: [],
      orderBy: [],
      schema: new Schema(own),
    },
    scope: new Scope([
      alias === undefined ? { path, columns } : { path: [alias], columns, isAlias: true },
    ]),
  };
}

/** The column that every table has besides those of its schema. */
export const ROW_ID = '_rowid';

function checkRenames(renames: readonly string[], columns: number, at: number | undefined): void {
  if (renames.length <= columns) return;
  refuse(at, `${renames.length} names are given to the ${columns} columns of a table`);
}

/** The columns of another query, with names that are new here. */
function derived(
  planner: Planner,
  { plan, names }: PlannedQuery,
  path: readonly string[],
  renames: readonly string[],
  at: number | undefined,
): PlannedTables {
  checkRenames(renames, names.length, at);
  const columns: ScopeColumn[] = plan.schema.fields.map((field, place) => {
    const name = renames[place] ?? (names[place] as string);
    const internal = planner.freshName(name, path[0] ?? 'query');
    return { name, internal, type: field.type };
  });
  const values = columns.map(({ internal }, place) => ({
    name: internal,
    value: columnTree(plan.schema.fields[place]?.name ?? ''),
  }));
  return {
    plan: projected(plan, values),
    scope: new Scope([{ path, columns, isAlias: path.length > 0 }]),
  };
}

/** Names of columns that both sides have, as the left one writes them. */
function commonNames(left: Scope, right: Scope): string[] {
  const [ours, theirs] = [left, right].map((scope) =>
    scope.star([], undefined).map(({ name }) => name),
  ) as [string[], string[]];
  const known = new Set(theirs.map((name) => name.toLowerCase()));
  return [...new Set(ours.filter((name) => known.has(name.toLowerCase())))];
}

/** A join with a function of the left side: inner with any condition, LEFT with one that is true. */
function joinedFunction(
  planner: Planner,
  left: PlannedTables,
  right: FunctionReference,
  { join, on, using, natural, at }: Extract<TableReference, { kind: 'join' }>,
): PlannedTables {
  const isTrue = on === undefined || (on.kind === 'boolean' && on.value);
  const isInner = join === 'inner' || join === 'cross';
  if (using !== undefined || natural === true || !(isInner || (join === 'left' && isTrue))) {
    refuse(
      at,
      `${right.name}(..) of columns is joined by CROSS JOIN, JOIN .. ON or LEFT JOIN .. ON true`,
    );
  }
  const both = expanded(planner, left, right, join === 'left');
  if (isTrue || on === undefined) return both;
  const condition = planner.resolvedRow(on, both.scope.within(planner.around), 'ON');
  return { plan: filtered(both.plan, condition), scope: both.scope };
}

function plannedJoin(
  planner: Planner,
  reference: Extract<TableReference, { kind: 'join' }>,
): PlannedTables {
  const left = plannedTable(planner, reference.left);
  if (reference.right.kind === 'function' && readsColumns(reference.right)) {
    return joinedFunction(planner, left, reference.right, reference);
  }
  const right = plannedTable(planner, reference.right);
  const both = bothScopes(left.scope, right.scope);
  const { join, on, natural, at } = reference;
  const using = natural === true ? commonNames(left.scope, right.scope) : (reference.using ?? []);
  const terms: Expression[] = conjuncts(
    on === undefined ? undefined : planner.resolvedRow(on, both.within(planner.around), 'ON'),
  );
  const merged: MergedColumn[] = [];
  for (const name of using) {
    const sides = [left, right].map(({ scope }) => scope.find([name], at));
    const [a, b] = sides;
    if (a === undefined || b === undefined) {
      refuse(
        at,
        `USING (${name}): the table on the ${a === undefined ? 'left' : 'right'} has no such column`,
      );
    }
    terms.push({ kind: 'binary', op: '=', left: a, right: b });
    const before = both.merged.filter((one) => one.name.toLowerCase() === name.toLowerCase());
    const of = [
      ...before.flatMap((one) => one.of),
      ...[a, b].flatMap((side) => (side.kind === 'column' ? [side.path[0] ?? ''] : [])),
    ];
    const coalesced: Expression = { kind: 'call', name: 'coalesce', args: [a, b] };
    merged.push({ name, value: join === 'full' ? coalesced : join === 'right' ? b : a, of });
  }
  // A column that was merged before is now part of the new one.
  const scope = new Scope(both.tables, [
    ...both.merged.filter(
      ({ name }) => !using.some((used) => used.toLowerCase() === name.toLowerCase()),
    ),
    ...merged,
  ]);
  if (isHalf(join)) {
    return { plan: joinOf(join, left.plan, right.plan, terms), scope: left.scope };
  }
  if (join === 'right') {
    return { plan: joinOf('left', right.plan, left.plan, terms), scope };
  }
  const kind = join === 'cross' ? 'inner' : join;
  return { plan: joinOf(kind, left.plan, right.plan, terms), scope };
}
