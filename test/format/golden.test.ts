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
  'v1/placed-texts',
  'v1/vectors',
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

test('vectors are found through their indexes', async () => {
  const root = join(FIXTURES, 'v1/vectors');
  const limits = { indexedRows: 0, indexedShare: 1 };
  const namespace = await openDirectoryNamespace({ root, readOnly: true, limits });
  const nearest = async (query: object): Promise<string[]> => {
    const single_vector = Array.from({ length: 10 }, (_, at) => 2 * (at % 3) + 0.5);
    const asked = { id: ['found'], k: 8, vector: { single_vector }, ...query };
    const plan = (await namespace.explainTableQueryPlan({ id: ['found'], query: asked })).plan;
    const isExact = 'bypass_vector_index' in query;
    expect(plan).toContain(isExact ? 'the query leaves' : 'finds 14 of 170 rows');
    const found: string[] = [];
    for await (const batch of await namespace.queryTable(asked))
      for (const row of batch) found.push(`${row.id} ${row._distance.toFixed(4)}`);
    return found;
  };
  for (const distance_type of ['l2', 'cosine']) {
    const exact = await nearest({ distance_type, bypass_vector_index: true });
    expect(exact).toHaveLength(8);
    // What the index finds depends on every byte of its files: turns, centroids, bits and codes.
    expect(await nearest({ distance_type })).toEqual(exact);
    const least = await nearest({ distance_type, nprobes: 1 });
    expect(least.filter((hit) => exact.includes(hit)).length).toBeGreaterThanOrEqual(4);
  }
});
