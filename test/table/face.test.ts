/** What the face of the tables does beyond calling one function: it holds, hints and checks. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { openTable } from '../../src/table/stored-table.ts';
import { readHint } from '../../src/table/versions/hint.ts';
import { declared, land, testEngine } from '../helpers/engines.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { people } from '../helpers/people.ts';

async function tableWithOneVersion() {
  const one = testEngine();
  const names = await declared(one);
  const { snapshot } = await land(one, names, 'create');
  const stored = openTable(one.engine, names.tableFolder, names.incarnation);
  return { engine: one.engine, names, snapshot, stored };
}

test('a version that a branch is made of is named by the hint', async () => {
  const { engine, names, snapshot, stored } = await tableWithOneVersion();
  expect(await readHint(engine, names)).toBe(undefined);
  await stored.main.branchOff('trial', snapshot);
  expect(await readHint(engine, names)).toBe(1);
});

test('a version that a tag names is named by the hint', async () => {
  const { engine, names, stored } = await tableWithOneVersion();
  await stored.createTag('launch', names, 1);
  expect(await readHint(engine, names)).toBe(1);
});

test('a vector column that is named without a vector is checked, in queries and in plans', async () => {
  await using catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const id = ['t'];
  await catalog.createTable({ id }, people(1));
  const query = { id, k: 1, vector: {}, vector_column: 'nowhere' };
  expect(await outcomeOf(catalog.queryTable(query))).toBe('TableColumnNotFound');
  expect(await outcomeOf(catalog.explainTableQueryPlan({ query }))).toBe('TableColumnNotFound');
});
