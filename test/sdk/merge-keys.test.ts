/** What mergeInsert refuses as its key columns. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { MergeInsertBuilder } from '../../src/sdk/table/merge-insert.ts';

test.each([undefined, null, 7, {}, [7], [undefined], []])(
  'mergeInsert of %j is refused as invalid input',
  (on) => {
    const made = () => new MergeInsertBuilder(on as never, (() => {}) as never);
    expect(made).toThrow(expect.objectContaining({ code: 'InvalidInput' }));
  },
);

test.each([undefined, new AbortController().signal])(
  'the time of a merge ends also after a collection of garbage, with the signal %o',
  async (signal) => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const builder = new MergeInsertBuilder('id', async (_, __, { signal: limit }) => {
      for (let round = 0; round < 2; round++) {
        await new Promise((resolve) => setImmediate(resolve));
        gc();
      }
      if (limit?.aborted === false)
        await new Promise((resolve) => limit.addEventListener('abort', resolve));
      throw limit?.reason;
    });
    const merge = builder.execute([], { timeoutMs: 100, ...(signal && { signal }) });
    await expect(merge).rejects.toMatchObject({ name: 'TimeoutError' });
  },
);
