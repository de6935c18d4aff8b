/**
 * Every file system call of every kind of change is the last one, or fails: what is found afterwards
 * is the old state or the new one, nothing between, and the next write works.
 */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../src/env.ts';
import { isDirspaceError } from '../src/errors.ts';
import type { FileSystem } from '../src/store/file-store.ts';
import { strictFileSystem } from '../src/store/strict-fs.ts';
import { filesOf, memoryFs, type TestFs } from './helpers/catalogs.ts';
import { type Fault, FaultyFs } from './helpers/faulty-fs.ts';
import { visibleState } from './helpers/visible-state.ts';
import { idsOf, people, rowIdsOf, type Subject } from './suites/namespace/context.ts';
import { stage } from './suites/namespace/managed.ts';

const ROOT = '/c';
type Catalog = Awaited<ReturnType<typeof openDirectoryNamespace>>;

interface Operation {
  run(catalog: Catalog, subject: Subject): Promise<unknown>;
  /** Done before the faults begin, right before the operation. */
  prepare?(catalog: Catalog, subject: Subject): Promise<unknown>;
  /** Tables that it needs besides those that are always there. */
  readonly tables?: readonly string[];
  /** An error other than CommitStateUnknown means that nothing changed. */
  readonly exact?: true;
}

const t = ['n', 't'];
const BATCHED = ['b1', 'b2', 'b3'];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'create table': {
    run: (catalog) => catalog.createTable({ id: ['n', 'new'] }, people(3)),
  },
  'fill a declared table': {
    run: (catalog) =>
      catalog.createTable({ id: ['n', 'declared'], properties: { filled: 'yes' } }, people(3)),
    exact: true,
  },
  'declare table': { run: (catalog) => catalog.declareTable({ id: ['n', 'new'] }) },
  append: { run: (catalog) => catalog.insertIntoTable({ id: t }, people(2, 50)), exact: true },
  overwrite: {
    run: (catalog) =>
      catalog.createTable(
        { id: t, mode: 'overwrite', properties: { overwritten: 'yes' } },
        people(2, 50),
      ),
    exact: true,
  },
  'delete rows': {
    run: async (catalog) => {
      const ids = await rowIdsOf(catalog, t);
      await catalog.deleteRows({ id: t, row_ids: [ids.get(0) ?? 0n, ids.get(3) ?? 0n] });
    },
    exact: true,
  },
  rename: {
    run: (catalog) => catalog.renameTable({ id: t, new_table_name: 'u', new_namespace_id: ['m'] }),
  },
  drop: { run: (catalog) => catalog.dropTable({ id: t }) },
  undrop: { run: (catalog) => catalog.undropTable({ id: ['n', 'dropped'] }) },
  'create namespace': {
    run: (catalog) => catalog.createNamespace({ id: ['n', 'new'], properties: { a: 'b' } }),
  },
  'drop namespace': { run: (catalog) => catalog.dropNamespace({ id: ['empty'] }) },
  'drop namespace, cascade': {
    run: (catalog) => catalog.dropNamespace({ id: ['n'], behavior: 'cascade' }),
  },
  'overwrite namespace': {
    run: (catalog) =>
      catalog.createNamespace({ id: ['n'], mode: 'overwrite', properties: { new: 'yes' } }),
  },
  'change properties': {
    run: (catalog) => catalog.updateNamespaceProperties({ id: ['n'], properties: { x: 'y' } }),
  },
  'create versions of three tables': {
    prepare: async (_, subject) => {
      for (const name of BATCHED) staged.push(await stage(subject, [name]));
    },
    run: (catalog) => catalog.batchCreateTableVersions({ entries: staged.splice(0) }),
    tables: BATCHED,
    exact: true,
  },
  'create tag': {
    run: (catalog) => catalog.createTableTag({ id: t, tag: 'new', version: 1 }),
  },
  'update tag': {
    run: (catalog) => catalog.updateTableTag({ id: t, tag: 'old', version: 2 }),
  },
  'create branch': {
    run: (catalog) => catalog.createTableBranch({ id: t, name: 'new', from_version: 1 }),
  },
  'delete branch': { run: (catalog) => catalog.deleteTableBranch({ id: t, name: 'side' }) },
  restore: { run: (catalog) => catalog.restoreTable({ id: t, version: 1 }), exact: true },
};
const staged: Awaited<ReturnType<typeof stage>>[] = [];

