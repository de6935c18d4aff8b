/**
 * QueryTable, TakeRows and the query plans: reads rows of one version by scan, order, vector search
 * or row numbers.
 */
import {
  handedOut,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type AnalyzeTableQueryPlanRequest,
  type AnalyzeTableQueryPlanResponse,
  type CallOptions,
  type ExplainTableQueryPlanRequest,
  type ExplainTableQueryPlanResponse,
  parseMode,
  type QueryColumns,
  type QueryTableRequest,
  type TakeRowsRequest,
  unsupported,
} from '../../protocol/index.ts';
import { stepped } from '../../stepped.ts';
import {
  analyzePlan,
  explainPlan,
  type OrderKey,
  orderedScan,
  planKeys,
  planScan,
  rowIdsAt,
  rowIdsOf,
  ScanCounters,
  type ScanRequest,
  type Snapshot,
  scan,
  searchVectors,
  type TakenPart,
  takenInParts,
  takeRows,
  vectorColumn,
  withoutDistance,
} from '../../table/index.ts';
import { type Catalog, snapshotToRead } from '../catalog/index.ts';

/** Rows in row order, unless an ordering or a vector says otherwise. */
export async function queryTable(
  catalog: Catalog,
  request: QueryTableRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  refuseUnanswered(request);
  const snapshot = await snapshotToRead(catalog, request);
  return handedOut(await answerOf(catalog, snapshot, request, scanRequest(request, options)));
}

async function answerOf(
  { engine }: Catalog,
  snapshot: Snapshot,
  request: QueryTableRequest,
  wanted: ScanRequest,
): Promise<RecordBatchStream> {
  const keys = orderKeys(request);
  const vectors = queryVectors(request);
  const metric = metricOf(request);
  if (vectors.length > 0) {
    refuseBoth(keys);
    return searchVectors(engine, snapshot, {
      ...wanted,
      vectors,
      vectorColumn: request.vector_column,
      metric,
      prefilter: request.prefilter ?? true,
      lowerBound: request.lower_bound,
      upperBound: request.upper_bound,
    });
  }
  checkVectorColumn(snapshot, request);
  return keys.length > 0
    ? orderedScan(engine, snapshot, wanted, keys)
    : scan(engine, snapshot, wanted);
}

/** Rows named one by one, in the order asked for. */
export async function takeTableRows(
  catalog: Catalog,
  request: TakeRowsRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  const { engine } = catalog;
  const snapshot = await snapshotToRead(catalog, request);
  const plan = await planScan(engine, snapshot, {
    columns: selectedColumns(request.columns),
    withRowId: request.with_row_id,
    signal: options.signal,
  });
  const rowIds =
    request.row_ids === undefined
      ? await rowIdsAt(engine, snapshot, request.offsets ?? [], options.signal)
      : await rowIdsOf(engine, request.row_ids, options.signal);
  if (rowIds.length <= FEW_ROWS) {
    const { batch } = await takeRows(plan, rowIds);
    return handedOut(recordBatchStream(plan.schema, [batch]));
  }
  const parts = takenInParts(plan, 0, rowIds.length, (from, to) => rowIds.subarray(from, to));
  return handedOut(recordBatchStream(plan.schema, batchesOf(parts)));
}

/** Rows that are taken at once, in one batch. */
const FEW_ROWS = 1024;

const batchesOf = (parts: AsyncGenerator<TakenPart>): AsyncGenerator<RecordBatch> =>
  stepped(
    async () => {
      const { done, value } = await parts.next();
      return done === true ? undefined : value.batch;
    },
    () => parts.return(undefined),
  );

export async function explainTableQueryPlan(
  catalog: Catalog,
  request: ExplainTableQueryPlanRequest,
): Promise<ExplainTableQueryPlanResponse> {
  const query: QueryTableRequest = { ...request.query };
  if (request.id !== undefined) query.id = request.id;
  if (request.branch !== undefined) query.branch = request.branch;
  if (request.incarnation !== undefined) query.incarnation = request.incarnation;
  refuseUnanswered(query);
  const snapshot = await snapshotToRead(catalog, query);
  return { plan: await explained(catalog, snapshot, query, request.verbose ?? false) };
}

