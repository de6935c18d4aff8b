/**
 * Computes the low 32 bits of the 64-bit xxHash (seed 0), which are the content checksum of
 * Zstandard frames. `xxh64LowInSteps` hashes a range of bytes in steps of 1 MiB. `Xxh64` takes the
 * bytes piece by piece (`add`); `low` returns the hash, and no bytes may be added after it. The
 * code works on 32-bit halves, because bigints are many times slower.
 */
/** Halves of the five primes, the high one first. */
const [P1H, P1L] = [0x9e3779b1, 0x85ebca87];
const [P2H, P2L] = [0xc2b2ae3d, 0x27d4eb4f];
const [P3H, P3L] = [0x165667b1, 0x9e3779f9];
const [P4H, P4L] = [0x85ebca77, 0xc2b2ae63];
const [P5H, P5L] = [0x27d4eb2f, 0x165667c5];

/** Words in the state, two elements each: four lanes, what is read, and the hash. */
const READ = 8;
const HASH = 10;

/** Bytes that are summed between two steps. */
const STEP_BYTES = 1 << 20;

/** The low half of the hash, seed 0, of the bytes from `from` to `to`. */
export function* xxh64LowInSteps(
  bytes: Uint8Array,
  from: number,
  to: number,
): Generator<undefined, number> {
  const hash = new Xxh64();
  for (let at = from; at < to; at += STEP_BYTES) {
    if (at > from) yield;
    hash.add(bytes, at, Math.min(to, at + STEP_BYTES));
  }
  return hash.low();
}

/** Bytes of a stripe, which the four lanes take at once. */
const STRIPE = 32;

/** The hash of bytes that come in pieces. */
export class Xxh64 {
  readonly #words = new Int32Array(12);
  /** The bytes after the last whole stripe. */
  readonly #rest = new Uint8Array(STRIPE);
  #total = 0;

  constructor() {
    const words = this.#words;
    add(words, 0, P1H, P1L);
    add(words, 0, P2H, P2L);
    add(words, 2, P2H, P2L);
    add(words, 6, ~P1H, ~P1L);
    add(words, 6, 0, 1);
  }

  /** Takes the bytes from `from` to `to`. */
  add(bytes: Uint8Array, from: number, to: number): void {
    let at = from;
    const held = this.#total % STRIPE;
    this.#total += to - from;
    if (held > 0) {
      const missing = Math.min(STRIPE - held, to - at);
      this.#rest.set(bytes.subarray(at, at + missing), held);
      at += missing;
      if (held + missing < STRIPE) return;
      this.#stripes(this.#rest, 0, STRIPE);
    }
    const end = to - ((to - at) % STRIPE);
    this.#stripes(bytes, at, end);
    this.#rest.set(bytes.subarray(end, to));
  }

