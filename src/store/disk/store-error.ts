/**
 * `storeError` returns, for a failed call of the file system, a `DirspaceError` with the path that
 * the caller of the store gave. The system's own message has absolute paths, so it is kept only as
 * the cause. System codes that are not listed here become Internal; an error without a code is
 * returned unchanged. Other functions build errors for common failures, such as `missingFolder` and
 * `outcomeUnknown`, or recognise them, such as `tellsMissing` and `isFailedFlush`.
 */
import { DirspaceError, type ErrorCode, isError } from '../../errors.ts';
import { errnoOf } from './file-system.ts';

const CODES: ReadonlyMap<string, readonly [ErrorCode, string]> = new Map(
  Object.entries({
    ENOSPC: ['ResourceExhausted', 'no space is left on the device; free some and try again'],
    EDQUOT: ['ResourceExhausted', 'the disk quota is used up; free some space and try again'],
    EMFILE: ['ResourceExhausted', 'this process has too many open files'],
    ENFILE: ['ResourceExhausted', 'the system has too many open files'],
    ENOMEM: ['ResourceExhausted', 'the system is out of memory'],
    EFBIG: ['ResourceExhausted', 'the file would be larger than the file system allows'],
    EMLINK: ['ResourceExhausted', 'the file system allows no more links here'],
    EACCES: ['PermissionDenied', 'permission is denied'],
    EPERM: ['PermissionDenied', 'the operation is not permitted'],
    EROFS: ['ReadOnly', 'the file system is read-only'],
    ENAMETOOLONG: ['InvalidInput', 'the name is too long for the file system'],
    ELOOP: ['InvalidInput', 'it is a symbolic link, and links inside a catalog are not followed'],
    EISDIR: ['InvalidInput', 'it is a folder, not a file'],
    ENOTDIR: ['InvalidInput', 'a file stands where a folder is expected'],
  } as const),
);

/**
 * `action` reads as in "cannot read `a/b`". A DirspaceError and an error without a code pass
 * through as they are; codes that are not known become Internal.
 */
export function storeError(error: unknown, action: string, path: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || (error as Error).name === 'DirspaceError') return error;
  const [code, reason] = CODES.get(errno) ?? ['Internal', `the file system answered ${errno}`];
  return new DirspaceError(code, `cannot ${action} \`${path}\`: ${reason}`, {
    cause: error,
    details: { path, errno },
  });
}

/** Something the file system said, in its own words or in ours. */
export function isSystemFailure(error: unknown): boolean {
  if (!isError(error)) return false;
  if (error.name !== 'DirspaceError') return errnoOf(error) !== undefined;
  return (error as DirspaceError).details.errno !== undefined;
}

/** Whether the system said that nothing is at a path, also for a file in place of a folder of it. */
export function tellsMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}

/** Whether the system said that it gives a file no second name, or no further one. */
export const isWithoutLinks = (error: unknown): boolean => NO_LINKS.has(errnoOf(error));
const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'EMLINK',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EXDEV',
]);

/** The folder a write needs is not there: a table was dropped or moved under the writer, or the root. */
export function missingFolder(folder: string, cause?: unknown): DirspaceError {
  const what = folder === '' ? 'the root of the catalog' : `the folder \`${folder}\``;
  return new DirspaceError(
    'InvalidTableState',
    `${what} is missing: it was moved or deleted, perhaps by another process; check what is in its place, then try again`,
    { cause, details: { path: folder, missingFolder: true } },
  );
}

export function isMissingFolder(error: unknown): error is DirspaceError {
  return (
    isError(error) &&
    error.name === 'DirspaceError' &&
    (error as DirspaceError).details.missingFolder === true
  );
}

/**
 * The change is visible, yet the disk did not confirm that it will stay. `begun` says whether the
 * disk was asked at all: after a flush that failed the system may have dropped what was to be
 * written, and a second flush that succeeds proves nothing.
 */
export function outcomeUnknown(path: string, cause: unknown, begun: boolean): DirspaceError {
  return new DirspaceError(
    'CommitStateUnknown',
    `\`${path}\` was put in place, but the disk did not confirm it (${errnoOf(cause) ?? 'failed'})`,
    { cause, details: { path, errno: errnoOf(cause), ...(begun ? { flushFailed: true } : {}) } },
  );
}

/** True for an error that no later flush can make good. */
export const isFailedFlush = (error: unknown): error is DirspaceError =>
  isError(error) &&
  error.name === 'DirspaceError' &&
  (error as DirspaceError).details.flushFailed === true;

export function symbolicLink(path: string): DirspaceError {
  return new DirspaceError(
    'InvalidInput',
    `\`${path}\` is a symbolic link, and links inside a catalog are not followed`,
    { details: { path } },
  );
}
