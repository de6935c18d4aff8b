/**
 * `ProtoReader` reads the members of a protobuf message from an untrusted file. `next` moves to a
 * member, which one other call then reads by its type, or skips. A fault throws Corrupt with the
 * name of the file, the byte and the member; so does a second member where only one may stand. The
 * messages of a file share limits (`ProtoFile`), such as 1,000,000 messages and texts, so that a
 * small file cannot fill memory. Callers skip members that they do not know, and the file counts
 * these by name (`unknown`).
 */
import { DirspaceError } from '../../errors.ts';

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Messages within messages. */
const MAX_DEPTH = 32;
/** Messages, texts and map entries of one file. */
const MAX_PARTS = 1_000_000;
/** Elements of all lists of numbers of one file. */
const MAX_NUMBERS = 16_000_000;
/** Kinds of unknown members that are told apart. */
const MAX_UNKNOWN = 64;

const KEPT_LISTS = 4;

interface KnownList {
  readonly from: number;
  readonly to: number;
  readonly numbers: readonly number[];
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of one file, and what its messages may still ask for. */
export class ProtoFile {
  readonly bytes: Uint8Array;
  /** How errors name the file. */
  readonly name: string;
  #parts = MAX_PARTS;
  #numbers = MAX_NUMBERS;
  readonly #unknown = new Map<string, number>();
  readonly #lists: KnownList[] = [];

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.name = name;
  }

  /**
   * Members that nobody asked for, such as `Manifest.25`, or values that are not known, such as
   * `DeletionFile.1 = 7`, and how often each stands there.
   */
  get unknown(): ReadonlyMap<string, number> {
    return this.#unknown;
  }

  /** A message of which the caller knows that it lies in the file. */
  message(name: string, at: number, bytes: number): ProtoReader {
    return new ProtoReader(this, name, at, at + bytes, 0);
  }

  /** A list of these bytes that was read lately: fragments repeat theirs. */
  knownList(from: number, to: number): readonly number[] | undefined {
    const bytes = this.bytes.subarray(from, to);
    const same = (list: KnownList): boolean =>
      Buffer.compare(this.bytes.subarray(list.from, list.to), bytes) === 0;
    return this.#lists.find(same)?.numbers;
  }

  keepList(from: number, to: number, numbers: readonly number[]): void {
    this.#lists.push({ from, to, numbers });
    if (this.#lists.length > KEPT_LISTS) this.#lists.shift();
  }

  fault(what: string, at: number, member: string): DirspaceError {
    return new DirspaceError(
      'Corrupt',
      `The Lance file ${this.name} is damaged at byte ${at}, in ${member}: ${what}.`,
      { details: { file: this.name, offset: at, member } },
    );
  }

  /** Whether one more part may be made. */
  takePart(): boolean {
    return this.#parts-- > 0;
  }

  takeNumber(): boolean {
    return this.#numbers-- > 0;
  }

  addUnknown(member: string): void {
    const known = this.#unknown.get(member);
    if (known !== undefined || this.#unknown.size < MAX_UNKNOWN) {
      this.#unknown.set(member, (known ?? 0) + 1);
    }
  }
}

/**
 * One message. `next` moves to a member; one of the other methods then reads it. A member may occur
 * more than once only if it is read by `item`, `texts`, `uints`, `int32s` or `entry`,
 * or skipped.
 */
export class ProtoReader {
  /** Number of the member that `next` found. */
  member = 0;
  readonly #file: ProtoFile;
  readonly #name: string;
  readonly #start: number;
  readonly #end: number;
  readonly #depth: number;
  #at: number;
  #memberAt = 0;
  #wire = VARINT;
  /** Of a member with a length: where it begins and ends. */
  #from = 0;
  #to = 0;
  /** Of a varint; `#large` where it has more than 49 bits. */
  #small = 0;
  #large: bigint | undefined;
  #seen: Set<number> | undefined;
  /** Lists that this message has alone, so that they may grow. */
  #growing: Set<readonly number[]> | undefined;
  #seenLow = 0;

