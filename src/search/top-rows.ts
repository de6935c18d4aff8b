/**
 * `TopRows`: keeps the `limit` best of numbered rows by their scores, rounded to 32 bits; of equal
 * scores the lower row is better. `finish` gives them best first, in steps.
 */

export interface RankedRows {
  readonly rows: Uint32Array;
  readonly scores: Float32Array;
}

/** Rows taken from the heap between two steps. */
const STEP_ROWS = 16_384;

export class TopRows {
  readonly #limit: number;
  /** A heap whose first row is the worst. */
  #rows = new Uint32Array(16);
  #scores = new Float32Array(16);
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get heldBytes(): number {
    return this.#rows.byteLength + this.#scores.byteLength;
  }

  /** Scores that are not higher change nothing; -Infinity while there is room. */
  get threshold(): number {
    return this.#count < this.#limit ? Number.NEGATIVE_INFINITY : (this.#scores[0] as number);
  }

  add(row: number, score: number): void {
    const rounded = Math.fround(score);
    if (this.#count < this.#limit) {
      if (this.#count === this.#rows.length) this.#grow();
      this.#up(this.#count++, row, rounded);
    } else if (this.#count > 0 && !this.#isWorse(row, rounded, 0)) this.#down(row, rounded);
  }

  *finish(): Generator<void, RankedRows> {
    const rows = new Uint32Array(this.#count);
    const scores = new Float32Array(this.#count);
    for (let at = this.#count - 1; at >= 0; at--) {
      rows[at] = this.#rows[0] as number;
      scores[at] = this.#scores[0] as number;
      this.#count = at;
      if (at > 0) this.#down(this.#rows[at] as number, this.#scores[at] as number);
      if (at % STEP_ROWS === 0) yield;
    }
    return { rows, scores };
  }

  #grow(): void {
    const size = Math.min(this.#limit, 2 * this.#rows.length);
    const rows = new Uint32Array(size);
    rows.set(this.#rows);
    const scores = new Float32Array(size);
    scores.set(this.#scores);
    this.#rows = rows;
    this.#scores = scores;
  }

  #isWorse(row: number, score: number, at: number): boolean {
    const other = this.#scores[at] as number;
    return score < other || (score === other && row > (this.#rows[at] as number));
  }

  #set(at: number, row: number, score: number): void {
    this.#rows[at] = row;
    this.#scores[at] = score;
  }

  #up(start: number, row: number, score: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(row, score, parent)) break;
      this.#set(at, this.#rows[parent] as number, this.#scores[parent] as number);
      at = parent;
    }
    this.#set(at, row, score);
  }

  /** Puts a row in the place of the worst. */
  #down(row: number, score: number): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#count) break;
      const other = child + 1;
      if (other < this.#count) {
        const [otherRow, otherScore] = [this.#rows[other] as number, this.#scores[other] as number];
        if (this.#isWorse(otherRow, otherScore, child)) child = other;
      }
      const [childRow, childScore] = [this.#rows[child] as number, this.#scores[child] as number];
      const isHeap = score < childScore || (score === childScore && row > childRow);
      if (isHeap) break;
      this.#set(at, childRow, childScore);
      at = child;
    }
    this.#set(at, row, score);
  }
}
