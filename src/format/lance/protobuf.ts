/**
 * Writes protobuf messages: varints, texts, bytes and nested messages by member number. Reads nothing and
 * knows no message of its own.
 */

/** What stands behind the number of a member: a varint, or a length and that many bytes. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY = 256;

const encoder = new TextEncoder();

/** One message being written. Members appear in the order of the calls. */
export class ProtoMessage {
  #bytes = new Uint8Array(FIRST_CAPACITY);
  #length = 0;

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** A number of any integer type; negative ones take ten bytes, as int32 and int64 do on the wire. */
  integer(member: number, value: number | bigint): this {
    this.#tag(member, VARINT);
    this.#varint(value);
    return this;
  }

  text(member: number, value: string): this {
    return this.bytes(member, encoder.encode(value));
  }

  bytes(member: number, value: Uint8Array): this {
    this.#tag(member, LENGTH_DELIMITED);
    this.#varint(value.length);
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  message(member: number, value: ProtoMessage): this {
    return this.bytes(member, value.finish());
  }

  /** A repeated number in its packed form; nothing where there is none. */
  packed(member: number, values: readonly number[]): this {
    if (values.length === 0) return this;
    const inner = new ProtoMessage();
    for (let at = 0; at < values.length; at++) inner.#varint(values[at] as number);
    return this.message(member, inner);
  }

  /** The message as it stands: a view that the next member may overwrite. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #tag(member: number, kind: number): void {
    this.#varint(member * 8 + kind);
  }

  #varint(value: number | bigint): void {
    this.#reserve(10);
    if (typeof value === 'bigint' || value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      while (rest >= 0x80n) {
        this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
        rest >>= 7n;
      }
      this.#bytes[this.#length++] = Number(rest);
      return;
    }
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** A message of its own for each nested member. */
export const message = (): ProtoMessage => new ProtoMessage();
