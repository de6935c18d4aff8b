/** Tables at locations outside the root: entries of the catalog alone, below prefixes that are allowed. */
import { describe, expect, test } from 'vitest';
import { checkAllowedLocations, outsideLocation } from '../../src/allowed-locations.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { memoryFs } from '../helpers/memory-fs.ts';
import { people } from '../helpers/people.ts';

const LAKE = { prefix: 's3://bucket/lake/', storageOptions: { region: 'eu-west-1' } };
const t = ['n', 't'];
const PLACE = 's3://bucket/lake/sales/t.lance';

async function open(more: object = {}): Promise<DirectoryNamespace> {
  const catalog = await openDirectoryNamespace({
    root: '/c',
    fs: memoryFs(),
    durability: 'relaxed',
    locations: [LAKE, { prefix: 'file:///data/lake/' }],
    ...more,
  });
  await catalog.createNamespace({ id: ['n'] });
  return catalog;
}

test.each(['declare', 'register'] as const)(
  'a table that is there by %s is listed, described, renamed and dropped',
  async (how) => {
    const catalog = await open({ managedVersioning: true });
    const request = { id: t, location: `${PLACE}/`, properties: { k: 'v' } };
    const made =
      how === 'declare'
        ? await catalog.declareTable(request)
        : await catalog.registerTable(request);
    expect(made).toMatchObject({ location: PLACE, properties: { k: 'v' } });
    const described = await catalog.describeTable({
      id: t,
      with_table_uri: true,
      check_declared: true,
    });
    expect(described).toEqual({
      location: PLACE,
      table_uri: PLACE,
      properties: { k: 'v' },
      managed_versioning: false,
      storage_options: { region: 'eu-west-1' },
    });
    const plain = await catalog.describeTable({ id: t, vend_credentials: false });
    expect(plain).not.toHaveProperty('storage_options');
    // Whether a version is there, finds out who opens it.
    expect((await catalog.describeTable({ id: t, version: 7 })).location).toBe(PLACE);
    const detailed = await catalog.describeTable({ id: t, load_detailed_metadata: true });
    expect(detailed).not.toHaveProperty('version');
    expect(
      await catalog.describeTable({ id: t, version: 7, load_detailed_metadata: true }),
    ).toMatchObject({ version: 7, location: PLACE });
    expect((await catalog.listTables({ id: ['n'], include_declared: false })).tables).toEqual([
      't',
    ]);
    await catalog.tableExists({ id: t });
    for (const work of [
      () => catalog.queryTable({ id: t, k: 1 }),
      () => catalog.countTableRows({ id: t }),
      () => catalog.insertIntoTable({ id: t }, people(1)),
      () => catalog.createTable({ id: t, mode: 'overwrite' }, people(1)),
      () => catalog.listTableVersions({ id: t }),
      () => catalog.describeTableVersion({ id: t, version: 1 }),
    ])
      await expect(work()).rejects.toMatchObject({
        code: 'Unsupported',
        message: expect.stringContaining(PLACE),
        details: { location: PLACE },
      });
    await catalog.renameTable({ id: t, new_table_name: 'u' });
    const u = ['n', 'u'];
    expect((await catalog.describeTable({ id: u })).location).toBe(PLACE);
    const { location: away, context } = await catalog.deregisterTable({ id: u });
    expect([away, context?.relative_location]).toEqual([PLACE, PLACE]);
    expect((await catalog.listTrash({ detached: true })).entries).toMatchObject([
      { kind: 'detached', id: u, location: PLACE },
    ]);
    await catalog.registerTable({ id: u, location: PLACE });
    expect((await catalog.dropTable({ id: u })).location).toBe(PLACE);
    await catalog.undropTable({ id: u });
    expect((await catalog.describeTable({ id: u })).location).toBe(PLACE);
    await catalog.dropTable({ id: u });
    await catalog.purgeTrash({ older_than_millis: 0 });
    await catalog.purgeTrash({ older_than_millis: 0, detached: true });
    expect(await catalog.verify({})).toMatchObject({ problems: [], leftovers: [] });
  },
);

