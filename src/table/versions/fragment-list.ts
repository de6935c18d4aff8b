/**
 * `editFragments`: computes the list of fragments for the next version by adding, replacing and
 * removing entries. Once a manifest lists 32 entries itself, they move into chunk files that
 * versions share, so that manifests do not grow with history. `fragmentListOf` takes the list from
 * a manifest.
 */
import {
  type ChunkEntry,
  chunkFile,
  chunksFolder,
  encodeChunkInSteps,
  type FragmentEntry,
  featuresOf,
  isReadByLance,
  liveRows,
  type Manifest,
  storedBytes,
  type Totals,
} from '../../format/index.ts';
import { inTurns, Turn, writeObject } from '../work/index.ts';
import type { Engine } from './engine.ts';
import { readChunk } from './snapshot.ts';

/** Entries a manifest lists itself before they are rolled into a chunk. */
const TAIL_ENTRIES = 32;
/** This many neighbouring chunks of one size class are merged into one. */
const FAN = 16;
/**
 * Unless that makes more bytes: entries of very many columns are long, and a document has a limit.
 */
const LARGEST_MERGED = 1 << 24;

export interface FragmentList {
  readonly chunks: readonly ChunkEntry[];
  readonly tail: readonly FragmentEntry[];
  readonly totals: Totals;
}

export const EMPTY_FRAGMENTS: FragmentList = {
  chunks: [],
  tail: [],
  totals: { rows: 0, deletedRows: 0, bytes: 0, fragments: 0 },
};

export const fragmentListOf = (manifest: Manifest): FragmentList => ({
  chunks: manifest.chunks,
  tail: manifest.fragments,
  totals: manifest.totals,
});

/** What changes between two versions, by fragment id. */
export interface FragmentEdits {
  /** Entries that take the place of those with the same id. */
  readonly replaced?: ReadonlyMap<number, FragmentEntry>;
  readonly removed?: ReadonlySet<number>;
  /** Entries that stand where the one with this id stood; the rest of its run is `removed`. */
  readonly spliced?: ReadonlyMap<number, readonly FragmentEntry[]>;
  readonly added?: readonly FragmentEntry[];
}

/**
 * Applies edits and writes the chunk files that the new list needs. Those are new objects nobody
 * refers to yet; a commit that loses leaves them to cleanup.
 */
export async function editFragments(
  engine: Engine,
  tableFolder: string,
  list: FragmentList,
  edits: FragmentEdits,
): Promise<FragmentList> {
  const writer = new ChunkWriter(engine, tableFolder);
  const touched = new Set([
    ...(edits.replaced?.keys() ?? []),
    ...(edits.removed ?? []),
    ...(edits.spliced?.keys() ?? []),
  ]);
  let { chunks, tail } = list;
  let totals = list.totals;
  const edit = (entries: readonly FragmentEntry[]): FragmentEntry[] =>
    entries.flatMap((entry) => {
      if (!touched.has(entry.id)) return [entry];
      totals = addTotals(totals, entry, -1);
      const replacement = edits.replaced?.get(entry.id);
      const now = replacement === undefined ? (edits.spliced?.get(entry.id) ?? []) : [replacement];
      for (const added of now) totals = addTotals(totals, added, 1);
      return now;
    });

  if (touched.size > 0) {
    const pieces = new Pieces();
    for (const chunk of chunks) {
      if (!mayHold(chunk, touched)) {
        pieces.keep(chunk);
        continue;
      }
      const before = await readChunk(engine, tableFolder, chunk);
      if (before.some((entry) => touched.has(entry.id))) pieces.rewrite(edit(before));
      else pieces.keep(chunk);
    }
    const parts = pieces.finish();
    chunks = await Promise.all(
      parts.chunks.map((part) => ('file' in part ? part : writer.write(part))),
    );
    tail = [...parts.rest, ...edit(tail)];
  }
  for (const entry of edits.added ?? []) totals = addTotals(totals, entry, 1);
  tail = [...tail, ...(edits.added ?? [])];

  if (tail.length >= TAIL_ENTRIES) {
    chunks = await mergeChunks([...chunks, await writer.write(tail)], writer);
    tail = [];
  }
  return { chunks, tail, totals };
}

