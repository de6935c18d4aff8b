/**
 * `writeFragments` writes a stream of batches as fragment files with bounded memory, before any
 * commit is tried; the caller awaits `durable` before it commits. On an error it removes all files
 * that it wrote. A null in a required field throws TableSchemaValidation; with the option
 * `required` only nested fields are checked, or none. `writesLance` tells whether fragments get a
 * part for Lance. `removeFragments` removes fragments that no version refers to, and never rejects.
 *
 * Each fragment is checked when it is written, because an encoder's mistake must not be committed.
 * A fragment of up to 256 KiB is decoded as a whole; of a larger one the footer is read back.
 */
import {
  type BatchLimits,
  batchBytes as bytesOf,
  columnsOf,
  type RecordBatchStream,
  rebatch,
  recordBatch,
  type Schema,
} from '../../arrow/index.ts';
import { joined } from '../../bytes.ts';
import type { Compression } from '../../compression.ts';
import {
  ColumnCompressor,
  decodeFooterInSteps,
  decodeFragment as decodeWholeFragment,
  encodeStatistics,
  entryFile,
  FragmentEncoder,
  type FragmentEntry,
  type FragmentSummary,
  LancePartWriter,
  lanceFields,
  parentFolder,
  plainColumn,
  withoutViews,
} from '../../format/index.ts';
import { withFieldIds } from '../../ipc/index.ts';
import type { Awaitable, ObjectWriter } from '../../store/index.ts';
import { type IdentifiedField, listFieldIds } from '../fields/index.ts';
import { rememberFooter } from '../fragments/index.ts';
import { type StructOrder, structRuns, structsToCut } from '../lance/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { deleteQuietly, inTurns, Turn } from '../work/index.ts';
import { RequiredValues, refuseNulls } from './required-values.ts';

/** A fragment on disk that no version refers to yet; it gets its id when it is committed. */
export type NewFragment = Omit<FragmentEntry, 'id'>;

export interface Written {
  readonly fragments: readonly NewFragment[];
  readonly rows: number;
  /** Resolves once all of them are on disk for good. */
  readonly durable: Promise<unknown>;
}

/** Encoded bytes held back to be written together. */
const ONE_PIECE = 64 * 1024;
/**
 * How often a batch is in memory, in one form or another, while it and the next one are written.
 */
const WRITE_COPIES = 3;
/** Up to this size a fragment is read back and decoded whole; of larger ones the structure is. */
const WHOLE_READ_BACK = 256 * 1024;

/**
 * Whether fragments of a table get a Lance part: what its newest version says, else the catalog.
 */
export const writesLance = (engine: Engine, base: Snapshot | undefined): boolean =>
  base?.manifest.lance ?? engine.lance !== 'off';

