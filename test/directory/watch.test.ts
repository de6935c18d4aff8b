import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { recordBatchStream, tableFromArrays } from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../src/env.ts';
import type { FileSystem } from '../../src/store/disk/file-system.ts';
import { temporaryFolder } from '../helpers/temporary.ts';
import { Watched } from '../helpers/watched.ts';

const rows = () => {
  const table = tableFromArrays({ n: Int32Array.of(1, 2, 3) });
  return recordBatchStream(table.schema, table.batches);
};

const all = { k: 10, vector: { single_vector: [] } };

const kinds: [string, () => { root: string; fs?: FileSystem }][] = [
  ['the real file system', () => ({ root: temporaryFolder() })],
  [
    'memfs',
    () => ({ root: '/catalog', fs: createFsFromVolume(new Volume()) as unknown as FileSystem }),
  ],
];

describe.each(kinds)('watching on %s', (_, where) => {
  const open = async () => {
    const place = where();
    const catalog = await openDirectoryNamespace({ ...place, durability: 'relaxed' });
    // Another process, as far as the engine can tell.
    const other = await openDirectoryNamespace({ ...place, durability: 'relaxed' });
    return { catalog, other };
  };

  test('a watch that is closed ends, also for who waits for an event', async () => {
    const { catalog } = await open();
    const watch = catalog.watch({});
    const waiting = watch[Symbol.asyncIterator]().next();
    await watch.ready;
    await watch.close();
    expect((await waiting).done).toBe(true);
    await watch[Symbol.asyncDispose]();
    expect((await watch[Symbol.asyncIterator]().next()).done).toBe(true);
    await catalog.listTables({});
  });

  test('every change is told once', async () => {
    const { catalog, other } = await open();
    const watched = new Watched(catalog);
    await watched.ready;
    await other.createNamespace({ id: ['a'] });
    await watched.until('namespace_created a');
    await other.createTable({ id: ['a', 't'] }, rows());
    await watched.until('table_created a/t', 'version_committed a/t main 1');
    await other.createTableTag({ id: ['a', 't'], tag: 'x', version: 1 });
    await watched.until('tag_created a/t x=1');
    await other.insertIntoTable({ id: ['a', 't'] }, rows());
    await other.updateTableTag({ id: ['a', 't'], tag: 'x', version: 2 });
    await watched.until('version_committed a/t main 2', 'tag_updated a/t x=2');
    await other.createTableBranch({ id: ['a', 't'], name: 'b' });
    await watched.until('branch_created a/t b');
    await other.insertIntoTable({ id: ['a', 't'], branch: 'b' }, rows());
    await watched.until('version_committed a/t b 3');
    await other.deleteTableTag({ id: ['a', 't'], tag: 'x' });
    await other.deleteTableBranch({ id: ['a', 't'], name: 'b' });
    await watched.until('tag_deleted a/t x', 'branch_deleted a/t b');
    await other.renameTable({ id: ['a', 't'], new_table_name: 'u', new_namespace_id: [] });
    await watched.until('table_renamed a/t -> u');
    await other.dropTable({ id: ['u'] });
    await other.dropNamespace({ id: ['a'] });
    await watched.until('table_dropped u', 'namespace_dropped a');
    await watched.end();
    expect(new Set(watched.seen).size).toBe(watched.seen.length);
    expect(watched.seen.filter((event) => event.includes('.tmp'))).toEqual([]);
  });

  test('quick commits are each told once, in order', async () => {
    const { catalog, other } = await open();
    await other.createTable({ id: ['t'] }, rows());
    const watched = new Watched(catalog);
    await watched.ready;
    const last = 60;
    for (let version = 2; version <= last; version++) {
      await other.insertIntoTable({ id: ['t'] }, rows());
    }
    await watched.until(`version_committed t main ${last}`);
    await watched.end();
    const told = watched.seen.filter((event) => event.startsWith('version_committed t'));
    expect(told).toEqual(
      Array.from({ length: last - 1 }, (_, at) => `version_committed t main ${at + 2}`),
    );
  });

  test('a table dropped and recreated under its name is another table', async () => {
    const { catalog, other } = await open();
    await other.createTable({ id: ['t'] }, rows());
    await other.insertIntoTable({ id: ['t'] }, rows());
    const watched = new Watched(catalog, []);
    await watched.ready;
    await other.dropTable({ id: ['t'] });
    await other.createTable({ id: ['t'] }, rows());
    await watched.until('table_dropped t', 'table_created t', 'version_committed t main 1');
    await watched.end();
    expect((await other.queryTable({ id: ['t'], ...all })).schema.fields).toHaveLength(1);
  });

  test('watching a namespace leaves out the others', async () => {
    const { catalog, other } = await open();
    await other.createNamespace({ id: ['in'] });
    await other.createNamespace({ id: ['out'] });
    const watched = new Watched(catalog, ['in']);
    await watched.ready;
    await other.createTable({ id: ['out', 't'] }, rows());
    await other.createTable({ id: ['in', 't'] }, rows());
    await watched.until('table_created in/t');
    await watched.end();
    expect(watched.seen.filter((event) => event.includes('out'))).toEqual([]);
  });

  test('a namespace that is overwritten goes and comes again, with all below it', async () => {
    const { catalog, other } = await open();
    for (const id of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['kept']])
      await other.createNamespace({ id });
    await other.createTable({ id: ['a', 'b', 't'] }, rows());
    const watched = new Watched(catalog);
    const within = new Watched(catalog, ['a', 'b']);
    await Promise.all([watched.ready, within.ready]);
    await other.createNamespace({ id: ['a', 'b'], mode: 'overwrite' });
    await watched.until('namespace_created a/b');
    await within.until('namespace_created a/b');
    expect(watched.seen).toEqual([
      'table_dropped a/b/t',
      'namespace_dropped a/b/c',
      'namespace_dropped a/b',
      'namespace_created a/b',
    ]);
    expect(within.seen).toEqual(watched.seen);
    await other.dropNamespace({ id: ['a', 'b'] });
    await within.until('namespace_dropped a/b');
    // Its properties are no other namespace.
    await other.updateNamespaceProperties({ id: ['kept'], properties: { owner: 'me' } });
    await other.createNamespace({ id: ['last'] });
    await watched.until('namespace_created last');
    expect(watched.seen.filter((event) => event.includes('kept'))).toEqual([]);
    await watched.end();
    await within.end();
  });

  test('closing the catalog ends the watch', async () => {
    const { catalog } = await open();
    const events = catalog.watch({});
    const ended = (async () => {
      for await (const _event of events) {
        // Nothing happens.
      }
      return true;
    })();
    await catalog.close();
    expect(await ended).toBe(true);
  });

  test('a namespace that is not there is an error', async () => {
    const { catalog } = await open();
    const watch = catalog.watch({ id: ['none'] });
    await expect(watch.ready).rejects.toMatchObject({ code: 'NamespaceNotFound' });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'NamespaceNotFound',
    });
  });
});

