/** Errors about versions, tags and branches say which table they are about. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { tableNamed } from '../../../src/table/versions/incarnation.ts';
import { testEngine } from '../../helpers/engines.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { people } from '../../helpers/people.ts';

const id = ['prod', 'user'];

async function catalogWithReferences() {
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  await catalog.createNamespace({ id: ['prod'] });
  await catalog.createTable({ id }, people(1));
  await catalog.createTableBranch({ id, name: 'trial' });
  await catalog.createTableTag({ id, tag: 'launch', version: 1, branch: 'trial' });
  return catalog;
}
type Catalog = Awaited<ReturnType<typeof catalogWithReferences>>;

test.each([
  [
    'a version that is not there',
    (at: Catalog) => at.describeTable({ id, version: 9 }),
    'TableVersionNotFound',
    'Version 9 of the table prod$user was not found on branch main; ',
  ],
  [
    'a tag that is there',
    (at: Catalog) => at.createTableTag({ id, tag: 'launch', version: 1 }),
    'TableTagAlreadyExists',
    'The tag launch of the table prod$user already exists. ',
  ],
  [
    'a branch that is there',
    (at: Catalog) => at.createTableBranch({ id, name: 'trial' }),
    'TableBranchAlreadyExists',
    'The branch trial of the table prod$user already exists. ',
  ],
  [
    'the branch main, which is always there',
    (at: Catalog) => at.createTableBranch({ id, name: 'main' }),
    'TableBranchAlreadyExists',
    'The branch main of the table prod$user already exists. ',
  ],
  [
    'a branch that a tag names',
    (at: Catalog) => at.deleteTableBranch({ id, name: 'trial' }),
    'InvalidTableState',
    'The branch trial of the table prod$user is named by the tag launch. ',
  ],
] as const)('%s: the error names the table', async (_, work, code, start) => {
  await using catalog = await catalogWithReferences();
  const error = await Promise.resolve(work(catalog)).then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({ code, details: { id } });
  expect(error.message.startsWith(start)).toBe(true);
});

test('a table that lies aside is named by its folder', () => {
  const { engine } = testEngine();
  const named = (folder: string): unknown[] => {
    const { name, details, named: worded } = tableNamed(engine, folder);
    return [name, details, worded((id) => id.join('/'))];
  };
  expect(named('data/user.table')).toEqual(['user', { id: ['user'] }, 'user']);
  // Tables of the root are in `data`.
  expect(named('user.table')).toEqual(['at user.table', {}, 'at user.table']);
  const aside = '.dirspace/detached/1';
  expect(named(aside)).toEqual([`at ${aside}`, {}, `at ${aside}`]);
});
