/** Cleanup: what goes, what stays, and what is counted, each where it could go wrong. */
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeTombstone, type Manifest } from '../../../src/format/catalog/manifest.ts';
import {
  chunkFile,
  deletedRunFile,
  deletionFile,
  fragmentFile,
  fragmentsFolder,
  latestFile,
  stagedManifestFile,
  versionFile,
} from '../../../src/paths.ts';
import {
  type CleanupOptions,
  cleanup,
  DEFAULT_ORPHAN_GRACE,
} from '../../../src/table/history/cleanup.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import {
  createBranch,
  deleteBranch,
  type FoundBranch,
  findBranch,
} from '../../../src/table/versions/branches.ts';
import { EMPTY_FRAGMENTS, editFragments } from '../../../src/table/versions/fragment-list.ts';
import type { TableBranch } from '../../../src/table/versions/head.ts';
import { createTag } from '../../../src/table/versions/tags.ts';
import { listedVersions, visibleVersions } from '../../../src/table/versions/version-files.ts';
import {
  declared,
  draftOf,
  entry,
  INCARNATION,
  land,
  ROOT,
  type TestEngine,
  testEngine,
} from '../../helpers/engines.ts';

const TABLE = 'data/t.table';
/** What the file system's own clock says during a cleanup. */
const NOW = 5_000_000_000_000;
const DAY = 86_400_000;

type Fragment = Manifest['fragments'][number];

let one: TestEngine;
let main: TableBranch;
/** Ages of files in milliseconds; those not named are as old as the grace. */
let ages: Map<string, number>;

beforeEach(async () => {
  one = testEngine();
  await one.catalog.prepareRoot();
  main = await declared(one);
  ages = new Map();
  one.calls.head = async (run, file) => {
    const head = await run(file);
    if (head === undefined) return undefined;
    const isClock = file.startsWith('.dirspace/clock-');
    return { ...head, modified: isClock ? NOW : NOW - (ages.get(file) ?? DAY) };
  };
});

const report = (options: Partial<CleanupOptions> = {}) =>
  cleanup(one.engine, TABLE, INCARNATION, {
    olderThan: 365 * DAY,
    orphanGrace: DAY,
    dryRun: false,
    ...options,
  });
/** What went. */
const run = async (options: Partial<CleanupOptions> = {}) => {
  const { kept: _, ...gone } = await report(options);
  return gone;
};

const put = async (file: string, bytes: number): Promise<string> => {
  await one.engine.store.createFolder(file.slice(0, file.lastIndexOf('/')));
  await one.engine.store.put(file, new Uint8Array(bytes));
  return file;
};
const exists = (file: string): boolean => one.fs.existsSync(`${ROOT}/${file}`);

/** A version that holds these fragments; their files are made where they are missing. */
async function landWith(branch: TableBranch, fragments: readonly Fragment[]) {
  for (const { file, deletion } of fragments) {
    const files = [fragmentFile(TABLE, file)];
    if (deletion !== undefined) files.push(deletionFile(TABLE, deletion.file));
    for (const each of files) if (!exists(each)) await put(each, 100);
  }
  const list = await editFragments(one.engine, TABLE, EMPTY_FRAGMENTS, { added: fragments });
  const { snapshot } = await land(one, branch, draftOf('overwrite', { fragments: list }));
  return snapshot;
}

async function branchOf(name: string, from: Awaited<ReturnType<typeof landWith>>) {
  await createBranch(one.engine, name, from);
  return (await findBranch(one.engine, TABLE, INCARNATION, name)) as FoundBranch;
}

const clocks = (): string[] =>
  (one.fs.readdirSync(`${ROOT}/.dirspace`) as string[]).filter((name) => name.startsWith('clock'));

test('files stay for a week unless told otherwise', () => {
  expect(DEFAULT_ORPHAN_GRACE).toBe(7 * DAY);
});

