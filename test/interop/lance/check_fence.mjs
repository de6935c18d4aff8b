/** Shows that LanceDB for Node writes nothing by path: `check_fence.mjs PACKAGES LINKS`. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, links] = process.argv.slice(2);
const lancedb = createRequire(join(packages, 'package.json'))('@lancedb/lancedb');
const db = await lancedb.connect(links);
const row = [{ n: 1, m: 1, s: 'x' }];
const failures = [];
let refused = 0;
for (const name of ['read', 'sync', 'once']) {
  const open = () => db.openTable(name);
  if (name !== 'read') {
    const table = await open();
    if ((await table.version()) !== 3 || (await table.countRows()) !== 5)
      failures.push(`${name} is version ${await table.version()}`);
    const versions = (await table.listVersions()).map(({ version }) => version);
    if (versions.join() !== '1,2,3') failures.push(`${name} has the versions ${versions}`);
  }
  const attempts = {
    create: () => db.createTable(name, row),
    overwrite: () => db.createTable(name, row, { mode: 'overwrite' }),
    add: async () => (await open()).add(row),
    delete: async () => (await open()).delete('true'),
    update: async () => (await open()).update({ values: { s: 'x' } }),
    merge: async () => (await open()).mergeInsert('n').whenNotMatchedInsertAll().execute(row),
    index: async () => (await open()).createIndex('n', { config: lancedb.Index.btree() }),
    optimize: async () =>
      (await open()).optimize({ cleanupOlderThan: new Date(), deleteUnverified: true }),
    dropColumns: async () => (await open()).dropColumns(['s']),
  };
  for (const [what, attempt] of Object.entries(attempts)) {
    try {
      await attempt();
      failures.push(`${what} of ${name} went through`);
    } catch (error) {
      refused++;
      const words =
        what === 'create'
          ? /already exists|cannot be read/
          : /cannot be (read|written) by this version/;
      if (!words.test(String(error)))
        failures.push(`${what} of ${name} says ${String(error).slice(0, 300)}`);
    }
  }
}
for (const failure of failures) console.log('FAILED', failure);
console.log(`${refused} writes by path refused to LanceDB for Node, ${failures.length} failures`);
process.exit(failures.length > 0 ? 1 : 0);
