/** Manifests for Lance's readers: made when asked for, verified, and removed with their versions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  Bool,
  DateDay,
  Field,
  FixedSizeList,
  Int32,
  Struct,
  Table,
  tableFromArrays,
  tableFromIPC,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const FIXTURE = join(import.meta.dirname, '..', '..', '..', 'fixtures', 'lance');

/** A copy of the fixture in memory, without what was made for Lance on demand. */
function fixture(): ReturnType<typeof memoryFs> {
  const fs = memoryFs();
  const copy = (from: string, to: string): void => {
    fs.mkdirSync(to, { recursive: true });
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const path = join(from, entry.name);
      if (entry.name === 'lance' || entry.name === '_deletions') continue;
      if (entry.isDirectory()) copy(path, `${to}/${entry.name}`);
      else fs.writeFileSync(`${to}/${entry.name}`, readFileSync(path));
    }
  };
  copy(FIXTURE, '/c');
  return fs;
}

const problemsIn = async (db: Awaited<ReturnType<typeof connect>>): Promise<unknown> =>
  (await db.namespace.verify?.({}))?.problems;

const filesIn = (folder: string): string[] =>
  (readdirSync(join(FIXTURE, 'data', folder), { recursive: true }) as string[])
    .filter((name) => /\.(manifest|arrow)$/.test(name))
    .sort();

test.each(['types', 'changed'])(
  'the manifests of %s are those that Lance was seen to read',
  async (table) => {
    const fs = fixture();
    const db = await connect('/c', { fs });
    const { versions } = await db.namespace.listTableVersions({ id: [table] }, { forLance: true });
    for (const { manifest_path, manifest_size } of versions) {
      const bytes = fs.readFileSync(manifest_path as string) as Buffer;
      expect(bytes.length).toBe(manifest_size);
      const known = readFileSync(join(FIXTURE, (manifest_path as string).slice('/c/'.length)));
      expect(Buffer.compare(bytes, known)).toBe(0);
    }
    for (const name of filesIn(`${table}.table/_deletions`)) {
      const made = fs.readFileSync(`/c/data/${table}.table/_deletions/${name}`) as Buffer;
      const known = readFileSync(join(FIXTURE, 'data', `${table}.table`, '_deletions', name));
      expect(Buffer.compare(made, known)).toBe(0);
    }
    expect(await problemsIn(db)).toEqual([]);
  },
);

test('nothing is made for who does not ask for Lance, nor by a read-only catalog', async () => {
  const fs = fixture();
  const db = await connect('/c', { fs });
  const plain = await db.namespace.listTableVersions({ id: ['types'] });
  expect(plain.versions.every(({ manifest_path }) => manifest_path?.endsWith('.json'))).toBe(true);
  const readOnly = await connect('/c', { fs, readOnly: true });
  const asked = readOnly.namespace.describeTableVersion({ id: ['types'] }, { forLance: true });
  await expect(asked).rejects.toThrow('dirspace lance sync');
  expect(fs.existsSync('/c/data/types.table/lance')).toBe(false);
  expect(fs.existsSync('/c/data/types.table/_deletions')).toBe(false);
});

test('verify finds a manifest that is another one, and cleanup removes those of gone versions', async () => {
  const fs = fixture();
  const db = await connect('/c', { fs });
  const { versions } = await db.namespace.listTableVersions({ id: ['types'] }, { forLance: true });
  const [first, second] = versions.map(({ manifest_path }) => manifest_path as string);
  fs.writeFileSync(first as string, fs.readFileSync(second as string));
  expect(await problemsIn(db)).toMatchObject([{ kind: 'manifest' }]);
  const table = await db.openTable('types');
  const { prune } = await table.optimize({ cleanupOlderThan: new Date(), compaction: false });
  expect(prune.oldVersionsRemoved).toBe(2);
  expect(fs.existsSync(first as string)).toBe(false);
  expect(await problemsIn(db)).toEqual([]);
});

