/** A simulated catalog once everything has come to rest: what must hold of it then. */
import { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openCatalog } from '../../src/directory/open-catalog.ts';
import { decodeTable } from '../../src/format/catalog/records.ts';
import { isStagedManifest, TABLE_FILE } from '../../src/paths.ts';
import { type FileSystem, readFolder } from '../../src/store/disk/file-system.ts';
import { scan } from '../../src/table/read/scan.ts';
import { listBranches, mainBranch } from '../../src/table/versions/branches.ts';
import type { Engine } from '../../src/table/versions/engine.ts';
import { resolveHead, type TableBranch } from '../../src/table/versions/head.ts';
import { listTags } from '../../src/table/versions/tags.ts';
import { visibleSnapshot, visibleVersions } from '../../src/table/versions/version-files.ts';
import { type History, rowsText } from './history.ts';
import { idsOf, people } from './people.ts';
import { readAll } from './read-all.ts';
import { textsOf } from './simulated-columns.ts';
import type { Simulation } from './simulation.ts';

/** Beyond all that writers use. */
const LAST_ROW = 99_999_999;

/** What is wrong with the catalog, in words. */
export async function settledProblems(
  simulation: Simulation,
  root: string,
  history: History,
): Promise<string[]> {
  const { base: fs } = simulation;
  const last = simulation.process();
  const { catalog, store, autoCompaction } = await openCatalog({
    root,
    fs,
    // A batch that nobody decided is waited for.
    env: last.env,
    // All others have come to their end, with what they announced and could not take back.
    processes: { self: last.processes.self, stateOf: () => 'dead' },
    durability: 'relaxed',
    // Real time goes on here, years after that of the simulation.
    trashRetention: Number.POSITIVE_INFINITY,
  });
  const namespace = new DirectoryNamespace(catalog, store, autoCompaction);
  const wrong = [...history.violations];
  const { problems } = await namespace.verify({});
  for (const { path, what } of problems) wrong.push(`verify: ${path}: ${what}`);
  const found = new Set<string>();
  for (const folder of tableFolders(fs, root)) {
    const file = `${folder}/${TABLE_FILE}`;
    const { id } = decodeTable(readAll(fs, `${root}/${file}`), file);
    if (found.has(id)) wrong.push(`the table ${id} is there twice, also at ${folder}`);
    found.add(id);
    const main = mainBranch(folder, id);
    for (const branch of [main, ...(await listBranches(catalog.engine, folder, id))]) {
      wrong.push(...(await branchProblems(catalog.engine, branch, history)));
    }
    wrong.push(...(await referenceProblems(catalog.engine, folder, id, history)));
  }
  for (const [id, line] of history.lines) {
    const first = line.values().next().value;
    // A creation that failed may have been in place for a moment.
    const counts = [...line.values()].some(({ operation }) => history.acknowledged.has(operation));
    if (counts && first?.manifest.branch === 'main' && !found.has(id))
      wrong.push(`the table ${id} (${history.operations.get(first.operation)?.what}) is lost`);
  }
  for (const folder of tableFolders(fs, root)) removeStaged(fs, `${root}/${folder}`);
  for (const name of (await namespace.listAllTables({})).tables) {
    const id = name.split('$');
    await namespace.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 });
    const { is_only_declared } = await namespace.describeTable({ id, check_declared: true });
    const before = is_only_declared ? [] : await idsOf(namespace, id);
    if (is_only_declared) await namespace.createTable({ id }, people(1, LAST_ROW));
    else await namespace.insertIntoTable({ id }, people(1, LAST_ROW));
    const after = await idsOf(namespace, id);
    if (after.join() !== [...before, LAST_ROW].join())
      wrong.push(`${name} held ${before} and after one more row ${after}`);
  }
  const again = await namespace.verify({});
  for (const { path, what } of again.problems) wrong.push(`after cleanup: ${path}: ${what}`);
  for (const { path, kind } of again.leftovers) {
    // Made for a table that had the name before: out of sight, and perhaps wanted where that one is.
    const foreign = /\/(branches|tags)\/[^/]+$/.test(path) && kind === 'orphan';
    const ours = kind === 'orphan' || (kind === 'temporary' && !path.startsWith('.dirspace'));
    if (ours && !foreign) wrong.push(`cleanup leaves ${kind} ${path}`);
  }
  await namespace.close();
  return wrong;
}

