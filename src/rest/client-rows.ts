/**
 * What the client makes sure of in the rows of a query, whoever serves it: no more of them than were
 * asked for, none missing because the wire could not ask for more, and in the order asked for.
 */
import type { RecordBatch, RecordBatchStream } from '../arrow.ts';
import { DirspaceError } from '../errors.ts';
import type { QueryTableRequest } from '../protocol/models.ts';
import { EVERY_ROW } from '../protocol/wire-query.ts';
import { APPLIED_HEADER } from './header-names.ts';

/**
 * Members that other servers do not know, they pass over: rows in any order would be taken for
 * ordered ones. Ours says what it has heeded. @throws Unsupported
 */
export function checkOrdered({ order_by }: QueryTableRequest, headers: Headers): void {
  if (order_by === undefined || order_by.length === 0) return;
  const applied = headers.get(APPLIED_HEADER) ?? '';
  if (applied.split(',').some((name) => name.trim() === 'order_by')) return;
  throw new DirspaceError(
    'Unsupported',
    'The server does not say that it ordered the rows: order_by is beyond the protocol, and servers of others pass over it. Leave the ordering out, and sort the rows that come.',
    { details: { operation: 'QueryTable', member: 'order_by' } },
  );
}

/**
 * The first `k` rows, or as many for each of several vectors: to Lance's own server 0 is no limit.
 * @throws Internal at the end of an answer that the wire's largest `k` may have cut short
 */
export function boundedRows(
  stream: RecordBatchStream,
  { k, vector }: QueryTableRequest,
): RecordBatchStream {
  const most = k * Math.max(1, vector?.multi_vector?.length ?? 1);
  return {
    schema: stream.schema,
    [Symbol.asyncIterator]: () => {
      const batches = stream[Symbol.asyncIterator]();
      let rows = 0;
      const end = async (): Promise<IteratorResult<RecordBatch>> => {
        await batches.return?.();
        return { done: true, value: undefined };
      };
      return {
        next: async () => {
          if (rows > most) return end();
          const step = await batches.next();
          if (step.done) {
            if (rows === EVERY_ROW) throw cutShort();
            return step;
          }
          const left = most - rows;
          rows += step.value.numRows;
          if (rows <= most) return step;
          return left > 0 ? { value: step.value.slice(0, left) } : end();
        },
        return: end,
      };
    },
  };
}

function cutShort(): DirspaceError {
  return new DirspaceError(
    'Internal',
    `The answer ends after ${EVERY_ROW} rows, which is the most that a query can ask for over REST; there may be more. Read them in parts, with a filter.`,
  );
}
