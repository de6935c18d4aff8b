/** Exports where the bytes of a file are (`ByteSource`), and the error for a file that cannot be read. */

export { type ByteSource, memorySource, PIECE_BYTES, streamSource } from './byte-source.ts';
export { type FilePlace, fileProblem } from './file-problem.ts';
export { fileSource, openedFile } from './file-source.ts';
