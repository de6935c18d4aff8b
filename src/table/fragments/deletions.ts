/**
 * `deletedRows`: reads the deletion file of a fragment through the cache and verifies it against
 * the manifest (Corrupt on a mismatch). The result, `DeletedRows`, tells which rows are live.
 * write/delete-rows.ts writes these files; `rememberDeleted` caches what was just written.
 */
import { crc32 } from 'node:zlib';
import {
  type DeletionEntry,
  decodeDeletions,
  deletionFile,
  type FragmentEntry,
} from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Engine, missingFile, type Snapshot } from '../versions/index.ts';

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
    return this.offsets[lowerBound(this.offsets, offset)] === offset;
  }

  /** Deleted rows among `rows` from `first` on. */
  countBetween(first: number, rows: number): number {
    return lowerBound(this.offsets, first + rows) - lowerBound(this.offsets, first);
  }

  /** Live rows among `rows` from `first` on, counted from `first`; undefined when all are. */
  keptBetween(first: number, rows: number): Uint32Array | undefined {
    const from = lowerBound(this.offsets, first);
    const to = lowerBound(this.offsets, first + rows);
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

  /** Those that are live of some rows, ascending and counted from `first`. */
  liveOf(rows: Uint32Array, first: number): Uint32Array {
    const last = rows.at(-1);
    if (last === undefined) return rows;
    const to = lowerBound(this.offsets, first + last + 1);
    let next = lowerBound(this.offsets, first);
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

function lowerBound(sorted: Uint32Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Undefined when the fragment has none. @throws Corrupt */
export function deletedRows(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
): Awaitable<DeletedRows | undefined> {
  const { deletion } = entry;
  if (deletion === undefined) return undefined;
  return (
    engine.cache.get<DeletedRows>(keyOf(deletion)) ?? readDeleted(engine, snapshot, entry, deletion)
  );
}

async function readDeleted(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  deletion: DeletionEntry,
  tries = 1,
): Promise<DeletedRows> {
  const file = deletionFile(snapshot.branch.tableFolder, deletion.file);
  const bytes = await engine.store.get(file);
  if (bytes === undefined) {
    const error = await missingFile(engine, snapshot, file, tries);
    if (error !== undefined) throw error;
    return readDeleted(engine, snapshot, entry, deletion, tries + 1);
  }
  if (bytes.length !== deletion.bytes || crc32(bytes) !== deletion.checksum) {
    throw corrupt(file, 'its bytes do not match its checksum');
  }
  const offsets = decodeDeletions(bytes, entry.rows, file);
  if (offsets.length !== deletion.rows) {
    throw corrupt(file, `it deletes ${offsets.length} rows instead of ${deletion.rows}`);
  }
  return rememberDeleted(engine, deletion, offsets);
}

const keyOf = ({ file, checksum }: DeletionEntry): string => `deletions ${file} ${checksum}`;

/** Of a deletion file that was read and verified, or has just been written. */
export function rememberDeleted(
  engine: Engine,
  deletion: DeletionEntry,
  offsets: Uint32Array,
): DeletedRows {
  const deleted = new DeletedRows(offsets);
  engine.cache.set(keyOf(deletion), deleted, offsets.byteLength + 256);
  return deleted;
}
