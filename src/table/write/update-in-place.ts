/**
 * `updateInPlace` updates rows of large fragments without moving them. It writes an overlay file
 * with the new columns for all rows of a fragment, if at least 1% of them match and that costs less
 * than moving these. The rows keep their ids and places. update.ts moves the other matching rows,
 * which it gets from `MatchesLeft`: also those that may get a null struct in a table that is open
 * for Lance. If no fragment may take an overlay, it returns undefined and has read no rows.
 */
import {
  concatData,
  type Data,
  DataType,
  dataOf,
  layoutOf,
  type RecordBatch,
  recordBatch,
  recordBatchStream,
  type Schema,
  sliceData,
} from '../../arrow/index.ts';
import { type FragmentEntry, liveRows, withOverlay } from '../../format/index.ts';
import { type IdentifiedField, leafOf } from '../fields/index.ts';
import { fieldBytes, openFragment, readFields } from '../fragments/index.ts';
import { isOpenForLance } from '../lance/index.ts';
import {
  type BatchPlace,
  fragmentPlaces,
  fragmentStatistics,
  planScan,
  readLent,
  readSelected,
  type ScanPlan,
  sliceRows,
} from '../read/index.ts';
import { compressionOf, type Engine, type Snapshot } from '../versions/index.ts';
import { inTurns, LentColumns, Turn } from '../work/index.ts';
import {
  type Assignment,
  assignedColumns,
  compileAssignments,
  expressionColumns,
  fieldsSet,
} from './assignments.ts';
import type { AttemptFiles } from './attempt.ts';
import { matchingOffsets } from './delete-rows.ts';
import { RequiredValues } from './required-values.ts';
import { endOf, inPlace, onlyOne, replacedRows, takesOverlay } from './rewrite-fragments.ts';
import { schemaOf } from './schema-version.ts';
import type { UpdateRequest } from './update.ts';
import { writeFragments, writesLance } from './write.ts';

export interface UpdatedInPlace {
  /** Entries with an overlay more, by the ids of fragments. */
  readonly replaced: ReadonlyMap<number, FragmentEntry>;
  /** Rows that were updated. */
  readonly rows: number;
  /** Rows that match and are to be moved. */
  readonly left: MatchesLeft;
  readonly durable: Promise<unknown>;
}

/** Undefined where no fragment is large enough, and nothing was looked at. */
export async function updateInPlace(
  engine: Engine,
  base: Snapshot,
  { updates, filter }: UpdateRequest,
  files: AttemptFiles,
  signal: AbortSignal | undefined,
): Promise<UpdatedInPlace | undefined> {
  const entries = await base.fragments();
  const assignments = await compileAssignments(base, updates);
  const tops = topsOf(base, assignments);
  const wholes = new Set(
    assignments.flatMap(({ place }) => (place.chain.length === 1 ? [leafOf(place).id] : [])),
  );
  const mayTake = (entry: FragmentEntry): boolean =>
    takesOverlay(entry, engine.limits.overlayBytes) &&
    tops.every((field) => holdsNoNulls(base, entry, field) && !mayGetNulls(entry, field));
  const isOpen = isOpenForLance(base);
  /** Lance has no form for null structs beside others: rows that are moved are kept apart. */
  const mayGetNulls = (entry: FragmentEntry, { id, field }: IdentifiedField): boolean =>
    isOpen &&
    field.nullable &&
    DataType.isStruct(field.type) &&
    (wholes.has(id) || !entry.fields.includes(id));
  if (!entries.some(mayTake)) return undefined;
  const matching = { columns: [], filter, signal };
  const gone = await matchingOffsets(await planScan(engine, base, matching));
  const updated = await ColumnUpdate.of(engine, base, assignments, tops, signal);
  const replaced = new Map<number, FragmentEntry>();
  const syncs: Promise<unknown>[] = [];
  let rows = 0;
  let position = 0;
  for (const entry of entries) {
    const offsets = gone.get(entry.id);
    if (offsets !== undefined && mayTake(entry) && (await updated.isCheaper(entry, offsets))) {
      const { fragments, durable } = await updated.write(entry, offsets, position);
      files.addFragments(fragments);
      replaced.set(entry.id, withOverlay(entry, onlyOne(fragments, entry)));
      syncs.push(durable);
      rows += offsets.length;
      gone.delete(entry.id);
    }
    position += liveRows(entry);
  }
  const durable = Promise.all(syncs);
  // Whoever awaits it sees the error; until then it must not count as unhandled.
  durable.catch(() => {});
  return { replaced, rows, left: new MatchesLeft(gone), durable };
}

