/** Clones of tables: the same content, files that are shared or copied, and each table on its own afterwards. */
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { connect, connectNamespace } from '../../src/index.ts';
import type { LanceMode } from '../../src/lance-mode.ts';
import { collectRows, type Row } from '../../src/sdk/convert/rows.ts';
import { createServer } from '../../src/server.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { people } from '../helpers/people.ts';

const SOURCE = ['t'];
const CLONE = ['n', 'c'];

/** A table with many fragments, deleted rows, changed columns, an index, a tag and a branch. */
async function setUp(fs: FileSystem = memoryFs(), lance: LanceMode = 'read') {
  const limits = { batchRows: 2, fragmentRows: 2, overlayBytes: 0 };
  const open = () => openDirectoryNamespace({ root: '/c', fs, lance, limits });
  const catalog = await open();
  await catalog.createNamespace({ id: ['n'] });
  await catalog.createTable({ id: SOURCE, properties: { owner: 'ann' } }, people(80));
  await catalog.createTableTag({ id: SOURCE, tag: 'first', version: 1 });
  await catalog.deleteFromTable({ id: SOURCE, predicate: 'id % 10 = 3' });
  await catalog.updateTable({ id: SOURCE, predicate: 'id = 5', updates: [['name', "'new'"]] });
  await catalog.createTableIndex({ id: SOURCE, column: 'id', index_type: 'BTREE' });
  await catalog.createTableBranch({ id: SOURCE, name: 'side', from_version: 1 });
  await catalog.insertIntoTable({ id: SOURCE, branch: 'side' }, people(1, 500));
  return { catalog, fs, open };
}

const rowsOf = async (catalog: DirectoryNamespace, id: string[], more = {}): Promise<Row[]> =>
  collectRows(await catalog.queryTable({ id, k: 1e9, with_row_id: true, ...more }));

const inodes = (fs: FileSystem, folder: string): Map<string, number> =>
  new Map(
    fs
      .readdirSync(folder, { withFileTypes: true })
      .map((entry) => String((entry as { name: unknown }).name))
      .map((name) => [name, fs.statSync(`${folder}/${name}`).ino]),
  );

const CLONED = '/c/n/c.table';
const ORIGINAL = '/c/data/t.table';

describe.each(['off', 'read', 'sync', 'write'] as const)('with Lance %s', (lance) => {
  test('has the rows, row ids, columns, properties and indexes of the source', async () => {
    const { catalog } = await setUp(memoryFs(), lance);
    const answer = await catalog.cloneTable({ id: CLONE, source_id: SOURCE });
    expect(answer).toMatchObject({ version: 1, source_version: 4, location: CLONED });
    expect(await rowsOf(catalog, CLONE)).toEqual(await rowsOf(catalog, SOURCE));
    const described = await catalog.describeTable({ id: CLONE, load_detailed_metadata: true });
    const source = await catalog.describeTable({ id: SOURCE, load_detailed_metadata: true });
    expect(described.properties).toMatchObject({ owner: 'ann' });
    expect(described.schema).toEqual(source.schema);
    expect(described.lance).toEqual(source.lance);
    expect(described.incarnation).not.toBe(source.incarnation);
    const { indexes } = await catalog.listTableIndices({ id: CLONE });
    expect(indexes).toMatchObject([{ index_name: 'id_idx', num_unindexed_rows: 0 }]);
    expect((await catalog.listTableTags({ id: CLONE })).tags).toEqual({});
    expect((await catalog.listTableBranches({ id: CLONE })).branches).toEqual({});
    expect((await catalog.verify({})).problems).toEqual([]);
    expect((await catalog.verify({})).leftovers).toEqual([]);
  });
});

