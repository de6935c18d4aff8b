/**
 * Encodes record batches for other programs, as an Arrow IPC stream (`encodeIpcStream`) or file
 * (`encodeIpcFile`). Both return async generators of bytes, which pull the record batches one by
 * one. The bytes may be views of the buffers of a batch. The output is not compressed. A stream
 * without batches gets one of no rows. A record batch that does not fit the schema throws
 * TableSchemaValidation. format/fragment/fragment-encoder.ts writes the catalog's own files.
 */
import {
  columnsOf,
  concatData,
  type DataType,
  type Dictionary,
  DictionaryUnion,
  describeType,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  type Schema,
  typesEqual,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { stepped } from '../../stepped.ts';
import { aligned } from './alignment.ts';
import { type EncodedColumn, encodeColumn } from './column-writer.ts';
import { type Block, batchMessage, footerTable, framed, MAGIC } from './ipc-messages.ts';
import { type PreparedSchema, prepareSchema } from './schema-message.ts';

const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);
const FILE_HEAD = Uint8Array.of(...MAGIC, 0, 0);

/** Pieces shorter than this are joined: a chunk costs more than a copy. */
const JOIN_BYTES = 65_536;

/**
 * The bytes of an Arrow stream, pulled batch by batch. A stream without batches gets one of no
 * rows, which some readers need to learn the types. Chunks may be views of the batches' buffers.
 * @throws TableSchemaValidation for a batch that does not fit the schema
 */
export const encodeIpcStream = (stream: RecordBatchStream): AsyncGenerator<Uint8Array> =>
  encoded(stream, new StreamEncoder(stream.schema));

/**
 * The bytes of an Arrow file, pulled batch by batch. The dictionaries of all batches are joined and
 * stand at its end, since a file has one for each column.
 * @throws as encodeIpcStream does
 */
export const encodeIpcFile = (stream: RecordBatchStream): AsyncGenerator<Uint8Array> =>
  encoded(stream, new FileEncoder(stream.schema));

/** Refers to nothing of a batch while the next one is made. */
function encoded(
  stream: RecordBatchStream,
  encoder: StreamEncoder | FileEncoder,
): AsyncGenerator<Uint8Array> {
  /** The last one comes first. */
  let pieces = encoder.begin().toReversed();
  let batches: AsyncIterator<RecordBatch> | undefined;
  let isOver = false;
  const step = async (): Promise<Uint8Array | undefined> => {
    for (;;) {
      const chunk = nextChunk(pieces);
      if (chunk !== undefined || isOver) return chunk;
      batches ??= stream[Symbol.asyncIterator]();
      const next = await batches.next();
      isOver = next.done === true;
      pieces = (next.done === true ? encoder.end() : encoder.batch(next.value)).toReversed();
    }
  };
  return stepped(step, () => {
    pieces = [];
    // Also where no batch was pulled: the source may hold resources that its `return` releases.
    batches ??= stream[Symbol.asyncIterator]();
    return isOver ? undefined : batches.return?.();
  });
}

/** Few chunks out of many pieces: short ones are copied, neighbours together. */
function nextChunk(pieces: Uint8Array[]): Uint8Array | undefined {
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  while (pieces.length > 0) {
    const piece = pieces.at(-1) as Uint8Array;
    if (bytes > 0 && bytes + piece.length > JOIN_BYTES) break;
    pieces.pop();
    if (piece.length > 0) waiting.push(piece);
    bytes += piece.length;
  }
  return bytes > 0 ? chunkOf(waiting, bytes) : undefined;
}

/** Never one of the short pieces themselves: padding and markers serve every stream there is. */
function chunkOf(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && bytes > JOIN_BYTES) return only;
  const chunk = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    chunk.set(piece, at);
    at += piece.length;
  }
  return chunk;
}

