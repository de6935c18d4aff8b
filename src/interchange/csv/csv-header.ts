/**
 * `headerOf` decides whether the first record of a CSV file names its columns, and returns the
 * names and where the rows begin. Without the option `header`, it compares the record with the
 * names of the schema and the types of the columns below it. A repeated name gets a number; an
 * empty name becomes one with its position, such as `column0`. It throws InvalidInput if the first
 * record cannot be read or has more than 100,000 fields, or if no header names the columns and the
 * schema has another number of them.
 */
import { type Schema, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { textOf } from './csv-numbers.ts';
import type { CheckedCsvOptions } from './csv-options.ts';
import { type CsvDialect, CsvScanner, ESCAPED, startOf, unescaped } from './csv-scanner.ts';
import { KIND, kindOf } from './csv-types.ts';
import { TypeGuess } from './type-guess.ts';

export interface FoundHeader {
  readonly hasHeader: boolean;
  readonly names: readonly string[];
  /** Where the rows begin, and how many lines stand before. */
  readonly end: number;
  readonly lines: number;
}

const MOST_COLUMNS = 100_000;
/** Records that are compared with the first. */
const LOOKED_AT = 2_000;

/**
 * The option `header` decides. Without it, the record is a header if the schema has all its fields
 * as names, if one of its fields is a text above a column of another type, or if no column is of
 * another type and its fields are texts that differ.
 * @throws InvalidInput for a file whose first record cannot be read
 */
export function headerOf(
  bytes: Uint8Array,
  from: number,
  to: number,
  isEnd: boolean,
  dialect: CsvDialect,
  options: CheckedCsvOptions,
  schema: Schema | undefined,
): FoundHeader {
  const fields = firstRecord(bytes, from, to, dialect, options);
  if (fields === undefined) {
    const names = schema?.fields.map(({ name }) => name) ?? [];
    return { hasHeader: false, names, end: to, lines: 0 };
  }
  const { texts, kinds, end, lines } = fields;
  if (texts.length > MOST_COLUMNS) {
    throw new DirspaceError(
      'InvalidInput',
      `The first record has ${texts.length} fields; a table has at most ${MOST_COLUMNS} columns here.`,
    );
  }
  const hasHeader =
    options.header ??
    (schema !== undefined && texts.every((text) => schema.fields.some(({ name }) => name === text))
      ? true
      : looksLikeHeader(bytes, end, to, isEnd, dialect, options, texts, kinds));
  if (hasHeader) return { hasHeader, names: distinct(texts, schema), end, lines };
  if (schema !== undefined && schema.fields.length !== texts.length) {
    throw new DirspaceError(
      'InvalidInput',
      `The first row has ${texts.length} fields and no header names them, and the schema has ${schema.fields.length} columns.`,
    );
  }
  const names =
    schema?.fields.map(({ name }) => name) ?? texts.map((_, at) => nameAt(at, texts.length));
  return { hasHeader, names, end: from, lines: 0 };
}

interface FirstRecord {
  readonly texts: string[];
  readonly kinds: number[];
  readonly end: number;
  readonly lines: number;
}

function firstRecord(
  bytes: Uint8Array,
  from: number,
  to: number,
  dialect: CsvDialect,
  { hasDecimalComma }: CheckedCsvOptions,
): FirstRecord | undefined {
  // How many fields there are is found first.
  const one = new CsvScanner(dialect, 1, false);
  let begin = from;
  let lines = 0;
  for (;;) {
    // A record that is cut at the end of the sample is read as far as it goes.
    one.scan(bytes, begin, to, true, 1);
    lines += one.lines;
    if (one.rows === 0 && one.bad.length === 0) return undefined;
    // Records of more fields come first among the bad.
    const isOther = one.bad[0]?.from === begin;
    const isBlank =
      !isOther && one.rows === 1 && startOf(one.bounds[0] as number) === one.bounds[1];
    if (!isBlank || one.end >= to) break;
    begin = one.end;
  }
  const [bad] = one.bad;
  // Others than the first may be among the bad, as they do not count as rows.
  const columns = bad !== undefined && bad.from === begin ? bad.fields : 1;
  const scanner = new CsvScanner(dialect, Math.max(1, columns), true);
  scanner.scan(bytes, begin, to, true, 1);
  const [damaged] = scanner.bad;
  if (damaged !== undefined && damaged.from === begin) {
    throw new DirspaceError(
      'InvalidInput',
      `The first record cannot be read: ${damaged.problem === 'open quote' ? 'a quote in it is not closed' : 'text follows the closing quote of a field'}.`,
      { details: { problem: damaged.problem } },
    );
  }
  if (scanner.rows === 0) return undefined;
  const texts: string[] = [];
  const kinds: number[] = [];
  for (let at = 0; at < scanner.columns; at++) {
    const entry = scanner.bounds[2 * at] as number;
    const [start, end] = [startOf(entry), scanner.bounds[2 * at + 1] as number];
    const plain = (entry & ESCAPED) !== 0 ? unescaped(bytes, start, end, dialect) : undefined;
    texts.push(plain === undefined ? textOf(bytes, start, end) : textOf(plain, 0, plain.length));
    kinds.push(start === end ? 0 : kindOf(bytes, start, end, hasDecimalComma));
  }
  return { texts, kinds, end: scanner.end, lines: lines - one.lines + scanner.lines };
}

function looksLikeHeader(
  bytes: Uint8Array,
  from: number,
  to: number,
  isEnd: boolean,
  dialect: CsvDialect,
  options: CheckedCsvOptions,
  texts: readonly string[],
  kinds: readonly number[],
): boolean {
  const guess = new TypeGuess(texts.length, options);
  const scanner = new CsvScanner(dialect, texts.length, true);
  scanner.scan(bytes, from, to, isEnd, LOOKED_AT);
  guess.add(bytes, scanner);
  const isText = (at: number): boolean => ((kinds[at] as number) & (KIND.text | KIND.word)) !== 0;
  let hasTyped = false;
  for (const [at] of texts.entries()) {
    if (guess.kindsOf(at) === 0) continue;
    if (guess.typeOf(at).typeId === Type.Utf8) continue;
    hasTyped = true;
    if (isText(at)) return true;
  }
  if (hasTyped) return false;
  return texts.every((_, at) => isText(at)) && new Set(texts).size === texts.length;
}

/** As DuckDB names columns without a header: `column0`, with as many digits as the last one has. */
const nameAt = (at: number, columns: number): string =>
  `column${String(at).padStart(String(columns - 1).length, '0')}`;

/**
 * Names that differ: a second `a` becomes `a_1`. One without a name gets its position, unless the schema
 * has such a column.
 */
function distinct(texts: readonly string[], schema: Schema | undefined): string[] {
  const known = schema?.fields.map(({ name }) => name) ?? [];
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  return texts.map((text, at) => {
    const isNamed = text.trim() !== '' || known.includes(text);
    const name = isNamed ? text : nameAt(at, texts.length);
    let free = name;
    let number = numbers.get(name) ?? 1;
    for (; taken.has(free); number++) free = `${name}_${number}`;
    numbers.set(name, number);
    taken.add(free);
    return free;
  });
}
