/**
 * `ColumnCursor` reads a column chunk, a chosen number of rows at a time (`take`, after one call of
 * `start`). It returns the values that are not null, and levels (`LeafPart`), which tell where the
 * nulls are and how the values form lists. Values and levels are decoded on demand, so their memory
 * grows with the rows that are asked for and not with the number of values that a page claims. The
 * caller has to take the values out of the store before it asks for more rows. Damage, and more
 * than 2^26 values and nulls in the rows asked for, go to the caller's `refuse`.
 */
import type { FileBytes } from '../../ipc/index.ts';
import { type ValueReader, valueReader, widthOf } from './encodings.ts';
import { bitsOf, HybridReader, PackedReader } from './levels.ts';
import type { ColumnChunk, PageHeader, ParquetNode } from './metadata.ts';
import { ChunkPages } from './page-source.ts';
import { BytesStore, FixedStore, type Store } from './stores.ts';
import type { Refuse } from './thrift.ts';

/** Some rows of a column. */
export interface LeafPart {
  /** Values and nulls, of which a row of lists may have several. */
  readonly count: number;
  /** Undefined where nothing can be null. */
  readonly definitions: Uint8Array | undefined;
  /** Undefined where there are no lists. */
  readonly repetitions: Uint8Array | undefined;
  /** Those that are not null; taken from before the next rows are read. */
  readonly store: Store;
}

interface Levels {
  read(out: Uint8Array, start: number, end: number): void;
}

const BIT_PACKED = 4;
/** Levels that are looked at at once for where rows end. */
const LOT = 4096;
/** Values and nulls of one column of a batch. */
const MOST_LEVELS = 1 << 26;

export class ColumnCursor {
  readonly #leaf: ParquetNode;
  readonly #pages: ChunkPages;
  readonly #refuse: Refuse;
  readonly #width: number | undefined;
  readonly #store: Store;
  #dictionary: Store | undefined;
  /** Values of the chunk that are still to come, on later pages and on this one. */
  #ahead: number;
  #left = 0;
  #definitions: Levels | undefined;
  #repetitions: Levels | undefined;
  #values: ValueReader | undefined;
  /** Levels that were looked at and belong to the next row. */
  readonly #seenDefinitions = new Uint8Array(LOT);
  readonly #seenRepetitions = new Uint8Array(LOT);
  #seenAt = 0;
  #seenEnd = 0;

  constructor(
    leaf: ParquetNode,
    chunk: ColumnChunk,
    file: FileBytes,
    window: number,
    refuse: Refuse,
  ) {
    this.#leaf = leaf;
    this.#refuse = refuse;
    this.#pages = new ChunkPages(file, chunk, window, refuse);
    this.#ahead = chunk.values;
    this.#width = widthOf(chunk.physical, leaf.width);
    this.#store = this.#newStore();
  }

