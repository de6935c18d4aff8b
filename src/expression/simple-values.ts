/**
 * Values that are read without the grammar: columns, literals, and operators between them. Without
 * parentheses and calls, as most new values of an update are.
 */
import type { Token } from './tokens.ts';
import type { BinaryOperator, ColumnExpression, Expression, LiteralExpression } from './tree.ts';

/** PostgreSQL's keywords but for the unreserved ones, which are names like any other. */
const KEYWORDS = new Set(
  (
    'all analyse analyze and any array as asc asymmetric both case cast check collate column ' +
    'constraint create current_catalog current_date current_role current_time current_timestamp ' +
    'current_user default deferrable desc distinct do else end except false fetch for foreign from ' +
    'grant group having in initially intersect into lateral leading limit localtime localtimestamp ' +
    'not null offset on only or order placing primary references returning select session_user some ' +
    'symmetric system_user table then to trailing true union unique user using variadic when where ' +
    'window with authorization binary collation concurrently cross current_schema freeze full ilike ' +
    'inner is isnull join left like natural notnull outer overlaps right similar tablesample verbose ' +
    'between bigint bit boolean char character coalesce dec decimal exists extract float greatest ' +
    'grouping inout int integer interval json json_array json_arrayagg json_exists json_object ' +
    'json_objectagg json_query json_scalar json_serialize json_table json_value least merge_action ' +
    'national nchar none normalize nullif numeric out overlay position precision real row setof ' +
    'smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement ' +
    'xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable'
  ).split(' '),
);

/** How tightly an operator binds; those of one strength are taken from left to right. */
const STRENGTHS: ReadonlyMap<string, number> = new Map([
  ['*', 3],
  ['/', 3],
  ['%', 3],
  ['+', 2],
  ['-', 2],
  ['||', 1],
]);

const NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const ZERO = /^0(?:\.0+)?(?:[eE]|$)/;

/** The grammar cuts longer names, and says so. */
const LONGEST_NAME = 63;

export class SimpleValues {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Undefined where the tokens are anything but one value. */
  whole(): Expression | undefined {
    const value = this.peek()?.text === '[' ? this.#list() : this.#chain(1);
    return this.#next === this.#tokens.length ? value : undefined;
  }

  protected next(): Token | undefined {
    return this.#tokens[this.#next++];
  }

  protected peek(): Token | undefined {
    return this.#tokens[this.#next];
  }

  protected took(word: string): boolean {
    if (this.peek()?.word !== word) return false;
    this.#next += 1;
    return true;
  }

  protected column(): ColumnExpression | undefined {
    const token = this.next();
    if (token === undefined) return undefined;
    const name = nameOf(token);
    if (name === undefined || Buffer.byteLength(name) > LONGEST_NAME) return undefined;
    return { kind: 'column', path: [name], at: token.start };
  }

  /** A number or a text. */
  protected literal(): LiteralExpression | undefined {
    let token = this.next();
    const at = token?.start ?? 0;
    const sign = token?.text === '-' ? '-' : '';
    if (sign !== '') token = this.next();
    if (token?.kind === 'number') {
      const { text } = token;
      const after = this.peek();
      // Left to the grammar: what it refuses, `1and`, and zeros whose sign it knows what to do with.
      const glued = after?.kind === 'word' && after.start === token.end;
      if (glued || !NUMBER.test(text) || (sign !== '' && ZERO.test(text))) return undefined;
      return { kind: 'number', text: sign + text, at };
    }
    if (sign !== '' || token?.kind !== 'string' || !token.text.startsWith("'")) return undefined;
    return { kind: 'string', value: token.text.slice(1, -1).replaceAll("''", "'"), at };
  }

  /** One or more, up to the closing bracket. */
  protected literals(close: string): LiteralExpression[] | undefined {
    const items: LiteralExpression[] = [];
    for (;;) {
      const item = this.literal();
      if (item === undefined) return undefined;
      items.push(item);
      const after = this.next()?.text;
      if (after === close) return items;
      if (after !== ',') return undefined;
    }
  }

  /** `[1, 2.5]` */
  #list(): Expression | undefined {
    const at = this.next()?.start ?? 0;
    const items = this.literals(']');
    return items && { kind: 'array', items, at };
  }

  /** Operands joined by operators that bind at least as tightly as this. */
  #chain(strength: number): Expression | undefined {
    let left = this.#operand();
    for (;;) {
      const operator = this.peek();
      const found = operator?.kind === 'operator' ? STRENGTHS.get(operator.text) : undefined;
      if (left === undefined || operator === undefined || found === undefined) return left;
      if (found < strength) return left;
      this.#next += 1;
      const right = this.#chain(found + 1);
      if (right === undefined) return undefined;
      const op = operator.text as BinaryOperator;
      left = { kind: 'binary', op, left, right, at: operator.start };
    }
  }

  #operand(): Expression | undefined {
    const token = this.peek();
    const at = token?.start ?? 0;
    switch (token?.word) {
      case 'null':
        this.#next += 1;
        return { kind: 'null', at };
      case 'true':
      case 'false':
        this.#next += 1;
        return { kind: 'boolean', value: token.word === 'true', at };
    }
    if (token?.kind === 'string' && /^x'(?:[\da-f]{2})*'$/i.test(token.text)) {
      this.#next += 1;
      return { kind: 'bytes', hex: token.text.slice(2, -1).toLowerCase(), at };
    }
    const begin = this.#next;
    const literal = this.literal();
    if (literal !== undefined) return literal;
    this.#next = begin;
    if (token?.text !== '-') return this.column();
    this.#next += 1;
    const arg = this.column();
    return arg && { kind: 'negate', arg, at };
  }
}

function nameOf({ kind, text, word }: Token): string | undefined {
  if (kind === 'word') return word === undefined || KEYWORDS.has(word) ? undefined : text;
  if (kind !== 'quoted' && kind !== 'backtick') return undefined;
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote) || undefined;
}
