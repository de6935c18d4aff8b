/** Pages of the list of versions, where the table is another one by the next page. */
import { expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { people } from '../suites/namespace/context.ts';

const t = { id: ['t'] };

async function catalogWithVersions() {
  const catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const make = async (): Promise<void> => {
    await catalog.createTable(t, people(1));
    for (let at = 1; at < 6; at++) await catalog.insertIntoTable(t, people(1, at));
  };
  await make();
  return { catalog, make };
}

const refused = {
  code: 'InvalidInput',
  message: expect.stringContaining('List the versions from'),
};

test.each([true, false])(
  'a page goes on where the last one ended: descending %s',
  async (descending) => {
    const { catalog } = await catalogWithVersions();
    const found: number[] = [];
    let page_token: string | undefined;
    do {
      const page = await catalog.listTableVersions({
        ...t,
        limit: 4,
        descending,
        ...(page_token === undefined ? {} : { page_token }),
      });
      found.push(...page.versions.map(({ version }) => version));
      page_token = page.page_token;
    } while (page_token !== undefined);
    const all = [1, 2, 3, 4, 5, 6];
    expect(found).toEqual(descending ? all.reverse() : all);
  },
);

test.each([true, false])(
  'a page of a table that was made anew is refused: descending %s',
  async (descending) => {
    const { catalog, make } = await catalogWithVersions();
    const { page_token } = await catalog.listTableVersions({ ...t, limit: 3, descending });
    await catalog.dropTable(t);
    await make();
    const next = { ...t, limit: 3, descending, page_token: page_token as string };
    await expect(catalog.listTableVersions(next)).rejects.toMatchObject(refused);
  },
);

test('a page of another table is refused, and one of a release that named none goes on', async () => {
  const { catalog } = await catalogWithVersions();
  await catalog.createTable({ id: ['u'] }, people(1));
  const { page_token } = await catalog.listTableVersions({ ...t, limit: 3 });
  const next = { id: ['u'], limit: 3, page_token: page_token as string };
  await expect(catalog.listTableVersions(next)).rejects.toThrow('List the versions from the start');
  const older = Buffer.from('after:4').toString('base64url');
  const { versions } = await catalog.listTableVersions({ ...t, page_token: older });
  expect(versions.map(({ version }) => version)).toEqual([5, 6]);
});

test.each(['after:t12', 'after:', 'after:-1', 'after:1.5@x'])(
  'a page of another list, %j, is refused',
  async (text) => {
    const { catalog } = await catalogWithVersions();
    const page_token = Buffer.from(text).toString('base64url');
    await expect(catalog.listTableVersions({ ...t, page_token })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('is not one that this list handed out'),
    });
  },
);
