/** Deleting versions: what may be named, what stays, and every file that is written or removed. */
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeManifest } from '../../../src/format/catalog/manifest.ts';
import { deletedRunFile, versionFile } from '../../../src/paths.ts';
import {
  deleteVersions,
  keptVersions,
  planDeletion,
} from '../../../src/table/history/delete-versions.ts';
import { heldVersions, withHold } from '../../../src/table/history/holds.ts';
import { nextManifest } from '../../../src/table/versions/commit.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import { createTag, deleteTag } from '../../../src/table/versions/tags.ts';
import { visibleVersions } from '../../../src/table/versions/version-files.ts';
import {
  declared,
  draftOf,
  INCARNATION,
  land,
  ROOT,
  type TestEngine,
  testEngine,
} from '../../helpers/engines.ts';

let one: TestEngine;
let branch: TableBranch;

beforeEach(async () => {
  one = testEngine();
  branch = await declared(one);
});

const fill = async (count: number): Promise<void> => {
  for (let version = 0; version < count; version++) await land(one, branch, 'append');
};
const tag = (name: string, version: number, of = 'main') =>
  createTag(one.engine, branch.tableFolder, name, { table: INCARNATION, branch: of, version });
const range = (start_version: number, end_version: number) => ({ start_version, end_version });

/** Versions as numbers, tombstones as `first-last`, marks as `[first-last]`. */
function onDisk(): string {
  const folder = `${ROOT}/${branch.folder}`;
  const found: string[] = [];
  for (const name of (one.fs.readdirSync(folder) as string[]).sort()) {
    const numbers = (name.match(/[0-9]{20}/g) ?? []).map(Number);
    if (name.startsWith('deleted-')) {
      found.push(`[${numbers.join('-')}]`);
      expect(one.fs.readFileSync(`${folder}/${name}`, 'utf8')).toBe('{}\n');
    } else if (numbers.length === 1) {
      const text = one.fs.readFileSync(`${folder}/${name}`, 'utf8') as string;
      const through = /"deleted_through":([0-9]+)/.exec(text)?.[1];
      found.push(through === undefined ? `${numbers[0]}` : `${numbers[0]}-${through}`);
    }
  }
  return found.join(' ');
}

/** A version of a multi-table commit that was not decided: above the newest that readers see. */
async function prepare(): Promise<void> {
  const head = await resolveHead(one.engine, branch);
  const manifest = {
    ...nextManifest(one.engine, branch, draftOf('update'), head, 't'),
    batch: '0000abcd-0000',
  };
  const file = versionFile(branch.folder, manifest.version);
  await one.engine.store.putIfAbsent(file, encodeManifest(manifest).bytes);
}