export interface FragmentOptions {
  /** Writes a Lance part into each of them, where their columns have a form in Lance. */
  readonly lance: boolean;
  /**
   * Writes rows without a struct into fragments of their own, which Lance can read: whether the
   * order of rows is kept.
   */
  readonly structs?: StructOrder | undefined;
  readonly compression: Compression;
  /**
   * Whether fragments of which nothing was worth compressing say so, and are not written anew for
   * it.
   */
  readonly notesCompression?: boolean;
  /**
   * The table's fields, whose nullability decides where a nested null is refused: `fields` where
   * absent, and then top-level columns are checked too. 'unchecked' is for rows that the table
   * holds already, deleted ones among them.
   */
  readonly required?: readonly IdentifiedField[] | 'unchecked';
  /** Writes each batch as it comes: a file beside others of a fragment has the same batches. */
  readonly asGiven?: boolean;
  /**
   * Asks for the next batch while one is being written: their maker leaves the memory of a batch as
   * it is until it has made the next one and is asked for the one after that.
   */
  readonly ahead?: boolean;
  /** Writes files of an index, which lie in a folder of their own. */
  readonly isOfIndex?: true;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a stream as fragments with bounded memory. On any error, of the stream or of the disk,
 * everything written is removed again.
 * @throws TableSchemaValidation for a null in a field that may not be null
 */
export async function writeFragments(
  engine: Engine,
  tableFolder: string,
  stream: RecordBatchStream,
  fields: readonly IdentifiedField[],
  options: FragmentOptions,
): Promise<Written> {
  const { lance, structs: order } = options;
  const structs = lance && order !== undefined ? structsToCut(stream.schema, fields) : [];
  if (order === undefined || structs.length === 0)
    return writeRun(engine, tableFolder, stream, fields, options, 0);
  const written: Written[] = [];
  let rows = 0;
  const turn = new Turn(engine.env);
  const limits = batchLimits(engine, stream);
  try {
    const cutting = { order, limits, pause: () => turn.pause() };
    for await (const run of structRuns(stream, fields, structs, cutting)) {
      const made = await writeRun(engine, tableFolder, run.stream, run.fields, options, rows);
      written.push(made);
      rows += made.rows;
    }
  } catch (error) {
    await Promise.allSettled(written.map(({ durable }) => durable));
    for (const { fragments } of written) await removeFragments(engine, tableFolder, fragments);
    throw error;
  }
  const durable = Promise.all(written.map((run) => run.durable));
  // Whoever awaits it sees the error; until then it must not count as unhandled.
  durable.catch(() => {});
  return { fragments: written.flatMap(({ fragments }) => fragments), rows, durable };
}

/** @param firstRow rows of the stream before these, for errors */
async function writeRun(
  engine: Engine,
  tableFolder: string,
  stream: RecordBatchStream,
  fields: readonly IdentifiedField[],
  options: FragmentOptions,
  firstRow: number,
): Promise<Written> {
  const { required, signal } = options;
  const limits = batchLimits(engine, stream);
  const writer = new FragmentsWriter(engine, tableFolder, stream, fields, options);
  const rules = required === 'unchecked' ? undefined : RequiredValues.of(fields, required);
  let rows = 0;
  const held = engine.serverMemory?.hold('Rows that are written');
  // A row that is larger than all memory is written nevertheless: it was counted as it came.
  const most = (engine.serverMemory?.limit ?? 0) / 4;
  try {
    const given = pulledAfter(stream, () => writer.settled(), options.ahead === true);
    const pause = (): Promise<void> | undefined => writer.breathe();
    const batches = options.asGiven === true ? given : rebatch(given, stream.schema, limits, pause);
    for await (const batch of batches) {
      signal?.throwIfAborted();
      // It and its encoded bytes, the batch before it being written, and what is joined meanwhile.
      held?.set(Math.max(held.bytes, Math.min(WRITE_COPIES * bytesOf(batch), most)));
      rules?.check(batch, firstRow + rows);
      rows += batch.numRows;
      await writer.write(batch);
    }
    const written = await writer.finish();
    if (required === undefined) refuseNulls(fields, written.fragments);
    return written;
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    held?.end();
  }
}

const batchLimits = ({ limits }: Engine, { schema }: RecordBatchStream): BatchLimits => ({
  rows: limits.batchRows,
  bytes: limits.batchBytes * wideness(schema),
});

/** Columns of a batch beyond which it may be larger: 32 KiB of each, in place of ever fewer. */
const MANY_COLUMNS = 256;
const MOST_TIMES = 4;

/**
 * How many times as large the batches of very many columns may be. What the footer says of a column
 * takes some 90 bytes for each batch, all of which whoever reads one column has to read.
 */
const wideness = ({ fields }: RecordBatchStream['schema']): number =>
  Math.min(Math.max(fields.length / MANY_COLUMNS, 1), MOST_TIMES);

/**
 * Waits until a batch is written before pulling the next, as its maker may reuse the memory; with
 * `ahead`, before pulling the one after the next.
 */
async function* pulledAfter<Batch>(
  stream: AsyncIterable<Batch>,
  settled: () => Promise<void>,
  ahead: boolean,
): AsyncGenerator<Batch> {
  let before: Promise<void> | undefined;
  for await (const batch of stream) {
    yield batch;
    const written = settled();
    await (ahead ? before : written);
    before = written;
  }
}

/** Removes the files of fragments that no version refers to; cleanup finds those that cannot be removed. */
export async function removeFragments(
  { store }: Engine,
  tableFolder: string,
  fragments: readonly NewFragment[],
): Promise<void> {
  for (const fragment of fragments) await deleteQuietly(store, entryFile(tableFolder, fragment));
}

interface MarkedSchema {
  readonly fields: readonly IdentifiedField[];
  readonly schema: Schema;
}

const markedSchemas = new WeakMap<Schema, MarkedSchema>();

/** The schema with the ids of its fields: the same object while the same schema is written. */
function markedSchema(schema: Schema, fields: readonly IdentifiedField[]): Schema {
  const last = markedSchemas.get(schema);
  if (last?.fields === fields) return last.schema;
  const marked = withFieldIds(schema, listFieldIds(fields));
  markedSchemas.set(schema, { fields, schema: marked });
  return marked;
}

/** Without views, which Lance has none of; undefined where columns are stored as they come. */
function storedSchema(schema: Schema, fields: readonly IdentifiedField[]): Schema | undefined {
  const plain = withoutViews(schema);
  if (plain === schema) return undefined;
  // A schema that Lance does not open for other reasons stays as it is.
  return 'fields' in lanceFields(plain.fields, listFieldIds(fields)) ? plain : undefined;
}

type Batch = Parameters<FragmentEncoder['batch']>[0];

interface OpenFragment {
  readonly file: string;
  readonly encoder: FragmentEncoder;
  /** Undefined where the fragment is Arrow's alone. */
  lancePart: LancePartWriter | undefined;
  readonly writer: ObjectWriter;
  /** Encoded, not written yet: a small fragment goes to the disk in one piece. */
  pending: Uint8Array[];
  pendingBytes: number;
  rows: number;
  bytes: number;
}

class FragmentsWriter {
  readonly #engine: Engine;
  readonly #tableFolder: string;
  readonly #isOfIndex: true | undefined;
  readonly #schema: RecordBatchStream['schema'];
  readonly #fieldIds: readonly number[];
  readonly #lance: boolean;
  /** Shared by all fragments, so that it remembers which columns are not worth compressing. */
  readonly #compressor: ColumnCompressor | undefined;
  readonly #notesCompression: boolean;
  /** Set where columns are stored as another type than they have. */
  readonly #plain: Schema | undefined;
  readonly #turn: Turn;
  readonly #done: NewFragment[] = [];
  readonly #syncs: Promise<unknown>[] = [];
  #open: OpenFragment | undefined;
  /** The last write, which goes on while the next batch is encoded. */
  #writing: Promise<void> | undefined;

