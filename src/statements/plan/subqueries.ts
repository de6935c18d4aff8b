/**
 * `Subqueries`: plans the queries in place of values in the expressions of a SELECT. Each is carried
 * out whole and joined to the plan, and `rewrite` puts a column in its place: `matching` keeps the
 * rows whose value a query has. A query that reads columns of the one around it is refused, and so
 * is one of several columns in place of a value.
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
import { joinOf } from './joins.ts';
import { commonKeyType } from './key-types.ts';
import type { Plan } from './plan-tree.ts';
import { type PlannedQuery, type Planner, windowed } from './planner.ts';
import type { Scope } from './scope.ts';
import { distinctRows, grouped, projected, renamed } from './steps.ts';
import { columnsIn, columnTree, rewritten, textOf, visit } from './trees.ts';

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
  readonly #inner: Planner;
  readonly #placed = new Map<string, Expression>();

  /** @param scope names that the queries cannot read, for messages */
  constructor(planner: Planner, plan: Plan, scope: Scope) {
    this.plan = plan;
    this.#planner = planner;
    this.#inner = planner.inside(scope);
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
    if (term.kind !== 'subquery' || term.form !== 'in') return this.rewrite(term);
    const arg = this.rewrite(term.arg as Expression);
    // A constant is a key of no join.
    if (columnsIn([arg]).size === 0) return this.rewrite(term);
    const { plan, key } = this.#distinct(term, arg);
    this.plan = joinOf('inner', this.plan, plan, [equation(arg, key)]);
    return undefined;
  }

  #value(part: SubqueryExpression): Expression {
    switch (part.form) {
      case 'value': {
        const { plan } = this.#oneColumn(part);
        const name = this.#planner.freshName(textOf(part));
        const [field] = plan.schema.fields;
        const schema = new Schema([renamed(field as NonNullable<typeof field>, name, true)]);
        const { text, at } = part;
        this.#pair({ kind: 'single', input: plan, text, at, schema });
        return columnTree(name, part.at);
      }
      case 'exists': {
        const { plan } = this.#inner.query(part.query);
        const name = this.#planner.freshName(textOf(part));
        this.#pair(counted(windowed(plan, { limit: 1 }), [{ name, call: COUNT }]));
        return { kind: 'binary', op: '>', left: columnTree(name), right: ZERO };
      }
      case 'in':
        return this.#isIn(part);
    }
  }

  /**
   * Whether the value is in the column: null where it is not and either is null, but false in a column
   * without rows.
   */
  #isIn(part: SubqueryExpression): Expression {
    const arg = this.rewrite(part.arg as Expression);
    const { plan, key } = this.#distinct(part, arg);
    const hit = this.#planner.freshName(`${textOf(part)} found`);
    const marked = projected(plan, [
      { name: key, value: columnTree(key) },
      { name: hit, value: { kind: 'boolean', value: true } },
    ]);
    this.plan = joinOf('left', this.plan, marked, [equation(arg, key)]);
    const again = this.#oneColumn(part).plan;
    const rows = this.#planner.freshName(`${textOf(part)} rows`);
    const values = this.#planner.freshName(`${textOf(part)} values`);
    const column = columnTree(again.schema.fields[0]?.name ?? '');
    this.#pair(
      counted(again, [
        { name: rows, call: COUNT },
        { name: values, call: { ...COUNT, star: false, args: [column] } },
      ]),
    );
    const isNull: Expression = { kind: 'is', arg, test: 'null', negated: false };
    const hasNull: Expression = {
      ...{ kind: 'binary', op: '<', left: columnTree(values), right: columnTree(rows) },
    };
    const no: Expression = { kind: 'boolean', value: false };
    return {
      kind: 'case',
      whens: [
        { when: columnTree(hit), value: { kind: 'boolean', value: true } },
        {
          when: { kind: 'binary', op: '=', left: columnTree(rows), right: ZERO },
          value: no,
        },
        { when: { kind: 'or', args: [isNull, hasNull] }, value: { kind: 'null' } },
      ],
      otherwise: no,
      ...(part.at === undefined ? {} : { at: part.at }),
    };
  }

  /** The different values of a query, in the type in which they compare with `arg`. */
  #distinct(part: SubqueryExpression, arg: Expression): { plan: Plan; key: string } {
    const { plan } = this.#oneColumn(part);
    const [field] = plan.schema.fields;
    const type = (field as NonNullable<typeof field>).type;
    const own = compileTree(arg, this.plan.schema).type;
    const cast = commonKeyType(own, type);
    if (cast === 'none') {
      refuse(part.at, `IN compares ${typeText(own)} with ${typeText(type)}; cast one of them`);
    }
    const column = columnTree(field?.name ?? '');
    const key = this.#planner.freshName(textOf(part));
    // Values that are equal once they are cast would come twice otherwise.
    const value: Expression =
      cast === 'same' ? column : { kind: 'cast', arg: column, type: cast, lenient: false };
    return { plan: distinctRows(projected(plan, [{ name: key, value }]), part.at), key };
  }

  #oneColumn(part: SubqueryExpression): PlannedQuery {
    const query = this.#inner.query(part.query);
    const { length } = query.names;
    if (length !== 1) {
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

const ZERO: Expression = { kind: 'number', text: '0' };

const COUNT: AggregateExpression = {
  ...{ kind: 'aggregate', name: 'count', args: [], star: true, distinct: false, orderBy: [] },
};

const counted = (
  plan: Plan,
  calls: readonly { readonly name: string; readonly call: AggregateExpression }[],
): Plan => grouped(plan, [], calls, () => new Int64());

const equation = (arg: Expression, key: string): Expression => ({
  ...{ kind: 'binary', op: '=', left: arg, right: columnTree(key) },
  ...(arg.at === undefined ? {} : { at: arg.at }),
});