/** The top-level columns that are set, or of which a field is. */
function topsOf(base: Snapshot, assignments: readonly Assignment[]): readonly IdentifiedField[] {
  const positions = new Set(assignments.map(({ place }) => place.positions[0]));
  return base.fields.filter((_, at) => positions.has(at));
}

/** A column that became required may have nulls in deleted rows, which cannot be written again. */
function holdsNoNulls(base: Snapshot, entry: FragmentEntry, field: IdentifiedField): boolean {
  return field.field.nullable || fragmentStatistics(base, entry, field)?.nulls === 0;
}

/** Fewer rows than this share are moved: that reads their single values alone. */
const LEAST_SHARE = 1 / 100;
/** Writing a byte takes about this many times as long as reading it. */
const WRITE_WEIGHT = 3;

class ColumnUpdate {
  readonly #engine: Engine;
  readonly #base: Snapshot;
  readonly #assignments: readonly Assignment[];
  readonly #tops: readonly IdentifiedField[];
  readonly #names: readonly string[];
  readonly #schema: Schema;
  readonly #plan: ScanPlan;
  readonly #signal: AbortSignal | undefined;

  private constructor(
    engine: Engine,
    base: Snapshot,
    assignments: readonly Assignment[],
    tops: readonly IdentifiedField[],
    plan: ScanPlan,
    signal: AbortSignal | undefined,
  ) {
    this.#engine = inPlace(engine);
    this.#base = base;
    this.#assignments = assignments;
    this.#tops = tops;
    this.#names = tops.map(({ field }) => field.name);
    this.#schema = schemaOf(base, tops);
    this.#plan = plan;
    this.#signal = signal;
  }

  static async of(
    engine: Engine,
    base: Snapshot,
    assignments: readonly Assignment[],
    tops: readonly IdentifiedField[],
    signal: AbortSignal | undefined,
  ): Promise<ColumnUpdate> {
    // A struct is needed for the fields of it that are kept.
    const kept = assignments.flatMap(({ place: { chain } }) =>
      chain.length > 1 ? [chain[0]?.field.name ?? ''] : [],
    );
    const columns = [...new Set([...kept, ...expressionColumns(assignments)])];
    const plan = await planScan(engine, base, { columns, fresh: true, signal });
    return new ColumnUpdate(engine, base, assignments, tops, plan, signal);
  }

