/**
 * `SpareWords` lends one array of 32-bit words again and again, so that work on one batch after
 * another does not leave an array of each behind: the garbage collector runs once for every few
 * tens of megabytes of them. What `take` returns is valid until the next `take`.
 */
export class SpareWords {
  #words = new Int32Array(0);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** So many words, whose values mean nothing. */
  take(length: number): Int32Array {
    if (this.#words.length < length) this.#words = new Int32Array(length);
    return this.#words.subarray(0, length);
  }
}
