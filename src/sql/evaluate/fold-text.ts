/**
 * `foldedInSteps`: converts a text to lower case in steps, for comparisons that ignore case. A text
 * that is not ASCII is converted in one step.
 */

/** Bytes that are written between two steps. */
const STEP_BYTES = 1 << 22;

/** A text in lower case: ASCII in steps, any other in one go as its letters depend on one another. */
export function* foldedInSteps(text: Uint8Array): Generator<void, Uint8Array> {
  const folded = new Uint8Array(text.length);
  for (let from = 0; from < text.length; from += STEP_BYTES) {
    if (from > 0) yield;
    if (!foldAscii(text, from, Math.min(text.length, from + STEP_BYTES), folded)) {
      return Buffer.from(
        Buffer.from(text.buffer, text.byteOffset, text.length).toString().toLowerCase(),
      );
    }
  }
  return folded;
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
