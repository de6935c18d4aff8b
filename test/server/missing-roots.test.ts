/** Folders to serve that are not there: at the start, before they are first used, and after they were. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { LostFolders } from '../../src/server/lost-folders.ts';
import { createServer, type ServerOptions } from '../../src/server.ts';
import { callCli } from '../helpers/cli.ts';
import { ask, type Pair, restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const tables = async (pair: Pair, database?: string): Promise<string> => {
  const headers = database === undefined ? {} : { 'x-service-database': database };
  const { status, json } = await ask(pair, 'GET', '/v1/tables', undefined, headers);
  return status === 200 ? `200 ${json.tables}` : String(status);
};
const ready = async (pair: Pair): Promise<number> => (await ask(pair, 'GET', '/ready')).status;
const namespaced = async (pair: Pair, database?: string): Promise<void> => {
  const headers = database === undefined ? {} : { 'x-service-database': database };
  expect((await ask(pair, 'POST', '/v1/namespace/n/create', {}, headers)).status).toBe(200);
};

describe('at the start', () => {
  const sources = (path: string): ServerOptions[] => [
    { root: path },
    { databases: { one: temporaryFolder(), two: path } },
    { databasesRoot: path },
  ];
  test('one that is not there is refused by its path, and nothing is made', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/file`, 'x');
    for (const path of [`${folder}/a/misspelt`, `${folder}/file/below`]) {
      for (const source of sources(path)) {
        for (const readOnly of [true, false]) {
          await expect(createServer({ ...source, readOnly })).rejects.toMatchObject({
            code: 'NamespaceNotFound',
            message: expect.stringMatching(new RegExp(`"${path}".*"create".*--create`)),
          });
        }
      }
    }
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('a file is no folder, whatever is asked for', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/file`, 'x');
    for (const [path, create] of [
      [`${folder}/file`, false],
      [`${folder}/file`, true],
      [`${folder}/file/below`, true],
    ] as const) {
      for (const source of sources(path)) {
        await expect(createServer({ ...source, create })).rejects.toMatchObject({
          code: 'InvalidInput',
          message: expect.stringMatching(new RegExp(`"${path}".*a file stands`)),
          details: { root: path },
        });
      }
    }
    expect(readdirSync(folder)).toEqual(['file']);
  });

  test('none is made for options that are refused', async () => {
    const path = `${temporaryFolder()}/new`;
    for (const refused of [{ ui: { ticket: { token: 'short' } } }, { limits: { maxQueue: -1 } }]) {
      const options = { root: path, create: true, ...refused } as ServerOptions;
      await expect(createServer(options)).rejects.toMatchObject({ code: 'InvalidInput' });
    }
    expect(existsSync(path)).toBe(false);
  });

  test('it is made where that is asked for, for its owner alone', async () => {
    for (const at of [0, 1, 2]) {
      const path = `${temporaryFolder()}/a/new`;
      const pair = await restPair({ ...(sources(path)[at] as ServerOptions), create: true });
      expect(statSync(path).mode & 0o777).toBe(0o700);
      expect(await ready(pair)).toBe(200);
    }
    await expect(
      createServer({ root: temporaryFolder(), create: true, readOnly: true }),
    ).rejects.toMatchObject({ code: 'InvalidInput', message: expect.stringContaining('readOnly') });
  });

  test('an empty folder that is there is served', async () => {
    expect(await tables(await restPair({ root: temporaryFolder() }))).toBe('200 ');
    expect(await tables(await restPair({ root: temporaryFolder(), readOnly: true }))).toBe('200 ');
  });

  test('of dirspace serve', async () => {
    const path = `${temporaryFolder()}/misspelt`;
    const args = ['serve', '--port', '0', '--json', '--root', path];
    const refused = await callCli(args);
    expect(refused).toMatchObject({ code: EXIT.notFound, out: '' });
    expect(JSON.parse(refused.error).error.message).toMatch(/misspelt.*--create/);
    expect(existsSync(path)).toBe(false);
    let status = 0;
    const { code } = await callCli([...args, '--create'], {
      during: async (line) => {
        status = (await fetch(`${JSON.parse(line).url}/v1/tables`)).status;
      },
    });
    expect([code, status, existsSync(path)]).toEqual([0, 200, true]);
  });

  test('of a configuration', async () => {
    const folder = temporaryFolder();
    const file = `${folder}/server.json`;
    const args = ['serve', '--port', '0', '--json', '--config', file];
    writeFileSync(file, '{"root":"catalog"}');
    expect((await callCli(args)).code).toBe(EXIT.notFound);
    writeFileSync(file, '{"root":"catalog","create":true}');
    expect((await callCli(args, { during: async () => {} })).code).toBe(0);
  });
});

describe('gone before it was first used', () => {
  test.each([true, false])('is a 503, and is not made anew; readOnly %s', async (readOnly) => {
    for (const kind of ['root', 'databases', 'databasesRoot'] as const) {
      const folder = `${temporaryFolder()}/catalog`;
      mkdirSync(`${folder}/one`, { recursive: true });
      const path = kind === 'databasesRoot' ? folder : `${folder}/one`;
      const source = kind === 'databases' ? { databases: { one: path } } : { [kind]: path };
      const pair = await restPair({ ...source, readOnly });
      renameSync(folder, `${folder}.away`);
      expect([await tables(pair, 'one'), await ready(pair)], kind).toEqual(['503', 503]);
      expect([await tables(pair), existsSync(folder)], kind).toEqual(['503', false]);
      renameSync(`${folder}.away`, folder);
      expect([await tables(pair, 'one'), await ready(pair)], kind).toEqual(['200 ', 200]);
    }
  });

  test('or replaced by an empty folder, as where its disk is not mounted', async () => {
    const root = `${temporaryFolder()}/catalog`;
    mkdirSync(root);
    await namespaced(await restPair({ root }));
    const pair = await restPair({ root });
    renameSync(root, `${root}.away`);
    mkdirSync(root);
    expect([await tables(pair), readdirSync(root)]).toEqual(['503', []]);
    rmSync(root, { recursive: true });
    renameSync(`${root}.away`, root);
    expect(await tables(pair)).toBe('200 ');
  });
});

describe('a database in databasesRoot that is deleted while it is open', () => {
  async function opened(): Promise<{ pair: Pair; folder: string }> {
    const folder = `${temporaryFolder()}/all`;
    mkdirSync(`${folder}/one`, { recursive: true });
    mkdirSync(`${folder}/two`, { recursive: true });
    const pair = await restPair({ databasesRoot: folder });
    await namespaced(pair, 'one');
    await namespaced(pair, 'two');
    return { pair, folder };
  }

  test('is a 503 until it is made again, and then a new one', async () => {
    const { pair, folder } = await opened();
    rmSync(`${folder}/one`, { recursive: true });
    expect([await tables(pair, 'one'), await tables(pair, 'one')]).toEqual(['503', '503']);
    expect(await tables(pair, 'two')).toBe('200 ');
    expect(await tables(pair, 'three')).toBe('404');
    mkdirSync(`${folder}/one`);
    expect(await tables(pair, 'one')).toBe('200 ');
    await namespaced(pair, 'one');
  });

  test('also where nothing was asked of it in between', async () => {
    const { pair, folder } = await opened();
    rmSync(`${folder}/one`, { recursive: true });
    mkdirSync(`${folder}/one`);
    await vi.waitFor(async () => expect(await tables(pair, 'one')).toBe('200 '));
    await namespaced(pair, 'one');
  });

  test('and what comes back is what it was', async () => {
    const { pair, folder } = await opened();
    renameSync(`${folder}/one`, `${folder}/.away`);
    expect(await tables(pair, 'one')).toBe('503');
    renameSync(`${folder}/.away`, `${folder}/one`);
    const answer = await ask(
      pair,
      'POST',
      '/v1/namespace/n/exists',
      {},
      {
        'x-service-database': 'one',
      },
    );
    expect(answer.status).toBe(200);
  });
});

const mounts = ((): boolean => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const at = temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'dirspace-test', at], { stdio: 'ignore' });
    execFileSync('umount', [at], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!mounts)('a disk of its own', () => {
  const disk = (at: string): void => {
    mkdirSync(at, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=40', 'dirspace-test', at]);
    onTestFinished(() => {
      spawnSync('umount', ['-l', at]);
    });
  };

  test('/ready says so where it is full or read-only, and when it is not any more', async () => {
    const root = temporaryFolder();
    disk(root);
    const pair = await restPair({ root });
    await namespaced(pair);
    expect(await ready(pair)).toBe(200);
    expect(readdirSync(`${root}/.dirspace`).filter((name) => name.startsWith('clock-'))).toEqual(
      [],
    );
    let passed = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + passed);
    onTestFinished(() => void vi.restoreAllMocks());
    const later = (): void => {
      passed += 10_000;
    };
    expect(() => writeFileSync(`${root}/filler`, Buffer.alloc(2 ** 21))).toThrow(/ENOSPC/);
    later();
    expect(await ready(pair)).toBe(503);
    rmSync(`${root}/filler`);
    expect(await ready(pair)).toBe(200);
    later();
    // Room for bytes, and none for another name.
    mkdirSync(`${root}/fillers`);
    expect(() => {
      for (let at = 0; at < 100; at++) writeFileSync(`${root}/fillers/${at}`, '');
    }).toThrow(/ENOSPC/);
    expect(await ready(pair)).toBe(503);
    rmSync(`${root}/fillers`, { recursive: true });
    expect(await ready(pair)).toBe(200);
    execFileSync('mount', ['-o', 'remount,ro', root]);
    expect(await ready(pair)).toBe(503);
    const reader = await restPair({ root, readOnly: true });
    expect(await ready(reader)).toBe(200);
  });

  test('whose place is empty is no database that was made anew', async () => {
    const folder = temporaryFolder();
    const one = `${folder}/one`;
    disk(one);
    const pair = await restPair({ databasesRoot: folder });
    await namespaced(pair, 'one');
    execFileSync('umount', ['-l', one]);
    for (let times = 0; times < 3; times++) expect(await tables(pair, 'one')).toBe('503');
    expect(readdirSync(one)).toEqual([]);
    rmSync(one, { recursive: true });
    expect(await tables(pair, 'one')).toBe('503');
    mkdirSync(one);
    expect(await tables(pair, 'one')).toBe('200 ');
  });
});

test('a folder is lost from the moment that it is noted, before anything is known of it', async () => {
  const [around, folder] = [temporaryFolder(), temporaryFolder()];
  const lost = new LostFolders();
  const noting = lost.note('one', folder, around);
  // An empty folder is there, as where its disk is not mounted.
  expect(() => lost.checkFound('one', folder)).toThrow('gone');
  await noting;
  expect(() => lost.checkFound('one', folder)).toThrow('gone');
  const again = lost.note('one', folder, around);
  expect(() => lost.missing('one')).toThrow('gone');
  await again;
  lost.checkFound('one', folder);
});
