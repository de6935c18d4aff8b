/** Reading columns of one fragment's batches: only the byte ranges asked for, each verified. */
import type { Data } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import type { Dictionaries } from '../format/column-reader.ts';
import {
  type ByteRange,
  columnRanges,
  decodeColumns,
  decodeDictionaries,
  decodeFooter,
  dictionaryIds,
  dictionaryRanges,
  type FragmentFooter,
} from '../format/fragment-decoder.ts';
import type { FragmentEntry } from '../format/fragment-entry.ts';
import { corrupt } from '../format/json.ts';
import { fragmentFile } from '../format/paths.ts';
import type { ObjectReader } from '../store/store.ts';
import type { Engine } from './engine.ts';
import type { Snapshot } from './snapshot.ts';

/** Parsed, a footer takes about this many times its bytes. */
const FOOTER_WEIGHT = 4;

export class FragmentReader {
  readonly footer: FragmentFooter;
  readonly #object: ObjectReader;
  readonly #dictionaries = new Map<string, Promise<Dictionaries>>();

  private constructor(footer: FragmentFooter, object: ObjectReader) {
    this.footer = footer;
    this.#object = object;
  }

  /** @throws TableVersionNotFound when cleanup removed the version meanwhile, Corrupt */
  static async open(
    engine: Engine,
    snapshot: Snapshot,
    entry: FragmentEntry,
  ): Promise<FragmentReader> {
    const file = fragmentFile(snapshot.branch.tableFolder, entry.file);
    const object = await engine.store.open(file);
    if (object === undefined) throw await missingFile(engine, snapshot, file);
    try {
      if (object.size !== entry.bytes) {
        throw corrupt(file, `it has ${object.size} bytes instead of ${entry.bytes}`);
      }
      const key = `footer ${entry.file} ${entry.footerChecksum}`;
      let footer = engine.cache.get<FragmentFooter>(key);
      if (footer === undefined) {
        const tail = await object.read(entry.bytes - entry.footerBytes, entry.footerBytes);
        footer = decodeFooter(tail, entry, file);
        engine.cache.set(key, footer, entry.footerBytes * FOOTER_WEIGHT);
      }
      return new FragmentReader(footer, object);
    } catch (error) {
      object.close();
      throw error;
    }
  }

  /** Columns of one batch, by their positions in the file. */
  async columns(batch: number, columns: readonly number[]): Promise<Data[]> {
    const chunks = await this.#read(columnRanges(this.footer, batch, columns));
    const dictionaries = await this.#dictionariesOf(columns);
    return decodeColumns(this.footer, batch, columns, chunks, { dictionaries });
  }

  close(): void {
    this.#object.close();
  }

  #dictionariesOf(columns: readonly number[]): Promise<Dictionaries> | Dictionaries {
    const ids = dictionaryIds(this.footer, columns);
    if (ids.length === 0) return NO_DICTIONARIES;
    const key = ids.join();
    const known = this.#dictionaries.get(key);
    if (known !== undefined) return known;
    const loading = this.#read(dictionaryRanges(this.footer, ids)).then((chunks) =>
      decodeDictionaries(this.footer, ids, chunks),
    );
    this.#dictionaries.set(key, loading);
    return loading;
  }

  /** Neighbouring ranges are read in one piece. */
  async #read(ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    for (let first = 0; first < ranges.length; ) {
      const start = ranges[first]?.offset ?? 0;
      let end = start;
      let next = first;
      for (; next < ranges.length && ranges[next]?.offset === end; next++) {
        end += ranges[next]?.length ?? 0;
      }
      const pending = this.#object.read(start, end - start);
      const bytes = pending instanceof Promise ? await pending : pending;
      for (; first < next; first++) {
        const { offset, length } = ranges[first] as ByteRange;
        chunks.push(bytes.subarray(offset - start, offset - start + length));
      }
    }
    return chunks;
  }
}

const NO_DICTIONARIES: Dictionaries = new Map();

/** A file that a version refers to is gone: because the version is, or because of damage. */
export async function missingFile(
  engine: Engine,
  snapshot: Snapshot,
  file: string,
): Promise<DirspaceError> {
  if ((await engine.store.head(snapshot.file)) !== undefined) {
    return corrupt(file, `it is missing, and version ${snapshot.version} refers to it`);
  }
  return new DirspaceError(
    'TableVersionNotFound',
    `Version ${snapshot.version} was removed by cleanup, or its table dropped or moved, while it was being read. Tag versions that must stay readable.`,
    { details: { version: snapshot.version } },
  );
}
