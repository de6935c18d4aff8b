/** Operations that are interrupted at every call of the store by another that runs to its end. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { systemEnv } from '../../../src/env.ts';
import { everyCall, InterruptedCatalog, publication } from '../../helpers/interrupted.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { outcomeOf } from '../../helpers/outcome.ts';
import { idsOf, people, range } from '../../helpers/people.ts';
import { grow, treeOf } from '../../helpers/trees.ts';

const t = ['t'];
type Work = (catalog: DirectoryNamespace) => Promise<unknown>;

/** Locks are advice: both catalogs are given file systems in which there are none. */
function lockless(fs: ReturnType<typeof memoryFs>) {
  const openSync = (path: string, flags: number, mode?: number): number => {
    if (path.includes('/locks/')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    return fs.openSync(path, flags, mode);
  };
  return Object.assign(Object.create(fs), { openSync });
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
  step = casesOf(5, 1),
): Promise<number> {
  const empty = memoryFs();
  await prepare(await openDirectoryNamespace({ root: '/c', fs: empty, durability: 'relaxed' }));
  const tree = treeOf(empty, '/c');
  for (let at = 1; ; at += step) {
    const fs = lockless(grow(tree, '/c'));
    const options = { root: '/c', fs, durability: 'relaxed' } as const;
    const first = await openDirectoryNamespace(options);
    const catalog = await InterruptedCatalog.open(options);
    let other = '';
    catalog.interrupt(everyCall(at), async () => {
      other = await outcomeOf(theirs(first));
    });
    const own = await outcomeOf(mine(catalog.namespace));
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

test('a commit whose base another cleanup deletes keeps its files from a slower cleanup', async () => {
  const calls = await atEveryCall(
    async (catalog) => {
      await sixVersions(catalog);
      await catalog.deleteFromTable({ id: t, predicate: 'id = 2' });
    },
    cleanup,
    async (catalog) => {
      await catalog.insertIntoTable({ id: t }, people(1, 6));
      await cleanup(catalog);
    },
    async (catalog, outcomes, where) => {
      expect(outcomes, where).toEqual(['ok', 'ok']);
      expect(await idsOf(catalog, t), where).toEqual([0, 1, 3, 4, 5, 6]);
    },
    casesOf(2, 1),
  );
  expect(calls).toBeGreaterThan(40);
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

test('a table that an aborted batch declared and somebody filled stays', async () => {
  const declare = (name: string) => ({ declare_table: { id: [name] } });
  for (let at = 1; ; at++) {
    const options = { root: '/c', fs: memoryFs(), durability: 'relaxed' } as const;
    const other = await openDirectoryNamespace(options);
    await other.createTable({ id: t }, people(1));
    const batch = await InterruptedCatalog.open(options);
    let moves = 0;
    let filled = 'not yet';
    // Takes the name that the batch is about to declare, and fills what it declared before.
    batch.interrupt(
      (call) => call === 'moveFolder' && ++moves === 2,
      async () => {
        await other.createTable({ id: ['y'] }, people(1));
        batch.interrupt(everyCall(at), async () => {
          filled = await outcomeOf(other.createTable({ id: ['x'] }, people(2)));
        });
      },
    );
    const operations = [declare('x'), declare('y')];
    const outcome = await outcomeOf(batch.namespace.batchCommitTables({ operations }));
    if (filled === 'not yet') {
      expect(at).toBeGreaterThan(8);
      break;
    }
    const where = `call ${at}: ${outcome}, ${filled}`;
    expect(outcome, where).toBe('TableAlreadyExists');
    const fresh = await openDirectoryNamespace(options);
    if (filled === 'ok') expect(await idsOf(fresh, ['x']), where).toEqual([0, 1]);
    else expect(filled, where).toBe('TableNotFound');
    expect((await fresh.verify({})).problems, where).toEqual([]);
  }
});

test('a branch that is tagged and replaced while it is deleted is not lost in silence', async () => {
  const options = { root: '/c', fs: lockless(memoryFs()), durability: 'relaxed' } as const;
  const other = await openDirectoryNamespace(options);
  await other.createTable({ id: t }, people(1));
  await other.createTableBranch({ id: t, name: 'b' });
  const deleting = await InterruptedCatalog.open(options);
  const isMove = (call: string): boolean => call === 'moveFolder';
  deleting.interrupt(isMove, async () => {
    await other.createTableTag({ id: t, tag: 'kept', version: 1, branch: 'b' });
    deleting.interrupt(isMove, () => other.createTableBranch({ id: t, name: 'b' }));
  });
  const outcome = deleting.namespace.deleteTableBranch({ id: t, name: 'b' });
  await expect(outcome).rejects.toMatchObject({
    code: 'ConcurrentModification',
    message: expect.stringMatching(/was moved aside .* Its files are in \S*trash/),
    details: { id: t, branch: 'b' },
  });
  const fresh = await openDirectoryNamespace(options);
  expect((await fresh.listTableBranches({ id: t })).branches).toHaveProperty('b');
});

test('what a crash left in staging is removed once it is old', async () => {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs });
  await catalog.createTable({ id: t }, people(1));
  const day = 24 * 3_600_000;
  const leave = (name: string, age: number): void => {
    const folder = `/c/.dirspace/staging/${name}`;
    fs.mkdirSync(`${folder}/data`, { recursive: true });
    fs.writeFileSync(`${folder}/.table.json`, 'x');
    fs.utimesSync(`${folder}/.table.json`, new Date(0), new Date(0));
    fs.writeFileSync(`${folder}/data/a.arrow`, 'x');
    const moment = new Date(Date.now() - age);
    fs.utimesSync(`${folder}/data/a.arrow`, moment, moment);
  };
  leave('00000000-old', 8 * day);
  leave('00000000-young', 6 * day);
  fs.mkdirSync('/c/.dirspace/staging/00000000-empty');
  await openDirectoryNamespace({ root: '/c', fs, readOnly: true });
  expect(fs.readdirSync('/c/.dirspace/staging')).toHaveLength(3);
  // A clock that is far ahead does not count.
  const env = { ...systemEnv, now: () => Date.now() + 30 * day };
  await openDirectoryNamespace({ root: '/c', fs, env });
  expect(fs.readdirSync('/c/.dirspace/staging')).toEqual(['00000000-empty', '00000000-young']);
});

test.each(['append', 'overwrite'] as const)(
  'the fragments of an aborted %s that met another writer are removed',
  async (mode) => {
    const options = { root: '/c', fs: memoryFs(), durability: 'relaxed' } as const;
    const other = await openDirectoryNamespace(options);
    await other.createTable({ id: t }, people(2));
    const catalog = await InterruptedCatalog.open(options);
    const stop = new AbortController();
    catalog.interrupt(publication, async () => {
      await other.insertIntoTable({ id: t }, people(1, 20));
      stop.abort(new Error('stopped'));
    });
    const { signal } = stop;
    const work = catalog.namespace.insertIntoTable({ id: t, mode }, people(1, 10), { signal });
    await expect(work).rejects.toThrow('stopped');
    const { problems, leftovers } = await other.verify({});
    expect([problems, leftovers]).toEqual([[], []]);
    expect(await idsOf(other, t)).toEqual([0, 1, 20]);
  },
);
