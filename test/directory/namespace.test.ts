/** The directory catalog against the namespace suite, and what only it can show. */
import nodeFs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { EVERY_OPERATION_NAMES, methodName } from '../../src/protocol/every-operation.ts';
import { directorySubject, filesOf, memoryFs } from '../helpers/catalogs.ts';
import { LONG } from '../helpers/long.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { expectError, idsOf, people } from '../suites/namespace/context.ts';
import { ODD_NAMES } from '../suites/namespace/namespaces.ts';
import { CALLS } from '../suites/namespace/traits.ts';
import { namespaceSuite } from '../suites/namespace-suite.ts';

namespaceSuite('memfs, managed versioning', {
  make: () => directorySubject('memory', { managedVersioning: true }),
});
namespaceSuite('disk, full durability', { make: () => directorySubject('disk') });
// Relaxed durability leaves flushes out, and nothing else; memfs and versions that are not managed
// are tried above, each with the other's opposite.
if (LONG) {
  namespaceSuite('memfs', { make: () => directorySubject('memory') });
  namespaceSuite('disk, relaxed', {
    make: () => directorySubject('disk', { durability: 'relaxed' }),
  });
}

test('the traits are tried on every operation that the engine has', async () => {
  const namespace = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const methods = namespace as unknown as Record<string, (request: object) => Promise<unknown>>;
  for (const operation of EVERY_OPERATION_NAMES) {
    const name = methodName(operation);
    if (!Object.hasOwn(CALLS, name)) await expectError(methods[name]?.({}) as never, 'Unsupported');
  }
});

test('a described schema cannot be changed, as later versions are made from it', async () => {
  const namespace = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  await namespace.createTable({ id: ['t'] }, people(2));
  const detailed = { id: ['t'], load_detailed_metadata: true };
  const { schema } = await namespace.describeTable(detailed);
  const before = JSON.stringify(schema);
  expect(() => {
    (schema as { fields: { name: string }[] }).fields[0]!.name = 'changed';
  }).toThrow(TypeError);
  await namespace.insertIntoTable({ id: ['t'] }, people(1));
  expect(JSON.stringify((await namespace.describeTable(detailed)).schema)).toBe(before);
});

