/**
 * `FromParser` parses the FROM clauses of one statement. `joined` parses one of the items that
 * commas separate: a table with its version and alias, a query in parentheses, a function that
 * gives rows, or joins of these. Unsupported forms, such as LATERAL queries, and more than 32
 * tables in a statement throw InvalidInput. `QueryParser` is the part of the statement's parser
 * that it calls.
 */

import { parseArguments } from './calls.ts';
import type { Parser } from './parser.ts';
import { refuse } from './sql-error.ts';
import {
  type JoinKind,
  type Statement,
  TABLE_FUNCTIONS,
  type TableReference,
  type TimeTravel,
} from './statement-tree.ts';
import { END, NUMBER, OPERATOR, STRING, type Tokens } from './tokens.ts';
import type { Expression } from './tree.ts';

/** Tables of one statement. */
const MAX_TABLES = 32;

/** Words that a query in parentheses, which is a part of another, is followed by. */
const GOES_ON = new Set(['union', 'except', 'intersect', 'order', 'limit', 'offset', 'fetch']);

/** What the parser of the statement reads for it. */
export interface QueryParser {
  readonly parser: Parser;
  name(expected: string): string;
  /** After AS any word will do. */
  label(): string;
  bareAlias(): string | undefined;
  /** `(a, b)`, or nothing. */
  columnNames(): string[];
  beginsQuery(): boolean;
  query(): Statement;
}

export class FromParser {
  readonly #names: QueryParser;
  readonly #parser: Parser;
  readonly #tokens: Tokens;
  #tables = 0;
  /** Of the parentheses looked at last: the first, the innermost, and the outermost of a query. */
  #first = 0;
  #innermost = -1;
  #outermostQuery = Number.POSITIVE_INFINITY;

  constructor(names: QueryParser) {
    this.#names = names;
    this.#parser = names.parser;
    this.#tokens = names.parser.tokens;
  }

  /** A table, with those that are joined to it. */
  joined(): TableReference {
    const parser = this.#parser;
    let left = this.#table();
    for (;;) {
      const at = this.#tokens.start;
      const natural = parser.took('natural');
      const join = this.#joinKind();
      if (join === undefined) {
        if (natural) parser.refuseToken('JOIN is expected');
        return left;
      }
      if (natural && join === 'cross') refuse(at, 'CROSS JOIN has no condition, and so no NATURAL');
      const right = this.#table();
      let on: Expression | undefined;
      let using: string[] | undefined;
      if (join !== 'cross' && !natural) {
        if (parser.took('on')) on = parser.expression();
        else if (parser.took('using')) {
          using = this.#names.columnNames();
          if (using.length === 0) parser.refuseToken("'(' is expected");
        } else parser.refuseToken('ON or USING is expected');
      }
      left = {
        kind: 'join',
        join,
        left,
        right,
        ...(on === undefined ? {} : { on }),
        ...(using === undefined ? {} : { using }),
        ...(natural ? { natural } : {}),
        at,
      };
    }
  }

