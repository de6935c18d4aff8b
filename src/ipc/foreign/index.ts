/**
 * Exports the readers of Arrow IPC files and streams that other programs wrote (little-endian,
 * metadata versions 4 and 5). Offsets, lengths and counts are checked before they are used.
 */

export type { FileBytes } from './foreign-file.ts';
export { openArrowBody, openArrowFile } from './foreign-ipc.ts';
export { checkText } from './foreign-values.ts';
