/**
 * Re-exports the parts of apache-arrow that src and its tests use; no other file of src imports the
 * package. Also defines `RecordBatchStream`, a schema with its batches, and `ArrowBody`, the type
 * of the Arrow data that operations take. `recordBatchStream` builds a stream from a schema and
 * batches.
 */
// Named exports: bundlers turn `export *` of an external package into a look-up at every use. From its parts: the
// whole package has readers, writers and streams too, which take a tenth of a program's start.
export {
  Data,
  makeData,
} from 'apache-arrow/data';
export {
  DateUnit,
  IntervalUnit,
  Precision,
  TimeUnit,
  Type,
  UnionMode,
} from 'apache-arrow/enum';
export { vectorFromArray } from 'apache-arrow/factories';
export { MessageHeader } from 'apache-arrow/fb/message-header';
export { Message } from 'apache-arrow/ipc/metadata/message';
export {
  tableFromIPC,
  tableToIPC,
} from 'apache-arrow/ipc/serialization';
export { RecordBatch } from 'apache-arrow/recordbatch';
export {
  Field,
  Schema,
} from 'apache-arrow/schema';
export {
  Table,
  tableFromArrays,
} from 'apache-arrow/table';
export {
  Binary,
  BinaryView,
  Bool,
  DataType,
  Date_,
  DateDay,
  DateMillisecond,
  Decimal,
  DenseUnion,
  Dictionary,
  Duration,
  DurationMicrosecond,
  DurationNanosecond,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Float16,
  Float32,
  Float64,
  Int,
  Int8,
  Int16,
  Int32,
  Int64,
  Interval,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  SparseUnion,
  Struct,
  Time,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  Timestamp,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Union,
  Utf8,
  Utf8View,
} from 'apache-arrow/type';
export {
  makeVector,
  Vector,
} from 'apache-arrow/vector';

import type { RecordBatch } from 'apache-arrow/recordbatch';
import type { Schema } from 'apache-arrow/schema';

/** A schema and the record batches that carry it, pulled one at a time. */
export interface RecordBatchStream extends AsyncIterable<RecordBatch> {
  readonly schema: Schema;
}

/**
 * What an operation with an Arrow body takes: batches in memory, or the bytes of an Arrow IPC
 * stream or file. Bytes are untrusted and are validated before they are parsed.
 */
export type ArrowBody = RecordBatchStream | Uint8Array | AsyncIterable<Uint8Array>;

/** Joins a schema with its batches; a synchronous iterable is pulled only as it is read. */
export function recordBatchStream(
  schema: Schema,
  batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
): RecordBatchStream {
  if (Array.isArray(batches)) return new BatchesAtHand(schema, batches);
  return {
    schema,
    async *[Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
      yield* batches;
    },
  };
}

/** A class and no generator: stepping through a generator costs more than a short query. */
class BatchesAtHand implements RecordBatchStream {
  readonly schema: Schema;
  readonly #batches: readonly RecordBatch[];

  constructor(schema: Schema, batches: readonly RecordBatch[]) {
    this.schema = schema;
    this.#batches = batches;
  }

  [Symbol.asyncIterator](): AsyncIterator<RecordBatch> {
    const left = this.#batches.values();
    return { next: async () => left.next() };
  }
}
