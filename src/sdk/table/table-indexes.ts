/**
 * `TableIndexes`: creates, lists, describes, warms up and drops the indexes of a table, and waits
 * until they cover all rows. Types that a catalog does not build reject with Unsupported.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type DescribeTableIndexStatsResponse,
  type IndexContent,
  unsupported,
} from '../../protocol/index.ts';
import { atVersion, type Defined, defined, onBranch, pages } from '../handles/index.ts';
import { Index, isScalar, usualIndex } from './index-config.ts';
import type { TablePosition } from './position.ts';

/** How to create an index. */
export interface IndexOptions extends CallOptions {
  /** What `Index.btree()` and its like make; IVF_PQ for vectors and BTREE for the rest if absent. */
  readonly config?: Index;
  /** The catalog's own choice, `<column>_idx` as a rule, if absent. */
  readonly name?: string;
  /** False refuses to take the place of an index of the same name. */
  readonly replace?: boolean;
  /** Waits so long for the index to cover all rows; does not wait if absent. */
  readonly waitTimeoutSeconds?: number;
  /** Whether it is built at once; no catalog can leave that for later. */
  readonly train?: boolean;
}

const INDEX_OPTIONS = ['config', 'name', 'replace', 'waitTimeoutSeconds', 'train'] as const;

/** An index as the catalog lists it; members that it does not tell are absent. */
export interface IndexConfig {
  readonly name: string;
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
  readonly indexType: string;
  readonly distanceType?: string;
  readonly numIndices?: number;
}

const POLL_MS = 1000;

/** Reads, makes and drops the indexes of the table that a handle points at. */
export class TableIndexes {
  readonly #at: TablePosition;

  constructor(at: TablePosition) {
    this.#at = at;
  }

  /** @throws Unsupported, TableColumnNotFound, TableIndexAlreadyExists where `replace` is false */
  async create(column: string, options: IndexOptions = {}): Promise<void> {
    const target = this.#at.writable(options, INDEX_OPTIONS);
    const { config, replace, train, waitTimeoutSeconds, signal, idempotencyKey, onContext } =
      options;
    const call: CallOptions = defined({ signal });
    const own: CallOptions = defined({ signal, idempotencyKey, onContext });
    if (config !== undefined && !(config instanceof Index)) {
      const message = 'config is no index of this package; Index.btree() and its like make one.';
      throw new DirspaceError('InvalidInput', message, { details: { member: 'config' } });
    }
    if (train === false) {
      throw new DirspaceError(
        'Unsupported',
        'An index is built when it is created: train is true.',
      );
    }
    const name = options.name ?? `${column}_idx`;
    if (replace === false && (await this.list(call)).some((index) => index.name === name)) {
      throw new DirspaceError(
        'TableIndexAlreadyExists',
        `${this.#at.display()} has an index ${JSON.stringify(name)}, and replace is false.`,
        { details: { id: target.id, index: name } },
      );
    }
    const { parameters } = config ?? usualIndex(await this.#at.schema(call), column);
    const request = defined({ ...onBranch(target), column, ...parameters, name: options.name });
    const { catalog } = this.#at.home;
    if (isScalar(parameters)) await catalog.createTableScalarIndex(request, own);
    else await catalog.createTableIndex(request, own);
    if (waitTimeoutSeconds !== undefined) await this.waitFor([name], waitTimeoutSeconds, call);
  }

  async list(options: CallOptions = {}): Promise<IndexConfig[]> {
    this.#at.lifetime.enter(options);
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
    this.#at.lifetime.enter(options);
    const request = { ...atVersion(this.#at.target), index_name: name };
    try {
      return indexStatistics(await this.#at.home.catalog.describeTableIndexStats(request, options));
    } catch (error) {
      if (isDirspaceError(error, 'TableIndexNotFound')) return undefined;
      throw error;
    }
  }

  async drop(name: string, options: CallOptions = {}): Promise<void> {
    const request = { ...onBranch(this.#at.writable(options)), index_name: name };
    await this.#at.home.catalog.dropTableIndex(request, options);
  }

  /** @throws TableIndexNotFound; Unsupported from a catalog that has no operation for it */
  async prewarm(name: string, options: CallOptions = {}): Promise<void> {
    this.#at.lifetime.enter(options);
    const { catalog } = this.#at.home;
    if (catalog.prewarmTableIndex === undefined) throw unsupported('PrewarmTableIndex');
    await catalog.prewarmTableIndex({ ...atVersion(this.#at.target), index_name: name }, options);
  }

  /**
   * Resolves once all of these are there and cover every row.
   * @throws ServiceUnavailable when the time is up
   */
  async waitFor(
    indexNames: readonly string[],
    timeoutSeconds: number,
    options: CallOptions = {},
  ): Promise<void> {
    this.#at.lifetime.enter(options);
    if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds >= 0)) {
      const message = `waitForIndex takes seconds >= 0 and was given ${String(timeoutSeconds)}.`;
      throw new DirspaceError('InvalidInput', message, { details: { member: 'timeoutSeconds' } });
    }
    const { env } = this.#at.home;
    const end = env.now() + timeoutSeconds * 1000;
    let waiting = indexNames.slice();
    while (true) {
      const unready: string[] = [];
      for (const name of waiting) {
        const stats = await this.statistics(name, options);
        if (stats === undefined || stats.numUnindexedRows > 0) unready.push(name);
      }
      if (unready.length === 0) return;
      waiting = unready;
      const left = end - env.now();
      if (left <= 0) {
        throw new DirspaceError(
          'ServiceUnavailable',
          `After ${timeoutSeconds} s these indexes do not cover all rows: ${waiting.join(', ')}.`,
          { details: { id: this.#at.newest.id, indexes: waiting } },
        );
      }
      await env.sleep(Math.min(left, POLL_MS), options.signal);
    }
  }
}

const indexConfig = (index: IndexContent): Defined<IndexConfig> =>
  defined({
    name: index.index_name,
    indexType: index.index_type ?? '',
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