test('survives whatever happens to the source, and the source whatever happens to it', async () => {
  const { catalog, open } = await setUp();
  await catalog.cloneTable({ id: CLONE, source_id: SOURCE });
  const expected = await rowsOf(catalog, CLONE);
  await catalog.insertIntoTable({ id: CLONE }, people(3, 900));
  await catalog.restoreTable({ id: CLONE, version: 1 });
  await catalog.optimizeTable({ id: SOURCE });
  await catalog.cleanupTable({ id: SOURCE, older_than_millis: 0, orphan_grace_millis: 0 });
  expect(await rowsOf(catalog, CLONE)).toEqual(expected);
  const again = ['again'];
  await catalog.cloneTable({ id: again, source_id: CLONE });
  const kept = await rowsOf(catalog, SOURCE);
  await catalog.optimizeTable({ id: CLONE });
  await catalog.cleanupTable({ id: CLONE, older_than_millis: 0, orphan_grace_millis: 0 });
  expect(await rowsOf(catalog, SOURCE)).toEqual(kept);
  for (const id of [SOURCE, CLONE]) await catalog.dropTable({ id });
  await catalog.purgeTrash({ older_than_millis: 0 });
  const fresh = await open();
  expect(await rowsOf(fresh, again)).toEqual(expected);
  const found = await fresh.verify({});
  expect([found.problems, found.leftovers]).toEqual([[], []]);
});

test('versions, tags and branches of the source', async () => {
  const { catalog } = await setUp();
  const made = async (name: string, more: object) => {
    const { source_version } = await catalog.cloneTable({ id: [name], source_id: SOURCE, ...more });
    return [source_version, (await catalog.countTableRows({ id: [name] })).count];
  };
  expect(await made('a', { source_version: 2 })).toEqual([2, 72]);
  expect(await made('b', { source_tag: 'first' })).toEqual([1, 80]);
  expect(await made('d', { source_branch: 'side' })).toEqual([2, 81]);
  expect(await made('e', { source_branch: 'side', source_version: 1 })).toEqual([1, 80]);
  const refused = made('f', { source_version: 9 });
  await expect(refused).rejects.toMatchObject({ code: 'TableVersionNotFound' });
  const both = made('f', { source_version: 1, source_tag: 'first' });
  await expect(both).rejects.toMatchObject({ code: 'InvalidInput' });
});