test('fragments that share a deletion file have one each for Lance', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const rows = (from: number) => tableFromArrays({ id: Int32Array.of(from, from + 1, from + 2) });
  const table = await db.createTable('t', rows(0) as never);
  await table.add(rows(3) as never);
  await table.add(rows(6) as never);
  await table.delete('id IN (1, 3, 5)');
  await db.namespace.listTableVersions({ id: ['t'] }, { forLance: true });
  const made = (fs.readdirSync('/c/data/t.table/_deletions') as string[]).sort();
  expect(made.map((name) => name.split('-')[0])).toEqual(['0', '1']);
  const deleted = made.map((name) => {
    const bytes = fs.readFileSync(`/c/data/t.table/_deletions/${name}`) as Buffer;
    return [...tableFromIPC(bytes).toArray()].map((row) => row.row_id);
  });
  expect(deleted).toEqual([[1], [0, 2]]);
  // A fragment that loses more rows leaves the shared file; what Lance reads of the old version goes with it.
  await table.delete('id = 0');
  await db.namespace.listTableVersions({ id: ['t'] }, { forLance: true });
  expect(fs.readdirSync('/c/data/t.table/_deletions')).toHaveLength(3);
  expect(await problemsIn(db)).toEqual([]);
  await table.optimize();
  const old = { cleanup_older_than_millis: 0, orphan_grace_millis: 0 };
  await db.namespace.optimizeTable?.({ id: ['t'], ...old });
  expect(fs.readdirSync('/c/data/t.table/_deletions')).toEqual([]);
  expect(await problemsIn(db)).toEqual([]);
});

test('the catalog says how new tables are written, and remembers it', async () => {
  const fs = memoryFs();
  const rows = tableFromArrays({ id: Int32Array.of(1, 2) }) as never;
  const features = (table: string): unknown => {
    const folder = `/c/data/${table}.table`;
    const versions = (fs.readdirSync(folder) as string[]).find((name) => /^versions/.test(name));
    const text = fs.readFileSync(`${folder}/${versions}/00000000000000000001.json`, 'utf8');
    return JSON.parse(String(text).slice(String(text).indexOf('{'))).features;
  };
  const plain = await connect('/c', { fs, lance: 'off' });
  await plain.createTable('before', rows);
  await (await connect('/c', { fs, lance: 'read' })).createTable('first', rows);
  const again = await connect('/c', { fs });
  await again.createTable('second', rows);
  await again.createTable('not', rows, { properties: { lance: 'off' } });
  await expect(again.createTable('x', rows, { properties: { lance: 'yes' } })).rejects.toThrow(
    'lance is "yes"; it is one of off, read, sync, write.',
  );
  expect(['before', 'first', 'second', 'not'].map(features)).toEqual([
    [],
    ['lance'],
    ['lance'],
    [],
  ]);
  await expect(connect('/c', { fs, lance: 'all' as never })).rejects.toThrow('"all"');
});

test('describe says whether a table opens in Lance, and why not', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const lance = async (table: string): Promise<unknown> =>
    (await db.describeTable(table, [], { load_detailed_metadata: true })).lance;
  const table = await db.createTable('t', tableFromArrays({ id: Int32Array.of(1, 2) }) as never);
  expect(await lance('t')).toEqual({ opens: true });
  await table.alterColumns([{ path: 'id', dataType: 'int64' }]);
  expect(await lance('t')).toEqual({ opens: true });
  const day = vectorFromArray([null, 1], new DateDay());
  await db.createTable('fine', new Table({ day }) as never);
  expect(await lance('fine')).toEqual({ opens: true });
  const pair = new Struct([new Field('a', new Int32(), true)]);
  const structs = vectorFromArray([{ a: 1 }, null], pair);
  await db.createTable('nulls', new Table({ structs }) as never);
  expect(await lance('nulls')).toEqual({
    opens: false,
    reason: 'Column "structs" holds null structs, which Lance 2.0 cannot read: so it is in 2 rows.',
  });
  // Lance has such vectors, and columns of such names.
  const bits = new FixedSizeList(2, new Field('item', new Bool(), true));
  const flags = vectorFromArray([[true, false]], bits);
  await db.createTable('bits', new Table({ flags }) as never);
  expect(await lance('bits')).toEqual({
    opens: false,
    reason: 'Column "flags" holds vectors of Bool, which this release does not write for Lance.',
  });
  await db.createTable('name', tableFromArrays({ 'a.b': Int32Array.of(1) }) as never);
  expect(await lance('name')).toEqual({
    opens: false,
    reason: 'Column "a.b" has a name with a period, which this release does not write for Lance.',
  });
  await db.createTable('old', tableFromArrays({ id: Int32Array.of(1) }) as never, {
    properties: { lance: 'off' },
  });
  expect(await lance('old')).toBeUndefined();
});

