/** Exports the reading of Parquet files as record batches, and their writing. */

export { openParquet } from './parquet-reader.ts';
export { encodeParquet, type ParquetWriteOptions } from './parquet-writer.ts';
export type { ParquetCompression } from './write-pages.ts';
