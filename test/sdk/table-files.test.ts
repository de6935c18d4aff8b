/** The files of a table as other programs are told of them, over a directory and over a server. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { expect, test } from 'vitest';
import { tableFromIPC } from '../../src/arrow/apache.ts';
import {
  Dictionary,
  Field,
  Float64,
  Int32,
  List,
  Schema,
  Struct,
  Utf8,
  Utf8View,
} from '../../src/arrow/index.ts';
import { decodeDeletionSlice, decodeDeletions } from '../../src/format/index.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import type { FragmentFiles, TableFiles } from '../../src/sdk/index.ts';
import { createServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const rowsFrom = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: from + at, name: `n${at}`, s: { a: at } }));

const formsOf = ({ layouts, fragments }: TableFiles, of: number) =>
  layouts[fragments[of]?.layout ?? -1]?.columns.map(({ form }) => form);

/** The offsets that a reader subtracts. */
function deletedOf({ deletion, rows }: FragmentFiles): number[] {
  if (deletion === undefined) return [];
  const bytes = new Uint8Array(readFileSync(deletion.path));
  if (deletion.offset === undefined) return [...decodeDeletions(bytes, rows, deletion.path)];
  const slice = bytes.subarray(deletion.offset, deletion.offset + deletion.rows * 4);
  return [...decodeDeletionSlice(slice, rows, deletion.path)];
}

test('rows of a version are those of its files without the deleted ones', async () => {
  const db = await connect(temporaryFolder());
  await db.createNamespace(['p']);
  const table = await db.createTable('t', rowsFrom(0, 50), ['p']);
  await table.add(rowsFrom(50, 50));
  await table.delete('id % 10 = 3');
  await table.add(rowsFrom(100, 5));
  await table.delete('id = 101');
  const found = await table.files();
  expect(found).toMatchObject({ version: 5, rowCount: 94, deletedRows: 11 });
  expect(found.location).toBe(await table.location());
  expect(found.fragments.map(({ firstRow, rows }) => [firstRow, rows])).toEqual([
    [0, 50],
    [45, 50],
    [90, 5],
  ]);
  const ids = found.fragments.flatMap((fragment) => {
    const [file] = fragment.files;
    const bytes = readFileSync(file?.path ?? '');
    expect(bytes.length).toBe(file?.bytes);
    const gone = deletedOf(fragment);
    expect(gone.length).toBe(fragment.deletedRows);
    const rows = tableFromIPC(bytes).getChild('id')?.toArray() as Float64Array;
    return [...rows].filter((_, at) => !gone.includes(at));
  });
  expect(ids).toEqual((await table.query().toArray()).map(({ id }) => id));
  const kinds = found.fragments.map(({ deletion }) => deletion?.offset !== undefined);
  expect(kinds).toEqual([true, true, false]);
  const rowIds = (await table.query().select(['id']).withRowId().toArray()).map(
    (row) => row._rowid as bigint,
  );
  expect(rowIds[90]).toBe(BigInt(found.fragments[2]?.id ?? -1) << 32n);
  const schema = tableFromIPC(Buffer.from(found.arrowSchema, 'base64')).schema;
  expect(schema.fields.map(String)).toEqual((await table.schema()).fields.map(String));
});

