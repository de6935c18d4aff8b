/**
 * `openText` opens a CSV file as UTF-8 text, and reads its first megabyte, in which the caller
 * detects dialect and types. It detects the encoding. It skips a byte order mark and the lines of
 * `skipLines`; without this option it skips a first line such as `sep=;`, and tells the delimiter
 * that the line names. The caller may ask for a longer beginning, and reads the rest with `after`,
 * which closes the file at its end. Fewer lines than `skipLines` in the first megabyte, and bytes
 * that are not of the encoding, throw InvalidInput.
 */
import { type ByteSource, fileProblem, firstPieces, goingOn } from '../files/index.ts';
import type { CheckedCsvOptions } from './csv-options.ts';
import { LF } from './csv-scanner.ts';
import { asUtf8, encodingOf } from './text-encoding.ts';

/** Bytes that everything is found out from. */
const SAMPLE_BYTES = 1 << 20;

export interface OpenText {
  /** The beginning in UTF-8, and one byte of memory more. */
  readonly head: Uint8Array;
  /** Where it begins after a mark and the lines that are passed over, and the line there. */
  readonly from: number;
  readonly line: number;
  /** The one that the first line names. */
  readonly delimiter: number | undefined;
  /** Whether the beginning is all there is. */
  readonly isWhole: boolean;
  /** The same with a beginning of twice the bytes, or all of them; in place of this one. */
  longer(): Promise<OpenText>;
  /** The pieces from a place in the beginning on. */
  after(at: number): AsyncIterable<Uint8Array>;
  close(): Promise<unknown>;
}

export async function openText(source: ByteSource, options: CheckedCsvOptions): Promise<OpenText> {
  const pieces = source.pieces()[Symbol.asyncIterator]();
  const { first, isWhole } = await firstPieces(pieces, SAMPLE_BYTES);
  const joined = first.length === 1 ? (first[0] as Uint8Array) : Buffer.concat(first);
  const { encoding, mark } = encodingOf(joined, isWhole, options.encoding);
  // Leaving it closes the file, also where what is read is no text of the encoding.
  const raw = goingOn([joined.subarray(mark)], pieces);
  const texts = asUtf8(raw, encoding, source.name);
  const begin = await texts.next();
  const text: Uint8Array = begin.done === true ? new Uint8Array(0) : begin.value;
  if (isWhole) {
    // What the decoder had kept back is an error, or nothing.
    const rest = await texts.next();
    if (rest.done !== true) throw fileProblem(`${source.name} is cut off.`, { file: source.name });
  }
  const { skipLines = 0 } = options;
  const named = options.skipLines === undefined ? namedDelimiter(text) : undefined;
  let from = named?.to ?? 0;
  for (let lines = 0; lines < skipLines; lines++) {
    const at = text.indexOf(LF, from);
    if (at < 0) {
      await pieces.return?.();
      const message = `${source.name} has ${lines} whole lines in its first megabyte; ${skipLines} are to be passed over.`;
      throw fileProblem(message, { file: source.name });
    }
    from = at + 1;
  }
  const close = async (): Promise<unknown> => pieces.return?.();
  const line = named === undefined ? skipLines + 1 : 2;
  return textFrom(text, isWhole, { from, line, delimiter: named?.delimiter, texts, close });
}

/** The first line `sep=;`, by which spreadsheets are told the delimiter, and where it ends. */
function namedDelimiter(text: Uint8Array): { delimiter: number; to: number } | undefined {
  const begin = Buffer.from(text.subarray(0, 16)).toString('latin1');
  const [line, delimiter] = /^"?sep=([,;|\t])"?\r?\n/i.exec(begin) ?? [];
  if (line === undefined || delimiter === undefined) return undefined;
  return { delimiter: delimiter.charCodeAt(0), to: line.length };
}

interface Rest {
  readonly from: number;
  readonly line: number;
  readonly delimiter: number | undefined;
  /** What follows the beginning. */
  readonly texts: AsyncGenerator<Uint8Array>;
  close(): Promise<unknown>;
}

function textFrom(text: Uint8Array, isWhole: boolean, rest: Rest): OpenText {
  const { from, line, delimiter, texts, close } = rest;
  const head = new Uint8Array(text.length + 1);
  head.set(text);
  return {
    head,
    from,
    line,
    delimiter,
    isWhole,
    async longer() {
      const more = await firstPieces(texts, text.length);
      return textFrom(Buffer.concat([text, ...more.first]), more.isWhole, rest);
    },
    async *after(at) {
      try {
        if (at < text.length) yield text.subarray(at);
        for await (const piece of texts) yield piece;
      } finally {
        await close();
      }
    },
    close,
  };
}
