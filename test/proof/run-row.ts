/** Runs one row in a process of its own, within bounds: what hangs or dies is a violation. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProofOutcome } from './row.ts';
import type { RowReport, RowTask } from './row-process.ts';

export interface Violation {
  readonly what: string;
  /** Of the case alone, or else of the row. */
  readonly seed: number;
}

export interface RowRun {
  readonly outcome: ProofOutcome;
  readonly violations: number;
  readonly seconds: number;
}

const SCRIPT = fileURLToPath(new URL('row-process.js', import.meta.url));
const running = new Set<ChildProcess>();

/** A row with all the processes that it started, for they are in its group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(1);
  });
}

/** @param limit milliseconds after which the row has failed */
export function runRow(
  task: RowTask,
  limit: number,
  violated: (violation: Violation) => void,
): Promise<RowRun> {
  const start = performance.now();
  let outcome: ProofOutcome | undefined;
  let violations = 0;
  const fail = (what: string, seed = task.seed): void => {
    violations++;
    violated({ what, seed });
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--enable-source-maps', '--expose-gc', SCRIPT], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    running.add(child);
    const timer = setTimeout(() => {
      fail(`it was not done after ${Math.round(limit / 1000)} s`);
      killGroup(child);
    }, limit);
    child.on('error', reject);
    child.on('message', (message: RowReport) => {
      if ('outcome' in message) outcome = message.outcome;
      else fail(message.violation, message.seed);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      running.delete(child);
      // What a row leaves running would go on beside the next one.
      killGroup(child);
      if (outcome === undefined && violations === 0) {
        fail(`the program itself ended with ${signal ?? code}`);
      }
      const seconds = (performance.now() - start) / 1000;
      resolve({ outcome: outcome ?? { cases: 0 }, violations, seconds });
    });
    child.send(task);
  });
}
