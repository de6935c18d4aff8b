/**
 * `TextOut` is the growing byte buffer into which the writers of CSV and JSON files put their rows.
 * It has methods for single bytes, ASCII text, copied bytes and whole numbers. `take` returns the
 * bytes written so far and starts a new buffer. The writers call it once there are `PIECE_BYTES`
 * (256 KiB), and at the end.
 */

/** A piece is handed on once it has as many bytes. */
export const PIECE_BYTES = 1 << 18;
const ZERO = 48;
const MINUS = 45;
const BILLION = 1_000_000_000;

export class TextOut {
  bytes: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES + (PIECE_BYTES >> 2));
  /** Bytes that are filled. */
  at = 0;

  /** Makes room for more bytes than what is filled. */
  room(more: number): void {
    if (this.at + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.at + more, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.at));
    this.bytes = larger;
  }

  byte(value: number): void {
    if (this.at === this.bytes.length) this.room(1);
    this.bytes[this.at++] = value;
  }

  /** A text of ASCII alone. */
  ascii(text: string): void {
    this.room(text.length);
    const { bytes } = this;
    let { at } = this;
    for (let each = 0; each < text.length; each++) bytes[at++] = text.charCodeAt(each);
    this.at = at;
  }

  /** Bytes as they are. */
  copy(from: Uint8Array): void {
    this.room(from.length);
    this.bytes.set(from, this.at);
    this.at += from.length;
  }

  /** A safe integer. */
  whole(value: number): void {
    this.room(20);
    let rest = value;
    if (value < 0) {
      this.bytes[this.at++] = MINUS;
      rest = -value;
    }
    if (rest < BILLION) {
      this.#digits(rest, digitsOf(rest));
      return;
    }
    const high = Math.floor(rest / BILLION);
    this.#digits(high, digitsOf(high));
    this.#digits(rest - high * BILLION, 9);
  }

  /** A number from 0 to below 1e9 with leading zeros. */
  padded(value: number, digits: number): void {
    this.room(digits);
    this.#digits(value, digits);
  }

  #digits(value: number, digits: number): void {
    const { bytes } = this;
    let rest = value;
    for (let at = this.at + digits - 1; at >= this.at; at--) {
      const next = (rest / 10) | 0;
      bytes[at] = ZERO + rest - next * 10;
      rest = next;
    }
    this.at += digits;
  }

  /** What was filled, which is not written into again. The buffer begins anew. */
  take(): Uint8Array {
    const piece = new Uint8Array(this.bytes.buffer, this.bytes.byteOffset, this.at);
    this.bytes = Buffer.allocUnsafeSlow(PIECE_BYTES + (PIECE_BYTES >> 2));
    this.at = 0;
    return piece;
  }
}

function digitsOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  let digits = 5;
  for (let bound = 100_000; value >= bound; bound *= 10) digits++;
  return digits;
}
