/**
 * `TableIndexes` manages the indexes of a table. It creates them, also as a job (`createAsync`),
 * lists them, counts the rows that they cover (`statistics`, undefined for a missing index), reads
 * them into memory (`prewarm`) and drops them. `waitFor` waits until named indexes cover all rows,
 * and throws ServiceUnavailable when its time is up. `tokenize` cuts a text into words as a
 * full-text index of the table does. `prewarm`, `tokenize` and `drop` throw TableIndexNotFound for
 * a missing index. With `replace: false`, a name that is taken throws TableIndexAlreadyExists.
 * Creating and dropping throw InvalidInput for a pinned handle. The catalog refuses types that it
 * does not build with Unsupported.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type CreateTableIndexRequest,
  type DescribeTableIndexStatsResponse,
  type IndexContent,
  type OptimizeCallOptions,
  unsupported,
} from '../../protocol/index.ts';
import { withoutBackticks } from '../../sql-quotes.ts';
import {
  atVersion,
  type Defined,
  defined,
  onBranch,
  onlyOptions,
  pages,
  showKind,
} from '../handles/index.ts';
import { carriedOut, type Job, type JobProgress, type JobWork, jobsOf } from '../jobs/index.ts';
import { type FtsToken, relativeTokens } from '../query/index.ts';
import { Index, type IndexParameters, isScalar, usualIndex } from './index-config.ts';
import { progressFrom } from './optimize.ts';
import type { TablePosition } from './position.ts';

/** How to create an index. */
export interface IndexOptions extends CallOptions {
  /** What `Index.btree()` and its like make; IVF_PQ for vectors and BTREE for the rest if absent. */
  readonly config?: Index;
  /**
   * If absent the catalog's own choice: `<column>_idx`, or `<column>_idx_2` where an index of another
   * column or of another type has that.
   */
  readonly name?: string;
  /** False refuses to take the place of an index of the same name. */
  readonly replace?: boolean;
  /** Waits so long for the index to cover all rows; does not wait if absent. */
  readonly waitTimeoutSeconds?: number;
  /** False leaves all rows for `optimize`, which then builds it; searches read them meanwhile. */
  readonly train?: boolean;
  /** Called as rows are read. A server tells each second or so. */
  readonly onProgress?: (progress: JobProgress) => void;
}

const INDEX_OPTIONS = [
  'config',
  'name',
  'replace',
  'waitTimeoutSeconds',
  'train',
  'onProgress',
] as const;

interface IndexAsked {
  readonly operation: 'CreateTableIndex' | 'CreateTableScalarIndex';
  readonly request: CreateTableIndexRequest & { readonly id: string[] };
}

/** An index as the catalog lists it; members that it does not tell are absent. */
export interface IndexConfig {
  readonly name: string;
  /** As LanceDB lists it: BTree, Bitmap, LabelList, FTS, IvfPq and so on. */
  readonly indexType: string;
  readonly columns: string[];
  readonly indexUuid?: string;
  readonly typeUrl?: string;
  readonly createdAt?: Date;
  readonly numIndexedRows?: number;
  readonly numUnindexedRows?: number;
  readonly sizeBytes?: number;
  readonly numSegments?: number;
  readonly indexVersion?: number;
  /** Parsed, where it is JSON. */
  readonly indexDetails?: unknown;
}

/** How many rows an index covers. */
export interface IndexStatistics {
  readonly numIndexedRows: number;
  readonly numUnindexedRows: number;
  /** As LanceDB's statistics have it: BTREE, BITMAP, LABEL_LIST, FTS and so on. */
  readonly indexType: string;
  readonly distanceType?: string;
  readonly numIndices?: number;
}

/** Whose words are asked for: the full-text index of a column, or of that name. */
export type TokenizeTableOptions =
  | { readonly column: string; readonly indexName?: never }
  | { readonly indexName: string; readonly column?: never };

const POLL_MS = 1000;

/** Reads, makes and drops the indexes of the table that a handle points at. */
export class TableIndexes {
  readonly #at: TablePosition;

