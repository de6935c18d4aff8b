/**
 * Builds queries over the rows of a table. `Query` selects rows, and `VectorQuery` finds the
 * nearest vectors. Their base `FilteredQuery` adds predicate, order, limit and full-text search. A
 * `VectorQuery` with a full-text search is hybrid: a reranker joins the rows of both searches. A
 * search without a limit gets the limit 10. Methods that add to a query return the same query;
 * `nearestTo`, `groupBy` and `aggregate` return a new one. Malformed vectors, counts and orderings
 * throw InvalidInput. So does `groupBy` after a selection, order, limit or search, and, when the
 * query runs, `rerank` without a full-text search.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { CallOptions, OrderBy, QueryTableRequest, QueryText } from '../../protocol/index.ts';
import { isThenable, showValue } from '../build/index.ts';
import type { AnyRow } from '../convert/index.ts';
import { defined, onBranch, onlyOptions, showKind, type TableTarget } from '../handles/index.ts';
import { type AggregateCalls, GroupedQuery } from './grouped-query.ts';
import { fusedRows, hybridParts } from './hybrid.ts';
import { type AnalyzePlanDistributedMetrics, analyzeOptions, QueryBase } from './query-base.ts';
import { type Reranker, RRFReranker } from './rerank.ts';
import { checkCount } from './runnable-query.ts';
import { columnsNamed, type FullTextQuery, isFullTextQuery } from './text-queries.ts';

/** One key of an ordering; nested columns have dots. */
export interface ColumnOrdering {
  readonly columnName: string;
  /** True if absent. */
  readonly ascending?: boolean;
  /** False if absent. */
  readonly nullsFirst?: boolean;
}

/** Where to search. */
export interface FullTextSearchOptions {
  /** Columns to search; all that can be if absent. */
  readonly columns?: string | readonly string[];
}

/** Finite numbers, as many as the column's vectors have. */
export type Vector = Float32Array | Float64Array | Uint8Array | readonly number[];

/** A vector, or the promise of one, as a model gives it. */
export type IntoVector = Vector | PromiseLike<Vector>;

/** One vector to search for, or several at once. */
export type QueryVectors = IntoVector | readonly IntoVector[];

/** Several vectors to search for at once. */
export type MultiVector = readonly IntoVector[];

/** A query with a predicate. */
export class FilteredQuery<RowType = AnyRow> extends QueryBase<RowType> {
  /** An SQL predicate; rows have to fit every one that was given. */
  where(predicate: string): this {
    const { filter } = this.request;
    // Each condition stands on a line of its own, so that a comment at its end hides no other.
    this.request.filter = filter === undefined ? predicate : `(${filter}\n) AND (${predicate}\n)`;
    return this;
  }

  /** Another name of `where`. */
  filter(predicate: string): this {
    return this.where(predicate);
  }

  /** At most so many rows; with a vector, the nearest ones. */
  limit(limit: number): this {
    this.request.k = checkCount('limit', limit);
    return this;
  }

  /** Rows to leave out at the start. */
  offset(offset: number): this {
    this.request.offset = checkCount('offset', offset);
    return this;
  }

  /**
   * By the first key, then by the next; rows that are equal keep their order. Of a search the rows
   * that it found are ordered, also by `_distance` or `_score`.
   */
  orderBy(ordering: ColumnOrdering | readonly ColumnOrdering[]): this {
    const keys = isOrderings(ordering) ? ordering : [ordering];
    this.request.order_by = keys.map(orderKey);
    return this;
  }

  /**
   * The rows whose texts match, best first, with their `_score`: 10 of them unless `limit` says
   * otherwise. A text in double quotes is a phrase.
   */
  fullTextSearch(query: string | FullTextQuery, options: FullTextSearchOptions = {}): this {
    onlyOptions(options, ['columns'], 'fullTextSearch');
    const { columns } = options;
    const names = typeof columns === 'string' ? [columns] : columns?.slice();
    this.request.full_text_query = textRequest(query, names);
    if (this.request.k === Number.MAX_SAFE_INTEGER) this.request.k = BEST;
    return this;
  }

  /**
   * Lets a full-text search leave out rows that its index does not cover yet; without an index, or where a file of it is damaged,
   * all rows are searched. Searches of vectors and conditions leave out nothing here.
   */
  fastSearch(): this {
    this.request.fast_search = true;
    return this;
  }
}

/** Rows of a search without a limit. */
export const BEST = 10;

