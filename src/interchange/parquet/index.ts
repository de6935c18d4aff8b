/**
 * Exports the Parquet reader, which yields record batches, and the Parquet writer with its options.
 */

export { openParquet } from './parquet-reader.ts';
export { encodeParquet, type ParquetWriteOptions } from './parquet-writer.ts';
export type { ParquetCompression } from './write-pages.ts';
