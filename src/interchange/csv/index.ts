/** Exports the reading of CSV as record batches, and the options that say how a file is written. */

export type { BuildColumn } from './column-writers.ts';
export {
  type CsvOptions,
  REJECTED_HEADER,
  type RejectedRow,
  rejectedLine,
} from './csv-options.ts';
export { type CsvReadOptions, csvTypes, openCsv } from './csv-reader.ts';
