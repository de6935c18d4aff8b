/** The newest version as a handle finds it that remembers an older one. */
import { expect, test } from 'vitest';
import { encodeManifest } from '../../../src/format/catalog/manifest.ts';
import { encodeChecksummed, parseChecksummed } from '../../../src/json.ts';
import { latestFile, versionFile } from '../../../src/paths.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import { nextManifest } from '../../../src/table/versions/commit.ts';
import { type Head, resolveHead, snapshotAt } from '../../../src/table/versions/head.ts';
import { HeadCache } from '../../../src/table/versions/head-cache.ts';
import type { Snapshot } from '../../../src/table/versions/snapshot.ts';
import { declared, draftOf, land, ROOT, settled, testEngine } from '../../helpers/engines.ts';

async function remembering(versions: number) {
  const one = testEngine();
  const two = testEngine({ fs: one.fs, firstId: 1000 });
  const branch = await declared(one);
  for (let version = 1; version <= versions; version++) await land(one, branch, 'create');
  return { one, two, branch };
}

test.each([
  // The version remembered becomes the tombstone of a run, with nothing after it, or is inside one.
  [2, [2, 3], 4],
  [2, [2], 4],
  [2, [1, 2], 4],
  [3, [2, 3, 4], 5],
])('version %i is remembered, %j are deleted: the newest is %i', async (known, doomed, newest) => {
  for (const hint of [undefined, known, newest]) {
    const { one, two, branch } = await remembering(known);
    while ((await land(two, branch)).snapshot.version < newest);
    await deleteVersions(two.engine, branch, doomed);
    if (hint !== undefined) {
      const { bytes } = encodeChecksummed({ version: `${hint}`.padStart(20, '0') });
      one.fs.writeFileSync(`${ROOT}/${latestFile(branch.folder)}`, bytes);
    }
    const fresh = testEngine({ fs: one.fs, firstId: 2000 });
    for (const { engine } of [one, fresh]) {
      expect(await resolveHead(engine, branch)).toMatchObject({
        slot: newest,
        snapshot: { version: newest },
      });
    }
    await expect(snapshotAt(one.engine, branch, known)).rejects.toMatchObject({
      code: 'TableVersionNotFound',
    });
    expect((await land(one, branch)).snapshot.version).toBe(newest + 1);
  }
});

test('a version remembered that was deleted cannot be opened by its number', async () => {
  const { one, two, branch } = await remembering(2);
  await land(two, branch);
  await deleteVersions(two.engine, branch, [2]);
  await expect(snapshotAt(one.engine, branch, 2)).rejects.toMatchObject({
    code: 'TableVersionNotFound',
  });
});

test.each([
  // A writer has just used the number after its base, which was deleted or became a tombstone.
  [2, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], 3],
  [3, [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], 4],
])('version %i is remembered, %j are deleted, %i is freed: the newest counts', async (...named) => {
  const [known, doomed, freed] = named;
  const { one, two, branch } = await remembering(known);
  const base = (await resolveHead(one.engine, branch))?.snapshot as Snapshot;
  while ((await land(two, branch)).snapshot.version < 14);
  await deleteVersions(two.engine, branch, doomed);
  one.fs.rmSync(`${ROOT}/${latestFile(branch.folder)}`);
  const at = { slot: known, snapshot: base };
  const { bytes } = encodeManifest(
    nextManifest(one.engine, branch, draftOf('append'), at, 'another'),
  );
  expect(await two.engine.store.putIfAbsent(versionFile(branch.folder, freed), bytes)).toBe(true);
  expect(await resolveHead(one.engine, branch)).toMatchObject({ slot: 14 });
  expect((await land(one, branch)).snapshot.version).toBe(15);
});

test('a run deleted between two looks hides nothing newer', async () => {
  const { one, two, branch } = await remembering(2);
  await land(two, branch);
  await land(two, branch);
  let deleted = false;
  one.calls.head = async (run, file) => {
    if (!deleted) {
      deleted = true;
      const before = await run(file);
      await deleteVersions(two.engine, branch, [2, 3]);
      return before;
    }
    return run(file);
  };
  expect(await resolveHead(one.engine, branch)).toMatchObject({ slot: 4 });
});

test('every eighth version leaves a hint, where the others look first', async () => {
  const { one, branch } = await remembering(7);
  const path = `${ROOT}/${latestFile(branch.folder)}`;
  expect(one.fs.existsSync(path)).toBe(false);
  for (let version = 8; version <= 17; version++) await land(one, branch);
  const hint = one.fs.readFileSync(path) as Uint8Array;
  expect(parseChecksummed(hint, 'hint').document.version).toBe('16'.padStart(20, '0'));
  const fresh = testEngine({ fs: one.fs, firstId: 2000 });
  fresh.calls.list = () => {
    throw new Error('listed');
  };
  expect(await resolveHead(fresh.engine, branch)).toMatchObject({ slot: 17 });
});

test('a store that answers late, and with an error, does not end the process of a reader', async () => {
  const one = testEngine();
  const branch = await declared(one);
  await land(one, branch, 'create');
  const head = (await resolveHead(one.engine, branch)) as Head;
  one.calls.head = async () => {
    throw new Error('too many open files');
  };
  const heads = new HeadCache(one.engine.store, 1e6);
  heads.keepHead(branch, head);
  void heads.noteMain(head);
  // A rejection that nobody hears of fails the test here.
  await settled();
  one.calls.head = undefined;
  expect(heads.unchangedMain(branch.tableFolder)).toBeUndefined();
  await heads.noteMain(head);
  expect(heads.unchangedMain(branch.tableFolder)).toBe(head.snapshot);
});

test('a version is not called removed because its table was away when it was looked for', async () => {
  const { one, branch } = await remembering(3);
  const { engine } = testEngine({ fs: one.fs, firstId: 3000 });
  const folder = `${ROOT}/${branch.tableFolder}`;
  const { store } = engine;
  const head = store.head.bind(store);
  const get = store.get.bind(store);
  let looks = 0;
  const hidden = async <T>(path: string, look: () => Promise<T>): Promise<T> => {
    if (!path.endsWith('00000000000000000002.json') || looks++ > 0) return look();
    one.fs.renameSync(folder, `${folder}.away`);
    try {
      return await look();
    } finally {
      one.fs.renameSync(`${folder}.away`, folder);
    }
  };
  store.head = ((path: string) => hidden(path, async () => head(path))) as never;
  store.get = ((path: string, ...rest: []) =>
    hidden(path, async () => get(path, ...rest))) as never;
  expect(await snapshotAt(engine, branch, 2)).toMatchObject({ version: 2 });
  expect(looks).toBeGreaterThan(1);
});
