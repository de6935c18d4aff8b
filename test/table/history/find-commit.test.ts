/** The search for the version of a transaction: what the manifests say, at the cost of digests. */
import { expect, test } from 'vitest';
import { versionFile } from '../../../src/paths.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import {
  findKeyed,
  findTransaction,
  keyedTransaction,
} from '../../../src/table/history/find-commit.ts';
import { noteDigest } from '../../../src/table/history/version-digests.ts';
import { commit } from '../../../src/table/versions/commit.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import { visibleSnapshot, visibleVersions } from '../../../src/table/versions/version-files.ts';
import { declared, draftOf, ROOT, type TestEngine, testEngine } from '../../helpers/engines.ts';
import { seeded } from '../../helpers/seeded.ts';

function withDigests(one: TestEngine): TestEngine {
  Object.assign(one.engine, { follow: (snapshot: never) => noteDigest(one.engine, snapshot) });
  return one;
}

/** Another process on the same files. */
const other = (one: TestEngine, firstId: number) =>
  withDigests(testEngine({ fs: one.fs, firstId }));

const write = (one: TestEngine, branch: TableBranch, transaction?: string) =>
  commit(one.engine, branch, { build: async () => draftOf('append'), transaction });

/** The newest version whose manifest names the transaction, with a stamp or without. */
async function naive(
  { engine }: TestEngine,
  branch: TableBranch,
  wanted: string,
): Promise<number | undefined> {
  for (const version of (await visibleVersions(engine, branch)).reverse()) {
    const named = (await visibleSnapshot(engine, branch, version))?.manifest.transaction;
    if (named === wanted || named?.startsWith(`${wanted}-`) === true) return version;
  }
  return undefined;
}

/** Manifests that are read from now on. */
function countManifests(one: TestEngine): { count: number } {
  const reads = { count: 0 };
  one.calls.get = (run, path, ...more) => {
    if (/\/[0-9]{20}\.json$/.test(path)) reads.count += 1;
    return run(path, ...more);
  };
  return reads;
}

test.each([1, 2])(
  'a random history is searched as its manifests tell it (seed %i)',
  async (seed) => {
    const random = seeded(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const one = withDigests(testEngine());
    const branch = await declared(one);
    const processes = [one, other(one, 1e6), other(one, 2e6)];
    const keys = Array.from({ length: 12 }, (_, at) => keyedTransaction(branch, `key ${at}`));
    const ids: string[] = [];
    for (let step = 0; step < 90; step++) {
      const at = processes[below(3)] ?? one;
      const draw = random();
      const keyed = keys[below(keys.length)] ?? '';
      if (draw < 0.06 && step > 20) {
        const numbers = await visibleVersions(at.engine, branch);
        const first = below(numbers.length - 1);
        const newest = (await resolveHead(at.engine, branch))?.snapshot.version ?? 0;
        const run = numbers.slice(first, first + 1 + below(40)).filter((number) => number < newest);
        await deleteVersions(at.engine, branch, run);
      } else if (draw < 0.5) {
        const { transaction } = await write(at, branch);
        ids.push(transaction ?? '');
      } else await write(at, branch, draw < 0.75 ? keyed : `${keyed}-${step}`);
      const reader = processes[below(3)] ?? one;
      const found = await findKeyed(reader.engine, branch, keyed);
      expect(found?.version).toBe(await naive(reader, branch, keyed));
      const id = ids[below(ids.length)];
      if (id === undefined) continue;
      const exact = await findTransaction(reader.engine, branch, id);
      expect(exact?.version).toBe(await naive(reader, branch, id));
    }
  },
);

test('an id is found as it is alone: not by what its stamp follows', async () => {
  const one = withDigests(testEngine());
  const branch = await declared(one);
  const keyed = keyedTransaction(branch, 'k');
  await write(one, branch, `${keyed}-stamp`);
  expect(await findTransaction(one.engine, branch, keyed)).toBeUndefined();
  expect((await findTransaction(one.engine, branch, `${keyed}-stamp`))?.version).toBe(1);
  expect((await findKeyed(one.engine, branch, keyed))?.version).toBe(1);
});

test('a declared table has committed nothing', async () => {
  const one = testEngine();
  const branch = await declared(one);
  expect(await findKeyed(one.engine, branch, keyedTransaction(branch, 'k'))).toBeUndefined();
  expect(await findTransaction(one.engine, branch, 'x')).toBeUndefined();
});

test('each of many versions is found by its id', async () => {
  const one = withDigests(testEngine());
  const branch = await declared(one);
  for (let n = 1; n <= 600; n++) await write(one, branch, `t.${n}`);
  for (const version of [600, 345, 344, 343, 89, 88, 87, 1]) {
    const found = await findTransaction(one.engine, branch, `t.${version}`);
    expect(found?.version).toBe(version);
  }
});

test('each of many keyed commits costs no search of the versions before it', async () => {
  const one = withDigests(testEngine());
  const branch = await declared(one);
  for (let n = 0; n < 200; n++) await write(one, branch);
  const reader = other(one, 1e6);
  const reads = countManifests(reader);
  let lists = 0;
  reader.calls.list = (run, ...more) => {
    lists += 1;
    return run(...more);
  };
  expect(await findKeyed(reader.engine, branch, keyedTransaction(branch, '0'))).toBeUndefined();
  // The newest ones, which no file of digests has, and the head.
  expect(reads.count).toBeLessThan(20);
  [reads.count, lists] = [0, 0];
  for (let n = 1; n < 20; n++) {
    const keyed = keyedTransaction(branch, String(n));
    expect(await findKeyed(reader.engine, branch, keyed)).toBeUndefined();
    await write(reader, branch, keyed);
  }
  expect([reads.count, lists]).toEqual([0, 0]);
});

test.each([1, 2, 4])('a branch that went on otherwise is gathered anew (%i more)', async (more) => {
  const one = withDigests(testEngine());
  const branch = await declared(one);
  const [lost, kept] = [keyedTransaction(branch, 'lost'), keyedTransaction(branch, 'kept')];
  for (let n = 0; n < 5; n++) await write(one, branch);
  await write(one, branch, lost);
  expect((await findKeyed(one.engine, branch, lost))?.version).toBe(6);
  for (const version of [5, 6]) one.fs.rmSync(`${ROOT}/${versionFile(branch.folder, version)}`);
  one.fs.rmSync(`${ROOT}/${branch.folder}/latest.json`, { force: true });
  const older = testEngine({ fs: one.fs, firstId: 1e6 });
  await write(older, branch, kept);
  for (let n = 0; n < more; n++) await write(older, branch);
  expect((await findKeyed(one.engine, branch, kept))?.version).toBe(5);
  expect(await findKeyed(one.engine, branch, lost)).toBeUndefined();
});
