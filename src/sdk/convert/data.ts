/**
 * `toRecordBatchStream` turns any data that a user may pass (`DataInput`) into a stream of record
 * batches: rows, Arrow objects of any copy of apache-arrow, Arrow IPC bytes, Blobs of them, and
 * iterables and streams of items of one kind. Values that do not fit the schema throw
 * TableSchemaValidation while the stream is read; data of another kind, and no rows without a
 * schema, throw InvalidInput. In `streamOfFile`, columns of rows whose numbers are all whole become
 * int64 or uint64. `isRepeatable` tells whether data can be read twice, and `hasSchema` whether it
 * has a schema of its own. `ownTypes` checks the option `vectorColumns`.
 */
import {
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { type FileBytes, openArrowBody, openArrowFile } from '../../ipc/index.ts';
import { asBytes, buildContext, showValue } from '../build/index.ts';
import { onlyOptions } from '../handles/index.ts';
import {
  type ArrowLike,
  ArrowRebuilder,
  isArrowLike,
  isBatchLike,
  isTableLike,
  type RecordBatchLike,
  type TableLike,
} from './arrow-like.ts';
import { isSchemaLike, rebuildType, type SchemaLike } from './arrow-like-types.ts';
import { conformBatch } from './conform.ts';
import { givenInSchema } from './given.ts';
import { closedBy } from './hand-over.ts';
import type { ColumnTypes, VectorColumns } from './infer.ts';
import { arrayStream, requireColumns, rowStream, type StreamPlan } from './row-stream.ts';
import { type SchemaInput, toSchema } from './schema-like.ts';
import {
  isPullable,
  itemsOf,
  once,
  type Pullable,
  type ReadableStreamLike,
  RowSource,
  Source,
} from './source.ts';

type Rows = readonly object[];
type Bytes = Uint8Array | ArrayBuffer;
type Item = object | Rows | RecordBatchLike | TableLike | Uint8Array;

/** A `Blob` or `File`, or what reads a file by ranges as one does. */
export interface BlobLike {
  /** In bytes. */
  readonly size: number;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/**
 * Rows as objects, Arrow tables and batches of any release from 15 on, bytes of Arrow IPC, also
 * in a Blob, of which a message at a time is read, and iterables, async iterables and streams of
 * one kind of these.
 */
export type DataInput =
  | Rows
  | ArrowLike
  | Bytes
  | BlobLike
  | RecordBatchStream
  | Iterable<Item>
  | AsyncIterable<Item>
  | ReadableStreamLike<Item>;

/** Rows, or a table: what LanceDB's SDK calls data. */
export type Data = Record<string, unknown>[] | TableLike;

/** How to read the data. */
export interface DataOptions {
  /** Wins over everything inferred; Arrow data is fitted to it by lossless casts only. */
  readonly schema?: SchemaInput | undefined;
  /** Leaves out columns of `schema` that the data does not have, instead of filling them with null. */
  readonly partial?: boolean | undefined;
  /** Top-level number arrays to make fixed-size lists of, with the type of their items. */
  readonly vectorColumns?: VectorColumns | undefined;
  /** Types of some columns, by name; all others are those of the data, or inferred. */
  readonly columnTypes?: ColumnTypes | undefined;
  /** Most rows of a batch made of rows. 8,192 if not given. */
  readonly batchRows?: number | undefined;
  /** Stops reading; what is pending rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const DATA_OPTIONS = [
  'schema',
  'partial',
  'vectorColumns',
  'columnTypes',
  'batchRows',
  'signal',
] as const satisfies readonly (keyof DataOptions)[];

/**
 * Nothing of an iterable or stream is read ahead of the reader, but for the first item and, when
 * a schema must be inferred from rows, the first batch. Arrays and Arrow tables can be read
 * again, streams once. Rows that do not fit throw TableSchemaValidation while reading.
 */
export async function toRecordBatchStream(
  data: DataInput,
  options: DataOptions = {},
): Promise<RecordBatchStream> {
  onlyOptions(options, DATA_OPTIONS, 'toRecordBatchStream');
  return streamOf(data, options, false);
}

/** As `toRecordBatchStream`; numbers of rows that are all whole become int64, or uint64. */
export const streamOfFile = (data: DataInput, options: DataOptions): Promise<RecordBatchStream> =>
  streamOf(data, options, true);

async function streamOf(
  data: DataInput,
  options: DataOptions,
  wholeNumbers: boolean,
): Promise<RecordBatchStream> {
  const { batchRows = 8192, signal } = options;
  signal?.throwIfAborted();
  if (!Number.isInteger(batchRows) || batchRows < 1) {
    throw new DirspaceError('InvalidInput', `batchRows is ${batchRows}; pass a positive integer.`);
  }
  const plan: StreamPlan = {
    schema: options.schema === undefined ? undefined : toSchema(options.schema),
    partial: options.partial === true,
    vectors: options.vectorColumns && ownTypes(options.vectorColumns),
    types: options.columnTypes && ownColumnTypes(options.columnTypes),
    wholeNumbers,
    batchRows,
    signal,
  };
  if (Array.isArray(data) && startsWithRow(data)) return arrayStream(data, plan);
  const bytes = asBytes(data);
  if (bytes !== undefined) return ipcStream(bytes, plan);
  if (isBlobLike(data)) return fitted(await openArrowFile(rangesOf(data)), plan);
  if (isArrowLike(data)) return arrowStream(data, plan);
  if (!isPullable(data)) {
    throw new DirspaceError(
      'InvalidInput',
      `The data is ${showValue(data)}. Pass an array of objects, Arrow data, Arrow IPC bytes, or ` +
        'an iterable or stream of these.',
    );
  }
  const schema: unknown = 'schema' in data ? data.schema : undefined;
  return pulledStream(data, isSchemaLike(schema) ? schema : undefined, plan);
}

/** Whether reading it a second time gives the same rows: arrays and Arrow objects, not streams. */
export const isRepeatable = (data: DataInput): boolean =>
  (Array.isArray(data) && startsWithRow(data)) ||
  asBytes(data) !== undefined ||
  isBlobLike(data) ||
  isArrowLike(data);

/** True for data that carries its own schema. */
export function hasSchema(data: DataInput): boolean {
  if (isArrowLike(data) || asBytes(data) !== undefined || isBlobLike(data)) return true;
  // A program in JavaScript may give anything; what is no data is refused where it is read.
  const given: unknown = data;
  if (typeof given !== 'object' || given === null) return false;
  return 'schema' in given && isSchemaLike(given.schema);
}

/**
 * The columns with types of this library's apache-arrow, whichever release made them.
 * @throws InvalidInput for a column that is given anything but the type of its items
 */
export const ownTypes = (columns: VectorColumns): VectorColumns =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => {
      const type: unknown = column?.type;
      if (typeof type === 'object' && type !== null) {
        return [name, { type: rebuildType(type as never, new Map()) }];
      }
      throw new DirspaceError(
        'InvalidInput',
        `vectorColumns gives ${showValue(column)} for ${JSON.stringify(name.slice(0, 80))}; give the type of its items, as { ${JSON.stringify(name.slice(0, 80))}: { type: new Float32() } }.`,
        { details: { column: name } },
      );
    }),
  );

const ownColumnTypes = (types: ColumnTypes): ColumnTypes =>
  new Map(Array.from(types, ([name, type]) => [name, rebuildType(type as never, new Map())]));

type ItemKind = 'rows' | 'arrow' | 'bytes';

function kindOf(item: unknown): ItemKind {
  if (asBytes(item) !== undefined) return 'bytes';
  if (typeof item !== 'object' || item === null) return 'rows';
  return isTableLike(item) || isBatchLike(item) ? 'arrow' : 'rows';
}

/** True for arrays of rows, as opposed to arrays of batches, of bytes or of arrays of rows. */
const startsWithRow = (data: readonly unknown[]): boolean =>
  data.length === 0 || (!Array.isArray(data[0]) && kindOf(data[0]) === 'rows');

/** The schema to fit Arrow data to that comes with its own. */
function schemaFor(own: Schema, plan: StreamPlan): Schema {
  const { schema, types } = plan;
  if (schema === undefined && types !== undefined) {
    requireColumns(own, types, false);
    const fields = own.fields.map((field) =>
      field.clone({ type: types.get(field.name) ?? field.type }),
    );
    return toSchema(new Schema(fields, own.metadata));
  }
  if (schema === undefined) return toSchema(own);
  return plan.partial ? givenInSchema(schema, own) : schema;
}

function arrowStream(data: ArrowLike, plan: StreamPlan): RecordBatchStream {
  const { signal } = plan;
  const found = new ArrowRebuilder().batches(data);
  const schema = schemaFor(found.schema, plan);
  return {
    schema,
    async *[Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
      const conform = conformer(schema);
      for (const batch of found.batches) {
        signal?.throwIfAborted();
        yield conform(batch);
      }
    },
  };
}

/** Fits batches to a schema one after the other, counting rows for messages. */
function conformer(schema: Schema): (batch: RecordBatch) => RecordBatch {
  const context = buildContext({ exactFloats: true });
  let rows = 0;
  return (batch) => {
    const fitted = conformBatch(batch, schema, rows, context);
    rows += batch.numRows;
    return fitted;
  };
}

function isBlobLike(data: unknown): data is BlobLike {
  if (typeof data !== 'object' || data === null) return false;
  const { size, slice, arrayBuffer } = data as Partial<BlobLike>;
  return (
    typeof size === 'number' && typeof slice === 'function' && typeof arrayBuffer === 'function'
  );
}

/** Most bytes that are read of a Blob at once where no message is longer. */
const BLOB_PIECE = 2 ** 22;

const rangesOf = (blob: BlobLike): FileBytes => ({
  size: blob.size,
  read: async (from, to) => new Uint8Array(await blob.slice(from, to).arrayBuffer()),
  piece: BLOB_PIECE,
});

async function ipcStream(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  plan: StreamPlan,
): Promise<RecordBatchStream> {
  return fitted(await openArrowBody(body), plan);
}

function fitted(stream: RecordBatchStream, plan: StreamPlan): RecordBatchStream {
  const schema = schemaFor(stream.schema, plan);
  const batches = itemsOf(new Source(stream, plan.signal), (item) => item as RecordBatch);
  return recordBatchStream(schema, once(mapped(batches, conformer(schema))));
}

async function* mapped<A, B>(items: AsyncIterable<A>, change: (item: A) => B): AsyncGenerator<B> {
  for await (const item of items) yield change(item);
}

async function pulledStream(
  data: Pullable,
  declared: SchemaLike | undefined,
  plan: StreamPlan,
): Promise<RecordBatchStream> {
  const source = new Source(data, plan.signal);
  try {
    const first = await source.peek();
    if (first === undefined) return emptyStream(declared, plan);
    const stream = await streamOfItems(source, first.value, declared, plan);
    return closedBy(stream, () => source.close());
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function streamOfItems(
  source: Source,
  first: unknown,
  declared: SchemaLike | undefined,
  plan: StreamPlan,
): Promise<RecordBatchStream> {
  const kind = kindOf(first);
  if (kind === 'rows') return rowStream(new RowSource(source), plan);
  if (kind === 'bytes') return ipcStream(once(itemsOf(source, bytesItem)), plan);
  return pulledArrow(source, first as RecordBatchLike | TableLike, declared, plan);
}

function emptyStream(declared: SchemaLike | undefined, plan: StreamPlan): RecordBatchStream {
  const schema = plan.schema ?? (declared && toSchema(declared));
  if (schema !== undefined) return recordBatchStream(schema, []);
  throw new DirspaceError('InvalidInput', 'The data is empty and so has no schema. Pass a schema.');
}

function bytesItem(item: unknown, index: number): Uint8Array {
  const bytes = asBytes(item);
  if (bytes !== undefined) return bytes;
  throw mixed(item, index, 'bytes of an Arrow IPC stream');
}

function pulledArrow(
  source: Source,
  first: RecordBatchLike | TableLike,
  declared: SchemaLike | undefined,
  plan: StreamPlan,
): RecordBatchStream {
  const rebuilder = new ArrowRebuilder();
  const schema = schemaFor(rebuilder.schema(declared ?? first.schema), plan);
  const conform = conformer(schema);
  async function* batches(): AsyncGenerator<RecordBatch> {
    const items = itemsOf(source, (item, index) => {
      if (kindOf(item) === 'arrow') return item as RecordBatchLike | TableLike;
      throw mixed(item, index, 'Arrow record batches or tables');
    });
    for await (const item of items) {
      for (const batch of rebuilder.batches(item).batches) yield conform(batch);
    }
  }
  return recordBatchStream(schema, once(batches()));
}

const mixed = (item: unknown, index: number, expected: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `Item ${index} of the data is ${showValue(item)}, but the first was ${expected}. Pass items ` +
      'of one kind.',
    { details: { index } },
  );
