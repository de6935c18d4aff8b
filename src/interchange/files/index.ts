/**
 * Exports `ByteSource` and its implementations for files, pipes, URLs, streams and bytes in memory.
 * Also exports functions that find files by pattern or folder, compress, decompress and write them,
 * or copy a stream into a temporary one (`spooled`), and the error for a file that cannot be read
 * or written.
 */

export {
  type ByteSource,
  firstPieces,
  goingOn,
  memorySource,
  PIECE_BYTES,
  streamSource,
  withHead,
} from './byte-source.ts';
export { compressed } from './compress.ts';
export {
  type Compression,
  compressionOf,
  compressionOfName,
  decompressed,
  plainName,
} from './decompress.ts';
export { filesNamed } from './file-pattern.ts';
export { type FilePlace, fileProblem, requireColumns } from './file-problem.ts';
export { fileSource } from './file-source.ts';
export { type FoundFile, filesBelow, kindOfPath, wholeFile } from './folder-files.ts';
export { type Spool, spooled } from './spool.ts';
export { isAddress, nameOfAddress, urlSource } from './url-source.ts';
export { type Pieces, type WritableStreamLike, writeFile, writeStream } from './write-file.ts';
