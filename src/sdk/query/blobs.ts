/**
 * Reads the bytes of blobs by row ids: `fetchBlobs` returns them all, `fetchBlobFiles` returns
 * handles that read them on demand. Both keep the order of the ids, repeats included, and read no
 * other rows. `blobColumns` lists the columns of a schema that hold blobs.
 */
import { columnsOf, type Field, isBlobField, type Schema, Type } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import type { TableTarget } from '../handles/index.ts';
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
  return fields.flatMap((field) => blobsIn(field, [])).map((path) => path.join('.'));
}

function blobsIn(field: Field, parents: readonly string[]): string[][] {
  const path = [...parents, field.name];
  if (isBlobField(field)) return [path];
  if (field.type.typeId !== Type.Struct) return [];
  return (field.type.children as Field[]).flatMap((child) => blobsIn(child, path));
}

/** @throws InvalidInput for a column without blobs, TableColumnNotFound */
function blobSql({ fields }: Schema, column: string): string {
  const paths = fields.flatMap((field) => blobsIn(field, []));
  const found = paths.find((path) => path.join('.') === column);
  if (found !== undefined) return quotedPath(found);
  const known = paths.map((path) => path.join('.'));
  const has = known.length === 0 ? 'none' : known.join(', ');
  if (fields.some(({ name }) => name === column)) {
    throw new DirspaceError(
      'InvalidInput',
      `The column ${JSON.stringify(column)} is not a blob column; the table has ${has}.`,
      { details: { column } },
    );
  }
  throw new DirspaceError(
    'TableColumnNotFound',
    `There is no column ${JSON.stringify(column)}; of blobs the table has ${has}.${suggestion(column, known)}`,
    { details: { column } },
  );
}

/** A column of blobs of one version. */
interface Asked {
  readonly target: TableTarget;
  readonly column: string;
  /** The column in SQL. */
  readonly sql: string;
}

/** The values of an expression, by row id. @throws InvalidInput where a row is missing */
async function valuesOf(
  { target, column }: Asked,
  rowIds: readonly bigint[],
  columns: Readonly<Record<string, string>>,
  use: (rowId: bigint, values: readonly unknown[]) => void,
  options: CallOptions,
): Promise<void> {
  const wanted = new Set(rowIds);
  const query = new TakeQuery(target, '_rowid', [...wanted]).select(columns).withRowId();
  for await (const batch of await query.stream(options)) {
    const vectors = columnsOf(batch).map((_, at) => batch.getChildAt(at));
    const ids = vectors.at(-1);
    for (let row = 0; row < batch.numRows; row++) {
      const id = ids?.get(row) as bigint;
      if (!wanted.delete(id)) continue;
      use(
        id,
        vectors.slice(0, -1).map((vector) => vector?.get(row)),
      );
    }
  }
  const [missing] = wanted;
  if (missing === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `There is no row with the id ${missing}, whose blob in ${JSON.stringify(column)} was asked for. Ids are those of withRowId() in the version that is read.`,
    { details: { column, row_id: String(missing) } },
  );
}

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
  const sql = blobSql(await from.schema(options), column);
  return bytesOf({ target: from.target, column, sql }, rowNumbers(rowIds, 'row id'), options);
}

async function bytesOf(asked: Asked, ids: readonly bigint[], options: CallOptions): Promise<Blobs> {
  if (ids.length === 0) return [];
  const { sql } = asked;
  const found = new Map<bigint, Uint8Array | null>();
  await valuesOf(
    asked,
    ids,
    { data: `${sql}."data"`, uri: `${sql}."uri"` },
    (id, [data, uri]) => {
      refuseAddress(asked, data, uri);
      found.set(id, (data ?? null) as Uint8Array | null);
    },
    options,
  );
  return ids.map((id) => {
    const bytes = found.get(id) ?? null;
    // Memory of its own, which neither repeats nor other blobs share.
    return bytes === null ? null : Buffer.from(Uint8Array.from(bytes).buffer);
  });
}

function refuseAddress({ column }: Asked, data: unknown, uri: unknown): void {
  if (data !== null && data !== undefined) return;
  if (typeof uri !== 'string') return;
  throw new DirspaceError(
    'Unsupported',
    `A blob in ${JSON.stringify(column)} is at ${JSON.stringify(uri.slice(0, 100))}, which is not read here. Read it from there.`,
    { details: { column } },
  );
}

/** A blob whose bytes are read when they are asked for; `fetchBlobFiles` of a table opens them. */
export class BlobFile {
  readonly #size: bigint;
  readonly #fetch: () => Promise<Buffer>;
  #bytes: Promise<Buffer> | undefined;
  #at = 0;

  /** Tables open them; see `Table.fetchBlobFiles`. */
  constructor(size: bigint, fetch: () => Promise<Buffer>) {
    this.#size = size;
    this.#fetch = fetch;
  }

  /** Its bytes in number. */
  size(): bigint {
    return this.#size;
  }

  /** The bytes from the cursor on, which goes to the end: read again, there are none. */
  async read(): Promise<Buffer> {
    const bytes = await this.#load();
    const rest = bytes.subarray(this.#at);
    this.#at = bytes.length;
    return Buffer.from(rest);
  }

  /**
   * The bytes from `start` to before `end`; moves no cursor. All bytes are read for the first range,
   * and kept with the handle.
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
    return Buffer.from((await this.#load()).subarray(Number(start), Number(end)));
  }

  #load(): Promise<Buffer> {
    if (this.#bytes === undefined) {
      this.#bytes = this.#fetch();
      this.#bytes.catch(() => {
        this.#bytes = undefined;
      });
    }
    return this.#bytes;
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
  const sql = blobSql(await from.schema(options), column);
  const ids = rowNumbers(rowIds, 'row id');
  if (ids.length === 0) return [];
  const target = { ...from.target, version: await from.version(options) };
  const asked = { target, column, sql };
  const sizes = new Map<bigint, bigint>();
  await valuesOf(
    asked,
    ids,
    { size: `octet_length(${sql}."data")`, uri: `${sql}."uri"` },
    (id, [size, uri]) => {
      refuseAddress(asked, size, uri);
      if (size !== null && size !== undefined) sizes.set(id, BigInt(size as bigint));
    },
    options,
  );
  return ids.map((id) => {
    const size = sizes.get(id);
    if (size === undefined) return null;
    return new BlobFile(size, async () => (await bytesOf(asked, [id], {}))[0] as Buffer);
  });
}