  constructor(file: ProtoFile, name: string, start: number, end: number, depth: number) {
    this.#file = file;
    this.#name = name;
    this.#start = start;
    this.#end = end;
    this.#depth = depth;
    this.#at = start;
    if (depth > MAX_DEPTH)
      throw file.fault(`more than ${MAX_DEPTH} messages are nested`, start, name);
    if (!file.takePart()) throw file.fault(`more than ${MAX_PARTS} parts`, start, name);
  }

  /** The whole message, in the memory of the file. */
  get content(): Uint8Array {
    return this.#file.bytes.subarray(this.#start, this.#end);
  }

  /** Position of the message in its file. */
  get start(): number {
    return this.#start;
  }

  /** @throws Corrupt where the message is longer than that */
  atMost(bytes: number): this {
    if (this.#end - this.#start > bytes) {
      throw this.#file.fault(
        `${this.#end - this.#start} bytes, where at most ${bytes} are read`,
        this.#start,
        this.#name,
      );
    }
    return this;
  }

  /** Whether there is one more member. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.#memberAt = this.#at;
    this.member = 0;
    this.#varint();
    const tag = this.#small;
    if (this.#large !== undefined || tag >= 2 ** 32)
      throw this.fault('a member number is too large');
    this.member = Math.floor(tag / 8);
    if (this.member === 0) throw this.fault('a member has the number 0');
    this.#wire = tag % 8;
    switch (this.#wire) {
      case VARINT:
        this.#varint();
        return true;
      case LENGTH_DELIMITED: {
        this.#varint();
        const length = this.#large === undefined ? this.#small : Number.POSITIVE_INFINITY;
        return this.#range(length);
      }
      case FIXED64:
        return this.#range(8);
      case FIXED32:
        return this.#range(4);
      default:
        throw this.fault(`a member has the wire type ${this.#wire}`);
    }
  }

  /** A whole number from 0 to 2^53 - 1. */
  uint(): number {
    this.#expect(VARINT);
    this.#once();
    return this.#safe();
  }

  /** Any unsigned number of 64 bits. */
  uint64(): bigint {
    this.#expect(VARINT);
    this.#once();
    return this.#large ?? BigInt(this.#small);
  }

  int32(): number {
    this.#expect(VARINT);
    this.#once();
    return this.#signed();
  }

  bool(): boolean {
    this.#expect(VARINT);
    this.#once();
    return this.#large !== undefined || this.#small !== 0;
  }

  text(): string {
    this.#once();
    return this.#text();
  }

  /** In the memory of the file. */
  raw(): Uint8Array {
    this.#expect(LENGTH_DELIMITED);
    this.#once();
    return this.#file.bytes.subarray(this.#from, this.#to);
  }

  /** A message that may stand here once. */
  part(name: string): ProtoReader {
    this.#once();
    return this.item(name);
  }

