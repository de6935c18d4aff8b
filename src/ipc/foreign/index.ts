/**
 * Reads Arrow IPC files and streams of any writer. Every offset, length and count is checked before
 * it is used.
 */

export type { FileBytes } from './foreign-file.ts';
export { openArrowBody, openArrowFile } from './foreign-ipc.ts';
