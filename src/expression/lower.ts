/**
 * PostgreSQL's parse tree -> our tree. Everything we do not evaluate is refused here by name and
 * position. It knows the shape of that parse tree, which nothing else does.
 */
import { columnPath } from './lower-names.ts';
import { lowerTypeName } from './lower-types.ts';
import { refuse } from './sql-error.ts';
import type { BinaryOperator, Expression, LiteralExpression } from './tree.ts';

export type PgNode = Readonly<Record<string, unknown>>;

export interface LowerContext {
  readonly lists: readonly (readonly LiteralExpression[])[];
  readonly lenientCasts: ReadonlySet<number>;
  /** The text the grammar was given, without the wrapping. */
  readonly text: string;
  /** Node location -> offset in `text`. */
  readonly locate: (location: number) => number;
  /** Offset in `text` -> offset in the user's text. */
  readonly origin: (offset: number) => number;
}

export function record(value: unknown): PgNode {
  return typeof value === 'object' && value !== null ? (value as PgNode) : {};
}

export function list(value: unknown): readonly PgNode[] {
  return Array.isArray(value) ? value.map(record) : [];
}

/** Throws InvalidInput naming the unsupported thing and where it stands. */
export function lowerExpression(node: PgNode, context: LowerContext): Expression {
  return new Lowering(context).expression(node);
}

const OPERATORS = new Set<string>(['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', '||']);

const AGGREGATES = new Set(
  (
    'count sum avg min max stddev variance array_agg string_agg bool_and bool_or every median ' +
    'approx_distinct first_value last_value corr covar_pop covar_samp var_pop stddev_pop'
  ).split(' '),
);

/** The grammar's bit for one field of INTERVAL '1' DAY. */
const INTERVAL_FIELDS = new Map([
  [4, 'year'],
  [2, 'month'],
  [8, 'day'],
  [1024, 'hour'],
  [2048, 'minute'],
  [4096, 'second'],
]);

const REFUSED: Readonly<Record<string, string>> = {
  SubLink: 'A subquery',
  ParamRef: 'A parameter',
  RowExpr: 'A row of several values',
  GroupingFunc: 'GROUPING',
  CollateClause: 'COLLATE',
  XmlExpr: 'An XML function',
  JsonIsPredicate: 'IS JSON',
  CurrentOfExpr: 'CURRENT OF',
  SetToDefault: 'DEFAULT',
};

class Lowering {
  readonly #context: LowerContext;

  constructor(context: LowerContext) {
    this.#context = context;
  }

  #at(node: PgNode): { at: number } | Record<never, never> {
    const location = node.location;
    if (location === undefined) return {};
    if (typeof location !== 'number' || location < 0) return {};
    return { at: this.#context.origin(this.#context.locate(location)) };
  }