test('rows of narrower types are stored as the type of their column', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, lance: 'read' });
  const table = await db.createTable('t', tableFromArrays({ id: BigInt64Array.of(1n) }) as never);
  await table.add(tableFromArrays({ id: Int32Array.of(2) }) as never);
  const { lance } = await db.describeTable('t', [], { load_detailed_metadata: true });
  expect(lance).toEqual({ opens: true });
  const found = (await table.query().toArray()).map(({ id }) => id);
  expect(found).toEqual([1n, 2n]);
});

test('a manifest is not made where one of many deletion files cannot be', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs, durability: 'relaxed' });
  const rows = (from: number) => tableFromArrays({ id: Int32Array.of(from, from + 1) });
  const table = await db.createTable('t', rows(0) as never);
  for (let from = 2; from < 20; from += 2) await table.add(rows(from) as never);
  const folder = '/c/data/t.table/deletions';
  await table.delete('id = 0');
  const [first] = fs.readdirSync(folder) as string[];
  for (let id = 2; id < 20; id += 2) await table.delete(`id = ${id}`);
  fs.rmSync(`${folder}/${first}`);
  const again = await connect('/c', { fs, durability: 'relaxed' });
  const asked = again.namespace.describeTableVersion({ id: ['t'] }, { forLance: true });
  await expect(asked).rejects.toThrow('it is missing, and a version refers to it');
  expect(fs.existsSync('/c/data/t.table/lance')).toBe(false);
});

test('a manifest is the same whether the entries of its chunks are in memory or read for it', async () => {
  const fs = memoryFs();
  const writer = await connect('/c', { fs, lance: 'read' });
  const rows = (id: number) => [
    { id, text: `€ ${id}` },
    { id: -id, text: 'a"],"lance":{"bytes":1' },
  ];
  const table = await writer.createTable('t', rows(0));
  for (let id = 1; id < 80; id++) await table.add(rows(id));
  const bytesOf = async (db: typeof writer): Promise<Buffer> => {
    const { version } = await db.namespace.describeTableVersion({ id: ['t'] }, { forLance: true });
    const bytes = fs.readFileSync(version.manifest_path as string) as Buffer;
    fs.rmSync('/c/data/t.table/lance', { recursive: true });
    return bytes;
  };
  const known = await bytesOf(writer);
  const fresh = await connect('/c', { fs });
  expect(Buffer.compare(await bytesOf(fresh), known)).toBe(0);
  // Of entries that were decoded to read the rows.
  await (await fresh.openTable('t')).query().toArray();
  expect(Buffer.compare(await bytesOf(fresh), known)).toBe(0);
  // Of the next version, whose chunks are those of the one before.
  await table.add(rows(80));
  expect(Buffer.compare(await bytesOf(fresh), await bytesOf(writer))).toBe(0);
  // One chunk with deleted rows is decoded.
  await table.delete('id = 3');
  expect(Buffer.compare(await bytesOf(await connect('/c', { fs })), await bytesOf(writer))).toBe(0);
});
