/**
 * `namespaceTarget` calls the methods of a catalog in the same process for the cases, and records
 * each call. An operation counts as not implemented if the catalog lacks its method. There are no
 * raw HTTP requests, so cases about HTTP are not run. The caller closes the catalog.
 */

import { isDirspaceError } from '../../errors.ts';
import {
  EVERY_OPERATION,
  methodName,
  type Namespace,
  type OperationRow,
  unsupported,
} from '../../protocol/index.ts';
import { type Exchange, shown } from './exchange.ts';
import { readRows } from './rows.ts';
import { unlessAborted } from './signals.ts';
import type { Target } from './target.ts';

type Methods = Readonly<Record<string, ((...inputs: unknown[]) => Promise<unknown>) | undefined>>;

export function namespaceTarget(namespace: Namespace): Target {
  const methods = namespace as unknown as Methods;
  return {
    name: 'a catalog in process',
    call: async (operation, request, data, record, signal) => {
      const row: OperationRow = EVERY_OPERATION[operation];
      const name = methodName(operation);
      const asked = `${name}(${shown(request)}${data === undefined ? '' : ', <rows>'})`;
      const tell = (answer: string): void =>
        record({ operation, request: asked, answer } satisfies Exchange);
      try {
        const inputs = row.body === 'arrow-stream' ? [request, data] : [request];
        signal?.throwIfAborted();
        const method = methods[name];
        if (method === undefined) throw unsupported(operation);
        // A catalog made without types may answer at once.
        const answer = await unlessAborted(
          Promise.resolve(method.call(namespace, ...inputs)),
          signal,
        );
        if (row.answer !== 'arrow-file') {
          tell(shown(answer));
          return answer as never;
        }
        const rows = await readRows(answer as Parameters<typeof readRows>[0]);
        tell(`<${rows.batches.reduce((sum, { numRows }) => sum + numRows, 0)} rows>`);
        return rows as never;
      } catch (error) {
        tell(isDirspaceError(error) ? `${error.code}: ${error.message}` : String(error));
        throw error;
      }
    },
  };
}
