/**
 * `CsvScanner.scan` finds the fields of CSV records in UTF-8 bytes, as pairs of offsets (`bounds`).
 * `unescaped` copies a field without the escapes of its quotes. Malformed records are listed in
 * `bad`. A record that does not end within the given bytes is left for the next call, unless the
 * file ends there. The scanner writes a line feed after the last byte, which keeps its loop simple,
 * so the buffer must have room for it.
 */

/** How records are written. Bytes are ASCII. */
export interface CsvDialect {
  readonly delimiter: number;
  /** Undefined where fields are never quoted. */
  readonly quote: number | undefined;
  /** Stands before a quote, or itself, in a quoted field: the quote itself, or a backslash. */
  readonly escapedBy: number | undefined;
}

export const LF = 10;
export const CR = 13;

/** Flags beside the begin of a field, in its lowest bits. */
export const QUOTED = 1;
/** It has escaped quotes, which are to be undone. */
export const ESCAPED = 2;
const FLAG_BITS = 2;

/** What is wrong with a record. */
export type RecordProblem = 'fewer' | 'more' | 'after quote' | 'open quote';

/** Why a record cannot be taken, and how many fields it has. */
export interface BadRecord {
  readonly problem: RecordProblem;
  readonly fields: number;
  /** Where in the bytes it begins and ends, without the line break, and where the problem is. */
  readonly from: number;
  readonly to: number;
  readonly at: number;
}

/** The first byte of a field, of its entry. */
export const startOf = (entry: number): number => entry >> FLAG_BITS;

export class CsvScanner {
  /** Two entries for each field, row by row: the begin with flags, and the end. */
  bounds: Int32Array = new Int32Array(1 << 16);
  /** The records that are in `bounds`. */
  rows = 0;
  /** Where the first record begins that was not taken. */
  end = 0;
  /** Line breaks up to `end`, those in quoted fields counted too. */
  lines = 0;
  /** Records that were passed over; `bounds` has none of their fields. */
  bad: BadRecord[] = [];
  readonly columns: number;
  readonly #quote: number;
  readonly #escapedBy: number;
  readonly #pads: boolean;
  /** 1 for the bytes that end a field without quotes. */
  readonly #special = new Uint8Array(256);

  /** @param pads whether missing fields at the end of a record are taken as empty */
  constructor({ delimiter, quote, escapedBy }: CsvDialect, columns: number, pads: boolean) {
    this.columns = columns;
    this.#quote = quote ?? -1;
    this.#escapedBy = escapedBy ?? this.#quote;
    this.#pads = pads;
    for (const byte of [delimiter, LF, CR]) this.#special[byte] = 1;
    this.#delimiter = delimiter;
  }
  readonly #delimiter: number;