test('columns that were changed after a fragment was written are told by layouts', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const schema = new Schema([
    new Field('id', new Int32()),
    new Field('name', new Utf8(), true),
    new Field('old', new Float64(), true),
    new Field('l', new List(new Field('item', new Struct([new Field('a', new Int32(), true)])))),
  ]);
  const rows = [{ id: 1, name: 'a', old: 1, l: [{ a: 1 }] }];
  // Widening rewrites tables for Lance.
  const table = await db.createTable('t', rows, [], { schema, lance: 'off' });
  await table.alterColumns([
    { path: 'name', rename: 'label' },
    { path: 'id', dataType: 'int64' },
  ]);
  await table.alterColumns([{ path: 'l.item.a', rename: 'b' }]);
  await table.dropColumns(['old']);
  await table.addColumns({ name: 'old', type: new Float64(), nullable: true });
  await table.add([{ id: 2n, label: 'b', l: [{ b: 1 }], old: null }]);
  const found = await table.files();
  expect(found.layouts.map(({ plain }) => plain)).toEqual([false, true]);
  expect(found.layouts[0]?.columns).toEqual([
    { name: 'id', form: 'cast', file: 0, storedName: 'id', storedType: 'int32' },
    { name: 'label', form: 'stored', file: 0, storedName: 'name', storedType: 'utf8' },
    {
      name: 'l',
      form: 'fields',
      file: 0,
      storedName: 'l',
      storedType: 'list<struct<a: int32>>',
    },
    { name: 'old', form: 'missing' },
  ]);
  await expect(table.files({ noDeletions: true })).resolves.toEqual(found);
  await expect(table.files({ plain: true })).rejects.toMatchObject({
    code: 'InvalidTableState',
    message: expect.stringContaining('its column "id" is of int32'),
  });
  const first = await table.files({ version: 1, plain: true });
  expect(first.columns.map(({ name }) => name)).toEqual(['id', 'name', 'old', 'l']);
  const { compaction } = await table.optimize({ compaction: { plain: true, targetRows: 1 } });
  expect(compaction).toMatchObject({ fragmentsRemoved: 1, fragmentsAdded: 1 });
  expect((await table.files({ plain: true })).layouts).toHaveLength(1);
  const again = await table.optimize({ compaction: { plain: true, targetRows: 1 } });
  expect(again.compaction.fragmentsRemoved).toBe(0);
});

test('what is told of one more or one less column, and of another order', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ a: 1, b: 2 }]);
  await table.dropColumns(['b']);
  await expect(table.files({ plain: true })).rejects.toThrow('it has more, or in another order');
  await table.addColumns({ name: 'b', type: new Float64(), nullable: true });
  await expect(table.files({ plain: true })).rejects.toThrow('it has no column "b"');
  await table.alterColumns([{ path: 'a', rename: 'c' }]);
  await expect(table.files({ plain: true })).rejects.toThrow('its column "c" is called "a" there');
});

test('columns in several files, wide offsets and views are no obstacle that is written anew', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const long = Array.from({ length: 40_000 }, (_, at) => ({
    id: Math.sin(at),
    text: `text ${at % 9} and so on`,
  }));
  const table = await db.createTable('t', long, [], { compression: 'zstd' });
  await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  const found = await table.files();
  const [fragment] = found.fragments;
  expect(fragment).toMatchObject({ compressed: true, files: [{}, {}] });
  expect(found.layouts[0]).toMatchObject({
    plain: false,
    columns: [
      { form: 'stored', file: 0 },
      { form: 'cast', file: 0, storedType: 'large_utf8' },
      { form: 'stored', file: 1, storedName: 'twice' },
    ],
  });
  await table.optimize({ compaction: { plain: true } });
  expect((await table.files()).fragments[0]?.files).toHaveLength(1);
  const schema = new Schema([
    new Field('v', new Utf8View(), true),
    new Field('d', new Dictionary(new Utf8(), new Int32()), true),
  ]);
  const views = await db.createTable('v', [{ v: 'a', d: 'x' }], [], { schema, lance: 'read' });
  expect(formsOf(await views.files(), 0)).toEqual(['cast', 'stored']);
  for (const one of [table, views]) {
    const { compaction } = await one.optimize({ compaction: { plain: true } });
    expect(compaction.fragmentsRemoved).toBe(0);
  }
});

test('a fragment of few deleted rows is written anew where plain files are asked for', async () => {
  const db = await connect('memory://');
  const table = await db.createTable('t', rowsFrom(0, 100));
  await table.delete('id = 7');
  expect((await table.optimize()).compaction.fragmentsRemoved).toBe(0);
  await table.optimize({ compaction: { plain: true } });
  expect(await table.files({ plain: true })).toMatchObject({ rowCount: 99, deletedRows: 0 });
});