function addTotals(totals: Totals, entry: FragmentEntry, sign: 1 | -1): Totals {
  const lanceFragments = (totals.lanceFragments ?? 0) + (isReadByLance(entry) ? sign : 0);
  const features = addFeatures(totals.features, featuresOf(entry), sign);
  return {
    rows: totals.rows + sign * entry.rows,
    deletedRows: totals.deletedRows + sign * (entry.rows - liveRows(entry)),
    bytes: totals.bytes + sign * (storedBytes(entry) + (entry.deletion?.bytes ?? 0)),
    fragments: totals.fragments + sign,
    ...(lanceFragments === 0 ? {} : { lanceFragments }),
    ...(features === undefined ? {} : { features }),
  };
}

/** Counts names; one that nothing needs any more is left out. */
function addFeatures(
  counts: Totals['features'],
  names: readonly string[],
  sign: 1 | -1,
): Totals['features'] {
  if (names.length === 0) return counts;
  const sums = new Map(Object.entries(counts ?? {}));
  for (const name of names) sums.set(name, (sums.get(name) ?? 0) + sign);
  const left = [...sums].filter(([, count]) => count !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

function mayHold(chunk: ChunkEntry, ids: ReadonlySet<number>): boolean {
  for (const id of ids) if (id >= chunk.firstId && id <= chunk.lastId) return true;
  return false;
}

/**
 * What edited chunks become. Neighbours that were left with few entries are joined, and what stands
 * at the end joins the tail, so that a list that shrank does not keep a chunk for every entry.
 */
class Pieces {
  readonly #chunks: (ChunkEntry | readonly FragmentEntry[])[] = [];
  #open: FragmentEntry[] = [];

  keep(chunk: ChunkEntry): void {
    this.#close();
    this.#chunks.push(chunk);
  }

  rewrite(entries: readonly FragmentEntry[]): void {
    for (const entry of entries) this.#open.push(entry);
    if (this.#open.length >= TAIL_ENTRIES) this.#close();
  }

  finish(): {
    readonly chunks: readonly (ChunkEntry | readonly FragmentEntry[])[];
    readonly rest: readonly FragmentEntry[];
  } {
    return { chunks: this.#chunks, rest: this.#open };
  }

  #close(): void {
    if (this.#open.length > 0) this.#chunks.push(this.#open);
    this.#open = [];
  }
}

const sizeClass = (chunk: ChunkEntry): number =>
  Math.floor(Math.log(Math.max(chunk.fragments, 1) / TAIL_ENTRIES) / Math.log(FAN) + 1e-9);

async function mergeChunks(
  chunks: readonly ChunkEntry[],
  writer: ChunkWriter,
): Promise<readonly ChunkEntry[]> {
  const run = chunks.slice(-FAN);
  const last = run.at(-1);
  if (run.length < FAN || last === undefined) return chunks;
  if (run.some((chunk) => sizeClass(chunk) !== sizeClass(last))) return chunks;
  if (run.reduce((bytes, { size }) => bytes + size, 0) > LARGEST_MERGED) return chunks;
  const merged = await writer.merge(run);
  return mergeChunks([...chunks.slice(0, -FAN), merged], writer);
}

class ChunkWriter {
  readonly #engine: Engine;
  readonly #tableFolder: string;
  /** Just written in this edit: not yet in the store's cache. */
  readonly #written = new Map<string, readonly FragmentEntry[]>();

  constructor(engine: Engine, tableFolder: string) {
    this.#engine = engine;
    this.#tableFolder = tableFolder;
  }

  async write(entries: readonly FragmentEntry[]): Promise<ChunkEntry> {
    const file = await this.#engine.newObject();
    const turn = new Turn(this.#engine.env);
    const { bytes, entry } = await inTurns(turn, encodeChunkInSteps(file, entries), undefined);
    await writeObject(this.#engine.store, chunkFile(this.#tableFolder, entry.file), bytes);
    await this.#engine.store.syncFolders([chunksFolder(this.#tableFolder)]);
    this.#written.set(entry.file, entries);
    this.#engine.cache.set(`chunk ${entry.file}`, entries, bytes.length * 3);
    return entry;
  }

  async merge(run: readonly ChunkEntry[]): Promise<ChunkEntry> {
    const all: FragmentEntry[] = [];
    for (const chunk of run) {
      const entries =
        this.#written.get(chunk.file) ?? (await readChunk(this.#engine, this.#tableFolder, chunk));
      all.push(...entries);
    }
    return this.write(all);
  }
}
