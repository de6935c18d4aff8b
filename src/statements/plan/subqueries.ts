/**
 * `Subqueries` plans the subqueries in the expressions of a SELECT. Each subquery is run once for
 * all rows and joined to the member `plan`, which the caller reads back afterwards. `rewrite`
 * replaces the subqueries in an expression by columns. `matching` takes a condition of WHERE: if it
 * is an IN or EXISTS that a join can decide, the join filters `plan` and the result is undefined;
 * otherwise it returns the condition with columns, as `rewrite` does. Both throw InvalidInput, for
 * example for a subquery of several columns in place of a value. `hasSubquery` tells whether an
 * expression has any. correlated.ts plans subqueries that read columns of the query around them.
 */
import { Int64, Schema } from '../../arrow/index.ts';
import {
  type AggregateExpression,
  compileTree,
  type Expression,
  refuse,
  type SubqueryExpression,
  typeText,
} from '../../sql/index.ts';
import {
  COUNT_ROWS,
  callTree,
  castUnlessSame,
  columnsIn,
  columnTree,
  commonKeyType,
  comparableKeys,
  distinctRows,
  grouped,
  joinOf,
  marked,
  type Plan,
  projected,
  renamed,
  rewritten,
  textOf,
  visit,
} from '../steps/index.ts';
import type { Asked, Correlated } from './correlated.ts';
import { aggregateType } from './functions.ts';
import { type PlannedQuery, type Planner, windowed } from './planner.ts';
import type { Scope } from './scope.ts';

export function hasSubquery(tree: Expression): boolean {
  let found = false;
  visit(tree, (part) => {
    if (part.kind === 'subquery') found = true;
    return !found;
  });
  return found;
}

export class Subqueries {
  /** With the queries that were put in place so far. */
  plan: Plan;
  readonly #planner: Planner;
  readonly #scope: Scope;
  readonly #mapped: (tree: Expression) => Expression;
  readonly #placed = new Map<string, Expression>();

  /**
   * @param scope names around the queries, which they may compare columns with
   * @param mapped gives trees in these names as trees of the plan
   */
  constructor(
    planner: Planner,
    plan: Plan,
    scope: Scope,
    mapped: (tree: Expression) => Expression = (tree) => tree,
  ) {
    this.plan = plan;
    this.#planner = planner;
    this.#scope = scope;
    this.#mapped = mapped;
  }

  /** The tree with columns of the plan in place of its queries. */
  rewrite(tree: Expression): Expression {
    return rewritten(tree, (part) => {
      if (part.kind !== 'subquery') return undefined;
      const text = textOf(part);
      const known = this.#placed.get(text);
      if (known !== undefined) return known;
      const value = this.#value(part);
      this.#placed.set(text, value);
      return value;
    });
  }

  /** The rows for which a term is true. */
  matching(term: Expression): Expression | undefined {
    const isNegated = term.kind === 'not';
    const part = isNegated ? term.arg : term;
    if (part.kind !== 'subquery') return this.rewrite(term);
    switch (part.form) {
      case 'exists': {
        const { plan, correlated } = this.#query(part, true);
        if (correlated === undefined) return this.rewrite(term);
        const terms = [...equations(correlated), ...(correlated.terms ?? [])];
        this.plan = joinOf(isNegated ? 'anti' : 'semi', this.plan, withRepeats(plan), terms);
        return undefined;
      }
      case 'rows':
        return isNegated ? this.rewrite(term) : this.#matchingRows(part);
      case 'in':
        return this.#matchingValues(part, isNegated) ? undefined : this.rewrite(term);
      default:
        return this.rewrite(term);
    }
  }

