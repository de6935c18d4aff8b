/**
 * `FragmentEncoder` encodes a fragment as an Arrow IPC file with its layout in the footer. The
 * caller calls `begin`, `batch` for each record batch, `end` and then `summary`, and writes the
 * returned pieces in order. `encodeFragment` encodes a small one at once. The encoder computes
 * statistics and checksums, and compresses columns if it gets a `ColumnCompressor`. A `PartWriter`
 * may add a part for readers of another format, such as Lance. A batch that does not fit the schema
 * throws TableSchemaValidation, and so does a null in a required top-level column other than a
 * dictionary. Dictionaries are held in memory and written at the end, uncompressed. This file does
 * no I/O.
 */
import { crc32 } from 'node:zlib';
import {
  columnsOf,
  concatData,
  type Data,
  type DataType,
  type Dictionary,
  DictionaryUnion,
  type Field,
  nullColumn,
  type RecordBatch,
  type Schema,
} from '../../arrow/index.ts';
import { joined } from '../../bytes.ts';
import { DirspaceError } from '../../errors.ts';
import {
  aligned,
  type Block,
  batchMessage,
  type EncodedColumn,
  encodeColumn,
  footerTable,
  framed,
  MAGIC,
  normaliseColumn,
  type PreparedSchema,
  prepareSchema,
} from '../../ipc/index.ts';
import { drained } from '../../steps.ts';
import { checksumPages } from './checksums.ts';
import { columnStatistics } from './column-statistics.ts';
import { type ColumnCompressor, type StoredColumn, stored } from './compress-columns.ts';
import {
  type BatchLayout,
  type ColumnChunk,
  type DictionaryLayout,
  encodeLayout,
  LAYOUT_KEY,
  type PartLayout,
} from './fragment-layout.ts';
import {
  type ColumnStatistics,
  emptyStatistics,
  encodeStatistics,
  mergeStatistics,
} from './statistics.ts';
import { widened, wideSchema } from './wide-offsets.ts';

export interface FragmentSummary {
  readonly rows: number;
  /** Length of the file. */
  readonly bytes: number;
  /** Length of the end of the file that a reader needs first. */
  readonly footerBytes: number;
  /** crc32 of that end; it holds the checksums of all the rest. */
  readonly footerChecksum: number;
  /** Of all rows, per top-level column. */
  readonly statistics: readonly ColumnStatistics[];
  /** Whether a buffer of it is compressed, or offsets are wide: what releases without compression refuse. */
  readonly isCompressed: boolean;
}

/**
 * Writes one more part into a fragment, between its last message and its footer, for readers of another
 * format. Sees every batch and dictionary with its place in the file.
 */
export interface PartWriter {
  /** @param offsets where each column begins in the file */
  batch(columns: readonly StoredColumn[], offsets: readonly number[], rows: number): void;
  /** @param offset where the values begin in the file */
  dictionary(id: number, values: StoredColumn, offset: number): void;
  /** The part if it begins at `position`; undefined where the fragment gets none. */
  finish(position: number): WrittenPart | undefined;
}

/** A part of a fragment, which several fragments may share: it never changes. */
export interface WrittenPart {
  /** Begins with the marker behind the last message. */
  readonly bytes: Uint8Array;
  /** crc32 of them. */
  readonly checksum: number;
}

/** The marker between the last message of a file and its footer. */
export const END_OF_MESSAGES: Uint8Array = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/** Batches up to this many bytes become one piece: cheaper to copy than to write in parts. */
const ONE_PIECE_BYTES = 65_536;

/**
 * Encodes one fragment. Call begin once, batch any number of times, end once, then summary; write
 * the returned pieces in order. After an error the encoder is of no more use.
 */
export class FragmentEncoder {
  readonly #prepared: PreparedSchema;
  readonly #unions: readonly DictionaryUnion[];
  readonly #statistics: ColumnStatistics[];
  readonly #batches: BatchLayout[] = [];
  readonly #dictionaries: DictionaryLayout[] = [];
  readonly #batchBlocks: Block[] = [];
  readonly #dictionaryBlocks: Block[] = [];
  #position = 0;
  #summary: FragmentSummary | undefined;

  readonly #part: PartWriter | undefined;
  #partLayout: PartLayout | undefined;

  readonly #compressor: ColumnCompressor | undefined;
  #isCompressed = false;
  /** The fields as columns are given: some are stored with wide offsets. */
  readonly #given: readonly Field[];
  /** Columns that are stored so. */
  readonly #wide: readonly number[];
  readonly #isWide: ReadonlySet<number>;

