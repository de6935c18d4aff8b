/**
 * `planScan` compiles a scan request against one version into a plan that serves all its fragments.
 * The plan has the columns, the predicate, the limit and offset, the memory account, and whether
 * the columns read are cached. If an index helps to find the rows, it is read here, and the plan
 * holds the result. Unknown columns throw TableColumnNotFound, and faulty SQL InvalidInput.
 * `requestMemory` creates the memory account of a request.
 */
import type { Schema } from '../../arrow/index.ts';
import type { FragmentEntry } from '../../format/index.ts';
import { RegexpBudget } from '../../regexp-budget.ts';
import { RequestMemory } from '../../request-memory.ts';
import { type CompiledExpression, compilePredicate, type RowNumberSet } from '../../sql/index.ts';
import { ScanCounters } from '../fragments/index.ts';
import { chooseIndexes, type IndexedRows } from '../indexes/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { type ColumnRequest, type ReadColumn, resolveColumns, schemaOfColumns } from './columns.ts';
import { noteRead } from './prepare.ts';

export interface ScanRequest {
  /** All of them if absent. */
  readonly columns?: ColumnRequest | undefined;
  /** SQL; rows for which it is true are read. */
  readonly filter?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly withRowId?: boolean | undefined;
  /** The counters of a query that consists of several scans. */
  readonly counters?: ScanCounters | undefined;
  /** Set to false where what is read is not expected to be read again. */
  readonly keep?: boolean;
  /** Set where what is read is written anew; then nothing is kept either. */
  readonly fresh?: boolean;
  /**
   * Whether texts of selected rows may come as indices into their whole column, which the schema
   * does not say: no text is copied then.
   */
  readonly indexesTexts?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The memory of the request that the scan is a part of; its own if absent. */
  readonly memory?: RequestMemory | undefined;
}

export interface ScanPlan {
  readonly engine: Engine;
  readonly snapshot: Snapshot;
  readonly columns: readonly ReadColumn[];
  readonly schema: Schema;
  readonly predicate: CompiledExpression | undefined;
  /** The only rows that can match, where the predicate names them by number. */
  readonly rowIds: RowNumberSet | undefined;
  readonly rowOffsets: RowNumberSet | undefined;
  /** What indexes tell of the rows that can match, where that pays. */
  readonly indexed?: IndexedRows | undefined;
  /** Says which indexes are used, or why none is; undefined if there are none. */
  readonly indexNote?: string | undefined;
  /** Fragments of which no row is needed, whatever the predicate says of them. */
  readonly isNeedless?: (entry: FragmentEntry) => boolean;
  readonly limit: number;
  readonly offset: number;
  /** Whether what is read fits into memory and so is kept there. */
  readonly keep: boolean;
  readonly fresh: boolean;
  readonly indexesTexts?: boolean | undefined;
  readonly counters: ScanCounters;
  readonly signal: AbortSignal | undefined;
  readonly memory: RequestMemory;
  /** The turn shared by all batches whose expressions are evaluated in slices. */
  readonly turn: Turn;
}

/** The memory of a request that begins now. */
export const requestMemory = ({ limits, serverMemory }: Engine): RequestMemory =>
  new RequestMemory(limits.requestMemory, serverMemory, new RegexpBudget(limits.regexpSteps));

/** @throws TableColumnNotFound, InvalidInput naming the place in the SQL text */
export async function planScan(
  engine: Engine,
  snapshot: Snapshot,
  request: ScanRequest,
): Promise<ScanPlan> {
  noteRead(engine, snapshot);
  const turn = new Turn(engine.env);
  const columns = await resolveColumns(
    snapshot,
    request.columns,
    request.withRowId ?? false,
    turn,
    request.signal,
  );
  const predicate =
    request.filter === undefined
      ? undefined
      : await compilePredicate(request.filter, snapshot.schema);
  const readsRows = columns.length > 0;
  const chosen =
    predicate === undefined ? undefined : chooseIndexes(engine, snapshot, predicate, readsRows);
  const { indexed, note } = (chosen instanceof Promise ? await chosen : chosen) ?? {};
  return {
    engine,
    snapshot,
    columns,
    schema: schemaOfColumns(snapshot.schema, columns),
    predicate,
    rowIds: predicate?.rowIdSet() ?? undefined,
    rowOffsets: predicate?.rowOffsetSet() ?? undefined,
    indexed,
    indexNote: note,
    limit: request.limit ?? Number.MAX_SAFE_INTEGER,
    offset: request.offset ?? 0,
    keep:
      request.keep !== false &&
      request.fresh !== true &&
      isWorthKeeping(engine, snapshot, columns, predicate),
    fresh: request.fresh ?? false,
    indexesTexts: request.indexesTexts,
    counters: request.counters ?? new ScanCounters(),
    signal: request.signal,
    memory: request.memory ?? requestMemory(engine),
    turn,
  };
}

/** A scan of more than the cache holds would evict what other reads keep there. */
function isWorthKeeping(
  engine: Engine,
  snapshot: Snapshot,
  columns: readonly ReadColumn[],
  predicate: CompiledExpression | undefined,
): boolean {
  const { bytes } = snapshot.manifest.totals;
  if (bytes <= engine.buffers.limit) return true;
  const names = new Set(predicate?.columns ?? []);
  for (const column of columns) {
    if (column.kind === 'field') names.add(column.field.field.name);
    if (column.kind === 'value') for (const name of column.expression.columns) names.add(name);
  }
  const share = names.size / Math.max(1, snapshot.fields.length);
  return bytes * share <= engine.buffers.limit;
}