  constructor(at: TablePosition) {
    this.#at = at;
  }

  /** @throws Unsupported, TableColumnNotFound, TableIndexAlreadyExists where `replace` is false, or for another column's */
  async create(column: string, options: IndexOptions = {}): Promise<void> {
    const { waitTimeoutSeconds, signal, idempotencyKey, onContext, onProgress } = options;
    const { asked, parameters } = await this.#asked(column, options);
    const { request } = asked;
    const { home } = this.#at;
    const own: CallOptions = defined({ signal, idempotencyKey, onContext });
    // A server tells how far it is of a job alone.
    const job = onProgress && (await carriedOut(home, asked, own, onProgress));
    if (job === undefined) {
      const on_progress = onProgress && progressFrom(onProgress);
      const call: OptimizeCallOptions = { ...own, ...defined({ on_progress }) };
      if (isScalar(parameters)) await home.catalog.createTableScalarIndex(request, call);
      else await home.catalog.createTableIndex(request, call);
    }
    if (waitTimeoutSeconds === undefined) return;
    const call: CallOptions = defined({ signal });
    const made = await this.#namesOf(column, options.name, parameters, call);
    const names = made.length === 0 ? [options.name ?? `${column}_idx`] : made;
    await this.waitFor(names, waitTimeoutSeconds, call);
  }

