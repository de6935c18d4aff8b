/**
 * Turns the table, branch and version that a table handle points at (`TableTarget`) into the
 * members of requests (`onTable`, `onBranch`, `atVersion`). A call begins with `entered`, which
 * throws Closed if the handle has ended, or the reason of an aborted signal. `pathOf` and `tableId`
 * throw InvalidInput for paths and names of a wrong type; the catalog decides which names are
 * legal. `displayPath` formats a path for people. `Home` holds what the handles of one connection
 * share.
 */

import type { Env } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import { MAIN_BRANCH } from '../../paths.ts';
import type { CallOptions, DescribeTableRequest } from '../../protocol/index.ts';
import type { Catalog } from './implementations.ts';
import type { Lifetime } from './lifetime.ts';

/** What all handles of one connection share. */
export interface Home {
  readonly catalog: Catalog;
  readonly lifetime: Lifetime;
  readonly env: Env;
  /** Whether it was opened so; the catalog refuses what changes it. */
  readonly readOnly?: boolean;
}

export interface TableTarget {
  readonly catalog: Catalog;
  /** Of the handle the call is made on. */
  readonly lifetime: Lifetime;
  /** Components from the root down; never changed. */
  readonly id: string[];
  /**
   * The table that the handle was opened on, as the catalog told it: another one that takes its name
   * is not meant. Catalogs of others tell none; the name alone counts then.
   */
  readonly incarnation?: string;
  /** The main branch if absent. */
  readonly branch?: string;
  /** The newest one, whenever it is asked for, if absent. */
  readonly version?: number;
}

/** The main branch has no name in a target, so that both spellings are one. */
export function branchMember(branch: string | undefined): { branch?: string } {
  return branch === undefined || branch === MAIN_BRANCH ? {} : { branch };
}

/** Members that requests on tables share. */
export interface OnTable {
  id: string[];
  incarnation?: string;
}

export interface AtVersion extends OnTable {
  branch?: string;
  version?: number;
}

/** Begins a call of a handle: what it asks, and the members that name the table. @throws Closed */
export function entered(
  target: TableTarget,
  options: CallOptions,
): { readonly catalog: Catalog; readonly table: OnTable } {
  target.lifetime.enter(options);
  return { catalog: target.catalog, table: onTable(target) };
}

// Opening a table and counting its rows come through here; assigning costs a tenth of spreading.
export function onTable({ id, incarnation }: TableTarget): OnTable {
  return incarnation === undefined ? { id } : { id, incarnation };
}

export function onBranch(target: TableTarget): Omit<AtVersion, 'version'> {
  const members: AtVersion = onTable(target);
  if (target.branch !== undefined) members.branch = target.branch;
  return members;
}

export function atVersion(target: TableTarget): AtVersion {
  const members: AtVersion = onBranch(target);
  if (target.version !== undefined) members.version = target.version;
  return members;
}

export function detailedRequest(target: TableTarget): DescribeTableRequest {
  const request: DescribeTableRequest = atVersion(target);
  request.load_detailed_metadata = true;
  return request;
}

/** Checks the shape only: which names are legal is the catalog's to say. */
export function pathOf(path: readonly string[], member = 'namespacePath'): string[] {
  if (!Array.isArray(path) || !path.every((component) => typeof component === 'string')) {
    throw new DirspaceError(
      'InvalidInput',
      `${member} is an array of names, such as ["prod", "search"], or [] for the root; it was given as ${typeof path}.`,
      { details: { member } },
    );
  }
  return path.slice();
}

export function tableId(name: string, namespacePath: readonly string[] = []): string[] {
  if (typeof name !== 'string') {
    throw new DirspaceError(
      'InvalidInput',
      `A table's name is a string; it was given as ${typeof name}.`,
    );
  }
  return [...pathOf(namespacePath), name];
}

/** For people: `prod/search/user`, and `/` for the root. */
export const displayPath = (path: readonly string[]): string => path.join('/') || '/';
