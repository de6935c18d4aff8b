/**
 * `Planner` turns the parsed tree of a statement into a plan: `Planner.of` takes the tables, and
 * `query` plans. It holds what all parts of a statement share: its tables, the queries of WITH, the
 * names of columns in the plan, and a count of its steps. It plans UNION, INTERSECT and EXCEPT
 * itself, and leaves SELECT to select.ts, VALUES to values.ts and recursive queries to
 * recursive.ts. Unknown columns throw TableColumnNotFound; other mistakes, such as an unknown
 * table, and statements that are too large throw InvalidInput. `placeOf` and `sortKey` help with
 * ORDER BY, `windowed` with LIMIT, `sourceKey` and `tableLabel` with tables.
 */
import { DataType, Int64, Schema } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  compileTree,
  type Expression,
  formatName,
  type NamedQuery,
  type OrderItem,
  type QueryBody,
  refuse,
  type Statement,
  type TableReference,
} from '../../sql/index.ts';
import {
  COUNT_ROWS,
  castOf,
  castUnlessSame,
  columnTree,
  distinctRows,
  filtered,
  grouped,
  type Plan,
  projected,
  rewritten,
  type SortKey,
  sorted,
  type TableSource,
  united,
} from '../steps/index.ts';
import type { Asked, Correlated } from './correlated.ts';
import { atMost, FreshNames } from './fresh-names.ts';
import { plannedRecursion, refersTo } from './recursive.ts';
import type { Scope } from './scope.ts';
import { MOST_ITEMS, plannedSelect } from './select.ts';
import { plannedValues } from './values.ts';

type NamedTable = Extract<TableReference, { kind: 'table' }>;

/** A plan and the names that its columns are to have, which may repeat. */
export interface PlannedQuery {
  readonly plan: Plan;
  readonly names: readonly string[];
  /** Where it reads columns of the query around it. */
  readonly correlated?: Correlated;
}

/** A query of WITH, and the planner that its own names are to be looked up by. */
interface KnownQuery extends NamedQuery {
  readonly planner: Planner;
  /** Within a recursive query of that name: the rows of the round before. */
  readonly rows?: PlannedQuery;
}

/** Steps of one plan; the queries of WITH are planned again wherever they are named. */
const MOST_STEPS = 2_000;

/** Limits of one statement, so that planning it takes only a moment. */
const MOST_NAMED = 100;
const MOST_PARTS = 100;

/** State that the parts of one statement share. */
interface Shared {
  readonly sources: ReadonlyMap<string, TableSource>;
  readonly names: FreshNames;
  steps: number;
}

export const tableLabel = ({ path, travel }: NamedTable): string => {
  const name = path.map(formatName).join('.');
  if (travel === undefined) return name;
  const said = Object.entries(travel).map(([what, value]) => `${what} ${value}`);
  return `${name} at ${said.join(', ')}`;
};

/** A key that is the same for references to one version of one table. */
export const sourceKey = ({ path, travel }: NamedTable): string => JSON.stringify([path, travel]);

export class Planner {
  readonly #shared: Shared;
  readonly #known: readonly KnownQuery[];
  /** Names of the queries around one in place of a value. */
  readonly around: readonly Scope[];
  /** Defined for a query in place of a value, not for the queries within it. */
  readonly asked: Asked | undefined;

  constructor(
    shared: Shared,
    known: readonly KnownQuery[] = [],
    around: readonly Scope[] = [],
    asked?: Asked,
  ) {
    this.#shared = shared;
    this.#known = known;
    this.around = around;
    this.asked = asked;
  }

