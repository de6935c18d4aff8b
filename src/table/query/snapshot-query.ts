/**
 * `query` runs a query of a snapshot as a scan, an ordered read, a vector search or a full-text
 * search. `explainQuery` describes its plan in words. `analyzeQuery` runs it to the end and reports
 * the plan and what was read. All three take the same request, and reject for unknown columns,
 * faulty SQL, and a query with both a vector and a text. read/take.ts reads rows by id or offset.
 */
import type { Field, RecordBatchStream } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { QueryText } from '../../protocol/index.ts';
import { type FullTextQuery, textQuery } from '../../search/index.ts';
import { ScanCounters } from '../fragments/index.ts';
import { planScan, type ScanRequest, scan } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { analyzePlan, explainPlan } from './explain.ts';
import { type FoundPlan, foundFilter, planFound } from './found-columns.ts';
import type { FoundOrder } from './found-order.ts';
import { DISTANCE, distancesOf, SCORE, SCORES } from './found-rows.ts';
import { vectorAccess } from './indexed-vectors.ts';
import type { SearchRequest } from './nearest.ts';
import { type OrderKey, orderedScan, planKeys } from './order.ts';
import { searchVectors } from './search.ts';
import { textAccess } from './text-access.ts';
import { needsPositions, searchedColumns, searchTexts } from './text-search.ts';
import { isMultivector, vectorColumn } from './vector-column.ts';

/** What a vector search adds to a scan. */
export type VectorSearch = Omit<SearchRequest, keyof ScanRequest | 'isFast'>;

export interface QueryRequest extends ScanRequest {
  /** Row order where it has no keys. */
  readonly orderBy?: readonly OrderKey[] | undefined;
  /** No search where it has no vectors; a vector column that it names is checked all the same. */
  readonly search?: VectorSearch | undefined;
  /** Whether a search leaves out rows that its index does not cover. */
  readonly fast?: boolean | undefined;
  /** Ranked by how well texts match; whether before or after the filter is said by `search`. */
  readonly text?: QueryText | undefined;
}

/** A search by vectors or texts, or neither, and keys to order by. */
interface Parts {
  readonly wanted: ScanRequest;
  readonly orderBy: readonly OrderKey[];
  readonly search: (VectorSearch & { readonly isFast: boolean }) | undefined;
  readonly text: TextSearch | undefined;
}

interface TextSearch {
  readonly text: FullTextQuery;
  readonly prefilter: boolean;
  readonly isFast: boolean;
}

/**
 * @throws InvalidInput, TableColumnNotFound at once; what goes wrong while reading, while reading
 */
export async function query(
  engine: Engine,
  snapshot: Snapshot,
  request: QueryRequest,
): Promise<RecordBatchStream> {
  const { wanted, orderBy, search, text } = partsOf(snapshot, request);
  const best = { ...wanted, ...orderOf(wanted, orderBy) };
  if (text !== undefined) return searchTexts(engine, snapshot, { ...best, ...text });
  if (search !== undefined) return searchVectors(engine, snapshot, { ...best, ...search });
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
  const { wanted, orderBy, search, text } = partsOf(snapshot, request);
  if (text !== undefined) {
    const columns = searchedColumns(snapshot, text.text);
    const plan = await planFiltered(engine, snapshot, wanted, SCORES, text.prefilter);
    await planKeys(engine, snapshot, {}, storedKeys(orderBy, SCORE));
    const isPhrase = needsPositions(text.text);
    const { said } = await textAccess(engine, snapshot, columns, isPhrase, text.isFast);
    const texts = { columns, query: text.text.root, prefilter: text.prefilter, said };
    return explainPlan(plan, { orderBy, texts }, verbose);
  }
  if (search === undefined) {
    const plan = await planScan(engine, snapshot, wanted);
    if (orderBy.length === 0) return explainPlan(plan, { orderBy }, verbose);
    const { indexed, indexNote } = await planKeys(engine, snapshot, wanted, orderBy);
    return explainPlan({ ...plan, indexed, indexNote }, { orderBy }, verbose);
  }
  const { vectors, prefilter } = search;
  const searched = vectorColumn(snapshot, search.vectorColumn, vectors);
  const { metric, said } = await vectorAccess(engine, snapshot, searched, { ...wanted, ...search });
  const column = searched.name;
  const together = isMultivector(searched);
  const nearest = { column, metric, vectors: vectors.length, together, prefilter, said };
  const added = distancesOf(together ? 1 : vectors.length);
  const plan = await planFiltered(engine, snapshot, wanted, added, prefilter);
  await planKeys(engine, snapshot, {}, storedKeys(orderBy, DISTANCE));
  return explainPlan(plan, { orderBy, nearest }, verbose);
}

/** The plan of a search with its filter, which is one of the rows found without `prefilter`. */
async function planFiltered(
  engine: Engine,
  snapshot: Snapshot,
  wanted: ScanRequest,
  added: readonly Field[],
  prefilter: boolean,
): Promise<FoundPlan> {
  const { filter, ...rest } = wanted;
  if (prefilter || filter === undefined) return planFound(engine, snapshot, wanted, added);
  const plan = await planFound(engine, snapshot, rest, added);
  return { ...plan, predicate: await foundFilter(snapshot, filter, added) };
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
function partsOf(snapshot: Snapshot, request: QueryRequest): Parts {
  const { orderBy = [], search, text: words, fast: isFast = false, ...wanted } = request;
  if (words !== undefined) {
    const text = textQuery(words);
    if (search !== undefined && search.vectors.length > 0) {
      throw new DirspaceError(
        'InvalidInput',
        'A query has a vector and a full-text query; send one request for each, with with_row_id, and fuse their rows, as nearestTo(...).fullTextSearch(...) does.',
      );
    }
    searchedColumns(snapshot, text);
    const prefilter = search?.prefilter ?? true;
    return { wanted, orderBy, search: undefined, text: { text, prefilter, isFast } };
  }
  if (search === undefined || search.vectors.length === 0) {
    if (search?.vectorColumn !== undefined) vectorColumn(snapshot, search.vectorColumn, []);
    return { wanted, orderBy, search: undefined, text: undefined };
  }
  return { wanted, orderBy, search: { ...search, isFast }, text: undefined };
}

/**
 * A search with an order finds its best rows, those of the offset too, before they are put in
 * order.
 */
function orderOf(
  { limit = Number.MAX_SAFE_INTEGER, offset = 0 }: ScanRequest,
  keys: readonly OrderKey[],
): Pick<ScanRequest, 'limit' | 'offset'> & { readonly order?: FoundOrder } {
  if (keys.length === 0) return {};
  const most = Math.min(Number.MAX_SAFE_INTEGER, limit + offset);
  return { limit: limit === 0 ? 0 : most, offset: 0, order: { keys, offset } };
}

const storedKeys = (keys: readonly OrderKey[], value: string): OrderKey[] =>
  keys.filter(({ column }) => column !== value);
