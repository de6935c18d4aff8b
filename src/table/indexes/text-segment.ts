/**
 * `TextSegment` reads a segment of a full-text index, from `open` until `close`. It finds the
 * postings of a term, the terms with a prefix, and the number of tokens of each row. `find` returns
 * undefined for a term that no row has. It also finds the positions of a term, if the index keeps
 * them (`hasPositions`). Its columns are cached like those of fragments. Damaged files throw
 * Corrupt.
 */
import type { Data, Offsets } from '../../arrow/index.ts';
import { type IndexSegment, indexFile } from '../../format/index.ts';
import { corrupt } from '../../json.ts';
import {
  BadPositions,
  BadPostings,
  BlockReader,
  PositionReader,
  type Postings,
  readPostings,
  SEALED_POSITIONS,
  startsWith,
  type TermCells,
} from '../../search/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { rowsIn } from './joined-runs.ts';
import { OpenSegment } from './segment.ts';

const [TERM, DOCUMENTS, POSTINGS] = [0, 1, 2];
const COLUMNS = 3;
/** The files of a segment. */
const [TERMS_FILE, LENGTHS_FILE, POSITIONS_FILE] = [0, 1, 2];

const lengths = new WeakMap<IndexSegment, Promise<Uint32Array>>();

/** The place of a term in the file. */
export interface TermPlace {
  readonly batch: number;
  readonly row: number;
  /** Among all terms. */
  readonly number: number;
}

export class TextSegment {
  readonly segment: IndexSegment;
  /** Rows that its positions count, deleted ones among them. */
  readonly rows: number;
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #terms: OpenSegment;

