/**
 * `deletedRows` finds which rows of a fragment are deleted. It reads the deletion file of the
 * fragment, or its slice of a shared one, through the cache. It throws Corrupt if the bytes differ
 * from what the manifest says (`decodeVerified`), and for a missing file TableVersionNotFound,
 * TableNotFound or Corrupt. The result, `DeletedRows`, tells which rows are live; it is undefined
 * for a fragment without deleted rows. write/deletion-files.ts writes these files and puts what it
 * wrote into the cache (`rememberDeleted`).
 */
import { crc32 } from 'node:zlib';
import { firstAtLeast } from '../../binary-search.ts';
import {
  type DeletionEntry,
  decodeDeletionSlice,
  decodeDeletions,
  deletionFile,
  type FragmentEntry,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Engine, missingFile, type Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';

export class DeletedRows {
  /** Offsets in the fragment, ascending. */
  readonly offsets: Uint32Array;

  constructor(offsets: Uint32Array) {
    this.offsets = offsets;
  }

  /** Offset of the live row that `rank` live rows come before. */
  liveRow(rank: number): number {
    let low = 0;
    let high = this.offsets.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.offsets[middle] as number) - middle <= rank) low = middle + 1;
      else high = middle;
    }
    return rank + low;
  }

  has(offset: number): boolean {
    return this.offsets[firstAtLeast(this.offsets, offset)] === offset;
  }

  /** Deleted rows among `rows` from `first` on. */
  countBetween(first: number, rows: number): number {
    return firstAtLeast(this.offsets, first + rows) - firstAtLeast(this.offsets, first);
  }

  /** Live rows among `rows` from `first` on, counted from `first`; undefined when all are. */
  keptBetween(first: number, rows: number): Uint32Array | undefined {
    const from = firstAtLeast(this.offsets, first);
    const to = firstAtLeast(this.offsets, first + rows);
    if (from === to) return undefined;
    const kept = new Uint32Array(rows - (to - from));
    let row = 0;
    let count = 0;
    for (let next = from; next < to; next++) {
      const deleted = (this.offsets[next] as number) - first;
      while (row < deleted) kept[count++] = row++;
      row += 1;
    }
    while (row < rows) kept[count++] = row++;
    return kept;
  }

  /** The live ones of `rows`, which are ascending and counted from `first`. */
  liveOf(rows: Uint32Array, first: number): Uint32Array {
    const last = rows.at(-1);
    if (last === undefined) return rows;
    const to = firstAtLeast(this.offsets, first + last + 1);
    let next = firstAtLeast(this.offsets, first);
    if (next === to) return rows;
    const live = new Uint32Array(rows.length);
    let count = 0;
    for (const row of rows) {
      const offset = first + row;
      while (next < to && (this.offsets[next] as number) < offset) next++;
      if (next === to || this.offsets[next] !== offset) live[count++] = row;
    }
    return live.subarray(0, count);
  }
}

/** Undefined when the fragment has none. @throws Corrupt */
export function deletedRows(
  engine: Engine,
  snapshot: Snapshot,
  entry: Pick<FragmentEntry, 'rows' | 'deletion'>,
): Awaitable<DeletedRows | undefined> {
  const { deletion } = entry;
  if (deletion === undefined) return undefined;
  return (
    engine.cache.get<DeletedRows>(keyOf(deletion)) ?? readDeleted(engine, snapshot, entry, deletion)
  );
}

function readDeleted(
  engine: Engine,
  snapshot: Snapshot,
  { rows }: Pick<FragmentEntry, 'rows'>,
  deletion: DeletionEntry,
): Awaitable<DeletedRows> {
  const file = deletionFile(snapshot.branch.tableFolder, deletion.file);
  const read = deletion.offset === undefined ? wholeFile : sliceOf;
  return andThen(read(engine, snapshot, deletion, file), (bytes) =>
    rememberDeleted(engine, deletion, decodeVerified(bytes, deletion, rows, file)),
  );
}

/**
 * The deleted rows in a file, or in its slice of a shared one.
 * @throws Corrupt where the bytes are others than the entry says
 */
export function decodeVerified(
  bytes: Uint8Array,
  deletion: DeletionEntry,
  rows: number,
  file: string,
): Uint32Array {
  if (bytes.length !== deletion.bytes || crc32(bytes) !== deletion.checksum) {
    throw corrupt(file, 'its bytes do not match its checksum');
  }
  const decode = deletion.offset === undefined ? decodeDeletions : decodeDeletionSlice;
  const offsets = decode(bytes, rows, file);
  if (offsets.length !== deletion.rows) {
    throw corrupt(file, `it deletes ${offsets.length} rows instead of ${deletion.rows}`);
  }
  return offsets;
}

async function wholeFile(
  engine: Engine,
  snapshot: Snapshot,
  deletion: DeletionEntry,
  file: string,
  tries = 1,
): Promise<Uint8Array> {
  const bytes = await engine.store.get(file);
  if (bytes !== undefined) return bytes;
  const error = await missingFile(engine, snapshot, file, tries);
  if (error !== undefined) throw error;
  return wholeFile(engine, snapshot, deletion, file, tries + 1);
}

/** A part of a shared file, not verified yet. */
interface SliceWindow {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** Reading goes on behind a slice so far: the next fragments have the next slices. */
const WINDOW_BYTES = 65_536;

/** The window that was read last of each shared file is kept, so neighbours read the file once. */
function sliceOf(
  engine: Engine,
  snapshot: Snapshot,
  deletion: DeletionEntry,
  file: string,
): Awaitable<Uint8Array> {
  const { offset = 0, bytes: length } = deletion;
  const key = `deletions of ${deletion.file}`;
  const known = engine.cache.get<SliceWindow>(key);
  const start = known === undefined ? -1 : offset - known.start;
  if (known !== undefined && start >= 0 && start + length <= known.bytes.length)
    return known.bytes.subarray(start, start + length);
  return andThen(readWindow(engine, snapshot, file, offset, length), (bytes) => {
    engine.cache.set(key, { start: offset, bytes } satisfies SliceWindow, bytes.length + 256);
    return bytes.subarray(0, length);
  });
}

async function readWindow(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
  offset: number,
  length: number,
  tries = 1,
): Promise<Uint8Array> {
  const object = await engine.store.open(file);
  if (object === undefined) {
    const error = await missingFile(engine, snapshot, file, tries);
    if (error !== undefined) throw error;
    return readWindow(engine, snapshot, file, offset, length, tries + 1);
  }
  try {
    const ahead = Math.min(WINDOW_BYTES, object.size - offset);
    return await object.read(offset, Math.max(length, ahead));
  } finally {
    object.close();
  }
}

const keyOf = ({ file, checksum, offset = 0 }: DeletionEntry): string =>
  `deletions ${file} ${checksum} ${offset}`;

/** Caches the offsets of a deletion file that was read and verified, or has just been written. */
export function rememberDeleted(
  engine: Engine,
  deletion: DeletionEntry,
  offsets: Uint32Array,
): DeletedRows {
  const deleted = new DeletedRows(offsets);
  engine.cache.set(keyOf(deletion), deleted, offsets.byteLength + 256);
  return deleted;
}
