/**
 * Reads Arrow IPC files and streams that any program wrote. Every offset, length and count is checked
 * before it is used.
 */

export type { FileBytes } from './foreign-file.ts';
export { openArrowBody, openArrowFile } from './foreign-ipc.ts';
