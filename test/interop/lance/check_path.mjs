/**
 * Opens what path.ts wrote with LanceDB's own directory namespace, and shows that it can write nothing:
 * `check_path.mjs ROOT OUT`. Takes the client that the suite of LanceDB installs.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [root, out] = process.argv.slice(2);
let lancedb;
try {
  lancedb = createRequire(join(import.meta.dirname, '../lancedb/package.json'))('@lancedb/lancedb');
} catch {
  console.log('SKIPPED: LanceDB by path: its client is not installed; run interop:lancedb first');
  process.exit(0);
}
const entries = JSON.parse(readFileSync(join(out, 'expected.json'), 'utf8'));
const failures = [];
let opened = 0;
let refused = 0;
const db = await lancedb.connectNamespace('dir', { root, dir_listing_enabled: 'false' });
const newest = new Map();
for (const entry of entries)
  if (typeof entry.ref === 'number') newest.set(entry.id.join('/'), entry);

for (const [name, { id, version }] of newest) {
  const path = id.slice(0, -1);
  try {
    const table = await db.openTable(id.at(-1), path);
    if ((await table.version()) !== version)
      failures.push(`${name} is version ${await table.version()}`);
    await table.checkout(version);
    if ((await table.query().toArray()).length !== (await table.countRows()))
      failures.push(`${name} differs`);
    opened++;
  } catch (error) {
    failures.push(`${name}: ${String(error).slice(0, 300)}`);
  }
}
const [first] = newest.values();
const open = () => db.openTable(first.id.at(-1), first.id.slice(0, -1));
const row = [{ n: 1, s: 'x', v: [1, 2] }];
const attempts = {
  add: async () => (await open()).add(row),
  delete: async () => (await open()).delete('true'),
  update: async () => (await open()).update({ values: { s: 'x' } }),
  merge: async () => (await open()).mergeInsert('n').whenNotMatchedInsertAll().execute(row),
  index: async () => (await open()).createIndex('n', { config: lancedb.Index.btree() }),
  optimize: async () =>
    (await open()).optimize({ cleanupOlderThan: new Date(), deleteUnverified: true }),
  addColumns: async () => (await open()).addColumns([{ name: 'x', valueSql: 'n + 1' }]),
  createTable: () => db.createTable('fresh', row, ['prod']),
  createNamespace: () => db.createNamespace(['fresh']),
  dropTable: () => db.dropTable(first.id.at(-1), first.id.slice(0, -1)),
};
const before = await (await open()).countRows();
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    failures.push(`${name} went through`);
  } catch (error) {
    refused++;
    if (!String(error).includes('cannot be written'))
      failures.push(`${name} says ${String(error).slice(0, 300)}`);
  }
}
if ((await (await open()).countRows()) !== before) failures.push('refused writers changed rows');
for (const failure of failures) console.log('FAILED', failure);
console.log(
  `${opened} tables opened by LanceDB, ${refused} writes refused, ${failures.length} failures`,
);
process.exit(failures.length > 0 ? 1 : 0);
