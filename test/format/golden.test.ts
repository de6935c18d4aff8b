/** Catalogs of earlier releases are read as they were written: see fixtures/README.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { goldenState } from '../helpers/golden.ts';
import { idsOf, people } from '../suites/namespace/context.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures');

test.each([
  'v1/types',
  'v1/history',
  'v1/long-lists',
  'v1/changes',
  'v1/compressed',
  'v1/wide-offsets',
  'v1/indexes',
  'v1/texts',
  'v1/computed',
  'v1/views',
])('%s', async (name) => {
  const namespace = await openDirectoryNamespace({ root: join(FIXTURES, name), readOnly: true });
  const expected: unknown = JSON.parse(
    readFileSync(join(FIXTURES, `${name}.expected.json`), 'utf8'),
  );
  const found = JSON.parse(JSON.stringify(await goldenState(namespace)));
  expect(found).toEqual(expected);
});

test('a declared table of a copy that kept files only is filled', async () => {
  const fs = memoryFs();
  const copy = (from: string, to: string): void => {
    fs.mkdirSync(to, { recursive: true });
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const paths = [join(from, entry.name), `${to}/${entry.name}`] as const;
      if (entry.isDirectory()) copy(...paths);
      else fs.writeFileSync(paths[1], readFileSync(paths[0]));
    }
  };
  copy(join(FIXTURES, 'v1/types'), '/c');
  const namespace = await openDirectoryNamespace({ root: '/c', fs });
  const id = ['prod', 'CON', 'declared'];
  await namespace.createTable({ id }, people(2));
  expect(await idsOf(namespace, id)).toEqual([0, 1]);
});

test('single rows of a long list of fragments are found by its index', async () => {
  const root = join(FIXTURES, 'v1/long-lists');
  const namespace = await openDirectoryNamespace({ root, readOnly: true });
  const stream = await namespace.takeRows({ id: ['many'], offsets: [0n, 9n, 63n, 64n] });
  const found: unknown[] = [];
  for await (const batch of stream) found.push(...(batch.getChild('column_37') ?? []));
  // The rows 10 and 60 of the first version are deleted.
  expect(found).toEqual([37, 9_037, 65_037]);
});
