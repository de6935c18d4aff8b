/**
 * PostgreSQL's parse tree -> our tree, for comparison with what our own parser makes of the same
 * text. Refuses what this engine does not evaluate.
 */

import { refuse } from '../../src/sql/parse/sql-error.ts';
import type { Expression } from '../../src/sql/parse/tree.ts';
import { lowerCall, lowerCast } from './lower-calls.ts';
import { lowerOperator } from './lower-operators.ts';
import { type LowerContext, type Lowering, list, type PgNode, record } from './pg-node.ts';

/** Throws InvalidInput naming the unsupported thing and where it stands. */
export function lowerExpression(node: PgNode, context: LowerContext): Expression {
  return new TreeLowering(context).expression(node);
}

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

class TreeLowering implements Lowering {
  readonly context: LowerContext;

  constructor(context: LowerContext) {
    this.context = context;
  }

  at(node: PgNode): { at: number } | Record<never, never> {
    const location = node.location;
    if (location === undefined) return {};
    if (typeof location !== 'number' || location < 0) return {};
    return { at: this.context.locate(location) };
  }

  refuse(node: PgNode, what: string): never {
    const at = this.at(node);
    refuse('at' in at ? at.at : undefined, what);
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
        return lowerOperator(node, this);
      case 'BoolExpr':
        return this.#boolean(node);
      case 'NullTest': {
        const negated = node.nulltesttype === 'IS_NOT_NULL';
        return {
          kind: 'is',
          arg: this.child(node.arg),
          test: 'null',
          negated,
          ...this.at(node),
        };
      }
      case 'BooleanTest':
        return this.#booleanTest(node);
      case 'CaseExpr':
        return this.#case(node);
      case 'TypeCast':
        return lowerCast(node, this);
      case 'FuncCall':
        return lowerCall(node, this);
      case 'CoalesceExpr':
        return this.#named('coalesce', node);
      case 'MinMaxExpr':
        return this.#named(node.op === 'IS_LEAST' ? 'least' : 'greatest', node);
      case 'A_ArrayExpr':
        return {
          kind: 'array',
          items: list(node.elements).map((item) => this.expression(item)),
          ...this.at(node),
        };
      case 'A_Indirection':
        return this.#indirection(node);
      case 'SQLValueFunction':
        return this.#valueFunction(node);
      default:
        return this.refuse(
          node,
          `${REFUSED[kind] ?? `This syntax (${kind})`} is not supported here`,
        );
    }
  }

  child(value: unknown): Expression {
    return this.expression(record(value));
  }

  #column(node: PgNode): Expression {
    const fields = list(node.fields);
    if (fields.some((field) => 'A_Star' in field)) {
      this.refuse(node, "'*' is not supported here; name the columns");
    }
    const path = fields.map((field) => String(record(field.String).sval ?? ''));
    return { kind: 'column', path, ...this.at(node) };
  }

  /** USER and its like are columns far more often than they are the grammar's functions. */
  #valueFunction(node: PgNode): Expression {
    const name = String(node.op).replace('SVFOP_', '').toLowerCase();
    if (name !== 'user') {
      this.refuse(node, `${name} is not supported: an expression has no clock and no session`);
    }
    return { kind: 'column', path: [name], ...this.at(node) };
  }

  #constant(node: PgNode): Expression {
    const at = this.at(node);
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
      this.refuse(node, "A binary literal is X'..' with two hexadecimal digits a byte");
    }
    return { kind: 'bytes', hex, ...at };
  }

  #boolean(node: PgNode): Expression {
    const args = list(node.args).map((arg) => this.expression(arg));
    const at = this.at(node);
    const [first] = args;
    if (node.boolop === 'NOT_EXPR' && first !== undefined)
      return { kind: 'not', arg: first, ...at };
    const kind = node.boolop === 'AND_EXPR' ? 'and' : 'or';
    // `+ (a OR b) OR c` is one OR once the sign is gone.
    if (first?.kind === kind) args.splice(0, 1, ...first.args);
    const begin = first?.kind === kind ? { at: first.at ?? 0 } : at;
    return { kind, args, ...begin };
  }

  #booleanTest(node: PgNode): Expression {
    const test = String(node.booltesttype);
    const negated = test.startsWith('IS_NOT_');
    const name = test.replace(/^IS_(NOT_)?/, '').toLowerCase() as 'true' | 'false' | 'unknown';
    return { kind: 'is', arg: this.child(node.arg), test: name, negated, ...this.at(node) };
  }

  #case(node: PgNode): Expression {
    const whens = list(node.args).map((arg) => {
      const when = record(arg.CaseWhen);
      return { when: this.child(when.expr), value: this.child(when.result) };
    });
    return {
      kind: 'case',
      whens,
      ...(node.arg === undefined ? {} : { operand: this.child(node.arg) }),
      ...(node.defresult === undefined ? {} : { otherwise: this.child(node.defresult) }),
      ...this.at(node),
    };
  }

  #named(name: string, node: PgNode): Expression {
    const args = list(node.args).map((arg) => this.expression(arg));
    return { kind: 'call', name, args, ...this.at(node) };
  }

  #indirection(node: PgNode): Expression {
    let result = this.child(node.arg);
    const at = 'at' in result && result.at !== undefined ? { at: result.at } : {};
    for (const step of list(node.indirection)) {
      const name = record(step.String).sval;
      const indices = record(step.A_Indices);
      if (typeof name === 'string') result = { kind: 'field', arg: result, name, ...at };
      else if (indices.is_slice === true) {
        const first: Expression =
          indices.lidx === undefined ? { kind: 'number', text: '1' } : this.child(indices.lidx);
        const last: Expression =
          indices.uidx === undefined ? { kind: 'number', text: '-1' } : this.child(indices.uidx);
        result = { kind: 'call', name: 'array_slice', args: [result, first, last], ...at };
      } else {
        const index = this.child(indices.uidx);
        result =
          index.kind === 'string'
            ? { kind: 'field', arg: result, name: index.value, ...at }
            : { kind: 'element', arg: result, index, ...at };
      }
    }
    return result;
  }
}