test('register refuses a name that is taken, and overwrites it where that is asked for', async () => {
  const catalog = await open();
  await catalog.createTable({ id: t }, people(2));
  await expect(catalog.registerTable({ id: t, location: PLACE })).rejects.toMatchObject({
    code: 'TableAlreadyExists',
  });
  await catalog.registerTable({ id: t, location: PLACE, mode: 'Overwrite' });
  expect((await catalog.describeTable({ id: t })).location).toBe(PLACE);
  await expect(catalog.registerTable({ id: ['no', 't'], location: PLACE })).rejects.toMatchObject({
    code: 'NamespaceNotFound',
  });
  await expect(catalog.declareTable({ id: ['n'], location: PLACE })).rejects.toMatchObject({
    code: 'TableAlreadyExists',
  });
  expect((await catalog.verify({})).problems).toEqual([]);
});

test.each(['s3://other/t', '/data/other/t'])(
  'a location below no prefix says so: %s',
  async (location) => {
    const catalog = await open();
    await expect(catalog.declareTable({ id: t, location })).rejects.toThrow(
      'below no prefix of the option `locations`',
    );
  },
);

test('an absolute path below a prefix of files is its URI', async () => {
  const catalog = await open();
  await catalog.registerTable({ id: t, location: '/data/lake/a/t.lance' });
  expect((await catalog.describeTable({ id: t })).location).toBe('file:///data/lake/a/t.lance');
});

describe('symbolic links below a prefix of files', () => {
  async function linked(prefix = 'file:///data/lake/') {
    const fs = memoryFs();
    for (const folder of ['/etc', '/data/lake/real/deep', '/data/lake-too', '/data/lake/x/y'])
      fs.mkdirSync(folder, { recursive: true });
    fs.symlinkSync('/etc', '/data/lake/etc');
    fs.symlinkSync('/data/lake-too', '/data/lake/beside');
    fs.symlinkSync('../..', '/data/lake/x/up');
    fs.symlinkSync('/etc', '/data/lake/real/deep/out');
    fs.symlinkSync('/nowhere/yet', '/data/lake/nothing');
    fs.symlinkSync('/data/lake/ring', '/data/lake/ring');
    fs.symlinkSync('/data/lake/real', '/data/lake/within');
    fs.symlinkSync('.', '/data/lake/self');
    fs.symlinkSync('/data/lake', '/data/alias');
    return open({ fs, locations: [LAKE, { prefix }] });
  }

  test.each([
    'etc',
    'etc/',
    'etc/t',
    'etc/a/b/t',
    'beside',
    'beside/t',
    'x/up/t',
    'real/deep/out/t',
    'within/deep/out/t',
    'nothing',
    'nothing/t',
    'ring/t',
    'self',
  ])('that lead out of it, or nowhere, are refused: %s', async (below) => {
    const catalog = await linked();
    for (const location of [`file:///data/lake/${below}`, `/data/lake/${below}`])
      for (const work of [
        () => catalog.declareTable({ id: t, location }),
        () => catalog.registerTable({ id: t, location }),
      ])
        await expect(work()).rejects.toMatchObject({
          code: 'InvalidInput',
          message: expect.stringContaining('symbolic link'),
          details: { member: 'location' },
        });
    await expect(catalog.tableExists({ id: t })).rejects.toMatchObject({ code: 'TableNotFound' });
  });

  test.each(['within', 'within/t', 'real/deep/t', 'not/there/yet'])(
    'that stay within it are none of its business: %s',
    async (below) => {
      for (const folder of ['/data/lake', '/data/alias']) {
        const catalog = await linked(`file://${folder}/`);
        const location = `file://${folder}/${below}`;
        await catalog.declareTable({ id: t, location });
        await catalog.registerTable({ id: ['n', 'u'], location: `${folder}/${below}` });
        // The location stays as it was given.
        expect((await catalog.describeTable({ id: t })).location).toBe(location);
        expect((await catalog.describeTable({ id: ['n', 'u'] })).location).toBe(location);
      }
    },
  );

  test('are not looked for in a bucket', async () => {
    const catalog = await linked();
    await catalog.declareTable({ id: t, location: 's3://bucket/lake/etc' });
  });
});