  /**
   * Takes the records from `from` to before `to`, at most `most` of them. They end with LF, CRLF or
   * CR, which quoted fields may hold too. Blank lines are passed over if there are several columns.
   * @param isEnd whether no bytes come after these: then the last record needs no line break
   */
  scan(bytes: Uint8Array, from: number, to: number, isEnd: boolean, most: number): void {
    const { columns } = this;
    const [special, quote, delimiter] = [this.#special, this.#quote, this.#delimiter];
    let { bounds } = this;
    this.bad = [];
    bytes[to] = LF;
    let rows = 0;
    let lines = 0;
    let at = from;
    let record = from;
    // Fields of a record may be more than columns: those are counted and not kept.
    const perRow = 2 * columns;
    let next = 0;
    while (record < to && rows < most) {
      if (next + perRow > bounds.length) bounds = this.#grown();
      at = record;
      let field = 0;
      let problem: RecordProblem | undefined;
      let problemAt = 0;
      let ended = false;
      let inQuotes = 0;
      let slot = next;
      for (;;) {
        let entry = at << FLAG_BITS;
        let fieldEnd: number;
        if (bytes[at] === quote && at < to) {
          const closed = this.#quoted(bytes, at + 1, to);
          entry = ((at + 1) << FLAG_BITS) | QUOTED | (this.#hasEscapes ? ESCAPED : 0);
          fieldEnd = closed;
          inQuotes += this.#breaks;
          if (closed >= to) {
            // Where there are no more bytes the quote was never closed.
            problem = 'open quote';
            problemAt = at;
            at = to;
            break;
          }
          at = closed + 1;
          if (special[bytes[at] as number] === 0) {
            problem ??= 'after quote';
            problemAt ||= at;
            while (special[bytes[at] as number] === 0) at++;
          }
        } else {
          while (special[bytes[at] as number] === 0) at++;
          fieldEnd = at;
        }
        if (field < columns) {
          bounds[slot] = entry;
          bounds[slot + 1] = fieldEnd;
          slot += 2;
        } else if (field === columns) problemAt ||= entry >> FLAG_BITS;
        field++;
        if (bytes[at] !== delimiter) {
          ended = true;
          break;
        }
        // The byte after the last may be taken for a line break only.
        at++;
      }
      const isLast = at >= to;
      if (isLast && !isEnd) break;
      // The line break may be of two bytes, of which only one is there.
      if (ended && bytes[at] === CR && at + 1 >= to && !isEnd) break;
      const contentEnd = Math.min(at, to);
      const after =
        !isLast && bytes[at] === CR && at + 1 < to && bytes[at + 1] === LF ? at + 2 : at + 1;
      lines += inQuotes + (isLast ? 0 : 1);
      const isBlank = field === 1 && contentEnd === record;
      if (isBlank && columns > 1) {
        record = Math.min(after, to);
        continue;
      }
      if (problem === undefined && field !== columns) {
        if (field > columns) problem = 'more';
        else if (this.#pads) {
          for (; slot < next + perRow; slot += 2) {
            bounds[slot] = contentEnd << FLAG_BITS;
            bounds[slot + 1] = contentEnd;
          }
        } else problem = 'fewer';
      }
      if (problem === undefined) {
        rows++;
        next += perRow;
      } else {
        const place = problem === 'fewer' ? contentEnd : problemAt;
        this.bad.push({ problem, fields: field, from: record, to: contentEnd, at: place });
      }
      record = Math.min(after, to);
    }
    this.rows = rows;
    this.lines = lines;
    this.end = record;
  }

  /** Of the quoted field that was looked at last. */
  #hasEscapes = false;
  #breaks = 0;

  /** Where the closing quote is; `to` where there is none. */
  #quoted(bytes: Uint8Array, from: number, to: number): number {
    const [quote, before] = [this.#quote, this.#escapedBy];
    this.#hasEscapes = false;
    this.#breaks = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (byte === LF || (byte === CR && bytes[at + 1] !== LF)) this.#breaks++;
      else if (byte === before && before !== quote) {
        this.#hasEscapes = true;
        at++;
        if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) this.#breaks++;
      } else if (byte === quote) {
        if (before !== quote || bytes[at + 1] !== quote || at + 1 >= to) return at;
        this.#hasEscapes = true;
        at++;
      }
    }
    return to;
  }

  #grown(): Int32Array {
    const larger = new Int32Array(2 * Math.max(this.bounds.length, 2 * this.columns));
    larger.set(this.bounds);
    this.bounds = larger;
    return larger;
  }

  /** Takes the rows out that `bad` marks; the others keep their order. */
  remove(bad: Uint8Array): void {
    const { bounds, columns } = this;
    let kept = 0;
    for (let row = 0; row < this.rows; row++) {
      if (bad[row] !== 0) continue;
      if (kept !== row) {
        bounds.copyWithin(2 * kept * columns, 2 * row * columns, 2 * (row + 1) * columns);
      }
      kept++;
    }
    this.rows = kept;
  }
}

/** The bytes of an escaped field without the escapes, in new memory. */
export function unescaped(
  bytes: Uint8Array,
  from: number,
  to: number,
  { quote, escapedBy }: CsvDialect,
): Uint8Array {
  const plain = new Uint8Array(to - from);
  let length = 0;
  const before = escapedBy ?? quote;
  for (let at = from; at < to; at++) {
    if (bytes[at] === before && at + 1 < to) {
      const following = bytes[at + 1];
      // A backslash before anything else is a backslash.
      if (following === quote || following === before) at++;
    }
    plain[length++] = bytes[at] as number;
  }
  return plain.subarray(0, length);
}