  /**
   * @param part given the fields as the file holds them
   * @param compressor may serve several fragments of the same columns
   */
  constructor(
    schema: Schema,
    part?: (fields: readonly Field[]) => PartWriter,
    compressor?: ColumnCompressor,
  ) {
    this.#compressor = compressor;
    const wide =
      compressor?.hasWideOffsets === true ? wideSchema(schema) : { schema, columns: NO_COLUMNS };
    this.#prepared = prepareSchema(wide.schema);
    this.#wide = wide.columns;
    this.#isCompressed = wide.columns.length > 0;
    const { fields } = this.#prepared.schema;
    this.#isWide = new Set(wide.columns);
    this.#given =
      wide.columns.length === 0
        ? fields
        : fields.map((field, at) => (this.#isWide.has(at) ? (schema.fields[at] as Field) : field));
    this.#part = part?.(this.#prepared.schema.fields);
    this.#unions = this.#prepared.dictionaries.map(() => new DictionaryUnion());
    this.#statistics = this.#prepared.schema.fields.map(() => emptyStatistics);
  }

  begin(): Uint8Array[] {
    const { head } = this.#prepared;
    this.#position = head.length;
    return [head];
  }

  /**
   * Batches without rows give nothing. The pieces are views of the batch's buffers, which must not
   * change until they are written.
   * @throws TableSchemaValidation naming the column that does not fit
   */
  batch(batch: RecordBatch): Uint8Array[] {
    return drained(this.batchInSteps(batch));
  }

  /** The same in steps, of which there are many where columns are compressed. */
  *batchInSteps(batch: RecordBatch): Generator<undefined, Uint8Array[]> {
    const rows = batch.numRows;
    const columns = this.#checked(batch);
    if (rows === 0) return [];
    const plain = columns.map((column, at) => {
      const { type, name } = this.#field(at);
      return encodeColumn(type, column, name, (dictionary) => this.#union(dictionary));
    });
    for (const at of this.#wide) plain[at] = widened(plain[at] as EncodedColumn);
    const encoded = yield* this.#stored(plain);
    const statistics = columns.map((column) => columnStatistics(column));
    for (const [at, known] of statistics.entries()) {
      this.#statistics[at] = mergeStatistics(this.#statistics[at] ?? emptyStatistics, known);
    }
    const { pieces, block, metadataChecksum } = this.#message(encoded, rows);
    this.#batchBlocks.push(block);
    let offset = block.offset + block.metadataBytes;
    this.#part?.batch(encoded, offsetsOf(encoded, offset), rows);
    this.#batches.push({
      offset: block.offset,
      metadataBytes: block.metadataBytes,
      metadataChecksum,
      rows,
      columns: encoded.map((column, at) => {
        const known = encodeStatistics(statistics[at] ?? emptyStatistics);
        const chunk = chunkOf(column, offset, known, this.#isWide.has(at));
        offset += column.bytes;
        return chunk;
      }),
    });
    return pieces;
  }

  end(): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    // A dictionary may hold another one, whose number is higher: it is complete when its turn comes.
    for (const [id, type] of this.#prepared.dictionaries.entries()) {
      pieces.push(...this.#dictionary(id, type));
    }
    const part = this.#part?.finish(this.#position);
    if (part !== undefined) {
      // The marker is written twice: readers of the stream stop here, and the footer follows its own.
      const { bytes, checksum } = part;
      this.#partLayout = { offset: this.#position, bytes: bytes.length, checksum };
      this.#position += bytes.length;
      pieces.push(bytes);
    }
    const tail = this.#tail();
    this.#position += tail.length;
    this.#summary = {
      rows: this.#batches.reduce((rows, batch) => rows + batch.rows, 0),
      bytes: this.#position,
      footerBytes: tail.length,
      footerChecksum: crc32(tail),
      statistics: this.#statistics,
      isCompressed: this.#isCompressed,
    };
    pieces.push(tail);
    return pieces;
  }

  /** @throws Internal before end() */
  summary(): FragmentSummary {
    if (this.#summary === undefined) {
      throw new DirspaceError('Internal', 'A fragment has no summary before its end is written.');
    }
    return this.#summary;
  }

  *#stored(columns: readonly EncodedColumn[]): Generator<undefined, StoredColumn[]> {
    const compressor = this.#compressor;
    if (compressor === undefined) return columns.map(stored);
    const types = this.#prepared.schema.fields.map(({ type }) => type);
    const made = yield* compressor.compress(columns, types);
    if (made[0]?.forms !== undefined) this.#isCompressed = true;
    return made;
  }

  #field(at: number): { name: string; type: DataType; nullable: boolean } {
    return this.#given[at] as { name: string; type: DataType; nullable: boolean };
  }

