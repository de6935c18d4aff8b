/**
 * Reads the bytes of blobs by row ids. `fetchBlobs` returns all bytes, and `fetchBlobFiles` returns
 * handles (`BlobFile`) that read a blob, or a range of it, on demand. Both keep the order of the
 * ids, repeats included, and return null for a null value. An id without a row throws InvalidInput,
 * and a blob that is an address Unsupported. If the catalog cannot fetch blobs, their rows are read
 * by a `TakeQuery` instead. `blobColumns` lists the columns that hold blobs.
 */
import {
  blobElsewhere,
  blobPath,
  blobPaths,
  columnsOf,
  missingBlob,
  type RecordBatchStream,
  type Schema,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { atVersion, ownOr, type TableTarget } from '../handles/index.ts';
import { type RowIds, rowNumbers, TakeQuery } from './take-query.ts';

/** What a table handle reads. */
interface Source {
  readonly target: TableTarget;
  reading(options?: CallOptions): void;
  schema(options?: CallOptions): Promise<Schema>;
  version(options?: CallOptions): Promise<number>;
}

export type Blobs = (Buffer | null)[];
export type BlobFiles = (BlobFile | null)[];

/** The columns of blobs, and members of structs as paths with dots. */
export async function blobColumns(from: Source, options?: CallOptions): Promise<string[]> {
  from.reading(options);
  const { fields } = await from.schema(options);
  return blobPaths(fields).map((path) => path.join('.'));
}

/** A column of blobs of one version. */
interface Asked {
  readonly target: TableTarget;
  readonly column: string;
  /** The column in SQL. */
  readonly sql: string;
}

/** A part of each blob; all of it if empty. */
interface Part {
  readonly offset?: number;
  readonly length?: number;
}

/** What is known of one blob; null where it is. */
type Found = { readonly size: bigint; readonly bytes: Buffer } | null;

/** Blobs in the order of the ids. @throws InvalidInput for ids that there are not */
async function blobsOf(
  asked: Asked,
  ids: readonly bigint[],
  part: Part,
  options: CallOptions,
): Promise<Found[]> {
  if (ids.length === 0) return [];
  const { target, column } = asked;
  const request = { ...atVersion(target), column, row_ids: ids, ...part };
  const own = target.catalog.fetchBlobs?.(request, options);
  return ownOr(own && fetched(own), () => taken(asked, ids, part, options));
}

async function fetched(rows: Promise<RecordBatchStream>): Promise<Found[]> {
  const found: Found[] = [];
  for await (const batch of await rows) {
    const [bytes, sizes] = columnsOf(batch).map((_, at) => batch.getChildAt(at));
    for (let row = 0; row < batch.numRows; row++) {
      const value = bytes?.get(row) as Uint8Array | null;
      found.push(value === null ? null : { size: sizes?.get(row) as bigint, bytes: owned(value) });
    }
  }
  return found;
}

/** Memory of its own, which neither repeats nor other blobs share. */
function owned(bytes: Uint8Array): Buffer {
  const { buffer, byteLength } = bytes;
  return buffer.byteLength === byteLength
    ? Buffer.from(buffer)
    : Buffer.from(Uint8Array.from(bytes).buffer);
}

/** The same by rows that are taken with a part of their values. */
async function taken(
  { target, column, sql }: Asked,
  ids: readonly bigint[],
  { offset = 0, length }: Part,
  options: CallOptions,
): Promise<Found[]> {
  const wanted = new Set(ids);
  const columns = {
    size: `octet_length(${sql}."data")`,
    uri: `${sql}."uri"`,
    ...(length === 0 ? {} : { data: `${sql}."data"` }),
  };
  const found = new Map<bigint, Found>();
  const query = new TakeQuery(target, '_rowid', [...wanted]).select(columns).withRowId();
  for await (const batch of await query.stream(options)) {
    const vectors = columnsOf(batch).map((_, at) => batch.getChildAt(at));
    const rowIds = vectors.at(-1);
    for (let row = 0; row < batch.numRows; row++) {
      const id = rowIds?.get(row) as bigint;
      const [size, uri, data] = vectors.slice(0, -1).map((vector) => vector?.get(row));
      wanted.delete(id);
      if (size === null || size === undefined) {
        if (typeof uri === 'string') throw blobElsewhere(column, uri);
        found.set(id, null);
        continue;
      }
      const to = length === undefined ? Number(size) : offset + length;
      const bytes = length === 0 ? NOTHING : (data as Uint8Array).slice(offset, to);
      found.set(id, { size: BigInt(size as bigint), bytes: owned(bytes) });
    }
  }
  const [missing] = wanted;
  if (missing !== undefined) throw missingBlob(column, missing);
  const given = new Set<bigint>();
  return ids.map((id) => {
    const one = found.get(id) ?? null;
    const isRepeat = given.has(id);
    given.add(id);
    return isRepeat && one !== null
      ? { ...one, bytes: Buffer.from(Uint8Array.from(one.bytes).buffer) }
      : one;
  });
}

const NOTHING = new Uint8Array(0);

/**
 * The bytes of a column at rows; null where the value is.
 * @throws InvalidInput for ids that there are not, Unsupported for blobs at an address
 */
export async function fetchBlobs(
  from: Source,
  column: string,
  rowIds: RowIds,
  options: CallOptions = {},
): Promise<Blobs> {
  from.reading(options);
  const sql = quotedPath(blobPath((await from.schema(options)).fields, column));
  const ids = rowNumbers(rowIds, 'Row id');
  const found = await blobsOf({ target: from.target, column, sql }, ids, {}, options);
  return found.map((one) => one?.bytes ?? null);
}

/** A blob whose bytes are read when they are asked for; `fetchBlobFiles` of a table opens them. */
export class BlobFile {
  readonly #size: bigint;
  readonly #range: (start: number, end: number) => Promise<Buffer>;
  #at = 0;

  /** Tables open them; see `Table.fetchBlobFiles`. */
  constructor(size: bigint, range: (start: number, end: number) => Promise<Buffer>) {
    this.#size = size;
    this.#range = range;
  }

  /** Its bytes in number. */
  size(): bigint {
    return this.#size;
  }

  /** The bytes from the cursor on, which goes to the end: read again, there are none. */
  async read(): Promise<Buffer> {
    const from = this.#at;
    const to = Number(this.#size);
    this.#at = to;
    try {
      return from === to ? Buffer.alloc(0) : await this.#range(from, to);
    } catch (error) {
      this.#at = from;
      throw error;
    }
  }

  /**
   * The bytes from `start` to before `end`; moves no cursor.
   * @throws InvalidInput for a range that the blob does not have
   */
  async readRange(start: bigint, end: bigint): Promise<Buffer> {
    const isRange = typeof start === 'bigint' && typeof end === 'bigint' && start >= 0n;
    if (!isRange || start > end || end > this.#size) {
      throw new DirspaceError(
        'InvalidInput',
        `A range of a blob of ${this.#size} bytes is two bigints, such as 0n and ${this.#size}n, the second at most that, not ${String(start)} and ${String(end)}.`,
      );
    }
    if (start === end) return Buffer.alloc(0);
    return this.#range(Number(start), Number(end));
  }
}

/**
 * Opens the blobs of a column at rows, of the version that is read now; null where the value is.
 * @throws InvalidInput for ids that there are not, Unsupported for blobs at an address
 */
export async function fetchBlobFiles(
  from: Source,
  column: string,
  rowIds: RowIds,
  options: CallOptions = {},
): Promise<BlobFiles> {
  from.reading(options);
  const sql = quotedPath(blobPath((await from.schema(options)).fields, column));
  const ids = rowNumbers(rowIds, 'Row id');
  if (ids.length === 0) return [];
  const target = { ...from.target, version: await from.version(options) };
  const asked = { target, column, sql };
  const found = await blobsOf(asked, ids, { length: 0 }, options);
  return found.map(
    (one, at) => one && new BlobFile(one.size, rangeReader(asked, ids[at] as bigint)),
  );
}

/** Reads ranges of one blob. A catalog that reads none gives all bytes at once, which are kept. */
function rangeReader(asked: Asked, id: bigint): (start: number, end: number) => Promise<Buffer> {
  const read = async (part: Part): Promise<Buffer> =>
    (await blobsOf(asked, [id], part, {}))[0]?.bytes ?? Buffer.alloc(0);
  if (asked.target.catalog.fetchBlobs !== undefined) {
    return (start, end) => read({ offset: start, length: end - start });
  }
  let whole: Promise<Buffer> | undefined;
  return async (start, end) => {
    whole ??= read({});
    whole.catch(() => {
      whole = undefined;
    });
    return Buffer.from((await whole).subarray(start, end));
  };
}
