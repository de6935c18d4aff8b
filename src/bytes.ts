/**
 * Joins pieces into one array: `joined` takes bytes, `joinedIntegers` and `joinedFloats` take
 * 32-bit numbers. A single piece is returned as it is, not copied. `totalLength` adds up the
 * lengths of pieces. `atWords` copies bytes that do not begin at a multiple of 8, as views of
 * 64-bit numbers must. `plainBytes` views a part of bytes as a plain Uint8Array, because a Buffer's
 * `slice` does not copy. `isContinuation` recognises the later bytes of a UTF-8 character, so that
 * a text is not cut inside one.
 */

/** The bytes at a position that typed arrays of 64 bits can begin at; copied if they are not. */
export const atWords = (bytes: Uint8Array): Uint8Array =>
  bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);

/** Whether a byte of UTF-8 belongs to a character and is not its first. */
export const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

export function totalLength(pieces: readonly { readonly length: number }[]): number {
  let total = 0;
  for (const piece of pieces) total += piece.length;
  return total;
}

/** Concatenates the pieces; a single piece is returned as it is. `length` is the total, if known. */
export const joined = (
  pieces: readonly Uint8Array[],
  length: number = totalLength(pieces),
): Uint8Array => joinedInto(pieces, () => new Uint8Array(length));

/** As `joined`, for numbers of 32 bits. */
export const joinedIntegers = (pieces: readonly Uint32Array[]): Uint32Array =>
  joinedInto(pieces, () => new Uint32Array(totalLength(pieces)));

/** As `joined`, for floats of 32 bits. */
export const joinedFloats = (pieces: readonly Float32Array[]): Float32Array =>
  joinedInto(pieces, () => new Float32Array(totalLength(pieces)));

function joinedInto<Piece extends Uint8Array | Uint32Array | Float32Array>(
  pieces: readonly Piece[],
  make: () => Piece,
): Piece {
  if (pieces.length === 1) return pieces[0] as Piece;
  const whole = make();
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
