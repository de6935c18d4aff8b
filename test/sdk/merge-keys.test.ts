/** What mergeInsert refuses as its key columns. */
import { expect, test } from 'vitest';
import { MergeInsertBuilder } from '../../src/sdk/table/merge-insert.ts';

test.each([undefined, null, 7, {}, [7], [undefined], []])(
  'mergeInsert of %j is refused as invalid input',
  (on) => {
    const made = () => new MergeInsertBuilder(on as never, (() => {}) as never);
    expect(made).toThrow(expect.objectContaining({ code: 'InvalidInput' }));
  },
);
