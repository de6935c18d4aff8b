/**
 * `RowEncoder` encodes rotated rows for an IVF index, one after another (`add`), and keeps them in
 * memory. Of each row it keeps its position, a bit and a byte for each element, and the numbers by
 * which searches estimate distances from these. `writeBlock` and `writeRows` write up to 32 chosen
 * rows in the forms of layout.ts, into bytes that are zero before.
 */
import { BLOCK_ROWS, factsAt, NO_POSITION, rowBytes } from './layout.ts';

/** What is kept of a row: its size, factor, error and step. */
const KEPT = 4;
const [SIZE, FACTOR, ERROR, STEP] = [0, 1, 2, 3] as const;

export class RowEncoder {
  count = 0;
  readonly #length: number;
  readonly #bits: Uint8Array;
  readonly #codes: Int8Array;
  readonly #facts: Float32Array;
  readonly #positions: Uint32Array;

  /** @param rows at most */
  constructor(length: number, rows: number) {
    this.#length = length;
    this.#bits = new Uint8Array((rows * length) / 8);
    this.#codes = new Int8Array(rows * length);
    this.#facts = new Float32Array(rows * KEPT);
    this.#positions = new Uint32Array(rows);
  }

  /** Bytes kept for each row. */
  static bytesOf(length: number): number {
    return length / 8 + length + KEPT * 4 + 4;
  }

  /** A turned vector, at `from` of `rows`, and its centroid at `centre` of `centroids`. */
  add(
    rows: Float32Array,
    from: number,
    centroids: Float32Array,
    centre: number,
    position: number,
  ): void {
    const length = this.#length;
    const row = this.count++;
    let norm = 0;
    let sum = 0;
    let largest = 0;
    for (let i = 0; i < length; i += 1) {
      const left = (rows[from + i] as number) - (centroids[centre + i] as number);
      const size = left < 0 ? -left : left;
      norm += left * left;
      sum += size;
      if (size > largest) largest = size;
    }
    const inverse = largest > 0 ? 127 / largest : 0;
    const codes = this.#codes;
    const bits = this.#bits;
    let alike = 0;
    const codeAt = row * length;
    for (let i = 0; i < length; i += 8) {
      let byte = 0;
      for (let bit = 0; bit < 8; bit += 1) {
        const at = i + bit;
        const left = (rows[from + at] as number) - (centroids[centre + at] as number);
        if (left > 0) byte |= 1 << bit;
        const code = ((left * inverse + 128.5) | 0) - 128;
        codes[codeAt + at] = code;
        alike += code * left;
      }
      bits[(codeAt + i) >>> 3] = byte;
    }
    const along = sum > 0 ? (sum * sum) / (length * norm) : 1;
    const at = row * KEPT;
    this.#facts[at + SIZE] = norm;
    this.#facts[at + FACTOR] = sum > 0 ? norm / sum : 0;
    this.#facts[at + ERROR] = Math.sqrt(
      (norm * Math.max(0, 1 - along)) / (Math.max(along, 1e-9) * (length - 1)),
    );
    // Codes times this step have the same product with the row as the row itself. So the error of
    // an estimate is that of the part of the query that is at right angles to the row, which is
    // small for the nearest rows, however far all of them are from the centroid.
    this.#facts[at + STEP] = alike > 0 ? norm / alike : 0;
    this.#positions[row] = position;
  }

  /** The squared distance of a row from its centroid. */
  sizeOf(row: number): number {
    return this.#facts[row * KEPT + SIZE] as number;
  }

  /** Lays out rows by their numbers, 32 at most, to a block of zeros. */
  writeBlock(rows: Uint32Array, into: Uint8Array): void {
    const length = this.#length;
    const bytes = length / 8;
    for (const [lane, row] of rows.entries()) {
      const shift = lane < 16 ? 0 : 4;
      let to = lane & 15;
      for (let i = row * bytes; i < (row + 1) * bytes; i += 1) {
        const byte = this.#bits[i] as number;
        into[to] = (into[to] as number) | ((byte & 15) << shift);
        into[to + 16] = (into[to + 16] as number) | ((byte >>> 4) << shift);
        to += 32;
      }
    }
    const view = new DataView(into.buffer, into.byteOffset + factsAt(length));
    for (let lane = 0; lane < BLOCK_ROWS; lane += 1) {
      const row = rows[lane];
      for (const fact of [SIZE, FACTOR, ERROR]) {
        const none = fact === SIZE ? Infinity : 0;
        const value = row === undefined ? none : (this.#facts[row * KEPT + fact] as number);
        view.setFloat32((fact * BLOCK_ROWS + lane) * 4, value, true);
      }
    }
  }

  /** Lays out what is known of the rows of a block, to zeros. */
  writeRows(rows: Uint32Array, into: Uint8Array): void {
    const length = this.#length;
    const bytes = rowBytes(length);
    const view = new DataView(into.buffer, into.byteOffset);
    for (let lane = 0; lane < BLOCK_ROWS; lane += 1) {
      const row = rows[lane];
      const to = lane * bytes;
      view.setUint32(to + length + 8, NO_POSITION, true);
      if (row === undefined) continue;
      const codes = this.#codes.subarray(row * length, (row + 1) * length);
      into.set(new Uint8Array(codes.buffer, codes.byteOffset, length), to);
      view.setFloat32(to + length, this.#facts[row * KEPT + SIZE] as number, true);
      view.setFloat32(to + length + 4, this.#facts[row * KEPT + STEP] as number, true);
      view.setUint32(to + length + 8, this.#positions[row] as number, true);
    }
  }
}