describe('what may be named', () => {
  test.each([
    [[range(1, 2)], [1]],
    [[range(2, 4)], [2, 3]],
    [[range(0, 3)], [1, 2]],
    [
      [range(1, 2), range(3, 4)],
      [1, 3],
    ],
    [
      [range(1, 3), range(2, 4)],
      [1, 2, 3],
    ],
    [[range(3, 3)], []],
    [[range(0, 0)], []],
    [[range(7, 900)], []],
    [[range(0, -1)], [1, 2, 3, 4]],
    [[range(3, -1)], [3, 4]],
    [[range(5, -1)], []],
    [[range(7, -1)], []],
    [
      [range(4, -1), range(1, 2)],
      [1, 4],
    ],
    [[], []],
  ])('%j of five', async (ranges, expected) => {
    await fill(5);
    expect(await planDeletion(one.engine, branch, ranges)).toEqual(expected);
    expect(onDisk()).toBe('1 2 3 4 5');
  });

  test.each([
    [range(3, 2), 'from 3 to 2'],
    [range(-1, 2), 'from -1 to 2'],
    [range(0, -2), 'from 0 to -2'],
    [range(-3, -2), 'from -3 to -2'],
    [range(-5, -1), 'from -5 to -1'],
  ])('%j is refused', async (wrong, text) => {
    await fill(5);
    const plan = planDeletion(one.engine, branch, [range(1, 2), wrong]);
    await expect(plan).rejects.toMatchObject({
      code: 'InvalidInput',
      message: `The range ${text} runs backwards or begins below 0. Give a start_version of 0 or more, and an end_version, which is exclusive, that is no less; -1 means all from start_version on save the newest.`,
    });
  });

  test('a range that names the newest is refused, beside an open one too', async () => {
    await fill(3);
    for (const ranges of [[range(3, 4)], [range(0, -1), range(3, 4)]]) {
      await expect(planDeletion(one.engine, branch, ranges)).rejects.toMatchObject({
        code: 'InvalidTableState',
        message:
          'Version 3 cannot be deleted: it is the newest, which a table always keeps. No version was deleted. End the range at 3, which is exclusive, or at -1, to delete the older ones.',
        details: { version: 3 },
      });
    }
    expect(onDisk()).toBe('1 2 3');
  });

  test('what a tag of this branch names stays', async () => {
    await fill(4);
    await tag('launch', 2);
    await tag('elsewhere', 1, 'draft');
    await expect(planDeletion(one.engine, branch, [range(1, 4)])).rejects.toMatchObject({
      code: 'InvalidTableState',
      message:
        'Version 2 cannot be deleted: the tag launch names it. No version was deleted. Delete the tag first, or leave the version out.',
      details: { version: 2 },
    });
    expect(await planDeletion(one.engine, branch, [range(1, 2), range(3, 4)])).toEqual([1, 3]);
    expect([...(await keptVersions(one.engine, branch))]).toEqual([
      [4, 'it is the newest, which a table always keeps'],
      [2, 'the tag launch names it'],
    ]);
    await deleteTag(one.engine, branch.tableFolder, branch.incarnation, 'launch');
    expect(await planDeletion(one.engine, branch, [range(1, 4)])).toEqual([1, 2, 3]);
  });

  test('versions of an undecided multi-table commit stay, and so does what they build on', async () => {
    expect([...(await keptVersions(one.engine, branch))]).toEqual([]);
    await fill(2);
    await prepare();
    await prepare();
    expect([...(await keptVersions(one.engine, branch)).keys()]).toEqual([2, 3, 4]);
    expect(await planDeletion(one.engine, branch, [range(1, 2)])).toEqual([1]);
    await expect(planDeletion(one.engine, branch, [range(1, 4)])).rejects.toMatchObject({
      details: { version: 2 },
    });
    expect(await planDeletion(one.engine, branch, [range(0, -1)])).toEqual([1]);
  });

  test('versions of an undecided multi-table commit stay also where no version is visible yet', async () => {
    await prepare();
    expect([...(await keptVersions(one.engine, branch)).keys()]).toEqual([1]);
    expect(await planDeletion(one.engine, branch, [range(0, -1)])).toEqual([]);
    await expect(planDeletion(one.engine, branch, [range(1, 2)])).rejects.toMatchObject({
      code: 'InvalidTableState',
      details: { version: 1 },
    });
  });
});

describe('a hold', () => {
  const held = () => keptVersions(one.engine, branch).then((kept) => kept.get(1));

  test('keeps its version while the work is done, and no longer', async () => {
    await fill(3);
    const done = await withHold(one.engine, branch, 1, async () => {
      expect(await heldVersions(one.engine, branch)).toEqual([1]);
      expect(await held()).toBe('it is being restored, tagged or branched from');
      await expect(planDeletion(one.engine, branch, [range(1, 3)])).rejects.toMatchObject({
        code: 'InvalidTableState',
        message:
          'Version 1 cannot be deleted: it is being restored, tagged or branched from. No version was deleted. Leave the version out, or try again later.',
      });
      expect(await deleteVersions(one.engine, branch, [1, 2])).toBe(1);
      return 'done';
    });
    expect(done).toBe('done');
    expect(onDisk()).toBe('1 2-2 3 [2-2]');
    expect(await heldVersions(one.engine, branch)).toEqual([]);
    expect(await held()).toBeUndefined();
  });

  test('that comes after the mark finds its version gone', async () => {
    await fill(3);
    await deleteVersions(one.engine, branch, [1]);
    const late = withHold(one.engine, branch, 1, async () => {
      throw new Error('worked on');
    });
    await expect(late).rejects.toMatchObject({
      code: 'TableVersionNotFound',
      message:
        'Version 1 of branch main was deleted at that very moment. List the versions to see what is there.',
      details: { version: 1, branch: 'main' },
    });
    expect(await heldVersions(one.engine, branch)).toEqual([]);
  });

  test('ends with its work, whose error passes; that of its own file does not', async () => {
    await fill(3);
    const failure = new Error('failed');
    const failed = withHold(one.engine, branch, 1, async () => {
      throw failure;
    });
    await expect(failed).rejects.toBe(failure);
    expect(await heldVersions(one.engine, branch)).toEqual([]);
    one.calls.delete = () => {
      throw new Error('no disk');
    };
    expect(await withHold(one.engine, branch, 1, async () => 7)).toBe(7);
    expect(await heldVersions(one.engine, branch)).toEqual([1]);
  });

  test('is none where there is no folder', async () => {
    expect(await heldVersions(one.engine, { ...branch, folder: 'data/none' })).toEqual([]);
  });
});

