/**
 * Lists at most 12 words that can complete what stands before the caret (`wordBefore`): columns and
 * SQL words in a condition (`completions`), and functions and tables too in a statement
 * (`statementCompletions`). Inside a text in quotes or a comment there are none. Names are quoted
 * if SQL needs it (`quotedName`, `tableText`). `tablesNamed` finds the known tables that a
 * statement names, at most 8, whose columns are then offered.
 */
import type { Column } from '../base/index.ts';

const WORDS = [
  'AND',
  'BETWEEN',
  'FALSE',
  'ILIKE',
  'IN',
  'IS NOT NULL',
  'IS NULL',
  'LIKE',
  'NOT',
  'OR',
  'TRUE',
];
const MOST = 12;

const NAME = '(?:"(?:[^"]|"")*"|[\\p{L}_][\\p{L}\\p{N}_]*)';
/** Texts, comments, numbers, and names such as `prod."My table".id`, the last part of which may have begun only. */
const TOKEN = new RegExp(
  `'(?:[^']|'')*'?|--[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)|\\d[\\w.]*|(?:${NAME}\\.)+(?:${NAME}|"(?:[^"]|"")*)?|${NAME}|"(?:[^"]|"")*`,
  'gu',
);

/** The name that ends at the caret, and where it begins; none inside a text in quotes or a comment. */
export function wordBefore(
  text: string,
  caret: number,
): { readonly word: string; readonly from: number } {
  const before = text.slice(0, caret);
  for (const { 0: word, index } of before.matchAll(TOKEN)) {
    const isLast = index + word.length === caret;
    if (isLast && /^["\p{L}_]/u.test(word)) return { word, from: index };
  }
  return { word: '', from: caret };
}

export const quotedName = (name: string, reserved: readonly string[] = WORDS): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) &&
  !reserved.includes(name) &&
  !reserved.includes(name.toUpperCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;

const plain = (text: string): string => text.replaceAll('"', '').toLowerCase();

/** Those that begin with what is typed, and then those that hold it. */
function fitting(wanted: string, names: readonly string[]): string[] {
  const begins = names.filter((name) => plain(name).startsWith(wanted));
  const holds = names.filter((name) => !begins.includes(name) && plain(name).includes(wanted));
  return [...begins, ...holds];
}

const begun = (wanted: string, words: readonly string[]): string[] =>
  words.filter((one) => one.toLowerCase().startsWith(wanted));

export function completions(text: string, caret: number, columns: readonly Column[]): string[] {
  const { word } = wordBefore(text, caret);
  const wanted = plain(word);
  if (wanted === '') return [];
  const names = fitting(
    wanted,
    columns.map(({ name }) => quotedName(name)),
  );
  const found = [...names, ...(word.startsWith('"') ? [] : begun(wanted, WORDS))];
  return found.filter((one) => one !== word).slice(0, MOST);
}

/** What the server tells of its SQL. */
export interface SqlWords {
  readonly keywords: readonly string[];
  readonly functions: readonly string[];
  /** Words that are no names without quotes. */
  readonly reserved: readonly string[];
}

/** A table as a statement names it. */
export interface NamedTable {
  readonly id: readonly string[];
  /** What its columns may be called after: an alias, or its own name. */
  readonly alias: string;
}

export interface Known extends SqlWords {
  /** The ids of all tables. */
  readonly tables: readonly (readonly string[])[];
  /** Names of columns of each table that the statement names. */
  readonly columns: readonly (NamedTable & { readonly names: readonly string[] })[];
}

/** `prod.search."My table"`; after the first part any word may stand without quotes. */
export const tableText = (id: readonly string[], reserved: readonly string[]): string =>
  id.map((part, at) => quotedName(part, at === 0 ? reserved : [])).join('.');

export function statementCompletions(text: string, caret: number, known: Known): string[] {
  const { word, from } = wordBefore(text, caret);
  const wanted = plain(word);
  if (wanted === '') return [];
  const { keywords, functions, reserved } = known;
  const tables = fitting(
    wanted,
    known.tables.map((id) => tableText(id, reserved)),
  );
  const dot = word.lastIndexOf('.');
  const own = known.columns.flatMap(({ alias, names }) => {
    if (dot < 0) return names.map((name) => quotedName(name, reserved));
    const prefix = word.slice(0, dot);
    if (plain(prefix) !== alias.toLowerCase()) return [];
    return names.map((name) => `${prefix}.${quotedName(name, [])}`);
  });
  const columns = fitting(wanted, [...new Set(own)]);
  const isTable = /(?:\bfrom|\bjoin)\s+$/i.test(text.slice(0, from));
  const words =
    dot >= 0 || word.startsWith('"')
      ? []
      : [...begun(wanted, keywords), ...begun(wanted, functions)];
  const found = isTable ? [...tables, ...words] : [...columns, ...words, ...tables];
  return [...new Set(found)].filter((one) => one !== word).slice(0, MOST);
}

const TABLE = new RegExp(
  `(?:\\bfrom|\\bjoin|,)\\s+(${NAME}(?:\\.${NAME})*)(?:\\s+(?:as\\s+)?(?=(${NAME})))?`,
  'giu',
);
/** Tables of one statement whose columns are looked up. */
const MOST_TABLES = 8;

const nameOf = (part: string): string =>
  part.startsWith('"') ? part.slice(1, -1).replaceAll('""', '"') : part.toLowerCase();

/** The tables of `ids` that a statement names after FROM, JOIN or a comma. */
export function tablesNamed(
  text: string,
  ids: readonly (readonly string[])[],
  reserved: readonly string[],
): NamedTable[] {
  const byText = new Map(ids.map((id) => [id.join('\0').toLowerCase(), id]));
  const found: NamedTable[] = [];
  for (const [, path = '', alias] of text.matchAll(TABLE)) {
    const parts = [...path.matchAll(new RegExp(NAME, 'gu'))].map(([part]) => nameOf(part));
    const id = byText.get(parts.join('\0').toLowerCase());
    if (id === undefined) continue;
    const isAlias = alias !== undefined && !reserved.includes(alias.toLowerCase());
    found.push({ id, alias: isAlias ? nameOf(alias) : (id.at(-1) as string) });
    if (found.length === MOST_TABLES) break;
  }
  return found;
}
