/**
 * `dialectOf` detects the delimiter, the quote and its escape from the beginning of a CSV file. It
 * tries each candidate on up to 2,000 records. It prefers candidates that give more than one field,
 * and of these the one under which most records have the same number of fields. Characters that the
 * caller gives are kept. `isSure` is false if more bytes may give another result.
 */
import type { CheckedCsvOptions } from './csv-options.ts';
import { type CsvDialect, CsvScanner, startOf } from './csv-scanner.ts';

const [DOUBLE, SINGLE, BACKSLASH, COMMA, SEMICOLON, TAB, BAR] = [34, 39, 92, 44, 59, 9, 124];
const DELIMITERS = [COMMA, SEMICOLON, TAB, BAR];

/** Bytes that candidates read. */
const LOOKED_AT = 1 << 17;
const MOST_RECORDS = 2_000;

export interface FoundDialect {
  readonly dialect: CsvDialect;
  /** False where under a candidate no record ends within the bytes. */
  readonly isSure: boolean;
}

/**
 * @param bytes the beginning, with one more byte of memory after `to`
 * @param isEnd whether nothing follows `to`
 */
export function dialectOf(
  bytes: Uint8Array,
  from: number,
  to: number,
  isEnd: boolean,
  asked: Pick<CheckedCsvOptions, 'delimiter' | 'quote' | 'escape' | 'hasDecimalComma'>,
): FoundDialect {
  // A comma within numbers stands between fields only where the caller says so.
  const likely = asked.hasDecimalComma ? DELIMITERS.filter((each) => each !== COMMA) : DELIMITERS;
  const delimiters = asked.delimiter === undefined ? likely : [asked.delimiter];
  for (let looked = LOOKED_AT; ; looked *= 4) {
    const end = Math.min(to, from + looked);
    // The scanner writes a line break after the last byte.
    const copy = new Uint8Array(end - from + 1);
    copy.set(bytes.subarray(from, end));
    let best: CsvDialect | undefined;
    let bestScore = -1;
    let isSure = true;
    for (const [quote, escapedBy] of quotesOf(copy, asked)) {
      for (const delimiter of delimiters) {
        if (delimiter === quote) continue;
        const dialect = { delimiter, quote, escapedBy };
        const score = scoreOf(copy, end - from, isEnd && end === to, dialect);
        // Its first record may be one that is cut, in a quoted field. Apostrophes begin words too.
        isSure &&= score > 0 || (quote === SINGLE && asked.quote === undefined);
        if (score > bestScore) [best, bestScore] = [dialect, score];
      }
    }
    if (!isSure && end < to) continue;
    const dialect = best ?? { delimiter: delimiters[0] ?? COMMA, quote: DOUBLE, escapedBy: DOUBLE };
    return { dialect, isSure };
  }
}

type Quotes = readonly [quote: number | undefined, escapedBy: number | undefined];

/** Pairs of a quote and its escape that may be meant, the most common first. */
function quotesOf(bytes: Uint8Array, asked: Pick<CheckedCsvOptions, 'quote' | 'escape'>): Quotes[] {
  const { quote } = asked;
  if (quote === -1) return [[undefined, undefined]];
  const quotes = quote === undefined ? [DOUBLE] : [quote];
  // Apostrophes are quotes only where they stand around fields, and no double quote does.
  if (quote === undefined && surrounds(bytes, SINGLE) && !surrounds(bytes, DOUBLE)) {
    quotes.unshift(SINGLE);
  }
  return quotes.flatMap((each): Quotes[] => {
    if (asked.escape !== undefined) return [[each, asked.escape]];
    const hasBackslash = Buffer.from(bytes.buffer).includes(Buffer.from([BACKSLASH, each]));
    return hasBackslash
      ? [
          [each, each],
          [each, BACKSLASH],
        ]
      : [[each, each]];
  });
}

/** Whether the quote stands at both ends of a field somewhere. */
function surrounds(bytes: Uint8Array, quote: number): boolean {
  const isEdge = (byte: number | undefined): boolean =>
    byte === undefined || byte === 10 || byte === 13 || DELIMITERS.includes(byte);
  let isOpen = false;
  for (let at = bytes.indexOf(quote); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    if (isOpen && isEdge(bytes[at + 1])) return true;
    if (isEdge(bytes[at - 1])) isOpen = true;
  }
  return false;
}

/** How well the records agree: from 1 to 2 where most have the same number of fields, above 1. */
function scoreOf(bytes: Uint8Array, to: number, isEnd: boolean, dialect: CsvDialect): number {
  // Of one column: records with more fields are told with their number.
  const scanner = new CsvScanner(dialect, 1, false);
  scanner.scan(bytes, 0, to, isEnd, MOST_RECORDS);
  const counts = new Map<number, number>();
  let damaged = 0;
  let others = 0;
  for (const { problem, fields } of scanner.bad) {
    if (problem === 'more') counts.set(fields, (counts.get(fields) ?? 0) + 1);
    else damaged++;
    others++;
    if (others === MOST_RECORDS) break;
  }
  let single = 0;
  for (let row = 0; row < scanner.rows; row++) {
    // Blank lines are no records where there are several columns.
    if (startOf(scanner.bounds[2 * row] as number) !== scanner.bounds[2 * row + 1]) single++;
  }
  const all = single + others;
  let [fields, most] = [1, single];
  for (const [count, records] of counts) {
    if (records > most || (records === most && count > fields)) [fields, most] = [count, records];
  }
  if (all === 0) return 0;
  const share = (most - damaged) / all;
  // Among those under which all agree the one with more fields.
  return fields > 1 ? 1 + share + Math.min(fields, 100) / 1e6 : share;
}