describe('what is left of them', () => {
  test.each([
    [[1], '1-1 2 3 4 5 6 7 8 [1-1]'],
    [[1, 2, 3], '1-3 4 5 6 7 8 [1-3]'],
    [[3, 2, 1], '1-3 4 5 6 7 8 [1-3]'],
    [[2, 4, 5, 7], '1 2-2 3 4-5 6 7-7 8 [2-2] [4-5] [7-7]'],
  ])('%j of eight', async (doomed, left) => {
    await fill(8);
    expect(await deleteVersions(one.engine, branch, doomed)).toBe(doomed.length);
    expect(onDisk()).toBe(left);
    const visible = [1, 2, 3, 4, 5, 6, 7, 8].filter((version) => !doomed.includes(version));
    expect(await visibleVersions(one.engine, branch)).toEqual(visible);
    expect((await resolveHead(one.engine, branch))?.slot).toBe(8);
  });

  test.each([
    // Joined with the run before, after, on both sides; or with none.
    [[2, 3], [4], '1 2-4 5 6 7 8 9 [2-4]'],
    [[4, 5], [3], '1 2 3-5 6 7 8 9 [3-5]'],
    [[2, 3, 5, 6], [4], '1 2-6 7 8 9 [2-6]'],
    [[2, 3], [5], '1 2-3 4 5-5 6 7 8 9 [2-3] [5-5]'],
    [[5], [2, 3], '1 2-3 4 5-5 6 7 8 9 [2-3] [5-5]'],
    [[2, 4, 6], [3, 5], '1 2-6 7 8 9 [2-6]'],
    [[2, 3, 7], [4], '1 2-4 5 6 7-7 8 9 [2-4] [7-7]'],
  ])('%j are deleted, then %j', async (first, then, left) => {
    await fill(9);
    await deleteVersions(one.engine, branch, first);
    expect(await deleteVersions(one.engine, branch, then)).toBe(then.length);
    expect(onDisk()).toBe(left);
    expect((await resolveHead(one.engine, branch))?.slot).toBe(9);
  });

  test('nothing to delete touches nothing', async () => {
    await fill(2);
    one.calls.list = () => {
      throw new Error('not asked for');
    };
    one.calls.syncFolders = async () => {
      throw new Error('not asked for');
    };
    expect(await deleteVersions(one.engine, branch, [])).toBe(0);
  });

  test('a folder that is gone is as one without earlier runs', async () => {
    await fill(2);
    const writes: string[] = [];
    one.calls.list = () => undefined;
    one.calls.put = async (_, file) => {
      writes.push(file);
    };
    expect(await deleteVersions(one.engine, branch, [1])).toBe(1);
    expect(writes).toEqual([versionFile(branch.folder, 1)]);
  });

  test('a run that is there already is repeated as it is', async () => {
    await fill(5);
    await deleteVersions(one.engine, branch, [2, 3]);
    const before = onDisk();
    // Killed after the tombstone: one of the run is still there.
    await one.engine.store.put(versionFile(branch.folder, 3), new Uint8Array(9));
    expect(await deleteVersions(one.engine, branch, [2, 3])).toBe(2);
    expect(onDisk()).toBe(before);
  });
});

