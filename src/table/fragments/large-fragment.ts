/**
 * `LargeFragment` reads columns, rows or parts of a value of a file of more than 16 KiB by byte
 * ranges, and verifies what it reads; damage throws Corrupt, and a version that cleanup removed
 * TableVersionNotFound. A few rows are read value by value, unless a column is read so often that
 * reading it whole costs less; more rows are picked from whole columns. It caches the footer and,
 * if the read asks for it, columns and decompressed frames. These stay valid, because fragments
 * never change. `rememberFooter` caches a footer that was read elsewhere.
 */
import {
  childFields,
  type Data,
  type DataType,
  gatherData,
  layoutOf,
  markSharedData,
} from '../../arrow/index.ts';
import {
  type ByteRange,
  chunkAt,
  columnRanges,
  type Dictionaries,
  decodeBatchColumn,
  decodeBatchColumnInSteps,
  decodeDictionaries,
  decodedBytes,
  decodeFooter,
  decodeFooterInSteps,
  dictionaryIds,
  dictionaryRanges,
  entryFile,
  type FragmentEntry,
  type FragmentFooter,
  type FrameCache,
  findValue,
  isReadAlone,
  LONG_FOOTER_BYTES,
  NO_DICTIONARIES,
  type Room,
  type RowReader,
  readBytes,
  readRows,
} from '../../format/index.ts';
import type { Awaitable, ObjectReader } from '../../store/index.ts';
import { closedOnFailure, type Engine, openObject, type Snapshot } from '../versions/index.ts';
import { andThen, inTurns, LentColumns, Turn } from '../work/index.ts';
import type { FragmentReader, ReadPurpose, StoredValue } from './fragment-reader.ts';
import { readRanges, spaceFor } from './read-ranges.ts';

/** Parsed, a footer takes about this many times its bytes. */
const FOOTER_WEIGHT = 4;
/** Columns that are verified and decoded without a turn. */
const COLUMNS_AT_ONCE = 128;
/** Bytes that are decompressed without a turn: some milliseconds' work. */
const DECODED_AT_ONCE = 1 << 21;
/**
 * Single values that are read without a turn, and those of which each may take a frame to decode.
 */
const VALUES_AT_ONCE = 2_048;
const DECODED_VALUES_AT_ONCE = 32;
/** Below this share of a batch's rows single values are read instead of whole columns. */
const SPARSE_SHARE = 1 / 256;
const PAGE_BYTES = 8_192;

// After how many single values of a column all of it is read: as many of its pages are read in the
// time that a value takes, and columns of which fewer values were read are not read whole.
/** While the cache has room: a value takes the opening of the file, reads and steps of its own. */
const OFTEN_WITH_ROOM = { pagesAValue: 16, leastValues: 4 };
/** Where other columns would be evicted, a value counts for the pages that it is in. */
const OFTEN_WITHOUT = { pagesAValue: 2, leastValues: 32 };

/**
 * How many values of a column of a batch were read alone, by its place, as long as the footer is
 * kept.
 */
const valuesRead = new WeakMap<FragmentFooter, Map<number, number>>();

export class LargeFragment implements FragmentReader {
  readonly footer: FragmentFooter;
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #entry: FragmentEntry;
  readonly #dictionaries = new Map<string, Awaitable<Dictionaries>>();
  readonly #purpose: ReadPurpose;
  #object: Awaitable<ObjectReader> | undefined;
  #users = 1;

