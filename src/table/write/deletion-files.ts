/**
 * `DeletionFiles` writes the deletion files of one attempt of a commit. Fragments passed to
 * `add` share files of up to 1,048,576 deleted rows, so that a change of a thousand fragments
 * flushes only a few files. `write` writes a file for one fragment alone; earlier releases read
 * these too, but not the shared ones. `finish` writes what was added and returns the entries by
 * fragment. `durable`, called after it, resolves when all files are flushed.
 */

import { crc32 } from 'node:zlib';
import { nextRound } from '../../event-loop.ts';
import {
  type DeletionEntry,
  deletionFile,
  deletionsFolder,
  encodeDeletions,
  encodeSharedDeletions,
  sharedDeletionsId,
} from '../../format/index.ts';
import { rememberDeleted } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { writeObject } from '../work/index.ts';

/** Files written at once: each holds a descriptor until it is on disk. */
const AT_ONCE = 16;
/** Deleted rows that one shared file holds at most, of which it keeps 4 bytes each in memory. */
const SHARED_ROWS = 1 << 20;

interface Waiting {
  readonly id: number;
  readonly offsets: Uint32Array;
  /** Rows of the fragment. */
  readonly rows: number;
}

export class DeletionFiles {
  readonly #engine: Engine;
  readonly #folder: string;
  readonly #writes: Promise<void>[] = [];
  readonly #entries = new Map<number, DeletionEntry>();
  /** Flushed one turn later, when the manifest is written too, so that one commit of the disk's journal carries both. */
  readonly #flushing: Promise<void> = nextRound();
  #waiting: Waiting[] = [];
  #waitingRows = 0;

  constructor(engine: Engine, base: Snapshot) {
    this.#engine = engine;
    this.#folder = base.branch.tableFolder;
  }

  /** Rows of a fragment, which may share a file with others that are added. */
  async add(id: number, offsets: Uint32Array, rows: number): Promise<void> {
    if (this.#waitingRows + offsets.length > SHARED_ROWS) await this.#writeWaiting();
    this.#waiting.push({ id, offsets, rows });
    this.#waitingRows += offsets.length;
  }

  /** Writes what was added, and gives the entries by the ids of the fragments. */
  async finish(): Promise<ReadonlyMap<number, DeletionEntry>> {
    await this.#writeWaiting();
    return this.#entries;
  }

  /** A file for one fragment. */
  async write(offsets: Uint32Array, rows: number): Promise<DeletionEntry> {
    const bytes = encodeDeletions(offsets, rows);
    const file = await this.#engine.newObject();
    await this.#begin(file, bytes);
    const entry = { file, rows: offsets.length, bytes: bytes.length, checksum: crc32(bytes) };
    rememberDeleted(this.#engine, entry, offsets);
    return entry;
  }

  async #writeWaiting(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingRows = 0;
    const [only, ...more] = waiting;
    if (only === undefined) return;
    if (more.length === 0) {
      this.#entries.set(only.id, await this.write(only.offsets, only.rows));
      return;
    }
    const { bytes, slices } = encodeSharedDeletions(waiting);
    const file = sharedDeletionsId(await this.#engine.newObject(), bytes);
    await this.#begin(file, bytes);
    for (const [at, { id, offsets }] of waiting.entries()) {
      const entry = { file, rows: offsets.length, ...(slices[at] as (typeof slices)[number]) };
      rememberDeleted(this.#engine, entry, offsets);
      this.#entries.set(id, entry);
    }
  }

  /** Begins to write a file. */
  async #begin(file: string, bytes: Uint8Array): Promise<void> {
    await this.#writes.at(-AT_ONCE);
    const path = deletionFile(this.#folder, file);
    const write = writeObject(this.#engine.store, path, bytes, this.#flushing);
    // Whoever awaits `durable` sees the error; until then it must not count as unhandled.
    write.catch(() => {});
    this.#writes.push(write);
  }

  durable(): Promise<unknown> {
    if (this.#writes.length === 0) return Promise.resolve();
    const folders = [deletionsFolder(this.#folder)];
    const named = this.#flushing.then(() => this.#engine.store.syncFolders(folders));
    const durable = Promise.all([...this.#writes, named]);
    durable.catch(() => {});
    return durable;
  }
}
