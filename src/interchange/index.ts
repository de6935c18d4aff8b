/**
 * Exports the reading and writing of files of other programs: the sources of their bytes
 * (`ByteSource`), functions that find files and write them, the formats that read and write rows
 * (`FORMATS`), exact JSON, and Lance datasets (`openLance`). Callers import it when a file is
 * opened, as most programs and commands open none.
 */

export {
  type BuildColumn,
  type CsvOptions,
  type CsvWriteOptions,
  REJECTED_HEADER,
  type RejectedRow,
  rejectedLine,
} from './csv/index.ts';
export {
  type FileFormat,
  type FileRows,
  FORMATS,
  findFormat,
  formatNamed,
  formatOfName,
  type ReadOptions,
  stemOfName,
  type WriteOptions,
} from './file-formats.ts';
export {
  type ByteSource,
  type Compression as FileCompression,
  compressed,
  compressionOfName,
  type FilePlace,
  type FoundFile,
  fileProblem,
  fileSource,
  filesBelow,
  filesNamed,
  isAddress,
  kindOfPath,
  memorySource,
  nameOfAddress,
  streamSource,
  urlSource,
  type WritableStreamLike,
  wholeFile,
  writeFile,
  writeStream,
} from './files/index.ts';
export { parseExactJson } from './json/index.ts';
export { isDataset, isLanceFile, openLance } from './lance-file.ts';
export type { ParquetCompression, ParquetWriteOptions } from './parquet/index.ts';
