/**
 * Reads Arrow IPC files and streams that any program wrote. Every offset, length and count is checked
 * before it is used.
 */

export { openArrowBody } from './foreign-ipc.ts';