function textRequest(query: string | FullTextQuery, columns: string[] | undefined): QueryText {
  if (!isFullTextQuery(query)) {
    if (typeof query === 'string') return { string_query: defined({ query, columns }) };
    throw new DirspaceError(
      'InvalidInput',
      `fullTextSearch takes a text or a query such as new MatchQuery("words", "column"), and was given ${showKind(query)}.`,
    );
  }
  const other = columns && columnsNamed(query.inner).find((name) => !columns.includes(name));
  if (other === undefined) return { structured_query: { query: query.inner } };
  throw new DirspaceError(
    'InvalidInput',
    `The query searches column ${JSON.stringify(other)}, which is not among the columns of fullTextSearch; leave these out.`,
  );
}

function orderKey(ordering: ColumnOrdering): OrderBy {
  const { columnName, ascending, nullsFirst } = ordering ?? {};
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
  if (typeof columnName !== 'string' || !isFlag(ascending) || !isFlag(nullsFirst)) {
    throw new DirspaceError(
      'InvalidInput',
      `orderBy takes objects such as {columnName: "age", ascending: false, nullsFirst: true}, and was given ${JSON.stringify(ordering)}.`,
    );
  }
  for (const name in ordering) if (!ORDER_MEMBERS.has(name)) refuseOrderMember(name, ordering);
  return defined({ column_name: columnName, ascending, nulls_first: nullsFirst });
}

const ORDER_MEMBERS: ReadonlySet<string> = new Set(['columnName', 'ascending', 'nullsFirst']);

/** Other libraries' names for the direction, which resemble `ascending` too little to be suggested. */
const DIRECTIONS: ReadonlySet<string> = new Set([
  'asc',
  'desc',
  'descending',
  'direction',
  'order',
]);

/** Passed over, it would sort the other way. @throws InvalidInput unless its value is undefined */
function refuseOrderMember(name: string, ordering: ColumnOrdering): void {
  if (!DIRECTIONS.has(name.toLowerCase())) {
    onlyOptions(ordering, [...ORDER_MEMBERS], 'orderBy');
    return;
  }
  if ((ordering as unknown as Record<string, unknown>)[name] === undefined) return;
  throw new DirspaceError(
    'InvalidInput',
    `There is no option ${JSON.stringify(name)} of orderBy; the direction is ascending: true or ascending: false. There is ${[...ORDER_MEMBERS].join(', ')}.`,
    { details: { option: name } },
  );
}

const isOrderings = (
  ordering: ColumnOrdering | readonly ColumnOrdering[],
): ordering is readonly ColumnOrdering[] => Array.isArray(ordering);

/** The rows of a version, in row order unless `orderBy` says otherwise. */
export class Query<RowType = AnyRow> extends FilteredQuery<RowType> {
  readonly #source: TableTarget;

  constructor(target: TableTarget) {
    super(target);
    this.#source = target;
  }

  /** The rows nearest to a vector, as a query of its own that keeps what was set so far. */
  nearestTo(vector: QueryVectors): VectorQuery<RowType> {
    const { k, vector: _, ...kept } = this.request;
    const query = new VectorQuery<RowType>(this.#source, vector, kept);
    return k === Number.MAX_SAFE_INTEGER ? query : query.limit(k);
  }

  /**
   * Groups of the rows that fit: by columns, or by other SQL. `aggregate` says what is computed of each,
   * as in `query().groupBy('city').aggregate({ n: 'count(*)' })`.
   */
  groupBy(keys: string | readonly string[]): GroupedQuery {
    if (typeof keys === 'string') return this.#grouped([keys]);
    if (Array.isArray(keys)) return this.#grouped(keys.slice());
    throw new DirspaceError(
      'InvalidInput',
      `groupBy takes columns or SQL, such as ["city", "age / 10"], and was given ${showKind(keys)}.`,
    );
  }

  /** What is computed of all rows that fit together. */
  aggregate(calls: AggregateCalls): GroupedQuery {
    return this.#grouped([]).aggregate(calls);
  }

  /** @throws InvalidInput for what a query of groups has no place for */
  #grouped(keys: readonly string[]): GroupedQuery {
    const { request } = this;
    const isBare =
      request.k === Number.MAX_SAFE_INTEGER &&
      (['columns', 'offset', 'order_by', 'full_text_query', 'with_row_id'] as const).every(
        (member) => request[member] === undefined,
      );
    if (!isBare) {
      throw new DirspaceError(
        'InvalidInput',
        'groupBy and aggregate follow where alone; select, order and limit the groups after them.',
      );
    }
    return new GroupedQuery(this.#source, request.filter, keys);
  }

  /** Rows whose text matches the words, best first. */
  nearestToText(query: string | FullTextQuery, columns?: readonly string[]): this {
    return this.fullTextSearch(query, defined({ columns }));
  }
}

/** The 10 nearest rows unless `limit` says otherwise, with their `_distance`. */
export class VectorQuery<RowType = AnyRow> extends FilteredQuery<RowType> {
  readonly #source: TableTarget;
  #reranker: Reranker | undefined;
  readonly #vectors: (number[] | Promise<number[]>)[];

