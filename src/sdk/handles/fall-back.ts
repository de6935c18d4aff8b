/**
 * Handles failures that stand for an answer. `ownOr` returns the result of a catalog's own
 * operation, or runs a replacement if there is no such operation or it fails with Unsupported.
 * `isThere` returns true if an operation succeeds, and false if it fails with one of the given
 * codes, such as TableNotFound. Both throw other errors again.
 */
import { type ErrorCode, isDirspaceError } from '../../errors.ts';

/**
 * What `own` resolves to; what `otherwise` does where there is no `own`, or where it turns out that
 * the catalog, such as one behind a server, does not have it.
 */
export async function ownOr<Result>(
  own: Promise<Result> | undefined,
  otherwise: () => Promise<Result>,
): Promise<Result> {
  if (own === undefined) return otherwise();
  try {
    return await own;
  } catch (error) {
    if (isDirspaceError(error, 'Unsupported')) return otherwise();
    throw error;
  }
}

/** Whether an exists operation resolves; failures of other kinds stay failures. */
export async function isThere(answer: Promise<unknown>, ...missing: ErrorCode[]): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (isDirspaceError(error, ...missing)) return false;
    throw error;
  }
}
