/**
 * `writeThrift` encodes a struct in Thrift's compact protocol, which is the form of the metadata in
 * Parquet files. It writes a number as a 32-bit integer and a bigint as a 64-bit integer, and
 * leaves out fields whose value is undefined. The caller must give the fields of a struct by
 * ascending number.
 */

/** The fields of a struct, by ascending numbers; those without a value are left out. */
export type Fields = readonly (readonly [field: number, value: Value | boolean | undefined])[];

/** A field or an item of a list; numbers are of 32 bits, bigints of 64. */
export type Value =
  | number
  | bigint
  | string
  | { readonly byte: number }
  | { readonly struct: Fields }
  | { readonly list: readonly Value[] };

const [TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT] = [1, 2, 3, 5, 6, 8, 9, 12];

export function writeThrift(fields: Fields): Uint8Array {
  const out: number[] = [];
  putStruct(out, fields);
  return Uint8Array.from(out);
}

function putStruct(out: number[], fields: Fields): void {
  let last = 0;
  for (const [field, value] of fields) {
    if (value === undefined) continue;
    // Fields are near to each other in all structs of Parquet.
    out.push(((field - last) << 4) | kindOf(value));
    last = field;
    if (typeof value !== 'boolean') putValue(out, value);
  }
  out.push(0);
}

function kindOf(value: Value | boolean): number {
  switch (typeof value) {
    case 'number':
      return I32;
    case 'bigint':
      return I64;
    case 'boolean':
      return value ? TRUE : FALSE;
    case 'string':
      return BINARY;
    default:
      return 'byte' in value ? BYTE : 'struct' in value ? STRUCT : LIST;
  }
}

function putValue(out: number[], value: Value): void {
  if (typeof value === 'number')
    putVarint(out, BigInt.asUintN(32, BigInt((value << 1) ^ (value >> 31))));
  else if (typeof value === 'bigint')
    putVarint(out, BigInt.asUintN(64, (value << 1n) ^ (value >> 63n)));
  else if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    putVarint(out, BigInt(bytes.length));
    for (const byte of bytes) out.push(byte);
  } else if ('byte' in value) out.push(value.byte & 255);
  else if ('struct' in value) putStruct(out, value.struct);
  else {
    const { list } = value;
    const [first] = list;
    const kind = first === undefined ? STRUCT : kindOf(first);
    if (list.length < 15) out.push((list.length << 4) | kind);
    else {
      out.push(0xf0 | kind);
      putVarint(out, BigInt(list.length));
    }
    for (const item of list) putValue(out, item);
  }
}

function putVarint(out: number[], value: bigint): void {
  let rest = value;
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
  out.push(Number(rest));
}
