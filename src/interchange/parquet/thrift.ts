/**
 * `readThrift` decodes a struct in Thrift's compact protocol, which is the form of the metadata in
 * Parquet files. It returns an object with the fields by number, and the position where the struct
 * ends. The bytes are untrusted: a list cannot claim more items than bytes are left, and nesting of
 * more than 24 levels is refused. Faults go to the caller's `refuse`. Where bytes are missing, it
 * calls `cutShort`, which by default calls `refuse`.
 */

/** A field: a number, a bigint of 64 bits, bytes of a binary, a truth value, a list, a struct. */
export type ThriftValue = number | bigint | boolean | Uint8Array | ThriftValue[] | ThriftStruct;

export interface ThriftStruct {
  readonly [field: number]: ThriftValue | undefined;
}

/** Says what is wrong; throws. */
export type Refuse = (what: string) => never;

const [STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT] = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
] as const;
/** Metadata nests a handful of levels. */
const MOST_LEVELS = 24;

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #refuse: Refuse;
  readonly #cutShort: () => never;
  at: number;

  constructor(bytes: Uint8Array, at: number, refuse: Refuse, cutShort: () => never) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#refuse = refuse;
    this.#cutShort = cutShort;
    this.at = at;
  }

  struct(level: number): ThriftStruct {
    if (level > MOST_LEVELS) this.#refuse('its metadata is nested too deeply');
    const fields: Record<number, ThriftValue> = {};
    let field = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 15;
      if (type === STOP) return fields;
      const step = head >> 4;
      field = step === 0 ? this.#small() : field + step;
      // Booleans of a struct have their value in their type.
      fields[field] = type === TRUE ? true : type === FALSE ? false : this.#value(type, level);
    }
  }

  #value(type: number, level: number): ThriftValue {
    switch (type) {
      case TRUE:
      case FALSE:
        return this.#byte() === TRUE;
      case BYTE:
        return (this.#byte() << 24) >> 24;
      case I16:
      case I32:
        return this.#small();
      case I64:
        return this.#wide();
      case DOUBLE:
        this.#need(8);
        this.at += 8;
        return this.#view.getFloat64(this.at - 8, true);
      case BINARY: {
        const length = this.#varint();
        this.#need(length);
        this.at += length;
        return this.#bytes.subarray(this.at - length, this.at);
      }
      case LIST:
      case SET: {
        const head = this.#byte();
        const count = head >> 4 === 15 ? this.#varint() : head >> 4;
        // No item takes less than a byte.
        this.#need(count);
        const items: ThriftValue[] = [];
        for (let item = 0; item < count; item++) items.push(this.#item(head & 15, level));
        return items;
      }
      case MAP: {
        const count = this.#varint();
        this.#need(2 * count);
        const kinds = count === 0 ? 0 : this.#byte();
        const items: ThriftValue[] = [];
        for (let item = 0; item < count; item++) {
          items.push(this.#item(kinds >> 4, level), this.#item(kinds & 15, level));
        }
        return items;
      }
      case STRUCT:
        return this.struct(level + 1);
      default:
        return this.#refuse(`its metadata has a field of the unknown type ${type}`);
    }
  }

  #item(type: number, level: number): ThriftValue {
    if (level > MOST_LEVELS) this.#refuse('its metadata is nested too deeply');
    return this.#value(type, level + 1);
  }

  #need(bytes: number): void {
    if (this.at + bytes > this.#bytes.length) this.#cutShort();
  }

  #byte(): number {
    this.#need(1);
    return this.#bytes[this.at++] as number;
  }

  /** An unsigned number of up to 53 bits. */
  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      if (scale > 2 ** 42) return this.#refuse('its metadata has a number that is too long');
    }
  }

  #small(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #wide(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
      if (shift > 63n) return this.#refuse('its metadata has a number that is too long');
    }
    return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
  }
}

/**
 * The struct that begins at `at`, and where it ends.
 * @param cutShort throws where more bytes are needed; refuses where it is left out
 */
export function readThrift(
  bytes: Uint8Array,
  at: number,
  refuse: Refuse,
  cutShort: () => never = () => refuse('its metadata is cut short'),
): { readonly struct: ThriftStruct; readonly end: number } {
  const reader = new Reader(bytes, at, refuse, cutShort);
  const struct = reader.struct(0);
  return { struct, end: reader.at };
}
