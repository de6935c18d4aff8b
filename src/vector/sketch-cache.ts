/**
 * `SketchCache` keeps the sketches of batches of vectors in bounded memory, for all catalogs that
 * share it; `SketchScope` gives one catalog its own keys. Each search has to call `begin`. `get`
 * returns undefined for a batch without a sketch, and null while the sketch is set aside because
 * searches told `judge` that it was of no use. `admit` returns a place for the sketch of a batch
 * that is searched again; the caller then has to call `made`, also after a failure. It returns
 * undefined for the first search of a batch, if another search makes its sketch, and if there is no
 * room. If room is needed, a part of the memory (`Segment`) that 32 searches did not use is evicted
 * as a whole. Evicted memory is not used again, so a running search may finish with an evicted
 * sketch.
 */
import { reserve } from './residents.ts';
import { SKETCHES_AT } from './sieve.ts';
import type { PartitionKernels, Sketch, SketchPlace } from './sketch.ts';

/**
 * Segments that so many searches in a row did not use may be evicted. Fewer, and searches of
 * several tables in turn would make anew what the others' evicted. If the sketches of a table do
 * not all fit, those that fit stay, and a search reads the vectors of the other batches.
 */
export const UNUSED_SEARCHES = 32;
/** Searches of a sketch in a row that had to measure many rows after all, until it is set aside. */
const PATIENCE = 3;
/** Every so many searches it is tried again: queries differ, and so do their filters. */
const TRIED_AGAIN = 16;
/** Batches remembered that were searched once. */
const SEEN = 16_384;
/**
 * The memory of a segment, which is larger only where a single sketch is; the system gives it as it
 * is used.
 */
const SEGMENT_BYTES = 32 * 1024 * 1024;
const PAGE = 65_536;
const ALIGNMENT = 64;

interface Segment {
  readonly kernels: PartitionKernels;
  readonly entries: Map<string, Entry>;
  /** Where the next sketch begins. */
  end: number;
  /** The number of the last search that used it. */
  used: number;
}

/** A place that was given to be filled. */
interface Making {
  readonly segment: Segment;
  readonly begin: number;
  readonly end: number;
}

interface Entry {
  readonly sketch: Sketch;
  readonly segment: Segment;
  /** Searches in a row that it was of no use to, or that it was set aside for. */
  useless: number;
}

export class SketchCache {
  /** Most bytes held. */
  readonly limit: number;
  readonly #entries = new Map<string, Entry>();
  /** The one that is being filled last. */
  readonly #segments: Segment[] = [];
  readonly #seen = new Set<string>();
  /** Batches whose sketch a search is making, and where. */
  readonly #making = new Map<string, Making>();
  #searches = 0;
  #scopes = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes of all segments, used or not yet. */
  get used(): number {
    return this.#segments.reduce((sum, segment) => sum + bytesOf(segment), 0);
  }

  /** The sketches of one catalog. */
  scope(): SketchScope {
    this.#scopes += 1;
    return new SketchScope(this, `${this.#scopes} `);
  }

  /** A search begins. */
  begin(): void {
    this.#searches += 1;
  }

  /**
   * The sketch of a batch; null where it is set aside as of no use, undefined where there is none.
   */
  get(key: string): Sketch | null | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.segment.used = this.#searches;
    if (entry.useless < PATIENCE || entry.useless % TRIED_AGAIN === 0) return entry.sketch;
    entry.useless += 1;
    return null;
  }

  /**
   * Where the caller is to make the sketch of a batch, of so many bytes with what is read past it;
   * the caller then has to call `made`. Undefined where the batch was not searched before, lately,
   * where there is no room, or where another search is making it. Notes the search.
   * @param openMemory as Sketching's
   */
  admit(key: string, bytes: number, openMemory: () => PartitionKernels): SketchPlace | undefined {
    if (this.limit === 0 || this.#entries.has(key) || this.#making.has(key)) return undefined;
    if (!this.#seen.delete(key)) {
      if (this.#seen.size === SEEN) this.#seen.delete(this.#seen.values().next().value as string);
      this.#seen.add(key);
      return undefined;
    }
    this.#seen.add(key);
    const segment = this.#segmentFor(bytes, openMemory);
    if (segment === undefined) return undefined;
    const { kernels, end: at } = segment;
    segment.end = at + Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    segment.used = this.#searches;
    this.#making.set(key, { segment, begin: at, end: segment.end });
    return { kernels, at };
  }

  /** Keeps the sketch that was made in the place given; undefined where it could not be made. */
  made(key: string, sketch: Sketch | undefined): void {
    const making = this.#making.get(key);
    this.#making.delete(key);
    if (making === undefined) return;
    const { segment, begin, end } = making;
    if (sketch === undefined) {
      // The place of another one may follow; then this one is free when the segment is evicted.
      if (segment.end === end) segment.end = begin;
      return;
    }
    if (!this.#segments.includes(segment)) return;
    const entry = { sketch, segment, useless: 0 };
    segment.entries.set(key, entry);
    this.#entries.set(key, entry);
  }

  /** Tells whether measuring the candidates of a sketch alone was worth it. */
  judge(key: string, useful: boolean): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.useless = useful ? 0 : entry.useless + 1;
  }

  /** A segment with room for so many bytes; undefined where there is none and can be none. */
  #segmentFor(bytes: number, openMemory: () => PartitionKernels): Segment | undefined {
    const last = this.#segments.at(-1);
    if (last !== undefined && last.end + bytes <= bytesOf(last)) return last;
    const needed = Math.ceil((SKETCHES_AT + bytes) / PAGE) * PAGE;
    if (needed > this.limit) return undefined;
    while (this.used + needed > this.limit) {
      const unused = this.#segments.findIndex(
        (segment) => segment.used + UNUSED_SEARCHES <= this.#searches,
      );
      if (unused < 0) return undefined;
      const [evicted] = this.#segments.splice(unused, 1);
      for (const key of (evicted as Segment).entries.keys()) this.#entries.delete(key);
    }
    const most = Math.floor(Math.min(SEGMENT_BYTES, this.limit - this.used) / PAGE) * PAGE;
    try {
      const kernels = openMemory();
      // All at once: each time it grows counts as much garbage as it has bytes.
      reserve(kernels.memory, Math.max(needed, most));
      const segment = { kernels, entries: new Map(), end: SKETCHES_AT, used: this.#searches };
      this.#segments.push(segment);
      return segment;
    } catch (error) {
      // The system gave no more memory for kernels, so searches do without the sketch.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }
}

const bytesOf = ({ kernels }: Segment): number => kernels.memory.buffer.byteLength;

/** The sketches of one catalog, whose files may have the names of another's. */
export class SketchScope {
  readonly #cache: SketchCache;
  readonly #prefix: string;

  constructor(cache: SketchCache, prefix: string) {
    this.#cache = cache;
    this.#prefix = prefix;
  }

  /** A search begins. */
  begin(): void {
    this.#cache.begin();
  }

  /** As SketchCache's. */
  get(key: string): Sketch | null | undefined {
    return this.#cache.get(this.#prefix + key);
  }

  /** As SketchCache's. */
  admit(key: string, bytes: number, openMemory: () => PartitionKernels): SketchPlace | undefined {
    return this.#cache.admit(this.#prefix + key, bytes, openMemory);
  }

  /** As SketchCache's. */
  made(key: string, sketch: Sketch | undefined): void {
    this.#cache.made(this.#prefix + key, sketch);
  }

  /** As SketchCache's. */
  judge(key: string, useful: boolean): void {
    this.#cache.judge(this.#prefix + key, useful);
  }
}