interface Encoded {
  readonly pieces: readonly Uint8Array[];
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

/** A message with its body. */
function encodeMessage(
  columns: readonly EncodedColumn[],
  rows: number,
  dictionary?: number,
): Encoded {
  const buffers: number[] = [];
  let bodyBytes = 0;
  for (const column of columns) {
    for (const bytes of column.buffers) {
      buffers.push(bodyBytes, bytes);
      bodyBytes += aligned(bytes);
    }
  }
  const metadata = framed(
    batchMessage({
      rows,
      bodyBytes,
      nodes: columns.flatMap((column) => column.nodes),
      buffers,
      views: columns.flatMap((column) => column.views),
      ...(dictionary === undefined ? {} : { dictionary }),
    }),
    0,
  );
  const pieces = [metadata, ...columns.flatMap((column) => column.pieces)];
  return { pieces, metadataBytes: metadata.length, bodyBytes };
}

/** The columns of a batch, whose dictionaries go to the unions of their types. */
function encodeColumns(
  { schema }: PreparedSchema,
  batch: RecordBatch,
  unions: readonly DictionaryUnion[],
): EncodedColumn[] {
  checkFits(schema, batch);
  return columnsOf(batch).map((column, at) => {
    const { name, type } = schema.fields[at] as { name: string; type: DataType };
    return encodeColumn(type, column, name, unionOf(unions));
  });
}

const unionOf =
  (unions: readonly DictionaryUnion[]) =>
  (type: DataType): DictionaryUnion =>
    unions[(type as Dictionary).id] as DictionaryUnion;

function checkFits(schema: Schema, batch: RecordBatch): void {
  const columns = columnsOf(batch);
  const refuse = (problem: string): never => {
    throw new DirspaceError(
      'TableSchemaValidation',
      `A record batch does not fit the schema of its stream: ${problem}.`,
    );
  };
  if (columns.length !== schema.fields.length) {
    refuse(`it has ${columns.length} columns where the schema has ${schema.fields.length}`);
  }
  for (const [at, { name, type }] of schema.fields.entries()) {
    const column = columns[at] as (typeof columns)[number];
    const given = batch.schema.fields[at]?.name;
    if (given !== name)
      refuse(`column ${at} is ${JSON.stringify(given)}, not ${JSON.stringify(name)}`);
    if (!typesEqual(column.type, type)) {
      refuse(
        `column ${JSON.stringify(name)} is ${describeType(column.type)}, not ${describeType(type)}`,
      );
    }
    if (column.length !== batch.numRows) {
      refuse(`column ${JSON.stringify(name)} has ${column.length} of ${batch.numRows} rows`);
    }
  }
}

/** One dictionary message of what a union holds. */
function encodeDictionary(
  type: Dictionary,
  id: number,
  unions: readonly DictionaryUnion[],
): Encoded {
  const { pieces } = unions[id] as DictionaryUnion;
  const values = pieces.length === 0 ? nullColumn(type.dictionary, 0) : concatData(pieces);
  const encoded = encodeColumn(type.dictionary, values, `dictionary ${id}`, unionOf(unions));
  return encodeMessage([encoded], values.length, id);
}

class StreamEncoder {
  readonly #prepared: PreparedSchema;
  /** The pieces of each dictionary that the reader has. */
  readonly #sent: (readonly unknown[] | undefined)[];
  #empty = true;

  constructor(schema: Schema) {
    this.#prepared = prepareSchema(schema);
    this.#sent = this.#prepared.dictionaries.map(() => undefined);
  }

  begin(): Uint8Array[] {
    return [framed(this.#prepared.message, 0)];
  }

  batch(batch: RecordBatch): Uint8Array[] {
    this.#empty = false;
    // A stream may replace a dictionary, so every batch brings its own where it differs.
    const unions = this.#prepared.dictionaries.map(() => new DictionaryUnion());
    const columns = encodeColumns(this.#prepared, batch, unions);
    const dictionaries = this.#dictionaries(unions);
    return [...dictionaries, ...encodeMessage(columns, batch.numRows).pieces];
  }

  end(): Uint8Array[] {
    if (!this.#empty) return [END_OF_STREAM];
    const { schema } = this.#prepared;
    const columns = schema.fields.map(({ type }) => nullColumn(type, 0));
    return [...this.batch(recordBatch(schema, columns, 0)), END_OF_STREAM];
  }

  /** The dictionaries that a reader of this batch lacks, inner ones first. */
  #dictionaries(unions: readonly DictionaryUnion[]): Uint8Array[] {
    const changed: Encoded[] = [];
    // Types are numbered from the outside in: encoding one fills the unions of those inside it.
    for (const [id, type] of this.#prepared.dictionaries.entries()) {
      const { pieces } = unions[id] as DictionaryUnion;
      const sent = this.#sent[id];
      // Without values of its own, as inside one that did not change, it does with what was sent.
      if (sent !== undefined && (pieces.length === 0 || sameItems(sent, pieces))) continue;
      this.#sent[id] = [...pieces];
      changed.unshift(encodeDictionary(type, id, unions));
    }
    return changed.flatMap(({ pieces }) => pieces);
  }
}

const sameItems = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);

class FileEncoder {
  readonly #prepared: PreparedSchema;
  readonly #unions: readonly DictionaryUnion[];
  readonly #batches: Block[] = [];
  readonly #dictionaries: Block[] = [];
  #position = 0;

  constructor(schema: Schema) {
    this.#prepared = prepareSchema(schema);
    this.#unions = this.#prepared.dictionaries.map(() => new DictionaryUnion());
  }

  begin(): Uint8Array[] {
    const head = [FILE_HEAD, framed(this.#prepared.message, FILE_HEAD.length)];
    this.#position = head.reduce((bytes, piece) => bytes + piece.length, 0);
    return head;
  }

  batch(batch: RecordBatch): readonly Uint8Array[] {
    const columns = encodeColumns(this.#prepared, batch, this.#unions);
    const encoded = encodeMessage(columns, batch.numRows);
    this.#batches.push(this.#place(encoded));
    return encoded.pieces;
  }

  end(): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    for (const [id, type] of this.#prepared.dictionaries.entries()) {
      const encoded = encodeDictionary(type, id, this.#unions);
      // Listed backwards, so that readers that take them in order find inner dictionaries first.
      this.#dictionaries.unshift(this.#place(encoded));
      pieces.push(...encoded.pieces);
    }
    const footer = footerTable({
      schema: this.#prepared.message,
      dictionaries: this.#dictionaries,
      batches: this.#batches,
      key: 'writer',
      value: () => 'dirspace',
    });
    const length = new Uint8Array(4);
    new DataView(length.buffer).setInt32(0, footer.length, true);
    return [...pieces, END_OF_STREAM, footer, length, MAGIC];
  }

  #place({ metadataBytes, bodyBytes }: Encoded): Block {
    const block = { offset: this.#position, metadataBytes, bodyBytes };
    this.#position += metadataBytes + bodyBytes;
    return block;
  }
}
