/**
 * `SketchCache`: keeps the sketches of batches of vectors within a number of bytes, for all searches of
 * the catalogs that share it. A sketch is made on the second search of its batch. It is never evicted
 * while searches use it: of a table whose sketches do not all fit, those that fit stay, and a search
 * reads the vectors of the rest. `SketchScope` gives one catalog keys of its own.
 *
 * Sketches lie in memories of kernels (`Segment`), where they are sifted without being copied. A segment
 * is filled from its beginning and evicted as a whole. Its memory is never used again, so that a search
 * may go on with a sketch that was evicted meanwhile; it is freed once nothing refers to it.
 */
import { reserve } from './residents.ts';
import { SKETCHES_AT } from './sieve.ts';
import { groupBytes, type NewSketch, type Sketch, type SketchKernels } from './sketch.ts';

/**
 * Segments that so many searches in a row did not use may be evicted. Fewer, and searches of several
 * tables in turn would make anew what the others' evicted.
 */
export const UNUSED_SEARCHES = 32;
/** Searches of a sketch in a row that had to measure many rows after all, until it is set aside. */
const PATIENCE = 3;
/** Every so many searches it is tried again: queries differ, and so do their filters. */
const TRIED_AGAIN = 16;
/** Batches remembered that were searched once. */
const SEEN = 16_384;
/** A segment is full from here on; one that holds a larger sketch holds nothing else. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
const ALIGNMENT = 64;

interface Segment {
  readonly kernels: SketchKernels;
  readonly entries: Map<string, Entry>;
  /** Where the next sketch begins. */
  end: number;
  /** The number of the last search that used it. */
  used: number;
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
  /** Batches whose sketch a search is making. */
  readonly #making = new Set<string>();
  #searches = 0;
  #scopes = 0;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.limit = limit;
  }

  /** Bytes held. */
  get used(): number {
    return this.#segments.reduce((sum, { kernels }) => sum + kernels.memory.buffer.byteLength, 0);
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

  /** The sketch of a batch; null where it is set aside as of no use, undefined where there is none. */
  get(key: string): Sketch | null | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.segment.used = this.#searches;
    if (entry.useless < PATIENCE || entry.useless % TRIED_AGAIN === 0) return entry.sketch;
    entry.useless += 1;
    return null;
  }

  /**
   * Whether the caller is to make the sketch of a batch, of so many bytes: it was searched before,
   * lately, there is room, and no other search is making it. The caller then has to call `made`. Notes
   * the search.
   */
  admits(key: string, bytes: number): boolean {
    if (this.limit === 0 || this.#entries.has(key) || this.#making.has(key)) return false;
    if (!this.#seen.delete(key)) {
      if (this.#seen.size === SEEN) this.#seen.delete(this.#seen.values().next().value as string);
      this.#seen.add(key);
      return false;
    }
    this.#seen.add(key);
    if (!this.#hasRoom(bytes)) return false;
    this.#making.add(key);
    return true;
  }

  /** Keeps a sketch, where there is still room for it; undefined where it could not be made. */
  made(key: string, sketch: NewSketch | undefined): void {
    this.#making.delete(key);
    if (sketch === undefined) return;
    const { bytes, rows, dimension, sketching } = sketch;
    if (!this.#hasRoom(bytes.length)) return;
    try {
      let segment = this.#segments.at(-1);
      if (segment === undefined || !this.#fits(segment, bytes.length)) {
        const kernels = sketching.openMemory();
        segment = { kernels, entries: new Map(), end: SKETCHES_AT, used: 0 };
        this.#segments.push(segment);
      }
      const { kernels, end: at } = segment;
      reserve(kernels.memory, at + bytes.length + groupBytes(dimension));
      new Uint8Array(kernels.memory.buffer).set(bytes, at);
      segment.end = at + Math.ceil(bytes.length / ALIGNMENT) * ALIGNMENT;
      segment.used = this.#searches;
      const entry = { sketch: { rows, dimension, kernels, at }, segment, useless: 0 };
      segment.entries.set(key, entry);
      this.#entries.set(key, entry);
    } catch (error) {
      // The system has no more memory of this kind: searches do without the sketch.
      if (!(error instanceof RangeError)) throw error;
    }
  }

  /** Tells whether measuring the candidates of a sketch alone was worth it. */
  judge(key: string, useful: boolean): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.useless = useful ? 0 : entry.useless + 1;
  }

  #fits({ end }: Segment, bytes: number): boolean {
    return end + bytes <= Math.min(SEGMENT_BYTES, this.limit);
  }

  /** Makes room for a sketch of so many bytes where that is possible. */
  #hasRoom(bytes: number): boolean {
    const needed = bytes + SKETCHES_AT + ALIGNMENT;
    if (needed > this.limit) return false;
    while (this.used + needed > this.limit) {
      const unused = this.#segments.findIndex(
        (segment) => segment.used + UNUSED_SEARCHES <= this.#searches,
      );
      if (unused < 0) return false;
      const [evicted] = this.#segments.splice(unused, 1);
      for (const key of (evicted as Segment).entries.keys()) this.#entries.delete(key);
    }
    return true;
  }
}

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
  admits(key: string, bytes: number): boolean {
    return this.#cache.admits(this.#prefix + key, bytes);
  }

  /** As SketchCache's. */
  made(key: string, sketch: NewSketch | undefined): void {
    this.#cache.made(this.#prefix + key, sketch);
  }

  /** As SketchCache's. */
  judge(key: string, useful: boolean): void {
    this.#cache.judge(this.#prefix + key, useful);
  }
}
