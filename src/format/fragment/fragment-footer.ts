/**
 * Decodes the footer at the end of a fragment, which holds its schema, layout and checksums
 * (`decodeFooter`, or `decodeFooterInSteps` for a long one). It first verifies the bytes against
 * the manifest's checksum, and throws Corrupt if they differ, and UnsupportedFormat for a newer
 * layout. Readers find in the footer where a column lies (`chunkAt`), its statistics
 * (`chunkStatistics`) and its type (`typeAt`). A column that is not there throws Internal, and a
 * damaged description of one throws Corrupt. This file does no I/O.
 */
import { crc32 } from 'node:zlib';
import type { Data, Schema } from '../../arrow/index.ts';
import { plainBytes } from '../../bytes.ts';
import { DirspaceError } from '../../errors.ts';
import { MAGIC, readSchema, type StoredSchema } from '../../ipc/index.ts';
import { corrupt } from '../../json.ts';
import { drained } from '../../steps.ts';
import { END_OF_MESSAGES } from './fragment-encoder.ts';
import {
  type BatchLayout,
  type ColumnChunk,
  type DictionaryLayout,
  decodeLayoutInSteps,
  LAYOUT_KEY,
  type PartLayout,
} from './fragment-layout.ts';
import { type ColumnStatistics, decodeStatistics } from './statistics.ts';
import { narrowSchema } from './wide-offsets.ts';

/** What the manifest says of a fragment. */
export interface ExpectedFragment {
  /** Undefined where nothing says how many there are. */
  readonly rows: number | undefined;
  readonly bytes: number;
  readonly footerBytes: number;
  readonly footerChecksum: number;
}

export interface FragmentFooter {
  /** What errors call the fragment. */
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
  readonly footerBytes: number;
  /** As written, but for the ids in its fields' metadata, and with the types of wide offsets narrowed. */
  readonly schema: Schema;
  /** Field ids depth first, undefined where a field carries none. */
  readonly fieldIds: readonly (number | undefined)[];
  readonly headBytes: number;
  readonly headChecksum: number;
  readonly batches: readonly BatchLayout[];
  readonly dictionaries: readonly DictionaryLayout[];
  readonly part: PartLayout | undefined;
  readonly stored: StoredSchema;
  /** Columns that lie in the file with wide offsets: readers of Arrow find their wide types there. */
  readonly wide: readonly number[];
}

/**
 * @param tail the last `expected.footerBytes` bytes of the file
 * @throws Corrupt naming the fragment
 */
export const decodeFooter = (
  tail: Uint8Array,
  expected: ExpectedFragment,
  name: string,
): FragmentFooter => drained(decodeFooterInSteps(tail, expected, name));

/** Footers of so many bytes take milliseconds, and are decoded in steps where others may wait. */
export const LONG_FOOTER_BYTES: number = 1 << 17;

/** The same, in steps where it is long. */
export function* decodeFooterInSteps(
  tail: Uint8Array,
  expected: ExpectedFragment,
  name: string,
): Generator<undefined, FragmentFooter> {
  if (tail.length !== expected.footerBytes || tail.length > expected.bytes) {
    throw corrupt(name, `its footer has ${tail.length} bytes instead of ${expected.footerBytes}`);
  }
  if (crc32(tail) !== expected.footerChecksum) {
    throw corrupt(name, 'its footer does not match its checksum');
  }
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  const end = tail.length - MAGIC.length - 4;
  const begin = END_OF_MESSAGES.length;
  if (
    end < begin + 8 ||
    !startsWith(tail, END_OF_MESSAGES, 0) ||
    !startsWith(tail, MAGIC, end + 4) ||
    view.getInt32(end, true) !== end - begin
  ) {
    throw corrupt(name, 'it does not end as an Arrow file does');
  }
  const footer = plainBytes(tail, begin, end - begin);
  const text = layoutText(footer, name);
  const layout = yield* decodeLayoutInSteps(text, expected.bytes - tail.length, name);
  const [schemaAt, schemaBytes] = layout.schema;
  if (schemaAt + schemaBytes > footer.length) throw corrupt(name, 'its schema is cut off');
  const written = readSchema(plainBytes(footer, schemaAt, schemaBytes), name);
  const stored = narrowSchema(written, layout.wide);
  if (stored === undefined) throw corrupt(name, 'its layout has wide offsets of other columns');
  const columns = stored.schema.fields.length;
  let rows = 0;
  for (const batch of layout.batches) {
    if (batch.columns.length !== columns) {
      throw corrupt(name, `a batch has ${batch.columns.length} columns instead of ${columns}`);
    }
    rows += batch.rows;
  }
  if (expected.rows !== undefined && rows !== expected.rows)
    throw corrupt(name, `it has ${rows} rows instead of ${expected.rows}`);
  return {
    name,
    rows,
    bytes: expected.bytes,
    footerBytes: tail.length,
    schema: stored.schema,
    fieldIds: stored.fieldIds,
    headBytes: layout.headBytes,
    headChecksum: layout.headChecksum,
    batches: layout.batches,
    dictionaries: layout.dictionaries,
    part: layout.part,
    stored,
    wide: layout.wide,
  };
}