  #union(type: DataType): DictionaryUnion {
    return this.#unions[(type as Dictionary).id] as DictionaryUnion;
  }

  #checked(batch: RecordBatch): Data[] {
    const fields = this.#given;
    const columns = columnsOf(batch);
    if (columns.length !== fields.length) {
      throw new DirspaceError(
        'TableSchemaValidation',
        `A batch of ${columns.length} columns does not fit a schema of ${fields.length}.`,
      );
    }
    return columns.map((column, at) => {
      const { name, type, nullable } = this.#field(at);
      const given = batch.schema.fields[at]?.name;
      const fail = (what: string) =>
        new DirspaceError('TableSchemaValidation', `Column ${name} cannot be written: ${what}.`, {
          details: { column: name },
        });
      if (given !== name) throw fail(`the batch has ${String(given)} in its place`);
      if (column.length !== batch.numRows) {
        throw fail(`it has ${column.length} rows in a batch of ${batch.numRows}`);
      }
      const data = normaliseColumn(type, column, name);
      if (!nullable && data.nullCount > 0 && type.typeId > 1) {
        throw fail(`it holds ${data.nullCount} nulls and its field allows none`);
      }
      return data;
    });
  }

  /** The message of a body and what to write of it; moves the position past it. */
  #message(
    columns: readonly StoredColumn[],
    rows: number,
    dictionary?: number,
  ): { pieces: Uint8Array[]; block: Block; metadataChecksum: number } {
    const nodes: number[] = [];
    const buffers: number[] = [];
    const views: number[] = [];
    let bodyBytes = 0;
    for (const column of columns) {
      nodes.push(...column.nodes);
      views.push(...column.views);
      for (const bytes of column.buffers) {
        buffers.push(bodyBytes, bytes);
        bodyBytes += aligned(bytes);
      }
    }
    const flatbuffer = batchMessage({
      rows,
      bodyBytes,
      nodes,
      buffers,
      views,
      compressed: columns.some(({ forms }) => forms !== undefined),
      ...(dictionary === undefined ? {} : { dictionary }),
    });
    const offset = this.#position;
    const metadata = framed(flatbuffer, offset);
    const pieces = [metadata, ...columns.flatMap((column) => column.pieces)];
    const bytes = metadata.length + bodyBytes;
    this.#position += bytes;
    return {
      pieces: bytes <= ONE_PIECE_BYTES ? [joined(pieces, bytes)] : pieces,
      block: { offset, metadataBytes: metadata.length, bodyBytes },
      metadataChecksum: crc32(metadata),
    };
  }

  #dictionary(id: number, type: Dictionary): Uint8Array[] {
    const { pieces: parts } = this.#unions[id] as DictionaryUnion;
    const name = `dictionary ${id}`;
    const joinedValues = parts.length === 0 ? nullColumn(type.dictionary, 0) : concatData(parts);
    const values = normaliseColumn(type.dictionary, joinedValues, name);
    const encoded = stored(
      encodeColumn(type.dictionary, values, name, (inner) => this.#union(inner)),
    );
    const { pieces, block, metadataChecksum } = this.#message([encoded], values.length, id);
    this.#part?.dictionary(id, encoded, block.offset + block.metadataBytes);
    // Listed backwards, so that readers that take them in order find inner dictionaries first.
    this.#dictionaryBlocks.unshift(block);
    this.#dictionaries.push({
      id,
      offset: block.offset,
      metadataBytes: block.metadataBytes,
      metadataChecksum,
      rows: values.length,
      values: chunkOf(encoded, block.offset + block.metadataBytes, [], false),
    });
    return pieces;
  }

  #tail(): Uint8Array {
    const { message, head, headChecksum } = this.#prepared;
    const footer = footerTable({
      schema: message,
      dictionaries: this.#dictionaryBlocks,
      batches: this.#batchBlocks,
      key: LAYOUT_KEY,
      value: (schemaAt) =>
        encodeLayout({
          schema: [schemaAt, message.length],
          headBytes: head.length,
          headChecksum,
          batches: this.#batches,
          dictionaries: this.#dictionaries,
          part: this.#partLayout,
          wide: this.#wide,
        }),
    });
    const length = new Uint8Array(4);
    new DataView(length.buffer).setInt32(0, footer.length, true);
    return joined([END_OF_MESSAGES, footer, length, MAGIC]);
  }
}

/** Where columns begin that lie one behind the other from `offset` on. */
function offsetsOf(columns: readonly StoredColumn[], offset: number): number[] {
  let next = offset;
  return columns.map(({ bytes }) => {
    next += bytes;
    return next - bytes;
  });
}

const NO_COLUMNS: readonly number[] = [];

const chunkOf = (
  column: StoredColumn,
  offset: number,
  statistics: unknown,
  isWide: boolean,
): ColumnChunk => ({
  offset,
  bytes: column.bytes,
  checksums: checksumPages(column.pieces, column.bytes),
  nodes: column.nodes,
  buffers: column.buffers,
  views: column.views,
  statistics,
  forms: column.forms,
  isWide,
});

/** A whole fragment in memory, for small ones. */
export function encodeFragment(
  schema: Schema,
  batches: Iterable<RecordBatch>,
  part?: (fields: readonly Field[]) => PartWriter,
  compressor?: ColumnCompressor,
): { bytes: Uint8Array; summary: FragmentSummary } {
  const encoder = new FragmentEncoder(schema, part, compressor);
  const pieces = encoder.begin();
  for (const batch of batches) for (const piece of encoder.batch(batch)) pieces.push(piece);
  for (const piece of encoder.end()) pieces.push(piece);
  const summary = encoder.summary();
  return { bytes: joined(pieces, summary.bytes), summary };
}
