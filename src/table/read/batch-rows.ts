/**
 * `matchingRows` selects the live rows of one record batch that match the plan's predicate;
 * undefined stands for all its rows. If an index covers the fragment, only rows that the index
 * found are considered. `readSelected` reads or computes the plan's columns for the selected rows;
 * values that take more than the memory of the request throw InvalidInput. `readLent` does the same
 * for writers, and its columns may lie in lent memory. `overColumns` lends whole columns to a
 * function, and `neededFields` tells which ones the plan's columns are made of.
 */
import {
  type Data,
  DataType,
  dataBytes,
  gather,
  gatherData,
  indexedRows,
} from '../../arrow/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import type { CompiledExpression, EvaluationContext, Pruned } from '../../sql/index.ts';
import type { Awaitable } from '../../store/index.ts';
import { type DeletedRows, type ReadPlace, readFields } from '../fragments/index.ts';
import { andThen, LentColumns } from '../work/index.ts';
import { type ReadColumn, rowIdColumn, rowOffsetColumn } from './columns.ts';
import { namedRowsOf } from './named-rows.ts';
import { pruneBatch } from './pruning.ts';
import type { ScanPlan } from './scan-plan.ts';
import { breathe, evaluateRows, type Rows, selectRows } from './slices.ts';

export interface BatchPlace extends ReadPlace {
  readonly deleted: DeletedRows | undefined;
  /** Offset of its first row in the fragment. */
  readonly first: number;
  /** Live rows of the version before this batch. */
  readonly position: number;
}

/** Rows of a batch, ascending; undefined stands for all of them. */
export type Selection = Uint32Array | undefined;

export const selectedCount = (selection: Selection, rows: number): number =>
  selection === undefined ? rows : selection.length;

/**
 * Rows that are live and for which the plan's predicate is true. With `lent`, the columns that it
 * needed are in there afterwards, unless they are kept.
 */
export function matchingRows(
  plan: ScanPlan,
  place: BatchPlace,
  lent?: LentColumns,
): Awaitable<Selection> {
  const { predicate, counters, indexed } = plan;
  counters.batches += 1;
  const isIndexed = indexed?.covered.has(place.entry.id) === true;
  if (predicate === undefined || isChosen(plan, place))
    return isIndexed ? liveNamed(plan, place) : keptRows(place);
  const verdict = verdictOf(plan, place, predicate);
  if (verdict === 'none') {
    counters.batchesPruned += 1;
    return NO_ROWS;
  }
  if (verdict === 'all') return isIndexed ? liveNamed(plan, place) : keptRows(place);
  const found = namedOrFound(plan, predicate, place, lent);
  const { deleted } = place;
  return deleted === undefined
    ? found
    : andThen(found, (rows) => deleted.liveOf(rows, place.first));
}

/** Whether an index chose the only rows of the batch that are to be read. */
export const isChosen = ({ indexed }: ScanPlan, { entry }: Pick<BatchPlace, 'entry'>): boolean =>
  indexed?.isChoice === true && indexed.covered.has(entry.id);

const keptRows = ({ deleted, first, rows }: BatchPlace): Selection =>
  deleted?.keptBetween(first, rows);

/** Live rows that an index found in a batch that it covers, all of which match. */
function liveNamed(plan: ScanPlan, place: BatchPlace): Uint32Array {
  const { rows } = namedRowsOf(plan, place) ?? { rows: NO_ROWS };
  return place.deleted?.liveOf(rows, place.first) ?? rows;
}

/** Rows for which the predicate is true, deleted ones among them. */
function namedOrFound(
  plan: ScanPlan,
  predicate: CompiledExpression,
  place: BatchPlace,
  lent: LentColumns | undefined,
): Awaitable<Uint32Array> {
  const named = namedRowsOf(plan, place);
  if (named !== undefined && (named.complete || named.rows.length === 0)) return named.rows;
  if (named !== undefined && plan.indexed !== undefined)
    return checkedRows(plan, predicate, place, named.rows);
  const select = (columns: readonly Data[]): Awaitable<Uint32Array> =>
    selectRows(plan, predicate, rowsOf(plan, predicate, columns, place));
  return lent === undefined
    ? overColumns(plan, place, predicate.columns, new LentColumns(plan.engine.scratch), select)
    : andThen(readFields(plan, place, predicate.columns, undefined, lent), select);
}

/** The given rows for which the predicate is true; no other rows are read. */
function checkedRows(
  plan: ScanPlan,
  predicate: CompiledExpression,
  place: BatchPlace,
  rows: Uint32Array,
): Awaitable<Uint32Array> {
  return andThen(readFields(plan, place, predicate.columns, rows), (columns) =>
    andThen(
      selectRows(plan, predicate, {
        columns: new Map(predicate.columns.map((name, at) => [name, columns[at] as Data])),
        rows: rows.length,
        context: { memory: plan.memory },
      }),
      (found) => found.map((at) => rows[at] as number),
    ),
  );
}

