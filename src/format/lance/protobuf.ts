/**
 * `ProtoMessage` writes a protobuf message (varints, texts, bytes and nested messages, by member
 * number) into one buffer that grows. `begin` opens a nested message, which `end` must close.
 * `finish` returns a view of that buffer, which the next member may overwrite. `message` makes a
 * new one, and `varintText` and `varintBytes` write and measure one number. proto-reader.ts reads
 * messages.
 */

/** What stands behind the number of a member: a varint, or a length and that many bytes. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIRST_CAPACITY = 256;
/** A message that is used again keeps so much memory. */
const LARGEST_KEPT = 64 * 1024;
/** Bytes of one UTF-16 code unit. */
const MOST_UTF8 = 3;
/** A varint of 64 bits. */
const LONGEST_VARINT = 10;

/** The members of a message that stands in another. */
export type ProtoMembers = (into: ProtoMessage) => void;

/** One message being written. Members appear in the order of the calls. */
export class ProtoMessage {
  #bytes: Uint8Array;
  /** The same memory: the platform writes texts into it. */
  #texts: Buffer;
  #length = 0;

  constructor() {
    // Of memory that small buffers share: one of its own costs more than a short message.
    this.#texts = Buffer.allocUnsafe(FIRST_CAPACITY);
    this.#bytes = new Uint8Array(this.#texts.buffer, this.#texts.byteOffset, FIRST_CAPACITY);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  /** Empties the message, so that its memory can be used again. */
  reset(): this {
    this.#length = 0;
    if (this.#bytes.length > LARGEST_KEPT) this.#take(Buffer.allocUnsafe(FIRST_CAPACITY));
    return this;
  }

  /** 64 bits, without a member's number. */
  fixed64(value: number): this {
    this.#reserve(8);
    this.#fixed32(value % 2 ** 32);
    this.#fixed32(Math.floor(value / 2 ** 32));
    return this;
  }

  #fixed32(value: number): void {
    const bytes = this.#bytes;
    const at = this.#length;
    bytes[at] = value;
    bytes[at + 1] = value >>> 8;
    bytes[at + 2] = value >>> 16;
    bytes[at + 3] = value >>> 24;
    this.#length = at + 4;
  }

  /** A number without a member's, as a packed list holds it. */
  varint(value: number): void {
    this.#varint(value);
  }

  /** A number of any integer type; negative ones take ten bytes, as int32 and int64 do on the wire. */
  integer(member: number, value: number | bigint): this {
    this.#tag(member, VARINT);
    this.#varint(value);
    return this;
  }

  text(member: number, value: string): this {
    const start = this.begin(member);
    this.#reserve(value.length * MOST_UTF8);
    this.#length += this.#texts.write(value, start);
    return this.end(start);
  }

  bytes(member: number, value: Uint8Array): this {
    this.#tag(member, LENGTH_DELIMITED);
    this.#varint(value.length);
    return this.append(value);
  }

  /** What was written from `start` to before `end`, a character for each byte. */
  latin1(start: number, end: number): string {
    return this.#texts.toString('latin1', start, end);
  }

  /** Members that were written before, with their numbers, a character for each byte. */
  appendLatin1(members: string): this {
    this.#reserve(members.length);
    this.#length += this.#texts.write(members, this.#length, 'latin1');
    return this;
  }

  /** The position behind the number that stands there. */
  behindVarint(at: number): number {
    let end = at;
    while ((this.#bytes[end] as number) >= 0x80) end++;
    return end + 1;
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
    const start = this.begin(member);
    members(this);
    return this.end(start);
  }

  /** Begins a member that is a message; what is written before `end` stands in it. */
  begin(member: number): number {
    this.#tag(member, LENGTH_DELIMITED);
    // Most are short, and have a length of one byte.
    this.#reserve(1);
    this.#length += 1;
    return this.#length;
  }

  /** @param start as `begin` gave it for the message that was begun last and has no end yet */
  end(start: number): this {
    const size = this.#length - start;
    if (size < 0x80) {
      this.#bytes[start - 1] = size;
      return this;
    }
    const more = varintBytes(size) - 1;
    this.#reserve(more);
    this.#bytes.copyWithin(start + more, start, this.#length);
    this.#length = start - 1;
    this.#varint(size);
    this.#length += size;
    return this;
  }

  /** A repeated number in its packed form; nothing where there is none. */
  packed(member: number, values: readonly number[]): this {
    if (values.length === 0) return this;
    const start = this.begin(member);
    for (let at = 0; at < values.length; at++) this.#varint(values[at] as number);
    return this.end(start);
  }

  /** The message as it stands: a view that the next member may overwrite. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #tag(member: number, kind: number): void {
    this.#varint(member * 8 + kind);
  }

  #varint(value: number | bigint): void {
    this.#reserve(LONGEST_VARINT);
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
    this.#length = putVarint(bytes, this.#length, value);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#take(larger);
  }

  #take(texts: Buffer): void {
    this.#texts = texts;
    this.#bytes = new Uint8Array(texts.buffer, texts.byteOffset, texts.length);
  }
}

/** Writes a number that is not negative, and tells where it ends. */
function putVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  for (; rest >= 2 ** 31; rest = Math.floor(rest / 0x80)) bytes[end++] = (rest % 0x80) | 0x80;
  for (; rest >= 0x80; rest >>>= 7) bytes[end++] = (rest & 0x7f) | 0x80;
  bytes[end++] = rest;
  return end;
}

/** A number that is not negative as `putVarint` writes it, a character for each byte. */
export function varintText(value: number): string {
  let text = '';
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80))
    text += String.fromCharCode((rest % 0x80) | 0x80);
  return text + String.fromCharCode(rest);
}

/** How many bytes a number takes. */
export function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

export const message = (): ProtoMessage => new ProtoMessage();

/** A message without members. */
export const noMembers: ProtoMembers = () => {};