  /** Whether the columns are written for all rows sooner than the rows that match are moved. */
  async isCheaper(entry: FragmentEntry, offsets: Uint32Array): Promise<boolean> {
    const share = offsets.length / entry.rows;
    if (share < LEAST_SHARE) return false;
    const every = this.#base.fields.map(({ field }) => field.name);
    const reader = await openFragment(this.#engine, this.#base, entry);
    try {
      let columns = 0;
      let all = 0;
      for (const [index, { rows }] of reader.footer.batches.entries()) {
        const place = { reader, entry, index, rows };
        columns += fieldBytes(this.#base, place, this.#names);
        all += fieldBytes(this.#base, place, every);
      }
      return columns * (1 + WRITE_WEIGHT) <= all * (1 + WRITE_WEIGHT * share);
    } finally {
      reader.close();
    }
  }

  async write(
    entry: FragmentEntry,
    offsets: Uint32Array,
    position: number,
  ): ReturnType<typeof writeFragments> {
    const stream = recordBatchStream(this.#schema, this.#batches(entry, offsets, position));
    const { branch, manifest } = this.#base;
    return writeFragments(this.#engine, branch.tableFolder, stream, this.#tops, {
      lance: writesLance(this.#engine, this.#base),
      compression: await compressionOf(this.#engine, branch, manifest),
      required: 'unchecked',
      asGiven: true,
      ahead: true,
      signal: this.#signal,
    });
  }

  async *#batches(
    entry: FragmentEntry,
    offsets: Uint32Array,
    position: number,
  ): AsyncGenerator<RecordBatch> {
    // Members of a struct that are not set keep what the table holds, nulls of earlier releases too.
    const rules = RequiredValues.of(this.#tops, fieldsSet(this.#assignments));
    const turn = new Turn(this.#engine.env);
    let from = 0;
    let checked = 0;
    let previous: LentColumns | undefined;
    for await (const place of fragmentPlaces(this.#plan, entry, position)) {
      this.#signal?.throwIfAborted();
      const to = endOf(offsets, from, place.first + place.rows);
      const rows = offsets.subarray(from, to).map((offset) => offset - place.first);
      from = to;
      // The columns are read once, and written before the batch after the next is asked for.
      const lent = new LentColumns(this.#engine.scratch);
      const before =
        rows.length === place.rows
          ? NO_COLUMNS
          : await readFields(this.#plan, place, this.#names, undefined, lent);
      const made = rows.length === 0 ? undefined : await this.#values(place, rows, turn, lent);
      if (made !== undefined) {
        rules?.check(recordBatch(this.#schema, [...made], rows.length), checked);
        checked += rows.length;
      }
      const columns = merged(before, rows, made, place.rows, lent);
      yield recordBatch(this.#schema, columns, place.rows);
      previous?.giveBack();
      previous = lent;
      if (turn.isOver()) await turn.pass();
    }
  }

  /** The new values of rows of a batch, which may lie in memory of `lent`. */
  async #values(
    place: BatchPlace,
    rows: Uint32Array,
    turn: Turn,
    lent: LentColumns,
  ): Promise<readonly Data[]> {
    const { columns: wanted, memory } = this.#plan;
    const selection = rows.length === place.rows ? undefined : rows;
    const read = await readLent(this.#plan, place, selection, lent);
    const weight = this.#assignments.reduce((sum, { expression }) => sum + expression.weight, 0);
    const most = sliceRows({ weight });
    const parts: Data[][] = this.#tops.map(() => []);
    for (let from = 0; from < rows.length; from += most) {
      const count = Math.min(most, rows.length - from);
      const columns = new Map(
        wanted.map(({ name }, at) => [name, sliceData(read[at] as Data, from, count)]),
      );
      const steps = assignedColumns(this.#base, this.#assignments, columns, count, memory);
      const all = await inTurns(turn, steps, this.#signal);
      for (const [at, field] of this.#tops.entries())
        parts[at]?.push(all[this.#base.fields.indexOf(field)] as Data);
    }
    return parts.map((part) => (part.length === 1 ? (part[0] as Data) : concatData(part)));
  }
}

const NO_COLUMNS: readonly Data[] = [];

/** The columns of all rows of a batch, which may lie in memory of `lent`. */
function merged(
  before: readonly Data[],
  rows: Uint32Array,
  made: readonly Data[] | undefined,
  total: number,
  lent: LentColumns,
): Data[] {
  if (made === undefined) return [...before];
  if (rows.length === total) return [...made];
  return before.map((data, at) => {
    const values = made[at] as Data;
    return numbersWith(data, rows, values, lent) ?? replacedRows(data, rows, values);
  });
}

/** Does the same as replacedRows for numbers without nulls; undefined for other columns. */
function numbersWith(
  data: Data,
  rows: Uint32Array,
  values: Data,
  lent: LentColumns,
): Data | undefined {
  if (data.nullCount > 0 || values.nullCount > 0 || layoutOf(data.type) !== 'fixed') return;
  const [before, after] = [data.values, values.values] as [NumberArray, NumberArray];
  if (before?.length !== data.length || after?.length !== values.length) return undefined;
  if (before.constructor !== after.constructor || before.buffer === undefined) return undefined;
  const { buffer, byteOffset } = lent.take(before.byteLength);
  const all = new (before.constructor as Float64ArrayConstructor)(
    buffer as ArrayBuffer,
    byteOffset,
    before.length,
  );
  all.set(before as Float64Array);
  for (let at = 0; at < rows.length; at++)
    all[rows[at] as number] = (after as Float64Array)[at] as number;
  return dataOf(data.type, data.length, { values: all });
}

type NumberArray = Float64Array | Int32Array | BigInt64Array | undefined;

/** Rows that were found to match, of fragments that stay as they are. */
class MatchesLeft {
  readonly #offsets: ReadonlyMap<number, Uint32Array>;

  /** @param offsets in their fragments, ascending */
  constructor(offsets: ReadonlyMap<number, Uint32Array>) {
    this.#offsets = offsets;
  }

  /** Reads the rows with the columns of the plan, batch by batch. */
  async *batches(
    plan: ScanPlan,
    base: Snapshot,
  ): AsyncGenerator<{ place: BatchPlace; selection: Uint32Array; rows: number; read: Data[] }> {
    let position = 0;
    for (const entry of this.#offsets.size === 0 ? [] : await base.fragments()) {
      const offsets = this.#offsets.get(entry.id);
      let from = 0;
      if (offsets !== undefined) {
        for await (const place of fragmentPlaces(plan, entry, position)) {
          const to = endOf(offsets, from, place.first + place.rows);
          const selection = offsets.subarray(from, to).map((offset) => offset - place.first);
          from = to;
          if (selection.length === 0) continue;
          const read = await readSelected(plan, place, selection);
          yield { place, selection, rows: selection.length, read };
        }
      }
      position += liveRows(entry);
    }
  }
}