function startsWith(bytes: Uint8Array, expected: Uint8Array, at: number): boolean {
  for (let index = 0; index < expected.length; index++) {
    if (bytes[at + index] !== expected[index]) return false;
  }
  return true;
}

const LAYOUT_NAME = new TextEncoder().encode(LAYOUT_KEY);

/** The layout's text in the custom metadata of the footer's table. */
function layoutText(footer: Uint8Array, name: string): Uint8Array {
  const view = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
  try {
    const root = view.getUint32(0, true);
    const vtable = root - view.getInt32(root, true);
    if (view.getUint16(vtable, true) < 14) throw corrupt(name, 'its footer has no metadata');
    const field = root + view.getUint16(vtable + 12, true);
    const vector = field + view.getUint32(field, true);
    if (view.getUint32(vector, true) !== 1) throw corrupt(name, 'its footer has no layout');
    const pair = vector + 4 + view.getUint32(vector + 4, true);
    const key = textOf(footer, view, pair, 4, name);
    if (key.length !== LAYOUT_NAME.length || !startsWith(key, LAYOUT_NAME, 0)) {
      throw corrupt(name, 'its footer has no layout');
    }
    return textOf(footer, view, pair, 6, name);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) {
      throw corrupt(name, 'its footer cannot be parsed', error);
    }
    throw error;
  }
}

/** The bytes of a text in a table of the footer. */
function textOf(
  footer: Uint8Array,
  view: DataView,
  table: number,
  slot: number,
  name: string,
): Uint8Array {
  const fields = table - view.getInt32(table, true);
  const at = table + view.getUint16(fields + slot, true);
  const start = at + view.getUint32(at, true);
  const length = view.getUint32(start, true);
  if (start + 4 + length > footer.length) throw corrupt(name, 'its metadata is cut off');
  return plainBytes(footer, start + 4, length);
}

/** One column of one batch. @throws Internal when there is none */
export function chunkAt(footer: FragmentFooter, batchIndex: number, column: number): ColumnChunk {
  const chunk = footer.batches[batchIndex]?.columns.at(column);
  if (chunk === undefined) {
    throw new DirspaceError(
      'Internal',
      `${footer.name} has no column ${column} in batch ${batchIndex}`,
    );
  }
  return chunk;
}

/** What is known of the values of one column of one batch. @throws Corrupt */
export function chunkStatistics(
  footer: FragmentFooter,
  batchIndex: number,
  column: number,
): ColumnStatistics {
  const { statistics } = chunkAt(footer, batchIndex, column);
  return decodeStatistics(statistics, typeAt(footer, column), footer.name);
}

/** The type of one column, as stored. @throws Internal when there is none */
export const typeAt = (footer: FragmentFooter, column: number): Data['type'] => {
  const field = footer.schema.fields[column];
  if (field === undefined)
    throw new DirspaceError('Internal', `${footer.name} has no column ${column}`);
  return field.type;
};
