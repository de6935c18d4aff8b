/**
 * The pass before PostgreSQL's grammar: bounds the text and rewrites what that grammar lacks.
 * It sees tokens only, never a tree. Rewritten, nothing else:
 *
 *   `name`            -> "name"
 *   ['a', 'b']        -> ARRAY['a', 'b']          where a value may stand
 *   a == b            -> a = b
 *   a !=-1            -> a != -1                  else one operator, as `%-` and `||-` are
 *   TRY_CAST(x AS t)  -> CAST(x AS t)             its offset is remembered
 *   comments          -> a space or a line end    it takes NOT IN for NOT where one is between
 *   odd blanks        -> a space                  no-break spaces, which it has in names
 *   IN (1, 2, ...)    -> IN ($n)                  long lists of literals are read here, since a
 *                                                 parse tree of 100,000 constants takes seconds
 */
import { refuse, shorten } from './sql-error.ts';
import { type Token, tokenise } from './tokens.ts';
import type { LiteralExpression } from './tree.ts';

export const MAX_SQL_BYTES = 1 << 20;
export const MAX_DEPTH = 500;
const MAX_TOKENS = 60_000;
/** Shorter lists go through the grammar: its errors are better. */
const LONG_LIST = 16;

export interface ScannedSql {
  /** Of the user's text. */
  readonly tokens: readonly Token[];
  /** How many of them are left without the lists that were taken out. */
  readonly parts: number;
  /** What the grammar is given. */
  readonly text: string;
  /** Literal lists taken out; `$1` stands for the first. */
  readonly lists: readonly (readonly LiteralExpression[])[];
  /** Offsets in `text` of CAST keywords that were TRY_CAST. */
  readonly lenientCasts: ReadonlySet<number>;
  /** Offset in `text` -> offset in the user's text. */
  readonly origin: (offset: number) => number;
}

export function scanSql(sql: string): ScannedSql {
  if (sql.length > MAX_SQL_BYTES || Buffer.byteLength(sql) > MAX_SQL_BYTES) {
    refuse(undefined, `The expression is longer than ${MAX_SQL_BYTES} bytes; shorten it`);
  }
  if (sql.includes('\0')) refuse(sql.indexOf('\0'), 'An expression may not hold a zero character');
  const tokens = tokenise(sql);
  if (tokens.length === 0) refuse(0, 'The expression is empty');
  const writer = new Rewriter(sql);
  const lists: LiteralExpression[][] = [];
  const lenientCasts = new Set<number>();
  let kept = 0;
  const depth = new DepthBound();
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    writer.blank(tokens[i - 1]?.end ?? 0, token.start);
    depth.see(token);
    if (++kept > MAX_TOKENS) {
      refuse(
        token.start,
        `The expression has more than ${MAX_TOKENS} parts; use IN for long lists`,
      );
    }
    if (token.kind === 'backtick') {
      const name = sql.slice(token.start + 1, token.end - 1).replaceAll('``', '`');
      if (name === '') refuse(token.start, 'A quoted name is empty');
      writer.replace(token, `"${name.replaceAll('"', '""')}"`);
    } else if (token.text === '==') {
      writer.replace(token, '=');
    } else if (isTouchingSign(token, tokens[i - 1])) {
      writer.replace({ start: token.start, end: token.start }, ' ');
    } else if (token.text === '[' && startsValue(tokens[i - 1])) {
      writer.replace(token, 'ARRAY[');
    } else if (token.word === 'try_cast' && tokens[i + 1]?.text === '(') {
      lenientCasts.add(writer.replace(token, 'CAST'));
    } else if (token.word === 'in' && tokens[i + 1]?.text === '(') {
      const list = literalList(tokens, i + 2);
      if (list !== null && list.items.length > LONG_LIST) {
        lists.push(list.items);
        const first = tokens[i + 2] as Token;
        const last = tokens[list.end - 1] as Token;
        writer.copy(first.start);
        writer.replace({ start: first.start, end: last.end }, `$${lists.length}`);
        depth.see(tokens[i + 1] as Token);
        i = list.end - 1;
      }
    }
  }
  depth.finish();
  writer.blank(tokens.at(-1)?.end ?? 0, sql.length);
  const { text, origin } = writer.finish();
  return { tokens, parts: kept, text, lists, lenientCasts, origin };
}

function isTouchingSign({ text, start }: Token, before: Token | undefined): boolean {
  if ((text !== '-' && text !== '+') || before?.end !== start) return false;
  return before.kind === 'operator' && /[!%|~]/.test(before.text);
}

/** True where `[` begins a list, not a subscript. */
function startsValue(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === 'quoted' || before.kind === 'backtick' || before.kind === 'string')
    return false;
  if (before.kind === 'number') return false;
  if (before.kind === 'word') {
    return VALUE_FOLLOWS.has(before.word ?? '');
  }
  return before.text !== ')' && before.text !== ']';
}