  /** One message of a list. */
  item(name: string): ProtoReader {
    this.#expect(LENGTH_DELIMITED);
    return new ProtoReader(this.#file, name, this.#from, this.#to, this.#depth + 1);
  }

  /** One text of a list. */
  texts(into: string[]): void {
    into.push(this.#text());
  }

  /** Adds the numbers of a list, packed or one by one; from 0 to 2^53 - 1. */
  uints(into: number[]): void {
    this.#numbers(into, () => this.#safe());
  }

  /**
   * Numbers of a list, behind those that were read before. Equal lists of one file share their memory.
   * @param before empty, or what the last call for this member returned, which may grow
   */
  int32s(before: readonly number[]): readonly number[] {
    const isFirst = before.length === 0 && this.#wire === LENGTH_DELIMITED;
    const known = isFirst ? this.#file.knownList(this.#from, this.#to) : undefined;
    if (known !== undefined) return known;
    // A copy for each number of an unpacked list would take time that grows with its square.
    const numbers = this.#growing?.has(before) === true ? (before as number[]) : [...before];
    this.#numbers(numbers, () => this.#signed());
    if (isFirst) this.#file.keepList(this.#from, this.#to, numbers);
    else {
      this.#growing ??= new Set();
      this.#growing.add(numbers);
    }
    return numbers;
  }

  /** One entry of a map from text to text. */
  entry(into: Map<string, string>): void {
    let key = '';
    let value = '';
    const entry = this.item(`${this.#name}.${this.member}`);
    while (entry.next()) {
      if (entry.member === 1) key = entry.text();
      else if (entry.member === 2) value = entry.text();
      else entry.skip();
    }
    into.set(key, value);
  }

  /** Counts a member that is not read, or a value of one whose meaning is not known. */
  skip(value?: number): void {
    const member = `${this.#name}.${this.member}`;
    this.#file.addUnknown(value === undefined ? member : `${member} = ${value}`);
  }

  /** An error about the member that was read last. */
  fault(what: string): DirspaceError {
    const member = this.member === 0 ? this.#name : `${this.#name}.${this.member}`;
    return this.#file.fault(what, this.#memberAt, member);
  }

  #text(): string {
    this.#expect(LENGTH_DELIMITED);
    if (!this.#file.takePart()) throw this.fault(`more than ${MAX_PARTS} parts`);
    try {
      return decoder.decode(this.#file.bytes.subarray(this.#from, this.#to));
    } catch {
      throw this.fault('a text is not UTF-8');
    }
  }

  #numbers(into: number[], read: () => number): void {
    if (this.#wire === VARINT) {
      if (!this.#file.takeNumber()) throw this.fault(`more than ${MAX_NUMBERS} numbers`);
      into.push(read());
      return;
    }
    this.#expect(LENGTH_DELIMITED);
    const end = this.#at;
    this.#at = this.#from;
    while (this.#at < end) {
      if (!this.#file.takeNumber()) throw this.fault(`more than ${MAX_NUMBERS} numbers`);
      this.#varint();
      into.push(read());
    }
    if (this.#at !== end) throw this.fault('a list of numbers ends within a number');
  }

  #safe(): number {
    if (this.#large === undefined) return this.#small;
    if (this.#large > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw this.fault(`${this.#large} is larger than 2^53 - 1`);
    }
    return Number(this.#large);
  }

  #signed(): number {
    const value = this.#large === undefined ? this.#small : Number(BigInt.asIntN(64, this.#large));
    if (value < -(2 ** 31) || value >= 2 ** 31) throw this.fault(`${value} has more than 32 bits`);
    return value;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) {
      throw this.fault(`it has the wire type ${this.#wire}, where ${wire} is due`);
    }
  }

  /** Readers differ in what they make of a second one. */
  #once(): void {
    const { member } = this;
    if (member < 32) {
      const bit = 1 << member;
      if ((this.#seenLow & bit) !== 0) throw this.fault('it stands there twice');
      this.#seenLow |= bit;
      return;
    }
    this.#seen ??= new Set();
    if (this.#seen.has(member)) throw this.fault('it stands there twice');
    this.#seen.add(member);
  }

  #range(length: number): true {
    if (length > this.#end - this.#at) {
      throw this.fault(`${length} bytes, where ${this.#end - this.#at} are left`);
    }
    this.#from = this.#at;
    this.#to = this.#at + length;
    this.#at = this.#to;
    return true;
  }

  #varint(): void {
    const { bytes } = this.#file;
    let value = 0;
    let factor = 1;
    const first = this.#at;
    for (let count = 0; count < 7; count++) {
      if (this.#at >= this.#end) throw this.fault('a number ends with the message');
      const byte = bytes[this.#at++] as number;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        this.#small = value;
        this.#large = undefined;
        return;
      }
      factor *= 128;
    }
    this.#at = first;
    this.#longVarint();
  }

  #longVarint(): void {
    const { bytes } = this.#file;
    let value = 0n;
    for (let count = 0; count < 10; count++) {
      if (this.#at >= this.#end) throw this.fault('a number ends with the message');
      const byte = bytes[this.#at++] as number;
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) {
        if (value >= 1n << 64n) break;
        this.#large = value;
        return;
      }
    }
    throw this.fault('a number has more than 64 bits');
  }
}
