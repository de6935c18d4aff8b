/**
 * `passOver` begins a pass over the bytes or rows of a file, which its reader pulls and which can
 * also be ended by `close`, whether or not the reader has begun.
 */

export interface Pass<Item> extends AsyncIterable<Item> {
  /**
   * Waits until the pass has ended, except where an item is still being made: a generator ends after
   * that alone, and it may never come.
   */
  close(): Promise<void>;
}

export function passOver<Item>(items: AsyncIterable<Item>): Pass<Item> {
  const pass = items[Symbol.asyncIterator]();
  let pending = 0;
  const next = async (): Promise<IteratorResult<Item>> => {
    pending += 1;
    try {
      return await pass.next();
    } finally {
      pending -= 1;
    }
  };
  const end = async (): Promise<IteratorResult<Item>> =>
    (await pass.return?.()) ?? { done: true, value: undefined };
  return {
    [Symbol.asyncIterator]: () => ({ next, return: end }),
    close: async () => {
      const isBusy = pending > 0;
      const ended = end();
      if (isBusy) ended.catch(() => {});
      else await ended;
    },
  };
}
