/**
 * One operation on one small catalog with one fault, and what must hold afterwards: the state is the
 * old one or the new one, the catalog verifies, and the next write works.
 */

import { createHash } from 'node:crypto';
import type { DirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { type Env, systemEnv } from '../../src/env.ts';
import { isDirspaceError } from '../../src/errors.ts';
import type { LanceMode } from '../../src/lance-mode.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../src/store/disk/strict-fs.ts';
import { filesOf } from './catalog-files.ts';
import { type CrashOperation, type Scene, setUp } from './crash-operations.ts';
import { type Fault, FaultyFs } from './faulty-fs.ts';
import { memoryFs, type TestFs } from './memory-fs.ts';
import { idsOf, people } from './people.ts';
import { seeded } from './seeded.ts';
import { grow, type Tree, treeOf } from './trees.ts';
import { visibleState } from './visible-state.ts';

const ROOT = '/c';
/** Where operations declare tables outside the root. */
export const OUTSIDE = [{ prefix: 's3://bucket/lake/' }];

/** How far sleeping moves the clock beyond what was asked: who tries in vain gives up soon. */
const OVERSLEEP = 20;

/** A clock that sleeping moves on, so that nobody waits. */
export function hastyEnv(): Env {
  let now = Date.now();
  return {
    ...systemEnv,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += Math.ceil(ms) * OVERSLEEP;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** The same ids and random numbers in each run, so that runs which come to the same leave equal disks. */
function replayedEnv(): Env {
  let made = 0;
  return {
    ...hastyEnv(),
    uuid: () => `4eb1a7ed-0000-4000-8000-${String(++made).padStart(12, '0')}`,
    random: seeded(1),
  };
}

export interface Opening {
  readonly root?: string;
  readonly managed?: boolean;
  readonly durability?: 'full' | 'relaxed';
  readonly env?: Env;
  /** The catalog remembers it. */
  readonly lance?: LanceMode;
}

const open = (
  fs: FileSystem,
  { root = ROOT, managed = false, durability = 'relaxed', env = hastyEnv(), lance }: Opening = {},
): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({
    root,
    fs,
    env,
    managedVersioning: managed,
    durability,
    locations: OUTSIDE,
    lance,
  });

/** What an operation starts from, and the two states that it may leave. */
export interface CrashCase {
  readonly name: string;
  readonly operation: CrashOperation;
  readonly managed: boolean;
  readonly tree: Tree;
  readonly before: string;
  readonly after: string;
  /** Calls of the file system that the operation makes when all goes well. */
  readonly calls: number;
  /** What equal disks hold, by their digests, where each is looked at once. */
  readonly seen?: Map<string, string> | undefined;
}

export async function crashCase(
  name: string,
  operation: CrashOperation,
  managed = false,
  lance?: LanceMode,
): Promise<CrashCase> {
  const fs = memoryFs();
  const catalog = await open(strictFileSystem(fs), {
    managed,
    ...(lance === undefined ? {} : { lance }),
  });
  await setUp(catalog);
  await operation.setUp?.(catalog, filesOf(fs, ROOT));
  const tree = treeOf(fs, ROOT);
  const before = await stateIn(grow(tree, ROOT), managed);
  const clean = await runWithFault({ operation, managed, tree }, undefined);
  if (clean.error !== undefined) throw clean.error;
  const after = text(await visibleState(await open(clean.healthy, { managed })));
  if (before === after) throw new Error(`${name} changes nothing`);
  return { name, operation, managed, tree, before, after, calls: clean.calls };
}

const stateIn = async (fs: TestFs, managed: boolean): Promise<string> =>
  text(await visibleState(await open(strictFileSystem(fs), { managed })));

export interface FaultRun {
  readonly fired: boolean;
  readonly calls: number;
  readonly error: unknown;
  /** The handle that the operation ran on. */
  readonly catalog: DirectoryNamespace;
  readonly healthy: FileSystem;
  /** What `healthy` is made of. */
  readonly fs: TestFs;
}

/** Opens, prepares, and runs the operation with faults from its first call on. */
export async function runOperation(
  operation: CrashOperation,
  catalog: DirectoryNamespace,
  files: Scene['files'],
  arm: () => void,
): Promise<unknown> {
  const scene: Scene = { catalog, files, staged: [] };
  await operation.prepare?.(scene);
  arm();
  try {
    await operation.run(scene);
    return undefined;
  } catch (error) {
    return error;
  }
}

async function runWithFault(
  { operation, managed, tree, seen }: Pick<CrashCase, 'operation' | 'managed' | 'tree' | 'seen'>,
  fault: Fault | undefined,
): Promise<FaultRun> {
  const fs = grow(tree, ROOT);
  const healthy = strictFileSystem(fs);
  const faulty = new FaultyFs(healthy);
  const env = seen === undefined ? hastyEnv() : replayedEnv();
  const catalog = await open(faulty.fs, { managed, durability: 'full', env });
  const files = filesOf(fs, ROOT);
  const error = await runOperation(operation, catalog, files, () => faulty.arm(fault));
  const { fired, log } = faulty;
  if (fault?.kind !== 'kill') faulty.arm();
  return { fired, calls: log.length, error, catalog, healthy, fs };
}

const text = (value: unknown): string => JSON.stringify(value);

/** What works on every catalog, whatever happened to it before. @throws where it does not */
export async function writeOnceMore(catalog: DirectoryNamespace, turn: number): Promise<void> {
  await catalog.createNamespace({ id: ['after'] });
  await catalog.createTable({ id: ['after', 't'] }, people(1));
  const { tables } = await catalog.listAllTables({});
  for (const [at, key] of tables.entries()) {
    // Which table is written to changes from case to case; now and then it is all of them.
    if (turn % 8 !== 0 && turn % tables.length !== at) continue;
    const id = key.split('$');
    const described = await catalog.describeTable({ id, check_declared: true });
    const { is_only_declared, location = '' } = described;
    // Its rows are Lance's, and not to be written here.
    if (is_only_declared !== true && /\/lance\/|:\/\//.test(location)) continue;
    const before = is_only_declared ? [] : await idsOf(catalog, id);
    if (is_only_declared) await catalog.createTable({ id }, people(1, 900));
    else await catalog.insertIntoTable({ id }, people(1, 900));
    const found = await idsOf(catalog, id);
    if (found.join() !== [...before, 900].join()) {
      throw new Error(`${key} has ${found} after an append to ${before}`);
    }
  }
}

/** @throws with what verify finds, the same code as `dirspace verify` */
export async function verified(catalog: DirectoryNamespace): Promise<void> {
  const { problems } = await catalog.verify({});
  if (problems.length > 0) throw new Error(`verify finds ${text(problems)}`);
}

/** @throws where a table was written and does not open in Lance, as all of a new catalog do */
async function openInLance(catalog: DirectoryNamespace): Promise<void> {
  const { tables } = await catalog.listAllTables({});
  for (const key of tables) {
    const id = key.split('$');
    const described = await catalog.describeTable({ id, check_declared: true });
    if (described.is_only_declared || /\/lance\/|:\/\//.test(described.location ?? '')) continue;
    const { lance } = await catalog.describeTable({ id, load_detailed_metadata: true });
    if (lance?.opens !== true) throw new Error(`${key} does not open in Lance: ${lance?.reason}`);
  }
}

export interface Reopening {
  readonly root?: string;
  /** Chooses what is written to afterwards. */
  readonly turn: number;
  readonly allowed: readonly string[];
  /** What else has to hold, before anything is written again. */
  readonly look?: Look | undefined;
}

export type Look = (catalog: DirectoryNamespace, fs: FileSystem) => Promise<void>;

/** Opens the catalog anew and checks all of it; the state found. @throws at whatever is wrong */
export async function checkReopened(
  fs: FileSystem,
  { before, managed }: CrashCase,
  { root = ROOT, turn, allowed, look }: Reopening,
): Promise<string> {
  const again = await open(fs, { root, managed });
  const state = text(await visibleState(again));
  if (!allowed.includes(state)) throw new Error(`it leaves ${state}, was ${before}`);
  await openInLance(again);
  await look?.(again, fs);
  await writeOnceMore(again, turn);
  await verified(again);
  await again.close();
  return state;
}

/** The same for disks with the same paths, bytes, links and times. */
function digestOf(fs: TestFs): string {
  const files = filesOf(fs, ROOT);
  const hash = createHash('sha256');
  for (const path of files.all()) {
    const { mtimeMs, nlink, size } = fs.lstatSync(`${ROOT}/${path}`);
    hash.update(
      JSON.stringify(path.endsWith('/') ? [path, mtimeMs] : [path, mtimeMs, nlink, size]),
    );
    if (!path.endsWith('/')) hash.update(files.read(path));
  }
  return hash.digest('base64');
}

/** `checkReopened`, unless an equal disk was looked at: then its state is to be one of those allowed. */
async function checkOnce(
  { healthy, fs }: Pick<FaultRun, 'healthy' | 'fs'>,
  each: CrashCase,
  reopening: Reopening,
): Promise<string> {
  if (each.seen === undefined) return checkReopened(healthy, each, reopening);
  const digest = digestOf(fs);
  const known = each.seen.get(digest);
  if (known !== undefined && !reopening.allowed.includes(known))
    throw new Error(`it leaves ${known}, was ${each.before}`);
  if (known !== undefined) return known;
  // Equal disks would have come with other turns: every table is written to.
  const state = await checkReopened(healthy, each, { ...reopening, turn: 0 });
  each.seen.set(digest, state);
  return state;
}

/**
 * Kills the operation at a call, of all or of those of some names.
 * @throws at whatever is wrong afterwards; false past the last call
 */
export async function surviveKill(
  each: CrashCase,
  at: number,
  { look, only }: { look?: Look; only?: readonly string[] } = {},
): Promise<boolean> {
  const run = await runWithFault(each, { at, kind: 'kill', ...(only && { only }) });
  const { before, after } = each;
  const allowed = run.error === undefined ? [after] : [before, after];
  await checkOnce(run, each, { turn: at, allowed, look });
  return run.fired;
}

/** Lets a call of the operation fail. @throws at whatever is wrong afterwards; false past the last */
export async function surviveFault(each: CrashCase, fault: Fault): Promise<boolean> {
  const run = await runWithFault(each, fault);
  const { error, catalog, fired } = run;
  if (error !== undefined && !isDirspaceError(error)) throw error;
  const here = text(await visibleState(catalog));
  const plain = isDirspaceError(error) && error.code !== 'CommitStateUnknown';
  const { before, after, operation } = each;
  const sure = error === undefined && !(operation.optional && fault.kind === 'ENOENT');
  const allowed = sure ? [after] : plain && operation.exact ? [before] : [before, after];
  try {
    const state = await checkOnce(run, each, { turn: fault.at, allowed });
    // What fails for good keeps an interrupted replacement from being finished here and now.
    if (here !== state && fault.persistent !== true)
      throw new Error(`here ${here}, reopened ${state}`);
  } catch (wrong) {
    throw new Error(`${String(error)}: ${String(wrong)}`, { cause: wrong });
  }
  return fired;
}
