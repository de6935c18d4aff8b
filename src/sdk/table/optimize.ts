/**
 * `optimizeTable` implements `Table.optimize`, and `optimizeTableAsync` does the same work as a
 * job. Both check the options and translate them to members of the protocol's request and to
 * options of the call; wrong ones, and a handle pinned to a version, throw InvalidInput. By
 * default, versions superseded more than 7 days ago are removed. `optimizeTable` rejects with
 * Unsupported if the catalog lacks the operation. `timeOf` returns the milliseconds of a Date, and
 * throws InvalidInput for anything else. `progressFrom` adapts a callback to the catalog's
 * progress.
 */
import { type Compression, checkCompression } from '../../compression.ts';
import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import {
  type CallOptions,
  type OptimizeCallOptions,
  type OptimizeProgress,
  type OptimizeTableRequest,
  type OptimizeTableResponse,
  unsupported,
} from '../../protocol/index.ts';
import { showValue } from '../build/index.ts';
import {
  COMPACTION_OPTIONS,
  defined,
  OPTIMIZE_OPTIONS,
  onBranch,
  onlyOptions,
} from '../handles/index.ts';
import { carriedOut, type Job, jobsOf } from '../jobs/index.ts';
import type { TablePosition } from './position.ts';
import { type OptimizeStats, optimizeStats } from './table-results.ts';

/** What to join and what to remove. */
export interface OptimizeOptions extends CallOptions {
  /**
   * Versions superseded before this go, with the files that only they use; seven days ago if absent.
   * Whoever reads a version has that long from the moment it is no longer the newest. `false` removes
   * none: a server allows removing history only to who has the right `admin`.
   */
  readonly cleanupOlderThan?: Date | false;
  /** Says what would go and removes nothing. */
  readonly dryRun?: boolean;
  /**
   * Removes files that no version needs however young, also where their names do not tell which
   * writer made them, as those of older releases. Files of a writer in progress stay: the answer
   * counts them.
   */
  readonly deleteUnverified?: boolean;
  /** What fragments should be like; `false` leaves them as they are. */
  readonly compaction?: CompactionOptions | false;
  /**
   * How new fragments of the table are compressed from now on. Those that are there are written anew
   * accordingly, unless `compaction` is `false`.
   */
  readonly compression?: Compression;
  /** Called as compaction gets on, and then as indexes do. */
  readonly onProgress?: (progress: {
    readonly rowsDone: number;
    readonly rowsTotal: number;
  }) => void;
}

/** The goals of compaction: how large fragments become, and when they are rewritten. */
export interface CompactionOptions {
  /** Rows of a fragment, at most; about a million if absent. */
  readonly targetRows?: number;
  /** Bytes of a fragment, at most; 256 MiB if absent. */
  readonly targetBytes?: number;
  /** From 0 to 1: a fragment of which more rows are deleted is rewritten; 0.1 if absent. */
  readonly maxDeletedShare?: number;
  /**
   * Also rewrites each fragment whose files other programs cannot read alone: with deleted rows, with columns
   * in several files, or with other columns than the version. See `files`.
   */
  readonly plain?: boolean;
}

/** @throws Unsupported from a catalog that has no operation for it */
export async function optimizeTable(
  at: TablePosition,
  options: OptimizeOptions,
): Promise<OptimizeStats> {
  const target = at.writable(options, OPTIMIZE_OPTIONS);
  const { catalog, env } = at.home;
  if (catalog.optimizeTable === undefined) throw unsupported('OptimizeTable');
  const request = { ...onBranch(target), ...optimizeMembers(options, env) };
  const { onProgress } = options;
  // A server tells how far it is of a job alone.
  const asked = { operation: 'OptimizeTable', request } as const;
  const { on_progress: _, ...call } = optimizeCall(options);
  const job = onProgress && (await carriedOut(at.home, asked, call, onProgress));
  const answer = job?.result ?? (await catalog.optimizeTable(request, optimizeCall(options)));
  return optimizeStats(answer as unknown as OptimizeTableResponse);
}

/** As `optimizeTable`, whose work the job does. @throws as that for options that are not taken */
export async function optimizeTableAsync(
  at: TablePosition,
  options: OptimizeOptions,
): Promise<Job> {
  const target = at.writable(options, OPTIMIZE_OPTIONS);
  const { onProgress, signal, ...others } = options;
  const members = optimizeMembers(options, at.home.env);
  return jobsOf(at.home).beginAt(
    { operation: 'OptimizeTable', request: { ...onBranch(target), ...members } },
    {
      table: target.id.at(-1) ?? '',
      jobType: 'optimize',
      spec: members,
      run: (ended, tell) =>
        optimizeTable(at, {
          ...others,
          signal: signal === undefined ? ended : AbortSignal.any([ended, signal]),
          onProgress: (progress) => {
            tell(progress);
            onProgress?.(progress);
          },
        }),
    },
    options,
    onProgress,
  );
}

const WEEK_MILLIS = 7 * 24 * 60 * 60 * 1000;

/** @throws InvalidInput unless `cleanupOlderThan` is a valid Date, or false without `deleteUnverified` */
function optimizeMembers(
  options: OptimizeOptions,
  env: Env,
): Omit<OptimizeTableRequest, 'id' | 'branch'> {
  const { cleanupOlderThan, dryRun, deleteUnverified, compaction, compression } = options;
  if (typeof compaction === 'object') onlyOptions(compaction, COMPACTION_OPTIONS, 'compaction');
  if (cleanupOlderThan === false && deleteUnverified === true) {
    throw new DirspaceError(
      'InvalidInput',
      'deleteUnverified is a part of the cleanup, which cleanupOlderThan: false leaves out. Give a Date, or leave one of them out.',
    );
  }
  const age =
    cleanupOlderThan === undefined || cleanupOlderThan === false
      ? WEEK_MILLIS
      : env.now() - timeOf(cleanupOlderThan, 'cleanupOlderThan');
  return defined({
    compact:
      typeof compaction === 'object'
        ? defined({
            target_rows: compaction.targetRows,
            target_bytes: compaction.targetBytes,
            max_deleted_share: compaction.maxDeletedShare,
            plain: compaction.plain,
          })
        : compaction,
    compression: compression === undefined ? undefined : checkCompression(compression),
    cleanup_older_than_millis: cleanupOlderThan === false ? undefined : Math.max(0, age),
    dry_run: dryRun,
    orphan_grace_millis: deleteUnverified === true ? 0 : undefined,
  });
}

function optimizeCall(options: OptimizeOptions): OptimizeCallOptions {
  const { signal, idempotencyKey, onContext, onProgress } = options;
  return defined({
    signal,
    idempotencyKey,
    onContext,
    on_progress: onProgress && progressFrom(onProgress),
  });
}

/** Hands the progress of the catalog to a callback of the program. */
export const progressFrom =
  (onProgress: NonNullable<OptimizeOptions['onProgress']>) =>
  ({ rows_done: rowsDone, rows_total: rowsTotal }: OptimizeProgress): void =>
    onProgress({ rowsDone, rowsTotal });

/** Milliseconds since the epoch. */
export function timeOf(value: Date, option: string): number {
  const time = value instanceof Date ? value.getTime() : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const found = value instanceof Date ? 'an invalid Date' : showValue(value);
  throw new DirspaceError('InvalidInput', `${option} is ${found}; it is a Date.`);
}