  #stripes(bytes: Uint8Array, from: number, to: number): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const words = this.#words;
    for (let at = from; at < to; at += STRIPE) {
      for (let lane = 0; lane < 8; lane += 2) {
        round(
          words,
          lane,
          view.getInt32(at + lane * 4 + 4, true),
          view.getInt32(at + lane * 4, true),
        );
      }
    }
  }

  /** The low half of the hash; no more bytes may be added. */
  low(): number {
    const words = this.#words;
    const total = this.#total;
    if (total >= STRIPE) this.#mixLanes();
    else add(words, HASH, P5H, P5L);
    add(words, HASH, Math.floor(total / 2 ** 32), total);
    const bytes = this.#rest;
    const to = total % STRIPE;
    const view = new DataView(bytes.buffer);
    let at = 0;
    for (; at + 8 <= to; at += 8) {
      words[0] = 0;
      words[1] = 0;
      round(words, 0, view.getInt32(at + 4, true), view.getInt32(at, true));
      mix(words, words[0]!, words[1]!);
      rotate(words, HASH, 27);
      multiply(words, HASH, P1H, P1L);
      add(words, HASH, P4H, P4L);
    }
    if (at + 4 <= to) {
      mixProduct(words, view.getInt32(at, true), P1H, P1L);
      rotate(words, HASH, 23);
      multiply(words, HASH, P2H, P2L);
      add(words, HASH, P3H, P3L);
      at += 4;
    }
    for (; at < to; at += 1) {
      mixProduct(words, bytes[at]!, P5H, P5L);
      rotate(words, HASH, 11);
      multiply(words, HASH, P1H, P1L);
    }
    mix(words, 0, words[HASH]! >>> 1);
    multiply(words, HASH, P2H, P2L);
    mix(words, words[HASH]! >>> 29, (words[HASH]! << 3) | (words[HASH + 1]! >>> 29));
    multiply(words, HASH, P3H, P3L);
    mix(words, 0, words[HASH]!);
    return words[HASH + 1]! >>> 0;
  }

  #mixLanes(): void {
    const words = this.#words;
    for (let lane = 0; lane < 8; lane += 2) {
      const [high, low] = [words[lane]!, words[lane + 1]!];
      rotate(words, lane, [1, 7, 12, 18][lane / 2]!);
      add(words, HASH, words[lane]!, words[lane + 1]!);
      words[lane] = high;
      words[lane + 1] = low;
    }
    for (let lane = 0; lane < 8; lane += 2) {
      const [high, low] = [words[lane]!, words[lane + 1]!];
      words[lane] = 0;
      words[lane + 1] = 0;
      round(words, lane, high, low);
      mix(words, words[lane]!, words[lane + 1]!);
      multiply(words, HASH, P1H, P1L);
      add(words, HASH, P4H, P4L);
    }
  }
}

/** Takes a word of input into the word at `at`. */
function round(words: Int32Array, at: number, high: number, low: number): void {
  words[READ] = high;
  words[READ + 1] = low;
  multiply(words, READ, P2H, P2L);
  add(words, at, words[READ]!, words[READ + 1]!);
  rotate(words, at, 31);
  multiply(words, at, P1H, P1L);
}

function mix(words: Int32Array, high: number, low: number): void {
  words[HASH] = words[HASH]! ^ high;
  words[HASH + 1] = words[HASH + 1]! ^ low;
}

/** Mixes in `value`, taken as unsigned, times a prime. */
function mixProduct(words: Int32Array, value: number, high: number, low: number): void {
  words[READ] = 0;
  words[READ + 1] = value;
  multiply(words, READ, high, low);
  mix(words, words[READ]!, words[READ + 1]!);
}

function add(words: Int32Array, at: number, high: number, low: number): void {
  const sum = (words[at + 1]! >>> 0) + (low >>> 0);
  words[at + 1] = sum;
  words[at] = words[at]! + high + (sum > 0xffff_ffff ? 1 : 0);
}

/** To the left by 1 to 31 bits. */
function rotate(words: Int32Array, at: number, bits: number): void {
  const [high, low] = [words[at]!, words[at + 1]!];
  words[at] = (high << bits) | (low >>> (32 - bits));
  words[at + 1] = (low << bits) | (high >>> (32 - bits));
}

/** Drops what does not fit into 64 bits. */
function multiply(words: Int32Array, at: number, high: number, low: number): void {
  const a = words[at + 1]!;
  const a1 = a >>> 16;
  const a0 = a & 0xffff;
  const b1 = low >>> 16;
  const b0 = low & 0xffff;
  // Neither sum exceeds 32 bits: a product of halves leaves room for one half more.
  const first = Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16);
  const second = Math.imul(a0, b1) + (first & 0xffff);
  const carried = (first >>> 16) + (second >>> 16);
  words[at] = (Math.imul(a1, b1) + carried + Math.imul(words[at]!, low) + Math.imul(a, high)) | 0;
  words[at + 1] = Math.imul(a, low);
}
