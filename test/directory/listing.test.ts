/** Listing the tables of a namespace: looks at each once, and again when its folder has changed. */
import fs from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { longAgo, tick } from '../helpers/long-ago.ts';
import { people } from '../helpers/people.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
let looked: string[];
let namespace: DirectoryNamespace;
let other: DirectoryNamespace;

beforeEach(async () => {
  root = temporaryFolder();
  looked = [];
  namespace = await openDirectoryNamespace({ root });
  other = await openDirectoryNamespace({ root });
  await namespace.createNamespace({ id: ['n'] });
  for (const name of ['a', 'b', 'c']) await namespace.createTable({ id: ['n', name] }, people(1));
});

afterEach(() => vi.restoreAllMocks());

/** As if the last change of the namespace were long ago; and the next one has another time. */
function settle(): void {
  if (looked.length === 0) looked = longAgo();
  tick(root);
}

/** The lists made of the folder of the namespace and those in it: other catalogs tidy up meanwhile. */
const listsIn = ({ mock }: { mock: { calls: unknown[][] } }): unknown[] =>
  mock.calls.map(([folder]) => folder).filter((folder) => String(folder).startsWith(`${root}/n`));

/** The tables, and of how many the record was looked for. */
async function list(request: object = {}): Promise<{ tables: string[]; looks: number }> {
  const before = looked.length;
  const { tables } = await namespace.listTables({ id: ['n'], ...request });
  const looks = looked.slice(before).filter((name) => name === '.table.json').length;
  return { tables, looks };
}

test('tables are looked at once while their folder does not change', async () => {
  settle();
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 3 });
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 0 });
  const { page_token } = await namespace.listTables({ id: ['n'], limit: 1 });
  expect(await list({ page_token })).toEqual({ tables: ['b', 'c'], looks: 0 });
});

test('what another program creates, drops or renames is seen at once', async () => {
  settle();
  await list();
  await other.createTable({ id: ['n', 'd'] }, people(1));
  expect((await list()).tables).toEqual(['a', 'b', 'c', 'd']);
  settle();
  await list();
  await other.dropTable({ id: ['n', 'a'] });
  expect((await list()).tables).toEqual(['b', 'c', 'd']);
  settle();
  await list();
  await other.renameTable({ id: ['n', 'b'], new_table_name: 'z' });
  expect((await list()).tables).toEqual(['c', 'd', 'z']);
  settle();
  await list();
  await other.dropNamespace({ id: ['n'], behavior: 'Cascade' });
  await other.createNamespace({ id: ['n'] });
  settle();
  expect((await list()).tables).toEqual([]);
});

test('a copy that sets the old time of a folder back hides nothing', async () => {
  settle();
  await list();
  const { atime, mtime } = fs.statSync(`${root}/n`);
  await other.createTable({ id: ['n', 'd'] }, people(1));
  await other.dropTable({ id: ['n', 'a'] });
  fs.utimesSync(`${root}/n`, atime, mtime);
  expect((await list()).tables).toEqual(['b', 'c', 'd']);
});

test('a folder that changed just now is read again: its time may stay the same', async () => {
  await list();
  settle();
  expect((await list()).looks).toBe(3);
  expect((await list()).looks).toBe(0);
});

test('a change within the tick of the last one is seen', async () => {
  const lstat = fs.lstatSync as (...given: unknown[]) => fs.Stats | undefined;
  const time = Date.now();
  vi.spyOn(fs, 'lstatSync').mockImplementation(((path: string, ...more: unknown[]) => {
    const stat = lstat(path, ...more);
    if (stat !== undefined && path === `${root}/n`) stat.ctimeMs = time;
    return stat;
  }) as never);
  expect((await list()).tables).toEqual(['a', 'b', 'c']);
  await other.createTable({ id: ['n', 'd'] }, people(1));
  expect((await list()).tables).toEqual(['a', 'b', 'c', 'd']);
});

test('a page looks at its own tables alone, and leaves the order to the next', async () => {
  const readdir = vi.spyOn(fs, 'readdirSync');
  settle();
  const first = await namespace.listTables({ id: ['n'], limit: 1 });
  expect(first).toMatchObject({ tables: ['a'] });
  const { page_token } = first;
  readdir.mockClear();
  // One more tells that there is another page; it was looked at by the first.
  expect(await list({ page_token, limit: 1 })).toEqual({ tables: ['b'], looks: 1 });
  expect(await list({ page_token, limit: 1 })).toEqual({ tables: ['b'], looks: 0 });
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 0 });
  expect(listsIn(readdir)).toEqual([]);
});

test('a folder that is no table yet is looked at each time', async () => {
  fs.mkdirSync(`${root}/n/odd.table`);
  settle();
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 4 });
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 1 });
  const record = fs.readFileSync(`${root}/n/a.table/.table.json`);
  fs.writeFileSync(`${root}/n/odd.table/.table.json`, record);
  expect((await list()).tables).toEqual(['a', 'b', 'c', 'odd']);
  expect(await list()).toEqual({ tables: ['a', 'b', 'c', 'odd'], looks: 0 });
});

test('pages of namespaces are read from the same names', async () => {
  for (const name of ['z', 'x', 'y']) await other.createNamespace({ id: ['n', name] });
  // A namespace whose creator has not taken the name yet.
  fs.mkdirSync(`${root}/n/pending`);
  settle();
  const names = async (request: object): Promise<unknown> =>
    (await namespace.listNamespaces({ id: ['n'], ...request })).namespaces;
  await list();
  const readdir = vi.spyOn(fs, 'readdirSync');
  const { page_token } = await namespace.listNamespaces({ id: ['n'], limit: 1 });
  expect(await names({ page_token, limit: 1 })).toEqual(['y']);
  expect(await names({ page_token })).toEqual(['y', 'z']);
  expect(await names({})).toEqual(['x', 'y', 'z']);
  fs.copyFileSync(`${root}/n/x/.namespace.json`, `${root}/n/pending/.namespace.json`);
  expect(await names({})).toEqual(['pending', 'x', 'y', 'z']);
  expect(listsIn(readdir)).toEqual([]);
  await other.dropNamespace({ id: ['n', 'y'] });
  expect(await names({})).toEqual(['pending', 'x', 'z']);
});

test('the tables of a whole catalog come in order, from any of them on', async () => {
  await other.createNamespace({ id: ['b'] });
  await other.createNamespace({ id: ['n', 'aa'] });
  for (const id of [['a'], ['m'], ['b', 't'], ['n', 'aa', 't'], ['n', 'z'], ['o']])
    await other.createTable({ id }, people(1));
  settle();
  const all = ['a', 'b$t', 'm', 'n$a', 'n$aa$t', 'n$b', 'n$c', 'n$z', 'o'];
  for (let pass = 0; pass < 2; pass++) {
    expect((await namespace.listAllTables({})).tables).toEqual(all);
    for (const [at, name] of all.entries()) {
      const page_token = Buffer.from(`after:${name}`).toString('base64url');
      const page = await namespace.listAllTables({ page_token, limit: 3 });
      expect(page.tables).toEqual(all.slice(at + 1, at + 4));
    }
  }
});
