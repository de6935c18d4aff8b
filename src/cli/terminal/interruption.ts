/**
 * Lets a user interrupt a command by Ctrl-C (SIGINT) or SIGTERM (`untilInterrupted`). The first
 * signal aborts the work, which may still undo its changes; the second ends the process at once.
 * Work that does not heed an abort signal is no longer waited for (`orInterrupted`), nor is the
 * next item of an input (`untilAborted`). The reason of the abort is `Interrupted`, which has the
 * exit code.
 */
import type { Interruption, Surroundings } from './command.ts';

/** Why work was ended. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** What shells answer for a process that the signal ended. */
  readonly exitCode: 130 | 143;

  constructor(signal: Interruption) {
    super(`interrupted by ${signal}`);
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

/** A signal that the first interruption aborts, with an `Interrupted` as its reason. */
export function untilInterrupted(around: Surroundings): AbortSignal {
  const controller = new AbortController();
  const wait = async (): Promise<void> => {
    const first = await around.interrupted?.();
    if (first === undefined) return;
    controller.abort(new Interrupted(first));
    const second = await around.interrupted?.();
    if (second !== undefined) around.abandon?.(new Interrupted(second).exitCode);
  };
  void wait();
  return controller.signal;
}

/** As `work`, or rejects as soon as it is interrupted: for work that leaves nothing behind. */
export function orInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The items of an input that may never come or end: rejects as soon as the signal is aborted. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await orInterrupted(iterator.next(), signal);
      if (done === true) return;
      yield value;
    }
  } finally {
    // Not waited for: where an item is still asked for, it would settle after that.
    iterator.return?.().catch(() => {});
  }
}
