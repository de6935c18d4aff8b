/** Ways around what a catalog lacks. Knows no operation. */
import { isDirspaceError } from '../../errors.ts';

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
