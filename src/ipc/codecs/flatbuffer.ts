/**
 * Reads flatbuffers that may be forged. `rootTable` opens one, and `FlatTable` reads the members of
 * a table; absent members give 0, undefined or empty lists. Offsets are checked before they are
 * followed, and the bytes visited are limited by the size of the buffer, so that tables that refer
 * to each other cannot cause endless work. Faults go to the caller's `refuse`.
 * ../foreign/foreign-messages.ts and ../foreign/foreign-schema.ts interpret the tables.
 */

/** Called with what is wrong; throws the caller's error. */
export type Refuse = (problem: string) => never;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** How often the average byte may be visited. Writers that share parts share few of them. */
const VISITS = 4;

/** The table at the root of a flatbuffer. */
export function rootTable(bytes: Uint8Array, refuse: Refuse): FlatTable {
  const buffer = new FlatBuffer(bytes, refuse);
  return new FlatTable(buffer, buffer.follow(0));
}

class FlatBuffer {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly refuse: Refuse;
  #visits: number;

  constructor(bytes: Uint8Array, refuse: Refuse) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.refuse = refuse;
    this.#visits = VISITS * bytes.length + 1_024;
  }

  /** Claims `length` bytes at `at`. */
  visit(at: number, length: number): void {
    this.inside(at, length);
    this.#visits -= length;
    if (this.#visits < 0) this.refuse('its parts refer to each other without end');
  }

  inside(at: number, length: number): void {
    if (at < 0 || at + length > this.bytes.length) this.refuse('an offset leads out of it');
  }

  /** Where the 32-bit offset at `at` leads. */
  follow(at: number): number {
    this.inside(at, 4);
    return at + this.view.getUint32(at, true);
  }

  /** A vector's first element and its length. */
  vector(at: number, elementBytes: number): [start: number, length: number] {
    const start = this.follow(at);
    this.inside(start, 4);
    const length = this.view.getUint32(start, true);
    this.visit(start, 4 + length * elementBytes);
    return [start + 4, length];
  }

  /** A 64-bit integer that a number holds exactly. */
  long(at: number): number {
    const value = this.view.getInt32(at + 4, true) * 2 ** 32 + this.view.getUint32(at, true);
    if (!Number.isSafeInteger(value)) this.refuse(`a number in it is too large`);
    return value;
  }
}

/** One table. Members are counted from 0 in the order of their schema; absent ones give defaults. */
export class FlatTable {
  readonly #buffer: FlatBuffer;
  readonly #at: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;
  readonly #tableBytes: number;

  constructor(buffer: FlatBuffer, at: number) {
    buffer.inside(at, 4);
    const vtable = at - buffer.view.getInt32(at, true);
    buffer.inside(vtable, 4);
    this.#buffer = buffer;
    this.#at = at;
    this.#vtable = vtable;
    this.#vtableBytes = buffer.view.getUint16(vtable, true);
    this.#tableBytes = buffer.view.getUint16(vtable + 2, true);
    if (this.#vtableBytes < 4 || this.#tableBytes < 4) buffer.refuse('a table in it is too short');
    buffer.inside(vtable, this.#vtableBytes);
    buffer.visit(at, this.#tableBytes);
  }

  /** The position of a member, 0 when it is absent. */
  #member(index: number, bytes: number): number {
    const entry = 4 + index * 2;
    if (entry + 2 > this.#vtableBytes) return 0;
    const offset = this.#buffer.view.getUint16(this.#vtable + entry, true);
    if (offset === 0) return 0;
    if (offset < 4 || offset + bytes > this.#tableBytes) {
      this.#buffer.refuse('a member lies outside of its table');
    }
    return this.#at + offset;
  }

  has(index: number): boolean {
    return this.#member(index, 1) !== 0;
  }

  boolean(index: number): boolean {
    return this.byte(index) !== 0;
  }

  byte(index: number): number {
    const at = this.#member(index, 1);
    return at === 0 ? 0 : this.#buffer.view.getUint8(at);
  }

  short(index: number, absent = 0): number {
    const at = this.#member(index, 2);
    return at === 0 ? absent : this.#buffer.view.getInt16(at, true);
  }

  int(index: number, absent = 0): number {
    const at = this.#member(index, 4);
    return at === 0 ? absent : this.#buffer.view.getInt32(at, true);
  }

  long(index: number): number {
    const at = this.#member(index, 8);
    return at === 0 ? 0 : this.#buffer.long(at);
  }

  text(index: number): string | undefined {
    const at = this.#member(index, 4);
    if (at === 0) return undefined;
    const [start, length] = this.#buffer.vector(at, 1);
    try {
      return utf8.decode(this.#buffer.bytes.subarray(start, start + length));
    } catch {
      return this.#buffer.refuse('a text in it is not UTF-8');
    }
  }

  table(index: number): FlatTable | undefined {
    const at = this.#member(index, 4);
    return at === 0 ? undefined : new FlatTable(this.#buffer, this.#buffer.follow(at));
  }

  *tables(index: number): Generator<FlatTable> {
    const at = this.#member(index, 4);
    if (at === 0) return;
    const [start, length] = this.#buffer.vector(at, 4);
    for (let each = 0; each < length; each += 1) {
      yield new FlatTable(this.#buffer, this.#buffer.follow(start + each * 4));
    }
  }

  ints(index: number): number[] {
    const at = this.#member(index, 4);
    if (at === 0) return [];
    const [start, length] = this.#buffer.vector(at, 4);
    return Array.from({ length }, (_, each) => this.#buffer.view.getInt32(start + each * 4, true));
  }

  /** The 64-bit integers of a vector whose elements hold `each` of them. */
  longs(index: number, each: number): number[] {
    const at = this.#member(index, 4);
    if (at === 0) return [];
    const [start, length] = this.#buffer.vector(at, 8 * each);
    return Array.from({ length: length * each }, (_, word) => this.#buffer.long(start + word * 8));
  }

  /**
   * A vector of structs of three 64-bit words, the second of which is a 32-bit integer and padding:
   * the one struct of Arrow that is not of 64-bit integers alone.
   */
  blocks(index: number): (readonly [number, number, number])[] {
    const at = this.#member(index, 4);
    if (at === 0) return [];
    const buffer = this.#buffer;
    const [start, length] = buffer.vector(at, 24);
    return Array.from({ length }, (_, each) => {
      const block = start + each * 24;
      return [buffer.long(block), buffer.view.getInt32(block + 8, true), buffer.long(block + 16)];
    });
  }
}