describe('in this order', () => {
  test('marks, tags, the tombstone, the others from low to high, then the names', async () => {
    await fill(8);
    await deleteVersions(one.engine, branch, [2, 7]);
    const steps: string[] = [];
    const name = (path: string): string =>
      path
        .slice(path.lastIndexOf('/') + 1)
        .replace(/0{10,}/g, '')
        .replace('.json', '');
    one.calls.putIfAbsent = (run, file, bytes) => {
      steps.push(`mark ${name(file)}`);
      return run(file, bytes);
    };
    one.calls.put = (run, file, bytes) => {
      steps.push(`put ${name(file)}`);
      return run(file, bytes);
    };
    one.calls.delete = (run, file) => {
      steps.push(`delete ${name(file)}`);
      return run(file);
    };
    one.calls.list = (run, folder) => {
      steps.push(`list ${name(folder)}`);
      return run(folder);
    };
    one.calls.syncFolders = (run, folders) => {
      steps.push(`sync ${folders.map(name).join()}`);
      return run(folders);
    };
    await deleteVersions(one.engine, branch, [3, 4, 5]);
    const folder = `versions-${INCARNATION}`;
    expect(steps).toEqual([
      `list ${folder}`,
      'mark deleted-2-5',
      `list ${folder}`,
      'list tags',
      'put 2',
      'delete 3',
      'delete 4',
      'delete 5',
      'delete deleted-2-2',
      `sync ${folder}`,
    ]);
  });

  test('what gets a tag meanwhile stays, and no mark hides it', async () => {
    await fill(6);
    await deleteVersions(one.engine, branch, [2]);
    let tagged = false;
    one.calls.putIfAbsent = async (run, file, bytes) => {
      const done = await run(file, bytes);
      if (!tagged && file.includes('deleted-')) {
        tagged = true;
        await tag('launch', 4);
        await tag('elsewhere', 3, 'draft');
      }
      return done;
    };
    expect(await deleteVersions(one.engine, branch, [3, 4, 5])).toBe(2);
    expect(onDisk()).toBe('1 2-3 4 5-5 6 [2-3] [5-5]');
    expect(await visibleVersions(one.engine, branch)).toEqual([1, 4, 6]);
  });

  test('a mark that somebody takes back for a tag is not joined', async () => {
    await fill(6);
    // Marked by another, who has not yet seen the tag.
    const other = deletedRunFile(branch.folder, 3, 4);
    await one.engine.store.putIfAbsent(other, Buffer.from('{}\n'));
    await tag('launch', 4);
    expect(await deleteVersions(one.engine, branch, [1, 2])).toBe(2);
    expect(onDisk()).toBe('1-2 3 4 5 6 [1-2] [3-4]');
    await one.engine.store.delete(other);
    expect(await visibleVersions(one.engine, branch)).toEqual([3, 4, 5, 6]);
  });

  test('a mark that was taken back before it was made again hides nothing', async () => {
    await fill(6);
    const other = deletedRunFile(branch.folder, 1, 2);
    await one.engine.store.putIfAbsent(other, Buffer.from('{}\n'));
    one.calls.putIfAbsent = async (run, file, bytes) => {
      one.calls.putIfAbsent = undefined;
      // Its maker has seen the tag.
      await tag('launch', 2);
      await one.engine.store.delete(other);
      return run(file, bytes);
    };
    expect(await deleteVersions(one.engine, branch, [1])).toBe(1);
    expect(onDisk()).toBe('1-1 2 3 4 5 6 [1-1]');
    expect(await visibleVersions(one.engine, branch)).toEqual([2, 3, 4, 5, 6]);
  });

  test('a mark whose maker died before it saw the tag hides nothing that is tagged', async () => {
    await fill(6);
    await deleteVersions(one.engine, branch, [1]);
    await tag('launch', 3);
    await tag('elsewhere', 4, 'draft');
    await tag('gone', 1);
    const mark = deletedRunFile(branch.folder, 1, 4);
    await one.engine.store.putIfAbsent(mark, Buffer.from('{}\n'));
    expect(await visibleVersions(one.engine, branch)).toEqual([3, 5, 6]);
    expect(await withHold(one.engine, branch, 3, async () => 'held')).toBe('held');
  });

  test('all got tags meanwhile: nothing is deleted, and earlier marks stay', async () => {
    await fill(4);
    await deleteVersions(one.engine, branch, [2]);
    const before = onDisk();
    await tag('launch', 3);
    expect(await deleteVersions(one.engine, branch, [3])).toBe(0);
    expect(onDisk()).toBe(before);
    // A mark that was there before is not taken away with ours.
    await tag('old', 2);
    expect(await deleteVersions(one.engine, branch, [2])).toBe(0);
    expect(onDisk()).toBe(before);
    expect(one.fs.existsSync(`${ROOT}/${deletedRunFile(branch.folder, 2, 2)}`)).toBe(true);
  });
});