  /** The rows whose value is in the column of the query, or is not; false where a join cannot tell. */
  #matchingValues(part: SubqueryExpression, isNegated: boolean): boolean {
    const arg = this.rewrite(part.arg as Expression);
    // A constant is a key of no join.
    if (columnsIn([arg]).size === 0) return false;
    const query = this.#oneColumn(part);
    if (isNegated && query.correlated !== undefined) return false;
    const { plan, key } = this.#values(part, arg, query);
    const terms = [...equations(query.correlated), equation(arg, key)];
    const join = joinOf(isNegated ? 'anti' : 'semi', this.plan, withRepeats(plan), terms);
    this.plan = isNegated ? { ...join, nullsMatch: true } : join;
    return true;
  }

  /** The rows whose values are those of a row of the query. */
  #matchingRows(term: SubqueryExpression): undefined {
    const { plan, pairs } = this.#rowValues(term);
    const terms = pairs.map(({ arg, name }) => equation(arg, name));
    const rows = distinctRows(plan, term.at);
    this.plan = joinOf('semi', this.plan, withRepeats(rows), terms);
    return undefined;
  }

  /** The columns of a query that values of a row are compared with, and these values. */
  #rowValues(term: SubqueryExpression): {
    plan: Plan;
    pairs: { arg: Expression; name: string }[];
  } {
    const row = term.arg?.kind === 'array' ? term.arg.items : [];
    const { plan, correlated } = this.#query(term);
    if (correlated !== undefined || plan.schema.fields.length !== row.length) {
      const columns =
        correlated === undefined
          ? `has ${plan.schema.fields.length} columns`
          : 'reads columns of the query around it, which is not supported; EXISTS does that';
      refuse(
        term.at,
        `A row of ${row.length} values is looked up in the rows of a sub-select that ${columns}`,
      );
    }
    const pairs = row.map((item, at) => {
      const arg = this.rewrite(item);
      const column = columnTree(plan.schema.fields[at]?.name ?? '');
      const name = this.#planner.freshName(`${textOf(term)} ${at}`);
      return { arg, name, value: this.#comparable(term, arg, plan, column) };
    });
    return { plan: projected(plan, pairs), pairs };
  }

  #value(part: SubqueryExpression): Expression {
    switch (part.form) {
      case 'value': {
        const { plan, correlated } = this.#oneColumn(part);
        if (correlated !== undefined) return this.#found(part, plan, correlated);
        const name = this.#planner.freshName(textOf(part));
        const [field] = plan.schema.fields;
        const schema = new Schema([renamed(field as NonNullable<typeof field>, name, true)]);
        const { text, at } = part;
        this.#pair({ kind: 'single', input: plan, text, at, schema });
        return columnTree(name, part.at);
      }
      case 'exists': {
        const { plan, correlated } = this.#query(part);
        return correlated === undefined
          ? this.#exists(part, plan)
          : this.#mark(part, plan, [...correlated.keys], []);
      }
      case 'in': {
        const arg = this.rewrite(part.arg as Expression);
        const query = this.#oneColumn(part);
        const { plan, key } = this.#values(part, arg, query);
        const keys = query.correlated?.keys ?? [];
        return this.#mark(part, plan, [...keys], [{ name: key, outer: arg }]);
      }
      case 'rows': {
        const { plan, pairs } = this.#rowValues(part);
        const compared = pairs.map(({ arg, name }) => ({ name, outer: arg }));
        return this.#mark(part, plan, [], compared);
      }
      case 'any':
        return this.#isAny(part);
    }
  }

  /** Whether a query has rows. */
  #exists(part: SubqueryExpression, plan: Plan): Expression {
    const name = this.#planner.freshName(textOf(part));
    this.#pair(counted(windowed(plan, { limit: 1 }), [{ name, call: COUNT_ROWS }]));
    return { kind: 'binary', op: '>', left: columnTree(name), right: ZERO };
  }

  /**
   * Whether a plan has a row with the keys, and with the compared values besides: null where nulls
   * leave it open whether these are equal.
   */
  #mark(
    part: SubqueryExpression,
    plan: Plan,
    keys: Correlated['keys'],
    compared: Correlated['keys'],
  ): Expression {
    if (compared.length > MOST_COMPARED) {
      refuse(
        part.at,
        `IN takes rows of ${MOST_COMPARED} values at most here, and this one has ${compared.length}; write EXISTS`,
      );
    }
    const name = this.#planner.freshName(textOf(part));
    const sides = {
      left: this.plan,
      right: withRepeats(plan),
      keys: [...keys, ...compared].map((key) => ({ left: key.outer, right: columnTree(key.name) })),
      compared: compared.length,
    };
    comparableKeys(sides);
    this.plan = marked(sides, name);
    return columnTree(name, part.at);
  }

  /** The value for the keys of a row; null where the query has none. */
  #found(part: SubqueryExpression, plan: Plan, correlated: Correlated): Expression {
    this.plan = joinOf('left', this.plan, plan, equations(correlated));
    const { text, at } = part;
    const { count, value } = correlated;
    if (count !== undefined) {
      this.plan = { kind: 'checked', input: this.plan, count, text, at, schema: this.plan.schema };
    }
    return value as Expression;
  }

  /** Whether a comparison is true of a value of the query: the least or the greatest one tell. */
  #isAny(part: SubqueryExpression): Expression {
    const arg = this.rewrite(part.arg as Expression);
    const query = this.#oneColumn(part);
    const column = columnOfValues(query);
    const op = part.op ?? '<>';
    const of = callTree('count', { args: [column] });
    const bounds = op === '<>' ? ['min', 'max'] : [op.startsWith('>') ? 'min' : 'max'];
    const [rows, values, ...names] = this.#summedUp(part, query, [
      COUNT_ROWS,
      of,
      ...bounds.map((name) => ({ ...of, name, ...(part.at === undefined ? {} : { at: part.at }) })),
    ]) as [string, string];
    const tests = (names as string[]).map(
      (name): Expression => ({
        ...{ kind: 'binary', op, left: arg, right: columnTree(name) },
        ...(part.at === undefined ? {} : { at: part.at }),
      }),
    );
    const [test] = tests as [Expression];
    const hit: Expression = tests.length === 1 ? test : { kind: 'or', args: tests };
    return unlessNull(part, arg, hit, rows, values);
  }

  /** The names of columns with aggregates of the rows of a query, or of those for the keys of a row. */
  #summedUp(
    part: SubqueryExpression,
    { plan, correlated }: PlannedQuery,
    aggregates: readonly AggregateExpression[],
  ): string[] {
    const calls = aggregates.map((call) => ({
      name: this.#planner.freshName(`${textOf(part)} ${textOf(call)}`),
      call,
    }));
    const typeOf = (call: AggregateExpression) =>
      aggregateType(
        call,
        call.args.map((arg) => compileTree(arg, plan.schema).type),
      );
    if (correlated === undefined) this.#pair(grouped(plan, [], calls, typeOf));
    else {
      const keys = correlated.keys.map(({ name, outer }) => ({
        ...{ name: this.#planner.freshName(name), value: columnTree(name), outer },
      }));
      const sums = grouped(plan, keys, calls, typeOf, part.at);
      this.plan = joinOf('left', this.plan, sums, equations({ keys }));
    }
    return calls.map(({ name }) => name);
  }

  /** The different values of a query, in the type in which they compare with `arg`, with its keys. */
  #values(
    part: SubqueryExpression,
    arg: Expression,
    query: PlannedQuery,
  ): { plan: Plan; key: string } {
    const column = columnOfValues(query);
    const key = this.#planner.freshName(textOf(part));
    const keys = (query.correlated?.keys ?? []).map(({ name }) => ({
      ...{ name, value: columnTree(name) },
    }));
    // Values that are equal once they are cast would come twice otherwise.
    const values = projected(query.plan, [
      ...keys,
      { name: key, value: this.#comparable(part, arg, query.plan, column) },
    ]);
    return { plan: distinctRows(values, part.at), key };
  }

  /** A column of a query in the type in which it compares with `arg`. */
  #comparable(
    part: SubqueryExpression,
    arg: Expression,
    plan: Plan,
    column: Expression,
  ): Expression {
    const { type } = compileTree(column, plan.schema);
    const own = compileTree(arg, this.plan.schema).type;
    const cast = commonKeyType(own, type);
    if (cast === 'none') {
      refuse(part.at, `IN compares ${typeText(own)} with ${typeText(type)}; cast one of them`);
    }
    return castUnlessSame(column, cast);
  }

  /** The query, which may read columns of this one. */
  #query(part: SubqueryExpression, takesTerms = false): PlannedQuery {
    const asked: Asked = {
      takesTerms,
      form: part.form === 'any' || part.form === 'rows' ? 'in' : part.form,
      outer: this.#scope,
      mapped: this.#mapped,
      typeOf: (tree) => compileTree(tree, this.plan.schema).type,
    };
    return this.#planner.inside(this.#scope, asked).query(part.query);
  }

  #oneColumn(part: SubqueryExpression): PlannedQuery {
    const query = this.#query(part);
    const { length } = query.names;
    if (query.correlated === undefined && length !== 1) {
      refuse(
        part.at,
        `A sub-select in place of a value has one column, and this one has ${length}`,
      );
    }
    return query;
  }

  /** Puts the one row of a plan beside each row. */
  #pair(one: Plan): void {
    this.plan = joinOf('inner', this.plan, one, []);
  }
}

