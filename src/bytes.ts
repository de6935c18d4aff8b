/** Runs of bytes as one, for the parts that make them and those that write them. */

export function totalLength(pieces: readonly Uint8Array[]): number {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  return total;
}

/** The pieces one after the other: a copy, unless there is but one. `length` is that of all. */
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

/** A part of `bytes` that is no Buffer even where they are one. */
export const plainBytes = (bytes: Uint8Array, offset: number, length: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + offset, length);