export const verdictOf = (
  { snapshot }: ScanPlan,
  { entry, reader, index }: BatchPlace,
  predicate: CompiledExpression,
): Pruned => pruneBatch(predicate, snapshot, entry, reader.footer, index);

const NO_ROWS: Uint32Array = new Uint32Array(0);

/** The plan's columns of the selected rows, which refer to nothing of `lent`. */
export const readSelected = (
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  lent?: LentColumns,
): Awaitable<Data[]> => readColumns(plan, place, selection, selection && lent, true);

/**
 * Reads the same for a writer: the columns may lie in memory of `lent`, or be columns that it has
 * already.
 */
export const readLent = (
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  lent: LentColumns | undefined,
): Awaitable<Data[]> => readColumns(plan, place, selection, lent, false);

function readColumns(
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  lent: LentColumns | undefined,
  forCaller: boolean,
): Awaitable<Data[]> {
  const needed = neededFields(plan.columns);
  if (plan.indexesTexts === true && forCaller && isDense(selection, place.rows)) {
    if (needed.length === plan.columns.length && plan.columns.every(isField)) {
      const rows = selection as Uint32Array;
      return andThen(readFields(plan, place, needed, undefined, undefined, true), (whole) =>
        whole.map((data) => (isText(data) ? indexedRows(data, rows) : gatherData(data, rows))),
      );
    }
  }
  const fields = readFields(plan, place, needed, selection, lent, forCaller);
  if (needed.length === plan.columns.length && plan.columns.every(isField)) return fields;
  return andThen(fields, (read) => madeOf(plan, place, selection, needed, read));
}

/** The plan's columns, made of what was read. */
function madeOf(
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  needed: readonly string[],
  fields: readonly Data[],
): Awaitable<Data[]> {
  const count = selectedCount(selection, place.rows);
  const columns = new Map(needed.map((name, at) => [name, fields[at] as Data]));
  const rowIds = (): Data => {
    const ids = rowIdColumn(place.entry.id, place.first, place.rows);
    return selection === undefined ? ids : gather(ids, selection);
  };
  const rowOffsets = (): Data => offsetsOf(place, selection, count);
  const make = (column: ReadColumn): Awaitable<Data> => {
    if (column.kind === 'field') return columns.get(column.field.field.name) as Data;
    if (column.kind === 'row id') return rowIds();
    if (column.kind === 'row offset') return rowOffsets();
    const { expression } = column;
    const context = {
      memory: plan.memory,
      ...(expression.usesRowId ? { rowIds: rowIds().values as BigUint64Array } : {}),
      ...(expression.usesRowOffset ? { rowOffsets: rowOffsets().values as BigUint64Array } : {}),
    };
    return evaluateRows(plan, expression, { columns, rows: count, context });
  };
  return inLine(plan, make);
}

/**
 * The computed values of all columns of a batch, which are there together until it is handed out.
 */
class ComputedBytes {
  readonly #held: HeldMemory;
  #bytes = 0;

  constructor({ memory }: ScanPlan) {
    this.#held = memory.hold('The computed values of one batch of rows');
  }

  /** @throws InvalidInput beyond requestMemory */
  add({ kind }: ReadColumn, data: Data): void {
    if (kind !== 'value') return;
    this.#bytes += dataBytes(data);
    this.#held.set(this.#bytes);
  }

  end(): void {
    this.#held.end();
  }
}

/** Batches of a plan whose values are being made, by the last one of them. */
const underWay = new WeakMap<ScanPlan, Promise<unknown>>();

/**
 * After the batches before it, so that only the values of one count at once however many are read
 * ahead.
 */
function inLine(plan: ScanPlan, make: (column: ReadColumn) => Awaitable<Data>): Awaitable<Data[]> {
  const before = underWay.get(plan);
  const go = (): Awaitable<Data[]> => oneByOne(plan, make);
  const made = before === undefined ? go() : before.then(go, go);
  if (!(made instanceof Promise)) return made;
  underWay.set(plan, made);
  const done = (): void => {
    if (underWay.get(plan) === made) underWay.delete(plan);
  };
  made.then(done, done);
  return made;
}

/**
 * One after the other, as a batch may have many, and as their slices wait for turns of their own.
 */
