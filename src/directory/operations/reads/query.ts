/**
 * Carries out the operations that read rows: QueryTable (`queryTable`), TakeRows (`takeTableRows`),
 * FetchBlobs (`fetchTableBlobs`), CountTableRows (`countTableRows`), and the plans of queries
 * (`explainTableQueryPlan`, `analyzeTableQueryPlan`). It translates requests for table/query/ and
 * table/read/, which do the reading. Queries answer blobs as descriptions; FetchBlobs reads their
 * bytes. A request that contradicts itself throws InvalidInput.
 */
import { handedOut, type RecordBatchStream, Schema } from '../../../arrow/index.ts';
import { DirspaceError } from '../../../errors.ts';
import {
  type AnalyzeTableQueryPlanRequest,
  type AnalyzeTableQueryPlanResponse,
  type CallOptions,
  type CountTableRowsRequest,
  type CountTableRowsResponse,
  type ExplainTableQueryPlanRequest,
  type ExplainTableQueryPlanResponse,
  FETCHED_FROM,
  type FetchBlobsRequest,
  parseMode,
  type QueryColumns,
  type QueryTableRequest,
  type TakeRowsRequest,
} from '../../../protocol/index.ts';
import {
  analyzeQuery,
  countWhere,
  explainQuery,
  type OrderKey,
  type QueryRequest,
  query,
  readBlobs,
  take,
} from '../../../table/index.ts';
import { type Catalog, snapshotToRead } from '../../catalog/index.ts';
import { describedBlobs } from './blob-descriptions.ts';

/** Rows in row order, unless an ordering or a vector says otherwise. */
export async function queryTable(
  catalog: Catalog,
  request: QueryTableRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  const snapshot = await snapshotToRead(catalog, request);
  const rows = await query(catalog.engine, snapshot, queryRequest(request, options));
  return handedOut(describedBlobs(rows));
}

/** Rows named one by one, in the order asked for. */
export async function takeTableRows(
  catalog: Catalog,
  request: TakeRowsRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  const snapshot = await snapshotToRead(catalog, request);
  const rows = await take(catalog.engine, snapshot, {
    columns: selectedColumns(request.columns),
    withRowId: request.with_row_id,
    rowIds: request.row_ids,
    offsets: request.offsets,
    signal: options.signal,
  });
  return handedOut(describedBlobs(rows));
}

/** The bytes of blobs at rows, with the version that they are of. */
export async function fetchTableBlobs(
  catalog: Catalog,
  request: FetchBlobsRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  const snapshot = await snapshotToRead(catalog, request);
  const { column, row_ids: rowIds, offset, length } = request;
  const wanted = { column, rowIds, offset, length, signal: options.signal };
  const rows = await readBlobs(catalog.engine, snapshot, wanted);
  const from = new Map([
    [FETCHED_FROM.version, String(snapshot.version)],
    [FETCHED_FROM.incarnation, snapshot.branch.incarnation],
  ]);
  const schema = new Schema(rows.schema.fields, from);
  return { schema, [Symbol.asyncIterator]: () => rows[Symbol.asyncIterator]() };
}

export async function countTableRows(
  catalog: Catalog,
  request: CountTableRowsRequest,
  { signal }: CallOptions = {},
): Promise<CountTableRowsResponse> {
  const snapshot = await snapshotToRead(catalog, request);
  if (request.predicate === undefined) return { count: snapshot.rowCount };
  return { count: await countWhere(catalog.engine, snapshot, request.predicate, signal) };
}

export async function explainTableQueryPlan(
  catalog: Catalog,
  request: ExplainTableQueryPlanRequest,
): Promise<ExplainTableQueryPlanResponse> {
  const asked: QueryTableRequest = { ...request.query };
  if (request.id !== undefined) asked.id = request.id;
  if (request.branch !== undefined) asked.branch = request.branch;
  if (request.incarnation !== undefined) asked.incarnation = request.incarnation;
  const snapshot = await snapshotToRead(catalog, asked);
  const wanted = queryRequest(asked, {});
  return { plan: await explainQuery(catalog.engine, snapshot, wanted, request.verbose ?? false) };
}

export async function analyzeTableQueryPlan(
  catalog: Catalog,
  request: AnalyzeTableQueryPlanRequest,
  options: CallOptions = {},
): Promise<AnalyzeTableQueryPlanResponse> {
  const snapshot = await snapshotToRead(catalog, request);
  const wanted = queryRequest(request, options);
  return { analysis: await analyzeQuery(catalog.engine, snapshot, wanted) };
}

function queryRequest(request: QueryTableRequest, options: CallOptions): QueryRequest {
  const { minimum_nprobes: least = 0, maximum_nprobes: most = least } = request;
  if (least > most) {
    throw new DirspaceError(
      'InvalidInput',
      `minimum_nprobes is ${least}, and maximum_nprobes is ${most}; give a minimum that is no larger.`,
      { details: { member: 'minimum_nprobes' } },
    );
  }
  return {
    columns: selectedColumns(request.columns),
    filter: request.filter,
    limit: request.k,
    offset: request.offset,
    withRowId: request.with_row_id,
    signal: options.signal,
    orderBy: orderKeys(request),
    fast: request.fast_search,
    text: request.full_text_query,
    search: {
      vectors: queryVectors(request),
      vectorColumn: request.vector_column,
      metric: metricOf(request),
      prefilter: request.prefilter ?? true,
      lowerBound: request.lower_bound,
      upperBound: request.upper_bound,
      isExact: request.bypass_vector_index,
      nprobes: request.nprobes,
      leastProbes: request.minimum_nprobes,
      mostProbes: request.maximum_nprobes,
      refineFactor: request.refine_factor,
    },
  };
}

function selectedColumns(columns: QueryColumns | undefined): QueryRequest['columns'] {
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

/** Undefined where the request names none: an index of the column may. */
const metricOf = ({ distance_type: given }: QueryTableRequest) =>
  given === undefined ? undefined : parseMode(given, METRICS, 'distance_type');

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
