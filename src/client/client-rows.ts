/**
 * Protects from servers that ignore parts of a query. If a query has an ordering, several query
 * vectors, or an offset in a vector search, `checkHeeded` throws Unsupported unless the response
 * says that they were applied. `boundedRows` cuts the rows to the limit, which counts for each
 * query vector. If the largest limit of REST may have cut them short, it throws Internal at the
 * end.
 */
import type { RecordBatch, RecordBatchStream } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  APPLIED_HEADER,
  EVERY_ROW,
  namesIn,
  oftenPassedOver,
  type QueryTableRequest,
} from '../protocol/index.ts';
import type { ReadHeaders } from './whole-answer.ts';

const PASSED_OVER: Readonly<Record<string, string>> = {
  order_by:
    'The server does not say that it ordered the rows: order_by is beyond the protocol, and other servers may ignore it. Leave the ordering out, and sort the rows that come.',
  multi_vector:
    'The server does not say that it searched for every query vector: with several in multi_vector, other servers may answer for the first alone. Search for one vector at a time.',
  offset:
    'The server does not say that the offset left the limit whole: in a vector search, other servers may find k rows and leave out the first of these. Ask for offset + limit rows, and leave out the first ones that come.',
};

/**
 * Checks that the server applied the members of a query that many servers ignore, such as
 * `order_by`. A server of dirspace names those it applied in a header of the response.
 * @throws Unsupported for a member that the header does not name
 */
export function checkHeeded(query: QueryTableRequest, headers: Pick<ReadHeaders, 'get'>): void {
  const heeded = namesIn(headers.get(APPLIED_HEADER));
  const member = oftenPassedOver(query).find((name) => !heeded.includes(name));
  if (member === undefined) return;
  throw new DirspaceError('Unsupported', PASSED_OVER[member] as string, {
    details: { operation: 'QueryTable', member },
  });
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
