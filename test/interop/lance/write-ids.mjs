/** The ids from 1,000,000 on that a table has now: `write-ids.mjs PACKAGE ROOT TABLE`. */
import { pathToFileURL } from 'node:url';

const [entry, root, name] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(entry).href);
const db = await connect(root);
const table = await db.openTable(name);
const found = await table.query().where('id >= 1000000').select(['id']).toArray();
console.log(JSON.stringify(found.map(({ id }) => String(id))));
await db.close();