  constructor(
    engine: Engine,
    tableFolder: string,
    stream: RecordBatchStream,
    fields: readonly IdentifiedField[],
    { lance, compression, notesCompression = false, isOfIndex }: FragmentOptions,
  ) {
    this.#isOfIndex = isOfIndex;
    this.#engine = engine;
    this.#lance = lance;
    this.#compressor = compression === 'none' ? undefined : new ColumnCompressor(compression);
    this.#notesCompression = notesCompression;
    this.#turn = new Turn(engine.env);
    this.#tableFolder = tableFolder;
    this.#plain = lance ? storedSchema(stream.schema, fields) : undefined;
    this.#schema = markedSchema(this.#plain ?? stream.schema, fields);
    this.#fieldIds = fields.map((field) => field.id);
  }

  #path(file: string): string {
    return entryFile(this.#tableFolder, { file, isOfIndex: this.#isOfIndex });
  }

  /** Waits for the next turn if this one is over: a batch of many columns may take a whole one. */
  breathe(): Promise<void> | undefined {
    return this.#turn.pause();
  }

  async write(batch: Batch): Promise<void> {
    if (batch.numRows === 0) return;
    await this.breathe();
    if (this.#open === undefined) {
      this.#open = await this.#begin();
      await this.breathe();
    }
    const open = this.#open;
    this.#add(open, await this.#encoded(open, this.#stored(batch)));
    open.rows += batch.numRows;
    if (open.pendingBytes > ONE_PIECE) await this.#flush(open);
    const { fragmentRows, fragmentBytes } = this.#engine.limits;
    if (open.rows >= fragmentRows || open.bytes >= fragmentBytes) await this.#end();
  }

  /** Encodes a batch to the pieces to write; compressing a large one takes many turns of the event loop. */
  #encoded(open: OpenFragment, batch: Batch): Awaitable<Uint8Array[]> {
    if (this.#compressor === undefined) return open.encoder.batch(batch);
    return inTurns(this.#turn, open.encoder.batchInSteps(batch), undefined);
  }

  /** The batch as the fragment holds it. */
  #stored(batch: Batch): Batch {
    const plain = this.#plain;
    if (plain === undefined) return batch;
    const columns = columnsOf(batch).map((data, at) => {
      const { name, type } = plain.fields[at] as Schema['fields'][number];
      return plainColumn(data, type, name);
    });
    return recordBatch(plain, columns, batch.numRows);
  }