  constructor(target: TableTarget, vector: QueryVectors, kept: object = {}) {
    super(target);
    this.#source = target;
    this.#vectors = isSeveral(vector) ? vector.map(numbersOf) : [numbersOf(vector)];
    Object.assign(this.request, kept, { k: BEST, prefilter: true });
    this.#setVector();
  }

  /** Searches for several vectors at once. */
  addQueryVector(vector: IntoVector): this {
    this.#vectors.push(numbersOf(vector));
    this.#setVector();
    return this;
  }

  /** The column to search; if never called, the only vector column, or the only one of that length. */
  column(column: string): this {
    this.request.vector_column = column;
    return this;
  }

  /** `l2` (squared), `cosine`, `dot` or, for bytes, `hamming`; if never called, that of the column's index, and `l2` without one. */
  distanceType(type: 'l2' | 'cosine' | 'dot' | 'hamming'): this {
    this.request.distance_type = type;
    return this;
  }

  /** Rows from `lowerBound` up to before `upperBound`. */
  distanceRange(lowerBound?: number, upperBound?: number): this {
    if (lowerBound !== undefined) this.request.lower_bound = bound('lowerBound', lowerBound);
    if (upperBound !== undefined) this.request.upper_bound = bound('upperBound', upperBound);
    return this;
  }

  /**
   * Partitions to search in each segment of an index; as many as it takes if never called. Without an
   * index there is nothing to choose: the search is exact.
   */
  nprobes(nprobes: number): this {
    this.request.nprobes = checkCount('nprobes', nprobes, 1);
    return this;
  }

  /** The fewest partitions of an index to search. With it, `nprobes` counts for nothing. */
  minimumNprobes(minimumNprobes: number): this {
    this.request.minimum_nprobes = checkCount('minimumNprobes', minimumNprobes, 1);
    return this;
  }

  /** The most partitions of an index to search, 0 for all. With it, `nprobes` counts for nothing. */
  maximumNprobes(maximumNprobes: number): this {
    const most = checkCount('maximumNprobes', maximumNprobes, 0);
    if (most === 0) delete this.request.maximum_nprobes;
    else this.request.maximum_nprobes = most;
    return this;
  }

  /** Neighbours that a graph index keeps while it searches. Catalogs of directories build no graphs. */
  ef(ef: number): this {
    this.request.ef = checkCount('ef', ef, 1);
    return this;
  }

  /** Measures so many times the rows wanted, of those that an index estimates to be near; some more than these if never called. */
  refineFactor(factor: number): this {
    this.request.refine_factor = checkCount('refineFactor', factor, 1);
    return this;
  }

  /** Applies the predicate to the nearest rows instead of looking for the nearest among its own. */
  postfilter(): this {
    this.request.prefilter = false;
    return this;
  }

  /** Searches all rows although there is an index. */
  bypassVectorIndex(): this {
    this.request.bypass_vector_index = true;
    return this;
  }

  /**
   * How the rows of the vectors and those of `fullTextSearch` become one order; by reciprocal ranks
   * if never called. Each search finds as many rows as the answer has, before they are fused.
   */
  rerank(reranker: Reranker): this {
    if (typeof reranker?.rerankHybrid !== 'function') {
      throw new DirspaceError(
        'InvalidInput',
        `rerank takes a reranker such as await RRFReranker.create(), and was given ${showKind(reranker)}.`,
      );
    }
    this.#reranker = reranker;
    return this;
  }

