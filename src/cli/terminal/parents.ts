/**
 * `withParents` implements `--parents`. It creates the missing namespaces above a new object, and
 * then runs the work that creates the object. If the work fails, it removes the namespaces that it
 * created, except those that others use by then.
 */
import { isDirspaceError } from '../../errors.ts';
import type { Call } from './command.ts';

/** Does `work` once every namespace above `path` is there. */
export async function withParents<Result>(
  { connection, signal }: Pick<Call, 'connection' | 'signal'>,
  path: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  const created: string[][] = [];
  try {
    for (let depth = 1; depth < path.length; depth++) {
      const parent = path.slice(0, depth);
      try {
        await connection.createNamespace(parent, { signal });
        created.push(parent);
      } catch (error) {
        if (!isDirspaceError(error, 'NamespaceAlreadyExists')) throw error;
      }
    }
    return await work();
  } catch (error) {
    for (const parent of created.reverse()) {
      // One that others have put something into by now stays.
      await connection.dropNamespace(parent).catch(() => {});
    }
    throw error;
  }
}