  private constructor(
    engine: Engine,
    snapshot: Snapshot,
    entry: FragmentEntry,
    footer: FragmentFooter,
    object: ObjectReader | undefined,
    purpose: ReadPurpose,
  ) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.#entry = entry;
    this.footer = footer;
    this.#object = object;
    this.#purpose = purpose;
  }

  /** @throws TableVersionNotFound when cleanup removed the version meanwhile, Corrupt */
  static open(
    engine: Engine,
    snapshot: Snapshot,
    entry: FragmentEntry,
    purpose: ReadPurpose,
  ): Awaitable<LargeFragment> {
    const name = entryFile(snapshot.branch.tableFolder, entry);
    const known = engine.cache.get<FragmentFooter>(footerKey(entry));
    if (known !== undefined) {
      // Errors call it as it is called now: the table may have been placed or renamed since.
      const footer = known.name === name ? known : { ...known, name };
      if (footer !== known) rememberFooter(engine, entry, footer);
      return new LargeFragment(engine, snapshot, entry, footer, undefined, purpose);
    }
    const begin = (object: ObjectReader): Awaitable<LargeFragment> => {
      const opened = (footer: FragmentFooter): LargeFragment => {
        rememberFooter(engine, entry, footer);
        return new LargeFragment(engine, snapshot, entry, footer, object, purpose);
      };
      const read = (tail: Uint8Array): Awaitable<LargeFragment> => {
        if (tail.length < LONG_FOOTER_BYTES) return opened(decodeFooter(tail, entry, name));
        const turn = purpose.turn ?? new Turn(engine.env);
        return inTurns(turn, decodeFooterInSteps(tail, entry, name), undefined).then(opened);
      };
      return closedOnFailure(object, () => {
        const tail = object.read(entry.bytes - entry.footerBytes, entry.footerBytes);
        return tail instanceof Promise ? tail.then(read) : read(tail);
      });
    };
    const object = openObject(engine, snapshot, entry);
    return object instanceof Promise ? object.then(begin) : begin(object);
  }

  /**
   * Columns of one batch, by their positions in the file. Where they are not kept, and `lent` is
   * given, they lie in memory that is added to it, to be given back once they are not used any
   * more, and are kept from the second time on: memory that was never touched before costs more
   * than the reading.
   */
  columns(batch: number, columns: readonly number[], lent?: LentColumns): Awaitable<Data[]> {
    return this.#columns(batch, columns, lent, lent === undefined);
  }

  ownColumns(batch: number, columns: readonly number[]): Awaitable<Data[]> {
    return this.#columns(batch, columns, undefined, false);
  }

  /** @param atOnce whether they are kept from the first time on */
  #columns(
    batch: number,
    columns: readonly number[],
    lent: LentColumns | undefined,
    atOnce: boolean,
  ): Awaitable<Data[]> {
    const found = columns.map((column) => this.#kept(batch, column) ?? lent?.columns.get(column));
    const missing = [...columns.keys()].filter((at) => found[at] === undefined);
    if (missing.length === 0) return found as Data[];
    const wanted = missing.map((at) => columns[at] as number);
    return andThen(this.#load(batch, wanted, lent, atOnce), (decode) =>
      andThen(this.#each(batch, wanted, decode), (decoded) => {
        for (const [at, data] of decoded.entries()) found[missing[at] as number] = data;
        return found as Data[];
      }),
    );
  }

  /** Makes columns by their positions: of many, verifying and decoding takes milliseconds. */
  #each(batch: number, columns: readonly number[], make: ColumnMaker): Awaitable<Data[]> {
    let bytes = 0;
    for (const column of columns) bytes += decodedBytes(chunkAt(this.footer, batch, column));
    if (columns.length > COLUMNS_AT_ONCE || bytes > DECODED_AT_ONCE) {
      return this.#eachInTurns(batch, columns, make);
    }
    return Array.from({ length: columns.length }, (_, at) => make.now(at));
  }

  async #eachInTurns(
    batch: number,
    columns: readonly number[],
    make: ColumnMaker,
  ): Promise<Data[]> {
    const turn = this.#purpose.turn ?? new Turn(this.#engine.env);
    const made: Data[] = [];
    for (const [at, column] of columns.entries()) {
      const isPlain = decodedBytes(chunkAt(this.footer, batch, column)) === 0;
      made.push(isPlain ? make.now(at) : await inTurns(turn, make.inSteps(at), undefined));
      if (made.length % COLUMNS_AT_ONCE === 0 && turn.isOver()) await turn.pass();
    }
    return made;
  }

  /** Reads columns; each is verified and decoded when its maker is asked for its place. */
  #load(
    batch: number,
    columns: readonly number[],
    lent: LentColumns | undefined,
    atOnce: boolean,
  ): Awaitable<ColumnMaker> {
    return andThen(this.#dictionariesOf(columns), (dictionaries) => {
      const ranges = columnRanges(this.footer, batch, columns);
      const keep = this.#purpose.keep === true && (atOnce || this.#readBefore(batch, columns));
      const memory = keep ? undefined : lent?.take(spaceFor(ranges));
      // Decoded columns lie in lent memory, as the bytes read do.
      const room: Room = (bytes) => (keep ? undefined : lent?.take(bytes)) ?? new Uint8Array(bytes);
      const { footer } = this;
      const made = (column: number, data: Data): Data => {
        if (keep) this.#remember(batch, column, data);
        else lent?.columns.set(column, data);
        return data;
      };
      return andThen(this.#read(ranges, memory), (chunks) => ({
        now: (at) => {
          const column = columns[at] as number;
          const bytes = chunks[at];
          return made(column, decodeBatchColumn(footer, batch, column, bytes, dictionaries, room));
        },
        *inSteps(at) {
          const column = columns[at] as number;
          const bytes = chunks[at];
          const steps = decodeBatchColumnInSteps(footer, batch, column, bytes, dictionaries, room);
          return made(column, yield* steps);
        },
      }));
    });
  }

  /**
   * Some rows of one batch: single values where they are few, else picked from whole columns. Those
   * of `lent` are not read again; what is returned does not refer to them.
   */
  rows(
    batch: number,
    columns: readonly number[],
    rows: Uint32Array,
    lent?: LentColumns,
  ): Awaitable<Data[]> {
    const total = this.footer.batches[batch]?.rows ?? 0;
    const found = columns.map((column) => {
      const copied = isCopiedWhole(this.#typeOf(column));
      const data = this.#kept(batch, column) ?? (copied ? lent?.columns.get(column) : undefined);
      return data === undefined ? undefined : gatherData(data, rows);
    });
    const missing = columns.filter((_, at) => found[at] === undefined);
    if (missing.length === 0) return found as Data[];
    const isSparse = rows.length <= Math.max(64, total * SPARSE_SHARE);
    const fill = (some: readonly number[], data: readonly Data[]): Data[] => {
      for (const [at, column] of some.entries()) found[columns.indexOf(column)] = data[at];
      return found as Data[];
    };
    if (!isSparse)
      return andThen(this.#picked(batch, missing, rows), (data) => fill(missing, data));
    const whole = missing.filter((column) => this.#isReadOften(batch, column, rows.length));
    if (whole.length === 0)
      return andThen(this.#sparse(batch, missing, rows), (data) => fill(missing, data));
    const single = missing.filter((column) => !whole.includes(column));
    return andThen(this.columns(batch, whole), (read) => {
      fill(
        whole,
        read.map((data) => gatherData(data, rows)),
      );
      if (single.length === 0) return found as Data[];
      return andThen(this.#sparse(batch, single, rows), (data) => fill(single, data));
    });
  }

  /**
   * Whether reading single values of a column has cost about as much as reading all of it would:
   * then all of it is read and kept, and costs nothing from then on. Only where that was asked for.
   */
  #isReadOften(batch: number, column: number, rows: number): boolean {
    const { keep, fresh } = this.#purpose;
    if (keep !== true || fresh === true) return false;
    let read = valuesRead.get(this.footer);
    if (read === undefined) {
      read = new Map();
      valuesRead.set(this.footer, read);
    }
    const key = batch * this.footer.schema.fields.length + column;
    const before = read.get(key) ?? 0;
    const chunk = chunkAt(this.footer, batch, column);
    const type = this.#typeOf(column);
    const bytes = Math.max(chunk.bytes, decodedBytes(chunk));
    const hasRoom = bytes <= this.#engine.buffers.room;
    // For a single value of most nested columns and of views all is read already: it is kept at once
    // while there is room, else the second time. Vectors are kept the second time while there is
    // room, as each takes pages of its own.
    const isAlone = isReadAlone(type, chunk);
    if (!isAlone || (hasRoom && layoutOf(type) === 'fixed-list')) {
      read.set(key, 1);
      return before > 0 || (hasRoom && !isAlone);
    }
    const values = before + rows;
    const { pagesAValue, leastValues } = hasRoom ? OFTEN_WITH_ROOM : OFTEN_WITHOUT;
    const isOften = values > Math.max(leastValues, bytes / PAGE_BYTES / pagesAValue);
    read.set(key, isOften ? 0 : values);
    return isOften;
  }

  #picked(batch: number, columns: readonly number[], rows: Uint32Array): Awaitable<Data[]> {
    if (!columns.every((column) => isCopiedWhole(this.#typeOf(column)))) {
      return andThen(this.columns(batch, columns), (whole) =>
        whole.map((column) => gatherData(column, rows)),
      );
    }
    const lent = new LentColumns(this.#engine.scratch);
    return andThen(this.#load(batch, columns, lent, false), (decode) =>
      // Column by column: rows are picked while what was just verified is near the processor.
      andThen(this.#each(batch, columns, picking(decode, rows)), (picked) => {
        lent.giveBack();
        return picked;
      }),
    );
  }

  #typeOf(column: number): DataType {
    return this.footer.schema.fields[column]?.type as DataType;
  }

  /** Keeps the file open until the function returned is called, also past close(). */
  retain(): () => void {
    this.#users += 1;
    return () => this.close();
  }

  /** Closes the file once no `retain` is open. */
  close(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    const object = this.#object;
    this.#object = undefined;
    if (object instanceof Promise) object.then((opened) => opened.close()).catch(() => {});
    else object?.close();
  }

  #sparse(batch: number, columns: readonly number[], rows: Uint32Array): Awaitable<Data[]> {
    const isDecoded = columns.some((at) => decodedBytes(chunkAt(this.footer, batch, at)) > 0);
    const values = isDecoded ? DECODED_VALUES_AT_ONCE : VALUES_AT_ONCE;
    const atOnce = Math.max(1, Math.floor(values / Math.max(1, rows.length)));
    return columns.length > atOnce
      ? this.#sparseInTurns(batch, columns, rows, atOnce)
      : this.#values(batch, columns, rows);
  }

  async #sparseInTurns(
    batch: number,
    columns: readonly number[],
    rows: Uint32Array,
    atOnce: number,
  ): Promise<Data[]> {
    const turn = this.#purpose.turn ?? new Turn(this.#engine.env);
    const read: Data[] = [];
    while (read.length < columns.length) {
      const some = columns.slice(read.length, read.length + atOnce);
      read.push(...(await this.#values(batch, some, rows)));
      if (turn.isOver()) await turn.pass();
    }
    return read;
  }

  #values(batch: number, columns: readonly number[], rows: Uint32Array): Awaitable<Data[]> {
    return andThen(this.#dictionariesOf(columns), (dictionaries) => {
      const frames = (column: number): FrameCache => this.#frames(batch, column);
      return this.#run(readRows(this.footer, batch, columns, rows, dictionaries, frames));
    });
  }

  value(
    batch: number,
    column: number,
    path: readonly number[],
    row: number,
  ): Awaitable<StoredValue | null | undefined> {
    const at = { footer: this.footer, batch, column, path };
    return andThen(this.#run(findValue(at, row)), (span) => {
      if (span === null || span === undefined) return span;
      const read = (from: number, to: number): Awaitable<Uint8Array> =>
        this.#run(readBytes(at, span, from, to));
      return { size: span.end - span.begin, read };
    });
  }

  /** Reads what a reader asks for into memory that is lent to it. */
  #run<Result>(reader: RowReader<Result>): Awaitable<Result> {
    const lent = new LentColumns(this.#engine.scratch);
    const goOn = (answers: readonly Uint8Array[]): Awaitable<Result> => {
      const step = reader.next(answers);
      if (step.done !== true) {
        return andThen(this.#read(step.value, lent.take(spaceFor(step.value))), goOn);
      }
      lent.giveBack();
      return step.value;
    };
    return goOn([]);
  }

  columnKey(batch: number, column: number): string {
    return `${this.#entry.file} ${batch} ${column}`;
  }

  #kept(batch: number, column: number): Data | undefined {
    if (this.#purpose.fresh === true) return undefined;
    return this.#engine.buffers.get<Data>(this.columnKey(batch, column));
  }

  /** Frames are kept from the second time on. */
  #frames(batch: number, column: number): FrameCache {
    const { buffers } = this.#engine;
    const { keep, fresh } = this.#purpose;
    const keyOf = (frame: string): string => `${this.columnKey(batch, column)} ${frame}`;
    return {
      get: (frame) => (fresh === true ? undefined : buffers.get<Uint8Array>(keyOf(frame))),
      keep: (frame, content) => {
        const key = keyOf(frame);
        if (keep === true && buffers.noted(key)) buffers.set(key, content, content.length + 256);
      },
    };
  }

  #remember(batch: number, column: number, data: Data): void {
    const chunk = chunkAt(this.footer, batch, column);
    // If a part of the column was decoded, all of it lies in memory of its own.
    const bytes = decodedBytes(chunk) || chunk.bytes;
    markSharedData(data);
    this.#engine.buffers.set(this.columnKey(batch, column), data, bytes + 256);
  }

  /** Whether all of them were. */
  #readBefore(batch: number, columns: readonly number[]): boolean {
    const known = columns.map((column) =>
      this.#engine.buffers.noted(this.columnKey(batch, column)),
    );
    return known.every((before) => before);
  }

  #dictionariesOf(columns: readonly number[]): Awaitable<Dictionaries> {
    const ids = dictionaryIds(this.footer, columns);
    if (ids.length === 0) return NO_DICTIONARIES;
    const key = ids.join();
    const known = this.#dictionaries.get(key);
    if (known !== undefined) return known;
    const loading = andThen(this.#read(dictionaryRanges(this.footer, ids)), (chunks) => {
      const dictionaries = decodeDictionaries(this.footer, ids, chunks);
      // The batches of a scan share them.
      for (const { data } of dictionaries.values()) data.forEach(markSharedData);
      return dictionaries;
    });
    this.#dictionaries.set(key, loading);
    return loading;
  }

  /** No read is under way any more once this has ended, however it did. */
  #read(ranges: readonly ByteRange[], memory?: Uint8Array): Awaitable<Uint8Array[]> {
    this.#object ??= openObject(this.#engine, this.#snapshot, this.#entry);
    const { counters } = this.#purpose;
    if (counters !== undefined) for (const { length } of ranges) counters.bytesRead += length;
    return andThen(this.#object, (object) => readRanges(object, ranges, memory));
  }
}

