/**
 * Closes streams of rows that nobody reads, for example because a write is refused; otherwise a
 * file that the rows come from would stay open. `handOver` passes a stream to a write, and closes
 * it if the write ends without having begun to read it. `closedBy` returns a stream that closes
 * its source when an iteration is ended early, even before the first step.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';

export async function handOver<Answer>(
  rows: RecordBatchStream,
  write: (rows: RecordBatchStream) => Promise<Answer>,
): Promise<Answer> {
  let isBegun = false;
  const given: RecordBatchStream = {
    schema: rows.schema,
    [Symbol.asyncIterator]: () => {
      isBegun = true;
      return rows[Symbol.asyncIterator]();
    },
  };
  try {
    return await write(given);
  } finally {
    if (!isBegun) await rows[Symbol.asyncIterator]().return?.();
  }
}

/** @param close may be called several times */
export const closedBy = (
  stream: RecordBatchStream,
  close: () => Promise<unknown>,
): RecordBatchStream => ({
  schema: stream.schema,
  [Symbol.asyncIterator]: () => {
    const batches = stream[Symbol.asyncIterator]();
    return {
      next: () => batches.next(),
      return: async () => {
        await batches.return?.();
        await close();
        return { done: true, value: undefined };
      },
    };
  },
});
