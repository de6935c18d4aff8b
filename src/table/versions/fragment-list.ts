/**
 * `editFragments` computes the list of fragments of the next version, and its totals, from edits
 * that replace, remove, splice and add entries. A manifest lists fewer than 32 entries itself; from
 * 32 on, entries move into chunk files that versions share, so that manifests stay short.
 * `editFragments` writes and flushes the chunk files that the new list needs; if the commit fails,
 * cleanup removes them. `fragmentListOf` takes the list from a manifest, and `EMPTY_FRAGMENTS` is a
 * list of none.
 */
import {
  type ChunkBlock,
  type ChunkEntry,
  chunkFile,
  chunksFolder,
  decodeChunkBlock,
  decodeChunkIndex,
  type EncodedBlock,
  encodeChunkInSteps,
  type FragmentEntry,
  featuresOf,
  isReadByLance,
  isWorthCopying,
  liveRows,
  type Manifest,
  storedBytes,
  type Totals,
  verifyChunkBlock,
} from '../../format/index.ts';
import { inTurns, Turn, writeObject } from '../work/index.ts';
import type { Engine } from './engine.ts';
import { blockKey, readChunk } from './snapshot.ts';

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
      const before = await openChunk(engine, tableFolder, chunk);
      const isTouched = (entry: FragmentEntry): boolean => touched.has(entry.id);
      if (before.entries.some(isTouched)) pieces.rewrite(edited(before, isTouched, edit));
      else pieces.keep(chunk);
    }
    const parts = pieces.finish();
    chunks = await Promise.all(
      parts.chunks.map((part) => ('file' in part ? part : writer.write(part))),
    );
    tail = [...parts.rest.entries, ...edit(tail)];
  }
  for (const entry of edits.added ?? []) totals = addTotals(totals, entry, 1);
  tail = [...tail, ...(edits.added ?? [])];

  if (tail.length >= TAIL_ENTRIES) {
    chunks = await mergeChunks([...chunks, await writer.write(listed(tail))], writer);
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
  readonly #chunks: (ChunkEntry | ChunkDraft)[] = [];
  #open = listed([]);

  keep(chunk: ChunkEntry): void {
    this.#close();
    this.#chunks.push(chunk);
  }

  rewrite(draft: ChunkDraft): void {
    addDraft(this.#open, draft);
    if (this.#open.entries.length >= TAIL_ENTRIES) this.#close();
  }

  finish(): { readonly chunks: readonly (ChunkEntry | ChunkDraft)[]; readonly rest: ChunkDraft } {
    return { chunks: this.#chunks, rest: this.#open };
  }

  #close(): void {
    if (this.#open.entries.length > 0) this.#chunks.push(this.#open);
    this.#open = listed([]);
  }
}

/**
 * The content of a new chunk: entries, and the blocks that are copied by the index of their first
 * one.
 */
interface ChunkDraft {
  readonly entries: FragmentEntry[];
  readonly encoded: Map<number, EncodedBlock>;
}

const listed = (entries: readonly FragmentEntry[]): ChunkDraft => ({
  entries: [...entries],
  encoded: new Map(),
});

function addDraft(to: ChunkDraft, { entries, encoded }: ChunkDraft): void {
  const from = to.entries.length;
  for (const entry of entries) to.entries.push(entry);
  for (const [at, block] of encoded) to.encoded.set(from + at, block);
}

/** A draft of the edited entries: blocks without an entry that is touched are copied. */
function edited(
  { entries, encoded }: ChunkDraft,
  isTouched: (entry: FragmentEntry) => boolean,
  edit: (entries: readonly FragmentEntry[]) => readonly FragmentEntry[],
): ChunkDraft {
  const draft = listed([]);
  let from = 0;
  for (const [at, known] of encoded) {
    const to = at + known.block.fragments;
    const within = entries.slice(at, to);
    if (within.some(isTouched)) continue;
    addDraft(draft, listed(edit(entries.slice(from, at))));
    addDraft(draft, { entries: within, encoded: new Map([[0, known]]) });
    from = to;
  }
  addDraft(draft, listed(edit(entries.slice(from))));
  return draft;
}

/**
 * The entries of one block, which a scan before the change has often read. Its text is verified
 * anyway.
 */
function blockEntries(
  engine: Engine,
  chunk: ChunkEntry,
  block: ChunkBlock,
  text: Uint8Array,
  file: string,
): readonly FragmentEntry[] {
  const known = engine.cache.get<readonly FragmentEntry[]>(blockKey(chunk, block));
  if (known === undefined) return decodeChunkBlock(text, block, file);
  verifyChunkBlock(text, block, file);
  return known;
}

/** Encoding the entries of a smaller chunk takes no longer than reading its text. */
const COPIED_FROM_BYTES = 1 << 15;

/**
 * The entries of a chunk with the text of its blocks: most of a long chunk that is written anew is
 * as it was. Blocks are read from the disk and verified.
 */
async function openChunk(
  engine: Engine,
  tableFolder: string,
  chunk: ChunkEntry,
): Promise<ChunkDraft> {
  const { index, size } = chunk;
  const file = chunkFile(tableFolder, chunk.file);
  const bytes =
    index === undefined || size < COPIED_FROM_BYTES ? undefined : await engine.store.get(file);
  if (index === undefined || bytes === undefined) {
    return listed(await readChunk(engine, tableFolder, chunk));
  }
  const place = bytes.subarray(index.offset, index.offset + index.bytes);
  const blocks = decodeChunkIndex(place, chunk, file);
  const draft = listed(engine.cache.get<readonly FragmentEntry[]>(`chunk ${chunk.file}`) ?? []);
  const isKnown = draft.entries.length > 0;
  const steps = (function* () {
    let at = 0;
    for (const block of blocks) {
      const text = bytes.subarray(block.offset, block.offset + block.bytes);
      if (isKnown) verifyChunkBlock(text, block, file);
      else draft.entries.push(...blockEntries(engine, chunk, block, text, file));
      if (isWorthCopying(block)) draft.encoded.set(at, { block, bytes: text });
      at += block.fragments;
      yield;
    }
    return draft;
  })();
  return inTurns(new Turn(engine.env), steps, undefined);
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
  /** Written in this edit, whether or not the cache keeps them. */
  readonly #written = new Map<string, readonly FragmentEntry[]>();

  constructor(engine: Engine, tableFolder: string) {
    this.#engine = engine;
    this.#tableFolder = tableFolder;
  }

  async write({ entries, encoded }: ChunkDraft): Promise<ChunkEntry> {
    const file = await this.#engine.newObject();
    const turn = new Turn(this.#engine.env);
    const steps = encodeChunkInSteps(file, entries, encoded);
    const { bytes, entry } = await inTurns(turn, steps, undefined);
    await writeObject(this.#engine.store, chunkFile(this.#tableFolder, entry.file), bytes);
    await this.#engine.store.syncFolders([chunksFolder(this.#tableFolder)]);
    this.#written.set(entry.file, entries);
    this.#engine.cache.set(`chunk ${entry.file}`, entries, bytes.length * 3);
    return entry;
  }

  async merge(run: readonly ChunkEntry[]): Promise<ChunkEntry> {
    const all = listed([]);
    for (const chunk of run) {
      const written = this.#written.get(chunk.file);
      const draft = written && listed(written);
      addDraft(all, draft ?? (await openChunk(this.#engine, this.#tableFolder, chunk)));
    }
    return this.write(all);
  }
}