describe('how often the whole catalog is looked at', () => {
  /** A clock by which each look takes seconds, and pauses that end when the test says so. */
  const slowLooks = async () => {
    const fs = createFsFromVolume(new Volume()) as unknown as FileSystem;
    const pauses = new Map<number, () => void>();
    const asked: number[] = [];
    let clock = 0;
    const env = {
      ...systemEnv,
      elapsed: () => (clock += 3000),
      sleep: (ms: number, signal?: AbortSignal, background?: boolean) => {
        asked.push(ms);
        if (ms < 1000) return systemEnv.sleep(ms, signal, background);
        return new Promise<void>((resolve, reject) => {
          pauses.set(ms, resolve);
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
    };
    const catalog = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', env });
    const other = await openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed' });
    return { catalog, other, pauses, asked };
  };

  test('looks that take long are spaced; commits are told between them', async () => {
    const { catalog, other, pauses, asked } = await slowLooks();
    await other.createTable({ id: ['a'] }, rows());
    const watched = new Watched(catalog);
    await watched.ready;
    await other.insertIntoTable({ id: ['a'] }, rows());
    await watched.until('version_committed a main 2');
    await other.createTable({ id: ['b'] }, rows());
    await other.insertIntoTable({ id: ['a'] }, rows());
    await watched.until('version_committed a main 3');
    await other.dropTable({ id: ['a'] });
    await other.insertIntoTable({ id: ['b'] }, rows());
    expect(watched.seen.filter((event) => !event.startsWith('version_committed a'))).toEqual([]);
    pauses.get(10_000)?.();
    await watched.until('table_created b', 'version_committed b main 2', 'table_dropped a');
    // Without a hint it waits for longer than the 4 seconds of a small catalog.
    expect(asked.filter((ms) => ms === 4000).length).toBe(1);
    await watched.end();
  });

  test('a watch of a namespace does not look at the whole for tables outside of it', async () => {
    const { catalog, other, pauses, asked } = await slowLooks();
    await other.createNamespace({ id: ['in'] });
    await other.createTable({ id: ['in', 't'] }, rows());
    await other.createTable({ id: ['out'] }, rows());
    const watched = new Watched(catalog, ['in']);
    await watched.ready;
    await other.insertIntoTable({ id: ['in', 't'] }, rows());
    await watched.until('version_committed in/t main 2');
    await other.insertIntoTable({ id: ['out'] }, rows());
    await other.insertIntoTable({ id: ['in', 't'] }, rows());
    await watched.until('version_committed in/t main 3');
    pauses.get(10_000)?.();
    await other.insertIntoTable({ id: ['in', 't'] }, rows());
    await watched.until('version_committed in/t main 4');
    // One pause follows each look at the whole.
    expect(asked.filter((ms) => ms === 10_000).length).toBe(1);
    await watched.end();
  });
});
