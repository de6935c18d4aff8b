/** The compile cache of the command line: its folder, who may own it, and that none is no error. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  type CacheSurroundings,
  compileCacheFolders,
  useCompileCache,
} from '../../src/cli/compile-cache.ts';
import { VERSION } from '../../src/version.ts';
import { compiledModule } from '../helpers/compiled.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const user = process.geteuid?.();

/** A run of `useCompileCache` in a home of its own, and the folders that Node was given. */
function attempt(changes: Partial<CacheSurroundings> = {}, home = temporaryFolder()) {
  const given: string[] = [];
  useCompileCache({
    platform: 'linux',
    env: {},
    home: () => home,
    user,
    enable: (folder) => given.push(folder),
    ...changes,
  });
  return { home, given };
}

const modeOf = (folder: string): number => statSync(folder).mode & 0o777;

describe('the folder', () => {
  test.each([
    ['linux', {}, '/home/ann', ['/home/ann/.cache']],
    ['linux', { XDG_CACHE_HOME: '/caches' }, '/caches', []],
    ['linux', { XDG_CACHE_HOME: 'caches' }, '/home/ann', ['/home/ann/.cache']],
    ['linux', { XDG_CACHE_HOME: '' }, '/home/ann', ['/home/ann/.cache']],
    ['darwin', { XDG_CACHE_HOME: '/caches' }, '/home/ann', ['/home/ann/Library/Caches']],
  ] as const)('on %s with %j', (platform, env, base, between) => {
    const own = `${between[0] ?? base}/dirspace`;
    expect(compileCacheFolders({ platform, env, home: () => '/home/ann' })).toEqual({
      base,
      folders: [...between, own, `${own}/compiled`],
    });
  });

  test.each([
    [{ LOCALAPPDATA: 'D:\\local' }, 'D:\\local'],
    [{}, 'C:\\Users\\ann\\AppData\\Local'],
  ])('on Windows with %j', (env, base) => {
    const place = { platform: 'win32', env, home: () => 'C:\\Users\\ann' } as const;
    const own = `${base}\\dirspace`;
    expect(compileCacheFolders(place)).toEqual({ base, folders: [own, `${own}\\compiled`] });
  });

  test.runIf(process.platform !== 'win32')('is made for the user alone', () => {
    const { home, given } = attempt();
    const own = join(home, '.cache', 'dirspace');
    expect(given).toEqual([join(own, 'compiled')]);
    for (const folder of [own, ...given]) expect(modeOf(folder)).toBe(0o700);
    expect(attempt({}, home).given).toEqual(given);
  });
});

describe('without a cache', () => {
  test('a Node that has none leaves the disk alone', () => {
    const { home } = attempt({ enable: undefined });
    expect(readdirSync(home)).toEqual([]);
  });

  test.each([
    { NODE_COMPILE_CACHE: '/elsewhere' },
    { NODE_DISABLE_COMPILE_CACHE: '1' },
    { NODE_DISABLE_COMPILE_CACHE: '' },
  ])('%j is obeyed', (env) => {
    const { home, given } = attempt({ env });
    expect(given).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });

  test('a home that is missing is not made', () => {
    const home = join(temporaryFolder(), 'none');
    expect(attempt({}, home).given).toEqual([]);
    expect(existsSync(home)).toBe(false);
  });

  test('a file in the way is no error', () => {
    const home = temporaryFolder();
    writeFileSync(join(home, '.cache'), '');
    expect(attempt({}, home).given).toEqual([]);
  });

  test('a user without a home is no error', () => {
    const home = (): string => {
      throw new Error('ENOENT');
    };
    expect(attempt({ home }).given).toEqual([]);
  });

  test('a Node that refuses the folder is no error', () => {
    const enable = (): never => {
      throw new Error('no');
    };
    expect(() => attempt({ enable })).not.toThrow();
  });
});

describe.runIf(user !== undefined)('code is not loaded from', () => {
  test('the home of another user, in which nothing is made', () => {
    const { home, given } = attempt({ user: (user as number) + 1 });
    expect(given).toEqual([]);
    expect(readdirSync(home)).toEqual([]);
  });

  const FOLDERS = ['.', '.cache', '.cache/dirspace', '.cache/dirspace/compiled'];
  test.each(FOLDERS.flatMap((folder) => [[folder, 0o720] as const, [folder, 0o702] as const]))(
    '%s where others can write to it (%i)',
    (folder, mode) => {
      const home = temporaryFolder();
      mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
      chmodSync(join(home, folder), mode);
      expect(attempt({}, home).given).toEqual([]);
    },
  );
});

describe('a process', () => {
  const main = fileURLToPath(compiledModule('cli/main.js'));
  const version = (env: NodeJS.ProcessEnv): string =>
    execFileSync(process.execPath, [main, '--version'], { env, encoding: 'utf8' }).trim();
  const { NODE_DISABLE_COMPILE_CACHE: _, NODE_COMPILE_CACHE: _named, ...own } = process.env;
  const env = (home: string): NodeJS.ProcessEnv => {
    const { XDG_CACHE_HOME: _, ...others } = own;
    return { ...others, HOME: home, LOCALAPPDATA: home };
  };
  const hasCache = 'enableCompileCache' in nodeModule;
  const kept = (home: string): string[] =>
    readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((file) =>
      statSync(join(home, file)).isFile(),
    );

  test('keeps the program in its home where Node can, and runs from there', () => {
    const home = temporaryFolder();
    expect(version(env(home))).toBe(VERSION);
    const files = kept(home);
    // The program, of several files, and not the start file alone.
    if (hasCache) expect(files.length).toBeGreaterThan(5);
    else expect(readdirSync(home)).toEqual([]);
    expect(version(env(home))).toBe(VERSION);
    expect(kept(home)).toEqual(files);
  });

  test('runs where its home is a file, and where the cache is forbidden', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    expect(version(env(file))).toBe(VERSION);
    const home = temporaryFolder();
    expect(version({ ...env(home), NODE_DISABLE_COMPILE_CACHE: '1' })).toBe(VERSION);
    expect(readdirSync(home)).toEqual([]);
  });

  test.runIf(user !== undefined)('keeps nothing in a home that others can write to', () => {
    const home = temporaryFolder();
    chmodSync(home, 0o777);
    expect(version(env(home))).toBe(VERSION);
    expect(readdirSync(home)).toEqual([]);
  });

  test('has switched the cache on before the program is read', () => {
    const imported = [
      ...readFileSync(main, 'utf8').matchAll(/(?:^|;)import\b[^;()]*?["']([^"']+)["'];/gm),
    ];
    const names = imported.map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !name.startsWith('node:'))).toEqual([]);
  });
});
