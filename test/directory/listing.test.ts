/** Listing the tables of a namespace: looks at each once, and again when its folder has changed. */
import fs from 'node:fs';
import { beforeEach, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import { type Disk, listed } from '../helpers/listed-fs.ts';
import { people } from '../helpers/people.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let root: string;
let disk: Disk;
let namespace: DirectoryNamespace;
let other: DirectoryNamespace;

beforeEach(async () => {
  root = temporaryFolder();
  disk = { calls: [], around: undefined };
  ahead = 0;
  const env = { ...systemEnv, now: () => Date.now() + ahead };
  namespace = await openDirectoryNamespace({ root, fs: listed(disk), env });
  other = await openDirectoryNamespace({ root });
  await namespace.createNamespace({ id: ['n'] });
  for (const name of ['a', 'b', 'c']) await namespace.createTable({ id: ['n', name] }, people(1));
});

/** As if the last change of the namespace were long ago; and the next one has another time. */
let ahead = 0;
function settle(): void {
  ahead = 10_000;
  const probe = `${root}/probe`;
  do fs.writeFileSync(probe, '');
  while (fs.statSync(probe).ctimeMs <= fs.statSync(`${root}/n`).ctimeMs);
}

/** The tables, and of how many the record was looked for. */
async function list(request: object = {}): Promise<{ tables: string[]; looks: number }> {
  disk.calls.length = 0;
  const { tables } = await namespace.listTables({ id: ['n'], ...request });
  return { tables, looks: disk.calls.filter((call) => call === 'lstat .table.json').length };
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

test('a page, or a folder that is no table yet, leaves nothing to rely on', async () => {
  settle();
  await list({ limit: 1 });
  expect((await list()).looks).toBe(3);
  fs.mkdirSync(`${root}/n/odd.table`);
  settle();
  expect(await list()).toEqual({ tables: ['a', 'b', 'c'], looks: 4 });
  const record = fs.readFileSync(`${root}/n/a.table/.table.json`);
  fs.writeFileSync(`${root}/n/odd.table/.table.json`, record);
  expect((await list()).tables).toEqual(['a', 'b', 'c', 'odd']);
});