describe('versions', () => {
  test('those as old as asked go, the younger and the newest stay', async () => {
    for (let version = 1; version <= 4; version++) {
      await land(one, main, 'append');
      one.clock.time += 100;
    }
    // Made 400, 300, 200 and 100 ms ago, and each superseded when the next was made.
    for (const dryRun of [true, false]) {
      expect(await run({ olderThan: 301, dryRun })).toEqual({ versions: 0, files: 0, bytes: 0 });
      expect(await run({ olderThan: 200, dryRun })).toEqual({ versions: 2, files: 0, bytes: 0 });
      expect(await visibleVersions(one.engine, main)).toEqual(dryRun ? [1, 2, 3, 4] : [3, 4]);
    }
    expect(await listedVersions(one.engine, main)).toEqual([1, 3, 4]);
    expect((await run({ olderThan: 0 })).versions).toBe(1);
    expect(await visibleVersions(one.engine, main)).toEqual([4]);
    expect((await run({ olderThan: 0 })).versions).toBe(0);
    expect(clocks()).toEqual([]);
  });

  test('those with tags stay, of any branch, with what they refer to', async () => {
    const first = await landWith(main, [entry(1)]);
    await landWith(main, [entry(2)]);
    await landWith(main, [entry(3)]);
    const draft = await branchOf('draft', first);
    await landWith(draft, [entry(4)]);
    await landWith(draft, [entry(5)]);
    const tag = (name: string, branch: string, version: number) =>
      createTag(one.engine, TABLE, name, { table: INCARNATION, branch, version });
    await tag('on-main', 'main', 2);
    await tag('on-draft', 'draft', 1);
    one.clock.time += 10;
    for (const dryRun of [true, false]) {
      const report = await run({ olderThan: 0, dryRun });
      expect(report).toEqual({ versions: 2, files: 1, bytes: 100 });
    }
    expect(await visibleVersions(one.engine, main)).toEqual([2, 3]);
    expect(await visibleVersions(one.engine, draft)).toEqual([1, 3]);
    const left = [1, 2, 3, 4, 5].filter((id) => exists(fragmentFile(TABLE, entry(id).file)));
    expect(left).toEqual([1, 2, 3, 5]);
  });

  test('what was the newest when it was looked at stays, whatever is committed then', async () => {
    for (let version = 1; version <= 3; version++) await land(one, main, 'append');
    one.clock.time += 10;
    one.calls.list = async (list, folder) => {
      const entries = await list(folder);
      if (folder !== main.folder) return entries;
      one.calls.list = undefined;
      await land(one, main, 'append');
      return entries;
    };
    expect((await run({ olderThan: 0 })).versions).toBe(2);
    expect(await visibleVersions(one.engine, main)).toEqual([3, 4]);
  });

  test('one that gets a tag while it is deleted stays, with its files', async () => {
    for (const id of [1, 2, 3]) await landWith(main, [entry(id)]);
    one.clock.time += 10;
    one.calls.putIfAbsent = async (create, file, bytes, after) => {
      if (!file.includes('/deleted-')) return create(file, bytes, after);
      one.calls.putIfAbsent = undefined;
      const done = await create(file, bytes, after);
      const record = { table: INCARNATION, branch: 'main', version: 2 };
      await createTag(one.engine, TABLE, 'launch', record);
      return done;
    };
    expect(await run({ olderThan: 0 })).toEqual({ versions: 1, files: 1, bytes: 100 });
    expect(await visibleVersions(one.engine, main)).toEqual([2, 3]);
    const left = [1, 2, 3].filter((id) => exists(fragmentFile(TABLE, entry(id).file)));
    expect(left).toEqual([2, 3]);
  });

  test('a tombstone whose mark was lost is no version, and hides none', async () => {
    for (let version = 1; version <= 3; version++) await land(one, main, 'append');
    await one.engine.store.put(versionFile(main.folder, 1), encodeTombstone({ deletedThrough: 1 }));
    one.clock.time += 10;
    expect(await run({ olderThan: 0 })).toEqual({ versions: 1, files: 0, bytes: 0 });
    expect(exists(deletedRunFile(main.folder, 2, 2))).toBe(true);
    expect(exists(versionFile(main.folder, 3))).toBe(true);
  });
});

