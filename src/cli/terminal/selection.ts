/**
 * Handles the options that select a version of a table. `versionOf` and `versionNumber` parse
 * `--at` (a version or tag) and `--branch`. `openSelected` opens a table at the version that the
 * options name, or at the newest. A branch beside a tag, and a number that is too large, throw
 * UsageError.
 */
import type { Table } from '../../sdk/index.ts';
import { type Call, type Options, UsageError } from './command.ts';
import type { parseObject } from './ids.ts';

/** Opens a table at the version that the options name; at the newest if they name none. */
export function openSelected(
  { connection, options, signal }: Pick<Call, 'connection' | 'options' | 'signal'>,
  { namespace, name }: ReturnType<typeof parseObject>,
): Promise<Table> {
  return connection.openTable(name, namespace, { ...versionOf(options), signal });
}

/** Digits are a version, anything else is a tag; a tag names its branch. */
export function versionOf(options: Options): { version?: number; tag?: string; branch?: string } {
  const at = options.text('at');
  const branch = options.text('branch');
  const onBranch = branch === undefined ? {} : { branch };
  if (at === undefined) return onBranch;
  if (/^\d+$/.test(at)) return { version: versionNumber(at), ...onBranch };
  if (branch !== undefined) {
    throw new UsageError(`--at ${at} is a tag, which names its branch; leave out --branch.`);
  }
  return { tag: at };
}

/** Throws UsageError for a number that is none of a version. */
export function versionNumber(digits: string): number {
  const version = Number(digits);
  if (Number.isSafeInteger(version)) return version;
  throw new UsageError(`${digits} is no version; it is too large.`);
}
