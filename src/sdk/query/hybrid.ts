/**
 * Runs a hybrid search (`fusedRows`): a vector search and a full-text search of one version, whose
 * rows a reranker joins in one order. `hybridParts` builds the requests of the two searches. A
 * request with `order_by` throws InvalidInput, because the reranker decides the order.
 */
import {
  concatBatches,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, QueryTableRequest, QueryText } from '../../protocol/index.ts';
import { defined, detailedRequest, type TableTarget } from '../handles/index.ts';
import { type Reranker, reranked } from './rerank.ts';
import { textsIn } from './text-queries.ts';

/**
 * The rows of both searches in the order of the reranker.
 * @throws InvalidInput for a request with an order of its own
 */
export async function fusedRows(
  target: TableTarget,
  request: QueryTableRequest,
  reranker: Reranker,
  options: CallOptions,
): Promise<RecordBatchStream> {
  const { catalog } = target;
  if (request.order_by !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'A hybrid search orders its rows itself; leave orderBy out.',
    );
  }
  // A commit between the two searches must not be in one of them alone.
  const version =
    request.version ?? (await catalog.describeTable(detailedRequest(target), options)).version;
  const [near, found] = await Promise.all(
    hybridParts({ ...request, ...defined({ version }) }).map(async (part) =>
      oneBatch(await catalog.queryTable(part, options)),
    ),
  );
  const words = wordsOf(request.full_text_query);
  const batch = await reranker.rerankHybrid(words, near as RecordBatch, found as RecordBatch);
  const { k, offset = 0, with_row_id: withRowId = false } = request;
  const rows = reranked(batch, offset, k, withRowId);
  return recordBatchStream(rows.schema, rows.numRows === 0 ? [] : [rows]);
}

/** The two searches of a hybrid one. Each finds the rows of all pages up to the one asked for. */
export function hybridParts(request: QueryTableRequest): QueryTableRequest[] {
  const { vector, full_text_query: text, offset = 0, ...shared } = request;
  const { vector_column: column, lower_bound: lower, upper_bound: upper, ...plain } = shared;
  const k = Math.min(Number.MAX_SAFE_INTEGER, request.k + offset);
  const bounds = defined({ vector_column: column, lower_bound: lower, upper_bound: upper });
  return [
    { ...plain, ...bounds, k, with_row_id: true, ...defined({ vector }) },
    { ...plain, k, with_row_id: true, ...defined({ full_text_query: text }) },
  ];
}

async function oneBatch(stream: RecordBatchStream): Promise<RecordBatch> {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  if (batches.length > 0) return concatBatches(batches);
  const columns = stream.schema.fields.map(({ type }) => nullColumn(type, 0));
  return recordBatch(stream.schema, columns, 0);
}

/** The words of a query, for rerankers that read them. */
function wordsOf(text: QueryText | undefined): string {
  const { string_query: plain, structured_query: structured } = text ?? {};
  return plain?.query ?? textsIn(structured?.query ?? {}).join(' ');
}
