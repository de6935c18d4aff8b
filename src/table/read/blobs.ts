/**
 * `readBlobs` reads the bytes of blobs, or a range of each, for given row ids. The blobs come in
 * the order of the ids, with repeats. The column `_size` has the whole length of each blob. Every
 * id is checked before anything is answered; one without a row throws InvalidInput, and so does a
 * column without blobs. An unknown column throws TableColumnNotFound. A blob that is stored
 * elsewhere, at an address, throws Unsupported when it is reached.
 */
import {
  blobElsewhere,
  blobPath,
  childFields,
  type Data,
  dataOf,
  Field,
  getBit,
  LargeBinary,
  missingBlob,
  type Offsets,
  offsetAt,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
  setBit,
  Uint64,
  validityOf,
} from '../../arrow/index.ts';
import type { FragmentEntry } from '../../format/index.ts';
import {
  deletedRows,
  FragmentCursor,
  type FragmentReader,
  openFragment,
  plainPosition,
  type ReadPlace,
  readFields,
  type StoredValue,
} from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { batchInLine, batchNow, type PassingBatch } from './passing-batch.ts';
import { runsWithIds } from './wanted-runs.ts';

/** The name of the column that tells how long each blob is as a whole. */
const BLOB_SIZE = '_size';

export interface BlobRequest {
  /** The names of the members with dots between them. */
  readonly column: string;
  readonly rowIds: readonly bigint[];
  /** Where the bytes begin in each blob; below 0 from its end. */
  readonly offset?: number | undefined;
  /** How many there are at most; to the end if absent. */
  readonly length?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes and rows of a batch, at most, where it is not one long value. */
const BATCH_BYTES = 1 << 22;
const BATCH_ROWS = 4_096;

/**
 * A column of the bytes, null where the blob is, and one of the sizes of whole blobs.
 * @throws InvalidInput for an id without a row and a column without blobs, TableColumnNotFound,
 * Unsupported for a blob at an address
 */
export async function readBlobs(
  engine: Engine,
  snapshot: Snapshot,
  request: BlobRequest,
): Promise<RecordBatchStream> {
  const { column, rowIds, signal } = request;
  const path = blobPath(snapshot.schema.fields, column);
  const schema = new Schema([
    new Field(column, new LargeBinary(), true),
    new Field(BLOB_SIZE, new Uint64(), true),
  ]);
  const fragments = await fragmentsOf(engine, snapshot, request);
  const blobs = new BlobColumn(engine, snapshot, path, fragments);
  const turn = new Turn(engine.env);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    let passing: PassingBatch | undefined;
    let lot = new Lot();
    const end = (): RecordBatch => {
      const batch = recordBatch(schema, lot.columns(), lot.rows);
      lot = new Lot();
      return batch;
    };
    try {
      for (const [at, id] of rowIds.entries()) {
        if (turn.isOver()) await turn.pass();
        signal?.throwIfAborted();
        const value = await blobs.find(id, column);
        const [from, to] = value === null ? [0, 0] : rangeOf(value.size, request);
        if (lot.isFull(to - from)) {
          yield end();
          passing?.end();
          passing = undefined;
        }
        const bytes = lot.bytes + to - from;
        if (passing === undefined) {
          const about = Math.max(bytes, Math.min(BATCH_BYTES, bytes * (rowIds.length - at)));
          passing = batchNow({ engine }, about) ?? (await batchInLine({ engine, signal }, about));
        }
        passing.grow(bytes);
        lot.add(value, await value?.read(from, to));
      }
      if (lot.rows > 0) yield end();
    } finally {
      passing?.end();
      blobs.close();
    }
  };
  return recordBatchStream(schema, batches());
}

function rangeOf(size: number, { offset = 0, length }: BlobRequest): [from: number, to: number] {
  const from = offset < 0 ? Math.max(0, size + offset) : Math.min(offset, size);
  return [from, length === undefined ? size : Math.min(size, from + length)];
}

/** Values that are one batch of the answer. */
class Lot {
  bytes = 0;
  readonly #values: (Uint8Array | undefined)[] = [];
  readonly #sizes: number[] = [];

  get rows(): number {
    return this.#values.length;
  }

  isFull(more: number): boolean {
    return this.rows === BATCH_ROWS || (this.rows > 0 && this.bytes + more > BATCH_BYTES);
  }

  add(value: StoredValue | null, bytes: Uint8Array | undefined): void {
    this.#values.push(bytes);
    this.#sizes.push(value?.size ?? 0);
    this.bytes += bytes?.length ?? 0;
  }

