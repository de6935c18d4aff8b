/**
 * `withProgress` runs a write and reports its rows, bytes and elapsed time to a function of the
 * program: after each record batch, and once when the write is done. An error of that function does
 * not end the write; the first one of a write is emitted as a warning of the process.
 */

import { batchBytes, type RecordBatch, type RecordBatchStream } from '../../arrow/index.ts';
import type { Env } from '../../env.ts';
import { isError } from '../../errors.ts';

/** How far a write has got. */
export interface WriteProgress {
  /** Rows that the catalog has taken. */
  readonly outputRows: number;
  /** Bytes of these rows in memory. */
  readonly outputBytes: number;
  /** Known at the end only. */
  readonly totalRows?: number;
  readonly elapsedSeconds: number;
  /** 1 until the write is done. */
  readonly activeTasks: number;
  readonly totalTasks: number;
  /** True in the last call, which comes once the version is committed. */
  readonly done: boolean;
}

/** The `progress` option of `add`: called after each batch, and once when the version is committed. */
export type OnWriteProgress = (progress: WriteProgress) => void;

/** Writes `rows` and reports, if asked to, after each batch and at the end; what `report` throws warns. */
export async function withProgress<Answer>(
  rows: RecordBatchStream,
  report: OnWriteProgress | undefined,
  env: Env,
  write: (rows: RecordBatchStream) => Promise<Answer>,
): Promise<Answer> {
  if (report === undefined) return write(rows);
  const started = env.now();
  let [outputRows, outputBytes] = [0, 0];
  let hasWarned = false;
  const tell = (done: boolean): void => {
    const elapsedSeconds = Math.max(0, env.now() - started) / 1000;
    const tasks = { activeTasks: done ? 0 : 1, totalTasks: 1 };
    const total = done ? { totalRows: outputRows } : {};
    try {
      report({ outputRows, outputBytes, ...total, elapsedSeconds, ...tasks, done });
    } catch (error) {
      // A failing report must not end a write, let alone one that is committed.
      if (!hasWarned) warn(error);
      hasWarned = true;
    }
  };
  const answer = await write({
    schema: rows.schema,
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      for await (const batch of rows) {
        yield batch;
        outputRows += batch.numRows;
        outputBytes += batchBytes(batch);
        tell(false);
      }
    },
  });
  tell(true);
  return answer;
}

function warn(error: unknown): void {
  const what = isError(error) ? (error.stack ?? error.message) : String(error);
  process.emitWarning(`The progress function of a write threw, and the write goes on: ${what}`, {
    type: 'DirspaceWarning',
    code: 'DIRSPACE_PROGRESS',
  });
}
