/** Exports the reading of Parquet files as record batches. */

export { openParquet } from './parquet-reader.ts';
