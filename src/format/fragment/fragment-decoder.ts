/**
 * Decodes chosen columns and dictionaries of a fragment (`decodeBatchColumn`,
 * `decodeDictionaries`). The caller asks which byte ranges of the file are needed (`columnRanges`,
 * `dictionaryRanges`), reads them, and passes the bytes. A column that `dictionaryIds` lists
 * dictionaries for needs them decoded first. Checksums are verified before anything is decoded; a
 * mismatch throws Corrupt. `decodeFragment` decodes a whole file in memory. `decodeLoneFragment`
 * decodes one that no manifest describes, and takes its footer as it is. This file does no I/O.
 */
import { crc32 } from 'node:zlib';
import {
  type Data,
  projectSchema,
  type RecordBatch,
  recordBatch,
  Vector,
  type Vector as VectorType,
} from '../../arrow/index.ts';
import { plainBytes } from '../../bytes.ts';
import { corrupt } from '../../json.ts';
import type { Room } from './buffer-forms.ts';
import { matchesChecksums } from './checksums.ts';
import { type Dictionaries, decodeColumn, decodeColumnInSteps } from './column-reader.ts';
import {
  chunkAt,
  decodeFooter,
  type ExpectedFragment,
  type FragmentFooter,
  typeAt,
} from './fragment-footer.ts';
import type { ColumnChunk, DictionaryLayout } from './fragment-layout.ts';

/** A range of the file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** For columns that dictionaryIds lists none of. */
export const NO_DICTIONARIES: Dictionaries = new Map();

/** Where columns of a batch lie, one range each. Neighbouring columns are neighbours in the file. */
export function columnRanges(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
): ByteRange[] {
  return columnIndexes.map((column) => rangeOf(chunkAt(footer, batchIndex, column)));
}

const rangeOf = (chunk: ColumnChunk): ByteRange => ({ offset: chunk.offset, length: chunk.bytes });

/**
 * One column of a batch around `bytes`, those of its range, which must stay unchanged. Plain bytes
 * are copied only if their address is not a multiple of 8; compressed ones are decoded.
 * @param dictionaries as decodeDictionaries gives them; needed for columns that dictionaryIds lists
 * @param room gives memory for what is compressed, which the column then lies in
 * @throws Corrupt naming the fragment
 */
export function decodeBatchColumn(
  footer: FragmentFooter,
  batchIndex: number,
  column: number,
  bytes: Uint8Array | undefined,
  dictionaries: Dictionaries,
  room?: Room,
): Data {
  const chunk = chunkAt(footer, batchIndex, column);
  const what = columnName(footer, batchIndex, column);
  return decodeChunk(footer, typeAt(footer, column), chunk, bytes, what, dictionaries, room);
}

/** The same in steps, of which there are many where it is compressed. */
export function* decodeBatchColumnInSteps(
  footer: FragmentFooter,
  batchIndex: number,
  column: number,
  bytes: Uint8Array | undefined,
  dictionaries: Dictionaries,
  room: Room,
): Generator<undefined, Data> {
  const chunk = chunkAt(footer, batchIndex, column);
  const what = columnName(footer, batchIndex, column);
  const verified = verifiedChunk(footer, chunk, bytes, what);
  const fail = failure(footer, what);
  const type = typeAt(footer, column);
  return yield* decodeColumnInSteps(type, chunk, verified, dictionaries, fail, room);
}

const columnName = (footer: FragmentFooter, batchIndex: number, column: number) => (): string =>
  `column ${footer.schema.fields[column]?.name} of batch ${batchIndex}`;

const failure =
  (footer: FragmentFooter, what: () => string) =>
  (problem: string): Error =>
    corrupt(footer.name, `${what()}: ${problem}`);

function verifiedChunk(
  footer: FragmentFooter,
  chunk: ColumnChunk,
  bytes: Uint8Array | undefined,
  what: () => string,
): Uint8Array {
  if (bytes === undefined || bytes.length !== chunk.bytes) {
    throw corrupt(
      footer.name,
      `${what()} has ${bytes?.length ?? 0} bytes instead of ${chunk.bytes}`,
    );
  }
  if (!matchesChecksums(bytes, chunk.checksums)) {
    throw corrupt(footer.name, `${what()} does not match its checksum`);
  }
  return bytes;
}

