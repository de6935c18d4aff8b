/**
 * Lets LanceDB's Node client and pylance write tables over REST, alone and beside this package, and compares what
 * all three then read, version by version: `checkWrites(options)`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { formsIn } from './forms.mjs';

const here = import.meta.dirname;

/** What a script prints, once it has ended well. */
async function output(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${text}`);
  return text;
}

/** Ids that are there after these lines, and must be; the others of the same range must not. */
function acknowledged(lines) {
  const ids = new Set();
  for (const line of lines) {
    const [what, id] = line.split(' ');
    if (what === 'added') ids.add(id);
    if (what === 'gone') ids.delete(id);
  }
  return ids;
}

/**
 * Random tables that pylance writes, beside plain datasets: every value and row id after each commit.
 * @param tables how many, besides the one that goes through all operations
 * @returns whether anything was wrong
 */
export async function checkCorpus({ python, entry, place, served, tables, seed }) {
  const root = join(place, 'corpus');
  await output(process.execPath, [join(here, 'write-tables.mjs'), entry, root, 'make', 'first']);
  const script = join(here, 'write_corpus.py');
  const given = [script, join(place, 'corpus-plain'), String(tables), String(seed)];
  let failed = true;
  await served(root, async (uri) => {
    given.splice(1, 0, uri);
    const child = spawn(python, given, { stdio: ['ignore', 'inherit', 'pipe'] });
    let said = '';
    child.stderr.on('data', (piece) => {
      said = `${said}${piece}`.slice(-4000);
    });
    const [status] = await once(child, 'exit');
    failed = status !== 0;
    if (failed) console.error(said);
  });
  // What Lance deletes has a file for each fragment.
  console.log(formsIn(root, tables, ['overlays', 'zstd']));
  const cli = join(here, '../../../dist/cli/main.js');
  const verified = spawnSync(process.execPath, [cli, 'verify', '--root', root], {
    encoding: 'utf8',
  });
  if (verified.status !== 0) console.log(`FAILED verify: ${verified.stdout}${verified.stderr}`);
  return failed || verified.status !== 0;
}

/**
 * @param served serves a root while a function runs, which gets its address
 * @param commits of each of two writers at once
 * @param seed of what clients do that are versions behind
 * @returns whether anything was wrong
 */
export async function checkWrites({ python, lancedb, entry, place, served, commits, seed }) {
  const [root, out] = [join(place, 'written'), join(place, 'written-expected')];
  const own = (...given) => [join(here, 'write-tables.mjs'), entry, root, ...given];
  const tables = lancedb === undefined ? ['py'] : ['py', 'js', 'both'];
  await output(process.execPath, own('make', ...tables, 'path'));
  const stale = [join(here, 'stale-own.mjs'), entry, join(place, 'stale')];
  mkdirSync(stale.at(-1));
  await served(stale.at(-1), async (uri) => {
    const counts = [String(Math.ceil(commits / 8)), '60', seed];
    const script = [join(here, 'stale_clients.py'), uri, ...counts, process.execPath, ...stale];
    process.stdout.write(await output(python, script));
  });
  // Their columns are no texts, of which most are compressed.
  console.log(`stale clients: ${formsIn(stale.at(-1), 0)}`);
  const anew = [join(here, 'stale-own.mjs'), entry, join(place, 'anew')];
  mkdirSync(anew.at(-1));
  await served(anew.at(-1), async (uri) => {
    const again = [process.execPath, ...anew];
    const script = [join(here, 'made_anew.py'), uri, ...again];
    process.stdout.write(await output(python, script));
    if (lancedb === undefined) return;
    const client = [join(here, 'made-anew.mjs'), uri, lancedb, ...again];
    process.stdout.write(await output(process.execPath, client));
  });
  await served(root, async (uri) => {
    process.stdout.write(await output(python, [join(here, 'write_pylance.py'), uri, 'py']));
    const byPath = [join(here, 'write_by_path.py'), uri, join(root, 'data', 'path.table'), 'path'];
    process.stdout.write(await output(python, byPath));
    if (lancedb === undefined) return;
    const client = [join(here, 'write-lancedb.mjs'), uri, lancedb];
    process.stdout.write(await output(process.execPath, [...client, 'js']));
    const [theirs, ours] = await Promise.all([
      output(process.execPath, [...client, 'both', String(commits)]),
      output(process.execPath, own('beside', String(commits), 'both')),
    ]);
    const found = JSON.parse(
      await output(process.execPath, [join(here, 'write-ids.mjs'), entry, root, 'both']),
    );
    const lines = `${theirs}${ours}`.split('\n');
    const wanted = acknowledged(lines);
    const lost = [...wanted].filter((id) => !found.includes(id));
    const extra = found.filter((id) => !wanted.has(id));
    const refused = lines.find((line) => line.startsWith('refused'));
    console.log(
      `two writers: ${2 * commits} commits, ${refused}, ${wanted.size} rows acknowledged, ${lost.length} lost, ${extra.length} more`,
    );
    if (lost.length > 0 || extra.length > 0) throw new Error('Rows were lost.');
  });
  process.stdout.write(await output(process.execPath, own('dump', out, ...tables)));
  if (lancedb !== undefined) {
    const indexed = join(place, 'indexed');
    // A server that has read the catalog's mode before would answer a client once as one that only reads.
    await output(process.execPath, [join(here, 'write-tables.mjs'), entry, indexed, 'make']);
    await served(indexed, async (uri) => {
      const given = [entry, indexed, uri, lancedb, String(commits), seed];
      const script = join(here, 'write-indexes.mjs');
      process.stdout.write(await output(process.execPath, [script, ...given]));
    });
  }
  let failed = false;
  await served(root, async (uri) => {
    const check = (command, args) =>
      spawnSync(command, args, { stdio: ['ignore', 'inherit', 'pipe'] }).status !== 0;
    failed = check(python, [join(here, 'check.py'), out, uri]);
    if (lancedb === undefined) return;
    const script = join(here, '.built', 'check-lancedb.mjs');
    failed = check(process.execPath, [script, out, uri, lancedb]) || failed;
  });
  return failed;
}
