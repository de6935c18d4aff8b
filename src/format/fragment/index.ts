/**
 * Exports the encoder and decoders of data fragments, which are Arrow IPC files with page checksums
 * and column statistics, and the conversions of columns to the types that a fragment stores: plain
 * types for views, and wide offsets.
 */

export {
  decodedBytes,
  isCompressed,
  PREFIX_BYTES,
  type Room,
  SHORTER_FROM,
} from './buffer-forms.ts';
export type { Dictionaries } from './column-reader.ts';
export { columnStatistics } from './column-statistics.ts';
export { ColumnCompressor, type StoredColumn } from './compress-columns.ts';
export {
  type ByteRange,
  columnRanges,
  decodeBatchColumn,
  decodeBatchColumnInSteps,
  decodeDictionaries,
  decodeFragment,
  decodeLoneFragment,
  dictionaryAt,
  dictionaryIds,
  dictionaryRanges,
  NO_DICTIONARIES,
} from './fragment-decoder.ts';
export {
  END_OF_MESSAGES,
  encodeFragment,
  FragmentEncoder,
  type FragmentSummary,
  type PartWriter,
  type WrittenPart,
} from './fragment-encoder.ts';
export {
  chunkAt,
  chunkStatistics,
  decodeFooter,
  decodeFooterInSteps,
  type FragmentFooter,
  LONG_FOOTER_BYTES,
} from './fragment-footer.ts';
export type { ColumnChunk } from './fragment-layout.ts';
export { plainColumn, viewsOf, withoutViews } from './plain-views.ts';
export type { FrameCache, RowReader } from './sparse-pages.ts';
export { isReadAlone, readRows } from './sparse-rows.ts';
export {
  type ColumnStatistics,
  compareValues,
  decodeStatistics,
  encodeStatistics,
  mergeStatistics,
} from './statistics.ts';
export { findValue, readBytes, type ValueSpan } from './stored-values.ts';
export { wideSchema } from './wide-offsets.ts';
