/** `randomFrom(SEED)`: numbers from 0 up to 1, the same for the same seed (xorshift32). */
export function randomFrom(seed) {
  let state = Number(seed) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state / 2 ** 32;
  };
}
