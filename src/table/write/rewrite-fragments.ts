/**
 * `FragmentRewriter` writes new columns of existing fragments, for all rows or for chosen ones:
 * columns that are added, computed again, or change their type. A large fragment gets an overlay
 * file (`takesOverlay`); one that is small or has many overlays is rewritten as a whole. Rows keep
 * their places, so row ids and deletion files stay valid. A value that does not fit a narrower type
 * throws InvalidInput. `rewriting` runs the commit, whose `build` runs in `attempt`, and removes
 * the files that it has no use for. `inPlace`, `onlyOne`, `replacedRows` and `endOf` serve other
 * writers that keep rows in their places.
 */
import {
  concatData,
  type Data,
  type DataType,
  describeType,
  gather,
  nullColumn,
  type RecordBatch,
  recordBatch,
  recordBatchStream,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type FragmentEntry,
  fileIds,
  liveRows,
  MOST_OVERLAYS,
  withOverlay,
} from '../../format/index.ts';
import type { CompiledExpression } from '../../sql/index.ts';
import {
  type Adapter,
  adapterBetween,
  type IdentifiedField,
  Misfit,
  misfitError,
  type Narrowing,
} from '../fields/index.ts';
import { readFields } from '../fragments/index.ts';
import { absentStructs } from '../lance/index.ts';
import {
  type BatchPlace,
  breathe,
  evaluateRows,
  fragmentPlaces,
  planScan,
  readLent,
  type ScanPlan,
} from '../read/index.ts';
import {
  type Committed,
  compressionOf,
  type Engine,
  type Snapshot,
  type TableBranch,
} from '../versions/index.ts';
import { LentColumns } from '../work/index.ts';
import {
  type Assignment,
  assignedValues,
  expressionColumns,
  readSource,
  withChild,
} from './assignments.ts';
import { isBetweenAttempts } from './attempt.ts';
import { schemaOf } from './schema-version.ts';
import { type NewFragment, removeFragments, writeFragments, writesLance } from './write.ts';

interface RewrittenFragment {
  /** The rows that got new values; undefined for all live rows. */
  readonly offsets: Uint32Array | undefined;
  /** What was written: some columns of the fragment, or all of them. */
  readonly fragment: NewFragment;
  readonly isOverlay: boolean;
  readonly durable: Promise<unknown>;
  /** Values that were computed and are not null, of all columns together. */
  readonly values: number;
}

/** Rows that get new values, where that are not all of them. */
export interface ChosenRows {
  /** Offsets in their fragments, ascending, by fragment id. Other fragments stay as they are. */
  readonly offsets: ReadonlyMap<number, Uint32Array>;
  /** Whether a fragment stays as it is where all values that were computed for it are null. */
  readonly skipsNulls: boolean;
}

interface RewriteOptions {
  /**
   * How values of columns whose type changes are narrowed, by the ids of the columns; undefined for
   * a column whose values need no check.
   */
  readonly retyped?: ReadonlyMap<number, Narrowing | undefined>;
  /** All rows if absent. */
  readonly chosen?: ChosenRows;
}

interface Rewritten {
  readonly replaced: Map<number, FragmentEntry>;
  readonly durable: Promise<unknown>;
  /** Values that were computed for chosen rows and are not null. */
  readonly values: number;
}

/**
 * Runs a commit whose attempts write fragments anew. What they wrote is removed where the newest
 * attempt has no use for it, and where nothing was committed.
 */
export async function rewriting(
  engine: Engine,
  branch: TableBranch,
  { signal }: { readonly signal?: AbortSignal | undefined },
  commitWith: (rewriter: FragmentRewriter) => Promise<Committed>,
): Promise<Committed> {
  const rewriter = new FragmentRewriter(engine, branch.tableFolder, signal);
  try {
    const committed = await commitWith(rewriter);
    await rewriter.discardUnused();
    return committed;
  } catch (error) {
    if (isBetweenAttempts(error, signal)) await rewriter.discard();
    throw error;
  }
}

/** Writes one fragment as one, whatever the limits say, so that its rows keep their places. */
export const inPlace = (engine: Engine): Engine => ({
  ...engine,
  limits: {
    ...engine.limits,
    fragmentRows: Number.POSITIVE_INFINITY,
    fragmentBytes: Number.POSITIVE_INFINITY,
  },
});

/** Whether columns of a fragment of at least so many bytes are written to a file of their own. */
export const takesOverlay = ({ bytes, overlays }: FragmentEntry, least: number): boolean =>
  bytes >= least && (overlays?.length ?? 0) < MOST_OVERLAYS;

