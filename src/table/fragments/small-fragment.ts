/**
 * `openSmall` reads a fragment of up to 16 KiB by one read of the whole file, after which all
 * columns are available synchronously. The file is cached as one entry if the read asks for that.
 * Each column is verified when it is first decoded; damage throws Corrupt, and a version that
 * cleanup removed TableVersionNotFound. `isSmall` tells which fragments these are;
 * large-fragment.ts reads larger ones.
 */
import { type Data, gatherData, markShared, markSharedData } from '../../arrow/index.ts';
import { plainBytes } from '../../bytes.ts';
import {
  type ColumnChunk,
  chunkAt,
  type Dictionaries,
  decodeBatchColumn,
  decodeDictionaries,
  decodedBytes,
  decodeFooter,
  dictionaryAt,
  dictionaryIds,
  entryFile,
  type FragmentEntry,
  type FragmentFooter,
  NO_DICTIONARIES,
} from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type Engine, readObject, type Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';
import type { FragmentReader, ReadPurpose } from './fragment-reader.ts';

/** Up to this size a file is read whole. */
const WHOLE_BYTES = 16 * 1024;
/**
 * Memory besides the file's bytes: this many times the bytes of a footer, and this many bytes a
 * column.
 */
const FOOTER_WEIGHT = 4;
const COLUMN_WEIGHT = 256;

export const isSmall = (entry: FragmentEntry): boolean => entry.bytes <= WHOLE_BYTES;

/** @throws TableVersionNotFound when cleanup removed the version meanwhile, Corrupt */
export function openSmall(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  { keep, fresh, counters, turn }: ReadPurpose,
): Awaitable<SmallFragment> {
  const { tableFolder } = snapshot.branch;
  const known = fresh === true ? undefined : engine.buffers.get<SmallFragment>(entry.file);
  // If the version names another checksum, the file is read again and checked against it.
  if (known !== undefined && known.checksum === entry.footerChecksum) {
    if (known.folder === tableFolder) return known;
    const moved = known.movedTo(tableFolder, entry);
    engine.buffers.set(entry.file, moved, moved.weight);
    return moved;
  }
  return andThen(readObject(engine, snapshot, entry, turn), (bytes) => {
    const fragment = SmallFragment.of(bytes, tableFolder, entry, keep === true);
    if (counters !== undefined) counters.bytesRead += entry.bytes - entry.footerBytes;
    if (keep === true) engine.buffers.set(entry.file, fragment, fragment.weight);
    return fragment;
  });
}

class SmallFragment implements FragmentReader {
  readonly footer: FragmentFooter;
  /** The table's folder when the file was read, for the names in errors. */
  readonly folder: string;
  /** The checksum of the footer. */
  readonly checksum: number;
  #bytes: Uint8Array;
  /** By batch and position. */
  #columns: (Data | undefined)[][];
  /** Whether it is read again after this query. */
  readonly #kept: boolean;
  /** Whether its bytes have been read from, and may be still. */
  #hasReaders = false;

  private constructor(
    footer: FragmentFooter,
    folder: string,
    checksum: number,
    bytes: Uint8Array,
    columns: (Data | undefined)[][],
    kept: boolean,
  ) {
    this.footer = footer;
    this.folder = folder;
    this.checksum = checksum;
    this.#bytes = bytes;
    this.#columns = columns;
    this.#kept = kept;
  }

  /** @throws Corrupt */
  static of(bytes: Uint8Array, folder: string, entry: FragmentEntry, kept: boolean): SmallFragment {
    const tail = plainBytes(bytes, bytes.length - entry.footerBytes, entry.footerBytes);
    const footer = decodeFooter(tail, entry, entryFile(folder, entry));
    const columns = footer.batches.map(() => []);
    return new SmallFragment(footer, folder, entry.footerChecksum, bytes, columns, kept);
  }

  /** The fragment under its new path, which errors name, after its table was placed or renamed. */
  movedTo(folder: string, entry: FragmentEntry): SmallFragment {
    const footer = { ...this.footer, name: entryFile(folder, entry) };
    this.#share();
    const moved = new SmallFragment(
      footer,
      folder,
      this.checksum,
      this.#bytes,
      this.#columns,
      this.#kept,
    );
    moved.#share();
    return moved;
  }

  /** Bytes of memory, about. */
  get weight(): number {
    const { schema, batches, footerBytes } = this.footer;
    const columns = batches.length * schema.fields.length;
    let decoded = 0;
    for (const batch of batches.keys()) {
      for (let column = 0; column < schema.fields.length; column++) {
        decoded += decodedBytes(chunkAt(this.footer, batch, column));
      }
    }
    return this.#bytes.length + decoded + footerBytes * FOOTER_WEIGHT + columns * COLUMN_WEIGHT;
  }

  columns(batch: number, columns: readonly number[]): Data[] {
    this.#share();
    return this.#found(batch, columns);
  }

  /**
   * If nothing has been read yet, the fragment keeps a copy of its bytes and hands out the
   * originals.
   */
  ownColumns(batch: number, columns: readonly number[]): Data[] {
    const { batches, dictionaries } = this.footer;
    if (this.#hasReaders || batches.length > 1 || dictionaries.length > 0) {
      return this.columns(batch, columns);
    }
    const found = this.#found(batch, columns);
    this.#columns = batches.map(() => []);
    if (this.#kept) this.#bytes = this.#bytes.slice();
    this.#share();
    return found;
  }

  rows(batch: number, columns: readonly number[], rows: Uint32Array): Data[] {
    this.#share();
    return columns.map((column) => gatherData(this.#column(batch, column), rows));
  }

  /** All of the file is in memory. */
  value(): undefined {
    return undefined;
  }

  /** Nothing is open. */
  retain(): () => void {
    return nothing;
  }

  columnKey(): undefined {
    return undefined;
  }

  close(): void {}

  /**
   * Marks its bytes as shared: data that lies in them is copied from now on where it must be owned.
   */
  #share(): void {
    if (this.#hasReaders) return;
    this.#hasReaders = true;
    markShared(this.#bytes.buffer);
  }

  #found(batch: number, columns: readonly number[]): Data[] {
    const found: Data[] = [];
    for (const column of columns) found.push(this.#column(batch, column));
    return found;
  }

  #column(batch: number, column: number): Data {
    const decoded = this.#columns[batch] as (Data | undefined)[];
    let data = decoded[column];
    if (data === undefined) {
      const chunk = this.#part(chunkAt(this.footer, batch, column));
      data = decodeBatchColumn(this.footer, batch, column, chunk, this.#dictionariesOf(column));
      // Decoding may have copied what does not lie where words may.
      if (this.#hasReaders) markSharedData(data);
      decoded[column] = data;
    }
    return data;
  }

  #dictionariesOf(column: number): Dictionaries {
    const ids = dictionaryIds(this.footer, [column]);
    if (ids.length === 0) return NO_DICTIONARIES;
    const chunks = ids.map((id) => this.#part(dictionaryAt(this.footer, id).values));
    return decodeDictionaries(this.footer, ids, chunks);
  }

  /** Positions in the footer were checked against the length of the file. */
  #part({ offset, bytes }: ColumnChunk): Uint8Array {
    return plainBytes(this.#bytes, offset, bytes);
  }
}

const nothing = (): void => {};