test('versions, tags and branches', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ a: 1 }]);
  await (await table.tags()).create('first', 1);
  const side = await (await table.branches()).create('side');
  await side.add([{ a: 2 }]);
  await table.delete('a = 1');
  await side.delete('a = 2');
  expect(await table.files()).toMatchObject({ version: 2, rowCount: 0, fragments: [] });
  expect(await table.files({ tag: 'first' })).toMatchObject({ version: 1, rowCount: 1 });
  expect(await side.files({ version: 2 })).toMatchObject({ branch: 'side', rowCount: 2 });
  expect(await side.files({ tag: 'first' })).not.toHaveProperty('branch');
  await side.checkout(2);
  expect(await side.files()).toMatchObject({ version: 2, branch: 'side' });
  await expect(table.files({ version: 1, tag: 'first' })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  await expect(table.files({ version: 9 })).rejects.toMatchObject({ code: 'TableVersionNotFound' });
  await expect(table.files({ deletions: false } as never)).rejects.toMatchObject({
    code: 'InvalidInput',
  });
});

test('a server tells no path of its disk', async () => {
  const root = temporaryFolder();
  const local = await connect(root);
  await using server = await createServer({
    namespace: local.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const bodies: string[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    const response = await server.fetch(url, init);
    if (String(url).includes('/files')) bodies.push(await response.clone().text());
    return response;
  };
  const remote = await connectNamespace('rest', { uri: 'http://x' }, { fetch } as never);
  const table = await local.createTable('t', rowsFrom(0, 5));
  await table.delete('id = 1');
  const { location, ...here } = await table.files();
  const { fragments, ...there } = await (await remote.openTable('t')).files();
  expect(bodies).toHaveLength(1);
  expect(bodies[0]).not.toContain(root);
  expect(there).toEqual({ ...here, fragments: undefined });
  for (const [at, { files, deletion }] of fragments.entries()) {
    expect(isAbsolute(files[0]?.path ?? '/')).toBe(false);
    expect(join(location ?? '', files[0]?.path ?? '')).toBe(here.fragments[at]?.files[0]?.path);
    expect(join(location ?? '', deletion?.path ?? '')).toBe(here.fragments[at]?.deletion?.path);
  }
  await expect((await remote.openTable('t')).files({ noDeletions: true })).rejects.toThrow(
    'hold 1 deleted rows, in 1 of 1 fragments',
  );
});

test('pages are of one version, and layouts keep their places in the whole list', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ a: 1 }]);
  for (let round = 0; round < 3; round++) {
    await table.alterColumns([{ path: round === 0 ? 'a' : `a${round}`, rename: `a${round + 1}` }]);
    await table.add([{ [`a${round + 1}`]: round }]);
  }
  const { namespace } = db;
  const list = namespace.listTableFiles?.bind(namespace) as NonNullable<
    typeof namespace.listTableFiles
  >;
  const whole = await list({ id: ['t'] });
  const first = await list({ id: ['t'], limit: 3 });
  const second = await list({ id: ['t'], limit: 3, page_token: first.page_token ?? '' });
  expect([first.fragments.length, second.fragments.length]).toEqual([3, 1]);
  expect([...first.fragments, ...second.fragments].map(({ layout: _, ...rest }) => rest)).toEqual(
    whole.fragments.map(({ layout: _, ...rest }) => rest),
  );
  expect(second).not.toHaveProperty('page_token');
  expect(second.fragments[0]?.first_row).toBe(3);
  // As a server with short pages answers.
  Object.defineProperty(namespace, 'listTableFiles', {
    value: (request: Parameters<typeof list>[0]) => list({ ...request, limit: 1 }),
  });
  const paged = await table.files();
  expect(
    paged.fragments.map(({ layout }) => paged.layouts[layout]?.columns[0]?.storedName),
  ).toEqual(['a', 'a1', 'a2', 'a3']);
  await table.add([{ a3: 9 }]);
  const stale = { id: ['t'], page_token: first.page_token ?? '' };
  await expect(list(stale)).rejects.toMatchObject({ code: 'InvalidInput' });
  await expect(list({ ...stale, page_token: 'x' })).rejects.toMatchObject({ code: 'InvalidInput' });
  await expect(list({ ...stale, version: 7 })).resolves.toMatchObject({ version: 7 });
});
