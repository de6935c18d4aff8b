/**
 * `writeStagedRows` writes the rows of a staged Lance manifest as fragments and deletion files of
 * the table. It decodes all new data files and reads all new deletion files before anything is
 * published. A fragment whose columns changed is written anew with every row in its place, so row
 * ids and deleted rows stay. On the way it refuses values of computed columns, deleted rows that
 * would come back, and rows that take too many bytes (InvalidInput, Unsupported). The files written
 * are added to `files`, for the caller to discard. `newSchema` is the schema of the version.
 */
import {
  type Data,
  nullColumn,
  type RecordBatch,
  recordBatch,
  recordBatchStream,
  Schema,
  sliceData,
} from '../../arrow/index.ts';
import {
  type DeletionEntry,
  decodeLanceDeletions,
  type FragmentEntry,
  type LanceEntry,
  lanceDeletionsFolder,
  type ParsedDeletion,
  readInBatches,
} from '../../format/index.ts';
import { lanceDeletionName } from '../../lance-paths.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { type Adapter, adapterBetween, type IdentifiedField } from '../fields/index.ts';
import { deletedRows, readFields } from '../fragments/index.ts';
import { datasetOf } from '../lance/index.ts';
import { fragmentPlaces, planScan, requestMemory, type ScanPlan } from '../read/index.ts';
import { compressionOf, type Engine, type Snapshot } from '../versions/index.ts';
import {
  type AttemptFiles,
  DeletionFiles,
  inPlace,
  type NewFragment,
  writeFragments,
} from '../write/index.ts';
import { blamed, invalid } from './refusals.ts';
import type { StagedChange } from './staged-change.ts';
import { computedPlaces, refusedValue } from './staged-computed.ts';
import { RowCosts } from './staged-costs.ts';
import { type RowRange, StagedFiles } from './staged-files.ts';
import type { ColumnSource, PlannedFragment } from './staged-fragments.ts';

export interface StagedRows {
  /** The entries that are new or others than before, by id. */
  readonly written: ReadonlyMap<number, FragmentEntry>;
  /** Resolves once they are on disk for good. */
  readonly durable: Promise<unknown>;
}

/** Largest deletion file: a bitmap of as many rows as a fragment may have. */
const MOST_DELETION_BYTES = 512 * 1024 * 1024;

/** The schema of the version. */
export const newSchema = ({ schema, manifest }: StagedChange): Schema =>
  new Schema(
    schema.tree.map(({ field }) => field),
    new Map(manifest.schemaMetadata),
  );

export async function writeStagedRows(
  engine: Engine,
  base: Snapshot,
  change: StagedChange,
  files: AttemptFiles,
  signal: AbortSignal | undefined,
): Promise<StagedRows> {
  const writer = new RowWriter(engine, base, change, files, signal);
  try {
    for (const fragment of change.plan.fragments) {
      signal?.throwIfAborted();
      await writer.fragment(fragment);
    }
    return writer.finish();
  } finally {
    writer.end();
  }
}

interface StoredColumns {
  /** The positions of the columns in the schema. */
  readonly places: readonly number[];
  readonly tree: readonly IdentifiedField[];
  readonly schema: Schema;
}

class RowWriter {
  readonly #engine: Engine;
  readonly #base: Snapshot;
  readonly #change: StagedChange;
  readonly #files: AttemptFiles;
  readonly #signal: AbortSignal | undefined;
  readonly #schema: Schema;
  readonly #computed: ReadonlySet<number>;
  readonly #deletions: DeletionFiles;
  readonly #held: HeldMemory;
  readonly #costs = new RowCosts();
  readonly #written = new Map<number, FragmentEntry>();
  readonly #durable: Promise<unknown>[] = [];
  readonly #adapters = new Map<IdentifiedField, Adapter | null>();
  readonly #storedColumns = new Map<string, StoredColumns>();
  #plan: ScanPlan | undefined;

