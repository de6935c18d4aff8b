/**
 * Runs a query of a snapshot as a scan, an ordered read or a vector search (`query`), explains what
 * it would do (`explainQuery`), or runs it and reports what it read (`analyzeQuery`). All three
 * take the same request and refuse a vector search with an order, unknown columns and faulty SQL
 * before they read. read/take.ts reads rows by id or offset.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { ScanCounters } from '../fragments/index.ts';
import { planScan, type ScanRequest, scan } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { analyzePlan, explainPlan } from './explain.ts';
import type { SearchRequest } from './nearest.ts';
import { type OrderKey, orderedScan, planKeys } from './order.ts';
import { searchVectors, withoutDistance } from './search.ts';
import { vectorColumn } from './vector-column.ts';

/** What a vector search adds to a scan. */
export type VectorSearch = Omit<SearchRequest, keyof ScanRequest>;

export interface QueryRequest extends ScanRequest {
  /** Row order where it has no keys. */
  readonly orderBy?: readonly OrderKey[] | undefined;
  /** No search where it has no vectors; a vector column that it names is checked all the same. */
  readonly search?: VectorSearch | undefined;
}

/** Either keys to order by, or a search, or neither. */
interface Parts {
  readonly wanted: ScanRequest;
  readonly orderBy: readonly OrderKey[];
  readonly search: VectorSearch | undefined;
}

/** @throws InvalidInput, TableColumnNotFound at once; what goes wrong while reading, while reading */
export async function query(
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
): Promise<RecordBatchStream> {
  const { wanted, orderBy, search } = partsOf(snapshot, request);
  if (search !== undefined) return searchVectors(engine, snapshot, { ...wanted, ...search });
  return orderBy.length > 0
    ? orderedScan(engine, snapshot, wanted, orderBy)
    : scan(engine, snapshot, wanted);
}

/** The plan of a query in words. @throws InvalidInput, TableColumnNotFound as the query itself */
export async function explainQuery(
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
  verbose: boolean,
): Promise<string> {
  const { wanted, orderBy, search } = partsOf(snapshot, request);
  if (search === undefined) {
    if (orderBy.length > 0) await planKeys(engine, snapshot, wanted, orderBy);
    return explainPlan(await planScan(engine, snapshot, wanted), { orderBy }, verbose);
  }
  const { vectors, metric, prefilter } = search;
  const column = vectorColumn(snapshot, search.vectorColumn, vectors).field.name;
  const nearest = { column, metric, vectors: vectors.length, prefilter };
  const columns = withoutDistance(wanted.columns);
  const plan = await planScan(engine, snapshot, { ...wanted, columns });
  return explainPlan(plan, { orderBy, nearest }, verbose);
}

/** Runs a query to its end; its plan in words, and what it read. */
export async function analyzeQuery(
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
): Promise<string> {
  const plan = await explainQuery(engine, snapshot, request, true);
  const counters = new ScanCounters();
  const run = (): Promise<RecordBatchStream> => query(engine, snapshot, { ...request, counters });
  return analyzePlan(plan, run, counters, () => engine.env.now());
}

/** @throws InvalidInput, TableColumnNotFound */
function partsOf(snapshot: Snapshot, { orderBy = [], search, ...wanted }: QueryRequest): Parts {
  if (search === undefined || search.vectors.length === 0) {
    if (search?.vectorColumn !== undefined) vectorColumn(snapshot, search.vectorColumn, []);
    return { wanted, orderBy, search: undefined };
  }
  if (orderBy.length > 0) {
    throw new DirspaceError(
      'InvalidInput',
      'A vector search orders its rows by distance; leave order_by out.',
    );
  }
  return { wanted, orderBy, search };
}
