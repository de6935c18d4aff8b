/** A folder that a change needs and that is gone: the error names it, and gives advice that fits. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openFileStore } from '../../src/store/file-store.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

test('a root that is gone is called the root of the catalog', async () => {
  const root = `${temporaryFolder()}/c`;
  const store = openFileStore({ root });
  rmSync(root, { recursive: true });
  const failure = await Promise.resolve()
    .then(() => store.createFolder('a'))
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({
    code: 'InvalidTableState',
    message: expect.stringMatching(/^the root of the catalog is missing: .*try again$/),
    details: { path: '', missingFolder: true },
  });
});

test('another folder is called by its path', async () => {
  const store = openFileStore({ root: temporaryFolder() });
  store.createFolder('a');
  await expect(store.put('a/y', Buffer.from('y'), 'a/v')).rejects.toMatchObject({
    message: expect.stringMatching(/^the folder `a\/v` is missing: .*try again$/),
    details: { path: 'a/v', missingFolder: true },
  });
});
