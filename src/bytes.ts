/**
 * Works on byte arrays: adds up the lengths of several (`totalLength`), concatenates them
 * (`joined`), and views part of one as a plain Uint8Array (`plainBytes`). `joined` returns a single
 * piece without copying it.
 */

export function totalLength(pieces: readonly Uint8Array[]): number {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  return total;
}

/** Concatenates the pieces; a single piece is returned as it is. `length` is the total, if known. */
export function joined(pieces: readonly Uint8Array[], length = totalLength(pieces)): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** A view of part of `bytes` as a plain Uint8Array, also where `bytes` is a Buffer. */
export const plainBytes = (bytes: Uint8Array, offset: number, length: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + offset, length);
