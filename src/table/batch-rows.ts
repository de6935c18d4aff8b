/**
 * One batch of a fragment: which of its rows match, and their columns. Columns that the predicate
 * does not need are read only where something matched, and then only as much of them as pays off.
 */
import { type Data, Vector } from '../arrow.ts';
import type {
  ColumnSource,
  CompiledExpression,
  EvaluationContext,
  Pruned,
} from '../expression/expression.ts';
import type { FragmentEntry } from '../format/fragment-entry.ts';
import { gather } from '../format/gather.ts';
import { adaptColumn } from './adapt.ts';
import { type ReadColumn, rowIdColumn, rowOffsetColumn } from './columns.ts';
import type { DeletedRows } from './deletions.ts';
import type { FragmentReader } from './fragment-reader.ts';
import { namedRowsOf } from './named-rows.ts';
import { pruneBatch } from './pruning.ts';
import type { ScanPlan } from './scan-plan.ts';
import { LentColumns } from './scratch.ts';

export interface BatchPlace {
  readonly reader: FragmentReader;
  readonly entry: FragmentEntry;
  readonly deleted: DeletedRows | undefined;
  /** Which batch of the fragment. */
  readonly index: number;
  /** Offset of its first row in the fragment. */
  readonly first: number;
  readonly rows: number;
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
export async function matchingRows(
  plan: ScanPlan,
  place: BatchPlace,
  lent?: LentColumns,
): Promise<Selection> {
  const { predicate, counters } = plan;
  counters.batches += 1;
  if (predicate === undefined) return keptRows(place);
  const verdict = verdictOf(plan, place, predicate);
  if (verdict === 'none') {
    counters.batchesPruned += 1;
    return NO_ROWS;
  }
  if (verdict === 'all') return keptRows(place);
  const rows = await namedOrFound(plan, predicate, place, lent);
  return place.deleted?.liveOf(rows, place.first) ?? rows;
}

const keptRows = ({ deleted, first, rows }: BatchPlace): Selection =>
  deleted?.keptBetween(first, rows);

/** Rows for which the predicate is true, deleted ones among them. */
async function namedOrFound(
  plan: ScanPlan,
  predicate: CompiledExpression,
  place: BatchPlace,
  lent: LentColumns | undefined,
): Promise<Uint32Array> {
  const named = namedRowsOf(plan, place);
  if (named !== undefined && (named.complete || named.rows.length === 0)) return named.rows;
  const select = (source: ColumnSource): Uint32Array =>
    predicate.select(source, contextOf(place, predicate));
  return lent === undefined
    ? overColumns(plan, place, predicate.columns, select)
    : select(await readSource(plan, place, predicate.columns, lent));
}

const verdictOf = (
  { snapshot }: ScanPlan,
  { entry, reader, index }: BatchPlace,
  predicate: CompiledExpression,
): Pruned => pruneBatch(predicate, snapshot, entry, reader.footer, index);

/** How many rows match, without listing them where nothing is deleted. */
export async function matchingCount(plan: ScanPlan, place: BatchPlace): Promise<number> {
  const { predicate } = plan;
  if (predicate !== undefined && place.deleted === undefined && !predicate.usesRowOffset) {
    const verdict = verdictOf(plan, place, predicate);
    if (verdict === 'none') return 0;
    if (verdict === 'all') return place.rows;
    return overColumns(plan, place, predicate.columns, (source) =>
      predicate.count(source, contextOf(place, predicate)),
    );
  }
  return selectedCount(await matchingRows(plan, place), place.rows);
}

export const NO_ROWS: Uint32Array = new Uint32Array(0);

/** The plan's columns of the selected rows, which refer to nothing of `lent`. */
export async function readSelected(
  plan: ScanPlan,
  place: BatchPlace,
  selection: Selection,
  lent?: LentColumns,
): Promise<Data[]> {
  const count = selectedCount(selection, place.rows);
  const needed = neededFields(plan.columns);
  const fields = await readFields(plan, place, needed, selection, selection && lent);
  const asStored = needed.length === plan.columns.length && plan.columns.every(isField);
  if (asStored) return fields;
  const columns = new Map(needed.map((name, at) => [name, fields[at] as Data]));
  const rowIds = (): Data => {
    const ids = rowIdColumn(place.entry.id, place.first, place.rows);
    return selection === undefined ? ids : gather(ids, selection);
  };
  const rowOffsets = (): Data => offsetsOf(place, selection, count);
  return plan.columns.map((column) => {
    if (column.kind === 'field') return columns.get(column.field.field.name) as Data;
    if (column.kind === 'row id') return rowIds();
    if (column.kind === 'row offset') return rowOffsets();
    const { expression } = column;
    const source = sourceOf(columns, count);
    const context = {
      ...(expression.usesRowId ? { rowIds: rowIds().values as BigUint64Array } : {}),
      ...(expression.usesRowOffset ? { rowOffsets: rowOffsets().values as BigUint64Array } : {}),
    };
    return onlyChunk(expression.evaluate(source, context));
  });
}

/** Values of an expression are one chunk, as they are made for one batch. */
function onlyChunk(vector: Vector): Data {
  const [data] = vector.data;
  return data as Data;
}

const isField = (column: ReadColumn): boolean => column.kind === 'field';

const needs = new WeakMap<readonly ReadColumn[], readonly string[]>();

/** Names of the version's columns that the plan's columns are made of, in the order of these. */
function neededFields(columns: readonly ReadColumn[]): readonly string[] {
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
 * Columns of the version, by name, for some rows of a batch. Whole columns may lie in the memory of
 * `lent`; selected rows never do.
 */
export async function readFields(
  plan: Pick<ScanPlan, 'snapshot'>,
  place: Pick<BatchPlace, 'reader' | 'entry' | 'index' | 'rows'>,
  names: readonly string[],
  selection: Selection,
  lent?: LentColumns,
): Promise<Data[]> {
  const { reader, entry, index, rows } = place;
  const fields = names.map((name) => plan.snapshot.fields.find(({ field }) => field.name === name));
  const positions = fields.map((field) =>
    field === undefined ? -1 : entry.fields.indexOf(field.id),
  );
  const stored = positions.filter((position) => position >= 0).sort((a, b) => a - b);
  const read =
    stored.length === 0
      ? []
      : selection === undefined
        ? await reader.columns(index, stored, lent)
        : await reader.rows(index, stored, selection, lent);
  const count = selectedCount(selection, rows);
  return fields.map((field, at) => {
    const position = positions[at] ?? -1;
    const data = read[stored.indexOf(position)];
    return adaptColumn(field as NonNullable<typeof field>, data, count, reader.footer, position);
  });
}

/** What `use` makes of columns of a batch, which are not there any more when it has returned. */
async function overColumns<Result>(
  plan: ScanPlan,
  place: BatchPlace,
  names: readonly string[],
  use: (source: ColumnSource) => Result,
): Promise<Result> {
  const lent = new LentColumns();
  const result = use(await readSource(plan, place, names, lent));
  lent.giveBack(plan.engine.scratch);
  return result;
}

async function readSource(
  plan: ScanPlan,
  place: BatchPlace,
  names: readonly string[],
  lent: LentColumns,
): Promise<ColumnSource> {
  const data = await readFields(plan, place, names, undefined, lent);
  return sourceOf(new Map(names.map((name, at) => [name, data[at] as Data])), place.rows);
}

function sourceOf(columns: ReadonlyMap<string, Data>, rows: number): ColumnSource {
  return {
    numRows: rows,
    getChild(name) {
      const data = columns.get(name);
      return data === undefined ? null : new Vector([data]);
    },
  };
}

function contextOf(
  place: BatchPlace,
  { usesRowId, usesRowOffset }: { readonly usesRowId: boolean; readonly usesRowOffset: boolean },
): EvaluationContext {
  const kept = usesRowOffset ? keptRows(place) : undefined;
  return {
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
