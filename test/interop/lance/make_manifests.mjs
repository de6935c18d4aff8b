/** The same with LanceDB for Node: `make_manifests.mjs OUT LANCEDB`, where LANCEDB is its entry module. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const [given, entry] = process.argv.slice(2);
const require = createRequire(entry);
const { connect } = require(entry);
const { version } = require(join(dirname(entry), '../package.json'));
const place = mkdtempSync(join(tmpdir(), 'manifests-'));

const rows = (count, first = 0) =>
  Array.from({ length: count }, (_, at) => ({
    id: first + at,
    name: `n${at}`,
    vector: [at, 1],
    s: { x: at, y: 'b' },
  }));

const operations = {
  append: [(table) => table.add(rows(5, 100))],
  delete: [(table) => table.delete('id = 3')],
  update: [(table) => table.update({ where: 'id < 3', values: { name: 'changed' } })],
  merge: [
    (table) =>
      table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows(4, 8)),
  ],
  columns: [
    (table) => table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]),
    (table) => table.alterColumns([{ path: 'name', rename: 'label' }]),
    (table) => table.dropColumns(['s']),
  ],
  index: [(table) => table.createIndex('id')],
  optimize: [
    (table) => table.add(rows(5, 100)),
    (table) => table.delete('id = 3'),
    (table) => table.optimize(),
  ],
};

const said = {};
const db = await connect(place);
for (const [name, steps] of Object.entries(operations)) {
  const table = await db.createTable(name, rows(10), {
    storageOptions: {
      new_table_data_storage_version: '2.0',
      new_table_enable_v2_manifest_paths: 'true',
    },
  });
  for (const step of steps) await step(table);
  const folder = join(place, `${name}.lance`, '_versions');
  for (const { version: number } of await table.listVersions()) {
    await table.checkout(number);
    const file = `${2n ** 64n - 1n - BigInt(number)}`.padStart(20, '0');
    const found = readdirSync(folder).find((one) => one === `${file}.manifest`);
    said[`${name}-${number}`] = {
      manifest: readFileSync(join(folder, found)).toString('base64'),
      version: number,
      columns: (await table.schema()).fields.map((field) => field.name),
      rows: await table.countRows(),
      indexes: (await table.listIndices()).map((index) => index.name),
    };
  }
}
const lines = Object.entries(said).map(
  ([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`,
);
writeFileSync(join(given, `lancedb-node-${version}.json`), `{\n${lines.join(',\n')}\n}\n`);
rmSync(place, { recursive: true });
