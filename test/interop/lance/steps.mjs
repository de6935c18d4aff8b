/** Makes the tables, serves them and lets Lance open them: `steps.mjs PYTHON COUNT SEED [LANCEDB]`. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkFence } from './fence.mjs';
import { formsIn } from './forms.mjs';
import { checkHistories } from './histories/run.mjs';
import { served } from './served.mjs';
import { checkCorpus, checkWrites } from './writes.mjs';

const [python, count, seed, lancedb] = process.argv.slice(2);
const here = import.meta.dirname;
const entry = join(here, '../../../dist/index.js');
const place = mkdtempSync(join(tmpdir(), 'dirspace-lance-'));

/** The status of a script that prints what it found. */
const python3 = (script, ...given) =>
  spawnSync(python, [join(here, script), ...given], { stdio: ['ignore', 'inherit', 'pipe'] })
    .status;

let failed = false;
try {
  const [root, out] = [join(place, 'catalog'), join(place, 'expected')];
  const made = spawnSync(
    process.execPath,
    [join(here, '.built', 'tables.mjs'), entry, root, out, count, seed],
    { stdio: 'inherit' },
  );
  if (made.status !== 0) failed = true;
  else {
    console.log(formsIn(root, Number(count)));
    failed = (await served(root, (uri) => python3('check.py', out, uri))) !== 0;
    if (lancedb !== undefined) {
      const script = join(here, '.built', 'check-lancedb.mjs');
      const check = (uri) =>
        spawnSync(process.execPath, [script, out, uri, lancedb], { stdio: 'inherit' }).status;
      failed = (await served(root, check)) !== 0 || failed;
    }
  }
  const fixture = join(place, 'fixture');
  cpSync(join(here, '../../../fixtures/lance'), fixture, { recursive: true });
  failed =
    (await served(fixture, (uri) => python3('check_fixture.py', fixture, uri))) !== 0 || failed;
  // Datasets of Lance, which are imported.
  const datasets = join(place, 'datasets');
  failed = python3('make_datasets.py', datasets, count, seed) !== 0 || failed;
  const reader = join(here, '.built', 'read_datasets.mjs');
  const read = spawnSync(process.execPath, [reader, datasets], { stdio: 'inherit' });
  failed = read.status !== 0 || failed;
  failed = python3('check_datasets.py', datasets) !== 0 || failed;
  const paths = [join(place, 'by-path'), join(place, 'by-path-expected')];
  const written = spawnSync(
    process.execPath,
    [join(here, '.built', 'path.mjs'), entry, ...paths, String(Math.ceil(count / 5)), seed],
    { stdio: 'inherit' },
  );
  if (written.status !== 0) failed = true;
  else {
    const byNode = [join(here, 'check_path.mjs'), ...paths];
    const { status } = spawnSync(process.execPath, byNode, {
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    failed = python3('check_path.py', ...paths) !== 0 || status !== 0 || failed;
  }
  const unfenced = await checkFence({ python, lancedb, entry, place, served });
  failed = unfenced || failed;
  // Tables that clients of Lance write.
  const commits = Math.ceil(count / 2);
  const wrong = await checkWrites({ python, lancedb, entry, place, served, commits, seed });
  failed = wrong || failed;
  const histories = { python, lancedb, entry, root: join(place, 'histories'), served };
  failed = (await checkHistories({ ...histories, commits: Number(count), seed })) || failed;
  const tables = Math.ceil((count * 6) / 25);
  failed = (await checkCorpus({ python, entry, place, served, tables, seed })) || failed;
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