  override async outputSchema(options: CallOptions = {}): Promise<Schema> {
    await this.#settle();
    if (!this.#isHybrid()) return super.outputSchema(options);
    this.#source.lifetime.enter(options);
    return (await this.#fused({ ...this.request, k: 0 }, options)).schema;
  }

  override async explainPlan(verbose = false, options: CallOptions = {}): Promise<string> {
    await this.#settle();
    if (!this.#isHybrid()) return super.explainPlan(verbose, options);
    const { catalog, lifetime } = this.#source;
    lifetime.enter(options);
    const plans: string[] = [];
    for (const query of hybridParts(this.request)) {
      const request = { ...onBranch(this.#source), query, verbose };
      plans.push((await catalog.explainTableQueryPlan(request, options)).plan);
    }
    return `Fused: the rows of two searches by the reranker\n${indented(plans)}`;
  }

  override async analyzePlan(
    given: CallOptions | AnalyzePlanDistributedMetrics = {},
  ): Promise<string> {
    const options = analyzeOptions(given);
    await this.#settle();
    if (!this.#isHybrid()) return super.analyzePlan(options);
    const { catalog, lifetime } = this.#source;
    lifetime.enter(options);
    const plans: string[] = [];
    for (const query of hybridParts(this.request)) {
      plans.push((await catalog.analyzeTableQueryPlan(query, options)).analysis);
    }
    return `Fused: the rows of two searches by the reranker\n${indented(plans)}`;
  }

  protected override async answer(options: CallOptions): Promise<RecordBatchStream> {
    await this.#settle();
    if (this.#isHybrid()) return this.#fused(this.request, options);
    if (this.#reranker === undefined) return super.answer(options);
    throw new DirspaceError(
      'InvalidInput',
      'rerank fuses the rows of a vector search with those of fullTextSearch, which was not called.',
    );
  }

  /** @throws InvalidInput for several vectors, whose ranks mean nothing in one list */
  #isHybrid(): boolean {
    if (this.request.full_text_query === undefined) return false;
    if (this.#vectors.length === 1) return true;
    throw new DirspaceError(
      'InvalidInput',
      `A hybrid search has one vector, and was given ${this.#vectors.length}; run a query for each vector.`,
    );
  }

  async #fused(request: QueryTableRequest, options: CallOptions): Promise<RecordBatchStream> {
    const reranker = this.#reranker ?? (await RRFReranker.create());
    return fusedRows(this.#source, request, reranker, options);
  }

  /** Waits for vectors that were given as promises. */
  async #settle(): Promise<void> {
    if (this.#vectors.every(Array.isArray)) return;
    for (const [at, vector] of this.#vectors.entries()) this.#vectors[at] = await vector;
    this.#setVector();
  }

  #setVector(): void {
    const known = this.#vectors.filter((vector) => Array.isArray(vector));
    const [first = [], ...more] = known;
    this.request.vector =
      more.length === 0 ? { single_vector: first } : { multi_vector: [first, ...more] };
  }
}

const indented = (plans: readonly string[]): string =>
  plans.map((plan) => `  ${plan.replaceAll('\n', '\n  ')}`).join('\n');

/** True for a list of vectors, as opposed to one of numbers. */
function isSeveral(vector: QueryVectors): vector is readonly IntoVector[] {
  if (!Array.isArray(vector)) return false;
  const first: unknown = vector[0];
  return Array.isArray(first) || ArrayBuffer.isView(first) || isThenable(first);
}

function numbersOf(vector: IntoVector): number[] | Promise<number[]> {
  if (!isThenable(vector)) return numbers(vector as Vector);
  const promised = Promise.resolve(vector).then(numbers);
  // Whoever runs the query sees the error.
  promised.catch(() => {});
  return promised;
}

function numbers(vector: Vector): number[] {
  if (typeof vector !== 'object' || vector === null) {
    throw new DirspaceError(
      'InvalidInput',
      `The query vector is an array of numbers; it was given as ${typeof vector}.`,
    );
  }
  const items: unknown[] = Array.from(vector as ArrayLike<unknown>);
  const list = items.map(numberOf);
  const bad = list.findIndex((value) => !Number.isFinite(value));
  if (list.length > 0 && bad < 0) return list;
  const problem = list.length === 0 ? 'is empty' : `has ${showValue(items[bad])} at ${bad}`;
  throw new DirspaceError('InvalidInput', `The query vector ${problem}; it holds finite numbers.`);
}

/** NaN for what is no number: null and texts would count as others. */
const numberOf = (value: unknown): number =>
  typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;

/** @throws InvalidInput for what is no number, and for NaN, which no distance is below or above */
function bound(name: string, value: number): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new DirspaceError(
    'InvalidInput',
    `${name} of a distance range is ${typeof value === 'number' ? 'NaN' : showKind(value)}; give a number, or undefined for none.`,
    { details: { member: name } },
  );
}