  #newStore(): Store {
    return this.#width === undefined
      ? new BytesStore(this.#refuse)
      : new FixedStore(this.#width, this.#refuse);
  }

  /** Reads the first page, and the dictionary before it. */
  async start(): Promise<void> {
    if (this.#ahead > 0) await this.#nextPage();
  }

  /** Bytes of the longest word of the dictionary; 0 where there is none. */
  longestWord(): number {
    if (!(this.#dictionary instanceof BytesStore)) return 0;
    const { offsets, length } = this.#dictionary;
    let longest = 0;
    for (let word = 0; word < length; word++) {
      longest = Math.max(longest, (offsets[word + 1] as number) - (offsets[word] as number));
    }
    return longest;
  }

  async take(rows: number): Promise<LeafPart> {
    return this.#leaf.maxRepetition === 0 ? this.#takeFlat(rows) : this.#takeNested(rows);
  }

  async #takeFlat(rows: number): Promise<LeafPart> {
    const most = this.#leaf.maxDefinition;
    const definitions = most === 0 ? undefined : new Uint8Array(rows);
    for (let done = 0; done < rows; ) {
      if (this.#left === 0) await this.#nextPage();
      const count = Math.min(rows - done, this.#left);
      let there = count;
      if (definitions !== undefined) {
        this.#definitions?.read(definitions, done, done + count);
        there = this.#countValues(definitions, done, done + count);
      }
      this.#values?.read(this.#store, there);
      this.#left -= count;
      done += count;
    }
    return { count: rows, definitions, repetitions: undefined, store: this.#store };
  }

  async #takeNested(rows: number): Promise<LeafPart> {
    let definitions = new Uint8Array(Math.max(LOT, 2 * rows));
    let repetitions = new Uint8Array(definitions.length);
    let count = 0;
    let begun = 0;
    for (;;) {
      if (this.#seenAt === this.#seenEnd) {
        if (this.#left === 0 && this.#ahead === 0) break;
        if (this.#left === 0) await this.#nextPage();
        this.#look();
      }
      const [seen, deep] = [this.#seenRepetitions, this.#seenDefinitions];
      let at = this.#seenAt;
      if (begun === 0 && seen[at] !== 0) this.#refuse('a column begins in the middle of a row');
      for (; at < this.#seenEnd; at++) {
        if (seen[at] === 0 && begun++ === rows) break;
      }
      const more = at - this.#seenAt;
      if (count + more > definitions.length) {
        if (count + more > MOST_LEVELS) this.#refuse('some rows have lists that are too long');
        const size = 2 * (count + more);
        [definitions, repetitions] = [grown(definitions, size), grown(repetitions, size)];
      }
      definitions.set(deep.subarray(this.#seenAt, at), count);
      repetitions.set(seen.subarray(this.#seenAt, at), count);
      this.#values?.read(this.#store, this.#countValues(definitions, count, count + more));
      count += more;
      this.#seenAt = at;
      if (begun > rows) break;
    }
    if (begun < rows) this.#refuse('a column has fewer rows than it says');
    return { count, definitions, repetitions, store: this.#store };
  }

  /** Looks at the next levels of the page. */
  #look(): void {
    const count = Math.min(LOT, this.#left);
    this.#repetitions?.read(this.#seenRepetitions, 0, count);
    if (this.#definitions === undefined) this.#seenDefinitions.fill(0, 0, count);
    else this.#definitions.read(this.#seenDefinitions, 0, count);
    const most = this.#leaf.maxRepetition;
    for (let at = 0; at < count; at++) {
      if ((this.#seenRepetitions[at] as number) > most)
        this.#refuse('it has a level out of bounds');
    }
    this.#left -= count;
    this.#seenAt = 0;
    this.#seenEnd = count;
  }

  /** How many values are there. */
  #countValues(definitions: Uint8Array, start: number, end: number): number {
    const most = this.#leaf.maxDefinition;
    let there = 0;
    for (let at = start; at < end; at++) {
      const level = definitions[at] as number;
      if (level === most) there++;
      else if (level > most) this.#refuse('it has a level out of bounds');
    }
    return there;
  }

  async #nextPage(): Promise<void> {
    const refuse = this.#refuse;
    if (this.#ahead === 0) refuse('a column has fewer values than it says');
    for (;;) {
      const { header, bytes } = await this.#pages.next();
      if (header.kind === 'dictionary') {
        this.#readDictionary(header, bytes);
        continue;
      }
      if (header.values === 0) continue;
      if (header.values > this.#ahead) refuse('a column has more values than it says');
      this.#ahead -= header.values;
      this.#left = header.values;
      this.#begin(header, bytes);
      return;
    }
  }

  #readDictionary(header: PageHeader, bytes: Uint8Array): void {
    if (this.#dictionary !== undefined) this.#refuse('a column has two dictionaries');
    if (header.encoding !== 0 && header.encoding !== 2) {
      this.#refuse(`a dictionary has the encoding ${header.encoding}, which is not read`);
    }
    const store = this.#newStore();
    const { physical } = this.#leaf;
    const page = {
      ...{ physical: physical as number, width: this.#width, encoding: 0, bytes, from: 0 },
      ...{ values: header.values, dictionary: undefined },
    };
    valueReader(page, this.#refuse).read(store, header.values);
    this.#dictionary = store;
  }

  /** Levels come first, those of lists before the others. */
  #begin(header: PageHeader, bytes: Uint8Array): void {
    const { maxDefinition, maxRepetition, physical } = this.#leaf;
    const refuse = this.#refuse;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    const levels = (most: number, encoding: number, size: number): Levels | undefined => {
      if (most === 0) {
        at += header.kind === 'data2' ? size : 0;
        return undefined;
      }
      const width = bitsOf(most);
      let end = at + size;
      if (header.kind === 'data' && encoding === BIT_PACKED) {
        const from = at;
        at += Math.ceil((header.values * width) / 8);
        if (at > bytes.length) refuse('a page is cut short');
        return new PackedReader(bytes, from, width);
      }
      if (header.kind === 'data') {
        if (at + 4 > bytes.length) refuse('a page is cut short');
        end = at + 4 + view.getUint32(at, true);
        at += 4;
      }
      if (end > bytes.length) refuse('a page is cut short');
      const runs = new HybridReader(bytes, at, end, width, refuse);
      at = end;
      return runs;
    };
    this.#repetitions = levels(maxRepetition, header.repetitionEncoding, header.repetitionBytes);
    this.#definitions = levels(maxDefinition, header.definitionEncoding, header.definitionBytes);
    const page = {
      ...{ physical: physical as number, width: this.#width, encoding: header.encoding, bytes },
      ...{ from: at, values: header.values, dictionary: this.#dictionary },
    };
    this.#values = valueReader(page, refuse);
  }
}

function grown(levels: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(size);
  larger.set(levels);
  return larger;
}
