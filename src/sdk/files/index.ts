/**
 * Exports the reading of files in other formats, as rows or as streams that tables take, and the
 * writing of rows to such files.
 */

export { columnTypesOf, type FileColumnTypes } from './column-types.ts';
export type {
  ExportOptions,
  ExportProgress,
  ExportResult,
  FileOutput,
  ToCsvOptions,
  ToFileOptions,
  ToParquetOptions,
} from './export-rows.ts';
export { Exportable } from './exportable.ts';
export { type FileInput, filesOf } from './file-input.ts';
export {
  type FromCsvOptions,
  type FromFileOptions,
  type FromJsonOptions,
  fromCsv,
  fromFile,
  fromJson,
  fromJsonLines,
  fromParquet,
} from './from-file.ts';
export { checkColumns, onlyFields } from './only-columns.ts';
export { type OpenFiles, openFiles, type ReadProgress, type RowPlace } from './open-files.ts';
