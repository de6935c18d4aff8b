/**
 * Exports the reading of files that other programs wrote: where their bytes are (`ByteSource`), and
 * the formats that give rows (`FORMATS`). Whoever uses it loads it when a file is
 * opened: most programs and commands read none.
 */

export {
  type BuildColumn,
  type CsvOptions,
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
} from './file-formats.ts';
export {
  type ByteSource,
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
  wholeFile,
} from './files/index.ts';
export { parseExactJson } from './json/index.ts';
export { isDataset, isLanceFile, openLance } from './lance-file.ts';