describe('files', () => {
  test('what no version refers to goes, from every folder, with its bytes counted', async () => {
    const deletion = { file: '22222222', rows: 3, bytes: 100, checksum: 5 };
    await landWith(main, [entry(1), entry(2, { deletion })]);
    const used = [
      ...[1, 2].map((id) => fragmentFile(TABLE, entry(id).file)),
      deletionFile(TABLE, '22222222'),
      versionFile(main.folder, 1),
      await put(latestFile(main.folder), 64),
    ];
    const orphans = [
      await put(fragmentFile(TABLE, '33333333'), 1),
      // Under the name of something used, elsewhere.
      await put(fragmentFile(TABLE, '22222222'), 2),
      await put(deletionFile(TABLE, entry(1).file), 4),
      await put(chunkFile(TABLE, '33333333'), 8),
      await put(`${TABLE}/chunks/.tmp-33333333-4444-5555-6666-777777777777`, 64),
      await put(`${main.folder}/.tmp-33333333`, 16),
      await put(stagedManifestFile(main.folder, 'abc'), 32),
    ];
    const others = [
      await put(`${TABLE}/data/folder/33333333.arrow`, 64),
      await put(`${main.folder}/notes.txt`, 64),
      await put(`${TABLE}/notes.txt`, 64),
      // What others keep at the place of a table.
      await put(`${TABLE}/data/33333333.lance`, 64),
      await put(`${TABLE}/data/.tmp-part1`, 64),
      await put(`${TABLE}/data/33333333.json`, 64),
      await put(`${TABLE}/chunks/33333333.arrow`, 64),
    ];
    const report = { versions: 0, files: 7, bytes: 127 };
    expect(await run({ dryRun: true })).toEqual(report);
    expect([...used, ...orphans, ...others].filter((file) => !exists(file))).toEqual([]);
    expect(await run()).toEqual(report);
    expect(orphans.filter(exists)).toEqual([]);
    expect([...used, ...others].filter((file) => !exists(file))).toEqual([]);
    expect(await run()).toEqual({ versions: 0, files: 0, bytes: 0 });
  });

  test('those younger than the grace stay: they may belong to a write in progress', async () => {
    await landWith(main, [entry(1)]);
    const young = await put(fragmentFile(TABLE, '33333333'), 10);
    const old = await put(fragmentFile(TABLE, '44444444'), 20);
    ages.set(young, DAY - 1).set(old, DAY);
    expect(await run()).toEqual({ versions: 0, files: 1, bytes: 20 });
    expect([exists(young), exists(old)]).toEqual([true, false]);
    ages.set(young, 0);
    expect(await run({ orphanGrace: 0 })).toEqual({ versions: 0, files: 1, bytes: 10 });
  });

  test('age is told by the disk, and by our own clock where the disk has none', async () => {
    await landWith(main, [entry(1)]);
    const file = await put(fragmentFile(TABLE, '33333333'), 10);
    one.calls.putHint = () => {};
    one.clock.time = NOW - 1;
    expect((await run()).files).toBe(0);
    one.clock.time = NOW;
    expect((await run()).files).toBe(1);
    expect(exists(file)).toBe(false);
  });

  test('fragments listed in chunks stay, and so do the chunks', async () => {
    const many = Array.from({ length: 40 }, (_, id) => entry(id));
    const snapshot = await landWith(main, many);
    expect(snapshot.manifest.chunks).toHaveLength(1);
    expect(snapshot.manifest.fragments).toHaveLength(0);
    await put(fragmentFile(TABLE, '33333333'), 10);
    // As a process that did not write them sees it.
    one = testEngine({ fs: one.fs });
    expect(await run({ orphanGrace: -(10 ** 15) })).toEqual({ versions: 0, files: 1, bytes: 10 });
    for (const { file } of many) expect(exists(fragmentFile(TABLE, file))).toBe(true);
    expect(exists(chunkFile(TABLE, snapshot.manifest.chunks[0]?.file ?? ''))).toBe(true);
  });

  test('of a chunk that versions share every entry counts once and for all', async () => {
    const many = Array.from({ length: 40 }, (_, id) => entry(id));
    const first = await landWith(main, many);
    const list = {
      chunks: first.manifest.chunks,
      tail: [entry(50)],
      totals: first.manifest.totals,
    };
    await put(fragmentFile(TABLE, entry(50).file), 100);
    const totals = { ...list.totals, fragments: 41 };
    await land(one, main, draftOf('append', { fragments: { ...list, totals } }));
    await put(fragmentFile(TABLE, '33333333'), 10);
    let reads = 0;
    one.calls.get = (get, file) => {
      if (file.includes('/chunks/')) reads += 1;
      return get(file);
    };
    const other = testEngine({ fs: one.fs });
    one = { ...one, engine: { ...other.engine, store: one.engine.store } };
    one.engine.cache.set = () => {};
    expect(await run()).toEqual({ versions: 0, files: 1, bytes: 10 });
    expect(reads).toBe(1);
    expect(exists(fragmentFile(TABLE, entry(50).file))).toBe(true);
  });

  test('what only old versions used goes with them; a dry run counts it', async () => {
    await landWith(main, [entry(1)]);
    const shared = await landWith(main, [entry(2)]);
    const draft = await branchOf('draft', shared);
    await landWith(draft, [entry(3)]);
    await landWith(main, [entry(4)]);
    one.clock.time += 10;
    const report = { versions: 3, files: 2, bytes: 200 };
    expect(await run({ olderThan: 0, dryRun: true })).toEqual(report);
    expect(await run({ olderThan: 0 })).toEqual(report);
    const left = [1, 2, 3, 4].filter((id) => exists(fragmentFile(TABLE, entry(id).file)));
    expect(left).toEqual([3, 4]);
  });

  test('a branch keeps its files and loses what is left over beside its versions', async () => {
    const draft = await branchOf('draft', await landWith(main, [entry(1)]));
    await landWith(draft, [entry(2)]);
    const left = await put(`${draft.folder}/.tmp-33333333`, 7);
    expect(await run()).toEqual({ versions: 0, files: 1, bytes: 7 });
    expect(exists(left)).toBe(false);
    expect(exists(fragmentFile(TABLE, entry(2).file))).toBe(true);
  });

  test('what is committed while candidates are collected is used', async () => {
    const first = await landWith(main, [entry(1)]);
    const late = [2, 3].map((id) => fragmentFile(TABLE, entry(id).file));
    for (const file of late) await put(file, 100);
    one.calls.list = async (list, folder) => {
      const entries = await list(folder);
      if (folder !== `${TABLE}/chunks`) return entries;
      one.calls.list = undefined;
      await landWith(main, [entry(2)]);
      await landWith(await branchOf('draft', first), [entry(3)]);
      return entries;
    };
    expect(await run()).toEqual({ versions: 0, files: 0, bytes: 0 });
    expect(late.filter(exists)).toEqual(late);
  });

  test('what vanishes between the list and the look is not counted', async () => {
    await landWith(main, [entry(1)]);
    const gone = await put(fragmentFile(TABLE, '33333333'), 10);
    await put(fragmentFile(TABLE, '44444444'), 20);
    const aged = one.calls.head;
    one.calls.head = async (look, file) => {
      if (file === gone) await one.engine.store.delete(gone);
      return aged?.(look, file);
    };
    expect(await run()).toEqual({ versions: 0, files: 1, bytes: 20 });
  });

  test('without candidates nothing is read to tell what is used', async () => {
    const many = Array.from({ length: 40 }, (_, id) => entry(id));
    const { manifest } = await landWith(main, many);
    one.fs.rmSync(`${ROOT}/${TABLE}/data`, { recursive: true });
    await one.engine.store.delete(chunkFile(TABLE, manifest.chunks[0]?.file ?? ''));
    one = testEngine({ fs: one.fs });
    expect(await run()).toEqual({ versions: 0, files: 0, bytes: 0 });
  });

  test('a version that is listed and cannot be found costs nothing its files', async () => {
    await landWith(main, [entry(1)]);
    await landWith(main, [entry(2)]);
    const orphan = await put(fragmentFile(TABLE, '33333333'), 10);
    const first = versionFile(main.folder, 1);
    one.calls.get = (get, file) => (file === first ? undefined : get(file));
    await expect(run()).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: `${first} is listed and cannot be found, so it is not known which files it needs. No data file was removed; try again.`,
      details: { path: first },
    });
    expect(exists(orphan)).toBe(true);
    one.calls.get = undefined;
    expect((await run()).files).toBe(1);
    expect(exists(fragmentFile(TABLE, entry(1).file))).toBe(true);
  });

  test('a version that is deleted while its references are collected has none', async () => {
    for (const id of [1, 2, 3]) await landWith(main, [entry(id)]);
    const other = testEngine({ fs: one.fs }).engine;
    // The next looks are for what has expired, and for references, the newest version first.
    let looks = 0;
    one.calls.get = async (get, file) => {
      if (file === versionFile(main.folder, 2) && ++looks === 2)
        await deleteVersions(other, main, [1, 2]);
      return get(file);
    };
    expect(await run()).toEqual({ versions: 0, files: 2, bytes: 200 });
    expect([1, 2, 3].map((id) => exists(fragmentFile(TABLE, entry(id).file)))).toEqual([
      false,
      false,
      true,
    ]);
  });

  describe('of the newest version, which another cleanup left alone', () => {
    const other = () => testEngine({ fs: one.fs, firstId: 5000 });
    const left = () => [1, 2, 3].filter((id) => exists(fragmentFile(TABLE, entry(id).file)));

    /** Does it when the versions are listed and the newest of them is read for its files. */
    const beforeTheNewestIsRead = (work: () => Promise<unknown>): void => {
      let isListed = false;
      one.calls.list = (list, folder) => {
        isListed ||= folder === fragmentsFolder(TABLE);
        return list(folder);
      };
      one.calls.get = async (get, file) => {
        if (isListed && file === versionFile(main.folder, 3)) {
          one.calls.get = undefined;
          await work();
        }
        return get(file);
      };
    };

    beforeEach(async () => {
      for (const id of [1, 2, 3]) await landWith(main, [entry(id)]);
    });

    const goOn = async (): Promise<void> => {
      const two = other();
      const list = { ...EMPTY_FRAGMENTS, totals: { ...EMPTY_FRAGMENTS.totals, fragments: 1 } };
      await land(two, main, draftOf('overwrite', { fragments: { ...list, tail: [entry(3)] } }));
      await deleteVersions(two.engine, main, [1, 2, 3]);
    };

    test('stay, though no version that was listed is there any more', async () => {
      beforeTheNewestIsRead(goOn);
      expect(await run()).toEqual({ versions: 0, files: 2, bytes: 200 });
      expect(left()).toEqual([3]);
    });

    test('stay where the versions cannot be listed again', async () => {
      beforeTheNewestIsRead(async () => {
        await goOn();
        let lists = 0;
        one.calls.list = (list, folder) =>
          folder === main.folder && ++lists === 2 ? undefined : list(folder);
      });
      await expect(run()).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        details: { path: main.folder },
      });
      expect(left()).toEqual([1, 2, 3]);
    });
  });

  test('a version that is deleted together with its lists of fragments needs none', async () => {
    const many = Array.from({ length: 40 }, (_, id) => entry(100 + id));
    const { manifest } = await landWith(main, many);
    await landWith(main, [entry(1)]);
    const chunk = chunkFile(TABLE, manifest.chunks[0]?.file ?? '');
    const { fs, calls } = one;
    const doom = async (): Promise<void> => {
      const two = testEngine({ fs, firstId: 5000 });
      await deleteVersions(two.engine, main, [1]);
      await two.engine.store.delete(chunk);
    };
    for (const isDeleted of [false, true]) {
      const again = testEngine({ fs, firstId: 6000 });
      Object.assign(again.calls, calls);
      one = again;
      again.calls.get = async (get, file) => {
        if (file !== chunk) return get(file);
        if (isDeleted) await doom();
        return undefined;
      };
      if (isDeleted) expect((await run()).versions).toBe(0);
      else await expect(run()).rejects.toMatchObject({ code: 'Corrupt' });
      expect(exists(fragmentFile(TABLE, entry(1).file))).toBe(true);
    }
  });

  test('a version whose deletion was begun keeps its files until it is gone', async () => {
    for (const id of [1, 2, 3]) await landWith(main, [entry(id)]);
    const files = () => [1, 2, 3].map((id) => exists(fragmentFile(TABLE, entry(id).file)));
    one.calls.put = (put, file, bytes) => {
      if (file === versionFile(main.folder, 1)) throw new Error('no descriptors');
      return put(file, bytes);
    };
    await expect(deleteVersions(one.engine, main, [1, 2])).rejects.toThrow('no descriptors');
    expect(await visibleVersions(one.engine, main)).toEqual([3]);
    await expect(run()).rejects.toThrow('no descriptors');
    expect(files()).toEqual([true, true, true]);
    one.calls.put = undefined;
    for (const dryRun of [true, false])
      expect(await run({ dryRun })).toEqual({ versions: 2, files: 2, bytes: 200 });
    expect(files()).toEqual([false, false, true]);
    expect(await listedVersions(one.engine, main)).toEqual([1, 3]);
    expect((await run()).versions).toBe(0);
  });

  test('nor does a mark cost a version its files that a tag names by then', async () => {
    for (const id of [1, 2, 3]) await landWith(main, [entry(id)]);
    // Somebody marked it, and takes the mark back when the tag is seen.
    await one.engine.store.putIfAbsent(deletedRunFile(main.folder, 1, 2), Buffer.from('{}\n'));
    const record = { table: INCARNATION, branch: 'main', version: 2 };
    await createTag(one.engine, TABLE, 'launch', record);
    expect(await run()).toEqual({ versions: 1, files: 1, bytes: 100 });
    const left = [1, 2, 3].filter((id) => exists(fragmentFile(TABLE, entry(id).file)));
    expect(left).toEqual([2, 3]);
    expect(await listedVersions(one.engine, main)).toEqual([1, 2, 3]);
  });

  describe('of a branch', () => {
    let draft: FoundBranch;
    beforeEach(async () => {
      draft = await branchOf('draft', await landWith(main, [entry(1)]));
      await landWith(draft, [entry(2)]);
      await put(fragmentFile(TABLE, '33333333'), 10);
    });
    /** Runs when candidates were collected, before references are. */
    const afterCandidates = (then: () => unknown): void => {
      let last = '';
      one.calls.list = async (list, folder) => {
        const entries = await list(folder);
        // Candidates are in the folders of data first, and then beside the versions of each branch.
        if (folder === `${TABLE}/chunks`) last = draft.folder;
        if (folder !== last) return entries;
        one.calls.list = undefined;
        await then();
        return entries;
      };
    };

    test('whose folder is denied', async () => {
      afterCandidates(() => {
        one.calls.list = (list, folder) => (folder === draft.folder ? undefined : list(folder));
      });
      await expect(run()).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        details: { path: draft.folder },
      });
      expect(exists(fragmentFile(TABLE, '33333333'))).toBe(true);
    });

    test('that is deleted meanwhile', async () => {
      afterCandidates(() =>
        deleteBranch(testEngine({ fs: one.fs }).engine, TABLE, 'draft', draft.record.id),
      );
      expect(await run()).toEqual({ versions: 0, files: 2, bytes: 110 });
      expect(exists(fragmentFile(TABLE, entry(2).file))).toBe(false);
    });

    test('that is made of a version which is deleted before its branch is looked at', async () => {
      const from = await landWith(main, [entry(4)]);
      await landWith(main, [entry(5)]);
      const two = testEngine({ fs: one.fs, firstId: 1000 });
      afterCandidates(() => {
        // The branches are known by now, and none of their versions is.
        one.calls.list = async (list, folder) => {
          if (folder !== main.folder) return list(folder);
          one.calls.list = undefined;
          await createBranch(two.engine, 'late', from);
          await deleteVersions(two.engine, main, [from.version]);
          return list(folder);
        };
      });
      await run();
      expect(exists(fragmentFile(TABLE, entry(4).file))).toBe(true);
    });

    test('that is deleted while it is looked at', async () => {
      afterCandidates(() => {
        one.calls.list = async (list, folder) => {
          if (folder !== draft.folder) return list(folder);
          await deleteBranch(testEngine({ fs: one.fs }).engine, TABLE, 'draft', draft.record.id);
          return list(folder);
        };
      });
      expect(await run()).toEqual({ versions: 0, files: 2, bytes: 110 });
    });

    test('whose record is denied, and its folder is not: what it uses stays', async () => {
      afterCandidates(() => {
        one.calls.get = (get, file) => (file.endsWith('/branch.json') ? undefined : get(file));
      });
      expect(await run()).toEqual({ versions: 0, files: 1, bytes: 10 });
      expect(exists(fragmentFile(TABLE, entry(2).file))).toBe(true);
    });
  });

  test('damage to what tells which files are used ends it before anything is removed', async () => {
    await landWith(main, [entry(1)]);
    const orphan = await put(fragmentFile(TABLE, '33333333'), 10);
    const version = `${ROOT}/${versionFile(main.folder, 1)}`;
    await landWith(main, [entry(2)]);
    one.fs.writeFileSync(version, one.fs.readFileSync(version).subarray(1));
    await expect(run()).rejects.toMatchObject({ code: 'Corrupt' });
    expect(exists(orphan)).toBe(true);
  });
});

