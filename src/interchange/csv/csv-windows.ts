/**
 * `CsvWindows` buffers the part of a CSV file that is being read, and finds its next records with a
 * scanner (`next`). `close` closes the file early. `placeOf` translates a position into line and
 * column. The buffer grows with the longest record; a record that does not end within 64 MiB
 * (`MAX_RECORD`) throws InvalidInput.
 */
import { firstAbove } from '../../binary-search.ts';
import { fileProblem } from '../files/index.ts';
import { textOf } from './csv-numbers.ts';
import { CR, type CsvScanner, LF } from './csv-scanner.ts';

/** Bytes after which the end of a record is not looked for any more, before memory runs out. */
const MAX_RECORD = 1 << 26;
/** Bytes whose records are looked for at once: what a processor's cache holds. */
const WINDOW_BYTES = 1 << 18;

export class CsvWindows {
  /** The bytes of the records that were found last, and what follows them. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(2 * WINDOW_BYTES);
  /** Where these records begin. */
  from = 0;
  readonly #pieces: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  readonly #file: string;
  #piece: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #next = 0;
  #isEnd = false;
  /** The line of the file on which the records begin, from 1, and on which the next ones do. */
  line: number;
  #nextLine: number;
  /** Where lines begin in the bytes of the records, once a place among them was asked for. */
  #begins: Int32Array | undefined;

  /** @param line on which the pieces begin, from 1 */
  constructor(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, file: string, line = 1) {
    this.#pieces =
      Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
    this.#file = file;
    this.line = line;
    this.#nextLine = line;
  }

  /** Has the scanner find the next records, at most `most`. False at the end. @throws InvalidInput */
  async next(scanner: CsvScanner, most: number): Promise<boolean> {
    let wanted = this.#next + 1;
    for (;;) {
      if (this.#filled < wanted && !this.#isEnd) await this.#fill(wanted);
      this.from = this.#next;
      this.line = this.#nextLine;
      this.#begins = undefined;
      if (this.from < this.#filled) {
        scanner.scan(this.bytes, this.from, this.#filled, this.#isEnd, most);
        this.#next = scanner.end;
        this.#nextLine += scanner.lines;
        if (scanner.rows > 0 || scanner.bad.length > 0) return true;
      }
      if (this.#isEnd) return false;
      // All of the record is looked at again: with twice the bytes, so that it stays few times.
      const held = this.#filled - this.#next;
      if (held > MAX_RECORD) {
        const message = `${this.#file}, line ${this.line}: one record has more than ${MAX_RECORD.toLocaleString('en')} bytes; perhaps a quote is not closed.`;
        throw fileProblem(message, { file: this.#file, line: this.line });
      }
      wanted = this.#next + 2 * Math.max(held, WINDOW_BYTES / 2);
    }
  }

  /** Closes the file early. */
  async close(): Promise<void> {
    await this.#pieces.return?.();
  }

  /** Reads until so many bytes are there, or the end. */
  async #fill(wanted: number): Promise<void> {
    const kept = this.#filled - this.#next;
    this.bytes.copyWithin(0, this.#next, this.#filled);
    const goal = Math.max(wanted - this.#next, Math.min(kept + 1, WINDOW_BYTES));
    [this.#next, this.#filled] = [0, kept];
    while (this.#filled < goal) {
      while (this.#piece.length === 0) {
        const next = await this.#pieces.next();
        if (next.done === true) {
          this.#isEnd = true;
          return;
        }
        this.#piece = next.value;
      }
      const piece = this.#piece.subarray(0, Math.max(WINDOW_BYTES, goal - this.#filled));
      this.#piece = this.#piece.subarray(piece.length);
      // The scanner writes one byte more.
      this.#reserve(this.#filled + piece.length + 1);
      this.bytes.set(piece, this.#filled);
      this.#filled += piece.length;
    }
  }

  #reserve(size: number): void {
    if (size <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(size, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.#filled));
    this.bytes = larger;
  }

  /** The line of a place in the bytes, and the column: characters of the line; both from 1. */
  placeOf(at: number): { readonly line: number; readonly column: number } {
    this.#begins ??= lineBegins(this.bytes, this.from, this.#next);
    const line = firstAbove(this.#begins, at) - 1;
    const begin = this.#begins[line] as number;
    return { line: this.line + line, column: textOf(this.bytes, begin, at).length + 1 };
  }
}

function lineBegins(bytes: Uint8Array, from: number, to: number): Int32Array {
  const begins = [from];
  for (let at = from; at < to; at++) {
    if (bytes[at] === LF || (bytes[at] === CR && bytes[at + 1] !== LF)) begins.push(at + 1);
  }
  return Int32Array.from(begins);
}
