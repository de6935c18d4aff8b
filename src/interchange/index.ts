/**
 * Exports the reading of files that other programs wrote: where their bytes are (`ByteSource`), and
 * the formats that give rows (`FORMATS`).
 */

export {
  type FileFormat,
  type FileRows,
  FORMATS,
  formatOfName,
  type ReadOptions,
} from './file-formats.ts';
export {
  type ByteSource,
  type FilePlace,
  fileProblem,
  fileSource,
  memorySource,
  openedFile,
  PIECE_BYTES,
  streamSource,
} from './files/index.ts';
