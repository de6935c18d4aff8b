/**
 * Implements a connection's methods for the trash: `listTrash`, `undropTable` and `purgeTrash`,
 * with the types of their options and results. If the catalog has no trash, they throw Unsupported.
 * Without `olderThan`, `purgeTrash` removes all that was dropped, for good. The option `detached`
 * is for deregistered tables in place of dropped ones.
 */
import type { Env } from '../env.ts';
import type {
  CallOptions,
  PurgeTrashRequest,
  TrashItem,
  UndropTableResponse,
} from '../protocol/index.ts';
import {
  CONNECTION_OPTIONS,
  checkChangeOptions,
  checkOptionNames,
  defined,
  type Home,
  offered,
} from './handles/index.ts';
import { timeOf } from './table/index.ts';

/** Which of several dropped tables to bring back. */
export interface UndropTableOptions extends CallOptions {
  /** As `listTrash` names it; the one that was dropped last if absent. */
  readonly trashId?: string;
}

/** What to list of the trash. */
export interface ListTrashOptions extends CallOptions {
  /** Tables that were deregistered, in place of what was dropped. */
  readonly detached?: boolean;
}

/** Something that was dropped, and can be brought back until it is purged. */
export interface TrashedItem {
  /** What `undropTable` takes to name it. */
  readonly trashId: string;
  /** `table`, `namespace`, `detached` of a deregistered table, or `unknown` where its record is lost. */
  readonly kind: string;
  /** Its name after the path of its namespace; empty where that is not known. */
  readonly path: readonly string[];
  /** By the clock of who dropped it. */
  readonly droppedAt?: Date;
  /** Of a namespace: the tables that were dropped with it, by path. */
  readonly tables?: readonly (readonly string[])[];
  /** Of a deregistered table: what registering takes. */
  readonly location?: string;
}

/** What to remove of the trash: all of it if `olderThan` is absent. */
export interface PurgeTrashOptions extends CallOptions {
  /** Only what was dropped before. */
  readonly olderThan?: Date;
  /** Tables that were deregistered, in place of what was dropped. */
  readonly detached?: boolean;
  /** Says how much would go and removes nothing. */
  readonly dryRun?: boolean;
}

/** Tables and namespaces that were removed for good, or would be in a dry run. */
export interface PurgeTrashResult {
  readonly removed: number;
  readonly dryRun: boolean;
}

export function undropTable(
  { catalog }: Home,
  id: string[],
  options: UndropTableOptions,
): Promise<UndropTableResponse> {
  checkChangeOptions(options, CONNECTION_OPTIONS.undropTable);
  return offered(catalog, 'undropTable')(defined({ id, trash_id: options.trashId }), options);
}

export async function listTrash(
  { catalog }: Home,
  id: string[],
  options: ListTrashOptions | undefined,
): Promise<TrashedItem[]> {
  checkOptionNames(options, CONNECTION_OPTIONS.listTrash);
  const request = defined({ id, detached: options?.detached });
  const { entries } = await offered(catalog, 'listTrash')(request, options);
  return entries.map(trashedItem);
}

export async function purgeTrash(
  { catalog, lifetime, env }: Home,
  options: PurgeTrashOptions,
): Promise<PurgeTrashResult> {
  lifetime.enter(options);
  checkChangeOptions(options, CONNECTION_OPTIONS.purgeTrash);
  const request = purgeRequest(options, env);
  const { removed, dry_run } = await offered(catalog, 'purgeTrash')(request, options);
  return { removed, dryRun: dry_run };
}

/** Removes from the trash what was dropped before a time, or all of it. */
function purgeRequest(
  { olderThan, dryRun, detached }: PurgeTrashOptions,
  env: Env,
): PurgeTrashRequest {
  const age = olderThan === undefined ? 0 : env.now() - timeOf(olderThan, 'olderThan');
  return defined({
    older_than_millis: Math.max(0, Math.floor(age)),
    dry_run: dryRun,
    detached,
  });
}

const trashedItem = (entry: TrashItem): TrashedItem =>
  defined({
    trashId: entry.trash_id,
    kind: entry.kind,
    path: entry.id,
    droppedAt: entry.dropped_at === undefined ? undefined : new Date(entry.dropped_at),
    tables: entry.tables,
    location: entry.location,
  });
