/**
 * `FragmentCursor` iterates over the fragments of a snapshot in row order. A run is some
 * neighbouring fragments. The caller tells by the row counts and ids of a run whether it wants any
 * of them; the cursor skips all other runs. Manifests and chunk indexes hold these numbers, so most
 * of a long list need not be read. `next` returns the next fragment, or undefined at the end, and a
 * promise only if it has to wait. `first` is the number of live rows before the fragment that
 * `next` returned last. Missing and damaged chunks throw TableVersionNotFound and Corrupt.
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
  blockKey,
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
type Run = ChunkBlock | ListedRun;

/** Neighbours whose entries are at hand. */
interface ListedRun extends FragmentExtent {
  readonly entries: readonly FragmentEntry[];
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
  /** The run that follows the blocks read last, and the number of these blocks. */
  #readTo = -1;
  #readBlocks = 0;
  /** Entries of runs of the current chunk that were read with one before them. */
  readonly #ahead = new Map<number, readonly FragmentEntry[]>();

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
    this.#ahead.clear();
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
    if (blocks !== undefined) return blocks;
    return this.#read(chunk, index.offset, index.bytes, (bytes, file) => {
      const found = decodeChunkIndex(bytes, chunk, file);
      cache.set(key, found, bytes.length * 3);
      return found;
    });
  }

  #entriesOf(at: number): Awaitable<readonly FragmentEntry[]> {
    const run = this.#runs[at] as Run;
    if ('entries' in run) return run.entries;
    const ahead = this.#ahead.get(at);
    if (ahead !== undefined) {
      this.#ahead.delete(at);
      return ahead;
    }
    const chunk = this.#snapshot.manifest.chunks[this.#chunk - 1] as ChunkEntry;
    const known = this.#engine.cache.get<readonly FragmentEntry[]>(blockKey(chunk, run));
    if (known !== undefined) return known;
    const read = this.#runs.slice(at, at + this.#blocksFrom(at)) as ChunkBlock[];
    const last = read.at(-1) as ChunkBlock;
    const bytes = last.offset + last.bytes - run.offset;
    return this.#read(chunk, run.offset, bytes, (found, file) => {
      const decode = (block: ChunkBlock): readonly FragmentEntry[] => {
        const from = block.offset - run.offset;
        const decoded = decodeChunkBlock(found.subarray(from, from + block.bytes), block, file);
        this.#engine.cache.set(blockKey(chunk, block), decoded, block.bytes * 3);
        return decoded;
      };
      const decoded = decode(run);
      if (read.length === 1) return decoded;
      const ahead = this.#ahead;
      const steps = (function* () {
        for (let next = 1; next < read.length; next++) {
          yield;
          ahead.set(at + next, decode(read[next] as ChunkBlock));
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
  #blocksFrom(at: number): number {
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

/** Entries of a run that is made of a list in memory. */
const RUN_ENTRIES = 64;
const runLists = new WeakMap<readonly FragmentEntry[], readonly ListedRun[]>();

/** A list in memory in runs, so that most of it is passed over as well. */
function runsOf(entries: readonly FragmentEntry[]): readonly ListedRun[] {
  let runs = runLists.get(entries);
  if (runs === undefined) {
    const made: ListedRun[] = [];
    for (let from = 0; from < entries.length; from += RUN_ENTRIES) {
      const to = Math.min(entries.length, from + RUN_ENTRIES);
      made.push({ ...extentOf(entries, from, to), entries: entries.slice(from, to) });
    }
    runs = made;
    runLists.set(entries, runs);
  }
  return runs;
}
