/**
 * `FragmentCursor`: walks over the fragments of a snapshot in row order and reads of the list only
 * what is wanted. Runs of fragments that the caller does not want are skipped by their row counts
 * and ids, which manifests and chunk indexes hold. Chunks that are small or have no index are read
 * whole. `next` returns a promise only where it has to wait. What is read is verified and cached;
 * blocks that follow each other are read in growing numbers.
 */
import {
  type ChunkBlock,
  type ChunkEntry,
  chunkFile,
  decodeChunkBlock,
  decodeChunkIndex,
  extentOf,
  type FragmentEntry,
  type FragmentExtent,
  liveRows,
} from '../../format/index.ts';
import type { Awaitable, ObjectReader } from '../../store/index.ts';
import {
  closedOnFailure,
  type Engine,
  openSized,
  readChunk,
  type Snapshot,
} from '../versions/index.ts';
import { andThen, inTurns, Turn } from '../work/index.ts';

/**
 * Whether any fragment of a run is wanted, whose first live row has this position in the version.
 */
export type RunWanted = (run: FragmentExtent, position: number) => boolean;

/** Neighbouring fragments, whose entries may still have to be read. */
interface Run extends FragmentExtent {
  readonly block?: ChunkBlock;
  entries?: readonly FragmentEntry[];
}

/** Chunks of up to so many bytes are read whole: two reads of parts would take as long. */
const WHOLE_CHUNK_BYTES = 1 << 15;
/** Most blocks that are read at once. */
const MOST_BLOCKS = 64;

export class FragmentCursor {
  /** Live rows before the entry that `next` gave last. */
  first = 0;
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #wanted: RunWanted;
  readonly #passed: (run: FragmentExtent) => void;
  #chunk = 0;
  /** The runs of the current chunk, or of the manifest's own entries at the end. */
  #runs: readonly Run[] = [];
  #run = 0;
  #entries: readonly FragmentEntry[] = [];
  #entry = 0;
  /** Live rows before the entry, run or chunk that comes next. */
  #position = 0;
  /** The run after the blocks that were read last, and how many those were. */
  #readTo = -1;
  #readBlocks = 0;

