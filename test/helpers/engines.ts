/**
 * The engine and the catalog below the operations, on a file system in memory: with a clock that
 * moves when somebody sleeps, and a store whose calls a test may answer, delay or break.
 */
import { setTimeout as nextTimer } from 'node:timers/promises';
import { Counters } from '../../src/counters.ts';
import type { Catalog } from '../../src/directory/catalog/catalog.ts';
import type { Env } from '../../src/env.ts';
import type { Manifest } from '../../src/format/catalog/manifest.ts';
import { encodeTable } from '../../src/format/catalog/records.ts';
import { NameCodec, TABLE_FILE, versionFile } from '../../src/paths.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import { systemProcesses } from '../../src/store/processes.ts';
import type { Store } from '../../src/store/store.ts';
import { mainBranch } from '../../src/table/versions/branches.ts';
import {
  type CommitRequest,
  type Committed,
  commit,
  type Draft,
} from '../../src/table/versions/commit.ts';
import { DEFAULT_LIMITS, type Engine, type Limits } from '../../src/table/versions/engine.ts';
import { EMPTY_FRAGMENTS } from '../../src/table/versions/fragment-list.ts';
import type { TableBranch } from '../../src/table/versions/head.ts';
import { HeadCache } from '../../src/table/versions/head-cache.ts';
import type { Snapshot } from '../../src/table/versions/snapshot.ts';
import { ByteCache } from '../../src/table/work/cache.ts';
import { Queue } from '../../src/table/work/queue.ts';
import { Scratch } from '../../src/table/work/scratch.ts';
import { SketchCache } from '../../src/vector/sketch-cache.ts';
import { memoryFs, type TestFs } from './memory-fs.ts';

export const ROOT = '/catalog';

/** A time, and what was slept: nobody waits for real. */
export class TestClock implements Env {
  time = 1_700_000_000_000;
  readonly sleeps: number[] = [];
  /** Runs before a sleep ends. */
  onSleep: ((signal: AbortSignal | undefined) => Promise<void> | void) | undefined;
  #made: number;

  /** `first` tells the ids of several clocks apart. */
  constructor(first = 0) {
    this.#made = first;
  }

  now(): number {
    return this.time;
  }

  uuid(): string {
    this.#made += 1;
    return `00000000-0000-4000-8000-${this.#made.toString(16).padStart(12, '0')}`;
  }

  random(): number {
    return 0.5;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    this.time += ms;
    await this.onSleep?.(signal);
    signal?.throwIfAborted();
  }
}

type Call<Name extends keyof Store> = (
  run: Store[Name],
  ...args: Parameters<Store[Name]>
) => ReturnType<Store[Name]>;

/** Calls that a test answers itself; each is handed the real one. */
export type Calls = { [Name in keyof Store]?: Call<Name> | undefined };

function answered(store: Store, calls: Calls): Store {
  return new Proxy(store, {
    get(target, name) {
      const real = Reflect.get(target, name) as unknown;
      if (typeof real !== 'function') return real;
      return (...args: unknown[]) => {
        const call = calls[name as keyof Store] as ((...all: unknown[]) => unknown) | undefined;
        const run = real.bind(target) as (...all: unknown[]) => unknown;
        return call === undefined ? run(...args) : call(run, ...args);
      };
    },
  });
}

export interface TestEngine {
  readonly fs: TestFs;
  readonly clock: TestClock;
  readonly calls: Calls;
  readonly engine: Engine;
  readonly catalog: Catalog;
  /** Keys of the locks asked for. */
  readonly locks: string[];
  /** Versions this engine was told it committed. */
  readonly committed: Snapshot[];
}

/** Engines over one `fs` are as processes: they share the files and nothing else. */
export function testEngine(
  options: { fs?: TestFs; limits?: Partial<Limits>; firstId?: number; root?: string } = {},
): TestEngine {
  const fs = options.fs ?? memoryFs();
  const root = options.root ?? ROOT;
  const clock = new TestClock(options.firstId);
  const calls: Calls = {};
  const locks: string[] = [];
  const committed: Snapshot[] = [];
  const store = answered(openFileStore({ root, fs, env: clock }), calls);
  const engine: Engine = {
    store,
    env: clock,
    names: new NameCodec(false),
    cache: new ByteCache(1e6),
    heads: new HeadCache(store, 1e6),
    buffers: new ByteCache(1e6),
    scratch: new Scratch(),
    sketches: new SketchCache(1e8).scope(),
    queue: new Queue(),
    publish: (branch, version, bytes, _, after) =>
      store.putIfAbsent(versionFile(branch.folder, version), bytes, after),
    committed: (snapshot) => committed.push(snapshot),
    newObject: () => clock.uuid(),
    locate: (path) => `${root}/${path}`,
    processes: systemProcesses(),
    withLock: (key, work) => {
      locks.push(key);
      return work();
    },
    isLocked: () => false,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    counters: new Counters(),
    lance: 'read',
  };
  const catalog: Catalog = {
    engine,
    store,
    env: clock,
    root,
    readOnly: false,
    managedVersioning: false,
    trashRetention: 7 * 24 * 3_600_000,
    format: {
      refusal: undefined,
      check: async () => undefined,
      propose: async () => ({ foldsCase: false, managed: false, lance: 'off' }),
      mend: async () => {},
    },
    prepareRoot: async () => {
      for (const folder of ['staging', 'trash', 'detached', 'intents', 'transactions']) {
        await store.createFolder(`.dirspace/${folder}`);
      }
    },
    vendor: undefined,
    locations: [],
    realPath: (path) => path,
    openOutside: () => undefined,
  };
  return { fs, clock, calls, engine, catalog, locks, committed };
}

export const INCARNATION = '11111111-2222';

/** A declared table at `folder`: no version yet. */
export async function declared(
  { engine }: TestEngine,
  folder = 'data/t.table',
  incarnation: string = INCARNATION,
): Promise<TableBranch> {
  const branch = mainBranch(folder, incarnation);
  await engine.store.createFolder('.dirspace/transactions');
  await engine.store.createFolder(branch.folder);
  await engine.store.put(
    `${folder}/${TABLE_FILE}`,
    encodeTable({ id: incarnation, createdAt: 1, properties: {} }),
  );
  return branch;
}

/** A draft without rows. */
export const draftOf = (kind: Draft['kind'], more: Partial<Draft> = {}): Draft => ({
  kind,
  summary: {},
  schema: { fields: [] },
  fieldIds: [],
  nextFieldId: 0,
  nextFragmentId: 0,
  metadata: {},
  fragments: EMPTY_FRAGMENTS,
  ...more,
});

/** Commits a version of that kind and content. */
export const land = (
  { engine }: TestEngine,
  branch: TableBranch,
  draft: Draft | Draft['kind'] = 'append',
  request: Partial<CommitRequest> = {},
): Promise<Committed> =>
  commit(engine, branch, {
    build: async () => (typeof draft === 'string' ? draftOf(draft) : draft),
    ...request,
  });

export const entry = (id: number, more: Partial<Manifest['fragments'][number]> = {}) => ({
  id,
  file: `${'0'.repeat(8)}-${id.toString(16).padStart(4, '0')}`,
  rows: 10,
  bytes: 100,
  footerBytes: 10,
  footerChecksum: 1,
  fields: [],
  statistics: [],
  deletion: undefined,
  ...more,
});

/** The code of the error a call ends with, or the call's value. */
export async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work };
  } catch (error) {
    return error;
  }
}

/** Lets everything that can happen without a timer happen. */
export const settled = (): Promise<void> => nextTimer(0);
