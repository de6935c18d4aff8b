/**
 * `foldedInSteps` converts UTF-8 text to lower case, for comparisons that ignore case, in steps
 * that let other work run. It converts ASCII byte by byte. The lower case of some characters, such
 * as a final sigma, depends on their neighbours; so text with other characters is cut only where no
 * character depends on the next.
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
    const to = from + OTHER_BYTES >= text.length ? text.length : cutAfter(text, from + OTHER_BYTES);
    pieces.push(Buffer.from(text.toString('utf8', from, to).toLowerCase()));
    from = to;
    if (from < text.length) yield;
  }
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
}

/** Letters that depend on others, and what these look past: a capital sigma at the end of a word. */
const DEPENDENT = /[\p{Case_Ignorable}Σ]/u;

/** The first place from `at` on whose characters on either side do not depend on one another. */
function cutAfter(text: Buffer, at: number): number {
  let to = at;
  while (to < text.length && isContinuation(text[to])) to++;
  let last = to - 1;
  while (last > 0 && isContinuation(text[last])) last--;
  for (let before = text.toString('utf8', last, to); to < text.length; ) {
    let next = to + 1;
    while (next < text.length && isContinuation(text[next])) next++;
    const after = text.toString('utf8', to, next);
    if (!DEPENDENT.test(before + after)) return to;
    [to, before] = [next, after];
  }
  return text.length;
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