test('shares the files, or copies them where that is asked for or there are no links', async () => {
  const { catalog, fs } = await setUp();
  const shared = (): number => {
    const before = inodes(fs, `${ORIGINAL}/data`);
    const now = [...inodes(fs, `${CLONED}/data`)];
    expect(now).not.toHaveLength(0);
    return now.filter(([name, inode]) => before.get(name) === inode).length / now.length;
  };
  await catalog.cloneTable({ id: CLONE, source_id: SOURCE });
  expect(shared()).toBe(1);
  await catalog.dropTable({ id: CLONE });
  await catalog.cloneTable({ id: CLONE, source_id: SOURCE, is_shallow: false });
  expect(shared()).toBe(0);
  expect(await rowsOf(catalog, CLONE)).toEqual(await rowsOf(catalog, SOURCE));
  await catalog.dropTable({ id: CLONE });
  const linkSync = fs.linkSync.bind(fs);
  fs.linkSync = (from, to) => {
    if (/\/(data|deletions|indexes)\/[^/]*$/.test(from) && !from.includes('.tmp-'))
      throw Object.assign(new Error('no more links'), { code: 'EMLINK' });
    linkSync(from, to);
  };
  await catalog.cloneTable({ id: CLONE, source_id: SOURCE });
  expect(shared()).toBe(0);
  expect(await rowsOf(catalog, CLONE)).toEqual(await rowsOf(catalog, SOURCE));
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('the version is held while its files are shared, and metadata comes along', async () => {
  const { catalog, fs } = await setUp();
  const metadata = { made: 'here' };
  await catalog.updateTableSchemaMetadata({ id: SOURCE, metadata });
  const holds = (): number =>
    fs
      .readdirSync(ORIGINAL, { withFileTypes: true })
      .map((entry) => String((entry as { name: unknown }).name))
      .filter((name) => name.startsWith('versions-'))
      .flatMap((name) => fs.readdirSync(`${ORIGINAL}/${name}`, { withFileTypes: true }))
      .filter((entry) => String((entry as { name: unknown }).name).startsWith('.tmp-hold-5-'))
      .length;
  const seen = new Set<number>();
  const linkSync = fs.linkSync.bind(fs);
  fs.linkSync = (from, to) => {
    if (to.includes('/data/') && !from.includes('.tmp-')) seen.add(holds());
    linkSync(from, to);
  };
  await catalog.cloneTable({ id: CLONE, source_id: SOURCE });
  expect([...seen]).toEqual([1]);
  expect(holds()).toBe(0);
  const described = await catalog.describeTable({ id: CLONE, load_detailed_metadata: true });
  expect(described.schema?.metadata ?? described.metadata).toMatchObject(metadata);
});

test('what cannot be cloned is refused, and nothing is left', async () => {
  const { catalog, fs } = await setUp();
  const clone = (request: object) => catalog.cloneTable({ id: CLONE, ...request });
  const cases: [object, string][] = [
    [{}, 'InvalidInput'],
    [{ source_id: SOURCE, source_location: ORIGINAL }, 'InvalidInput'],
    [{ source_location: '/elsewhere/t.table' }, 'InvalidInput'],
    [{ source_location: 'not/a/table' }, 'InvalidInput'],
    [{ source_id: ['none'] }, 'TableNotFound'],
    [{ source_id: SOURCE, id: SOURCE }, 'TableAlreadyExists'],
    [{ source_id: SOURCE, id: ['none', 'c'] }, 'NamespaceNotFound'],
    [{ source_id: SOURCE, id: ['n'] }, 'TableAlreadyExists'],
    [{ source_id: SOURCE, properties: { lance: 'maybe' } }, 'InvalidInput'],
  ];
  for (const [request, code] of cases) await expect(clone(request)).rejects.toMatchObject({ code });
  await catalog.declareTable({ id: ['d'] });
  await expect(clone({ source_id: ['d'] })).rejects.toMatchObject({ code: 'InvalidTableState' });
  // Not every file there is one of the newest version.
  const [first] = (await catalog.listTableFiles({ id: SOURCE })).fragments;
  const lost = basename(first?.files[0]?.path ?? '');
  fs.unlinkSync(`${ORIGINAL}/data/${lost}`);
  await expect(clone({ source_id: SOURCE })).rejects.toMatchObject({
    code: 'Corrupt',
    message: expect.stringContaining(lost),
  });
  const aborted = AbortSignal.abort(new Error('enough'));
  const stopped = catalog.cloneTable({ id: CLONE, source_id: ['d'] }, { signal: aborted });
  await expect(stopped).rejects.toThrow('enough');
  expect((await catalog.listTables({ id: ['n'] })).tables).toEqual([]);
  expect(fs.readdirSync('/c/.dirspace/staging', { withFileTypes: true })).toEqual([]);
});

test('beside compaction, cleanup, drops and renames of the source: whole or refused', async () => {
  const { catalog, open } = await setUp();
  const other = await open();
  const outcomes: string[] = [];
  for (let round = 0; round < 6; round++) {
    await catalog.insertIntoTable({ id: SOURCE }, people(2, 1000 + 10 * round));
    const clean = async (): Promise<void> => {
      await other.optimizeTable({ id: SOURCE, cleanup_older_than_millis: 0 });
      if (round < 3) return;
      if (round === 5) await other.renameTable({ id: SOURCE, new_table_name: 'moved' });
      else {
        await other.dropTable({ id: SOURCE });
        await other.undropTable({ id: SOURCE });
      }
    };
    const clones = Array.from({ length: 4 }, async (_, at) => {
      const id = [`c${round}-${at}`];
      try {
        await catalog.cloneTable({ id, source_id: SOURCE });
        const { count } = await catalog.countTableRows({ id });
        expect(count).toBe(72 + 2 * (round + 1));
        outcomes.push('cloned');
      } catch (error) {
        if (!isDirspaceError(error, 'TableNotFound', 'TableVersionNotFound')) throw error;
        outcomes.push('refused');
      }
    });
    await Promise.all([clean(), ...clones]);
  }
  expect(outcomes).toContain('cloned');
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('by name, by location and as LanceDB names a folder; through the SDK and a server', async () => {
  const { fs } = await setUp();
  const db = await connect('/c', { fs });
  const server = await createServer({
    namespace: db.namespace,
    limits: { maxEventLoopDelayMs: 0 },
  });
  const remote = await connectNamespace('rest', { uri: 'http://x' }, { fetch: server.fetch });
  for (const [at, one] of [db, remote].entries()) {
    const named = await one.cloneTable(`named${at}`, 't', { sourceVersion: 1 });
    expect(await named.countRows()).toBe(80);
    const located = await one.cloneTable(`c${at}`, ORIGINAL, { targetNamespacePath: ['n'] });
    expect(await located.countRows()).toBe(72);
    expect(located.namespacePath).toEqual(['n']);
    const theirs = await one.cloneTable(`theirs${at}`, '/c/t.lance', { sourceTag: 'first' });
    expect(await theirs.countRows()).toBe(80);
    const copied = await one.cloneTable(`copied${at}`, `c${at}`, {
      sourceNamespacePath: ['n'],
      isShallow: false,
      properties: { owner: 'bob' },
    });
    expect(await copied.countRows()).toBe(72);
    const described = await one.describeTable(`copied${at}`);
    expect(described.properties).toMatchObject({ owner: 'bob' });
  }
  await expect(db.cloneTable('x', 't', { shallow: true } as never)).rejects.toThrow('isShallow');
});

test('a caller needs to read the source and to write the target; locations need the whole catalog', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  for (const name of ['own', 'other']) {
    await db.createNamespace([name]);
    await db.createTable('t', [{ x: 1 }], [name]);
  }
  const grants = [{ namespace: ['own'], permission: 'write' as const }];
  const auth = { apiKeys: [{ key: 'ann-key', name: 'ann', grants }] };
  const limits = { maxEventLoopDelayMs: 0 };
  await using server = await createServer({ namespace: db.namespace, auth, limits });
  const clone = async (target: string, body: object): Promise<number> => {
    const headers = { 'x-api-key': 'ann-key', 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await server.fetch(`http://x/v1/dirspace/table/${target}/clone`, init)).status;
  };
  expect(await clone('own$c', { source_id: ['other', 't'] })).toBe(403);
  expect(await clone('other$c', { source_id: ['own', 't'] })).toBe(403);
  expect(await clone('own$c', { source_location: '/c/own/t.table' })).toBe(403);
  expect(await clone('own$c', { source_id: ['own', 't'] })).toBe(200);
});

test('below a prefix the tables there are cloned alone, by their names', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  for (const name of ['one', 'two']) {
    await db.createNamespace([name]);
    await db.createTable('t', [{ x: name }], [name]);
  }
  const limits = { maxEventLoopDelayMs: 0 };
  await using server = await createServer({ namespace: db.namespace, limits });
  const clone = async (url: string, body: object, more: object = {}): Promise<number> => {
    const headers = { 'x-lancedb-database-prefix': 'one', 'content-type': 'application/json' };
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) };
    return (await server.fetch(`http://x${url}`, init)).status;
  };
  const agent = { 'user-agent': 'LanceDB-Node-Client/0.39.0' };
  const path = '/v1/dirspace/table/c/clone';
  expect(await clone(path, { source_location: '/c/two/t.table' })).toBe(406);
  expect(await clone('/v1/table/c/clone', { source_location: '/c/two/t.table' }, agent)).toBe(406);
  expect(await clone('/v1/table/c/clone', { source_location: 't', is_shallow: true }, agent)).toBe(
    200,
  );
  const rows = await (await db.openTable('c', ['one'])).query().toArray();
  expect(rows.map(({ x }) => x)).toEqual(['one']);
  expect(await db.tableNames(['two'])).toEqual(['t']);
});
