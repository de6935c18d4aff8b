/**
 * Defines the options for reading CSV (`CsvOptions`). `checkCsvOptions` throws InvalidInput for
 * wrong ones before a file is opened. It converts characters and the texts that mean null to bytes,
 * because the reader compares bytes (`isNullText`). `rejectedLine` writes a row that could not be
 * read as a line of a file of rejected rows. csv-writer.ts has the options for writing.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import { checkEncoding, type Encoding } from './text-encoding.ts';

/** A row that could not be taken. */
export interface RejectedRow {
  readonly file: string;
  /** From 1: where the row begins. */
  readonly line: number;
  /** Characters of that line, from 1; where the problem is. */
  readonly column: number;
  /** What is wrong, in words. */
  readonly reason: string;
  /** The row as it is in the file. */
  readonly text: string;
}

/** All are found out where they are not given. */
export interface CsvOptions {
  /** One ASCII character between fields; comma, semicolon, tab and bar are found out. */
  readonly delimiter?: string | undefined;
  /** One ASCII character around fields, or '' where fields are never quoted. */
  readonly quote?: string | undefined;
  /** Before a quote in a quoted field: the quote itself, or a backslash. */
  readonly escape?: string | undefined;
  /** Whether the first row names the columns. */
  readonly header?: boolean | undefined;
  /** utf-8, utf-16le, utf-16be or latin1. */
  readonly encoding?: string | undefined;
  /** Fields without quotes that are null, such as NA; the empty one alone if not given. */
  readonly nulls?: readonly string[] | undefined;
  /**
   * What stands before the fraction of a number: a point if not given. With a comma, points between
   * groups of three digits are passed over: `1.234,5` is 1234.5, and `1.5` is text.
   */
  readonly decimal?: '.' | ',' | undefined;
  /** Lines before the header, or the first row, that are passed over. */
  readonly skipLines?: number | undefined;
  /** Rows with too few fields: `refuse` them, or `pad` them with nulls. `refuse` if not given. */
  readonly ragged?: 'refuse' | 'pad' | undefined;
  /** Rows that types are found out from: the `first` megabyte, or `all`, which reads the file twice. */
  readonly sample?: 'first' | 'all' | undefined;
  /** Gets rows that cannot be taken; without it the first of them is an error. */
  readonly onReject?: ((row: RejectedRow) => void) | undefined;
}

const OPTION_NAMES = [
  'delimiter',
  'quote',
  'escape',
  'header',
  'encoding',
  'nulls',
  'decimal',
  'skipLines',
  'ragged',
  'sample',
  'onReject',
] as const satisfies readonly (keyof CsvOptions)[];

/** The options with what was given in bytes. */
export interface CheckedCsvOptions
  extends Omit<CsvOptions, 'delimiter' | 'quote' | 'escape' | 'encoding' | 'nulls' | 'decimal'> {
  readonly delimiter: number | undefined;
  /** -1 where fields are never quoted. */
  readonly quote: number | undefined;
  readonly escape: number | undefined;
  readonly encoding: Encoding | undefined;
  readonly nulls: readonly Uint8Array[];
  readonly emptyIsNull: boolean;
  readonly hasDecimalComma: boolean;
}

/** @throws InvalidInput */
export function checkCsvOptions(options: CsvOptions): CheckedCsvOptions {
  const { encoding, nulls = [''], decimal, skipLines, ragged, sample, header, onReject } = options;
  const wrong = (name: string, expected: string): never => {
    const found = Reflect.get(options, name) as unknown;
    throw new DirspaceError(
      'InvalidInput',
      `The option ${name} of CSV is ${JSON.stringify(found)}; give ${expected}.`,
    );
  };
  for (const name of Object.keys(options)) {
    if ((OPTION_NAMES as readonly string[]).includes(name)) continue;
    const hint = suggestion(name, OPTION_NAMES);
    throw new DirspaceError('InvalidInput', `CSV has no option ${JSON.stringify(name)}.${hint}`);
  }
  const delimiter = byteOf(options.delimiter, () => wrong('delimiter', 'one ASCII character'));
  const quote =
    options.quote === ''
      ? -1
      : byteOf(options.quote, () => wrong('quote', 'one ASCII character, or none'));
  const before = byteOf(options.escape, () => wrong('escape', 'the quote, or a backslash'));
  if (before !== undefined && before !== 92 && before !== (quote ?? 34)) {
    wrong('escape', 'the quote, or a backslash');
  }
  if (
    delimiter !== undefined &&
    (delimiter === (quote ?? 34) || delimiter === 10 || delimiter === 13)
  ) {
    wrong('delimiter', 'a character that is no quote and no line break');
  }
  if (header !== undefined && typeof header !== 'boolean') wrong('header', 'true or false');
  if (!Array.isArray(nulls) || !nulls.every((text) => typeof text === 'string')) {
    wrong('nulls', 'an array of texts');
  }
  if (decimal !== undefined && !['.', ','].includes(decimal)) wrong('decimal', '"." or ","');
  if (skipLines !== undefined && !(Number.isSafeInteger(skipLines) && skipLines >= 0)) {
    wrong('skipLines', 'a whole number from 0 on');
  }
  if (ragged !== undefined && !['refuse', 'pad'].includes(ragged)) wrong('ragged', 'refuse or pad');
  if (sample !== undefined && !['first', 'all'].includes(sample)) wrong('sample', 'first or all');
  if (onReject !== undefined && typeof onReject !== 'function') wrong('onReject', 'a function');
  const texts = nulls.filter((text) => text !== '');
  const { decimal: _, ...others } = options;
  return {
    ...others,
    hasDecimalComma: decimal === ',',
    delimiter,
    quote,
    escape: before,
    encoding: encoding === undefined ? undefined : checkEncoding(encoding),
    nulls: texts.map((text) => new TextEncoder().encode(text)),
    emptyIsNull: texts.length < nulls.length,
  };
}

/** Whether the bytes of a field without quotes are one of the texts that mean null. */
export function isNullText(
  nulls: readonly Uint8Array[],
  bytes: Uint8Array,
  start: number,
  end: number,
): boolean {
  for (const text of nulls) {
    if (text.length !== end - start) continue;
    let at = 0;
    while (at < text.length && text[at] === bytes[start + at]) at++;
    if (at === text.length) return true;
  }
  return false;
}

function byteOf(text: string | undefined, wrong: () => never): number | undefined {
  if (text === undefined) return undefined;
  const code = typeof text === 'string' && text.length === 1 ? text.charCodeAt(0) : 0;
  return code > 0 && code < 128 ? code : wrong();
}

/** The columns of a file of rejected rows, and one row of it; both end with a line break. */
export const REJECTED_HEADER = 'file,line,column,reason,text\n';
export const rejectedLine = ({ file, line, column, reason, text }: RejectedRow): string =>
  `${quoted(file)},${line},${column},${quoted(reason)},${quoted(text)}\n`;

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