  /** The planner of a query in place of a value in a query with these names. */
  inside(scope: Scope, asked: Asked): Planner {
    return new Planner(this.#shared, this.#known, [...this.around, scope], asked);
  }

  /** The planner of queries within this one. */
  get plain(): Planner {
    return this.asked === undefined ? this : new Planner(this.#shared, this.#known, this.around);
  }

  static of(sources: ReadonlyMap<string, TableSource>): Planner {
    return new Planner({ sources, names: new FreshNames(), steps: 0 });
  }

  source(reference: NamedTable): TableSource {
    const source = this.#shared.sources.get(sourceKey(reference));
    return source ?? refuse(reference.at, `There is no table ${tableLabel(reference)}`);
  }

  /** A query of WITH by its name. */
  named(name: string): KnownQuery | undefined {
    return this.#known.findLast((known) => known.name.toLowerCase() === name.toLowerCase());
  }

  /** The rows of a query of WITH. */
  plannedNamed(named: KnownQuery): PlannedQuery {
    if (named.rows !== undefined) return named.rows;
    const { planner, recursive, query, name } = named;
    if (recursive !== true || !refersTo(query, name)) return this.query(query, planner);
    return plannedRecursion(
      planner,
      named,
      (rows) => new Planner(this.#shared, [...planner.#known, { ...named, rows }], planner.around),
    );
  }

  /** What names of the plan stand for, where they are not those of the statement. */
  get written(): ReadonlyMap<string, readonly string[]> {
    return this.#shared.names.written;
  }

  /** A name for a column of the plan that no other has. */
  freshName(name: string, table = ''): string {
    return this.#shared.names.of(name, table);
  }

  /** The tree in names of the plan; it is of one row. @throws for aggregates, naming the clause */
  resolvedRow(tree: Expression, scope: Scope, clause: string): Expression {
    return rewritten(tree, (part) => {
      if (part.kind === 'aggregate') {
        refuse(part.at, `${part.name}(..) is not possible in ${clause}, which sees one row`);
      }
      return part.kind === 'column' ? scope.resolve(part.path, part.at) : undefined;
    });
  }

  query(statement: Statement, planner: Planner = this): PlannedQuery {
    const shared = planner.#shared;
    shared.steps += 1;
    if (shared.steps > MOST_STEPS) {
      refuse(statement.at, 'The statement names queries of WITH in each other too many times');
    }
    const known = [...planner.#known];
    atMost(statement.with.length, MOST_NAMED, 'queries of WITH', statement.at);
    for (const named of statement.with) {
      const key = named.name.toLowerCase();
      if (known.slice(planner.#known.length).some(({ name }) => name.toLowerCase() === key)) {
        refuse(named.at, `WITH defines ${named.name} twice`);
      }
      known.push({ ...named, planner: new Planner(shared, [...known], planner.around) });
    }
    const own =
      statement.with.length === 0
        ? planner
        : new Planner(shared, known, planner.around, planner.asked);
    const window = {
      limit: countOf(statement.limit, 'LIMIT'),
      offset: countOf(statement.offset, 'OFFSET'),
    };
    const { orderByAll: all } = statement;
    if (all === undefined) return own.#body(statement.body, statement.orderBy, window);
    const { plan, names } = own.plain.#body(statement.body, [], {});
    const keys = plan.schema.fields.map(({ name }) => sortKey(columnTree(name), all));
    return { plan: windowed(sorted(plan, keys), window), names };
  }

  #body(body: QueryBody, orderBy: readonly OrderItem[], window: RowWindow): PlannedQuery {
    switch (body.kind) {
      case 'select':
        return plannedSelect(this, body, orderBy, window);
      case 'query': {
        if (orderBy.length === 0 && isAll(window)) return this.query(body.query);
        return finished(this.plain.query(body.query), orderBy, window);
      }
      case 'values':
        return finished(plannedValues(this.plain, body), orderBy, window);
      case 'union':
        return finished(this.plain.#union(body), orderBy, window);
      case 'intersect':
      case 'except':
        return finished(this.plain.#matched(body), orderBy, window);
    }
  }

  #union({ all, byName, parts, at }: Extract<QueryBody, { kind: 'union' }>): PlannedQuery {
    atMost(parts.length, MOST_PARTS, 'parts of UNION', at);
    const planned = parts.map((part) => this.#body(part, [], {}));
    const queries = byName ? this.#namedAlike(planned, at) : planned;
    const query = this.#joinedRows(queries, 'UNION', at);
    if (all) return query;
    return { plan: distinctRows(query.plan, at), names: query.names };
  }

  /** The queries with the columns of all, by their names; what one of them lacks is null. */
  #namedAlike(queries: readonly PlannedQuery[], at: number | undefined): PlannedQuery[] {
    const names = new Map<string, string>();
    const places = queries.map(
      (query) => new Map(query.names.map((name, place) => [name.toLowerCase(), place])),
    );
    for (const [part, query] of queries.entries()) {
      if (places[part]?.size !== query.names.length) {
        refuse(at, `UNION BY NAME takes different names, and a part has ${query.names.join(', ')}`);
      }
      for (const name of query.names) {
        if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
      }
      atMost(names.size, MOST_ITEMS, 'columns of UNION BY NAME', at);
    }
    return queries.map(({ plan }, part) => ({
      plan: projected(
        plan,
        Array.from(names, ([key, name]) => {
          const place = places[part]?.get(key);
          const field = place === undefined ? undefined : plan.schema.fields[place];
          return {
            name: this.freshName(name),
            value: field === undefined ? { kind: 'null' } : columnTree(field.name),
          };
        }),
      ),
      names: [...names.values()],
    }));
  }

  /** INTERSECT and EXCEPT: how often each row is on either side says how often it comes. */
  #matched({ kind, all, left, right, at }: MatchedBody): PlannedQuery {
    const queries = [left, right].map((part) => this.#body(part, [], {}));
    const sided = queries.map(({ plan, names }, side) => ({
      plan: projected(plan, [
        ...plan.schema.fields.map(({ name }) => ({ name, value: columnTree(name) })),
        { name: this.freshName('side'), value: { kind: 'number', text: String(side) } as const },
      ]),
      names: [...names, SIDE],
    }));
    const { plan: both } = this.#joinedRows(sided, kind.toUpperCase(), at);
    const columns = both.schema.fields.slice(0, -1).map(({ name }) => name);
    const side = columnTree(both.schema.fields.at(-1)?.name ?? '');
    const counts = [0, 1].map((number) => this.freshName(number === 0 ? 'left' : 'right'));
    const keys = columns.map((name) => ({ name: this.freshName(name), value: columnTree(name) }));
    const groups = grouped(
      both,
      keys,
      counts.map((name, number) => ({ name, call: countWhere(side, number) })),
      () => new Int64(),
      at,
    );
    const [ours, theirs] = counts.map((name) => columnTree(name)) as [Expression, Expression];
    const zero: Expression = { kind: 'number', text: '0' };
    const isMore = (one: Expression, other: Expression): Expression => ({
      ...{ kind: 'binary', op: '>', left: one, right: other },
    });
    const isIn = isMore(ours, zero);
    const rest: Expression =
      kind === 'intersect'
        ? isMore(theirs, zero)
        : all
          ? isMore(ours, theirs)
          : { kind: 'binary', op: '=', left: theirs, right: zero };
    const found = filtered(groups, { kind: 'and', args: [isIn, rest] });
    const shown = keys.map(({ name }) => ({ name, value: columnTree(name) }));
    const { names } = queries[0] as PlannedQuery;
    if (!all) return { plan: projected(found, shown), names };
    const times: Expression =
      kind === 'intersect'
        ? { kind: 'call', name: 'least', args: [ours, theirs] }
        : { kind: 'binary', op: '-', left: ours, right: theirs };
    const schema = new Schema(groups.schema.fields.slice(0, keys.length));
    return { plan: { kind: 'repeat', input: found, times, schema }, names };
  }

  /** The rows of all one after the other, their columns brought to one type each. */
  #joinedRows(
    queries: readonly PlannedQuery[],
    what: string,
    at: number | undefined,
  ): PlannedQuery {
    const [first] = queries as [PlannedQuery];
    if (queries.length === 1) return first;
    const widths = new Set(queries.map(({ names }) => names.length));
    if (widths.size > 1) {
      const counts = queries.map(({ names }) => names.filter((name) => name !== SIDE).length);
      refuse(at, `The parts of ${what} have ${[...new Set(counts)].join(' and ')} columns`);
    }
    const names = first.names.map((name) => this.freshName(name));
    const plans = queries.map(({ plan }) => plan);
    const casts = names.map((_, place) =>
      castOf(
        plans.map(({ schema }) => schema.fields[place]?.type as DataType),
        place,
        what,
        at,
      ),
    );
    const inputs = plans.map((plan) =>
      projected(
        plan,
        names.map((name, place) => {
          const value = columnTree(plan.schema.fields[place]?.name ?? '');
          return { name, value: castUnlessSame(value, casts[place] ?? 'same') };
        }),
      ),
    );
    // A column that is null in some parts has the type of the others.
    const fields = (inputs[0] as Plan).schema.fields.map((field, place) => {
      const typed = inputs.find(({ schema }) => !DataType.isNull(schema.fields[place]?.type));
      return (typed?.schema.fields[place] ?? field).clone({ nullable: true });
    });
    return { plan: united(inputs, new Schema(fields)), names: first.names };
  }
}

type MatchedBody = Extract<QueryBody, { kind: 'intersect' | 'except' }>;

/** The name of the column that says which side a row is of; no column of a user has it. */
const SIDE = '\0side';

const countWhere = (column: Expression, number: number): AggregateExpression => ({
  ...COUNT_ROWS,
  filter: {
    ...{ kind: 'binary', op: '=', left: column },
    right: { kind: 'number', text: String(number) },
  },
});

/** The rows of a query that are wanted. */
export interface RowWindow {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

const isAll = ({ limit, offset = 0 }: RowWindow): boolean => limit === undefined && offset === 0;

/** A query whose order may name its columns alone. */
function finished(
  { plan, names }: PlannedQuery,
  orderBy: readonly OrderItem[],
  window: RowWindow,
): PlannedQuery {
  const keys = orderBy.map(({ value, ...direction }): SortKey => {
    const place = placeOf(value, names);
    if (place !== undefined)
      return sortKey(columnTree(plan.schema.fields[place]?.name ?? ''), direction);
    return refuse(value.at, 'ORDER BY of a UNION takes a column of it, by its name or its number');
  });
  return { plan: windowed(sorted(plan, keys), window), names };
}

export const sortKey = (
  value: Expression,
  { ascending, nullsFirst }: Pick<OrderItem, 'ascending' | 'nullsFirst'>,
): SortKey => ({ value, ascending, nullsFirst: nullsFirst ?? !ascending });

export function windowed(input: Plan, { limit, offset = 0 }: RowWindow): Plan {
  if (limit === undefined && offset === 0) return input;
  const most = limit ?? Number.MAX_SAFE_INTEGER;
  return { kind: 'limit', input, limit: most, offset, schema: input.schema };
}

/** The index of the column that an item of ORDER BY or GROUP BY names by its number or its name. */
export function placeOf(value: Expression, names: readonly string[]): number | undefined {
  if (value.kind === 'number' && /^-?\d+$/.test(value.text)) {
    const place = Number(value.text);
    if (place >= 1 && place <= names.length) return place - 1;
    refuse(value.at, `There is no column ${value.text}; there are ${names.length}`);
  }
  if (value.kind === 'string') {
    refuse(value.at, 'A text orders and groups nothing; names are in double quotes');
  }
  if (value.kind !== 'column' || value.path.length !== 1) return undefined;
  const [name = ''] = value.path;
  const exact = names.indexOf(name);
  if (exact >= 0) return exact;
  const alike = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
  return alike < 0 ? undefined : alike;
}

/** A constant that counts rows. */
function countOf(tree: Expression | undefined, clause: string): number | undefined {
  if (tree === undefined || tree.kind === 'null') return undefined;
  const compiled = compileTree(tree, new Schema([]));
  const value: unknown = compiled.evaluate({ numRows: 1, getChild: () => null }).get(0);
  if (value === null) return undefined;
  // Truth values and days have numbers too, and count no rows.
  const count = isCount(compiled.type) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(count) || count < 0) {
    refuse(tree.at, `${clause} takes a number of rows, not ${String(value)}`);
  }
  return count;
}

const isCount = (type: DataType): boolean =>
  DataType.isInt(type) ||
  DataType.isFloat(type) ||
  DataType.isDecimal(type) ||
  DataType.isUtf8(type);