  /** @param passed is told of runs that are passed over */
  constructor(
    engine: Engine,
    snapshot: Snapshot,
    wanted: RunWanted = () => true,
    passed: (run: FragmentExtent) => void = () => {},
  ) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.#wanted = wanted;
    this.#passed = passed;
  }

  /**
   * The next fragment of a wanted run; undefined past the last one.
   * @throws TableVersionNotFound, Corrupt
   */
  next(): Awaitable<FragmentEntry | undefined> {
    while (this.#entry === this.#entries.length) {
      const more = this.#nextEntries();
      if (more instanceof Promise) return more.then((found) => (found ? this.next() : undefined));
      if (!more) return undefined;
    }
    const entry = this.#entries[this.#entry++] as FragmentEntry;
    this.first = this.#position;
    this.#position += liveRows(entry);
    return entry;
  }

  /** False past the last one. */
  #nextEntries(): Awaitable<boolean> {
    for (;;) {
      while (this.#run < this.#runs.length) {
        const at = this.#run++;
        const run = this.#runs[at] as Run;
        if (this.#passes(run)) continue;
        return andThen(this.#entriesOf(at), (entries) => {
          this.#entries = entries;
          this.#entry = 0;
          return true;
        });
      }
      const runs = this.#nextRuns();
      if (runs === undefined) return false;
      if (runs instanceof Promise) return runs.then((found) => this.#enter(found));
      this.#begin(runs);
    }
  }

  #enter(runs: readonly Run[]): Awaitable<boolean> {
    this.#begin(runs);
    return this.#nextEntries();
  }

  #begin(runs: readonly Run[]): void {
    this.#runs = runs;
    this.#run = 0;
    this.#readTo = -1;
    this.#readBlocks = 0;
  }

  #passes(run: FragmentExtent): boolean {
    if (this.#wanted(run, this.#position)) return false;
    this.#passed(run);
    this.#position += run.rows - run.deletedRows;
    return true;
  }

  #nextRuns(): Awaitable<readonly Run[]> | undefined {
    const { chunks, fragments } = this.#snapshot.manifest;
    while (this.#chunk < chunks.length) {
      const chunk = chunks[this.#chunk++] as ChunkEntry;
      if (chunk.index === undefined || !this.#passes({ ...chunk, ...chunk.index })) {
        return this.#runsOf(chunk);
      }
    }
    return this.#chunk++ === chunks.length ? runsOf(fragments) : undefined;
  }

  #runsOf(chunk: ChunkEntry): Awaitable<readonly Run[]> {
    const { cache } = this.#engine;
    const known = cache.get<readonly FragmentEntry[]>(`chunk ${chunk.file}`);
    if (known !== undefined) return runsOf(known);
    const { index } = chunk;
    if (index === undefined || chunk.size <= WHOLE_CHUNK_BYTES) {
      const { tableFolder } = this.#snapshot.branch;
      return readChunk(this.#engine, tableFolder, chunk, this.#snapshot).then(runsOf);
    }
    const key = `blocks ${chunk.file} ${index.checksum}`;
    const blocks = cache.get<readonly ChunkBlock[]>(key);
    if (blocks !== undefined) return blocks.map(runOf);
    return this.#read(chunk, index.offset, index.bytes, (bytes, file) => {
      const found = decodeChunkIndex(bytes, chunk, file);
      cache.set(key, found, bytes.length * 3);
      return found.map(runOf);
    });
  }

  #entriesOf(at: number): Awaitable<readonly FragmentEntry[]> {
    const { block, entries } = this.#runs[at] as Run;
    if (entries !== undefined || block === undefined) return entries ?? [];
    const chunk = this.#snapshot.manifest.chunks[this.#chunk - 1] as ChunkEntry;
    const key = (of: ChunkBlock): string => `block ${chunk.file} ${of.offset} ${of.checksum}`;
    const known = this.#engine.cache.get<readonly FragmentEntry[]>(key(block));
    if (known !== undefined) return known;
    const read = this.#runs.slice(at, at + this.#ahead(at)) as (Run & { block: ChunkBlock })[];
    const last = (read.at(-1) as (typeof read)[0]).block;
    const bytes = last.offset + last.bytes - block.offset;
    return this.#read(chunk, block.offset, bytes, (found, file) => {
      const decode = (run: (typeof read)[0]): readonly FragmentEntry[] => {
        const from = run.block.offset - block.offset;
        const part = found.subarray(from, from + run.block.bytes);
        const decoded = decodeChunkBlock(part, run.block, file);
        this.#engine.cache.set(key(run.block), decoded, run.block.bytes * 3);
        run.entries = decoded;
        return decoded;
      };
      const [first, ...more] = read;
      const decoded = decode(first as (typeof read)[0]);
      if (more.length === 0) return decoded;
      const steps = (function* () {
        for (const run of more) {
          yield;
          decode(run);
        }
        return decoded;
      })();
      return inTurns(new Turn(this.#engine.env), steps, undefined);
    });
  }

  /**
   * How many blocks to read from the run on: twice as many as those right before it, if those were
   * read too.
   */
  #ahead(at: number): number {
    const most = at === this.#readTo ? Math.min(MOST_BLOCKS, 2 * this.#readBlocks) : 1;
    const { rows, deletedRows } = this.#runs[at] as Run;
    let position = this.#position + rows - deletedRows;
    let count = 1;
    for (; count < most; count++) {
      const run = this.#runs[at + count];
      if (run === undefined || !this.#wanted(run, position)) break;
      position += run.rows - run.deletedRows;
    }
    this.#readTo = at + count;
    this.#readBlocks = count;
    return count;
  }

  /** A part of a chunk file. */
  #read<Result>(
    chunk: ChunkEntry,
    offset: number,
    length: number,
    use: (bytes: Uint8Array, file: string) => Awaitable<Result>,
  ): Awaitable<Result> {
    const file = chunkFile(this.#snapshot.branch.tableFolder, chunk.file);
    return andThen(
      openSized(this.#engine, this.#snapshot, file, chunk.size),
      (object: ObjectReader) =>
        andThen(
          closedOnFailure(object, () => object.read(offset, length)),
          (bytes) => {
            object.close();
            return use(bytes, file);
          },
        ),
    );
  }
}

const runOf = (block: ChunkBlock): Run => ({
  fragments: block.fragments,
  rows: block.rows,
  deletedRows: block.deletedRows,
  firstId: block.firstId,
  lastId: block.lastId,
  block,
});

/** Entries of a run that is made of a list in memory. */
const RUN_ENTRIES = 64;
const runLists = new WeakMap<readonly FragmentEntry[], readonly Run[]>();

/** A list in memory in runs, so that most of it is passed over as well. */
function runsOf(entries: readonly FragmentEntry[]): readonly Run[] {
  let runs = runLists.get(entries);
  if (runs === undefined) {
    const made: Run[] = [];
    for (let from = 0; from < entries.length; from += RUN_ENTRIES) {
      const to = Math.min(entries.length, from + RUN_ENTRIES);
      made.push({ ...extentOf(entries, from, to), entries: entries.slice(from, to) });
    }
    runs = made;
    runLists.set(entries, runs);
  }
  return runs;
}
