/** What describe and the statistics say of tables that programs of others write: what their manifests hold. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import type { ParsedField } from '../../src/format/lance/parsed-fragment.ts';
import {
  type ClientFragment,
  type ClientManifest,
  encodeClientManifest,
} from '../helpers/lance-client.ts';
import { type Dataset, datasetFiles, writeDataset } from '../helpers/lance-writer.ts';
import { memoryFs } from '../helpers/memory-fs.ts';

const t = ['n', 't'];
const details = { id: t, load_detailed_metadata: true };

async function declared() {
  const fs = memoryFs();
  const catalog: DirectoryNamespace = await openDirectoryNamespace({
    root: '/c',
    fs,
    durability: 'relaxed',
  });
  await catalog.createNamespace({ id: ['n'] });
  const { location = '' } = await catalog.declareTable({ id: t });
  return { fs, catalog, location };
}

test.each(['v1', 'v2'] as const)('schema and counts of each version: %s', async (name: Dataset) => {
  const { fs, catalog, location } = await declared();
  writeDataset(fs, location, name);
  const newest = await catalog.describeTable(details);
  expect(newest).toMatchObject({
    version: 3,
    stats: { num_fragments: 2, num_deleted_rows: 1 },
    metadata: {},
    lance: { opens: true },
    is_only_declared: false,
  });
  expect(newest.schema?.fields).toMatchObject([
    { name: 'id', type: { type: 'int64' }, nullable: true },
    { name: 'name', type: { type: 'utf8' }, nullable: true },
  ]);
  expect(await catalog.describeTable({ ...details, version: 1 })).toMatchObject({
    version: 1,
    stats: { num_fragments: 1, num_deleted_rows: 0 },
  });
  expect(await catalog.getTableStats({ id: t })).toMatchObject({
    num_rows: 3,
    num_indices: 0,
    fragment_stats: { num_fragments: 2, num_small_fragments: 2 },
  });
  await expect(catalog.describeTable({ id: t, version: 99 })).rejects.toMatchObject({
    code: 'TableVersionNotFound',
    message: expect.stringContaining('its newest is 3'),
  });
  // Rows stay where they are.
  await expect(catalog.countTableRows({ id: t })).rejects.toMatchObject({ code: 'Unsupported' });
});

const field = (name: string, logicalType: string, more: object = {}): ParsedField => ({
  id: 0,
  parent: -1,
  name,
  logicalType,
  nullable: true,
  metadata: new Map(),
  dictionary: false,
  primaryKey: false,
  ...more,
});

const manifest = (more: Partial<ClientManifest>): Uint8Array =>
  encodeClientManifest(
    {
      version: 1,
      fields: [field('a', 'int64')],
      fragments: [],
      maxFragmentId: -1,
      schemaMetadata: new Map(),
      tableMetadata: new Map(),
      ...more,
    },
    [100, () => {}],
  );

const fragment = (physicalRows: number, deleted = 0, fileSize = 10): ClientFragment => ({
  id: 0,
  files: [
    {
      path: 'a.lance',
      fields: [0],
      columns: [0],
      majorVersion: 2,
      minorVersion: 0,
      fileSize,
      base: undefined,
    },
  ],
  deletion:
    deleted === 0
      ? undefined
      : { kind: 'arrow', readVersion: 1n, id: 1n, rows: deleted, base: undefined },
  physicalRows,
});

async function written(bytes: Uint8Array) {
  const made = await declared();
  made.fs.mkdirSync(`${made.location}/_versions`, { recursive: true });
  made.fs.writeFileSync(`${made.location}/_versions/1.manifest`, bytes);
  return made;
}

test('types, nesting and metadata are those of Arrow', async () => {
  const fields = [
    field('v', 'fixed_size_list:float:4', { nullable: false }),
    field('s', 'struct', { id: 1 }),
    field('x', 'timestamp:us:UTC', { id: 2, parent: 1, metadata: new Map([['k', 'v']]) }),
    field('d', 'dict:string:int32:false', { id: 3, dictionary: true }),
    field('l', 'list.struct', { id: 4 }),
    field('item', 'struct', { id: 5, parent: 4 }),
    field('y', 'large_string', { id: 6, parent: 5 }),
  ];
  const { catalog } = await written(
    manifest({ fields, schemaMetadata: new Map([['__proto__', 'kept']]) }),
  );
  const { schema, metadata, lance } = await catalog.describeTable(details);
  expect(lance).toEqual({ opens: true, external: true });
  expect(JSON.stringify(metadata)).toBe('{"__proto__":"kept"}');
  expect(schema?.fields).toMatchObject([
    { name: 'v', nullable: false, type: { type: 'fixed_size_list', length: 4 } },
    { name: 's', type: { fields: [{ name: 'x', metadata: { k: 'v' } }] } },
    { name: 'd', type: { type: expect.stringContaining('dictionary') } },
    { name: 'l', type: { fields: [{ type: { fields: [{ name: 'y' }] } }] } },
  ]);
});

test.each([
  ['a type that tables here do not have', [field('b', 'json')], '"b"'],
  ['maps', [field('m', 'map'), field('entries', 'struct', { id: 1, parent: 0 })], '"m"'],
])('%s: all but the schema is told', async (_, fields, word) => {
  const { catalog } = await written(manifest({ fields, fragments: [fragment(5, 2)] }));
  const found = await catalog.describeTable(details);
  expect(found).not.toHaveProperty('schema');
  expect(found).toMatchObject({
    version: 1,
    stats: { num_fragments: 1, num_deleted_rows: 2 },
    lance: { opens: true, external: true, reason: expect.stringContaining(word) },
  });
  expect(await catalog.getTableStats({ id: t })).toMatchObject({ num_rows: 3, total_bytes: 10 });
});

/** With a feature for readers: members 9 and 10 are the flags of readers and of writers. */
function withFlags(bytes: Uint8Array, flags: number): Uint8Array {
  bytes[Buffer.from(bytes).indexOf(Buffer.from([0x48, 0, 0x50, 0])) + 1] = flags;
  return bytes;
}

