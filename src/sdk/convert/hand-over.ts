/**
 * `handOver`: gives a stream of rows to a write, and closes the stream if the write ends without
 * having begun to read it, such as one that is refused because the table exists. Otherwise a file
 * that the rows come from would stay open.
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