describe('what cannot be read', () => {
  const orphan = () => put(fragmentFile(TABLE, '33333333'), 1);
  const staged = stagedManifestFile('data/t.table/versions-x', 'abc').split('/').at(-1) as string;
  /** As a process that read nothing yet sees it, a while later. */
  const lookAnew = (later: number) => {
    const { time } = one.clock;
    one = testEngine({ fs: one.fs });
    one.clock.time = time + later;
  };
  const broken = (part: string) => {
    one.calls.get = (get, file) =>
      file.includes(part) ? Promise.reject(new Error('the disk is broken')) : get(file);
  };

  test('what a staged manifest refers to stays until it is old itself', async () => {
    await landWith(main, [entry(1)]);
    const bytes = one.fs.readFileSync(`${ROOT}/${versionFile(main.folder, 1)}`) as Uint8Array;
    const path = stagedManifestFile(main.folder, 'abc');
    await one.engine.store.put(path, new Uint8Array(bytes));
    ages.set(path, 0);
    await landWith(main, [entry(2)]);
    one.clock.time += 10 * DAY;
    expect(await run({ olderThan: DAY })).toMatchObject({ versions: 1, files: 0 });
    expect(exists(fragmentFile(TABLE, entry(1).file))).toBe(true);
  });

  test('a staged manifest that is gone, or is a tombstone, needs no file', async () => {
    await landWith(main, [entry(1)]);
    const file = await orphan();
    const path = stagedManifestFile(main.folder, 'abc');
    await one.engine.store.put(path, encodeTombstone({ deletedThrough: 3 }));
    ages.set(path, 0);
    expect(await run()).toMatchObject({ files: 1 });
    expect(exists(file)).toBe(false);
    await orphan();
    one.calls.get = (get, at) => (at === path ? Promise.resolve(undefined) : get(at));
    expect(await run()).toMatchObject({ files: 1 });
  });

  test('a disk that fails while staged manifests are read ends the cleanup, and nothing goes', async () => {
    await landWith(main, [entry(1)]);
    const file = await orphan();
    await put(stagedManifestFile(main.folder, 'abc'), 8);
    broken(staged);
    await expect(run()).rejects.toThrow('the disk is broken');
    expect(exists(file)).toBe(true);
  });

  test('a disk that fails while the files of an old version are read ends the cleanup', async () => {
    const many = Array.from({ length: 40 }, (_, at) => entry(at + 1));
    const first = await landWith(main, many);
    expect(first.manifest.chunks).toHaveLength(1);
    await landWith(main, [entry(99)]);
    lookAnew(10 * DAY);
    broken('/chunks/');
    await expect(run({ olderThan: DAY })).rejects.toThrow('the disk is broken');
    expect(await listedVersions(one.engine, main)).toHaveLength(2);
  });

  test('a damaged list of the files of an old version does not keep the version', async () => {
    const first = await landWith(
      main,
      Array.from({ length: 40 }, (_, at) => entry(at + 1)),
    );
    await landWith(main, [entry(99)]);
    lookAnew(10 * DAY);
    await put(chunkFile(TABLE, first.manifest.chunks[0]?.file ?? ''), 8);
    expect(await run({ olderThan: DAY })).toMatchObject({ versions: 1 });
  });

  test('a table that leaves meanwhile is not found', async () => {
    await landWith(main, [entry(1)]);
    await orphan();
    one.calls.list = (list, folder) => {
      if (folder !== TABLE) return list(folder);
      one.fs.rmSync(`${ROOT}/${TABLE}`, { recursive: true, force: true });
      return undefined;
    };
    await expect(run()).rejects.toMatchObject({ code: 'TableNotFound' });
  });

  test('a table whose folder cannot be listed is cleaned up another time', async () => {
    await landWith(main, [entry(1)]);
    const file = await orphan();
    one.calls.list = (list, folder) =>
      folder === TABLE ? Promise.resolve(undefined) : list(folder);
    await expect(run()).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(exists(file)).toBe(true);
  });
});