describe('roots', () => {
  test('connecting creates data/ and nothing else', async () => {
    const root = `${temporaryFolder()}/new`;
    await openDirectoryNamespace({ root });
    expect(filesOf(nodeFs, root).all()).toEqual(['data/']);
  });

  test('a read-only connection creates nothing, not even the root', async () => {
    const root = `${temporaryFolder()}/absent`;
    const namespace = await openDirectoryNamespace({ root, readOnly: true });
    expect(nodeFs.existsSync(root)).toBe(false);
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual([]);
    expect((await namespace.listAllTables({})).tables).toEqual([]);
    await expectError(namespace.createTable({ id: ['t'] }, people(1)), 'ReadOnly');
    expect(nodeFs.existsSync(root)).toBe(false);
  });

  test('a root that is a file is refused', async () => {
    const file = `${temporaryFolder()}/file`;
    nodeFs.writeFileSync(file, 'x');
    await expect(openDirectoryNamespace({ root: file })).rejects.toMatchObject({
      name: 'DirspaceError',
    });
  });

  test('a catalog of a newer format is refused by name', async () => {
    const fs = memoryFs();
    fs.mkdirSync('/c/.dirspace', { recursive: true });
    fs.writeFileSync('/c/.dirspace/format.json', '{"format":2,"folds_case":false,"properties":{}}');
    const error = await expectError(
      openDirectoryNamespace({ root: '/c', fs }),
      'UnsupportedFormat',
    );
    expect(error.message).toContain('format 2');
  });

  test('a catalog at the root of a file system says where its tables are', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/', fs });
    const { location } = await namespace.createTable({ id: ['t'] }, people(1));
    expect(location).toBe('/data/t.table');
    expect(fs.existsSync(location ?? '')).toBe(true);
  });

  test('table_uri encodes the special characters of the root', async () => {
    const root = `${temporaryFolder()}/a b#c?d%20é`;
    const namespace = await openDirectoryNamespace({ root });
    await namespace.createTable({ id: ['t'] }, people(1));
    const { table_uri = '', location } = await namespace.describeTable({
      id: ['t'],
      with_table_uri: true,
    });
    expect(location).toBe(`${root}/data/t.table`);
    expect(table_uri).toMatch(/^file:\/\/\/[!-~]+$/);
    expect(fileURLToPath(table_uri)).toBe(location);
    expect(new URL(table_uri).hash).toBe('');
  });

  test('where the file system folds case, a location in capitals is the one in small letters', async () => {
    const fs = memoryFs();
    fs.mkdirSync('/c/.dirspace', { recursive: true });
    fs.writeFileSync(
      '/c/.dirspace/format.json',
      '{"format":1,"features":[],"folds_case":true,"properties":{}}',
    );
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    await namespace.createTable({ id: ['mine'] }, people(1));
    for (const [location, word] of [
      ['DATA/mine.table', 'is the table mine already'],
      ['/c/data/MINE.TABLE', 'is the table mine already'],
      ['.Dirspace/Trash/x', 'belongs to the engine'],
    ] as const) {
      const work = namespace.registerTable({ id: ['t'], location });
      expect((await expectError(work, 'InvalidInput')).message).toContain(word);
    }
  });

  test('at the root of a file system absolute locations are below it too', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/', fs });
    await namespace.createTable({ id: ['t'] }, people(1));
    const { location = '' } = await namespace.deregisterTable({ id: ['t'] });
    expect(location).toMatch(/^\/\.dirspace\/detached\//);
    await namespace.registerTable({ id: ['t'], location });
    expect(await idsOf(namespace, ['t'])).toEqual([0]);
  });

  test('where the file system folds case, names that differ in case stay apart', async () => {
    const fs = memoryFs();
    fs.mkdirSync('/c/.dirspace', { recursive: true });
    fs.writeFileSync(
      '/c/.dirspace/format.json',
      '{"format":1,"features":[],"folds_case":true,"properties":{}}',
    );
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    for (const name of ODD_NAMES) await namespace.createTable({ id: [name] }, people(1));
    expect((await namespace.listTables({ id: [] })).tables).toEqual([...ODD_NAMES].sort());
    const folders = fs.readdirSync('/c/data').map(String);
    expect(new Set(folders.map((name) => name.toLowerCase())).size).toBe(ODD_NAMES.length);
    await expectError(namespace.createTable({ id: ['X'.repeat(200)] }, people(1)), 'InvalidInput');
  });

  test('managed versioning is kept with the catalog', async () => {
    const fs = memoryFs();
    const first = await openDirectoryNamespace({ root: '/c', fs, managedVersioning: true });
    await first.createTable({ id: ['t'] }, people(1));
    const second = await openDirectoryNamespace({ root: '/c', fs });
    expect((await second.describeTable({ id: ['t'] })).managed_versioning).toBe(true);
    await second.insertIntoTable({ id: ['t'] }, people(1, 1));
    const third = await openDirectoryNamespace({ root: '/c', fs, managedVersioning: false });
    await third.createNamespace({ id: ['n'] });
    const fourth = await openDirectoryNamespace({ root: '/c', fs });
    expect((await fourth.describeTable({ id: ['t'] })).managed_versioning).toBe(false);
    expect(await idsOf(fourth, ['t'])).toEqual([0, 1]);
  });

  test('a clock with fractions leaves whole times on disk; one that is no clock is refused', async () => {
    const fs = memoryFs();
    let now: number = 1_700_000_000_000.75;
    const env = { ...systemEnv, now: () => now };
    const namespace = await openDirectoryNamespace({ root: '/c', fs, env });
    await namespace.createNamespace({ id: ['n'] });
    await namespace.createTable({ id: ['n', 't'] }, people(2));
    await namespace.insertIntoTable({ id: ['n', 't'] }, people(1, 2));
    await namespace.createTableBranch({ id: ['n', 't'], name: 'side' });
    await namespace.createTable({ id: ['n', 'gone'] }, people(1));
    await namespace.dropTable({ id: ['n', 'gone'] });
    for (now of [Number.NaN, Number.POSITIVE_INFINITY]) {
      await expectError(namespace.createTable({ id: ['n', 'never'] }, people(1)), 'InvalidInput');
      await expectError(namespace.insertIntoTable({ id: ['n', 't'] }, people(1)), 'InvalidInput');
    }

    const again = await openDirectoryNamespace({ root: '/c', fs });
    expect((await again.listTables({ id: ['n'] })).tables).toEqual(['t']);
    expect(await idsOf(again, ['n', 't'], { branch: 'side' })).toEqual([0, 1, 2]);
    const { versions } = await again.listTableVersions({ id: ['n', 't'] });
    expect(versions.map((version) => version.timestamp_millis)).toEqual([
      1_700_000_000_000, 1_700_000_000_000,
    ]);
    await again.undropTable({ id: ['n', 'gone'] });
    expect(await idsOf(again, ['n', 'gone'])).toEqual([0]);
    expect((await again.verify({})).problems).toEqual([]);
  });

  test('a vendor is asked for credentials only where they are wanted', async () => {
    const asked: unknown[] = [];
    const namespace = await openDirectoryNamespace({
      root: '/c',
      fs: memoryFs(),
      credentialVendor: async (table) => {
        asked.push(table);
        return { token: 'secret', expires_at_millis: '1' };
      },
    });
    const declared = await namespace.declareTable({ id: ['d'], vend_credentials: true });
    expect(declared.storage_options).toEqual({ token: 'secret', expires_at_millis: '1' });
    await namespace.createTable({ id: ['t'] }, people(1));
    for (const request of [{}, { vend_credentials: false }]) {
      const answer = await namespace.describeTable({ id: ['t'], ...request });
      expect(answer).not.toHaveProperty('storage_options');
    }
    const answer = await namespace.describeTable({ id: ['t'], vend_credentials: true });
    expect(answer.storage_options).toEqual({ token: 'secret', expires_at_millis: '1' });
    expect(asked).toEqual([
      { id: ['d'], location: declared.location },
      { id: ['t'], location: '/c/data/t.table' },
    ]);
  });

  test.each([[{ expires_at_millis: 5 }], ['token'], [{ token: undefined }]])(
    'a vendor that answers %j is told what it answers',
    async (answer) => {
      const namespace = await openDirectoryNamespace({
        root: '/c',
        fs: memoryFs(),
        credentialVendor: async () => answer as never,
      });
      await namespace.createTable({ id: ['t'] }, people(1));
      const asked = namespace.describeTable({ id: ['t'], vend_credentials: true });
      expect((await expectError(asked, 'Internal')).message).toContain('an object of strings');
    },
  );

  test('nothing is made so deep that what is in it could not be reached', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    const id: string[] = [];
    let error: Error | undefined;
    while (error === undefined && id.length < 40) {
      id.push('x'.repeat(200));
      const made = namespace.createNamespace({ id: [...id] });
      error = await made.then(
        () => undefined,
        (reason: Error) => reason,
      );
    }
    await expectError(Promise.reject(error), 'InvalidInput');
    expect(error?.message).toContain('Nest less deeply');
    id.pop();
    await namespace.createTable({ id: ['t'] }, people(1));
    let made = 0;
    for (let length = 1; length <= 200; length += 3) {
      const table = [...id, 'y'.repeat(length)];
      const create = length % 2 === 0 ? undefined : namespace.declareTable({ id: table });
      const answer = create ?? namespace.createTable({ id: table }, people(1));
      const refused = await answer.then(
        () => undefined,
        (reason: Error) => reason,
      );
      if (refused !== undefined) {
        expect(refused.message).toContain('Nest less deeply');
        const moved = { new_namespace_id: id, new_table_name: table.at(-1) ?? '' };
        await expectError(namespace.renameTable({ id: ['t'], ...moved }), 'InvalidInput');
        continue;
      }
      made += 1;
      if (create !== undefined) await namespace.createTable({ id: table }, people(1));
      await namespace.insertIntoTable({ id: table }, people(1));
      expect((await namespace.countTableRows({ id: table })).count).toBe(2);
    }
    expect((await namespace.listTables({ id })).tables).toHaveLength(made);
    expect(fs.readdirSync('/c/.dirspace/staging')).toEqual([]);
  });

  test('what is neither a table nor a namespace is named where it is in the way, and left alone', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    await namespace.createTable({ id: ['t'] }, people(1));
    for (const folder of ['n', 'data/x.table']) {
      fs.mkdirSync(`/c/${folder}`);
      fs.writeFileSync(`/c/${folder}/notes.txt`, 'mine');
    }
    for (const mode of ['create', 'exist_ok', 'overwrite']) {
      for (const [place, call] of [
        ['n', () => namespace.createNamespace({ id: ['n'], mode })],
        ['data/x.table', () => namespace.createTable({ id: ['x'], mode }, people(1))],
        ['data/x.table', () => namespace.declareTable({ id: ['x'] })],
        ['data/x.table', () => namespace.renameTable({ id: ['t'], new_table_name: 'x' })],
      ] as const) {
        const error = await expectError(
          call(),
          place === 'n' ? 'NamespaceAlreadyExists' : 'TableAlreadyExists',
        );
        expect(error.message).toContain(`at ${place} in the catalog`);
        expect(error.message).not.toContain('exist_ok');
      }
    }
    // A file is in the way too, also one that rows were exported to.
    fs.writeFileSync('/c/rows.csv', 'mine');
    const error = await expectError(
      namespace.createNamespace({ id: ['rows.csv'] }),
      'NamespaceAlreadyExists',
    );
    expect(error.message).toContain('at rows.csv in the catalog');
    await expectError(namespace.namespaceExists({ id: ['n'] }), 'NamespaceNotFound');
    await expectError(namespace.tableExists({ id: ['x'] }), 'TableNotFound');
    expect(fs.readFileSync('/c/n/notes.txt', 'utf8')).toBe('mine');
    expect(fs.readdirSync('/c/data/x.table')).toEqual(['notes.txt']);
    expect((await namespace.countTableRows({ id: ['t'] })).count).toBe(1);
  });

  test('foreign files and folders in a catalog are passed over', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    await namespace.createNamespace({ id: ['n'] });
    await namespace.createTable({ id: ['n', 't'] }, people(1));
    for (const folder of [
      ...['n/plain', 'n/%41x', 'n/x y', 'stray', 'data/notatable', '%zz'],
      ...['n/odd.table', 'n/used.table', 'n/a.table', 'data/odd.table'],
    ]) {
      fs.mkdirSync(`/c/${folder}`, { recursive: true });
    }
    for (const file of [
      ...['n/readme.md', 'n/x.table', 'data/.DS_Store', 'LICENSE', 'n/used.table/notes.txt'],
    ]) {
      fs.writeFileSync(`/c/${file}`, 'x');
    }
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual(['n']);
    expect((await namespace.listNamespaces({ id: ['n'] })).namespaces).toEqual([]);
    expect((await namespace.listTables({ id: ['n'] })).tables).toEqual(['t']);
    expect((await namespace.listAllTables({})).tables).toEqual(['n$t']);
    // They take no place on a page, and a page of tables alone is the last one.
    expect(await namespace.listTables({ id: ['n'], limit: 1 })).toEqual({ tables: ['t'] });
    expect(await namespace.listAllTables({ limit: 1 })).toEqual({ tables: ['n$t'] });
    const only = { id: ['n'], include_declared: false };
    expect(await namespace.listTables(only)).toEqual({ tables: ['t'] });
  });

  test('a staged manifest that is huge is refused before it is read', async () => {
    const root = temporaryFolder();
    const namespace = await openDirectoryNamespace({ root, durability: 'relaxed' });
    await namespace.createTable({ id: ['t'] }, people(1));
    const { version } = await namespace.describeTableVersion({ id: ['t'] });
    const manifest_path = version.manifest_path.replace(/[^/]+$/, 'staged-huge.json');
    nodeFs.writeFileSync(manifest_path, '{');
    nodeFs.truncateSync(manifest_path, 5 * 1024 ** 3);
    const work = namespace.createTableVersion({ id: ['t'], version: 2, manifest_path });
    const error = await expectError(work, 'InvalidInput');
    expect(error.message).toContain('it has 5368709120 bytes');
    // A folder and a link in its place are refused as well.
    nodeFs.rmSync(manifest_path);
    nodeFs.mkdirSync(manifest_path);
    const again = { id: ['t'], version: 2, manifest_path };
    await expectError(namespace.createTableVersion(again), 'InvalidInput');
    nodeFs.rmdirSync(manifest_path);
    nodeFs.symlinkSync(version.manifest_path, manifest_path);
    await expectError(namespace.createTableVersion(again), 'InvalidInput');
  });

  test('a table whose record is a link is listed, and hides no other', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    for (const name of ['a', 'b', 'c']) await namespace.createTable({ id: [name] }, people(1));
    fs.renameSync('/c/data/b.table/.table.json', '/c/elsewhere.json');
    fs.symlinkSync('/c/elsewhere.json', '/c/data/b.table/.table.json');
    expect((await namespace.listTables({ id: [] })).tables).toEqual(['a', 'b', 'c']);
    expect((await namespace.listAllTables({})).tables).toEqual(['a', 'b', 'c']);
    await expectError(namespace.describeTable({ id: ['b'] }), 'InvalidInput');
  });

  test('a namespace whose marker is a link is listed, and hides no other', async () => {
    const fs = memoryFs();
    const namespace = await openDirectoryNamespace({ root: '/c', fs });
    for (const name of ['a', 'b', 'c']) {
      await namespace.createNamespace({ id: [name] });
      await namespace.createTable({ id: [name, 't'] }, people(1));
    }
    fs.renameSync('/c/b/.namespace.json', '/c/elsewhere.json');
    fs.symlinkSync('/c/elsewhere.json', '/c/b/.namespace.json');
    expect((await namespace.listNamespaces({ id: [] })).namespaces).toEqual(['a', 'b', 'c']);
    expect((await namespace.listAllTables({})).tables).toEqual(['a$t', 'b$t', 'c$t']);
    await expectError(namespace.describeNamespace({ id: ['b'] }), 'InvalidInput');
  });
});
