/** Which table, branch and version a request means, and what is told where there is none. */
import { describe, expect, test } from 'vitest';
import {
  describedTarget,
  failureWithin,
  type NamedVersion,
  resolveTarget,
  snapshotToRead,
  targetToRead,
} from '../../src/directory/catalog/target.ts';
import { versionFile } from '../../src/paths.ts';
import { createBranch, findBranch } from '../../src/table/versions/branches.ts';
import { emptyTable } from '../../src/table/versions/incarnation.ts';
import { createTag } from '../../src/table/versions/tags.ts';
import { declared, INCARNATION, land, ROOT, testEngine } from '../helpers/engines.ts';

const id = ['t'];
const FOLDER = 'data/t.table';

/** Three versions of main, two of `side` after version 2, tags on both, and a declared table `d`. */
async function catalogOf() {
  const one = testEngine();
  const { engine, catalog } = one;
  const main = await declared(one);
  await land(one, main, 'create');
  const { snapshot: second } = await land(one, main);
  await land(one, main);
  await engine.store.createFolder('.dirspace/staging');
  await createBranch(engine, 'side', second);
  const side = await findBranch(engine, FOLDER, INCARNATION, 'side');
  if (side === undefined) throw new Error('the branch is missing');
  await land(one, side);
  await createTag(engine, FOLDER, 'first', { table: INCARNATION, branch: 'main', version: 1 });
  await createTag(engine, FOLDER, 'aside', { table: INCARNATION, branch: 'side', version: 3 });
  await createTag(engine, FOLDER, 'lost', { table: INCARNATION, branch: 'main', version: 9 });
  await declared(one, 'data/d.table', '33333333-4444');
  return { one, catalog, main, side };
}

/** Moves the table away at the first look at something inside it. */
function leavesMeanwhile({ calls, fs }: ReturnType<typeof testEngine>): void {
  const leave = (path: string): void => {
    if (!path.startsWith(`${FOLDER}/`) || path.endsWith('.table.json')) return;
    calls.get = calls.head = calls.enter = undefined;
    fs.renameSync(`${ROOT}/${FOLDER}`, `${ROOT}/data/away.table`);
  };
  calls.get = (run, path, ...more) => {
    leave(path);
    return run(path, ...more);
  };
  calls.head = (run, path) => {
    leave(path);
    return run(path);
  };
  calls.enter = (run, path) => {
    leave(path);
    return run(path);
  };
}

const named: [NamedVersion, string, number | undefined][] = [
  [{}, 'main', 3],
  [{ branch: 'main' }, 'main', 3],
  [{ branch: 'side' }, 'side', 3],
  [{ version: 2 }, 'main', 2],
  [{ branch: 'side', version: 2 }, 'side', 2],
  [{ tag: 'first' }, 'main', 1],
  [{ tag: 'aside' }, 'side', 3],
];

describe.each([
  ['read anew', resolveTarget],
  ['to be read', targetToRead],
] as const)('a target %s', (_, resolve) => {
  test.each(named)('named by %o is version %3$s of %2$s', async (request, branch, version) => {
    const { catalog } = await catalogOf();
    const isNamed = request.version !== undefined || request.tag !== undefined;
    for (let time = 0; time < 3; time++) {
      const found = await resolve(catalog, { id, ...request }, 'version');
      expect(found).toMatchObject({ table: { id, folder: FOLDER, record: { id: INCARNATION } } });
      expect([found.branch.branch, found.snapshot?.version]).toEqual([branch, version]);
      const only = await resolve(catalog, { id, ...request }, 'named');
      expect(only.snapshot?.version).toBe(isNamed ? version : undefined);
      const writes = await resolve(catalog, { id, ...request }, 'branch');
      expect([writes.branch.branch, writes.snapshot]).toEqual([branch, undefined]);
    }
  });

  test.each<[NamedVersion, string]>([
    [{ id: undefined }, 'InvalidInput'],
    [{ id: ['x'] }, 'TableNotFound'],
    [{ incarnation: '22222222-3333' }, 'TableNotFound'],
    [{ branch: 'x' }, 'TableBranchNotFound'],
    [{ tag: 'x' }, 'TableTagNotFound'],
    [{ tag: 'lost' }, 'TableVersionNotFound'],
    [{ version: 4 }, 'TableVersionNotFound'],
    [{ version: 0 }, 'TableVersionNotFound'],
    [{ version: 1.5 }, 'InvalidInput'],
    [{ branch: 'side', version: 1 }, 'TableVersionNotFound'],
    [{ tag: 'first', version: 1 }, 'InvalidInput'],
    [{ tag: 'first', branch: 'main' }, 'InvalidInput'],
    // Whatever the table: it is wrong by itself.
    [{ id: ['x'], tag: 'first', version: 1 }, 'InvalidInput'],
  ])('named by %o is refused with %s', async (request, code) => {
    const { catalog } = await catalogOf();
    await expect(resolve(catalog, { id, ...request }, 'version')).rejects.toMatchObject({ code });
  });

  test('of a table that is only declared has no version', async () => {
    const { catalog } = await catalogOf();
    const found = await resolve(catalog, { id: ['d'] }, 'version');
    expect([found.branch.branch, found.snapshot]).toEqual(['main', undefined]);
  });

  test.each<NamedVersion>([{ branch: 'x' }, { tag: 'x' }, { version: 9 }, { branch: 'side' }])(
    'that is missed, %o, as its table leaves: the table is what is missing',
    async (request) => {
      const { one, catalog } = await catalogOf();
      await resolve(catalog, { id }, 'branch');
      leavesMeanwhile(one);
      await expect(resolve(catalog, { id, ...request }, 'version')).rejects.toMatchObject({
        code: 'TableNotFound',
      });
    },
  );
});

