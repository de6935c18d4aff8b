/** Seeds that lie on the disk: files of JSON, folders of files, catalogs. */
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { tableFromArrays, tableFromIPC, tableToIPC } from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/index.ts';
import { fixture } from '../../src/testing/index.ts';
import { lanceVersions, writeDataset } from '../helpers/lance-datasets.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** A folder with the files. */
function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

describe('a folder of files', () => {
  test('has a table for each file, in the namespace of its folders', async () => {
    const folder = folderOf({
      'users.csv': 'id,name\n1,Ada\n2,Grace\n',
      'prod/search/clicks.ndjson': '{"id": 1}\n{"id": 2}\n',
      'prod/orders.json': '[{"id": 9007199254740993}]',
      'prod/plain.arrow': tableToIPC(tableFromArrays({ x: [1.5] }), 'file'),
      'prod/zipped.TSV.gz': gzipSync('a\tb\n1\t2\n'),
      '.hidden/x.csv': 'a\n1\n',
      'prod/.gitkeep': '',
    });
    mkdirSync(join(folder, 'empty'));
    await using made = await fixture({ seed: folder });
    const { catalog } = made;
    const rows = async (name: string, path: string[] = []): Promise<unknown[]> =>
      (await (await catalog.openTable(name, path)).query().toArray()).map((row) => ({ ...row }));
    expect((await catalog.listNamespaces()).namespaces.toSorted()).toEqual(['empty', 'prod']);
    expect(await catalog.tableNames()).toEqual(['users']);
    expect(await catalog.tableNames(['prod'])).toEqual(['orders', 'plain', 'zipped']);
    expect(await rows('users')).toEqual([
      { id: 1n, name: 'Ada' },
      { id: 2n, name: 'Grace' },
    ]);
    expect(await rows('clicks', ['prod', 'search'])).toEqual([{ id: 1n }, { id: 2n }]);
    expect(await rows('orders', ['prod'])).toEqual([{ id: 9007199254740993n }]);
    expect(await rows('plain', ['prod'])).toEqual([{ x: 1.5 }]);
    expect(await rows('zipped', ['prod'])).toEqual([{ a: 1n, b: 2n }]);
  });

  test('is read once: a reset does not see what becomes of its files', async () => {
    const folder = folderOf({ 'a.csv': 'id\n1\n' });
    await using made = await fixture({ seed: folder });
    writeFileSync(join(folder, 'a.csv'), 'id\n1\n2\n');
    await (await made.catalog.openTable('a')).add([{ id: 5 }, { id: 6 }]);
    await made.reset();
    expect(await (await made.catalog.openTable('a')).countRows()).toBe(1);
  });

  test('takes links to files, and datasets of Lance', async () => {
    const folder = folderOf({ 'a/x.csv': 'id\n1\n' });
    symlinkSync(join(folder, 'a/x.csv'), join(folder, 'y.csv'));
    // One whose newest version has rows.
    const [dataset = '', count] =
      lanceVersions
        .filter(({ choice }) => Object.keys(choice).length === 0)
        .map(({ dataset, rows }) => [dataset, tableFromIPC(rows).numRows] as const)
        .find(([, rows]) => rows > 0) ?? [];
    writeDataset(dataset, join(folder, 'a'));
    await using made = await fixture({ seed: folder });
    expect(await (await made.catalog.openTable('y')).countRows()).toBe(1);
    const table = await made.catalog.openTable(dataset.replace('.lance', ''), ['a']);
    expect(await table.countRows()).toBe(count);
  });

  test('is refused where not every file makes a table', async () => {
    const refused = async (folder: string, message: string): Promise<void> => {
      await expect(fixture({ seed: folder })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(message),
      });
    };
    await refused(folderOf({ 'README.md': '' }), 'README.md" has no ending of a format');
    const two = { 'a.csv': 'id\n1\n', 'a.json': '[{"id": 1}]' };
    await refused(folderOf(two), 'a.json" is a second file for the table of that name');
    await refused(folderOf({ 'sub/a.csv': '' }), 'sub/a.csv');
    const linked = folderOf({ 'b/a.csv': 'id\n1\n' });
    symlinkSync(join(linked, 'b'), join(linked, 'c'));
    await refused(linked, 'c" is neither a file nor a folder');
    const large = folderOf({ 'a.csv': '', 'b.csv': '' });
    for (const name of ['a.csv', 'b.csv']) truncateSync(join(large, name), 128 * 1024 * 1024 + 1);
    await refused(large, 'has 268435458 bytes; 268435456 may be');
    await refused(join(large, 'nothing'), 'cannot be read; give a file of JSON, a folder');
  });
});

describe('a catalog', () => {
  test('is copied with its versions, tags and branches, and stays as it is', async () => {
    const root = temporaryFolder();
    const db = await connect(root, { durability: 'relaxed' });
    await db.createNamespace(['prod']);
    const users = await db.createTable('user', [{ id: 1 }], ['prod']);
    await users.add([{ id: 2 }]);
    await (await users.tags()).create('first', 1);
    await (await users.branches()).create('draft');
    await using made = await fixture({ seed: root });
    const copy = await made.catalog.openTable('user', ['prod']);
    expect(await copy.countRows()).toBe(2);
    expect(await (await copy.tags()).getVersion('first')).toBe(1);
    expect(Object.keys(await (await copy.branches()).list())).toEqual(['draft']);
    expect(await copy.add([{ id: 3 }])).toMatchObject({ version: 3 });
    expect(await users.countRows()).toBe(2);
    await made.reset();
    expect(await (await made.catalog.openTable('user', ['prod'])).countRows()).toBe(2);
    const told = await made.fetch(`${made.url}/v1/table/prod$user/describe`, { method: 'POST' });
    expect(((await told.json()) as { location: string }).location).toContain('memory://');
    await db.close();
  });

  test('that is damaged is refused', async () => {
    const root = folderOf({ '.dirspace/format.json': '{' });
    await expect(fixture({ seed: root })).rejects.toMatchObject({ code: 'Corrupt' });
  });
});

test('a file is a seed of JSON', async () => {
  const folder = folderOf({ 'seed.json': '{"tables": [{"name": "a", "rows": [{"id": 1}]}]}' });
  await using made = await fixture({ seed: join(folder, 'seed.json') });
  expect(await made.catalog.tableNames()).toEqual(['a']);
});