/** Verifies and decodes the column at a position: at once, or in steps of some frames each. */
interface ColumnMaker {
  now(at: number): Data;
  inSteps(at: number): Generator<undefined, Data>;
}

/** Picks rows of each column as soon as it is made. */
const picking = (columns: ColumnMaker, rows: Uint32Array): ColumnMaker => ({
  now: (at) => gatherData(columns.now(at), rows),
  *inSteps(at) {
    return gatherData(yield* columns.inSteps(at), rows);
  },
});

/**
 * Whether picked rows share no memory with what they were picked from: views and empty lists do.
 */
function isCopiedWhole(type: DataType): boolean {
  const layout = layoutOf(type);
  const children = childFields(type).map((field) => field.type);
  if (layout === 'struct') return children.every(isCopiedWhole);
  if (layout === 'fixed-list') return children.every((child) => layoutOf(child) === 'fixed');
  return layout !== 'view' && layout !== 'list' && layout !== 'union';
}

type FooterPlace = Pick<FragmentEntry, 'file' | 'footerBytes' | 'footerChecksum'>;

const footerKey = ({ file, footerChecksum }: FooterPlace): string =>
  `footer ${file} ${footerChecksum}`;

/** Caches a footer that was read and verified. */
export function rememberFooter(engine: Engine, place: FooterPlace, footer: FragmentFooter): void {
  engine.cache.set(footerKey(place), footer, place.footerBytes * FOOTER_WEIGHT);
}