describe('the version that a read is for', () => {
  test.each(named)('named by %o is version %3$s of %2$s', async (request, branch, version) => {
    const { catalog } = await catalogOf();
    for (let time = 0; time < 3; time++) {
      const found = await snapshotToRead(catalog, { id, ...request });
      expect([found.branch.branch, found.version]).toEqual([branch, version]);
    }
  });

  test('is that of the incarnation asked for, also where the newest is known', async () => {
    const { catalog } = await catalogOf();
    await snapshotToRead(catalog, { id });
    expect(await snapshotToRead(catalog, { id, incarnation: INCARNATION })).toMatchObject({
      version: 3,
    });
    const other = async () => snapshotToRead(catalog, { id, incarnation: '22222222-3333' });
    await expect(other()).rejects.toMatchObject({ code: 'TableNotFound' });
  });

  test('takes no promise and three looks where nothing has changed', async () => {
    const { one, catalog } = await catalogOf();
    const looks: string[] = [];
    one.calls.head = (run, path) => {
      looks.push(path);
      return run(path);
    };
    const found = snapshotToRead(catalog, { id });
    expect(found).not.toBeInstanceOf(Promise);
    const [newest, next] = [3, 4].map((version) =>
      versionFile(`${FOLDER}/versions-${INCARNATION}`, version),
    );
    expect(looks).toEqual([next, newest, next]);
  });

  test('does not exist in a table that is only declared, and it is told why', async () => {
    const { one, catalog } = await catalogOf();
    const read = async () => snapshotToRead(catalog, { id: ['d'] });
    await expect(read()).rejects.toMatchObject({ code: 'InvalidTableState' });
    one.fs.mkdirSync(`${ROOT}/data/d.table/data`);
    one.fs.writeFileSync(`${ROOT}/data/d.table/data/x.lance`, 'x');
    await expect(read()).rejects.toThrow('Lance');
  });
});

describe('what a table is described by', () => {
  test.each(named)('named by %o', async (request, _, version) => {
    const { catalog } = await catalogOf();
    const found = await describedTarget(catalog, { id, ...request }, 'version');
    expect([found.snapshot?.version, found.newest?.version]).toEqual([version, 3]);
    expect(found.newest?.branch.branch).toBe('main');
  });

  test('a damaged newest version hides no older one that is named', async () => {
    const { one, catalog } = await catalogOf();
    const fresh = testEngine({ fs: one.fs, firstId: 100 });
    one.fs.writeFileSync(`${ROOT}/${versionFile(`${FOLDER}/versions-${INCARNATION}`, 3)}`, 'x');
    const found = await describedTarget(fresh.catalog, { id, version: 2 }, 'version');
    expect([found.snapshot?.version, found.newest?.version]).toEqual([2, 2]);
    const newest = describedTarget(fresh.catalog, { id }, 'version');
    await expect(newest).rejects.toMatchObject({ code: 'Corrupt' });
    void catalog;
  });

  test('a table that is only declared is described by its record', async () => {
    const { catalog } = await catalogOf();
    const found = await describedTarget(catalog, { id: ['d'] }, 'version');
    expect(found).toEqual({ table: found.table, snapshot: undefined, newest: undefined });
  });
});

describe('what an operation inside a table failed with', () => {
  const missing = Object.assign(new Error('gone'), { code: 'ENOENT' });

  test('is told as it is while the table is there', async () => {
    const { catalog } = await catalogOf();
    expect(await failureWithin(catalog, { id }, missing)).toBe(missing);
  });

  test('is told as a declared table for one without a version', async () => {
    const { catalog } = await catalogOf();
    expect(await failureWithin(catalog, { id: ['d'] }, emptyTable())).toMatchObject({
      code: 'InvalidTableState',
    });
  });

  test('is that the table is gone where a part of it is missed', async () => {
    const { one, catalog } = await catalogOf();
    const missed = await resolveTarget(catalog, { id, branch: 'x' }, 'branch').catch((e) => e);
    expect(missed).toMatchObject({ code: 'TableBranchNotFound' });
    expect(await failureWithin(catalog, { id }, missed)).toBe(missed);
    one.fs.renameSync(`${ROOT}/${FOLDER}`, `${ROOT}/data/away.table`);
    await expect(failureWithin(catalog, { id }, missed)).rejects.toMatchObject({
      code: 'TableNotFound',
    });
  });
});
