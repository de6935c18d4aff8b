/**
 * `turn` rotates a vector of an IVF index in place, so that its information is spread evenly over
 * the elements. Distances and products stay the same, apart from roundings. The rotation flips the
 * signs of some elements and mixes spans of them: `signsOf` and `spanOf` tell the WebAssembly
 * kernels which. It depends only on the length of the vectors, and is part of the format.
 */

const ROUNDS = 4;

/** The largest power of two within the length. */
export const spanOf = (length: number): number => 2 ** Math.floor(Math.log2(length));

const known = new Map<number, Float32Array>();

/**
 * What the elements are multiplied by before each round: 1 or -1, divided by the root of the span
 * where the round changes them.
 */
export function signsOf(length: number): Float32Array {
  let signs = known.get(length);
  if (signs !== undefined) return signs;
  signs = new Float32Array(ROUNDS * length);
  const span = spanOf(length);
  const scale = Math.fround(1 / Math.sqrt(span));
  // Marsaglia's xorshift of 32 bits.
  let state = 0x9e3779b9;
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = round % 2 === 0 ? 0 : length - span;
    for (let i = 0; i < length; i += 1) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      const size = i >= from && i < from + span ? scale : 1;
      signs[round * length + i] = state < 0 ? -size : size;
    }
  }
  known.set(length, signs);
  return signs;
}

/** Turns one vector in place, as the kernel does. */
export function turn(vector: Float32Array): void {
  const { length } = vector;
  const span = spanOf(length);
  const signs = signsOf(length);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let i = 0; i < length; i += 1) {
      vector[i] = (vector[i] as number) * (signs[round * length + i] as number);
    }
    const from = round % 2 === 0 ? 0 : length - span;
    for (let apart = 1; apart < span; apart *= 2) {
      for (let first = from; first < from + span; first += 2 * apart) {
        for (let i = first; i < first + apart; i += 1) {
          const [x, y] = [vector[i] as number, vector[i + apart] as number];
          vector[i] = x + y;
          vector[i + apart] = x - y;
        }
      }
    }
  }
}