  /** The words of a join; undefined where none begins there. */
  #joinKind(): JoinKind | undefined {
    const parser = this.#parser;
    const { word, start } = this.#tokens;
    switch (word) {
      case 'join':
        this.#tokens.next();
        return 'inner';
      case 'inner':
      case 'cross':
      case 'semi':
      case 'anti':
        this.#tokens.next();
        parser.takeWord('join');
        return word;
      case 'left':
      case 'right':
      case 'full':
        this.#tokens.next();
        parser.took('outer');
        parser.takeWord('join');
        return word;
      case 'asof':
      case 'lateral':
        return refuse(start, `${word.toUpperCase()} is not supported`);
      default:
        return undefined;
    }
  }

  #table(): TableReference {
    const parser = this.#parser;
    const tokens = this.#tokens;
    const at = tokens.start;
    const isLateral = parser.took('lateral');
    if (isLateral && parser.isMark('(')) {
      refuse(at, `LATERAL is supported before ${TABLE_FUNCTIONS.join(', ')} alone`);
    }
    if (parser.isMark('(')) {
      const isQuery = this.#opensQuery();
      tokens.next();
      if (isQuery) {
        const query = this.#names.query();
        parser.close(')', '(', at);
        return { kind: 'derived', query, ...this.#alias(), at };
      }
      const inner = parser.nested(() => this.joined());
      parser.close(')', '(', at);
      return inner;
    }
    this.#tables++;
    if (this.#tables > MAX_TABLES) refuse(at, `More than ${MAX_TABLES} tables are read`);
    if (tokens.kind === STRING || tokens.kind === NUMBER) {
      refuse(at, 'FROM takes the name of a table, in double quotes where it needs them');
    }
    // `user` is read as the name of a table, not as the function of the session.
    const path = [
      tokens.word === 'user'
        ? this.#names.label()
        : this.#names.name('the name of a table is expected'),
    ];
    while (parser.tookMark('.')) path.push(this.#names.label());
    if (tokens.kind === OPERATOR && tokens.text === '/') {
      parser.refuseToken('namespaces and tables are joined by dots here');
    }
    if (parser.isMark('(')) return this.#function(path, at);
    if (isLateral) refuse(at, 'LATERAL stands before a function of FROM, not before a table');
    const before = this.#travel();
    const alias = this.#alias();
    if (before === undefined && alias.alias?.toLowerCase() === 'version' && tokens.word === 'as') {
      refuse(tokens.start, 'FOR is missing: write FOR VERSION AS OF');
    }
    // Some dialects have the alias first.
    const travel = before ?? this.#travel();
    if (travel !== undefined && tokens.word === 'for') {
      refuse(tokens.start, 'A table is read at one version');
    }
    return {
      kind: 'table',
      path,
      ...(travel === undefined ? {} : { travel }),
      ...alias,
      at,
    };
  }

  /** A function that gives rows: the cursor is on its parenthesis. */
  #function(path: readonly string[], at: number): TableReference {
    const parser = this.#parser;
    const last = (path.at(-1) ?? '').toLowerCase();
    const name = TABLE_FUNCTIONS.find((one) => one === last);
    if (path.length > 1 || name === undefined) {
      return refuse(
        at,
        `The function ${path.join('.')} gives no rows; ${TABLE_FUNCTIONS.join(', ')} do`,
      );
    }
    const open = this.#tokens.start;
    this.#tokens.next();
    const args = parser.isMark(')') ? [] : parseArguments(parser, name, at);
    parser.close(')', '(', open);
    const numbered = parser.took('with');
    if (numbered) parser.takeWord('ordinality');
    return { kind: 'function', name, args, numbered, ...this.#alias(), at };
  }

  /**
   * Whether the parenthesis at hand has a query in it, whose parts may be in parentheses too;
   * otherwise it has tables. Looks ahead once for a run of parentheses.
   */
  #opensQuery(): boolean {
    const tokens = this.#tokens;
    const at = tokens.start;
    if (at < this.#first || at > this.#innermost) {
      const { parts } = tokens;
      this.#lookAhead();
      tokens.rewind(at);
      tokens.parts = parts;
    }
    return at >= this.#outermostQuery;
  }

  /** Reads from a run of parentheses to where the outermost is closed that may have a query. */
  #lookAhead(): void {
    const parser = this.#parser;
    const tokens = this.#tokens;
    const opened: number[] = [];
    for (; parser.isMark('('); tokens.next()) opened.push(tokens.start);
    this.#first = opened[0] as number;
    this.#innermost = opened.at(-1) as number;
    this.#outermostQuery = Number.POSITIVE_INFINITY;
    if (!this.#names.beginsQuery()) return;
    this.#outermostQuery = this.#innermost;
    if (opened.length === 1) return;
    // Of a query in parentheses comes another parenthesis after it, or what queries go on with.
    for (let depth = opened.length, query = depth; tokens.kind !== END; ) {
      if (parser.isMark('(')) depth++;
      else if (parser.isMark(')')) depth--;
      tokens.next();
      if (depth >= query) continue;
      query--;
      if (query === 0 || !(parser.isMark(')') || GOES_ON.has(tokens.word))) return;
      this.#outermostQuery = opened[query - 1] as number;
    }
  }

  #alias(): { alias?: string; columns: string[] } {
    const parser = this.#parser;
    const alias = parser.took('as')
      ? this.#names.name('an alias is expected')
      : this.#names.bareAlias();
    if (this.#tokens.word === 'tablesample') {
      refuse(this.#tokens.start, 'TABLESAMPLE is not supported');
    }
    if (alias === undefined) return { columns: [] };
    return { alias, columns: this.#names.columnNames() };
  }

  /** FOR VERSION AS OF 3 | 'tag', FOR TAG 'tag', FOR BRANCH 'branch' [VERSION 3]. */
  #travel(): TimeTravel | undefined {
    const parser = this.#parser;
    const tokens = this.#tokens;
    if (!parser.took('for')) return undefined;
    const { word, start } = tokens;
    switch (word) {
      case 'version':
      case 'system_version': {
        tokens.next();
        this.#asOf(true);
        const { kind, text } = tokens;
        if (kind === STRING) {
          tokens.next();
          return { tag: text };
        }
        return { version: this.#versionNumber() };
      }
      case 'tag':
        tokens.next();
        this.#asOf(false);
        return { tag: this.#text('the name of a tag is expected, in single quotes') };
      case 'branch': {
        tokens.next();
        this.#asOf(false);
        const branch = this.#text('the name of a branch is expected, in single quotes');
        if (!parser.took('version')) return { branch };
        this.#asOf(false);
        return { branch, version: this.#versionNumber() };
      }
      case 'timestamp':
      case 'system_time':
        return refuse(
          start,
          'A version is not found by its time; FOR VERSION AS OF takes its number or a tag',
        );
      default:
        return parser.refuseToken('VERSION, TAG or BRANCH is expected');
    }
  }

  #asOf(isNeeded: boolean): void {
    if (!isNeeded && this.#tokens.word !== 'as') return;
    this.#parser.takeWord('as');
    this.#parser.takeWord('of');
  }

  #versionNumber(): string {
    const { kind, text } = this.#tokens;
    if (kind !== NUMBER || !/^[1-9]\d*$/.test(text)) {
      this.#parser.refuseToken('the number of a version is expected');
    }
    this.#tokens.next();
    return text;
  }

  #text(expected: string): string {
    const { kind, text } = this.#tokens;
    if (kind !== STRING) this.#parser.refuseToken(expected);
    this.#tokens.next();
    return text;
  }
}