  constructor(
    engine: Engine,
    base: Snapshot,
    change: StagedChange,
    files: AttemptFiles,
    signal: AbortSignal | undefined,
  ) {
    this.#engine = engine;
    this.#base = base;
    this.#change = change;
    this.#files = files;
    this.#signal = signal;
    this.#schema = newSchema(change);
    this.#computed = computedPlaces(change);
    this.#deletions = new DeletionFiles(engine, base);
    this.#held = requestMemory(engine).hold('Deleted rows that a writer of Lance has staged');
  }

  async fragment(planned: PlannedFragment): Promise<void> {
    const { id, rows, before, sources } = planned;
    const deletion = await this.#deletion(planned);
    if (sources === undefined) {
      if (deletion !== before?.deletion || planned.again !== undefined)
        this.#written.set(id, { ...(before as FragmentEntry), deletion });
      return;
    }
    const stored = this.#stored(sources);
    const { fragments, durable } = await writeFragments(
      inPlace(this.#engine),
      this.#base.branch.tableFolder,
      recordBatchStream(stored.schema, this.#batches(planned, sources, stored)),
      stored.tree,
      // `StagedFiles` has looked for nulls; rows of before may be deleted.
      {
        lance: true,
        compression: await compressionOf(this.#engine, this.#base.branch, this.#base.manifest),
        required: 'unchecked',
        signal: this.#signal,
      },
    );
    this.#files.addFragments(fragments);
    this.#durable.push(durable);
    const [fragment, ...more] = fragments as [NewFragment];
    if (more.length > 0 || fragment?.rows !== rows)
      throw invalid(`fragment ${id} has ${rows} rows, and its files others`);
    const { lance } = fragment;
    if (lance === undefined || 'problem' in lance)
      throw invalid(`fragment ${id}: ${lance?.problem ?? 'it has no form in Lance'}`);
    const origin: LanceEntry = { ...lance, origin: planned.origin };
    this.#written.set(id, { ...fragment, id, deletion, lance: origin });
  }

  /**
   * The columns that a fragment has in its file: one that comes from nowhere is null without being
   * there, as in the files of the client. A file has one column at least.
   */
  #stored(sources: readonly ColumnSource[]): StoredColumns {
    const places = sources.flatMap((source, at) => (source === 'nulls' ? [] : [at]));
    if (places.length === 0) places.push(0);
    const key = places.join();
    let stored = this.#storedColumns.get(key);
    if (stored === undefined) {
      const tree = places.map((at) => this.#change.schema.tree[at] as IdentifiedField);
      const schema = new Schema(
        tree.map(({ field }) => field),
        this.#schema.metadata,
      );
      stored = { places, tree, schema };
      this.#storedColumns.set(key, stored);
    }
    return stored;
  }

  finish(): StagedRows {
    const durable = Promise.all([...this.#durable, this.#deletions.durable()]);
    durable.catch(() => {});
    return { written: this.#written, durable };
  }

  end(): void {
    this.#held.end();
  }

  /** The deletion file of ours. */
  async #deletion({
    id,
    rows,
    before,
    deletion,
  }: PlannedFragment): Promise<DeletionEntry | undefined> {
    const known = before?.deletion;
    if (deletion === undefined) return known;
    const offsets = await this.#deletedRows(id, rows, deletion);
    if (offsets.length !== deletion.rows)
      throw invalid(
        `the deletion file of fragment ${id} has ${offsets.length} rows, not ${deletion.rows}`,
      );
    if (before !== undefined && known !== undefined) {
      const deleted = (await deletedRows(this.#engine, this.#base, before))?.offsets;
      if (deleted !== undefined && !holdsAll(offsets, deleted))
        throw invalid(`rows of fragment ${id} that were deleted would come back`);
      if (offsets.length === deleted?.length) return known;
    }
    const entry = await this.#deletions.write(offsets, rows);
    this.#files.addDeletion(entry);
    return { ...entry, origin: lanceDeletionName(id, deletion) };
  }

  async #deletedRows(id: number, rows: number, deletion: ParsedDeletion): Promise<Uint32Array> {
    const { store } = this.#engine;
    const name = lanceDeletionName(id, deletion);
    const file = `${lanceDeletionsFolder(datasetOf(this.#base.branch))}/${name}`;
    const size = (await store.head(file))?.size;
    if (size === undefined) throw invalid(`there is no deletion file ${name}`);
    if (size > MOST_DELETION_BYTES) throw invalid(`the deletion file ${name} has ${size} bytes`);
    this.#held.set(size + rows * 4);
    const bytes = await store.get(file);
    if (bytes?.length !== size) throw invalid(`the deletion file ${name} has changed`);
    return blamed(() => decodeLanceDeletions(bytes, { kind: deletion.kind, rows, file }));
  }

  async *#batches(
    planned: PlannedFragment,
    sources: readonly ColumnSource[],
    stored: StoredColumns,
  ): AsyncGenerator<RecordBatch> {
    const { rows } = planned;
    const opened = await blamed(() =>
      StagedFiles.open(this.#engine, this.#base, planned, this.#change.schema),
    );
    try {
      const atOnce = await opened.batchRows();
      this.#costs.begin(planned);
      if (sources.includes('before')) yield* this.#besideBefore(planned, stored, opened, atOnce);
      else {
        yield* readInBatches(rows, atOnce, (first, count) =>
          this.#joined(planned, stored, opened, [], { first, count }),
        );
      }
    } finally {
      opened.close();
    }
  }

  /**
   * Reads columns of the fragment as it was, batch by batch, and the rows of the new files to each.
   */
  async *#besideBefore(
    planned: PlannedFragment,
    stored: StoredColumns,
    opened: StagedFiles,
    atOnce: number,
  ): AsyncGenerator<RecordBatch> {
    const before = planned.before as FragmentEntry;
    const sources = planned.sources as readonly ColumnSource[];
    const known = new Map(this.#base.fields.map(({ id, field }) => [id, field.name]));
    const { tree } = this.#change.schema;
    const names = tree.flatMap(({ id }, at) =>
      sources[at] === 'before' ? [known.get(id) as string] : [],
    );
    this.#plan ??= await planScan(this.#engine, this.#base, { columns: names, fresh: true });
    let first = 0;
    for await (const place of fragmentPlaces(this.#plan, before, 0)) {
      const columns = await readFields(this.#plan, place, names, undefined);
      const start = first;
      yield* readInBatches(place.rows, atOnce, (at, count) => {
        const slices = columns.map((column) => sliceData(column, at, count));
        return this.#joined(planned, stored, opened, slices, { first: start + at, count });
      });
      first += place.rows;
    }
  }

  /** Some rows of every column, in the order of the schema. */
  async #joined(
    planned: PlannedFragment,
    { places, tree, schema }: StoredColumns,
    opened: StagedFiles,
    before: readonly Data[],
    rows: RowRange,
  ): Promise<RecordBatch> {
    const { count } = rows;
    const budget = opened.budget();
    let next = 0;
    const columns: Data[] = [];
    const read: Data[] = [];
    for (const [at, column] of tree.entries()) {
      const place = places[at] as number;
      const source = planned.sources?.[place] as ColumnSource;
      if (source === 'nulls') columns.push(nullColumn(column.field.type, count));
      else if (source === 'before') columns.push(this.#adapted(column, before[next++] as Data));
      else {
        const data = await opened.column(place, column, rows, budget);
        if (this.#computed.has(place) && data.nullCount < count)
          throw refusedValue(column.field.name, planned.id);
        columns.push(data);
        read.push(data);
      }
    }
    this.#costs.add(planned, read);
    return recordBatch(schema, columns, count);
  }

  /** A column of before whose members came, went or got other names. */
  #adapted(column: IdentifiedField, data: Data): Data {
    const stored = this.#base.fields.find(({ id }) => id === column.id) as IdentifiedField;
    let adapter = this.#adapters.get(column);
    if (adapter === undefined) {
      adapter = adapterBetween(column, stored);
      this.#adapters.set(column, adapter);
    }
    return adapter === null ? data : adapter(data);
  }
}

/** Whether all of `few` are among `many`; both ascend. */
function holdsAll(many: Uint32Array, few: Uint32Array): boolean {
  let at = 0;
  for (const row of few) {
    while (at < many.length && (many[at] as number) < row) at++;
    if (many[at] !== row) return false;
  }
  return true;
}
