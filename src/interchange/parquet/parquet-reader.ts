/**
 * `openParquet` opens a Parquet file as a stream of record batches. It reads the columns of a row
 * group side by side and decodes their pages straight into Arrow arrays, without an object per row.
 * It checks the sizes that the file declares before it allocates memory. A source without ranges is
 * first copied into a temporary file. A damaged or unsupported file throws InvalidInput.
 */
import {
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  Schema,
} from '../../arrow/index.ts';
import { isDirspaceError } from '../../errors.ts';
import { type FileBytes, openArrowBody } from '../../ipc/index.ts';
import { stepped } from '../../stepped.ts';
import { plainPause } from '../../steps.ts';
import {
  type ByteSource,
  fileProblem,
  requireColumns,
  type Spool,
  spooled,
} from '../files/index.ts';
import { ColumnCursor, type LeafPart } from './column-cursor.ts';
import { type ColumnPlan, columnPlans } from './column-plan.ts';
import { type ParquetMetadata, parquetMetadata, type RowGroup } from './metadata.ts';
import type { Refuse } from './thrift.ts';

const MAGIC = 0x31524150;
const ENCRYPTED_MAGIC = 0x45524150;
/** Footers of the widest tables have a few megabytes. */
const MOST_FOOTER_BYTES = 1 << 26;
const TAIL_BYTES = 8;
const HEAD_BYTES = 4;

const BATCH_ROWS = 1 << 16;
/** Bytes of a batch that its rows are chosen for. */
const BATCH_BYTES = 1 << 25;
/** Bytes of all columns that are read ahead, and bounds of those of one. */
const AHEAD_BYTES = 1 << 25;
const [LEAST_WINDOW, MOST_WINDOW] = [1 << 15, 1 << 20];

export interface ParquetReadOptions {
  /** Names of the columns to read, which come in the order of the file; all if absent. */
  readonly columns?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** @throws InvalidInput naming the file, for what is damaged or not read; so do the batches */
export async function openParquet(
  source: ByteSource,
  { columns, signal }: ParquetReadOptions = {},
): Promise<RecordBatchStream> {
  const refuse: Refuse = (what) => {
    throw fileProblem(`${source.name} cannot be read as Parquet: ${what}.`, { file: source.name });
  };
  const own = source.ranges ?? source.remoteRanges;
  const spool = own === undefined ? await spooled(source, signal) : undefined;
  const file = own ?? (spool as Spool).ranges;
  try {
    const metadata = parquetMetadata(await footerOf(file, refuse), refuse);
    const { children } = metadata.root;
    const names = children.map(({ name }) => name);
    requireColumns(source.name, names, columns ?? []);
    const hint = await hintOf(metadata);
    const plans = columnPlans(
      metadata.root,
      hint?.fields ?? [],
      columns && new Set(columns),
      refuse,
    );
    const schema = new Schema(
      plans.map(({ field }) => field),
      hint?.metadata ?? new Map(),
    );
    const reader = new GroupReader(file, metadata, plans, schema, refuse, signal);
    const batches = stepped(
      () => reader.next(),
      () => spool?.close(),
    );
    return Object.assign(batches, { schema });
  } catch (error) {
    await spool?.close();
    throw error;
  }
}

async function footerOf(file: FileBytes, refuse: Refuse): Promise<Uint8Array> {
  if (file.size < HEAD_BYTES + TAIL_BYTES) refuse('it is too short');
  const tail = await file.read(file.size - TAIL_BYTES, file.size);
  if (tail.length < TAIL_BYTES) refuse('it has become shorter');
  const view = new DataView(tail.buffer, tail.byteOffset, TAIL_BYTES);
  const magic = view.getUint32(4, true);
  if (magic === ENCRYPTED_MAGIC) refuse('it is encrypted, which is not read');
  if (magic !== MAGIC) refuse('it does not end as Parquet files do, so it may be cut off');
  const length = view.getUint32(0, true);
  if (length > file.size - HEAD_BYTES - TAIL_BYTES)
    refuse(`its footer has ${length} bytes, more than the file`);
  if (length > MOST_FOOTER_BYTES)
    refuse(`its footer has ${length} bytes; at most ${MOST_FOOTER_BYTES} are read`);
  const end = file.size - TAIL_BYTES;
  const footer = await file.read(end - length, end);
  return footer.length === length ? footer : refuse('it has become shorter');
}

const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/** The Arrow schema that the file's writer left in it, which names types that Parquet has not. */
async function hintOf({ keyValues }: ParquetMetadata): Promise<Schema | undefined> {
  const text = keyValues.get('ARROW:schema');
  if (text === undefined) return undefined;
  try {
    const message = Buffer.from(text, 'base64');
    const stream = await openArrowBody(Buffer.concat([message, END_OF_STREAM]), {
      requireEos: false,
    });
    return stream.schema;
  } catch (error) {
    // Types that are not known here are those that Parquet gives.
    if (isDirspaceError(error)) return undefined;
    throw error;
  }
}

/** Gives the batches of all row groups. */
class GroupReader {
  readonly #file: FileBytes;
  readonly #metadata: ParquetMetadata;
  readonly #plans: readonly ColumnPlan[];
  readonly #schema: Schema;
  readonly #refuse: Refuse;
  readonly #signal: AbortSignal | undefined;
  readonly #pause = plainPause();
  #group = 0;
  /** One for each leaf that is read. */
  #cursors: ReadonlyMap<number, ColumnCursor> = new Map();
  #rows = 0;
  #batchRows = 0;

