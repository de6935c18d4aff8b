/**
 * `parseStatementText` parses the text of a query (SELECT, FROM, WITH or VALUES) into a tree. The
 * grammar is PostgreSQL's, as far as statements/ can run it, with a few forms of other databases,
 * such as QUALIFY and FOR VERSION AS OF. Unsupported forms throw InvalidInput with their position,
 * and so do queries nested more than 32 levels deep, more than 400 set operations such as UNION,
 * and more than 128 grouping sets. now() and its like mean the time that the caller gives, and are
 * refused without one. The caller bounds the length of the text.
 */

import { FromParser, type QueryParser } from './from-clause.ts';
import { FUNCTION_NAME, RESERVED } from './keywords.ts';
import { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import type {
  NamedQuery,
  QueryBody,
  Select,
  SelectItem,
  Statement,
  TableReference,
} from './statement-tree.ts';
import { END, NAME, OPERATOR, Tokens, WORD } from './tokens.ts';
import type { Expression, WindowSpec } from './tree.ts';
import { parseDirection, parseOrderItems, parseWindow } from './windows.ts';

/** Statements may nest so deep in each other. */
const MAX_NESTED = 32;

/** Sets of keys of one GROUP BY, each of which keeps groups of its own. */
const MAX_GROUPING_SETS = 128;

const GROUPING_WORDS: ReadonlySet<string> = new Set(['rollup', 'cube', 'grouping']);

/** Words such as UNION in one statement: each may be a level of its tree. */
const MAX_SETS = 400;

/**
 * @param text bounded by the caller, as that of an expression is
 * @param now milliseconds since 1970, the time that now() is; undefined refuses it
 * @throws InvalidInput with the place of what cannot be read or is not supported
 */
export function parseStatementText(text: string, now?: number): Statement {
  const tokens = new Tokens(withoutEnd(text), 'statement');
  if (tokens.kind === END) refuse(0, 'The statement is empty');
  return new StatementParser(tokens, now).whole();
}

/** The text without semicolons at its end, and the blanks between and behind them. */
function withoutEnd(text: string): string {
  let end = text.length;
  let last = end;
  while (end > 0 && /[\s;]/.test(text.charAt(end - 1))) {
    end--;
    if (text[end] === ';') last = end;
  }
  return text.slice(0, last);
}

class StatementParser implements QueryParser {
  readonly parser: Parser;
  readonly #tokens: Tokens;
  readonly #from: FromParser;
  #nested = 0;
  #sets = 0;

  constructor(tokens: Tokens, now: number | undefined) {
    this.#tokens = tokens;
    this.parser = new Parser(tokens);
    this.parser.aggregates = true;
    this.parser.now = now;
    this.parser.query = () => this.query();
    this.#from = new FromParser(this);
  }

  whole(): Statement {
    const { word, start } = this.#tokens;
    if (!this.beginsQuery()) {
      refuse(
        start,
        OTHER_STATEMENTS.has(word)
          ? `${word.toUpperCase()} is no query; SELECT reads tables, and calls of the catalog change them`
          : 'A statement begins with SELECT, WITH or VALUES',
      );
    }
    const statement = this.query();
    if (this.#tokens.kind !== END) this.parser.refuseToken();
    return statement;
  }

  beginsQuery(): boolean {
    const { word } = this.#tokens;
    return QUERY_WORDS.has(word) || this.parser.isMark('(');
  }

  /** FETCH FIRST 3 ROWS ONLY, the standard's word for LIMIT 3. */
  #fetched(): Expression {
    const { parser } = this;
    const tokens = this.#tokens;
    tokens.next();
    if (!parser.took('first')) parser.takeWord('next');
    const isOne = tokens.word === 'row' || tokens.word === 'rows';
    const limit: Expression = isOne
      ? { kind: 'number', text: '1', at: tokens.start }
      : parser.expression();
    if (!parser.took('rows')) parser.takeWord('row');
    if (tokens.word === 'with')
      refuse(tokens.start, 'FETCH .. WITH TIES is not supported; rank() with QUALIFY does it');
    parser.takeWord('only');
    return limit;
  }

  query(): Statement {
    const parser = this.parser;
    const tokens = this.#tokens;
    const at = tokens.start;
    this.#nested++;
    if (this.#nested > MAX_NESTED) {
      refuse(at, `Queries are nested deeper than ${MAX_NESTED} levels`);
    }
    const named: NamedQuery[] = [];
    if (parser.took('with')) {
      const isRecursive = parser.took('recursive');
      do named.push(this.#namedQuery(isRecursive));
      while (parser.tookMark(','));
    }
    const body = this.#body();
    const { orderBy, orderByAll } = this.#order();
    let limit: Expression | undefined;
    let offset: Expression | undefined;
    for (;;) {
      if (tokens.word === 'limit' && limit === undefined) {
        tokens.next();
        if (!parser.took('all')) limit = parser.expression();
      } else if (tokens.word === 'offset' && offset === undefined) {
        tokens.next();
        offset = parser.expression();
        if (!parser.took('rows')) parser.took('row');
      } else if (tokens.word === 'fetch' && limit === undefined) limit = this.#fetched();
      else break;
    }
    this.#nested--;
    return {
      with: named,
      body,
      orderBy,
      ...(orderByAll === undefined ? {} : { orderByAll }),
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
      at,
    };
  }

  /** ORDER BY with items, or with ALL. */
  #order(): Pick<Statement, 'orderBy' | 'orderByAll'> {
    const { parser } = this;
    if (!parser.took('order')) return { orderBy: [] };
    parser.takeWord('by');
    if (parser.took('all')) return { orderBy: [], orderByAll: parseDirection(parser) };
    return { orderBy: parseOrderItems(parser) };
  }

  #namedQuery(isRecursive: boolean): NamedQuery {
    const at = this.#tokens.start;
    const name = this.name('the name of a query is expected');
    const columns = this.columnNames();
    this.parser.takeWord('as');
    if (this.parser.took('not')) this.parser.takeWord('materialized');
    else this.parser.took('materialized');
    const query = this.#inParentheses();
    return { name, columns, query, ...(isRecursive ? { recursive: true } : {}), at };
  }

  #inParentheses(): Statement {
    const open = this.#tokens.start;
    this.parser.take('(');
    const query = this.query();
    this.parser.close(')', '(', open);
    return query;
  }

  /** `(a, b)`, or nothing. */
  columnNames(): string[] {
    const parser = this.parser;
    const open = this.#tokens.start;
    const names: string[] = [];
    if (!parser.tookMark('(')) return names;
    do names.push(this.name('the name of a column is expected'));
    while (parser.tookMark(','));
    parser.close(')', '(', open);
    return names;
  }

  name(expected: string): string {
    const { kind, text, category } = this.#tokens;
    const isWord = kind === WORD && category !== RESERVED;
    if (kind !== NAME && !isWord) this.parser.refuseToken(expected);
    this.#tokens.next();
    return text;
  }

  /** Parts with UNION and EXCEPT between them, from left to right. */
  #body(): QueryBody {
    const tokens = this.#tokens;
    const at = tokens.start;
    let body = this.#intersection();
    for (;;) {
      const { word } = tokens;
      if (word !== 'union' && word !== 'except') return body;
      const { all, byName } = this.#setWords();
      const next = this.#intersection();
      if (word === 'except') body = { kind: 'except', all, left: body, right: next, at };
      else if (body.kind === 'union' && body.all === all && body.byName === byName) {
        body = { ...body, parts: [...body.parts, next] };
      } else body = { kind: 'union', all, byName, parts: [body, next], at };
    }
  }

  /** INTERSECT binds tighter than the others do. */
  #intersection(): QueryBody {
    const at = this.#tokens.start;
    let body = this.#part();
    while (this.#tokens.word === 'intersect') {
      const { all } = this.#setWords();
      body = { kind: 'intersect', all, left: body, right: this.#part(), at };
    }
    return body;
  }

  /** UNION, EXCEPT or INTERSECT, and whether ALL follows, and for UNION also BY NAME. */
  #setWords(): { all: boolean; byName: boolean } {
    const tokens = this.#tokens;
    const { word, start } = tokens;
    this.#sets++;
    if (this.#sets > MAX_SETS) refuse(start, `More than ${MAX_SETS} queries are put together`);
    tokens.next();
    const all = this.parser.took('all');
    if (!all) this.parser.took('distinct');
    if (tokens.word !== 'by') return { all, byName: false };
    if (word !== 'union') refuse(tokens.start, `${word.toUpperCase()} BY NAME is not supported`);
    tokens.next();
    this.parser.takeWord('name');
    return { all, byName: true };
  }

  #part(): QueryBody {
    const parser = this.parser;
    const { word, start: at } = this.#tokens;
    if (parser.isMark('(')) return { kind: 'query', query: this.#inParentheses(), at };
    if (word === 'values') return this.#values(at);
    if (word === 'select' || word === 'from') return this.#select(at);
    return parser.refuseToken('SELECT is expected');
  }

  #values(at: number): QueryBody {
    const parser = this.parser;
    this.#tokens.next();
    const rows: Expression[][] = [];
    do {
      const open = this.#tokens.start;
      parser.take('(');
      const row: Expression[] = [];
      do row.push(parser.expression());
      while (parser.tookMark(','));
      parser.close(')', '(', open);
      if (row.length !== (rows[0] ?? row).length) {
        refuse(open, 'The rows of VALUES differ in their number of values');
      }
      rows.push(row);
    } while (parser.tookMark(','));
    return { kind: 'values', rows, at };
  }

  #select(at: number): Select {
    const parser = this.parser;
    const tokens = this.#tokens;
    const first = this.#tables();
    // FROM may come first, and then stands for SELECT * where no SELECT follows.
    const isBare = first.length > 0 && tokens.word !== 'select';
    if (!isBare) tokens.next();
    const distinctOn: Expression[] = [];
    let distinct = !isBare && parser.took('distinct');
    if (distinct && parser.took('on')) {
      const open = tokens.start;
      parser.take('(');
      do distinctOn.push(parser.expression());
      while (parser.tookMark(','));
      parser.close(')', '(', open);
      distinct = false;
    } else if (!distinct && !isBare) parser.took('all');
    const items: SelectItem[] = [];
    if (isBare) items.push({ kind: 'star', path: [], exclude: [], replace: [], at });
    else
      do items.push(this.#item());
      while (parser.tookMark(','));
    const from = first.length > 0 ? first : this.#tables();
    const where = parser.took('where') ? parser.expression() : undefined;
    const groups = this.#groups();
    const having = parser.took('having') ? parser.expression() : undefined;
    const windows: { name: string; spec: WindowSpec }[] = [];
    if (parser.took('window')) {
      do {
        const { start } = tokens;
        const name = this.name('the name of a window is expected');
        if (windows.some((window) => window.name.toLowerCase() === name.toLowerCase())) {
          refuse(start, `WINDOW defines ${name} twice`);
        }
        parser.takeWord('as');
        windows.push({ name, spec: parseWindow(parser) });
      } while (parser.tookMark(','));
    }
    const qualify = parser.took('qualify') ? parser.expression() : undefined;
    return {
      kind: 'select',
      distinct,
      ...(distinctOn.length === 0 ? {} : { distinctOn }),
      items,
      from,
      ...groups,
      windows,
      ...(where === undefined ? {} : { where }),
      ...(having === undefined ? {} : { having }),
      ...(qualify === undefined ? {} : { qualify }),
      at,
    };
  }

  /** FROM and its tables, or nothing. */
  #tables(): TableReference[] {
    const from: TableReference[] = [];
    if (!this.parser.took('from')) return from;
    do from.push(this.#from.joined());
    while (this.parser.tookMark(','));
    return from;
  }

  /** GROUP BY with keys and sets of keys, or with ALL. */
  #groups(): Pick<Select, 'groupBy' | 'groupByAll' | 'groupingSets'> {
    const parser = this.parser;
    if (!parser.took('group')) return { groupBy: [], groupByAll: false };
    parser.takeWord('by');
    if (parser.took('all')) return { groupBy: [], groupByAll: true };
    const { start } = this.#tokens;
    const groupBy: Expression[] = [];
    let sets: number[][] = [[]];
    let hasSets = false;
    do {
      hasSets ||= GROUPING_WORDS.has(this.#tokens.word) || parser.isMark('(');
      const own = this.#groupingSets(groupBy);
      if (sets.length * own.length > MAX_GROUPING_SETS) {
        refuse(start, `GROUP BY has more than ${MAX_GROUPING_SETS} sets of keys`);
      }
      sets = sets.flatMap((set) => own.map((more) => [...set, ...more]));
    } while (parser.tookMark(','));
    const isPlain = !hasSets || (sets.length === 1 && groupBy.length > 0);
    return { groupBy, groupByAll: false, ...(isPlain ? {} : { groupingSets: sets }) };
  }

  /**
   * The sets of keys that an item of GROUP BY stands for, as places in `keys`, to which its own are
   * added: one for an expression or a list of them, several for ROLLUP, CUBE and GROUPING SETS.
   */
  #groupingSets(keys: Expression[]): number[][] {
    const parser = this.parser;
    const { word, start } = this.#tokens;
    if (!GROUPING_WORDS.has(word)) return [this.#groupingKeys(keys)];
    this.#tokens.next();
    if (word === 'grouping') parser.takeWord('sets');
    const open = this.#tokens.start;
    parser.take('(');
    const items: number[][] = [];
    this.#nested++;
    if (this.#nested > MAX_NESTED)
      refuse(start, `GROUP BY is nested deeper than ${MAX_NESTED} levels`);
    do {
      if (word === 'grouping') items.push(...this.#groupingSets(keys));
      else items.push(this.#groupingKeys(keys));
      const count = word === 'cube' ? 2 ** items.length : items.length;
      if (count > MAX_GROUPING_SETS) {
        refuse(start, `GROUP BY has more than ${MAX_GROUPING_SETS} sets of keys`);
      }
    } while (parser.tookMark(','));
    this.#nested--;
    parser.close(')', '(', open);
    if (word === 'grouping') return items;
    const { length } = items;
    if (word === 'rollup') {
      return Array.from({ length: length + 1 }, (_, less) => items.slice(0, length - less).flat());
    }
    return Array.from({ length: 2 ** length }, (_, without) =>
      items.filter((_, at) => ((without >> (length - 1 - at)) & 1) === 0).flat(),
    );
  }

  /** One expression, or those of a list in parentheses, which may be empty. */
  #groupingKeys(keys: Expression[]): number[] {
    const parser = this.parser;
    const tokens = this.#tokens;
    const at = tokens.start;
    if (parser.tookMark('(')) {
      if (parser.tookMark(')')) return [];
      if (!parser.beginsSubquery()) {
        const first = parser.expression();
        if (parser.isMark(',')) {
          const from = keys.push(first) - 1;
          while (parser.tookMark(',')) keys.push(parser.expression());
          parser.close(')', '(', at);
          return Array.from({ length: keys.length - from }, (_, place) => from + place);
        }
      }
      tokens.rewind(at);
    }
    return [keys.push(parser.expression()) - 1];
  }

  #item(): SelectItem {
    const parser = this.parser;
    const tokens = this.#tokens;
    const at = tokens.start;
    const star = this.#star(at);
    if (star !== undefined) return star;
    const value = parser.expression();
    const alias = parser.took('as') ? this.label() : this.bareAlias();
    return { kind: 'value', value, ...(alias === undefined ? {} : { alias }), at };
  }

  /** `*` and `a.b.*`; undefined where neither stands there, with the cursor where it was. */
  #star(at: number): SelectItem | undefined {
    const parser = this.parser;
    const tokens = this.#tokens;
    const path: string[] = [];
    while (tokens.kind === NAME || (tokens.kind === WORD && tokens.category !== RESERVED)) {
      path.push(tokens.text);
      tokens.next();
      if (!parser.tookMark('.')) {
        tokens.rewind(at);
        return undefined;
      }
    }
    if (tokens.kind !== OPERATOR || tokens.text !== '*') {
      tokens.rewind(at);
      return undefined;
    }
    tokens.next();
    const exclude = this.#excluded();
    return { kind: 'star', path, exclude, replace: this.#replaced(), at };
  }

  #excluded(): string[] {
    const parser = this.parser;
    if (!parser.took('exclude')) return [];
    const names = this.columnNames();
    return names.length > 0 ? names : [this.name('the name of a column is expected')];
  }

  /** REPLACE (value AS name, ..), or nothing. */
  #replaced(): { name: string; value: Expression }[] {
    const replace: { name: string; value: Expression }[] = [];
    if (!this.parser.took('replace')) return replace;
    const open = this.#tokens.start;
    this.parser.take('(');
    do {
      const value = this.parser.expression();
      this.parser.takeWord('as');
      replace.push({ name: this.label(), value });
    } while (this.parser.tookMark(','));
    this.parser.close(')', '(', open);
    return replace;
  }

  /** After AS any word will do. */
  label(): string {
    const { kind, text } = this.#tokens;
    if (kind !== WORD && kind !== NAME) this.parser.refuseToken('a name is expected');
    this.#tokens.next();
    return text;
  }

  bareAlias(): string | undefined {
    const { kind, text, category, word } = this.#tokens;
    const isWord =
      kind === WORD &&
      category !== RESERVED &&
      category !== FUNCTION_NAME &&
      !FOLLOWING_WORDS.has(word);
    if (kind !== NAME && !isWord) return undefined;
    this.#tokens.next();
    return text;
  }
}

const QUERY_WORDS = new Set(['select', 'with', 'values', 'from']);
const OTHER_STATEMENTS = new Set(
  (
    'insert update delete merge create drop alter truncate copy explain show describe set use begin ' +
    'commit rollback pragma attach load install export import call grant revoke vacuum analyze'
  ).split(' '),
);

/** Words that are no alias without AS, as they go on with the query. */
const FOLLOWING_WORDS = new Set(['qualify', 'semi', 'anti', 'asof', 'exclude']);
