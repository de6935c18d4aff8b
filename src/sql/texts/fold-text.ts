/**
 * `lowerText` converts a text to lower case, and `foldedInSteps` one of UTF-8, in steps that let
 * other work run. Each character becomes one character, whatever stands beside it, as in
 * PostgreSQL and DuckDB: a capital sigma becomes the same small one at the end of a word too, and
 * an I with a dot becomes an i. So it does not matter where a text is cut, and `_` of ILIKE stands
 * for one character of the text as it is.
 */
import { isContinuation } from '../../bytes.ts';

/** Bytes that are written between two steps. */
const STEP_BYTES = 1 << 22;

/** A text in lower case. */
export function* foldedInSteps(text: Uint8Array): Generator<void, Uint8Array> {
  const folded = new Uint8Array(text.length);
  for (let from = 0; from < text.length; from += STEP_BYTES) {
    if (from > 0) yield;
    if (!foldAscii(text, from, Math.min(text.length, from + STEP_BYTES), folded)) {
      return yield* foldOther(Buffer.from(text.buffer, text.byteOffset, text.length));
    }
  }
  return folded;
}

/** Bytes of a text of other letters that are written at once. */
const OTHER_BYTES = 1 << 20;

function* foldOther(text: Buffer): Generator<void, Uint8Array> {
  const pieces: Buffer[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + OTHER_BYTES);
    while (to < text.length && isContinuation(text[to])) to++;
    pieces.push(Buffer.from(lowerText(text.toString('utf8', from, to))));
    from = to;
    if (from < text.length) yield;
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/** The runtime makes two characters of an I with a dot, and looks at the neighbours of a sigma. */
export function lowerText(text: string): string {
  const isSpecial = text.includes('\u03a3') || text.includes('\u0130');
  const plain = isSpecial ? text.replaceAll('\u03a3', '\u03c3').replaceAll('\u0130', 'i') : text;
  return plain.toLowerCase();
}

/** False where it is not ASCII alone. */
function foldAscii(text: Uint8Array, from: number, to: number, folded: Uint8Array): boolean {
  let other = 0;
  for (let at = from; at < to; at++) {
    const byte = text[at] as number;
    other |= byte;
    folded[at] = byte >= 65 && byte <= 90 ? byte + 32 : byte;
  }
  return other < 128;
}
