/** What lists say of versions: what the manifests say, whatever the files of digests hold. */
import { describe, expect, test } from 'vitest';
import { DirspaceError } from '../../../src/errors.ts';
import { encodeManifest } from '../../../src/format/catalog/manifest.ts';
import {
  decodeDigests,
  digestOf,
  encodeDigests,
  firstInFile,
  type VersionDigest,
} from '../../../src/format/catalog/version-digests.ts';
import { encodeChecksummed } from '../../../src/json.ts';
import { parseDigestsFile, versionFile } from '../../../src/paths.ts';
import { deleteVersions } from '../../../src/table/history/delete-versions.ts';
import {
  digestsOf,
  noteDigest,
  versionNumbers,
} from '../../../src/table/history/version-digests.ts';
import { nextManifest } from '../../../src/table/versions/commit.ts';
import { resolveHead, type TableBranch } from '../../../src/table/versions/head.ts';
import { decideMultiTable } from '../../../src/table/versions/multi-table-commit.ts';
import {
  isVisible,
  readVersion,
  visibleVersions,
} from '../../../src/table/versions/version-files.ts';
import {
  declared,
  draftOf,
  INCARNATION,
  land,
  ROOT,
  type TestEngine,
  testEngine,
} from '../../helpers/engines.ts';
import { seeded } from '../../helpers/seeded.ts';

const KINDS = ['append', 'delete', 'update', 'compact'] as const;

function withDigests(one: TestEngine): TestEngine {
  Object.assign(one.engine, { follow: (snapshot: never) => noteDigest(one.engine, snapshot) });
  return one;
}

/** Another process on the same files. */
const other = (one: TestEngine, firstId: number) =>
  withDigests(testEngine({ fs: one.fs, firstId }));

/** Each manifest read by itself. */
async function truth({ engine }: TestEngine, branch: TableBranch): Promise<VersionDigest[]> {
  const found: VersionDigest[] = [];
  for (const version of await visibleVersions(engine, branch)) {
    const document = await readVersion(engine, branch, version);
    if (document === undefined || !('manifest' in document)) continue;
    const { manifest, checksum, bytes } = document;
    if (await isVisible(engine, manifest)) found.push(digestOf(manifest, checksum, bytes));
  }
  return found;
}

const listed = async ({ engine }: TestEngine, branch: TableBranch) =>
  digestsOf(engine, branch, await versionNumbers(engine, branch));

const filesOf = ({ fs }: TestEngine, branch: TableBranch): string[] =>
  (fs.readdirSync(`${ROOT}/${branch.folder}`) as string[]).filter(
    (name) => parseDigestsFile(name) !== undefined,
  );

/** A version of a multi-table commit that nobody has decided. */
async function prepare(one: TestEngine, branch: TableBranch, id: string): Promise<void> {
  const head = await resolveHead(one.engine, branch);
  const manifest = {
    ...nextManifest(one.engine, branch, draftOf('update'), head, `x.${id}`),
    batch: id,
  };
  const file = versionFile(branch.folder, manifest.version);
  await one.engine.store.putIfAbsent(file, encodeManifest(manifest).bytes);
}

/** Reads of manifests. */
function countManifests(one: TestEngine): { count: number } {
  const reads = { count: 0 };
  one.calls.get = (run, path, ...more) => {
    if (/\/[0-9]{20}\.json$/.test(path)) reads.count += 1;
    return run(path, ...more);
  };
  return reads;
}

async function filled(count: number): Promise<[TestEngine, TableBranch]> {
  const one = withDigests(testEngine());
  const branch = await declared(one);
  for (let version = 0; version < count; version++) {
    await land(
      one,
      branch,
      draftOf(KINDS[version % 4] ?? 'append', { summary: { rows: version % 3 } }),
    );
  }
  return [one, branch];
}

test('the digests of the newest versions that are kept are as many as a file has', async () => {
  const [{ engine }, branch] = await filled(70);
  const recent = engine.cache.get<Map<number, VersionDigest>>(`recent digests ${branch.folder}`);
  expect([...(recent?.keys() ?? [])]).toEqual(Array.from({ length: 64 }, (_, at) => at + 7));
});