function decodeChunk(
  footer: FragmentFooter,
  type: Data['type'],
  chunk: ColumnChunk,
  bytes: Uint8Array | undefined,
  what: () => string,
  dictionaries: Dictionaries,
  room?: Room,
): Data {
  const verified = verifiedChunk(footer, chunk, bytes, what);
  return decodeColumn(type, chunk, verified, dictionaries, failure(footer, what), room);
}

/** A batch of the chosen columns, in the order asked for; its schema is that of the projection. */
export function decodeBatch(
  footer: FragmentFooter,
  batchIndex: number,
  columnIndexes: readonly number[],
  chunks: readonly Uint8Array[],
  dictionaries: Dictionaries,
): RecordBatch {
  const columns = columnIndexes.map((column, at) =>
    decodeBatchColumn(footer, batchIndex, column, chunks[at], dictionaries),
  );
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

export const dictionaryAt = (footer: FragmentFooter, id: number): DictionaryLayout => {
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
): Dictionaries {
  const dictionaries = new Map<number, VectorType>();
  for (const [at, id] of ids.entries()) {
    const type = footer.stored.dictionaries.get(id);
    if (type === undefined) throw corrupt(footer.name, `its schema lacks the dictionary ${id}`);
    const chunk = dictionaryAt(footer, id).values;
    const what = (): string => `dictionary ${id}`;
    const data = decodeChunk(footer, type.dictionary, chunk, chunks[at], what, dictionaries);
    dictionaries.set(id, new Vector([data]));
  }
  return dictionaries;
}

export interface DecodedFragment {
  readonly footer: FragmentFooter;
  readonly batches: readonly RecordBatch[];
}

/** A whole file in memory, every byte of it verified. Its plain columns share its bytes. */
export function decodeFragment(
  bytes: Uint8Array,
  expected: ExpectedFragment,
  name: string,
): DecodedFragment {
  if (bytes.length !== expected.bytes || bytes.length < expected.footerBytes) {
    throw corrupt(name, `it has ${bytes.length} bytes instead of ${expected.bytes}`);
  }
  const tailAt = bytes.length - expected.footerBytes;
  const footer = decodeFooter(plainBytes(bytes, tailAt, expected.footerBytes), expected, name);
  const verify = (offset: number, length: number, checksum: number): void => {
    if (offset + length > tailAt || crc32(plainBytes(bytes, offset, length)) !== checksum) {
      throw corrupt(name, `its bytes from ${offset} on do not match their checksum`);
    }
  };
  verify(0, footer.headBytes, footer.headChecksum);
  const { part } = footer;
  if (part !== undefined) verify(part.offset, part.bytes, part.checksum);
  const read = ({ offset, length }: ByteRange): Uint8Array => plainBytes(bytes, offset, length);
  const columns = footer.schema.fields.map((_, column) => column);
  for (const { offset, metadataBytes, metadataChecksum } of footer.dictionaries) {
    verify(offset, metadataBytes, metadataChecksum);
  }
  const ids = footer.dictionaries.map(({ id }) => id).sort((a, b) => b - a);
  const dictionaries = decodeDictionaries(footer, ids, dictionaryRanges(footer, ids).map(read));
  const batches = footer.batches.map((batch, at) => {
    verify(batch.offset, batch.metadataBytes, batch.metadataChecksum);
    const chunks = columnRanges(footer, at, columns).map(read);
    return decodeBatch(footer, at, columns, chunks, dictionaries);
  });
  return { footer, batches };
}

/** What follows the footer's flatbuffer: its length and the magic; before it stand 8 bytes more. */
const TRAILER_BYTES = 10;
const MARKER_BYTES = 8;

/**
 * As decodeFragment, of a file whose footer no manifest of this engine describes: where the footer
 * begins is said by the file's last bytes. Its own checksum is to be checked by the caller.
 */
export function decodeLoneFragment(bytes: Uint8Array, name: string): DecodedFragment {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footer =
    bytes.length < TRAILER_BYTES ? -1 : view.getInt32(bytes.length - TRAILER_BYTES, true);
  const footerBytes = footer + TRAILER_BYTES + MARKER_BYTES;
  if (footer < 0 || footerBytes > bytes.length)
    throw corrupt(name, 'it does not end as an Arrow file does');
  const footerChecksum = crc32(bytes.subarray(bytes.length - footerBytes));
  const expected = { rows: undefined, bytes: bytes.length, footerBytes, footerChecksum };
  return decodeFragment(bytes, expected, name);
}
