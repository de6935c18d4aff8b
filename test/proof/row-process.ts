/** One row in a process of its own: told what to run by its parent, reports what it finds. */
import type { ProofOutcome, Size } from './row.ts';
import type { ListedRow } from './rows.ts';

export interface RowTask {
  /** URL of the module that lists the rows. */
  readonly rows: string;
  readonly row: string;
  readonly seed: number;
  readonly size: Size;
  readonly known: boolean;
  /** Milliseconds until the deadline. */
  readonly budget: number;
}

export type RowReport =
  | { readonly violation: string; readonly seed?: number | undefined }
  | { readonly outcome: ProofOutcome };

const report = (message: RowReport): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(message, (error: Error | null) => (error ? reject(error) : resolve()));
  });

const task = await new Promise<RowTask>((resolve) => process.once('message', resolve));
// A row may wait for nothing but a watch, which keeps no process alive.
process.channel?.ref();
const { ROWS } = (await import(task.rows)) as { ROWS: readonly ListedRow[] };
const listed = ROWS.find(({ row }) => row === task.row);
if (listed === undefined) throw new Error(`${task.row} is not listed`);
const row = await listed.load();
if (row.row !== task.row) throw new Error(`${task.row} is listed, ${row.row} was loaded`);
const outcome = await row.run({
  seed: task.seed,
  size: task.size,
  known: task.known,
  deadline: performance.now() + task.budget,
  violated: (violation, seed) => void report({ violation, seed }),
});
await report({ outcome });
process.exit();
