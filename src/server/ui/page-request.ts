/**
 * Reads the members of a request of the browser page. `pinnedTable` reads the table and version
 * that it names. `textOf`, `optionalText`, `textList`, `countOf` and `rowIdOf` read single values.
 * Each throws InvalidInput that names the member.
 */
import { DirspaceError } from '../../errors.ts';
import type { Body } from './page-caller.ts';

/** One version of a table; windows of rows are all of the same one. */
export interface PinnedTable {
  readonly id: string[];
  readonly branch?: string;
  readonly version?: number;
  readonly incarnation?: string;
}

export function pinnedTable(body: Body): PinnedTable {
  const { id, branch, version, incarnation } = body;
  return {
    id: textList(id, 'id'),
    ...(branch === undefined ? {} : { branch: textOf(branch, 'branch') }),
    ...(version === undefined
      ? {}
      : { version: countOf(version, 'version', Number.MAX_SAFE_INTEGER) }),
    ...(incarnation === undefined ? {} : { incarnation: textOf(incarnation, 'incarnation') }),
  };
}

export function textOf(value: unknown, member: string): string {
  if (typeof value === 'string') return value;
  throw wrong(member, value, 'a text');
}

/** Absent and empty are the same. */
export function optionalText(value: unknown, member: string): string | undefined {
  if (value === undefined || value === '') return undefined;
  return textOf(value, member);
}

export function textList(value: unknown, member: string): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw wrong(member, value, 'a list of texts');
}

/** A whole number from 0 to `most`. */
export function countOf(value: unknown, member: string, most: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most) {
    return value;
  }
  throw wrong(member, value, `a whole number from 0 to ${most}`);
}

export function rowIdOf(value: unknown): bigint {
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  throw wrong('row_id', value, 'a row id as a text of digits');
}

function wrong(member: string, value: unknown, expected: string): DirspaceError {
  const found = JSON.stringify(value)?.slice(0, 80) ?? 'absent';
  return new DirspaceError(
    'InvalidInput',
    `The member "${member}" is ${found}; it is ${expected}.`,
  );
}
