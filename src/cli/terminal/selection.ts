/** Parses `--at` and `--branch`: which version of a table a command reads. */
import { type Options, UsageError } from './command.ts';

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