function oneByOne(
  plan: ScanPlan,
  make: (column: ReadColumn) => Awaitable<Data>,
): Awaitable<Data[]> {
  const made: Data[] = [];
  const computed = new ComputedBytes(plan);
  let rest: Promise<Data[]> | undefined;
  try {
    for (const [at, column] of plan.columns.entries()) {
      const data = make(column);
      if (data instanceof Promise || (column.kind === 'value' && plan.turn.isOver())) {
        rest = restOf(plan, make, made, at, data, computed);
        return rest;
      }
      computed.add(column, data);
      made.push(data);
    }
    return made;
  } finally {
    if (rest === undefined) computed.end();
  }
}

async function restOf(
  plan: ScanPlan,
  make: (column: ReadColumn) => Awaitable<Data>,
  made: Data[],
  at: number,
  first: Awaitable<Data>,
  computed: ComputedBytes,
): Promise<Data[]> {
  const take = (column: ReadColumn, data: Data): void => {
    computed.add(column, data);
    made.push(data);
  };
  try {
    take(plan.columns[at] as ReadColumn, await first);
    for (const column of plan.columns.slice(at + 1)) {
      await breathe(plan);
      take(column, await make(column));
    }
    return made;
  } finally {
    computed.end();
  }
}

/** Of so many rows, one selected makes reading whole columns worth it. */
const DENSE = 4;

const isDense = (selection: Selection, rows: number): boolean =>
  selection !== undefined && selection.length * DENSE >= rows;

const isText = ({ type }: Data): boolean => DataType.isUtf8(type);

const isField = (column: ReadColumn): boolean => column.kind === 'field';

const needs = new WeakMap<readonly ReadColumn[], readonly string[]>();

/** Names of the version's columns that the plan's columns are made of, in the order of these. */
export function neededFields(columns: readonly ReadColumn[]): readonly string[] {
  const known = needs.get(columns);
  if (known !== undefined) return known;
  const names = new Set<string>();
  for (const column of columns) {
    if (column.kind === 'field') names.add(column.field.field.name);
    if (column.kind === 'value') for (const name of column.expression.columns) names.add(name);
  }
  const needed = [...names];
  needs.set(columns, needed);
  return needed;
}

/**
 * What `use` makes of whole columns of a batch. Those that are read lie in memory of `lent`, and
 * are not there any more when it has returned.
 */
export function overColumns<Result>(
  plan: ScanPlan,
  place: BatchPlace,
  names: readonly string[],
  lent: LentColumns,
  use: (columns: readonly Data[]) => Awaitable<Result>,
): Awaitable<Result> {
  let result: Awaitable<Result> | undefined;
  try {
    result = andThen(readFields(plan, place, names, undefined, lent), use);
    return result instanceof Promise ? result.finally(() => lent.giveBack()) : result;
  } finally {
    if (!(result instanceof Promise)) lent.giveBack();
  }
}

/** Whole columns of a batch as the predicate asks for them. */
export const rowsOf = (
  plan: ScanPlan,
  predicate: CompiledExpression,
  columns: readonly Data[],
  place: BatchPlace,
): Rows => ({
  columns: new Map(predicate.columns.map((name, at) => [name, columns[at] as Data])),
  rows: place.rows,
  context: contextOf(plan, place, predicate),
});

function contextOf(
  { memory }: ScanPlan,
  place: BatchPlace,
  { usesRowId, usesRowOffset }: { readonly usesRowId: boolean; readonly usesRowOffset: boolean },
): EvaluationContext {
  const kept = usesRowOffset ? keptRows(place) : undefined;
  return {
    memory,
    ...(usesRowId
      ? { rowIds: { start: (BigInt(place.entry.id) << 32n) | BigInt(place.first) } }
      : {}),
    ...(usesRowOffset
      ? {
          rowOffsets: kept === undefined ? { start: place.position } : offsetsWithGaps(place, kept),
        }
      : {}),
  };
}

/** Deleted rows get a number no live row has; they are taken out afterwards anyway. */
function offsetsWithGaps(place: BatchPlace, kept: Uint32Array): BigUint64Array {
  const offsets = new BigUint64Array(place.rows).fill(2n ** 64n - 1n);
  let next = BigInt(place.position);
  for (const row of kept) {
    offsets[row] = next;
    next += 1n;
  }
  return offsets;
}

function offsetsOf(place: BatchPlace, selection: Selection, count: number): Data {
  const kept = place.deleted?.keptBetween(place.first, place.rows);
  if (selection === undefined) return rowOffsetColumn(place.position, count);
  const all =
    kept === undefined
      ? rowOffsetColumn(place.position, place.rows)
      : wrapOffsets(offsetsWithGaps(place, kept));
  return gather(all, selection);
}

const wrapOffsets = (offsets: BigUint64Array): Data => {
  const column = rowOffsetColumn(0, offsets.length);
  (column.values as unknown as BigUint64Array).set(offsets);
  return column;
};
