/**
 * Converts the offsets of text and binary columns at the top level to 64 bits when a fragment is
 * written (`wideSchema`, `widened`), and back when it is read (`narrowSchema`, `narrowOffsets`).
 * Tables with compression `zstd` need this, because Lance reads compressed offsets only in that
 * width. `narrowSchema` returns undefined for columns without wide offsets, and `narrowOffsets`
 * false if an offset needs more than 31 bits.
 */
import {
  Binary,
  bytesOf,
  type DataType,
  Field,
  LargeBinary,
  LargeUtf8,
  Schema,
  Type,
  Utf8,
} from '../../arrow/index.ts';
import {
  aligned,
  buffersOf,
  type EncodedColumn,
  paddingAfter,
  type StoredSchema,
} from '../../ipc/index.ts';

export interface WideSchema {
  readonly schema: Schema;
  /** Columns whose offsets are wider than those of their type, ascending. */
  readonly columns: readonly number[];
}

const wideSchemas = new WeakMap<Schema, WideSchema>();

/** Columns of texts and of bytes get wide offsets; those within lists and structs keep theirs. */
export function wideSchema(schema: Schema): WideSchema {
  let wide = wideSchemas.get(schema);
  if (wide === undefined) {
    const columns: number[] = [];
    const fields = schema.fields.map((field, at) => {
      const type = wideType(field.type);
      if (type === undefined) return field;
      columns.push(at);
      return withType(field, type);
    });
    wide = { schema: columns.length === 0 ? schema : new Schema(fields, schema.metadata), columns };
    wideSchemas.set(schema, wide);
  }
  return wide;
}

const wideType = ({ typeId }: DataType): DataType | undefined =>
  typeId === Type.Utf8 ? new LargeUtf8() : typeId === Type.Binary ? new LargeBinary() : undefined;

const narrowType = ({ typeId }: DataType): DataType | undefined =>
  typeId === Type.LargeUtf8 ? new Utf8() : typeId === Type.LargeBinary ? new Binary() : undefined;

const withType = ({ name, nullable, metadata }: Field, type: DataType): Field =>
  new Field(name, type, nullable, metadata);

interface NarrowSchema {
  readonly columns: string;
  readonly stored: StoredSchema;
}

/** By the schema of the file: fragments of a table share it. */
const narrowSchemas = new WeakMap<StoredSchema, NarrowSchema>();

/** The schema that a file was written for; undefined where a column of `columns` has no wide offsets. */
export function narrowSchema(
  stored: StoredSchema,
  columns: readonly number[],
): StoredSchema | undefined {
  if (columns.length === 0) return stored;
  const key = columns.join();
  const known = narrowSchemas.get(stored);
  if (known?.columns === key) return known.stored;
  const fields = [...stored.schema.fields];
  for (const at of columns) {
    const field = fields[at];
    const type = field === undefined ? undefined : narrowType(field.type);
    if (field === undefined || type === undefined) return undefined;
    fields[at] = withType(field, type);
  }
  const narrow = { ...stored, schema: new Schema(fields, stored.schema.metadata) };
  narrowSchemas.set(stored, { columns: key, stored: narrow });
  return narrow;
}

/** The buffer of a text column that holds its offsets, behind the one of its nulls. */
export const OFFSETS_BUFFER = 1;

/** An encoded column of texts or bytes with 64-bit offsets. */
export function widened(column: EncodedColumn): EncodedColumn {
  const contents = buffersOf(column);
  contents[OFFSETS_BUFFER] = wideOffsets(contents[OFFSETS_BUFFER] as Uint8Array);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (const content of contents) {
    bytes += aligned(content.length);
    if (content.length === 0) continue;
    pieces.push(content);
    const padding = paddingAfter(content.length);
    if (padding.length > 0) pieces.push(padding);
  }
  const { nodes, views } = column;
  return { pieces, bytes, nodes, buffers: contents.map(({ length }) => length), views };
}

function wideOffsets(offsets: Uint8Array): Uint8Array {
  const words = new Int32Array(offsets.buffer, offsets.byteOffset, offsets.length / 4);
  // Little-endian, as everything in the file: the upper half of each stays 0.
  const wide = new Int32Array(words.length * 2);
  for (let at = 0; at < words.length; at++) wide[at * 2] = words[at] as number;
  return bytesOf(wide);
}

/**
 * Writes 64-bit offsets as 32-bit ones.
 * @param wide at an address that is a multiple of 8
 * @returns whether each of them is one
 */
export function narrowOffsets(wide: Uint8Array, into: Int32Array): boolean {
  const words = new Int32Array(wide.buffer, wide.byteOffset, into.length * 2);
  let signs = 0;
  let high = 0;
  for (let at = 0; at < into.length; at++) {
    const low = words[at * 2] as number;
    into[at] = low;
    signs |= low;
    high |= words[at * 2 + 1] as number;
  }
  return signs >= 0 && high === 0;
}
