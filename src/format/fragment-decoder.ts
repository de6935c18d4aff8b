/**
 * Reading a fragment: its footer, then the columns asked for, out of bytes that the caller read.
 * Nothing is parsed before its checksum is verified. Does no I/O.
 */
import { crc32 } from 'node:zlib';
import type { Data, RecordBatch, Schema, Vector as VectorType } from '../arrow.ts';
import { Vector } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import { projectSchema, recordBatch } from './arrow-data.ts';
import { damagedPage, pageChecksums } from './checksums.ts';
import { type Dictionaries, decodeColumn } from './column-reader.ts';
import { END_OF_MESSAGES } from './fragment-encoder.ts';
import {
  type BatchLayout,
  type ColumnChunk,
  type DictionaryLayout,
  decodeLayout,
  LAYOUT_KEY,
} from './fragment-layout.ts';
import { readSchema, type StoredSchema } from './fragment-schema.ts';
import { MAGIC } from './ipc-messages.ts';
import { corrupt } from './json.ts';
import { type ColumnStatistics, decodeStatistics } from './statistics.ts';

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
  /** As written, but for the ids in its fields' metadata. */
  readonly schema: Schema;
  /** Field ids depth first, undefined where a field carries none. */
  readonly fieldIds: readonly (number | undefined)[];
  readonly headBytes: number;
  readonly headChecksum: number;
  readonly batches: readonly BatchLayout[];
  readonly dictionaries: readonly DictionaryLayout[];
  readonly stored: StoredSchema;
}

/** A range of the file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface DecodeOptions {
  /** As decodeDictionaries gives them; needed for columns that dictionaryIds lists. */
  readonly dictionaries?: Dictionaries;
  /** True when these very bytes were verified before. */
  readonly verified?: boolean;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const NO_DICTIONARIES: Dictionaries = new Map();

/**
 * @param tail the last `expected.footerBytes` bytes of the file
 * @throws Corrupt naming the fragment
 */
export function decodeFooter(
  tail: Uint8Array,
  expected: ExpectedFragment,
  name: string,
): FragmentFooter {
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
  const footer = plain(tail, begin, end - begin);
  const layout = decodeLayout(layoutText(footer, name), expected.bytes - tail.length, name);
  const [schemaAt, schemaBytes] = layout.schema;
  if (schemaAt + schemaBytes > footer.length) throw corrupt(name, 'its schema is cut off');
  const stored = readSchema(plain(footer, schemaAt, schemaBytes), name);
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
    stored,
  };
}

const plain = (bytes: Uint8Array, offset: number, length: number): Uint8Array =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + offset, length);

function startsWith(bytes: Uint8Array, expected: Uint8Array, at: number): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte);
}

/** The layout's text in the custom metadata of the footer's table. */
function layoutText(footer: Uint8Array, name: string): string {
  const view = new DataView(footer.buffer, footer.byteOffset, footer.byteLength);
  try {
    const root = view.getUint32(0, true);
    const vtable = root - view.getInt32(root, true);
    if (view.getUint16(vtable, true) < 14) throw corrupt(name, 'its footer has no metadata');
    const field = root + view.getUint16(vtable + 12, true);
    const vector = field + view.getUint32(field, true);
    const pair = vector + 4 + view.getUint32(vector + 4, true);
    const fields = pair - view.getInt32(pair, true);
    const text = (slot: number): string => {
      const at = pair + view.getUint16(fields + slot, true);
      const start = at + view.getUint32(at, true);
      const length = view.getUint32(start, true);
      if (start + 4 + length > footer.length) throw corrupt(name, 'its metadata is cut off');
      return decoder.decode(plain(footer, start + 4, length));
    };
    if (view.getUint32(vector, true) !== 1 || text(4) !== LAYOUT_KEY) {
      throw corrupt(name, 'its footer has no layout');
    }
    return text(6);
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) {
      throw corrupt(name, 'its footer cannot be parsed', error);
    }
    throw error;
  }
}

/** Where columns of a batch lie, one range each. Neighbouring columns are neighbours in the file. */
export function columnRanges(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
): ByteRange[] {
  return columnIndexes.map((column) => rangeOf(chunkAt(footer, batchIndex, column)));
}

const rangeOf = (chunk: ColumnChunk): ByteRange => ({ offset: chunk.offset, length: chunk.bytes });

