/**
 * Exports the CSV reader (`openCsv`, which yields record batches, and `csvTypes`, which finds types
 * that fit all rows), the CSV writer (`encodeCsv`), their options, and the lines of a file of
 * rejected rows.
 */

export type { BuildColumn } from './column-writers.ts';
export {
  type CsvOptions,
  REJECTED_HEADER,
  type RejectedRow,
  rejectedLine,
} from './csv-options.ts';
export { type CsvReadOptions, csvTypes, openCsv } from './csv-reader.ts';
export { type CsvWriteOptions, encodeCsv } from './csv-writer.ts';
