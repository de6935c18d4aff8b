/**
 * Exports Apache Arrow for the rest of src: the library's types, and functions that build, split,
 * join, gather, compare and hand out columns. Nothing outside arrow/ imports apache-arrow itself.
 */

export {
  type ArrowBody,
  Binary,
  BinaryView,
  Bool,
  Data,
  DataType,
  Date_,
  DateDay,
  DateMillisecond,
  DateUnit,
  Decimal,
  Dictionary,
  Duration,
  Field,
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
  IntervalUnit,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Message,
  MessageHeader,
  makeData,
  Null,
  Precision,
  RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  Time,
  TimeMicrosecond,
  TimeNanosecond,
  Timestamp,
  TimestampMillisecond,
  TimeUnit,
  Type,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Union,
  UnionMode,
  Utf8,
  Utf8View,
  Vector,
  vectorFromArray,
} from './apache.ts';
export {
  arrowTable,
  batchBytes,
  bytesColumn,
  bytesOf,
  columnsAt,
  columnsOf,
  type DataParts,
  dataBytes,
  dataOf,
  NO_BYTES,
  nullColumn,
  type Offsets,
  offsetAt,
  projectSchema,
  recordBatch,
  sliceData,
  validityOf,
} from './arrow-data.ts';
export {
  byteWidth,
  changeField,
  childFields,
  hasLargeOffsets,
  type Layout,
  layoutOf,
  mapType,
  optionalStructs,
  plainType,
  strideOf,
  type TypedArray,
  type TypedArrayConstructor,
  valueArray,
} from './arrow-types.ts';
export { bitmapBytes, bothBits, countBits, getBit, setBit, setBits, sliceBits } from './bitmaps.ts';
export { concatBatches, concatBatchesInSteps, concatData, indexCapacity } from './concat.ts';
export { DictionaryUnion, remapIndices } from './dictionaries.ts';
export { encodeDictionary } from './dictionary-encode.ts';
export { gather, gatherBatch } from './gather.ts';
export { gatherData } from './gather-data.ts';
export { gatherParts, type PlacedRows } from './gather-parts.ts';
export { HandOut, handedOut } from './hand-out.ts';
export { indexedRows, indicesOf } from './index-rows.ts';
export { internSchema, ownSchema } from './own-schema.ts';
export { type BatchLimits, rebatch, sliceBatch, splitBatch } from './rebatch.ts';
export {
  describeType,
  metadataEqual,
  schemasEqual,
  typesEqual,
} from './schema-equality.ts';
export { apart, markShared, markSharedData } from './shared-memory.ts';
export { consecutive, newArray } from './small-arrays.ts';
export {
  BLOB_METADATA,
  blobElsewhere,
  blobPath,
  blobPaths,
  checkDecimal,
  checkTime,
  DECIMAL_DIGITS,
  INTERVAL_UNITS,
  isBlobField,
  isBlobType,
  MAX_INT32,
  missingBlob,
  type Refuse,
  typeName,
} from './type-names.ts';
