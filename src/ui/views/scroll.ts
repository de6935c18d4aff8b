/**
 * `RowScroll` maps positions of a scroll bar to rows. Browsers limit heights to some 30 million
 * pixels, so the scroll bar is never higher than 8 million. If the rows would be higher, its
 * positions stand for shares of the rows (`isMapped`), and the caller moves by rows for the wheel
 * and the keys. `RowScroll` has no state: positions are rows, with fractions.
 */

const MOST_PIXELS = 8_000_000;

export class RowScroll {
  readonly #rows: number;
  readonly #rowHeight: number;
  readonly #viewport: number;

  constructor(rows: number, rowHeight: number, viewport: number) {
    this.#rows = rows;
    this.#rowHeight = rowHeight;
    this.#viewport = viewport;
  }

  /** Pixels of the content of the scroll bar. */
  get height(): number {
    return Math.min(this.#rows * this.#rowHeight, MOST_PIXELS);
  }

  /** Whether a pixel of the scroll bar stands for more than a pixel of rows. */
  get isMapped(): boolean {
    return this.#rows * this.#rowHeight > MOST_PIXELS;
  }

  /** The last position: the last row is at the lower end there. */
  get lastTop(): number {
    return Math.max(0, this.#rows - this.#viewport / this.#rowHeight);
  }

  /** The row at the upper end, from a position of the scroll bar. */
  topAt(scrollTop: number): number {
    const range = this.height - this.#viewport;
    if (range <= 0) return 0;
    return this.clamp((scrollTop / range) * this.lastTop);
  }

  /** The inverse of `topAt`. */
  scrollTopOf(top: number): number {
    if (this.lastTop === 0) return 0;
    return (this.clamp(top) / this.lastTop) * Math.max(0, this.height - this.#viewport);
  }

  clamp(top: number): number {
    return Math.min(this.lastTop, Math.max(0, top));
  }

  /** The nearest position at which a row is in sight as a whole. */
  reveal(row: number, top: number): number {
    const whole = Math.max(1, Math.floor(this.#viewport / this.#rowHeight));
    if (row < top) return this.clamp(row);
    if (row > top + whole - 1) return this.clamp(row - whole + 1);
    return top;
  }
}
