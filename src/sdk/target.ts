/** What a handle on a table points at, and the request members that say so. Calls nothing. */

import type { Env } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import type { DescribeTableRequest } from '../protocol/models.ts';
import type { Catalog } from './implementations.ts';
import type { Lifetime } from './lifetime.ts';

/** What all handles of one connection share. */
export interface Home {
  readonly catalog: Catalog;
  readonly lifetime: Lifetime;
  readonly env: Env;
}

export interface TableTarget {
  readonly catalog: Catalog;
  /** Of the handle the call is made on. */
  readonly lifetime: Lifetime;
  /** Components from the root down; never changed. */
  readonly id: string[];
  /** The main branch if absent. */
  readonly branch?: string;
  /** The newest one, whenever it is asked for, if absent. */
  readonly version?: number;
}

export const MAIN_BRANCH = 'main';

/** The main branch has no name in a target, so that both spellings are one. */
export function branchMember(branch: string | undefined): { branch?: string } {
  return branch === undefined || branch === MAIN_BRANCH ? {} : { branch };
}

/** Members that requests on tables share. */
export interface AtVersion {
  id: string[];
  branch?: string;
  version?: number;
}

// Opening a table and counting its rows come through here; assigning costs a tenth of spreading.
export function onBranch({ id, branch }: TableTarget): Omit<AtVersion, 'version'> {
  return branch === undefined ? { id } : { id, branch };
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