  private constructor(
    engine: Engine,
    snapshot: Snapshot,
    segment: IndexSegment,
    terms: OpenSegment,
  ) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.segment = segment;
    this.rows = rowsIn(segment.runs);
    this.#terms = terms;
  }

  /** @throws Corrupt */
  static async open(
    engine: Engine,
    snapshot: Snapshot,
    segment: IndexSegment,
  ): Promise<TextSegment> {
    const terms = await OpenSegment.open(engine, snapshot, segment, COLUMNS, TERMS_FILE);
    if (segment.files.length >= POSITIONS_FILE) {
      return new TextSegment(engine, snapshot, segment, terms);
    }
    terms.close();
    throw corrupt(terms.name, `its segment has ${segment.files.length} files, not 2 or 3`);
  }

  close(): void {
    this.#terms.close();
  }

  /** The path of the file with its terms. */
  get name(): string {
    return this.#terms.name;
  }

  /** Whether it has the positions of terms. */
  get hasPositions(): boolean {
    return this.segment.files.length > POSITIONS_FILE;
  }

  /** Undefined for a term that no row has. */
  async find(term: Uint8Array): Promise<TermPlace | undefined> {
    const place = await this.lowerBound(term);
    if (place === undefined) return undefined;
    const found = cellAt(await this.#column(place.batch, TERM), place.row);
    return Buffer.compare(found, term) === 0 ? place : undefined;
  }

  /** The first term that is not before this one, in the order of bytes. */
  async lowerBound(term: Uint8Array): Promise<TermPlace | undefined> {
    let low = 0;
    let high = this.#terms.batches;
    // The last batch that begins before the term, or with it.
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      const first = cellAt(await this.#column(middle, TERM), 0);
      if (Buffer.compare(first, term) <= 0) low = middle;
      else high = middle;
    }
    const column = await this.#column(low, TERM);
    let from = 0;
    let to = column.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (Buffer.compare(cellAt(column, middle), term) < 0) from = middle + 1;
      else to = middle;
    }
    if (from < column.length) return this.#place(low, from);
    return low + 1 < this.#terms.batches ? this.#place(low + 1, 0) : undefined;
  }

  #place(batch: number, row: number): TermPlace {
    return { batch, row, number: (this.#terms.starts[batch] as number) + row };
  }

  /** The terms that begin with a prefix, batch by batch, in the order of their bytes. */
  async *termsFrom(prefix: Uint8Array): AsyncGenerator<TermCells> {
    const start = await this.lowerBound(prefix);
    if (start === undefined) return;
    let { row } = start;
    for (let { batch } = start; batch < this.#terms.batches; batch++, row = 0) {
      const column = await this.#column(batch, TERM);
      let end = column.length;
      for (let low = row; low < end; ) {
        const middle = (low + end) >>> 1;
        if (startsWith(cellAt(column, middle), prefix)) low = middle + 1;
        else end = middle;
      }
      yield {
        bytes: column.values as unknown as Uint8Array,
        offsets: column.valueOffsets as unknown as Offsets,
        first: row,
        end,
      };
      if (end < column.length) return;
    }
  }

  /** Rows that have the term, deleted ones among them. @throws Corrupt */
  async postings({ batch, row }: TermPlace): Promise<Postings> {
    const documents = (await this.#column(batch, DOCUMENTS)).values as unknown as Uint32Array;
    const sealed = cellAt(await this.#column(batch, POSTINGS), row);
    try {
      return readPostings(sealed, documents[row] as number, this.rows);
    } catch (error) {
      throw this.damaged(error);
    }
  }

  /** How many rows have the term, and its postings to be read block by block. @throws Corrupt */
  async blocks({ batch, row }: TermPlace): Promise<{ documents: number; blocks: BlockReader }> {
    const found = (await this.#column(batch, DOCUMENTS)).values as unknown as Uint32Array;
    const documents = found[row] as number;
    const sealed = cellAt(await this.#column(batch, POSTINGS), row);
    try {
      if (documents > this.rows) throw new BadPostings(`a term is in ${documents} of ${this.rows}`);
      return { documents, blocks: new BlockReader(sealed, documents, this.rows) };
    } catch (error) {
      throw this.damaged(error);
    }
  }

  /**
   * The positions of a term. @throws Corrupt
   * @param documents that have it
   * @param steps runs what takes long
   */
  async positions(
    place: TermPlace,
    documents: number,
    steps: <T>(work: Generator<void, T>) => Promise<T>,
  ): Promise<PositionReader> {
    const opened = await OpenSegment.open(
      this.#engine,
      this.#snapshot,
      this.segment,
      1,
      POSITIONS_FILE,
    );
    try {
      const { number } = place;
      const batch = opened.starts.findLastIndex((start) => start <= number);
      if (opened.rows !== this.#terms.rows || batch < 0 || batch >= opened.batches) {
        throw corrupt(opened.name, `it has ${opened.rows} terms, not ${this.#terms.rows}`);
      }
      const column = await opened.column(batch, 0);
      const bytes = cellAt(column, number - (opened.starts[batch] as number));
      if (opened.fieldName(0) === SEALED_POSITIONS) return PositionReader.sealed(bytes, documents);
      const { blocks } = await this.blocks(place);
      return await steps(PositionReader.plain(bytes, blocks));
    } catch (error) {
      throw this.damaged(error);
    } finally {
      opened.close();
    }
  }

  /** Tokens of each row; not to be changed. @throws Corrupt */
  lengths(): Promise<Uint32Array> {
    let read = lengths.get(this.segment);
    if (read === undefined) {
      read = this.#readLengths();
      read.catch(() => lengths.delete(this.segment));
      lengths.set(this.segment, read);
    }
    return read;
  }

  async #readLengths(): Promise<Uint32Array> {
    const opened = await OpenSegment.open(
      this.#engine,
      this.#snapshot,
      this.segment,
      1,
      LENGTHS_FILE,
    );
    try {
      if (opened.rows !== this.rows) {
        throw corrupt(opened.name, `it has the lengths of ${opened.rows} rows, not ${this.rows}`);
      }
      const values = new Uint32Array(this.rows);
      for (let batch = 0; batch < opened.batches; batch++) {
        const column = await opened.column(batch, 0);
        values.set(
          (column.values as unknown as Uint32Array).subarray(0, column.length),
          opened.starts[batch],
        );
      }
      return values;
    } finally {
      opened.close();
    }
  }

  async #column(batch: number, column: number): Promise<Data> {
    return this.#terms.column(batch, column);
  }

  /** The error of bytes that are no postings or positions, with the file that they are of. */
  damaged(error: unknown): unknown {
    if (!(error instanceof BadPostings)) return error;
    const positions = this.segment.files[POSITIONS_FILE]?.file;
    const isOfTerms = !(error instanceof BadPositions) || positions === undefined;
    const file = isOfTerms
      ? this.#terms.name
      : indexFile(this.#snapshot.branch.tableFolder, positions);
    return corrupt(file, error.message);
  }
}

function cellAt(data: Data, row: number): Uint8Array {
  const offsets = data.valueOffsets as unknown as Offsets;
  return (data.values as unknown as Uint8Array).subarray(
    Number(offsets[row]),
    Number(offsets[row + 1]),
  );
}