export async function analyzeTableQueryPlan(
  catalog: Catalog,
  request: AnalyzeTableQueryPlanRequest,
  options: CallOptions = {},
): Promise<AnalyzeTableQueryPlanResponse> {
  refuseUnanswered(request);
  const snapshot = await snapshotToRead(catalog, request);
  const plan = await explained(catalog, snapshot, request, true);
  const counters = new ScanCounters();
  const now = (): number => catalog.env.now();
  const wanted = { ...scanRequest(request, options), counters };
  const run = (): Promise<RecordBatchStream> => answerOf(catalog, snapshot, request, wanted);
  return { analysis: await analyzePlan(plan, run, counters, now) };
}

async function explained(
  { engine }: Catalog,
  snapshot: Snapshot,
  query: QueryTableRequest,
  verbose: boolean,
): Promise<string> {
  const orderBy = orderKeys(query);
  const vectors = queryVectors(query);
  const metric = metricOf(query);
  const wanted = scanRequest(query, {});
  if (vectors.length === 0) {
    checkVectorColumn(snapshot, query);
    if (orderBy.length > 0) await planKeys(engine, snapshot, wanted, orderBy);
    return explainPlan(await planScan(engine, snapshot, wanted), { orderBy }, verbose);
  }
  refuseBoth(orderBy);
  const nearest = {
    column: vectorColumn(snapshot, query.vector_column, vectors).field.name,
    metric,
    vectors: vectors.length,
    prefilter: query.prefilter ?? true,
  };
  const columns = withoutDistance(wanted.columns);
  const plan = await planScan(engine, snapshot, { ...wanted, columns });
  return explainPlan(plan, { orderBy, nearest }, verbose);
}

function scanRequest(request: QueryTableRequest, options: CallOptions): ScanRequest {
  return {
    columns: selectedColumns(request.columns),
    filter: request.filter,
    limit: request.k,
    offset: request.offset,
    withRowId: request.with_row_id,
    signal: options.signal,
  };
}

function selectedColumns(columns: QueryColumns | undefined): ScanRequest['columns'] {
  const { column_names: names, column_aliases: aliases } = columns ?? {};
  if (names === undefined || aliases === undefined) return names ?? aliases;
  throw new DirspaceError(
    'InvalidInput',
    'columns has both column_names and column_aliases; give one of them.',
  );
}

const orderKeys = (request: QueryTableRequest): OrderKey[] =>
  (request.order_by ?? []).map(({ column_name, ascending, nulls_first }) => ({
    column: column_name,
    ascending: ascending ?? true,
    nullsFirst: nulls_first ?? false,
  }));

const METRICS = ['l2', 'cosine', 'dot', 'hamming'] as const;

const metricOf = (request: QueryTableRequest): (typeof METRICS)[number] =>
  parseMode(request.distance_type, METRICS, 'distance_type');

function queryVectors(request: QueryTableRequest): readonly (readonly number[])[] {
  const { single_vector: single = [], multi_vector: multi = [] } = request.vector ?? {};
  if (single.length > 0 && multi.length > 0) {
    throw new DirspaceError(
      'InvalidInput',
      `vector has both single_vector and multi_vector (${multi.length} vectors); give one of them.`,
      { details: { member: 'vector' } },
    );
  }
  if (multi.length > 0) return multi;
  return single.length > 0 ? [single] : [];
}

/** A column that is named and not searched, as no vector is given, is still one to be searched. */
function checkVectorColumn(snapshot: Snapshot, { vector_column: name }: QueryTableRequest): void {
  if (name !== undefined) vectorColumn(snapshot, name, []);
}

function refuseBoth(keys: readonly OrderKey[]): void {
  if (keys.length === 0) return;
  throw new DirspaceError(
    'InvalidInput',
    'A vector search orders its rows by distance; leave order_by out.',
  );
}

function refuseUnanswered(request: QueryTableRequest): void {
  if (request.full_text_query !== undefined) throw unsupported('QueryTable with a full-text query');
}