describe('a random history', () => {
  test.each([1, 2])('is told as its manifests tell it (seed %i)', async (seed) => {
    const random = seeded(seed);
    const below = (count: number): number => Math.floor(random() * count);
    const one = withDigests(testEngine());
    const branch = await declared(one);
    const processes = [one, other(one, 1e6), other(one, 2e6)];
    const old = new Map<string, Uint8Array>();
    const path = (name: string): string => `${ROOT}/${branch.folder}/${name}`;
    for (let step = 0; step < 200; step++) {
      const at = processes[below(processes.length)] ?? one;
      const draw = random();
      if (draw < 0.03 && step > 70) {
        const numbers = await visibleVersions(at.engine, branch);
        const first = below(numbers.length - 1);
        const newest = (await resolveHead(at.engine, branch))?.snapshot.version ?? 0;
        const run = numbers.slice(first, first + 1 + below(90)).filter((one) => one < newest);
        await deleteVersions(at.engine, branch, run);
      } else if (draw < 0.06) {
        const id = `0000${step.toString(16).padStart(4, '0')}-0000`;
        await prepare(at, branch, id);
        await decideMultiTable(at.engine, id, random() < 0.5 ? 'committed' : 'aborted');
      } else if (draw < 0.1) {
        const names = filesOf(one, branch);
        const name = names[below(names.length)];
        if (name !== undefined) {
          const bytes = one.fs.readFileSync(path(name)) as Uint8Array;
          const before = old.get(name);
          if (draw < 0.07) one.fs.rmSync(path(name));
          else if (draw < 0.08)
            one.fs.writeFileSync(path(name), bytes.subarray(0, below(bytes.length)));
          else if (draw < 0.09 && before !== undefined) one.fs.writeFileSync(path(name), before);
          else old.set(name, Uint8Array.from(bytes));
        }
      } else {
        const kind = KINDS[below(KINDS.length)] ?? 'append';
        await land(at, branch, draftOf(kind, { summary: { rows: below(9) } }));
      }
      if (step % 20 !== 19) continue;
      const expected = await truth(testEngine({ fs: one.fs }), branch);
      const reader = random() < 0.5 ? at : other(one, 3e6);
      expect(await listed(reader, branch)).toEqual(expected);
      const numbers = (await visibleVersions(at.engine, branch)).reverse();
      expect(await digestsOf(other(one, 4e6).engine, branch, numbers)).toEqual(expected.reverse());
    }
    expect(filesOf(one, branch).length).toBeGreaterThan(0);
  });

  test('that was rolled back and went on otherwise is told as it is now', async () => {
    const [one, branch] = await filled(200);
    await listed(one, branch);
    const folder = `${ROOT}/${branch.folder}`;
    for (let version = 150; version <= 200; version++) {
      one.fs.rmSync(`${ROOT}/${versionFile(branch.folder, version)}`);
    }
    one.fs.rmSync(`${folder}/latest.json`);
    // It commits without digests, as an older release does.
    const older = testEngine({ fs: one.fs, firstId: 1e6 });
    for (let n = 0; n < 60; n++) await land(older, branch, draftOf('compact', { summary: { n } }));
    const expected = await truth(older, branch);
    expect(expected).toHaveLength(209);
    expect(await listed(other(one, 2e6), branch)).toEqual(expected);
    expect(await listed(one, branch)).toEqual(expected);
  });
});

describe('the files', () => {
  test('are written by commits, and spare the manifests', async () => {
    const [one, branch] = await filled(200);
    expect(filesOf(one, branch)).toHaveLength(3);
    const reader = other(one, 1e6);
    const reads = countManifests(reader);
    expect(await listed(reader, branch)).toHaveLength(200);
    // The newest, and those after the last full file.
    expect(reads.count).toBe(8);
    reads.count = 0;
    const page = await digestsOf(reader.engine, branch, [100, 99, 98]);
    expect(page.map(({ version }) => version)).toEqual([100, 99, 98]);
    expect(reads.count).toBe(1);
  });

  test('that are missing or damaged are written by the next list', async () => {
    const [one, branch] = await filled(200);
    const [first, second] = filesOf(one, branch).map((name) => `${ROOT}/${branch.folder}/${name}`);
    one.fs.rmSync(first ?? '');
    const bytes = one.fs.readFileSync(second ?? '') as Buffer;
    one.fs.writeFileSync(second ?? '', bytes.subarray(9));
    const reader = other(one, 1e6);
    const expected = await truth(one, branch);
    expect(await listed(reader, branch)).toEqual(expected);
    const next = other(one, 2e6);
    const reads = countManifests(next);
    expect(await listed(next, branch)).toEqual(expected);
    expect(reads.count).toBe(8);
    expect(one.fs.readFileSync(second ?? '')).toEqual(bytes);
  });

  test('that cannot be written or read fail neither commits nor lists', async () => {
    const [one, branch] = await filled(63);
    const refused = () => {
      throw new DirspaceError('ServiceUnavailable', 'The disk refuses.');
    };
    // Whatever it is: the version is there.
    one.calls.putHint = (run, path, ...more) => {
      if (!path.includes('digests-')) return run(path, ...more);
      throw new RangeError('Array buffer allocation failed');
    };
    const { snapshot } = await land(one, branch, 'append');
    expect(snapshot.version).toBe(64);
    one.calls.putHint = refused;
    one.calls.get = (run, path, ...more) =>
      path.includes('digests-') ? refused() : run(path, ...more);
    expect(await listed(one, branch)).toHaveLength(64);
    expect(filesOf(one, branch)).toEqual([]);
  });

  test('of deleted versions go with them', async () => {
    const [one, branch] = await filled(200);
    const numbers = Array.from({ length: 135 }, (_, at) => at + 10);
    await deleteVersions(one.engine, branch, numbers);
    expect(filesOf(one, branch).map(parseDigestsFile)).toEqual([1, 129]);
    expect(await listed(other(one, 1e6), branch)).toEqual(await truth(one, branch));
  });
});

