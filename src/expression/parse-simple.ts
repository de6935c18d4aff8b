/**
 * The few forms that most filters have, read from tokens alone: the grammar is a large module that
 * takes a process longer to load than most tables take to filter. Columns against literals with
 * comparisons, BETWEEN, IN and IS NULL, joined by AND or by OR. Everything else, every mistake
 * included, is left to the grammar; what is read here comes out as the grammar would have it.
 */
import type { Token } from './tokens.ts';
import type { ColumnExpression, CompareOperator, Expression, LiteralExpression } from './tree.ts';

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

const COMPARISONS: Readonly<Record<string, CompareOperator>> = {
  '=': '=',
  '==': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** The grammar cuts longer names, and says so. */
const LONGEST_NAME = 63;

/** The tree of a simple predicate, undefined for anything else. */
export function parseSimple(tokens: readonly Token[]): Expression | undefined {
  return new SimpleParser(tokens).parse();
}

class SimpleParser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression | undefined {
    const first = this.#term();
    const joint = this.#tokens[this.#next];
    if (first === undefined || joint === undefined) return first;
    if (joint.word !== 'and' && joint.word !== 'or') return undefined;
    const args = [first];
    while (this.#next < this.#tokens.length) {
      if (!this.#took(joint.word)) return undefined;
      const term = this.#term();
      if (term === undefined) return undefined;
      args.push(term);
    }
    return { kind: joint.word, args, at: joint.start };
  }

  #term(): Expression | undefined {
    const arg = this.#column();
    const token = this.#tokens[this.#next++];
    if (arg === undefined || token === undefined) return undefined;
    const op = token.kind === 'operator' ? COMPARISONS[token.text] : undefined;
    const at = token.start;
    if (op !== undefined) {
      const right = this.#literal();
      return right && { kind: 'binary', op, left: arg, right, at };
    }
    if (token.word === 'is') return this.#nullTest(arg, at);
    const negated = token.word === 'not';
    const form = negated ? this.#tokens[this.#next++]?.word : token.word;
    if (form === 'between') return this.#between(arg, negated, at);
    return form === 'in' ? this.#list(arg, negated, at) : undefined;
  }

  #nullTest(arg: ColumnExpression, at: number): Expression | undefined {
    const negated = this.#took('not');
    return this.#took('null') ? { kind: 'is', arg, test: 'null', negated, at } : undefined;
  }

  #between(arg: ColumnExpression, negated: boolean, at: number): Expression | undefined {
    const low = this.#literal();
    if (low === undefined || !this.#took('and')) return undefined;
    const high = this.#literal();
    return high && { kind: 'between', arg, low, high, negated, at };
  }

  #list(arg: ColumnExpression, negated: boolean, at: number): Expression | undefined {
    if (this.#tokens[this.#next++]?.text !== '(') return undefined;
    const items: LiteralExpression[] = [];
    for (;;) {
      const item = this.#literal();
      if (item === undefined) return undefined;
      items.push(item);
      const after = this.#tokens[this.#next++]?.text;
      if (after === ')') return { kind: 'in', arg, items, negated, at };
      if (after !== ',') return undefined;
    }
  }

  #took(word: string): boolean {
    if (this.#tokens[this.#next]?.word !== word) return false;
    this.#next += 1;
    return true;
  }

  #column(): ColumnExpression | undefined {
    const token = this.#tokens[this.#next++];
    if (token === undefined) return undefined;
    const name = nameOf(token);
    if (name === undefined || Buffer.byteLength(name) > LONGEST_NAME) return undefined;
    return { kind: 'column', path: [name], at: token.start };
  }

  #literal(): LiteralExpression | undefined {
    let token = this.#tokens[this.#next++];
    const at = token?.start ?? 0;
    const sign = token?.text === '-' ? '-' : '';
    if (sign !== '') token = this.#tokens[this.#next++];
    if (token?.kind === 'number' && /^(?:0|[1-9]\d*)(?:\.\d+)?$/.test(token.text)) {
      return sign !== '' && /^0(?:\.0+)?$/.test(token.text)
        ? undefined
        : { kind: 'number', text: sign + token.text, at };
    }
    if (sign !== '' || token?.kind !== 'string' || !token.text.startsWith("'")) return undefined;
    return { kind: 'string', value: token.text.slice(1, -1).replaceAll("''", "'"), at };
  }
}

function nameOf({ kind, text, word }: Token): string | undefined {
  if (kind === 'word') return word === undefined || KEYWORDS.has(word) ? undefined : text;
  if (kind !== 'quoted' && kind !== 'backtick') return undefined;
  const quote = text.charAt(0);
  return text.slice(1, -1).replaceAll(quote + quote, quote) || undefined;
}