/**
 * A fragment that would be written anew by itself takes an overlay where it is so much smaller than
 * one whose rows would be moved, together with those of others.
 */
const SMALLER = 8;

/** Writes fragments with more columns; what an attempt wrote serves the next where it can. */
export class FragmentRewriter {
  readonly #engine: Engine;
  readonly #tableFolder: string;
  readonly #signal: AbortSignal | undefined;
  /** By the files it was written from. */
  #written = new Map<string, RewrittenFragment>();
  #used = new Set<string>();
  #schema = '';

  constructor(engine: Engine, tableFolder: string, signal: AbortSignal | undefined) {
    this.#engine = inPlace(engine);
    this.#tableFolder = tableFolder;
    this.#signal = signal;
  }

  /** Runs the building of one version; what was written goes where it fails. */
  async attempt<Result>(build: () => Promise<Result>): Promise<Result> {
    try {
      return await build();
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async rewrite(
    base: Snapshot,
    tree: readonly IdentifiedField[],
    assignments: readonly Assignment[],
    { retyped = new Map(), chosen }: RewriteOptions = {},
  ): Promise<Rewritten> {
    const { schema, fieldIds, nextFieldId } = base.manifest;
    const now = JSON.stringify([schema, fieldIds, nextFieldId]);
    const movable = assignments.every(({ expression }) => !expression.usesRowOffset);
    if (now !== this.#schema || !movable) await this.discard();
    this.#schema = now;
    this.#used = new Set();
    const replaced = new Map<number, FragmentEntry>();
    const plan = await planScan(this.#engine, base, {
      columns: expressionColumns(assignments),
      fresh: true,
      signal: this.#signal,
    });
    const lance = writesLance(this.#engine, base);
    const whole = new Set(assignments.flatMap(({ place }) => topOf(place.positions) ?? []));
    const computed = new Set(assignments.map(({ place }) => place.positions[0]));
    const every = [...tree.keys()];
    const written = every.filter((at) => computed.has(at) || retyped.has(tree[at]?.id ?? -1));
    const known = new Map<string, WiderColumns>();
    /** Undefined where what is written lies in structs that the fragment lacks: they stay null. */
    const columnsOf = (entry: FragmentEntry, isOverlay: boolean): WiderColumns | undefined => {
      const absent = lance ? absentStructs(tree, entry) : [];
      const isHeld = (at: number) => whole.has(at) || !absent.includes(tree[at]?.id as number);
      if (absent.length > 0 && !written.some(isHeld)) return undefined;
      const key = `${isOverlay}:${absent.join()}`;
      const columns =
        known.get(key) ??
        new WiderColumns(
          base,
          tree,
          assignments,
          plan,
          (isOverlay ? written : every).filter(isHeld),
          retyped,
        );
      known.set(key, columns);
      return columns;
    };
    const least = this.#engine.limits.overlayBytes / SMALLER;
    let position = 0;
    let values = 0;
    for (const entry of await base.fragments()) {
      this.#signal?.throwIfAborted();
      const first = position;
      position += liveRows(entry);
      const offsets = chosen?.offsets.get(entry.id);
      if (chosen !== undefined && offsets === undefined) continue;
      const key = fileIds(entry).join();
      // A filter by the places of rows may choose as many others on a newer version.
      if (!areSame(this.#written.get(key)?.offsets, offsets)) await this.#remove([key]);
      const isOverlay = takesOverlay(entry, least);
      const columns = columnsOf(entry, isOverlay);
      if (columns === undefined) continue;
      const made =
        this.#written.get(key) ??
        (await this.#write(base, columns, isOverlay, { entry, offsets, first }));
      this.#written.set(key, made);
      if (chosen?.skipsNulls === true && made.values === 0) continue;
      values += made.values;
      this.#used.add(key);
      const { fragment } = made;
      const now = made.isOverlay
        ? withOverlay(entry, fragment)
        : { ...fragment, id: entry.id, deletion: entry.deletion };
      replaced.set(entry.id, now);
    }
    const durable = Promise.all([...this.#written.values()].map((made) => made.durable));
    durable.catch(() => {});
    return { replaced, durable, values };
  }

  async #write(
    base: Snapshot,
    columns: WiderColumns,
    isOverlay: boolean,
    rows: RowsOfFragment,
  ): Promise<RewrittenFragment> {
    const { schema } = columns;
    const before = columns.values;
    const stream = recordBatchStream(schema, columns.batches(rows, isOverlay));
    const { fragments, durable } = await writeFragments(
      this.#engine,
      this.#tableFolder,
      stream,
      columns.tree,
      {
        lance: writesLance(this.#engine, base),
        compression: await compressionOf(this.#engine, base.branch, base.manifest),
        required: 'unchecked',
        asGiven: isOverlay,
        ahead: true,
        signal: this.#signal,
      },
    );
    const values = columns.values - before;
    const fragment = onlyOne(fragments, rows.entry);
    return { offsets: rows.offsets, fragment, isOverlay, durable, values };
  }

  async discard(): Promise<void> {
    await this.#remove([...this.#written.keys()]);
  }

  /** What was written from fragments that are no longer part of the table. */
  async discardUnused(): Promise<void> {
    await this.#remove([...this.#written.keys()].filter((file) => !this.#used.has(file)));
  }

  async #remove(files: readonly string[]): Promise<void> {
    for (const file of files) {
      const made = this.#written.get(file);
      this.#written.delete(file);
      if (made !== undefined)
        await removeFragments(this.#engine, this.#tableFolder, [made.fragment]);
    }
  }
}

interface RowsOfFragment {
  readonly entry: FragmentEntry;
  /** The offsets of the rows that get new values; undefined for all live rows. */
  readonly offsets: Uint32Array | undefined;
  /** Live rows of the table before the fragment. */
  readonly first: number;
}

/** The position of a top-level column that is written as a whole. */
const topOf = ([top, ...below]: readonly number[]): number | undefined =>
  below.length === 0 ? top : undefined;

const areSame = (one: Uint32Array | undefined, other: Uint32Array | undefined): boolean =>
  one?.length === other?.length && one?.every((offset, at) => offset === other?.[at]) !== false;

/** What was written of all rows of a fragment, in their places. */
export function onlyOne(fragments: readonly NewFragment[], entry: FragmentEntry): NewFragment {
  const [fragment, ...more] = fragments;
  if (fragment !== undefined && more.length === 0 && fragment.rows === entry.rows) return fragment;
  throw new DirspaceError('Internal', `A fragment was rewritten as ${fragments.length}.`);
}

/** Some columns of a fragment, with the new values in them. */
class WiderColumns {
  /** The columns with their ids. */
  readonly tree: readonly IdentifiedField[];
  /** Values that were computed so far and are not null. */
  values = 0;
  readonly schema: Snapshot['schema'];
  readonly #assignments: readonly Assignment[];
  readonly #plan: ScanPlan;
  /** Positions of the columns in the table's new schema, ascending; those there were come first. */
  readonly #positions: readonly number[];
  /** The names of the columns that were there before. */
  readonly #names: readonly string[];
  /** Null for those that stay as they are, or are narrowed. */
  readonly #adapters: readonly (Adapter | null)[];
  readonly #narrowings: readonly (Narrowing | undefined)[];

  constructor(
    base: Snapshot,
    tree: readonly IdentifiedField[],
    assignments: readonly Assignment[],
    plan: ScanPlan,
    positions: readonly number[],
    retyped: ReadonlyMap<number, Narrowing | undefined>,
  ) {
    this.tree = positions.map((at) => tree[at] as IdentifiedField);
    this.schema = schemaOf(base, this.tree);
    this.#assignments = assignments;
    this.#plan = plan;
    this.#positions = positions;
    const before = positions.flatMap((at) => base.fields[at] ?? []);
    this.#names = before.map(({ field }) => field.name);
    this.#narrowings = before.map(({ id }) => retyped.get(id));
    this.#adapters = before.map((field, at) =>
      this.#narrowings[at] === undefined
        ? adapterBetween(this.tree[at] as IdentifiedField, field)
        : null,
    );
  }

  /** Memory of an overlay's batch is used again for the batch after the next. */
  async *batches(
    { entry, offsets, first }: RowsOfFragment,
    isOverlay: boolean,
  ): AsyncGenerator<RecordBatch> {
    let from = 0;
    let before: LentColumns | undefined;
    for await (const place of fragmentPlaces(this.#plan, entry, first)) {
      this.#plan.signal?.throwIfAborted();
      const to = offsets && endOf(offsets, from, place.first + place.rows);
      const rows = offsets?.subarray(from, to).map((offset) => offset - place.first);
      from = to ?? 0;
      const lent = isOverlay ? new LentColumns(this.#plan.engine.scratch) : undefined;
      yield recordBatch(this.schema, await this.#columns(place, rows, lent), place.rows);
      before?.giveBack();
      before = lent;
    }
  }

  /** They may lie in memory of `lent`. */
  async #columns(
    place: BatchPlace,
    chosen: Uint32Array | undefined,
    lent: LentColumns | undefined,
  ): Promise<Data[]> {
    const known = await readFields(this.#plan, place, this.#names, undefined, lent);
    const columns: (Data | undefined)[] = this.tree.map((node, at) => {
      const data = known[at];
      // A new column: computed, or null beside one that is.
      if (data === undefined) {
        const isComputed = chosen === undefined && this.#isWhole(this.#positions[at] as number);
        return isComputed ? undefined : nullColumn(node.field.type, place.rows);
      }
      const adapter = this.#adapters[at] ?? null;
      return adapter === null ? data : adapter(data);
    });
    for (const [at, narrowing] of this.#narrowings.entries()) {
      if (narrowing === undefined) continue;
      columns[at] = await this.#narrowed(narrowing, columns[at] as Data, at, place);
    }
    if (chosen?.length === 0) return columns as Data[];
    // Expressions see live rows only: of deleted ones they might refuse the values.
    const live = chosen ?? place.deleted?.keptBetween(place.first, place.rows);
    const rows = live === undefined ? place.rows : live.length;
    const read = await readLent(this.#plan, place, live, lent);
    const named = new Map(this.#plan.columns.map(({ name }, at) => [name, read[at] as Data]));
    const [, context] = readSource(named, rows, this.#plan.memory);
    for (const assignment of this.#assignments) {
      const [position = 0, ...below] = assignment.place.positions;
      const top = this.#positions.indexOf(position);
      // In a struct that the fragment lacks.
      if (top < 0) continue;
      const all = { columns: named, rows, context };
      const values = await evaluateRows(this.#plan, assignment.expression, all, (source, sliced) =>
        assignedValues(assignment, source, sliced),
      );
      await breathe(this.#plan);
      this.values += values.length - values.nullCount;
      const now =
        chosen === undefined
          ? spread(values, live, place.rows)
          : replacedRows(columns[top] as Data, chosen, values);
      columns[top] = withChild(columns[top], below, now);
    }
    return columns as Data[];
  }

  /** Whether an assignment gives the values of a new column. */
  #isWhole(position: number): boolean {
    return this.#assignments.some(({ place }) => place.positions[0] === position);
  }

  /** @throws InvalidInput naming the first value that does not fit and its row */
  async #narrowed(narrowing: Narrowing, data: Data, at: number, place: BatchPlace): Promise<Data> {
    const plan = this.#plan;
    const live = place.deleted?.keptBetween(place.first, place.rows);
    const counted = live && marked(live, place.rows);
    try {
      const evaluate = async (expression: CompiledExpression, values: Data): Promise<Data> => {
        const [, context] = readSource(new Map(), values.length, plan.memory);
        const columns = new Map(expression.columns.map((name) => [name, values]));
        await breathe(plan);
        return evaluateRows(plan, expression, { columns, rows: values.length, context });
      };
      return await narrowing.convert(data, evaluate, counted);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      const before = live === undefined ? error.row : live.indexOf(error.row);
      const type = describeType(this.tree[at]?.field.type as DataType);
      const row = place.position + before;
      throw misfitError(this.#names[at] as string, type, new Misfit(row, error.value));
    }
  }
}

/** One byte a row, 1 for the chosen ones. */
function marked(rows: Uint32Array, length: number): Uint8Array {
  const marks = new Uint8Array(length);
  for (const row of rows) marks[row] = 1;
  return marks;
}

/** Rows of a column with other values. */
export function replacedRows(data: Data, rows: Uint32Array, values: Data): Data {
  if (rows.length === data.length) return values;
  const from = new Uint32Array(data.length);
  for (let row = 0; row < from.length; row++) from[row] = row;
  for (let at = 0; at < rows.length; at++) from[rows[at] as number] = data.length + at;
  return gather(concatData([data, values]), from);
}

/** The index of the first offset, from index `from` on, that is not below `end`. */
export function endOf(offsets: Uint32Array, from: number, end: number): number {
  let to = from;
  while (to < offsets.length && (offsets[to] as number) < end) to++;
  return to;
}

/** Values of live rows at their places among all rows, null in between. */
function spread(values: Data, live: Uint32Array | undefined, rows: number): Data {
  if (live === undefined) return values;
  const from = new Uint32Array(rows).fill(values.length);
  for (const [at, row] of live.entries()) from[row] = at;
  return gather(concatData([values, nullColumn(values.type, 1)]), from);
}
