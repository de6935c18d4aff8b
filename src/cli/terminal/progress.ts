/**
 * `showProgress` shows on standard error the progress of work that takes over a second, and nothing
 * while its state is not known. A terminal shows one line that is updated in place; elsewhere a
 * line is written every ten seconds. Other text goes through `aside`, and `end` removes the line.
 */
import type { Env } from '../../env.ts';
import type { Surroundings } from './command.ts';

const TICK_MILLIS = 250;
const QUIET_MILLIS = 1000;
const LINE_MILLIS = 10_000;
/** Back to the start of the line, and away with what stands there. */
const CLEAR = '\r\u001b[K';

export interface ProgressLine {
  /** Puts `write`'s text where the line was. */
  aside(write: () => void): void;
  /** Removes the line and stops. */
  end(): void;
}

/** Begins at once. `state` says in words how far it is; nothing is shown while it answers nothing. */
export function showProgress(
  label: string,
  state: () => string | undefined,
  { error: write }: Pick<Surroundings, 'error'>,
  isTerminal: boolean,
  env: Env,
): ProgressLine {
  const stopped = new AbortController();
  const started = env.now();
  let isShown = false;
  let lastLine = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (isShown) write(CLEAR);
    isShown = false;
  };
  const show = (): void => {
    const [now, done] = [env.now(), state()];
    if (done === undefined || now - started < QUIET_MILLIS) return;
    const text = `${label}: ${done}, ${Math.floor((now - started) / 1000)} s`;
    if (isTerminal) {
      write(`${CLEAR}${text}`);
      isShown = true;
    } else if (now - lastLine >= LINE_MILLIS) {
      write(`${text}\n`);
      lastLine = now;
    }
  };
  const run = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await env.sleep(TICK_MILLIS, stopped.signal, true);
      show();
    }
  };
  // Ends by the signal alone.
  run().catch(() => {});
  return {
    aside: (writeOther) => {
      clear();
      writeOther();
    },
    end: () => {
      stopped.abort();
      clear();
    },
  };
}
