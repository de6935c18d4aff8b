/**
 * The first read of a process: `node first-read.mjs SIDE FOLDER NAME ROWS` prints the milliseconds of
 * the read NAME on a table just opened, with nothing cached by us and nothing loaded before.
 */
import { counted, readsOf } from './reads.mjs';

const [side, folder, name, rows] = process.argv.slice(2);
const read = readsOf(Number(rows)).find((read) => read.name === name);
const module = side === 'ours' ? '../../dist/index.js' : '@lancedb/lancedb';
const { connectNamespace } = await import(module);
const connection = await connectNamespace('dir', { root: folder });
const table = await connection.openTable(`${read.table}0`);
const start = performance.now();
await counted(read, table, 0);
console.log(performance.now() - start);
process.exit();