test.each([
  ['a feature', withFlags(manifest({ fragments: [fragment(5)] }), 64), 'flags 64'],
  [
    'a kind of deletion files',
    manifest({
      fragments: [
        { ...fragment(5), deletion: { kind: 'bitmap', readVersion: 1n, id: 1n, rows: 2 } as never },
      ],
    }),
    'DeletionFile.1 = 7',
  ],
])(
  '%s that is not known to readers: neither schema nor numbers are told',
  async (_, bytes, word) => {
    // Kind 1 of a deletion file, followed by the version that its writer has read.
    const kind = Buffer.from(bytes).indexOf(Buffer.from([0x08, 1, 0x10, 1, 0x18, 1]));
    if (kind >= 0) bytes[kind + 1] = 7;
    const { catalog } = await written(bytes);
    const found = await catalog.describeTable(details);
    expect(found).not.toHaveProperty('schema');
    expect(found).not.toHaveProperty('stats');
    expect(found.lance).toMatchObject({ opens: true, reason: expect.stringContaining(word) });
    await expect(catalog.getTableStats({ id: t })).rejects.toMatchObject({ code: 'Unsupported' });
  },
);

test.each([
  ['what is no manifest', new Uint8Array(40), 'LANC'],
  ['an empty file', new Uint8Array(0), '0 bytes'],
  ['one of another version', manifest({ version: 2 }), 'version 2'],
  ['one that is too large', new Uint8Array(8 * 1024 * 1024 + 1), 'at most'],
  [
    'fields without their parent',
    manifest({ fields: [field('a', 'int64', { parent: 7 })] }),
    'parent',
  ],
])('%s is told as the reason, and the location still answers', async (_, bytes, word) => {
  const { catalog, location } = await written(bytes);
  const found = await catalog.describeTable(details);
  expect(found).toMatchObject({
    location,
    version: 1,
    is_only_declared: false,
    lance: { opens: false, external: true, reason: expect.stringContaining(word) },
  });
  expect(found).not.toHaveProperty('schema');
});

test.each([
  ['rows that are not known', [fragment(0)], true],
  ['sizes that are not known', [fragment(5, 0, 0)], true],
  ['more deleted rows than rows', [fragment(5, 6)], false],
  [
    'more rows than can be counted',
    [fragment(2 ** 53 - 1), { ...fragment(2 ** 53 - 1), id: 1 }],
    false,
  ],
])('statistics with %s are refused with the location', async (_, fragments, isCounted) => {
  const { catalog, location } = await written(manifest({ fragments }));
  await expect(catalog.getTableStats({ id: t })).rejects.toMatchObject({
    code: 'Unsupported',
    details: { location },
  });
  const { stats } = await catalog.describeTable(details);
  expect(stats !== undefined).toBe(isCounted);
});

test('statistics of a manifest that cannot be read are refused, and of a declared table too', async () => {
  const { catalog } = await written(new Uint8Array(40));
  await expect(catalog.getTableStats({ id: t })).rejects.toMatchObject({ code: 'Unsupported' });
  const empty = await declared();
  await expect(empty.catalog.getTableStats({ id: t })).rejects.toMatchObject({
    code: 'InvalidTableState',
  });
  expect(await empty.catalog.describeTable(details)).not.toHaveProperty('lance');
});

test('100 changed bytes of a manifest never fail the description', async () => {
  const [path = '', bytes = new Uint8Array()] =
    [...datasetFiles('v2')].find(([name]) => name.endsWith('.manifest')) ?? [];
  const { fs, catalog, location } = await declared();
  writeDataset(fs, location);
  for (let at = 0; at < 100; at++) {
    const changed = bytes.slice();
    const where = Math.floor((at * bytes.length) / 100);
    changed[where] = (changed[where] as number) ^ (1 << (at % 8));
    fs.writeFileSync(`${location}/${path}`, changed);
    expect((await catalog.describeTable(details)).version).toBe(3);
  }
});
