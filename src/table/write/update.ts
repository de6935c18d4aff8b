/**
 * `updateRows` updates the rows that match a predicate, in one version, or in none if no row
 * matches. Expressions see the row as it was; computed columns that depend on a set column become
 * null. It marks the old rows as deleted and writes the changed ones as new fragments, so updated
 * rows get new row ids and come last in row order. Rows of large fragments may be updated in place
 * instead (update-in-place.ts). An unknown column throws TableColumnNotFound, a value that does not
 * fit InvalidInput, a null in a required column TableSchemaValidation. `replacingDraft` builds such
 * a version for merges too.
 */
import {
  columnsOf,
  type Data,
  type RecordBatch,
  rebatch,
  recordBatch,
  recordBatchStream,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { withStale } from '../fields/index.ts';
import { structOrder } from '../lance/index.ts';
import {
  type BatchPlace,
  matchingRows,
  pipelined,
  planScan,
  readSelected,
  selectedCount,
  sliceRows,
} from '../read/index.ts';
import {
  type Committed,
  compressionOf,
  type Draft,
  type Engine,
  editFragments,
  emptyTable,
  fragmentListOf,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { andThen, inTurns, LentColumns, Turn } from '../work/index.ts';
import type { WriteOptions } from './append.ts';
import { assignedColumns, compileAssignments, fieldsSet, neededColumns } from './assignments.ts';
import { type AttemptFiles, commitWithFiles } from './attempt.ts';
import { deleteOffsets, RowOffsets } from './delete-rows.ts';
import { type UpdatedInPlace, updateInPlace } from './update-in-place.ts';
import { type Written, writeFragments, writesLance } from './write.ts';

export interface UpdateRequest {
  /** Fields, nested ones with dots, and the SQL expressions of their new values. */
  readonly updates: readonly (readonly [path: string, sql: string])[];
  /** SQL; rows for which it is true are updated. All of them if absent. */
  readonly filter?: string | undefined;
}

export interface RowsUpdated extends Committed {
  readonly updatedRows: number;
}

/**
 * One version with all of it; none if no row matches. Expressions see the row as it was. After a
 * conflict the update is done anew on the newer version.
 * @throws TableColumnNotFound, InvalidInput for a value that does not fit its column
 */
export async function updateRows(
  engine: Engine,
  branch: TableBranch,
  request: UpdateRequest,
  options: WriteOptions = {},
): Promise<RowsUpdated> {
  if (request.updates.length === 0) {
    throw new DirspaceError('InvalidInput', 'The update sets no column.');
  }
  let updatedRows = 0;
  const committed = await commitWithFiles(engine, branch, options, async (writing, base, files) => {
    if (base === undefined) throw emptyTable();
    const whole = { ...request, updates: withStale(base, request.updates) };
    const inPlace = await updateInPlace(writing, base, whole, files, options.signal);
    const changed = await changeRows(writing, base, whole, inPlace, options.signal);
    files.addFragments(changed.written.fragments);
    updatedRows = changed.written.rows + (inPlace?.rows ?? 0);
    if (updatedRows === 0) return undefined;
    return replacingDraft(writing, base, files, {
      kind: 'update',
      summary: { updated_rows: updatedRows },
      inPlace,
      ...changed,
    });
  });
  return { ...committed, updatedRows };
}

interface ChangedRows {
  readonly written: Written;
  /** Offsets of the rows that go, by fragment id. */
  readonly gone: ReadonlyMap<number, Uint32Array>;
}

/** @param inPlace what is updated already; its rows that are left are found */
async function changeRows(
  engine: Engine,
  base: Snapshot,
  request: UpdateRequest,
  inPlace: UpdatedInPlace | undefined,
  signal: AbortSignal | undefined,
): Promise<ChangedRows> {
  const assignments = await compileAssignments(base, request.updates);
  const names = neededColumns(base, assignments);
  const plan = await planScan(engine, base, {
    columns: names,
    filter: request.filter,
    fresh: true,
    signal,
  });
  const gone = new RowOffsets();
  const found = (place: BatchPlace) => {
    const lent = new LentColumns(engine.scratch);
    return andThen(matchingRows(plan, place, lent), (selection) => {
      const rows = selectedCount(selection, place.rows);
      return andThen(rows === 0 ? [] : readSelected(plan, place, selection, lent), (read) => {
        lent.giveBack();
        return rows === 0 ? undefined : { place, selection, rows, read };
      });
    });
  };
  const turn = new Turn(engine.env);
  const weight = assignments.reduce((sum, { expression }) => sum + expression.weight, 0);
  async function* rowsAsTheyWere(): AsyncGenerator<RecordBatch> {
    const matches =
      inPlace === undefined ? pipelined(plan, found) : inPlace.left.batches(plan, base);
    for await (const { place, selection, rows, read } of matches) {
      gone.add(place.entry.id, place.first, selection, rows);
      yield recordBatch(plan.schema, read, rows);
    }
  }
  async function* batches(): AsyncGenerator<RecordBatch> {
    // The rows of many small fragments are computed together.
    const limits = { rows: sliceRows({ weight }), bytes: engine.limits.batchBytes };
    for await (const batch of rebatch(rowsAsTheyWere(), plan.schema, limits, () => turn.pause())) {
      const read = columnsOf(batch);
      const columns = new Map(plan.columns.map(({ name }, at) => [name, read[at] as Data]));
      const assigning = assignedColumns(base, assignments, columns, batch.numRows, plan.memory);
      const made = await inTurns(turn, assigning, signal);
      yield recordBatch(base.schema, made, batch.numRows);
      if (turn.isOver()) await turn.pass();
      signal?.throwIfAborted();
    }
  }
  const stream = recordBatchStream(base.schema, batches());
  const folder = base.branch.tableFolder;
  const written = await writeFragments(engine, folder, stream, base.fields, {
    lance: writesLance(engine, base),
    structs: await structOrder(engine, base, 'any'),
    compression: await compressionOf(engine, base.branch, base.manifest),
    // Rows that are moved keep what else the table holds, nulls of earlier releases among it.
    required: fieldsSet(assignments),
    ahead: true,
    signal,
  });
  return { written, gone: gone.all() };
}

export interface Replacement extends ChangedRows {
  readonly kind: Draft['kind'];
  readonly inPlace?: UpdatedInPlace | undefined;
  readonly summary: Readonly<Record<string, number>>;
}

/** The draft of a version without the rows that go and with those that were written. */
export async function replacingDraft(
  engine: Engine,
  base: Snapshot,
  files: AttemptFiles,
  { kind, summary, written, gone, inPlace }: Replacement,
): Promise<Draft> {
  const { manifest } = base;
  const edits = await deleteOffsets(engine, base, gone);
  files.addDeletions(edits);
  const durable = Promise.all([written.durable, edits.durable, inPlace?.durable]);
  const replaced = new Map([...edits.replaced, ...(inPlace?.replaced ?? [])]);
  // Whoever awaits it sees the error; until then it must not count as unhandled.
  durable.catch(() => {});
  const firstId = manifest.nextFragmentId;
  const added = written.fragments.map((fragment, at) => ({ ...fragment, id: firstId + at }));
  const folder = base.branch.tableFolder;
  return {
    kind,
    summary: {
      ...summary,
      added_fragments: added.length,
      removed_fragments: edits.removed.size,
      changed_fragments: replaced.size,
    },
    schema: manifest.schema,
    fieldIds: manifest.fieldIds,
    nextFieldId: manifest.nextFieldId,
    nextFragmentId: firstId + added.length,
    metadata: manifest.metadata,
    fragments: await editFragments(engine, folder, fragmentListOf(manifest), {
      replaced,
      removed: edits.removed,
      added,
    }),
    after: durable,
  };
}
