/**
 * `withLock` runs work under an advisory lock between processes, so that they do not all do the
 * same work. If the lock cannot be taken in time (10 seconds by default), the work runs without it;
 * its `Lease` tells whether the lock is held. An abort while it waits throws the signal's reason.
 * Commits do not depend on a lock. A lock is a file that names the process of its holder. The lock
 * is taken over at once if that process is known to have died, otherwise after 30 seconds without a
 * refresh. `isLocked` tells whether the file is there, maybe left by a dead holder.
 */
import { createHash } from 'node:crypto';
import { type Env, systemEnv } from '../env.ts';
import { LOCKS_FOLDER, TEMPORARY_PREFIX } from '../paths.ts';
import {
  closeQuietly,
  errnoOf,
  type FileSystem,
  openFlags,
  unlinkQuietly,
  writeSmall,
} from './disk/index.ts';
import type { FileStore } from './file-store.ts';
import { hasDied, parseProcessTag, processTag } from './process-identity.ts';

/** A holder refreshes its lock every third of this; one silent for all of it counts as dead. */
const STALE_MS = 30_000;
const DEFAULT_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 100;

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

/** Whether some holder, maybe a dead one, has the lock just now: one look. */
export const isLocked = (store: FileStore, key: string): boolean =>
  store.fs.existsSync(store.locate(lockFile(key)));

/** Files of the keys asked for last: each commit asks, and a digest takes as long as ten looks at files. */
const files = new Map<string, string>();
const MOST_FILES = 1_024;

function lockFile(key: string): string {
  let file = files.get(key);
  if (file === undefined) {
    file = `${LOCKS_FOLDER}/${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
    if (files.size >= MOST_FILES) files.clear();
    files.set(key, file);
  }
  return file;
}

/**
 * Runs `fn` under the lock named `key`, or without it when it is not to be had in time; in a
 * read-only store, or if the file system fails, without it at once. An abort before `fn` begins
 * throws the signal's reason, and `fn` does not run.
 */
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
  #held: HeldLock | undefined;

  get held(): boolean {
    return this.#held?.isOurs === true;
  }

  async acquire(store: FileStore, key: string, options: LockOptions): Promise<void> {
    const { signal, waitMs = DEFAULT_WAIT_MS, env = systemEnv } = options;
    const file = lockFile(key);
    const deadline = env.now() + waitMs;
    for (let pause = FIRST_PAUSE_MS, madeFolder = false; ; ) {
      try {
        this.#held = attempt(store, file, env);
        if (this.#held !== undefined) return;
      } catch (error) {
        if (errnoOf(error) !== 'ENOENT' || madeFolder) return;
        madeFolder = true;
        if (!(await makeLockFolder(store))) return;
        continue;
      }
      const left = deadline - env.now();
      if (left <= 0) return;
      await env.sleep(Math.min(left, pause * (0.5 + env.random())), signal);
      pause = Math.min(pause * 1.6, LONGEST_PAUSE_MS);
    }
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    held?.release();
  }
}

/** Takes the lock, or answers undefined while another process holds it. Throws file system errors. */
function attempt(store: FileStore, path: string, env: Env): HeldLock | undefined {
  if (!store.enter(LOCKS_FOLDER))
    throw Object.assign(new Error('no lock folder'), { code: 'ENOENT' });
  const { fs } = store;
  const absolute = store.locate(path);
  const mark = `${processTag()} ${env.uuid()}\n`;
  for (let taking = 0; taking < 2; taking++) {
    try {
      writeMark(fs, absolute, mark);
      return new HeldLock(fs, absolute, mark, env);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
    }
    if (!removeAbandoned(store, absolute, env)) return undefined;
  }
  return undefined;
}

function writeMark(fs: FileSystem, absolute: string, mark: string): void {
  const fd = fs.openSync(absolute, openFlags(fs).createNew, 0o600);
  try {
    writeSmall(fs, fd, Buffer.from(mark));
  } catch (error) {
    unlinkQuietly(fs, absolute);
    throw error;
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Removes the lock of a dead or silent holder; true where it is gone. */
function removeAbandoned(store: FileStore, absolute: string, env: Env): boolean {
  const { fs } = store;
  const stat = fs.lstatSync(absolute, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  const isSilent = env.now() - stat.mtimeMs > STALE_MS;
  if (stat.isDirectory()) {
    // Older releases lock by folders, which say nothing of their holder.
    if (isSilent) fs.rmdirSync(absolute);
    return isSilent;
  }
  const mark = readMark(fs, absolute);
  if (mark === undefined) return true;
  const holder = parseProcessTag(mark.split(' ', 1)[0] ?? '');
  if (!isSilent && (holder === undefined || !hasDied(holder))) return false;
  // Of two processes that get here only one moves the old lock away. The other may move the new lock
  // of the first; it sees that by the mark and puts it back.
  const aside = store.locate(`${LOCKS_FOLDER}/${TEMPORARY_PREFIX}${env.uuid()}`);
  try {
    fs.renameSync(absolute, aside);
  } catch (error) {
    // Another process has moved it away.
    if (errnoOf(error) === 'ENOENT') return true;
    throw error;
  }
  if (readMark(fs, aside) === mark) {
    unlinkQuietly(fs, aside);
    return true;
  }
  try {
    fs.linkSync(aside, absolute);
  } catch (error) {
    // A third process has the lock by now, so the holder whose file was moved away has lost it.
    if (errnoOf(error) !== 'EEXIST') throw error;
  } finally {
    unlinkQuietly(fs, aside);
  }
  return false;
}

/** Longer than any mark. */
const MARK_BYTES = 256;

/** Undefined where there is no file. */
function readMark(fs: FileSystem, absolute: string): string | undefined {
  let fd: number;
  try {
    fd = fs.openSync(absolute, openFlags(fs).read);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const bytes = Buffer.alloc(MARK_BYTES);
    return bytes.toString('latin1', 0, fs.readSync(fd, bytes, 0, MARK_BYTES, 0));
  } finally {
    closeQuietly(fs, fd);
  }
}

class HeldLock {
  readonly #fs: FileSystem;
  readonly #absolute: string;
  readonly #mark: string;
  readonly #released = new AbortController();
  #isOurs = true;

  constructor(fs: FileSystem, absolute: string, mark: string, env: Env) {
    this.#fs = fs;
    this.#absolute = absolute;
    this.#mark = mark;
    this.#beat(env).catch(() => {
      // Released.
    });
  }

  get isOurs(): boolean {
    return this.#isOurs;
  }

  release(): void {
    this.#released.abort();
    if (!this.#isOurs) return;
    this.#look();
    if (this.#isOurs) unlinkQuietly(this.#fs, this.#absolute);
    this.#isOurs = false;
  }

  /** In real time, whatever clock the caller brings; does not keep the process alive. */
  async #beat(env: Env): Promise<void> {
    while (this.#isOurs) {
      await systemEnv.sleep(STALE_MS / 3, this.#released.signal, true);
      this.#refresh(env);
    }
  }

  #refresh(env: Env): void {
    this.#look();
    if (!this.#isOurs) return;
    const now = new Date(env.now());
    this.#fs.utimes(this.#absolute, now, now, () => {
      // A lock that cannot be refreshed goes stale.
    });
  }

  #look(): void {
    try {
      this.#isOurs = readMark(this.#fs, this.#absolute) === this.#mark;
    } catch {
      this.#isOurs = false;
    }
  }
}

async function makeLockFolder(store: FileStore): Promise<boolean> {
  try {
    await store.createFolder(LOCKS_FOLDER);
    return true;
  } catch {
    return false;
  }
}
