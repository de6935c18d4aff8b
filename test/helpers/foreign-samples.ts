/** Arrow bytes as others may send them: small ones of every shape, compressed ones, forged ones. */
import { existsSync, readFileSync } from 'node:fs';
import {
  BinaryView,
  Bool,
  type DataType,
  DenseUnion,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Int8,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  SparseUnion,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';
import { randomBatch } from './arrow-samples.ts';
import { seeded } from './seeded.ts';

/** The fixtures stand at the root of the project, wherever this file was compiled to. */
function fixturesAt(from: URL): URL {
  const found = new URL('fixtures/ipc/', from);
  return existsSync(found) ? found : fixturesAt(new URL('../', from));
}

export const ipcFixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(new URL(name, fixturesAt(new URL('../', import.meta.url)))));

const nullable = (name: string, type: DataType): Field => new Field(name, type, true);

const SCHEMAS: Readonly<Record<string, readonly Field[]>> = {
  plain: [nullable('a', new Utf8()), new Field('b', new Int32(), false, new Map([['k', 'v']]))],
  dictionary: [
    nullable('d', new Dictionary(new Utf8(), new Int8())),
    nullable('e', new Dictionary(new List(nullable('item', new Int16())), new Int32())),
  ],
  lists: [
    nullable('l', new List(nullable('item', new Struct([nullable('x', new Int16())])))),
    nullable('f', new FixedSizeList(2, nullable('item', new Float32()))),
    nullable(
      'm',
      new Map_(
        new Field(
          'entries',
          new Struct([new Field('key', new Utf8(), false), nullable('value', new Bool())]),
          false,
        ) as Field<Struct>,
      ),
    ),
  ],
  unions: [
    nullable('u', new DenseUnion([3, 7], [nullable('x', new Int16()), nullable('y', new Utf8())])),
    nullable('s', new SparseUnion([0, 1], [nullable('x', new Int8()), nullable('y', new Bool())])),
  ],
  wide: [
    nullable('v', new Utf8View()),
    nullable('w', new BinaryView()),
    nullable('g', new LargeUtf8()),
    nullable('n', new Null()),
    nullable('i', new Int64()),
  ],
};

export const FOREIGN_SHAPES: readonly string[] = Object.keys(SCHEMAS);

/** Arrow IPC of one of the shapes, the same every time. */
export function foreignSample(name: string, form: 'stream' | 'file', rows = 6): Uint8Array {
  const schema = new Schema([...(SCHEMAS[name] as readonly Field[])]);
  const random = seeded(name.length);
  return tableToIPC(new Table(schema, [randomBatch(schema, rows, random)]), form);
}

/** A flatbuffer of tables and vectors placed by hand. */
class Forge {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #end = 4;

  constructor(size: number) {
    this.bytes = new Uint8Array(size);
    this.#view = new DataView(this.bytes.buffer);
  }

  root(at: number): this {
    this.#view.setUint32(0, at, true);
    return this;
  }

  /** A table of 4-byte members; those given as `to` are offsets to what stands there. */
  table(members: readonly ({ to: number } | { byte: number } | undefined)[]): number {
    const vtable = this.#end;
    const at = vtable + 4 + members.length * 2;
    this.#view.setUint16(vtable, 4 + members.length * 2, true);
    this.#view.setUint16(vtable + 2, 4 + members.length * 4, true);
    this.#view.setInt32(at, at - vtable, true);
    for (const [index, member] of members.entries()) {
      if (member === undefined) continue;
      const position = at + 4 + index * 4;
      this.#view.setUint16(vtable + 4 + index * 2, position - at, true);
      if ('to' in member) this.#view.setInt32(position, member.to - position, true);
      else this.#view.setUint8(position, member.byte);
    }
    this.#end = at + 4 + members.length * 4;
    return at;
  }

  /** A vector of offsets, all to the same place, which may be given later. */
  vector(length: number): { at: number; fill: (to: number) => void } {
    const at = this.#end;
    this.#view.setUint32(at, length, true);
    this.#end = at + 4 + length * 4;
    return {
      at,
      fill: (to) => {
        for (let index = 0; index < length; index += 1) {
          const position = at + 4 + index * 4;
          this.#view.setUint32(position, to - position, true);
        }
      },
    };
  }
}

/** A schema whose fields share their children: few bytes, fields without end. */
export function sharedFields(): Uint8Array {
  const forge = new Forge(400_000);
  // Offsets lead forward only, so outer tables come first and get their children afterwards.
  const fields = forge.vector(1_000);
  const levels = Array.from({ length: 20 }, () => forge.vector(1_000));
  const header = forge.table([undefined, { to: fields.at }]);
  const message = forge.table([{ byte: 4 }, { byte: 1 }, { to: header }]);
  let below = fields;
  for (const level of [...levels, undefined]) {
    const type = forge.table([]);
    const children = level === undefined ? undefined : { to: level.at };
    const struct = level === undefined ? 1 : 13;
    const field = forge.table([
      undefined,
      undefined,
      { byte: struct },
      { to: type },
      undefined,
      children,
    ]);
    below.fill(field);
    if (level !== undefined) below = level;
  }
  forge.root(message);
  const framed = Buffer.alloc(8 + forge.bytes.length);
  framed.writeInt32LE(-1, 0);
  framed.writeInt32LE(forge.bytes.length, 4);
  framed.set(forge.bytes, 8);
  return framed;
}

/** A stream of as many nulls, which take no bytes. */
export function nullRows(count: number): Uint8Array {
  const schema = new Schema([nullable('n', new Null())]);
  const bytes = tableToIPC(new Table(schema, [randomBatch(schema, 3, seeded(1))]), 'stream');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // The length of the batch and that of its node are the two 64-bit threes.
  for (let at = 0; at + 8 <= bytes.length; at += 4) {
    if (view.getBigInt64(at, true) === 3n) view.setBigInt64(at, BigInt(count), true);
  }
  return bytes;
}