async function branchProblems(
  engine: Engine,
  branch: TableBranch,
  history: History,
): Promise<string[]> {
  const wrong: string[] = [];
  const line = history.lines.get(branch.folder.slice(branch.folder.lastIndexOf('versions-') + 9));
  if (line === undefined) return [`${branch.folder} has no history`];
  const head = await resolveHead(engine, branch);
  const newest = history.newest(line)?.manifest.version;
  if (head?.snapshot.version !== newest)
    wrong.push(
      `${branch.folder}: version ${newest} was the newest, and is ${head?.snapshot.version}`,
    );
  for (const version of await visibleVersions(engine, branch)) {
    const snapshot = await visibleSnapshot(engine, branch, version);
    if (snapshot === undefined) continue;
    const rows = new Map<number, string>();
    let count = 0;
    for await (const batch of await scan(engine, snapshot, {})) {
      count += batch.numRows;
      for (const [key, text] of textsOf(batch)) rows.set(key, text);
    }
    const expected = line.get(version)?.rows;
    if (expected === undefined || rowsText(rows) !== rowsText(expected) || count !== rows.size)
      wrong.push(
        `${branch.folder} version ${version}: ${count} rows ${rowsText(rows)}, expected ${expected && rowsText(expected)}`,
      );
  }
  return wrong;
}

/** Tags and branches stand as the operations left them, and what they name is there. */
async function referenceProblems(
  engine: Engine,
  folder: string,
  id: string,
  history: History,
): Promise<string[]> {
  const wrong: string[] = [];
  const branches = new Map(
    (await listBranches(engine, folder, id)).map((one) => [one.branch, one]),
  );
  for (const [line, { table, name, operation, foreign, removed }] of history.references.branches) {
    if (table !== id || foreign || removed !== undefined) continue;
    if (!history.acknowledged.has(operation)) continue;
    if (branches.get(name)?.record.id !== line)
      wrong.push(`${folder}: the branch ${name} that ${operation} made is lost`);
  }
  const found = await listTags(engine, folder, id);
  const standing = [...history.references.tags.values()].filter(({ table }) => table === id);
  if (found.size !== standing.length)
    wrong.push(`${folder}: ${found.size} tags are listed, and ${standing.length} were made`);
  for (const { tag, branch: name, version, operation } of standing) {
    const record = found.get(tag);
    if (record?.branch !== name || record.version !== version)
      wrong.push(`${folder}: the tag ${tag} is ${JSON.stringify(record)}, not ${name} ${version}`);
    const branch = name === 'main' ? mainBranch(folder, id) : branches.get(name);
    const there = branch && (await visibleVersions(engine, branch)).includes(version);
    if (there !== true && history.acknowledged.has(operation))
      wrong.push(
        `${folder}: the tag ${tag} of ${operation} names ${name} ${version}, which is gone`,
      );
  }
  return wrong;
}

/** Manifests handed over and never published keep their files for an hour, which is over by now. */
function removeStaged(fs: FileSystem, folder: string): void {
  for (const entry of readFolder(fs, folder)) {
    const path = `${folder}/${String(entry.name)}`;
    if (entry.isDirectory()) removeStaged(fs, path);
    else if (isStagedManifest(String(entry.name))) fs.unlinkSync(path);
  }
}

/** Wherever they lie, the trash included; relative to the root. */
function tableFolders(fs: FileSystem, root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    const entries = readFolder(fs, folder === '' ? root : `${root}/${folder}`);
    if (entries.some(({ name }) => String(name) === TABLE_FILE)) {
      found.push(folder);
      return;
    }
    for (const entry of entries) {
      const path = folder === '' ? String(entry.name) : `${folder}/${entry.name}`;
      if (entry.isDirectory() && path !== '.dirspace/staging') visit(path);
    }
  };
  visit('');
  return found;
}
