/** Streams one table and says how much memory that took. */
import { connect } from '../../dist/index.js';

const db = await connect({ uri: process.argv[2], readOnly: true });
const table = await db.openTable('large');
const start = performance.now();
let rows = 0;
for await (const batch of table.query()) rows += batch.numRows;
const milliseconds = performance.now() - start;
// Kilobytes on Linux; the most there ever was.
const megabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ rows, milliseconds, megabytes }));
