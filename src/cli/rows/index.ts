/** Exports the commands that read, import, export and change rows. */

export { addColumns, deleteRows, updateRows } from './change-rows.ts';
export { exportTable } from './export.ts';
export { head } from './head.ts';
export { importFile } from './import.ts';
export { query } from './query.ts';
export { sql } from './sql.ts';
