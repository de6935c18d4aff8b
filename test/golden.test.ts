/** Catalogs of earlier releases are read as they were written: see fixtures/README.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../src/directory/directory-namespace.ts';
import { goldenState } from './helpers/golden.ts';

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');

test.each(['v1/types', 'v1/history'])('%s', async (name) => {
  const namespace = await openDirectoryNamespace({ root: join(FIXTURES, name), readOnly: true });
  const expected: unknown = JSON.parse(
    readFileSync(join(FIXTURES, `${name}.expected.json`), 'utf8'),
  );
  const found = JSON.parse(JSON.stringify(await goldenState(namespace)));
  expect(found).toEqual(expected);
});