  /** What is asked of the catalog, once what can be refused is. */
  async #asked(
    column: string,
    options: IndexOptions,
  ): Promise<{ readonly asked: IndexAsked; readonly parameters: IndexParameters }> {
    const target = this.#at.writable(options, INDEX_OPTIONS);
    const { config, replace, train, signal } = options;
    const call: CallOptions = defined({ signal });
    if (config !== undefined && !(config instanceof Index)) {
      const message = 'config is no index of this package; Index.btree() and its like make one.';
      throw new DirspaceError('InvalidInput', message, { details: { member: 'config' } });
    }
    if (typeof column !== 'string') {
      const message = `createIndex takes the name of one column, and was given ${showKind(column)}; make an index of each column.`;
      throw new DirspaceError('InvalidInput', message, { details: { member: 'column' } });
    }
    const { parameters } = config ?? usualIndex(await this.#at.schema(call), column);
    // A catalog that was opened read-only refuses it first.
    const isAsked = replace === false && this.#at.home.readOnly !== true;
    const [name] = isAsked ? await this.#namesOf(column, options.name, parameters, call) : [];
    if (name !== undefined) {
      throw new DirspaceError(
        'TableIndexAlreadyExists',
        `${this.#at.display()} has an index ${JSON.stringify(name)}, which already exists, and replace is false. Give another name, or drop it first.`,
        { details: { id: target.id, index: name } },
      );
    }
    const request = defined({
      ...onBranch(target),
      column,
      ...parameters,
      name: options.name,
      train: train === false ? train : undefined,
    });
    const operation = isScalar(parameters) ? 'CreateTableScalarIndex' : 'CreateTableIndex';
    return { asked: { operation, request }, parameters };
  }

  /** As `create`, whose work the job does. @throws as `create` for what is no index of a column of the table */
  async createAsync(column: string, options: IndexOptions = {}): Promise<Job> {
    const { id } = this.#at.writable(options, INDEX_OPTIONS);
    const { config, name, signal, onProgress, ...others } = options;
    usualIndex(await this.#at.schema(defined({ signal })), String(column));
    const run: JobWork['run'] = async (ended, tell) => {
      const signals = signal === undefined ? ended : AbortSignal.any([ended, signal]);
      const told = (progress: JobProgress): void => {
        tell(progress);
        onProgress?.(progress);
      };
      const more = defined({ config, name });
      await this.create(column, { ...others, ...more, signal: signals, onProgress: told });
      return null;
    };
    const spec = defined({ column, name, ...config?.parameters });
    const work = { table: id.at(-1) ?? '', jobType: 'create_index', spec, run };
    const jobs = jobsOf(this.#at.home);
    // Only this program waits for rows that come later.
    if (this.#at.home.catalog.opensFiles === true || others.waitTimeoutSeconds !== undefined)
      return jobs.begin(work);
    const { asked } = await this.#asked(column, options);
    return jobs.beginAt(asked, work, options, onProgress);
  }

  /**
   * The index of that name; those of the column and type with names that the catalog chose where
   * none is given.
   */
  async #namesOf(
    column: string,
    name: string | undefined,
    { index_type: type = '' }: IndexParameters,
    call: CallOptions,
  ): Promise<string[]> {
    const indexed = withoutBackticks(column).toLowerCase();
    const usual = `${indexed}_idx`;
    // Every type for vectors may be built as another one of them.
    const kindOf = (listed: string): string => (/^ivf/i.test(listed) ? 'Ivf' : listed);
    const kind = kindOf(listedType(type));
    const isChosen = (index: IndexConfig): boolean =>
      index.columns.length === 1 &&
      // A catalog may not tell types.
      ['', kind].includes(kindOf(index.indexType)) &&
      index.columns[0]?.toLowerCase() === indexed &&
      index.name.toLowerCase().startsWith(usual) &&
      /^(_\d+)?$/.test(index.name.slice(usual.length));
    return (await this.list(call))
      .filter((index) => (name === undefined ? isChosen(index) : index.name === name))
      .map((index) => index.name);
  }

  async list(options: CallOptions = {}): Promise<IndexConfig[]> {
    this.#at.reading(options);
    const { catalog } = this.#at.home;
    const found: IndexConfig[] = [];
    for await (const page of pages((token) =>
      catalog.listTableIndices({ ...atVersion(this.#at.target), ...token }, options),
    )) {
      found.push(...page.indexes.map(indexConfig));
    }
    return found;
  }

  /** Undefined where there is no index of the name. */
  async statistics(name: string, options: CallOptions = {}): Promise<IndexStatistics | undefined> {
    this.#at.reading(options);
    const request = { ...atVersion(this.#at.target), index_name: name };
    try {
      return indexStatistics(await this.#at.home.catalog.describeTableIndexStats(request, options));
    } catch (error) {
      if (isDirspaceError(error, 'TableIndexNotFound')) return undefined;
      throw error;
    }
  }

  /** The words of a text as a full-text index of this table looks for them. @throws TableIndexNotFound */
  async tokenize(
    text: string,
    given: TokenizeTableOptions,
    options: CallOptions = {},
  ): Promise<FtsToken[]> {
    onlyOptions(given, ['column', 'indexName'], 'tokenize');
    const { column, indexName } = given;
    if ((column === undefined) === (indexName === undefined)) {
      const message =
        'tokenize takes the column or the indexName of a full-text index. Specify exactly one.';
      throw new DirspaceError('InvalidInput', message, { details: { member: 'column' } });
    }
    const found = (await this.list(options)).find(({ name, columns, indexType }) =>
      column === undefined ? name === indexName : indexType === 'FTS' && columns.includes(column),
    );
    if (found?.indexType !== 'FTS') {
      throw new DirspaceError(
        'TableIndexNotFound',
        `${this.#at.display()} has no full-text index ${column === undefined ? JSON.stringify(indexName) : `of the column ${JSON.stringify(column)}`}. createIndex with Index.fts() makes one.`,
        { details: { ...defined({ index: indexName, column }) } },
      );
    }
    const members: Record<string, unknown> = { ...(found.indexDetails as object | undefined) };
    delete members.with_position;
    return relativeTokens(text, members);
  }

  async drop(name: string, options: CallOptions = {}): Promise<void> {
    const request = { ...onBranch(this.#at.writable(options)), index_name: name };
    await this.#at.home.catalog.dropTableIndex(request, options);
  }

  /** @throws TableIndexNotFound; Unsupported from a catalog that has no operation for it */
  async prewarm(name: string, options: CallOptions = {}): Promise<void> {
    this.#at.reading(options);
    const { catalog } = this.#at.home;
    if (catalog.prewarmTableIndex === undefined) throw unsupported('PrewarmTableIndex');
    await catalog.prewarmTableIndex({ ...atVersion(this.#at.target), index_name: name }, options);
  }

  /**
   * Resolves once all of these are there and cover every row.
   * @param indexNames one name, or several
   * @throws ServiceUnavailable when the time is up
   */
  async waitFor(
    indexNames: string | readonly string[],
    timeoutSeconds: number,
    options: CallOptions = {},
  ): Promise<void> {
    this.#at.reading(options);
    if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds >= 0)) {
      const message = `waitForIndex takes seconds >= 0 and was given ${String(timeoutSeconds)}.`;
      throw new DirspaceError('InvalidInput', message, { details: { member: 'timeoutSeconds' } });
    }
    const { env } = this.#at.home;
    const end = env.now() + timeoutSeconds * 1000;
    let waiting = checkedNames(indexNames);
    while (true) {
      const missing: string[] = [];
      const behind: string[] = [];
      for (const name of waiting) {
        const stats = await this.statistics(name, options);
        if (stats === undefined) missing.push(name);
        else if (stats.numUnindexedRows > 0) behind.push(name);
      }
      waiting = [...missing, ...behind];
      if (waiting.length === 0) return;
      const left = end - env.now();
      if (left <= 0) {
        const what = [
          ...(missing.length === 0 ? [] : [`there is no index ${missing.join(', ')}`]),
          ...(behind.length === 0 ? [] : [`${behind.join(', ')} does not cover all rows`]),
        ];
        throw new DirspaceError(
          'ServiceUnavailable',
          `Timed out waiting for indices: after ${timeoutSeconds} s ${what.join('; ')}.`,
          { details: { id: this.#at.newest.id, indexes: waiting, missing } },
        );
      }
      await env.sleep(Math.min(left, POLL_MS), options.signal);
    }
  }
}

/** @throws InvalidInput */
function checkedNames(given: string | readonly string[]): string[] {
  const names = typeof given === 'string' ? [given] : given;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return [...names];
  const message = `waitForIndex takes the name of an index, or an array of names, and was given ${showKind(given)}.`;
  throw new DirspaceError('InvalidInput', message, { details: { member: 'indexNames' } });
}

/** The protocol's words for types of indexes in those of LanceDB's lists; others stay as they are. */
const LISTED_TYPES: Readonly<Record<string, string>> = {
  BTREE: 'BTree',
  BITMAP: 'Bitmap',
  LABEL_LIST: 'LabelList',
  FTS: 'FTS',
  IVF_FLAT: 'IvfFlat',
  IVF_SQ: 'IvfSq',
  IVF_PQ: 'IvfPq',
  IVF_RQ: 'IvfRq',
  IVF_HNSW_FLAT: 'IvfHnswFlat',
  IVF_HNSW_PQ: 'IvfHnswPq',
  IVF_HNSW_SQ: 'IvfHnswSq',
};

const listedType = (type: string): string =>
  Object.hasOwn(LISTED_TYPES, type) ? (LISTED_TYPES[type] as string) : type;

const indexConfig = (index: IndexContent): Defined<IndexConfig> =>
  defined({
    name: index.index_name,
    indexType: listedType(index.index_type ?? ''),
    columns: index.columns.slice(),
    indexUuid: index.index_uuid,
    typeUrl: index.type_url,
    createdAt: index.created_at === undefined ? undefined : new Date(index.created_at),
    numIndexedRows: index.num_indexed_rows,
    numUnindexedRows: index.num_unindexed_rows,
    sizeBytes: index.size_bytes,
    numSegments: index.num_segments,
    indexVersion: index.index_version,
    indexDetails: details(index.index_details),
  });

function details(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const indexStatistics = (answer: DescribeTableIndexStatsResponse): IndexStatistics =>
  defined({
    numIndexedRows: answer.num_indexed_rows ?? 0,
    numUnindexedRows: answer.num_unindexed_rows ?? 0,
    indexType: answer.index_type ?? '',
    distanceType: answer.distance_type,
    numIndices: answer.num_indices,
  });
