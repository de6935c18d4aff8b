/**
 * A session on a temporary catalog: `npm run demo`. It organises the files under
 * fixtures/weather in namespaces, changes them, reads old versions back, and shows what is on disk.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { styleText } from 'node:util';
import { connect, isDirspaceError } from '../dist/index.js';

const styled = process.stdout.isTTY && process.env.NO_COLOR === undefined;
const paint = (style, text) => (styled ? styleText(style, text) : text);
const title = (text) => console.log(`\n${paint('bold', text)}`);
const show = (call, result) => console.log(`  ${paint('cyan', call)}  ${result}`);

const file = (name) => readFile(new URL(`../fixtures/weather/${name}.arrow`, import.meta.url));

const root = await mkdtemp(join(tmpdir(), 'dirspace-demo-'));
const started = performance.now();
try {
  const db = await connect(root);

  title('Namespaces and tables');
  await db.createNamespace(['weather'], { properties: { owner: 'observatory' } });
  await db.createNamespace(['weather', 'raw']);
  const stations = await db.createTable('stations', await file('stations'), ['weather']);
  const readings = await db.createTable('readings', await file('readings-january'), [
    'weather',
    'raw',
  ]);
  show('createTable', `weather/stations: ${await stations.countRows()} rows`);
  show('createTable', `weather/raw/readings: ${await readings.countRows()} rows`);
  show('schema', (await readings.schema()).fields.map(String).join(', '));

  title('Every change is a version');
  await (await readings.tags()).create('january', 1);
  const { version } = await readings.add(await file('readings-july'));
  show('add', `version ${version}: ${await readings.countRows()} rows`);
  const january = await db.openTable('readings', ['weather', 'raw'], { tag: 'january' });
  show(
    'openTable at a tag',
    `version ${await january.version()}: ${await january.countRows()} rows`,
  );
  const branches = await readings.branches();
  const draft = await branches.create('draft');
  const silent = [];
  for await (const batch of draft.query().select(['air']).withRowId()) {
    const [air, ids] = [batch.getChild('air'), batch.getChild('_rowid')];
    for (let row = 0; row < batch.numRows; row++) {
      if (air.get(row) === null) silent.push(ids.get(row));
    }
  }
  await draft.deleteRows(silent);
  show('deleteRows on a branch', `${silent.length} silent readings gone`);
  show('countRows', `draft ${await draft.countRows()}, main ${await readings.countRows()}`);
  try {
    await january.add(await file('readings-july'));
  } catch (error) {
    if (!isDirspaceError(error)) throw error;
    show('add to an old version', paint('dim', `${error.code}: ${error.message}`));
  }

  title('Rows');
  const rows = await stations.query().select(['name', 'kind', 'altitude']).limit(4).toArray();
  console.table(rows);

  title('Names');
  await db.createNamespace(['archive']);
  await db.renameTable('readings', 'readings-2024', {
    namespacePath: ['weather', 'raw'],
    newNamespacePath: ['archive'],
  });
  await db.dropNamespace(['weather', 'raw']);
  show('renameTable', 'weather/raw/readings is archive/readings-2024 now, history and all');
  show('listAllTables', (await db.listAllTables()).tables.join(', '));
  for (const entry of await (await db.openTable('readings-2024', ['archive'])).listVersions()) {
    show('listVersions', `${entry.version}: ${entry.metadata.operation ?? 'commit'}`);
  }
  await db.close();

  title('On disk');
  console.log(root);
  await tree(root, '');
  const seconds = ((performance.now() - started) / 1000).toFixed(2);
  console.log(paint('green', `\nDone in ${seconds} s. The catalog was removed again.`));
} finally {
  await rm(root, { recursive: true, force: true });
}

async function tree(folder, indent) {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((left, right) =>
    left.name < right.name ? -1 : 1,
  );
  for (const [at, entry] of entries.entries()) {
    const last = at === entries.length - 1;
    const name = entry.isDirectory() ? paint('blue', `${entry.name}/`) : entry.name;
    console.log(`${indent}${last ? '└── ' : '├── '}${name}`);
    if (entry.isDirectory()) {
      await tree(join(folder, entry.name), `${indent}${last ? '    ' : '│   '}`);
    }
  }
}
