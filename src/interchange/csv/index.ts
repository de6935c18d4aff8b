/** Exports the reading of CSV as record batches, its writing, and the options of both. */

export type { BuildColumn } from './column-writers.ts';
export {
  type CsvOptions,
  REJECTED_HEADER,
  type RejectedRow,
  rejectedLine,
} from './csv-options.ts';
export { type CsvReadOptions, csvTypes, openCsv } from './csv-reader.ts';
export { type CsvWriteOptions, encodeCsv } from './csv-writer.ts';
