/**
 * Throws errors of the parser, all of them InvalidInput with a position. `refuseSyntax` refuses a
 * token that cannot stand where it does. `refuseKeyword` refuses a keyword as the name of a column.
 * `refuseUnsupported` refuses what PostgreSQL's grammar has and this engine lacks.
 */

import { KEYWORDS } from './keywords.ts';
import { refuse, shorten } from './sql-error.ts';
import { END, NAME, STRING, Tokens, WORD } from './tokens.ts';

const NEEDS_QUOTES = '; a column whose name is a reserved word needs quotes: "name"';

/** Throws InvalidInput for the token at the cursor, which cannot stand there. */
export function refuseSyntax(tokens: Tokens, expected: string | undefined): never {
  const { kind, sql, start, end, text, word } = tokens;
  if (kind !== STRING && kind !== NAME && (text === ')' || text === ']')) {
    const isOpen = openedLast(tokens) === (text === ')' ? '(' : '[');
    refuse(
      start,
      isOpen ? `An expression is missing before '${text}'` : `'${text}' closes nothing`,
    );
  }
  const place = kind === END ? 'the end' : `or near "${shorten(sql.slice(start, end))}"`;
  const more = expected === undefined ? '' : `; ${expected}`;
  const hint = kind === WORD && KEYWORDS.has(word) ? NEEDS_QUOTES : '';
  return refuse(start, `Cannot read the ${tokens.what}: syntax error at ${place}${more}${hint}`);
}

/** The bracket before the cursor that is not closed yet; undefined where all are. */
function openedLast({ sql, start }: Tokens): string | undefined {
  const opened: string[] = [];
  for (const before = new Tokens(sql); before.start < start; before.next()) {
    // They were counted when they were read, those of long lists as none.
    before.parts = 0;
    if (before.kind === STRING || before.kind === NAME) continue;
    if (before.text === '(' || before.text === '[') opened.push(before.text);
    else if (before.text === ')' || before.text === ']') opened.pop();
  }
  return opened.at(-1);
}

/** Throws InvalidInput for a keyword that names functions alone, where a column is meant. */
export function refuseKeyword(keyword: string, at: number): never {
  return refuse(
    at,
    `Cannot read the expression: syntax error at or near "${keyword}"${NEEDS_QUOTES}`,
  );
}

/** Throws InvalidInput for a construct that is never evaluated here, though PostgreSQL does. */
export function refuseUnsupported(at: number, what: string): never {
  return refuse(at, `${what} is not supported here`);
}
