/**
 * `ProtoMessage`: writes a protobuf message (varints, texts, bytes and nested messages, by member
 * number) into one buffer. proto-reader.ts reads messages.
 */

/** What stands behind the number of a member: a varint, or a length and that many bytes. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY = 256;
/** A message that is used again keeps so much memory. */
const LARGEST_KEPT = 64 * 1024;
/** Longer texts are encoded by the platform. */
const SHORT_TEXT = 64;

const encoder = new TextEncoder();

/** The members of a message that stands in another. */
export type ProtoMembers = (into: ProtoMessage) => void;

/** One message being written. Members appear in the order of the calls. */
export class ProtoMessage {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number = FIRST_CAPACITY) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Empties the message, so that its memory can be used again. */
  reset(): this {
    this.#length = 0;
    if (this.#bytes.length > LARGEST_KEPT) this.#bytes = new Uint8Array(FIRST_CAPACITY);
    return this;
  }

  /** 64 bits, without a member's number. */
  fixed64(value: number): this {
    this.#reserve(8);
    let rest = value;
    for (let each = 0; each < 8; each++) {
      this.#bytes[this.#length++] = rest % 0x100;
      rest = Math.floor(rest / 0x100);
    }
    return this;
  }

  /** A number of any integer type; negative ones take ten bytes, as int32 and int64 do on the wire. */
  integer(member: number, value: number | bigint): this {
    this.#tag(member, VARINT);
    this.#varint(value);
    return this;
  }

  text(member: number, value: string): this {
    if (value.length > SHORT_TEXT) return this.bytes(member, encoder.encode(value));
    this.#tag(member, LENGTH_DELIMITED);
    const start = this.#length;
    this.#reserve(1 + value.length);
    const bytes = this.#bytes;
    let at = start + 1;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) {
        const encoded = encoder.encode(value);
        this.#varint(encoded.length);
        return this.append(encoded);
      }
      bytes[at++] = code;
    }
    bytes[start] = value.length;
    this.#length = at;
    return this;
  }

  bytes(member: number, value: Uint8Array): this {
    this.#tag(member, LENGTH_DELIMITED);
    this.#varint(value.length);
    return this.append(value);
  }

  /** Members that were written before, with their numbers. */
  append(members: Uint8Array): this {
    this.#reserve(members.length);
    this.#bytes.set(members, this.#length);
    this.#length += members.length;
    return this;
  }

  message(member: number, members: ProtoMembers | ProtoMessage): this {
    if (typeof members !== 'function') return this.bytes(member, members.finish());
    this.#tag(member, LENGTH_DELIMITED);
    const start = this.#length;
    // Most are short, and have a length of one byte.
    this.#reserve(1);
    this.#length = start + 1;
    members(this);
    const size = this.#length - start - 1;
    const more = varintBytes(size) - 1;
    if (more > 0) {
      this.#reserve(more);
      this.#bytes.copyWithin(start + 1 + more, start + 1, this.#length);
    }
    this.#length = start;
    this.#varint(size);
    this.#length += size;
    return this;
  }

  /** A repeated number in its packed form; nothing where there is none. */
  packed(member: number, values: readonly number[]): this {
    if (values.length === 0) return this;
    return this.message(member, () => {
      for (let at = 0; at < values.length; at++) this.#varint(values[at] as number);
    });
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
    const bytes = this.#bytes;
    if (typeof value === 'bigint' || value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      while (rest >= 0x80n) {
        bytes[this.#length++] = Number(rest & 0x7fn) | 0x80;
        rest >>= 7n;
      }
      bytes[this.#length++] = Number(rest);
      return;
    }
    let rest = value;
    while (rest >= 0x80) {
      bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    bytes[this.#length++] = rest;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

export const message = (): ProtoMessage => new ProtoMessage();

/** A message without members. */
export const noMembers: ProtoMembers = () => {};