/** The values of a query of one column. */
const columnOfValues = ({ plan, correlated }: PlannedQuery): Expression =>
  correlated?.value ?? columnTree(plan.schema.fields[0]?.name ?? '');

const equations = (correlated: Correlated | undefined): Expression[] =>
  (correlated?.keys ?? []).map(({ name, outer }) => equation(outer, name));

/** The rows of a plan that leaves repeated ones out, with these: a semi join needs no less. */
const withRepeats = (plan: Plan): Plan =>
  plan.kind === 'group' && plan.aggregates.length === 0 ? plan.input : plan;

/** Values of a row that are compared with nulls among them: keys are kept apart by where these are. */
const MOST_COMPARED = 8;

const isNull = (arg: Expression): Expression => ({ kind: 'is', arg, test: 'null', negated: false });

const ZERO: Expression = { kind: 'number', text: '0' };

const counted = (
  plan: Plan,
  calls: readonly { readonly name: string; readonly call: AggregateExpression }[],
): Plan => grouped(plan, [], calls, () => new Int64());

const equation = (arg: Expression, key: string): Expression => ({
  ...{ kind: 'binary', op: '=', left: arg, right: columnTree(key) },
  ...(arg.at === undefined ? {} : { at: arg.at }),
});

/**
 * Whether `hit`, of the rows of a query: null where it is not and either side is null, but false
 * where the query has no rows.
 * @param rows a column that counts them @param values one that counts those with a value
 */
function unlessNull(
  part: SubqueryExpression,
  arg: Expression,
  hit: Expression,
  rows: string,
  values: string,
): Expression {
  const count = (name: string): Expression => ({
    ...{ kind: 'call', name: 'coalesce', args: [columnTree(name), ZERO] },
  });
  const hasNull: Expression = {
    ...{ kind: 'binary', op: '<', left: count(values), right: count(rows) },
  };
  const no: Expression = { kind: 'boolean', value: false };
  return {
    kind: 'case',
    whens: [
      { when: hit, value: { kind: 'boolean', value: true } },
      {
        when: { kind: 'binary', op: '=', left: count(rows), right: ZERO },
        value: no,
      },
      { when: { kind: 'or', args: [isNull(arg), hasNull] }, value: { kind: 'null' } },
    ],
    otherwise: no,
    ...(part.at === undefined ? {} : { at: part.at }),
  };
}