test('a vendor is asked for the options of its prefix, and of no other table', async () => {
  const asked: unknown[] = [];
  const vendor = async (table: unknown) => {
    asked.push(table);
    return { token: 'secret', expires_at_millis: '1' };
  };
  const catalog = await open({ locations: [LAKE, { prefix: 's3://bucket/lake/own/', vendor }] });
  const location = 's3://bucket/lake/own/x';
  const declared = await catalog.declareTable({ id: t, location });
  expect(declared.storage_options).toEqual({ token: 'secret', expires_at_millis: '1' });
  await catalog.declareTable({ id: ['other'], location: PLACE });
  await catalog.describeTable({ id: t, vend_credentials: false });
  expect(asked).toEqual([{ id: t, location }]);
});

describe('locations', () => {
  test.each([
    's3://bucket/lake',
    's3://bucket/lake/',
    's3://bucket/lakeside/t',
    's3://bucket/lake/../secret',
    's3://bucket/lake/./t',
    's3://bucket/lake/a//t',
    's3://bucket/lake/%2e%2e/secret',
    's3://bucket/lake/t?x=1',
    's3://bucket/lake/t#x',
    's3://bucket/lake/a b',
    's3://bucket/lake/a\\..\\b',
    `s3://bucket/lake/${'x'.repeat(3000)}`,
    'S3://bucket/lake/t',
    's3://other/lake/t',
    'gs://bucket/lake/t',
    'https://bucket/lake/t',
    '/data/other/t',
    '/data/lake/../t',
    'file:///data/lake/../t',
    'file://host/data/lake/t',
  ])('outside of the prefixes, or not plain, are refused: %s', async (location) => {
    const catalog = await open();
    for (const work of [
      () => catalog.declareTable({ id: t, location }),
      () => catalog.registerTable({ id: t, location }),
    ])
      await expect(work()).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(catalog.tableExists({ id: t })).rejects.toMatchObject({ code: 'TableNotFound' });
  });

  test('are refused without rules', () => {
    const realPath = (path: string): string => path;
    expect(outsideLocation([], PLACE, realPath)).toBeUndefined();
    expect(outsideLocation([], '/data/lake/t', realPath)).toBeUndefined();
  });

  test.each([
    ['s3://bucket/lake/', 'no list'],
    [[5], 'locations[0] is no object'],
    [[{}], 'prefix is no text'],
    [[{ prefix: 's3://bucket/lake' }], 'ends in a slash'],
    [[{ prefix: 's3://' }], 'ends in a slash'],
    [[{ prefix: 's3:///lake/' }], 'three slashes'],
    [[{ prefix: 'file://lake/' }], 'three slashes'],
    [[{ prefix: 'file:///' }], 'ends in a slash'],
    [[{ prefix: 'http://bucket/lake/' }], 'ends in a slash'],
    [[{ prefix: 's3://bucket/../lake/' }], 'ends in a slash'],
    [[{ prefix: 's3://bucket/%2e/' }], 'ends in a slash'],
    [[{ ...LAKE, more: 1 }], '"more"'],
    [[{ ...LAKE, vendor: async () => ({}) }], 'both'],
    [[{ prefix: LAKE.prefix, vendor: 'x' }], 'no function'],
    [[{ prefix: LAKE.prefix, storageOptions: { a: 1 } }], 'no object of texts'],
  ] as const)('rules are checked: %j', (rules, word) => {
    expect(() => checkAllowedLocations(rules)).toThrow(word);
  });
});