  /** Resolves once nothing of the batches so far is needed any more. */
  async settled(): Promise<void> {
    // What waits to be written is small, and so a copy.
    await this.#writing;
  }

  async finish(): Promise<Written> {
    await this.#end();
    const folder = parentFolder(this.#path('-'));
    const durable =
      this.#done.length === 0
        ? Promise.resolve()
        : Promise.all([...this.#syncs, this.#engine.store.syncFolders([folder])]);
    // Whoever awaits it sees the error; until then it must not count as unhandled.
    durable.catch(() => {});
    const rows = this.#done.reduce((sum, fragment) => sum + fragment.rows, 0);
    return { fragments: this.#done, rows, durable };
  }

  async abort(): Promise<void> {
    await this.#writing?.catch(() => {});
    await this.#open?.writer.abort();
    await Promise.allSettled(this.#syncs);
    await removeFragments(this.#engine, this.#tableFolder, this.#done);
  }

  async #begin(): Promise<OpenFragment> {
    const file = await this.#engine.newObject();
    let lancePart: LancePartWriter | undefined;
    const encoder = new FragmentEncoder(
      this.#schema,
      this.#lance
        ? (fields) => {
            lancePart = new LancePartWriter(fields);
            return lancePart;
          }
        : undefined,
      this.#compressor,
    );
    // Whoever names a file has entered the folder of the table, or made it in the staging folder.
    const writer = await this.#engine.store.create(this.#path(file), true);
    const open = {
      file,
      encoder,
      lancePart,
      writer,
      pending: [],
      pendingBytes: 0,
      rows: 0,
      bytes: 0,
    };
    this.#add(open, encoder.begin());
    return open;
  }

  #add(open: OpenFragment, buffers: readonly Uint8Array[]): void {
    for (const buffer of buffers) {
      open.pending.push(buffer);
      open.pendingBytes += buffer.length;
      open.bytes += buffer.length;
    }
  }

  async #flush(open: OpenFragment): Promise<void> {
    const buffers = open.pending;
    open.pending = [];
    open.pendingBytes = 0;
    await this.#writing;
    this.#writing = open.writer.write(buffers);
    // Whoever waits for it sees the error; until then it must not count as unhandled.
    this.#writing.catch(() => {});
  }

  async #end(): Promise<void> {
    const open = this.#open;
    if (open === undefined) return;
    await this.breathe();
    this.#add(open, open.encoder.end());
    const summary = open.encoder.summary();
    if (open.pendingBytes === open.bytes) {
      // In memory as a whole: an encoder's mistake shows before anything is written.
      const whole = joined(open.pending, open.bytes);
      decodeWholeFragment(whole, summary, this.#path(open.file));
      await open.writer.write([whole]);
    } else {
      await this.#flush(open);
      await this.#writing;
      await this.#readBack(open.file, summary);
    }
    this.#open = undefined;
    this.#done.push({
      file: open.file,
      rows: summary.rows,
      bytes: summary.bytes,
      footerBytes: summary.footerBytes,
      footerChecksum: summary.footerChecksum,
      fields: this.#fieldIds,
      statistics: summary.statistics.map(encodeStatistics),
      deletion: undefined,
      ...(this.#isOfIndex === undefined ? {} : { isOfIndex: this.#isOfIndex }),
      ...(open.lancePart === undefined ? {} : { lance: open.lancePart.entry }),
      ...(summary.isCompressed || this.#notesCompression
        ? { compressed: summary.isCompressed }
        : {}),
    });
    const synced = open.writer.finish();
    // `finish` hands the error on; until then it must not count as unhandled.
    synced.catch(() => {});
    this.#syncs.push(synced);
  }

  /** An encoder's mistake must never be committed: what was not checked in memory is read back. */
  async #readBack(file: string, summary: FragmentSummary): Promise<void> {
    const path = this.#path(file);
    const reader = await this.#engine.store.open(path);
    if (reader === undefined) return;
    try {
      if (summary.bytes <= WHOLE_READ_BACK) {
        decodeWholeFragment(await reader.read(0, summary.bytes), summary, path);
      } else {
        const start = summary.bytes - summary.footerBytes;
        const tail = await reader.read(start, summary.footerBytes);
        const steps = decodeFooterInSteps(tail, summary, path);
        const footer = await inTurns(new Turn(this.#engine.env), steps, undefined);
        rememberFooter(this.#engine, { ...summary, file }, footer);
      }
    } finally {
      reader.close();
    }
  }
}