describe('the numbers', () => {
  test('are listed again where the folder changed, or is young', async () => {
    const [one, branch] = await filled(3);
    let lists = 0;
    one.calls.list = (run, path) => {
      lists += 1;
      return run(path);
    };
    let isSettled = false;
    one.calls.folderFacts = async (run, ...asked) => {
      const facts = await run(...asked);
      return facts && { ...facts, settled: isSettled };
    };
    const { modified = 0 } = (await one.engine.store.folderFacts(branch.folder)) ?? {};
    await versionNumbers(one.engine, branch);
    await versionNumbers(one.engine, branch);
    expect(lists).toBe(2);
    isSettled = true;
    expect(await versionNumbers(one.engine, branch)).toEqual([1, 2, 3]);
    expect(await versionNumbers(one.engine, branch)).toEqual([1, 2, 3]);
    expect(lists).toBe(3);
    // The next change comes in another tick of the clock, as of a folder that is settled.
    while (Date.now() <= modified);
    await land(one, branch, 'append');
    expect(await versionNumbers(one.engine, branch)).toEqual([1, 2, 3, 4]);
  });

  test('are listed each time where a folder keeps no time of its last change', async () => {
    const [one, branch] = await filled(3);
    one.calls.folderFacts = async (run, ...asked) => {
      const facts = await run(...asked);
      return facts && { ...facts, modified: 0, settled: false };
    };
    expect(await versionNumbers(one.engine, branch)).toEqual([1, 2, 3]);
    await land(one, branch, 'append');
    expect(await versionNumbers(one.engine, branch)).toEqual([1, 2, 3, 4]);
  });
});

describe('a file', () => {
  const owner = { incarnation: INCARNATION, branch: 'main' };
  const digests: VersionDigest[] = [1, 2, 3, 5].map((version) => ({
    version,
    bytes: 100 + version,
    checksum: `0000000${version}`,
    timestamp: 1_700_000_000_000 + version,
    transaction: version === 3 ? 'elsewhere' : `${INCARNATION}.${version}`,
    batch: version === 2 ? '0000abcd-0000' : undefined,
    operation: { kind: version < 3 ? 'append' : 'delete', summary: { rows: 4 } },
    annotations: version === 5 ? { by: 'me' } : undefined,
    parent:
      version === 1
        ? undefined
        : {
            version: version - 1,
            checksum: `0000000${version - 1}`,
            branch: version === 3 ? 'b' : 'main',
          },
  }));
  const refused = (bytes: Uint8Array): string => {
    try {
      decodeDigests(bytes, owner, 'd.json');
    } catch (error) {
      if (error instanceof DirspaceError) return error.code;
      throw error;
    }
    return 'nothing';
  };

  test('comes back, with what few versions have', () => {
    expect(decodeDigests(encodeDigests(owner, digests), owner, 'd.json')).toEqual(digests);
    expect(decodeDigests(encodeDigests(owner, []), owner, 'd.json')).toEqual([]);
    expect([1, 64, 65, 128, 129].map(firstInFile)).toEqual([1, 1, 65, 65, 129]);
  });

  test('of another table or branch, with a byte changed or with a wrong member is refused', () => {
    const bytes = encodeDigests(owner, digests);
    for (const wrong of [
      { ...owner, incarnation: 'x' },
      { ...owner, branch: 'x' },
    ]) {
      expect(() => decodeDigests(bytes, wrong, 'd.json')).toThrow('another table or branch');
    }
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      expect(refused(changed)).toBe('Corrupt');
    }
    const document = JSON.parse(Buffer.from(bytes).toString());
    delete document.checksum;
    const forged = (change: object) => encodeChecksummed({ ...document, ...change }).bytes;
    expect(refused(forged({}))).toBe('nothing');
    expect(refused(forged({ format: 2 }))).toBe('UnsupportedFormat');
    for (const name of Object.keys(document)) {
      for (const value of [
        null,
        [],
        [1],
        [-1, 2, 3, 5],
        ['a', 'b', 'c', 1],
        [[1], [2, 3], [0], [3]],
      ]) {
        const found = refused(forged({ [name]: value }));
        const mayBe = ['parents', 'batches', 'annotations'].includes(name) && Array.isArray(value);
        if (!mayBe || value.length === 0) continue;
        expect(['Corrupt', 'nothing']).toContain(found);
      }
      expect(refused(forged({ [name]: 7 }))).not.toBe('nothing');
    }
    const long = Array.from({ length: 65 }, () => 1);
    expect(refused(forged({ versions: long }))).toBe('Corrupt');
    expect(refused(forged({ operation: [0, 0, 9, 0, 0] }))).toBe('Corrupt');
    expect(refused(forged({ operation: [0, 0, 'length', 0, 0] }))).toBe('Corrupt');
    expect(refused(forged({ operation: [0, 0, 'map', 0, 0] }))).toBe('Corrupt');
    expect(refused(forged({ parents: [] }))).toBe('Corrupt');
    expect(refused(forged({ bytes: [1, 2, 3] }))).toBe('Corrupt');
  });
});
