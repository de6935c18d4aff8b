/**
 * Advisory locks: they spare work when many would do the same thing, nothing more.
 *
 * A lock may be lost, stolen or held twice. Whatever goes wrong here, the work is done anyway
 * and told so; correctness rests on exclusive creation alone.
 */
import { createHash } from 'node:crypto';
import { type Env, systemEnv } from '../env.ts';
import type { FileStore } from './file-store.ts';
import { errnoOf, type FileSystem, type LockFileSystem } from './file-system.ts';

const FOLDER = '.dirspace/locks';
/** A holder refreshes its lock every third of this; one silent for all of it has died. */
const STALE_MS = 30_000;
const DEFAULT_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 200;

export interface Lease {
  /** False when the lock could not be had, and once it is known to be lost. */
  readonly held: boolean;
}

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for another holder before going on without the lock. */
  readonly waitMs?: number;
  readonly env?: Env;
}

/** Runs `fn` under the lock named `key`, or without it when it is not to be had in time. */
export async function withLock<T>(
  store: FileStore,
  key: string,
  fn: (lease: Lease) => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  options.signal?.throwIfAborted();
  if (store.readOnly) return fn({ held: false });
  const lock = new AdvisoryLock();
  await lock.acquire(store, key, options);
  try {
    return await fn(lock);
  } finally {
    await lock.release();
  }
}

class AdvisoryLock implements Lease {
  #release: (() => Promise<void>) | undefined;

  get held(): boolean {
    return this.#release !== undefined;
  }

  async acquire(store: FileStore, key: string, options: LockOptions): Promise<void> {
    const { signal, waitMs = DEFAULT_WAIT_MS, env = systemEnv } = options;
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    const deadline = env.now() + waitMs;
    for (let pause = FIRST_PAUSE_MS, madeFolder = false; ; ) {
      try {
        this.#release = await this.#attempt(store, name, env);
        return;
      } catch (error) {
        const code = errnoOf(error);
        if (code === 'ENOENT' && !madeFolder) {
          madeFolder = true;
          if (!(await makeLockFolder(store))) return;
          continue;
        }
        if (code !== 'ELOCKED') return;
      }
      const left = deadline - env.now();
      if (left <= 0) return;
      await env.sleep(Math.min(left, pause * (0.5 + env.random())), signal);
      pause = Math.min(pause * 1.6, LONGEST_PAUSE_MS);
    }
  }

  async release(): Promise<void> {
    const release = this.#release;
    this.#release = undefined;
    try {
      await release?.();
    } catch {
      // Somebody removed it first, or it stays and goes stale. Neither concerns the work done.
    }
  }

  async #attempt(store: FileStore, name: string, env: Env): Promise<() => Promise<void>> {
    if (!store.enter(FOLDER)) throw Object.assign(new Error('no lock folder'), { code: 'ENOENT' });
    // Imported late: loading it installs signal handlers, which a process without locks is spared.
    const { default: lockfile } = await import('proper-lockfile');
    const acquisition = env.uuid();
    return lockfile.lock(acquisition, {
      // The library keys its registry by this name alone; a fresh one keeps holders apart, also
      // those of equal paths in different in-memory file systems. It never reaches the disk.
      lockfilePath: store.locate(`${FOLDER}/${name}`),
      fs: lockFileSystem(store.fs),
      realpath: false,
      retries: 0,
      stale: STALE_MS,
      update: STALE_MS / 3,
      onCompromised: () => {
        this.#release = undefined;
      },
    });
  }
}

async function makeLockFolder(store: FileStore): Promise<boolean> {
  try {
    await store.createFolder(FOLDER);
    return true;
  } catch {
    return false;
  }
}

const lockFileSystems = new WeakMap<object, LockFileSystem>();

/** A plain object: the library marks what it is given, which a frozen one would not survive. */
function lockFileSystem(fs: FileSystem): LockFileSystem {
  let plain = lockFileSystems.get(fs);
  if (plain === undefined) {
    plain = {
      mkdir: (path, callback) => fs.mkdir(path, callback),
      rmdir: (path, callback) => fs.rmdir(path, callback),
      stat: (path, callback) => fs.stat(path, callback),
      utimes: (path, atime, mtime, callback) => fs.utimes(path, atime, mtime, callback),
      rmdirSync: (path) => fs.rmdirSync(path),
    };
    lockFileSystems.set(fs, plain);
  }
  return plain;
}