/** A clock that sleeping moves on, so that nobody waits. */
function hastyEnv(): Env {
  let now = Date.now();
  return {
    ...systemEnv,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += Math.ceil(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const open = (
  fs: FileSystem,
  managed: boolean,
  durability: 'full' | 'relaxed' = 'relaxed',
): Promise<Catalog> =>
  openDirectoryNamespace({
    root: ROOT,
    fs,
    env: hastyEnv(),
    managedVersioning: managed,
    durability,
  });

type Tree = readonly (readonly [path: string, bytes: Uint8Array | undefined])[];

async function firstTree(managed: boolean, batched: readonly string[] = []): Promise<Tree> {
  const fs = memoryFs();
  const catalog = await open(strictFileSystem(fs), managed);
  for (const name of ['n', 'm', 'empty']) await catalog.createNamespace({ id: [name] });
  await catalog.createTable({ id: t }, people(3));
  await catalog.insertIntoTable({ id: t }, people(2, 3));
  await catalog.createTableTag({ id: t, tag: 'old', version: 1 });
  await catalog.createTableBranch({ id: t, name: 'side', from_version: 1 });
  await catalog.declareTable({ id: ['n', 'declared'] });
  await catalog.createTable({ id: ['n', 'dropped'] }, people(1));
  await catalog.dropTable({ id: ['n', 'dropped'] });
  for (const name of batched) {
    await catalog.createTable({ id: [name] }, people(1));
    await catalog.insertIntoTable({ id: [name] }, people(1, 1));
  }
  const files = filesOf(fs, ROOT);
  return files.all().map((path) => [path, path.endsWith('/') ? undefined : files.read(path)]);
}

function grow(tree: Tree): TestFs {
  const fs = memoryFs();
  fs.mkdirSync(ROOT);
  for (const [path, bytes] of tree) {
    if (bytes === undefined) fs.mkdirSync(`${ROOT}/${path}`);
    else fs.writeFileSync(`${ROOT}/${path}`, bytes);
  }
  return fs;
}

interface Run {
  readonly fired: boolean;
  readonly error: unknown;
  readonly catalog: Catalog;
  readonly healthy: FileSystem;
}

async function runWith(
  tree: Tree,
  operation: Operation,
  fault: Fault | undefined,
  managed: boolean,
): Promise<Run> {
  const fs = grow(tree);
  const healthy = strictFileSystem(fs);
  const faulty = new FaultyFs(healthy);
  const catalog = await open(faulty.fs, managed, 'full');
  staged.length = 0;
  await operation.prepare?.(catalog, {
    namespace: catalog,
    files: filesOf(fs, ROOT),
    close: async () => {},
  });
  faulty.arm(fault);
  let error: unknown;
  try {
    await operation.run(catalog, { namespace: catalog, close: async () => {} });
  } catch (thrown) {
    error = thrown;
  }
  const { fired } = faulty;
  if (fault?.kind !== 'kill') faulty.arm();
  return { fired, error, catalog, healthy };
}

const text = (value: unknown): string => JSON.stringify(value);

/** What works on every catalog, whatever happened to it before. */
async function writeOnceMore(catalog: Catalog): Promise<void> {
  await catalog.createNamespace({ id: ['after'] });
  await catalog.createTable({ id: ['after', 't'] }, people(1));
  for (const key of (await catalog.listAllTables({})).tables) {
    const id = key.split('$');
    const { is_only_declared } = await catalog.describeTable({ id, check_declared: true });
    const before = is_only_declared ? [] : await idsOf(catalog, id);
    if (is_only_declared) await catalog.createTable({ id }, people(1, 900));
    else await catalog.insertIntoTable({ id }, people(1, 900));
    expect(await idsOf(catalog, id), key).toEqual([...before, 900]);
  }
}

/** Other operations do not commit versions, or do it as append does. */
const MANAGED = ['append', 'create versions of three tables'];

for (const managed of [false, true]) {
  const mode = managed ? 'managed' : 'plain';
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    if (managed && !MANAGED.includes(name)) continue;

    test(`${mode}: ${name}, killed after every call`, async () => {
      const tree = await firstTree(managed, operation.tables);
      const clean = await runWith(tree, operation, undefined, managed);
      expect(clean.error).toBeUndefined();
      const old = text(await visibleState(await open(strictFileSystem(grow(tree)), managed)));
      const done = text(await visibleState(await open(clean.healthy, managed)));
      expect(done).not.toBe(old);
      for (let at = 1; ; at++) {
        const run = await runWith(tree, operation, { at, kind: 'kill' }, managed);
        const acknowledged = run.error === undefined;
        const reopened = await open(run.healthy, managed);
        const state = text(await visibleState(reopened));
        if (state !== done && (acknowledged || state !== old)) {
          expect({ at, acknowledged, state: JSON.parse(state) }).toEqual(JSON.parse(done));
        }
        await writeOnceMore(reopened);
        if (!run.fired) break;
      }
    }, 180_000);

    test(`${mode}: ${name}, every call fails once or for good`, async () => {
      const tree = await firstTree(managed, operation.tables);
      const clean = await runWith(tree, operation, undefined, managed);
      const old = text(await visibleState(await open(strictFileSystem(grow(tree)), managed)));
      const done = text(await visibleState(await open(clean.healthy, managed)));
      for (const fault of [
        { kind: 'EIO' },
        { kind: 'ENOSPC', persistent: true, step: 3 },
        { kind: 'EIO', after: true, step: 2 },
      ]) {
        for (let at = 1; ; at += fault.step ?? 1) {
          const run = await runWith(tree, operation, { at, ...fault }, managed);
          const { error } = run;
          const where = { at, ...fault, error };
          if (error !== undefined && !isDirspaceError(error)) {
            expect.fail(`${text(where)}: ${String((error as Error).stack)}`);
          }
          const here = text(await visibleState(run.catalog));
          const again = await open(run.healthy, managed);
          const state = text(await visibleState(again));
          const plain = isDirspaceError(error) && error.code !== 'CommitStateUnknown';
          const allowed =
            error === undefined ? [done] : plain && operation.exact ? [old] : [old, done];
          if (!allowed.includes(state)) {
            expect.fail(`${text(where)} ${String(error)} leaves ${state}, was ${old}`);
          }
          // What fails for good keeps an interrupted replacement from being finished here and now.
          if (here !== state && fault.persistent !== true)
            expect.fail(`${text(where)}: here ${here}, reopened ${state}`);
          if (at % 7 === 0) await writeOnceMore(again);
          if (!run.fired) break;
        }
      }
    }, 180_000);
  }
}
