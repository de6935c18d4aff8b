/**
 * `JoinedPieces` keeps the pieces of a body in about as much memory as their bytes take. Small
 * pieces are copied into blocks, since a piece of one byte kept as a Buffer takes 250, which no
 * limit counts; large ones are kept as they are. `bytes` returns them as one Buffer.
 */

/** Pieces of so many bytes are not copied. */
const LARGE = 16_384;
const FIRST_BLOCK = 1_024;
const MOST_BLOCK = 65_536;
const NONE = Buffer.alloc(0);

export class JoinedPieces {
  readonly #done: Uint8Array[] = [];
  #block: Buffer = NONE;
  #used = 0;
  #length = 0;

  /** The number of bytes so far. */
  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const size = piece.byteLength;
    this.#length += size;
    if (size >= LARGE) {
      this.#endBlock();
      this.#done.push(piece);
      return;
    }
    this.#makeRoom(size);
    this.#block.set(piece, this.#used);
    this.#used += size;
  }

  bytes(): Buffer {
    const last = this.#block.subarray(0, this.#used);
    return this.#done.length === 0 ? last : Buffer.concat([...this.#done, last], this.#length);
  }

  #makeRoom(size: number): void {
    const room = this.#block.byteLength;
    if (this.#used + size <= room) return;
    if (this.#used + size > MOST_BLOCK) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafe(MOST_BLOCK);
      return;
    }
    const wanted = Math.max(FIRST_BLOCK, 2 * room, this.#used + size);
    const larger = Buffer.allocUnsafe(Math.min(MOST_BLOCK, wanted));
    larger.set(this.#block.subarray(0, this.#used));
    this.#block = larger;
  }

  #endBlock(): void {
    if (this.#used > 0) this.#done.push(this.#block.subarray(0, this.#used));
    this.#block = NONE;
    this.#used = 0;
  }
}