  constructor(
    file: FileBytes,
    metadata: ParquetMetadata,
    plans: readonly ColumnPlan[],
    schema: Schema,
    refuse: Refuse,
    signal: AbortSignal | undefined,
  ) {
    this.#file = file;
    this.#metadata = metadata;
    this.#plans = plans;
    this.#schema = schema;
    this.#refuse = refuse;
    this.#signal = signal;
  }

  async next(): Promise<RecordBatch | undefined> {
    while (this.#rows === 0) {
      const group = this.#metadata.groups[this.#group++];
      if (group === undefined) return undefined;
      await this.#begin(group);
    }
    const rows = Math.min(this.#rows, this.#batchRows);
    const parts = new Array<LeafPart>(this.#metadata.leaves.length);
    for (const [leaf, cursor] of this.#cursors) {
      await this.#turn();
      parts[leaf] = await cursor.take(rows);
    }
    const columns = [];
    for (const plan of this.#plans) {
      await this.#turn();
      columns.push(plan.data(parts, rows));
    }
    this.#rows -= rows;
    return recordBatch(this.#schema, columns, rows);
  }

  /** Lets other work run from time to time while much is decoded. */
  async #turn(): Promise<void> {
    this.#signal?.throwIfAborted();
    const waiting = this.#pause();
    if (waiting !== undefined) await waiting;
  }

  async #begin(group: RowGroup): Promise<void> {
    const { leaves } = this.#metadata;
    this.#rows = group.rows;
    if (group.rows === 0) return;
    if (leaves.length === 0) this.#refuse('it has rows and no columns');
    const read = this.#plans.flatMap(({ leaves: [from, to] }) =>
      Array.from({ length: to - from }, (_, at) => from + at),
    );
    const share = AHEAD_BYTES / Math.max(1, read.length);
    const window = Math.max(LEAST_WINDOW, Math.min(MOST_WINDOW, Math.floor(share)));
    this.#cursors = new Map(
      read.map((at) => [
        at,
        new ColumnCursor(
          leaves[at] as (typeof leaves)[number],
          group.columns[at] as RowGroup['columns'][number],
          this.#file,
          window,
          this.#refuse,
        ),
      ]),
    );
    let perRow = 1;
    for (const [at, cursor] of this.#cursors) {
      await this.#turn();
      await cursor.start();
      const { plainBytes, values } = group.columns[at] as RowGroup['columns'][number];
      const items = values / group.rows;
      // Words of a dictionary are stored once, whatever the rows that have them.
      perRow += Math.max(plainBytes / group.rows, items * (8 + cursor.longestWord()));
    }
    this.#batchRows = Math.max(1, Math.min(BATCH_ROWS, Math.floor(BATCH_BYTES / perRow)));
  }
}