  #refuse(node: PgNode, what: string): never {
    const at = this.#at(node);
    return refuse('at' in at ? at.at : undefined, what);
  }

  expression(wrapped: PgNode): Expression {
    const kind = Object.keys(wrapped)[0] ?? '';
    const node = record(wrapped[kind]);
    switch (kind) {
      case 'ColumnRef':
        return this.#column(node);
      case 'A_Const':
        return this.#constant(node);
      case 'A_Expr':
        return this.#operator(node);
      case 'BoolExpr':
        return this.#boolean(node);
      case 'NullTest': {
        const negated = node.nulltesttype === 'IS_NOT_NULL';
        return {
          kind: 'is',
          arg: this.#child(node.arg),
          test: 'null',
          negated,
          ...this.#at(node),
        };
      }
      case 'BooleanTest':
        return this.#booleanTest(node);
      case 'CaseExpr':
        return this.#case(node);
      case 'TypeCast':
        return this.#cast(node);
      case 'FuncCall':
        return this.#call(node);
      case 'CoalesceExpr':
        return this.#named('coalesce', node);
      case 'MinMaxExpr':
        return this.#named(node.op === 'IS_LEAST' ? 'least' : 'greatest', node);
      case 'A_ArrayExpr':
        return {
          kind: 'array',
          items: list(node.elements).map((item) => this.expression(item)),
          ...this.#at(node),
        };
      case 'A_Indirection':
        return this.#indirection(node);
      case 'SQLValueFunction':
        return this.#valueFunction(node);
      default:
        return this.#refuse(
          node,
          `${REFUSED[kind] ?? `This syntax (${kind})`} is not supported here`,
        );
    }
  }

  #child(value: unknown): Expression {
    return this.expression(record(value));
  }

  #column(node: PgNode): Expression {
    const fields = list(node.fields);
    if (fields.some((field) => 'A_Star' in field)) {
      this.#refuse(node, "'*' is not supported here; name the columns");
    }
    const names = fields.map((field) => String(record(field.String).sval ?? ''));
    const location = typeof node.location === 'number' ? node.location : -1;
    const { text, locate } = this.#context;
    // The grammar folds unquoted names to lower case; the text still has what the user wrote.
    const path = location < 0 ? names : columnPath(text, locate(location), names);
    return { kind: 'column', path, ...this.#at(node) };
  }

  /** USER and its like are columns far more often than they are the grammar's functions. */
  #valueFunction(node: PgNode): Expression {
    const name = String(node.op).replace('SVFOP_', '').toLowerCase();
    if (name !== 'user') {
      this.#refuse(node, `${name} is not supported: an expression has no clock and no session`);
    }
    const path = columnPath(this.#context.text, this.#context.locate(Number(node.location)), [
      name,
    ]);
    return { kind: 'column', path, ...this.#at(node) };
  }

  #constant(node: PgNode): Expression {
    const at = this.#at(node);
    if (node.isnull === true) return { kind: 'null', ...at };
    if ('ival' in node) {
      return { kind: 'number', text: String(record(node.ival).ival ?? 0), ...at };
    }
    if ('fval' in node) {
      return {
        kind: 'number',
        text: String(record(node.fval).fval).replaceAll('_', ''),
        ...at,
      };
    }
    if ('boolval' in node) {
      return { kind: 'boolean', value: record(node.boolval).boolval === true, ...at };
    }
    if ('sval' in node) {
      return { kind: 'string', value: String(record(node.sval).sval ?? ''), ...at };
    }
    const bits = String(record(node.bsval).bsval ?? '');
    const hex = bits.slice(1).toLowerCase();
    if (bits[0] !== 'x' || hex.length % 2 !== 0 || !/^[0-9a-f]*$/.test(hex)) {
      this.#refuse(node, "A binary literal is X'..' with two hexadecimal digits a byte");
    }
    return { kind: 'bytes', hex, ...at };
  }

  #operator(node: PgNode): Expression {
    const at = this.#at(node);
    const op = list(node.name)
      .map((part) => String(record(part.String).sval))
      .join('.');
    const left = node.lexpr;
    const right = node.rexpr;
    switch (node.kind) {
      case 'AEXPR_OP':
        return this.#plainOperator(op, left, right, node);
      case 'AEXPR_OP_ANY':
        if (op !== '=') this.#refuse(node, `${op} ANY is not supported; only = ANY is`);
        return {
          kind: 'call',
          name: 'array_has',
          args: [this.#child(right), this.#child(left)],
          ...at,
        };
      case 'AEXPR_DISTINCT':
      case 'AEXPR_NOT_DISTINCT': {
        const negated = node.kind === 'AEXPR_NOT_DISTINCT';
        return {
          kind: 'distinct',
          left: this.#child(left),
          right: this.#child(right),
          negated,
          ...at,
        };
      }
      case 'AEXPR_NULLIF':
        return {
          kind: 'call',
          name: 'nullif',
          args: [this.#child(left), this.#child(right)],
          ...at,
        };
      case 'AEXPR_IN': {
        const negated = op === '<>';
        return { kind: 'in', arg: this.#child(left), items: this.#items(right), negated, ...at };
      }
      case 'AEXPR_LIKE':
      case 'AEXPR_ILIKE':
        return this.#like(node, op);
      case 'AEXPR_BETWEEN':
      case 'AEXPR_NOT_BETWEEN': {
        const [low, high] = list(record(record(right).List).items);
        return {
          kind: 'between',
          arg: this.#child(left),
          low: this.#child(low),
          high: this.#child(high),
          negated: node.kind === 'AEXPR_NOT_BETWEEN',
          ...at,
        };
      }
      default:
        return this.#refuse(node, `${op.toUpperCase()} (${String(node.kind)}) is not supported`);
    }
  }

  #plainOperator(op: string, left: unknown, right: unknown, node: PgNode): Expression {
    const at = this.#at(node);
    if (left === undefined) {
      if (op === '-') return { kind: 'negate', arg: this.#child(right), ...at };
      if (op === '+') return this.#child(right);
    } else if (OPERATORS.has(op)) {
      const [l, r] = [this.#child(left), this.#child(right)];
      return { kind: 'binary', op: op as BinaryOperator, left: l, right: r, ...at };
    } else if (op === '~' || op === '~*' || op === '!~' || op === '!~*') {
      const args: Expression[] = [this.#child(left), this.#child(right)];
      if (op.endsWith('*')) args.push({ kind: 'string', value: 'i' });
      const call: Expression = { kind: 'call', name: 'regexp_like', args, ...at };
      return op.startsWith('!') ? { kind: 'not', arg: call, ...at } : call;
    }
    return this.#refuse(node, `The operator ${op} is not supported`);
  }

  #items(value: unknown): readonly Expression[] {
    const items = list(record(record(value).List).items);
    const parameter = items.length === 1 ? record(record(items[0]).ParamRef).number : undefined;
    if (typeof parameter === 'number') return this.#context.lists[parameter - 1] ?? [];
    return items.map((item) => this.expression(item));
  }

  #like(node: PgNode, op: string): Expression {
    const right = record(node.rexpr);
    const call = record(right.FuncCall);
    const name = list(call.funcname).map((part) => String(record(part.String).sval));
    const escaped = name.at(-1) === 'like_escape' && name[0] === 'pg_catalog';
    const [pattern, escaping] = escaped ? list(call.args) : [right, undefined];
    let character: string | undefined;
    if (escaping !== undefined) {
      const found = this.expression(escaping);
      if (found.kind !== 'string' || [...found.value].length !== 1) {
        this.#refuse(node, 'ESCAPE takes a string of one character');
      }
      character = found.value;
    }
    return {
      kind: 'like',
      arg: this.#child(node.lexpr),
      pattern: this.#child(pattern),
      insensitive: op.endsWith('*'),
      negated: op.startsWith('!'),
      ...(character === undefined ? {} : { escape: character }),
      ...this.#at(node),
    };
  }

  #boolean(node: PgNode): Expression {
    const args = list(node.args).map((arg) => this.expression(arg));
    const at = this.#at(node);
    const [first] = args;
    if (node.boolop === 'NOT_EXPR' && first !== undefined)
      return { kind: 'not', arg: first, ...at };
    return { kind: node.boolop === 'AND_EXPR' ? 'and' : 'or', args, ...at };
  }

  #booleanTest(node: PgNode): Expression {
    const test = String(node.booltesttype);
    const negated = test.startsWith('IS_NOT_');
    const name = test.replace(/^IS_(NOT_)?/, '').toLowerCase() as 'true' | 'false' | 'unknown';
    return { kind: 'is', arg: this.#child(node.arg), test: name, negated, ...this.#at(node) };
  }

  #case(node: PgNode): Expression {
    const whens = list(node.args).map((arg) => {
      const when = record(arg.CaseWhen);
      return { when: this.#child(when.expr), value: this.#child(when.result) };
    });
    return {
      kind: 'case',
      whens,
      ...(node.arg === undefined ? {} : { operand: this.#child(node.arg) }),
      ...(node.defresult === undefined ? {} : { otherwise: this.#child(node.defresult) }),
      ...this.#at(node),
    };
  }

  #cast(node: PgNode): Expression {
    const type = record(node.typeName);
    const located = Number(node.location) >= 0 ? node : type;
    const at = this.#at(located);
    const lenient =
      located === node &&
      this.#context.lenientCasts.has(this.#context.locate(Number(node.location)));
    const word = this.#context.text.slice(this.#context.locate(Number(type.location))).slice(0, 6);
    const said = lowerTypeName(type, word, (message) => this.#refuse(type, message));
    const arg = this.#child(node.arg);
    if (said.name === 'interval' && said.args.length > 0) {
      const unit = said.args.length === 1 ? INTERVAL_FIELDS.get(said.args[0] ?? 0) : undefined;
      if (unit === undefined || arg.kind !== 'string') {
        this.#refuse(type, "An interval is written INTERVAL '1 day' or INTERVAL '1' DAY");
      }
      const text: Expression = { ...arg, value: `${arg.value} ${unit}` };
      return { kind: 'cast', arg: text, type: { name: 'interval', args: [] }, lenient, ...at };
    }
    return { kind: 'cast', arg, type: said, lenient, ...at };
  }

  #call(node: PgNode): Expression {
    const path = list(node.funcname).map((part) => String(record(part.String).sval));
    const name = (path.at(-1) ?? '').toLowerCase();
    if (path.length > 1 && path[0] !== 'pg_catalog') {
      this.#refuse(node, `The function ${path.join('.')} is not supported`);
    }
    if (node.over !== undefined) this.#refuse(node, 'A window function is not supported here');
    if (AGGREGATES.has(name)) {
      this.#refuse(node, `The aggregate ${name} is not supported here: an expression sees one row`);
    }
    for (const clause of ['agg_star', 'agg_distinct', 'agg_order', 'agg_filter', 'func_variadic']) {
      if (node[clause] !== undefined)
        this.#refuse(node, `This form of ${name}(..) is not supported`);
    }
    const args = list(node.args);
    if (args.some((arg) => 'NamedArgExpr' in arg)) {
      this.#refuse(node, `${name} takes no named arguments`);
    }
    return { kind: 'call', name, args: args.map((arg) => this.expression(arg)), ...this.#at(node) };
  }

  #named(name: string, node: PgNode): Expression {
    const args = list(node.args).map((arg) => this.expression(arg));
    return { kind: 'call', name, args, ...this.#at(node) };
  }

  #indirection(node: PgNode): Expression {
    let result = this.#child(node.arg);
    const at = 'at' in result && result.at !== undefined ? { at: result.at } : {};
    for (const step of list(node.indirection)) {
      const name = record(step.String).sval;
      const indices = record(step.A_Indices);
      if (typeof name === 'string') result = { kind: 'field', arg: result, name, ...at };
      else if (indices.is_slice === true || indices.uidx === undefined) {
        refuse('at' in at ? at.at : undefined, 'A slice of a list is not supported');
      } else {
        const index = this.#child(indices.uidx);
        result =
          index.kind === 'string'
            ? { kind: 'field', arg: result, name: index.value, ...at }
            : { kind: 'element', arg: result, index, ...at };
      }
    }
    return result;
  }
}
