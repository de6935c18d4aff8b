/** Operations that are interrupted at every call of the store by another that runs to its end. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../src/directory/directory-namespace.ts';
import { isDirspaceError } from '../src/errors.ts';
import { everyCall, InterruptedCatalog } from './helpers/interrupted.ts';
import { memoryFs } from './helpers/memory-fs.ts';
import { idsOf, people, range } from './helpers/people.ts';

const t = ['t'];
type Work = (catalog: DirectoryNamespace) => Promise<unknown>;

const code = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (isDirspaceError(error)) return error.code;
    throw error;
  }
};

/** Locks are advice: both catalogs are given file systems in which there are none. */
function lockless(fs: ReturnType<typeof memoryFs>) {
  const mkdir = (_: string, done: (error: Error) => void): void =>
    queueMicrotask(() => done(Object.assign(new Error('EACCES'), { code: 'EACCES' })));
  return Object.assign(Object.create(fs), { mkdir });
}

/** Runs `mine` with `theirs` before its first, second ... call, until it has no more of them. */
async function atEveryCall(
  prepare: Work,
  mine: Work,
  theirs: Work,
  look: (
    catalog: DirectoryNamespace,
    outcomes: readonly [string, string],
    where: string,
  ) => Promise<void>,
): Promise<number> {
  for (let at = 1; ; at++) {
    const fs = lockless(memoryFs());
    const options = { root: '/c', fs, durability: 'relaxed' } as const;
    const first = await openDirectoryNamespace(options);
    await prepare(first);
    const catalog = await InterruptedCatalog.open(options);
    let other = '';
    catalog.interrupt(everyCall(at), async () => {
      other = await code(theirs(first));
    });
    const own = await code(mine(catalog.namespace));
    if (!catalog.interrupted) return at;
    const where = `call ${at}: ${own}, ${other}`;
    const fresh = await openDirectoryNamespace(options);
    await look(fresh, [own, other], where);
    expect((await fresh.verify({})).problems, where).toEqual([]);
  }
}

const sixVersions: Work = async (catalog) => {
  await catalog.createTable({ id: t }, people(1));
  for (const row of range(1, 6)) await catalog.insertIntoTable({ id: t }, people(1, row));
};
const cleanup: Work = (catalog) =>
  catalog.cleanupTable({ id: t, older_than_millis: 0, orphan_grace_millis: 0 });

test('a commit while cleanup looks for old versions stays', async () => {
  const calls = await atEveryCall(
    sixVersions,
    cleanup,
    (catalog) => catalog.insertIntoTable({ id: t }, people(1, 6)),
    async (catalog, outcomes, where) => {
      expect(outcomes, where).toEqual(['ok', 'ok']);
      expect(await idsOf(catalog, t), where).toEqual(range(0, 7));
    },
  );
  expect(calls).toBeGreaterThan(40);
});

test('a commit that cleanup follows at once stays', async () => {
  const calls = await atEveryCall(
    sixVersions,
    (catalog) => catalog.insertIntoTable({ id: t }, people(1, 6)),
    (catalog) => catalog.cleanupTable({ id: t, older_than_millis: 0 }),
    async (catalog, [own, other], where) => {
      expect([own, other], where).toEqual(['ok', 'ok']);
      expect(await idsOf(catalog, t), where).toEqual(range(0, 7));
    },
  );
  expect(calls).toBeGreaterThan(15);
});

const overwriting: Work = async (catalog) => {
  await sixVersions(catalog);
  await catalog.insertIntoTable({ id: t, mode: 'overwrite' }, people(1, 90));
};

test('what is restored while cleanup runs is there, or the caller is told', async () => {
  const restore: Work = (catalog) => catalog.restoreTable({ id: t, version: 4 });
  const look =
    (restorer: 0 | 1) =>
    async (
      catalog: DirectoryNamespace,
      outcomes: readonly [string, string],
      where: string,
    ): Promise<void> => {
      expect(outcomes[1 - restorer], where).toBe('ok');
      const restored = outcomes[restorer];
      if (restored !== 'ok') expect(restored, where).toBe('TableVersionNotFound');
      const rows = restored === 'ok' ? range(0, 4) : [90];
      expect(await idsOf(catalog, t), where).toEqual(rows);
      await catalog.insertIntoTable({ id: t }, people(1, 100));
      expect(await idsOf(catalog, t), where).toEqual([...rows, 100]);
    };
  await atEveryCall(overwriting, restore, cleanup, look(0));
  await atEveryCall(overwriting, cleanup, restore, look(1));
});