/** One column of one batch. @throws Internal when there is none */
export function chunkAt(footer: FragmentFooter, batchIndex: number, column: number): ColumnChunk {
  const chunk = footer.batches[batchIndex]?.columns[column];
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

const typeAt = (footer: FragmentFooter, column: number): Data['type'] => {
  const field = footer.schema.fields[column];
  if (field === undefined)
    throw new DirspaceError('Internal', `${footer.name} has no column ${column}`);
  return field.type;
};

/**
 * Columns of a batch around `chunks`, the bytes of their ranges in the same order, which must stay
 * unchanged. Copies only chunks whose address is not a multiple of 8.
 * @throws Corrupt naming the fragment
 */
export function decodeColumns(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
  chunks: readonly Uint8Array[],
  options: DecodeOptions = {},
): Data[] {
  return columnIndexes.map((column, at) => {
    const chunk = chunkAt(footer, batchIndex, column);
    const what = (): string =>
      `column ${footer.schema.fields[column]?.name} of batch ${batchIndex}`;
    return decodeChunk(footer, typeAt(footer, column), chunk, chunks[at], what, options);
  });
}

function decodeChunk(
  footer: FragmentFooter,
  type: Data['type'],
  chunk: ColumnChunk,
  bytes: Uint8Array | undefined,
  what: () => string,
  options: DecodeOptions,
): Data {
  if (bytes === undefined || bytes.length !== chunk.bytes) {
    throw corrupt(
      footer.name,
      `${what()} has ${bytes?.length ?? 0} bytes instead of ${chunk.bytes}`,
    );
  }
  if (options.verified !== true && damagedPage(bytes, 0, pageChecksums(chunk.checksums)) >= 0) {
    throw corrupt(footer.name, `${what()} does not match its checksum`);
  }
  return decodeColumn(type, chunk, bytes, options.dictionaries ?? NO_DICTIONARIES, (problem) =>
    corrupt(footer.name, `${what()}: ${problem}`),
  );
}

/** A batch of the chosen columns, in the order asked for; its schema is that of the projection. */
export function decodeBatch(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
  chunks: readonly Uint8Array[],
  options: DecodeOptions = {},
): RecordBatch {
  const columns = decodeColumns(footer, batchIndex, columnIndexes, chunks, options);
  const rows = footer.batches[batchIndex]?.rows ?? 0;
  return recordBatch(projectSchema(footer.schema, columnIndexes), columns, rows);
}

/** The dictionaries that columns need, nested ones included, inner ones first. */
export function dictionaryIds(footer: FragmentFooter, columnIndexes: readonly number[]): number[] {
  if (footer.dictionaries.length === 0) return [];
  const found = new Set<number>();
  for (const column of columnIndexes) {
    for (const id of dictionariesIn(typeAt(footer, column))) found.add(id);
  }
  return [...found].sort((a, b) => b - a);
}

function dictionariesIn(type: Data['type']): number[] {
  const { id, dictionary } = type as unknown as { id: number; dictionary?: Data['type'] };
  if (dictionary !== undefined) return [id, ...dictionariesIn(dictionary)];
  const children = (type.children ?? []) as readonly { type: Data['type'] }[];
  return children.flatMap((field) => dictionariesIn(field.type));
}

const dictionaryAt = (footer: FragmentFooter, id: number): DictionaryLayout => {
  const found = footer.dictionaries.find((dictionary) => dictionary.id === id);
  if (found === undefined) throw corrupt(footer.name, `its dictionary ${id} is missing`);
  return found;
};

/** Where dictionaries lie, one range each. */
export const dictionaryRanges = (footer: FragmentFooter, ids: readonly number[]): ByteRange[] =>
  ids.map((id) => rangeOf(dictionaryAt(footer, id).values));

/** Dictionaries by id, out of the bytes of their ranges; `ids` as dictionaryIds orders them. */
export function decodeDictionaries(
  footer: FragmentFooter,
  ids: readonly number[],
  chunks: readonly Uint8Array[],
  options: Pick<DecodeOptions, 'verified'> = {},
): Dictionaries {
  const dictionaries = new Map<number, VectorType>();
  for (const [at, id] of ids.entries()) {
    const type = footer.stored.dictionaries.get(id);
    if (type === undefined) throw corrupt(footer.name, `its schema lacks the dictionary ${id}`);
    const chunk = dictionaryAt(footer, id).values;
    const data = decodeChunk(footer, type.dictionary, chunk, chunks[at], () => `dictionary ${id}`, {
      ...options,
      dictionaries,
    });
    dictionaries.set(id, new Vector([data]));
  }
  return dictionaries;
}

export interface DecodedFragment {
  readonly footer: FragmentFooter;
  readonly batches: readonly RecordBatch[];
}

/** A whole file in memory, every byte of it verified. The batches share its bytes. */
export function decodeFragment(
  bytes: Uint8Array,
  expected: ExpectedFragment,
  name: string,
): DecodedFragment {
  if (bytes.length !== expected.bytes || bytes.length < expected.footerBytes) {
    throw corrupt(name, `it has ${bytes.length} bytes instead of ${expected.bytes}`);
  }
  const tailAt = bytes.length - expected.footerBytes;
  const footer = decodeFooter(plain(bytes, tailAt, expected.footerBytes), expected, name);
  const verify = (offset: number, length: number, checksum: number): void => {
    if (offset + length > tailAt || crc32(plain(bytes, offset, length)) !== checksum) {
      throw corrupt(name, `its bytes from ${offset} on do not match their checksum`);
    }
  };
  verify(0, footer.headBytes, footer.headChecksum);
  const read = ({ offset, length }: ByteRange): Uint8Array => plain(bytes, offset, length);
  const columns = footer.schema.fields.map((_, column) => column);
  for (const { offset, metadataBytes, metadataChecksum } of footer.dictionaries) {
    verify(offset, metadataBytes, metadataChecksum);
  }
  const ids = footer.dictionaries.map(({ id }) => id).sort((a, b) => b - a);
  const dictionaries = decodeDictionaries(footer, ids, dictionaryRanges(footer, ids).map(read));
  const batches = footer.batches.map((batch, at) => {
    verify(batch.offset, batch.metadataBytes, batch.metadataChecksum);
    return decodeBatch(footer, at, columns, columnRanges(footer, at, columns).map(read), {
      dictionaries,
    });
  });
  return { footer, batches };
}
