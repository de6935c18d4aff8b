/**
 * Exports the CSV reader (`openCsv`, which yields record batches), the CSV writer (`encodeCsv`)
 * and their options.
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
