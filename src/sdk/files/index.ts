/**
 * Exports functions that open files of other formats as streams of record batches (`fromCsv`,
 * `fromParquet`, ...) or as rows with their places (`openFiles`), the checks of their arguments,
 * and `Exportable`, which writes rows to such files.
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
