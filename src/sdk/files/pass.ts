/**
 * `passOver` begins a pass over the bytes or rows of a file, which its reader pulls and which can
 * also be ended by `close`, whether or not the reader has begun. With a signal, what is pending
 * rejects with its reason once it is aborted. Neither the end of a pass nor its abort waits for an
 * item that is still being made.
 */
import { abortable } from '../convert/index.ts';

export interface Pass<Item> extends AsyncIterable<Item> {
  /**
   * Waits until the pass has ended, except where an item is still being made: a generator ends after
   * that alone, and it may never come.
   */
  close(): Promise<void>;
}

export function passOver<Item>(items: AsyncIterable<Item>, signal?: AbortSignal): Pass<Item> {
  const pass = items[Symbol.asyncIterator]();
  let pending = 0;
  const next = async (): Promise<IteratorResult<Item>> => {
    signal?.throwIfAborted();
    const step = pass.next();
    pending += 1;
    const settled = (): void => {
      pending -= 1;
    };
    step.then(settled, settled);
    return signal === undefined ? step : abortable(step, signal);
  };
  const end = async (): Promise<IteratorResult<Item>> => {
    const isBusy = pending > 0;
    const ended = pass.return?.();
    if (isBusy) ended?.catch(() => {});
    else await ended;
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]: () => ({ next, return: end }),
    close: async () => {
      await end();
    },
  };
}