const VALUE_FOLLOWS = new Set(
  'and or not in between like ilike case when then else is from distinct select any all some'.split(
    ' ',
  ),
);

/** Literals from token `i` up to a closing parenthesis, or null where anything else stands there. */
function literalList(
  tokens: readonly Token[],
  i: number,
): { items: LiteralExpression[]; end: number } | null {
  const items: LiteralExpression[] = [];
  for (;;) {
    let token = tokens[i];
    if (token === undefined) return null;
    const at = token.start;
    let sign = '';
    if (token.text === '-' || token.text === '+') {
      sign = token.text === '-' ? '-' : '';
      token = tokens[++i];
      if (token?.kind !== 'number') return null;
    }
    if (token.kind === 'number') {
      if (!/^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(token.text)) return null;
      items.push({ kind: 'number', text: sign + token.text, at });
    } else if (token.kind === 'string' && token.text.startsWith("'")) {
      items.push({ kind: 'string', value: token.text.slice(1, -1).replaceAll("''", "'"), at });
    } else return null;
    const next = tokens[++i];
    if (next?.text === ')') return { items, end: i };
    if (next?.text !== ',') return null;
    i++;
  }
}

const PLAIN_BLANKS = /^[ \t\r\n\f]*$/;

/** Copies the user's text with replacements and remembers where each piece came from. */
class Rewriter {
  readonly #sql: string;
  #text = '';
  #copied = 0;
  readonly #starts: number[] = [];
  readonly #shifts: number[] = [];

  constructor(sql: string) {
    this.#sql = sql;
  }

  copy(upTo: number): void {
    if (upTo <= this.#copied) return;
    this.#starts.push(this.#text.length);
    this.#shifts.push(this.#copied);
    this.#text += this.#sql.slice(this.#copied, upTo);
    this.#copied = upTo;
  }

  /** What stands between two tokens; lines still end where they did, as joined strings want it. */
  blank(start: number, end: number): void {
    if (end === start || (end === start + 1 && this.#sql[start] === ' ')) return;
    const between = this.#sql.slice(start, end);
    if (PLAIN_BLANKS.test(between)) return;
    this.replace({ start, end }, /[\r\n]/.test(between) ? '\n' : ' ');
  }

  /** Returns where the replacement starts in the new text. */
  replace(range: { start: number; end: number }, by: string): number {
    this.copy(range.start);
    const start = this.#text.length;
    this.#starts.push(start);
    this.#shifts.push(range.start);
    this.#text += by;
    this.#copied = range.end;
    return start;
  }

  finish(): { text: string; origin: (offset: number) => number } {
    this.copy(this.#sql.length);
    const [starts, shifts, end] = [this.#starts, this.#shifts, this.#sql.length];
    const origin = (offset: number): number => {
      let low = 0;
      let high = starts.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return Math.min(end, (shifts[low] ?? 0) + Math.max(0, offset - (starts[low] ?? 0)));
    };
    return { text: this.#text, origin };
  }
}

/**
 * An upper bound of the tree's depth from tokens alone, so that a text that would overflow the
 * stack of the grammar never reaches it. AND, OR and commas are flat; every other operator deepens.
 */
class DepthBound {
  readonly #open: { token: Token; chain: number }[] = [];
  #chain = 0;
  #depth = 0;

  see(token: Token): void {
    const word = token.word;
    if (token.text === '(' || token.text === '[' || word === 'case') {
      this.#open.push({ token, chain: this.#chain });
      this.#depth++;
      this.#chain = 0;
    } else if (token.text === ')' || token.text === ']' || (word === 'end' && this.#inCase())) {
      const opened = this.#open.pop();
      const expected = token.text === ')' ? '(' : token.text === ']' ? '[' : 'case';
      if (opened === undefined || (opened.token.word ?? opened.token.text) !== expected) {
        refuse(token.start, `'${token.text}' closes nothing`);
      }
      this.#depth -= 1 + this.#chain;
      this.#chain = opened.chain;
    } else if (token.text === ',' || FLAT.has(word ?? '')) {
      this.#depth -= this.#chain;
      this.#chain = 0;
    } else if (token.kind === 'operator' || DEEPENS.has(word ?? '')) {
      this.#chain++;
      this.#depth++;
    }
    if (this.#depth > MAX_DEPTH) {
      refuse(
        token.start,
        `The expression is nested deeper than ${MAX_DEPTH} levels near '${shorten(token.text)}'`,
      );
    }
  }

  finish(): void {
    const open = this.#open.pop();
    if (open !== undefined) refuse(open.token.start, `'${open.token.text}' is never closed`);
  }

  #inCase(): boolean {
    return this.#open.at(-1)?.token.word === 'case';
  }
}

const FLAT = new Set(['and', 'or', 'when', 'then', 'else']);
const DEEPENS = new Set([
  'not',
  'is',
  'isnull',
  'notnull',
  'like',
  'ilike',
  'between',
  'in',
  'at',
  'collate',
]);
