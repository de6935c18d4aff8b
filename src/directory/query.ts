/** The query operations: rows of one version, and the plans behind them. */
import type { RecordBatchStream } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import type {
  AnalyzeTableQueryPlanRequest,
  AnalyzeTableQueryPlanResponse,
  ExplainTableQueryPlanRequest,
  ExplainTableQueryPlanResponse,
  QueryTableRequest,
} from '../protocol/models.ts';
import { type CallOptions, unsupported } from '../protocol/namespace.ts';
import { analyzePlan, explainPlan } from '../table/explain.ts';
import { type OrderKey, orderedScan } from '../table/order.ts';
import { scan } from '../table/scan.ts';
import { planScan, type ScanRequest } from '../table/scan-plan.ts';
import type { Catalog } from './catalog.ts';
import { requestedSnapshot } from './rows.ts';

/** Rows in row order, unless an ordering or a vector says otherwise. */
export async function queryTable(
  catalog: Catalog,
  request: QueryTableRequest,
  options: CallOptions = {},
): Promise<RecordBatchStream> {
  refuseUnanswered(request);
  const snapshot = await requestedSnapshot(catalog, request);
  const keys = orderKeys(request);
  const wanted = scanRequest(request, options);
  return keys.length > 0
    ? orderedScan(catalog.engine, snapshot, wanted, keys)
    : scan(catalog.engine, snapshot, wanted);
}

export async function explainTableQueryPlan(
  catalog: Catalog,
  request: ExplainTableQueryPlanRequest,
): Promise<ExplainTableQueryPlanResponse> {
  const query: QueryTableRequest = { ...request.query };
  if (request.id !== undefined) query.id = request.id;
  if (request.branch !== undefined) query.branch = request.branch;
  refuseUnanswered(query);
  const snapshot = await requestedSnapshot(catalog, query);
  const plan = await planScan(catalog.engine, snapshot, scanRequest(query, {}));
  return { plan: await explainPlan(plan, orderKeys(query), request.verbose ?? false) };
}

export async function analyzeTableQueryPlan(
  catalog: Catalog,
  request: AnalyzeTableQueryPlanRequest,
  options: CallOptions = {},
): Promise<AnalyzeTableQueryPlanResponse> {
  refuseUnanswered(request);
  const snapshot = await requestedSnapshot(catalog, request);
  const plan = await planScan(catalog.engine, snapshot, scanRequest(request, options));
  return { analysis: await analyzePlan(plan, orderKeys(request), () => catalog.env.now()) };
}

function scanRequest(request: QueryTableRequest, options: CallOptions): ScanRequest {
  const { column_names: names, column_aliases: aliases } = request.columns ?? {};
  if (names !== undefined && aliases !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'columns has both column_names and column_aliases; give one of them.',
    );
  }
  return {
    columns: names ?? aliases,
    filter: request.filter,
    limit: request.k,
    offset: request.offset,
    withRowId: request.with_row_id,
    signal: options.signal,
  };
}

const orderKeys = (request: QueryTableRequest): OrderKey[] =>
  (request.order_by ?? []).map(({ column_name, ascending, nulls_first }) => ({
    column: column_name,
    ascending: ascending ?? true,
    nullsFirst: nulls_first ?? false,
  }));

function refuseUnanswered(request: QueryTableRequest): void {
  const vectors = request.vector?.single_vector ?? request.vector?.multi_vector ?? [];
  if (vectors.length > 0) throw unsupported('QueryTable with a vector');
  if (request.full_text_query !== undefined) throw unsupported('QueryTable with a full-text query');
}