  columns(): Data[] {
    const { rows } = this;
    const offsets = new BigInt64Array(rows + 1);
    const validity = new Uint8Array((rows + 7) >> 3);
    const [first] = this.#values;
    // A long value is not copied.
    const values = rows === 1 && first !== undefined ? first : new Uint8Array(this.bytes);
    let nullCount = 0;
    let end = 0;
    for (const [at, bytes] of this.#values.entries()) {
      if (bytes === undefined) nullCount += 1;
      else {
        setBit(validity, at);
        if (bytes !== values) values.set(bytes, end);
        end += bytes.length;
      }
      offsets[at + 1] = BigInt(end);
    }
    const nulls = nullCount === 0 ? {} : { nullCount, validity };
    const sizes = BigUint64Array.from(this.#sizes, BigInt);
    return [
      dataOf(new LargeBinary(), rows, { ...nulls, offsets, values }),
      dataOf(new Uint64(), rows, { ...nulls, values: sizes }),
    ];
  }
}

/** The fragments that have the rows, by id. @throws InvalidInput for a row that is not there */
async function fragmentsOf(
  engine: Engine,
  snapshot: Snapshot,
  { column, rowIds, signal }: BlobRequest,
): Promise<Map<number, FragmentEntry>> {
  const rows = new Map<number, number[]>();
  for (const id of rowIds) {
    const fragment = Number(id >> 32n);
    const own = rows.get(fragment);
    if (own === undefined) rows.set(fragment, [Number(id & 0xffff_ffffn)]);
    else own.push(Number(id & 0xffff_ffffn));
  }
  const found = new Map<number, FragmentEntry>();
  const cursor = new FragmentCursor(engine, snapshot, runsWithIds([...rows.keys()]));
  const turn = new Turn(engine.env);
  while (found.size < rows.size) {
    if (turn.isOver()) await turn.pass();
    signal?.throwIfAborted();
    const next = cursor.next();
    const entry = next instanceof Promise ? await next : next;
    if (entry === undefined) break;
    const own = rows.get(entry.id);
    if (own === undefined) continue;
    const deleted = await deletedRows(engine, snapshot, entry);
    const missing = own.find((row) => row >= entry.rows || deleted?.has(row) === true);
    if (missing !== undefined) {
      throw missingBlob(column, (BigInt(entry.id) << 32n) | BigInt(missing));
    }
    found.set(entry.id, entry);
  }
  const missing = rowIds.find((id) => !found.has(Number(id >> 32n)));
  if (missing !== undefined) throw missingBlob(column, missing);
  return found;
}

/** The values of one column of blobs. Keeps the fragment open that was read last. */
class BlobColumn {
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #fragments: ReadonlyMap<number, FragmentEntry>;
  /** The column of the table, and the members that lead from it to the blob. */
  readonly #names: readonly [string];
  readonly #members: readonly number[];
  #open: { readonly entry: FragmentEntry; readonly reader: FragmentReader } | undefined;

  constructor(
    engine: Engine,
    snapshot: Snapshot,
    path: readonly string[],
    fragments: ReadonlyMap<number, FragmentEntry>,
  ) {
    this.#engine = engine;
    this.#snapshot = snapshot;
    this.#fragments = fragments;
    const [name, ...members] = path as [string, ...string[]];
    this.#names = [name];
    let at = snapshot.schema.fields.find((field) => field.name === name) as Field;
    this.#members = members.map((member) => {
      const place = childFields(at.type).findIndex((child) => child.name === member);
      at = childFields(at.type)[place] as Field;
      return place;
    });
  }

  /** Null where the blob is. @throws Unsupported for one at an address */
  async find(rowId: bigint, column: string): Promise<StoredValue | null> {
    const place = await this.#placeOf(Number(rowId >> 32n), Number(rowId & 0xffff_ffffn));
    const value = await this.#member(place, DATA);
    if (value !== null) return value;
    const uri = await this.#member(place, URI);
    if (uri === null) return null;
    throw blobElsewhere(column, new TextDecoder().decode(await uri.read(0, uri.size)));
  }

  async #member(place: ReadPlace & { row: number }, member: number): Promise<StoredValue | null> {
    const path = [...this.#members, member];
    const position = plainPosition({ snapshot: this.#snapshot }, place, this.#names);
    const { reader, index, row } = place;
    const value =
      position === undefined ? undefined : await reader.value(index, position, path, row);
    if (value !== undefined) return value;
    const rows = Uint32Array.of(row);
    const [data] = await readFields({ snapshot: this.#snapshot }, place, this.#names, rows);
    return valueIn(data as Data, path);
  }

  async #placeOf(fragment: number, row: number): Promise<ReadPlace & { row: number }> {
    const entry = this.#fragments.get(fragment) as FragmentEntry;
    if (this.#open?.entry !== entry) {
      this.close();
      const reader = await openFragment(this.#engine, this.#snapshot, entry);
      this.#open = { entry, reader };
    }
    const { reader } = this.#open as { readonly reader: FragmentReader };
    let first = 0;
    let index = 0;
    for (const { rows } of reader.footer.batches) {
      if (row < first + rows) return { reader, entry, index, rows, row: row - first };
      first += rows;
      index += 1;
    }
    throw missingBlob(this.#names[0], (BigInt(fragment) << 32n) | BigInt(row));
  }

  close(): void {
    this.#open?.reader.close();
    this.#open = undefined;
  }
}

/** The members of a blob. */
const DATA = 0;
const URI = 1;

/** The value in a column of one row. */
function valueIn(column: Data, path: readonly number[]): StoredValue | null {
  let data = column;
  for (const member of [...path, -1]) {
    const validity = validityOf(data);
    if (validity !== undefined && !getBit(validity, data.offset)) return null;
    if (member >= 0) data = data.children[member] as Data;
  }
  const offsets = data.valueOffsets as unknown as Offsets;
  const begin = offsetAt(offsets, data.offset);
  const size = offsetAt(offsets, data.offset + 1) - begin;
  const bytes = data.values as unknown as Uint8Array;
  return { size, read: (from, to) => bytes.slice(begin + from, begin + to) };
}
