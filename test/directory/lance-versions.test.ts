/** The table-version operations on tables of Lance: what a client with managed versioning commits through. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { type Dataset, datasetFiles, writeDataset } from '../helpers/lance-writer.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { outcomeOf } from '../helpers/outcome.ts';
import { idsOf, people } from '../helpers/people.ts';

const ROOT = '/c';
const t = ['n', 't'];

const open = (fs: TestFs): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: ROOT, fs, durability: 'relaxed', managedVersioning: true });

/** The manifests of a fixture, by version. */
const manifestsOf = (name: Dataset): Uint8Array[] => {
  const named = [...datasetFiles(name)].filter(([path]) => path.endsWith('.manifest'));
  const oldestFirst = name === 'v1' ? named : named.reverse();
  return oldestFirst.map(([, bytes]) => bytes);
};

async function declared(name: Dataset = 'v2') {
  const fs = memoryFs();
  const catalog = await open(fs);
  await catalog.createNamespace({ id: ['n'] });
  const answer = await catalog.declareTable({ id: t });
  const { location = '' } = answer;
  expect(answer.managed_versioning).toBe(true);
  writeDataset(fs, location, name, (path) => !path.startsWith('_versions/'));
  let staged = 0;
  /** As clients do: the path without the slash that it begins with. */
  const stage = (bytes: Uint8Array, version: number, file?: string): string => {
    const path = `${location}/_versions/${file ?? `${2n ** 64n - 1n - BigInt(version)}.manifest-${++staged}`}`;
    fs.mkdirSync(`${location}/_versions`, { recursive: true });
    fs.writeFileSync(path, bytes);
    return path.slice(1);
  };
  const offer = (version: number, more: object = {}) => {
    const bytes = manifestsOf(name)[version - 1] as Uint8Array;
    return {
      id: t,
      version,
      manifest_path: stage(bytes, version),
      manifest_size: bytes.length,
      e_tag: '"tag"',
      naming_scheme: name.toUpperCase(),
      ...more,
    };
  };
  const names = (): string[] => fs.readdirSync(`${location}/_versions`).map(String).sort();
  return { fs, catalog, location, stage, offer, names };
}

test.each(['v1', 'v2'] as const)('commits one after the other, named as %s', async (name) => {
  const { catalog, location, offer, names } = await declared(name);
  expect((await catalog.listTableVersions({ id: t, limit: 1, descending: true })).versions).toEqual(
    [],
  );
  await expect(catalog.describeTableVersion({ id: t, version: 1 })).rejects.toMatchObject({
    code: 'TableVersionNotFound',
  });
  for (const version of [1, 2, 3]) {
    const made = await catalog.createTableVersion(offer(version));
    const file =
      name === 'v1' ? `${version}.manifest` : `${2n ** 64n - 1n - BigInt(version)}.manifest`;
    expect(made.version).toMatchObject({
      version,
      manifest_path: `${location.slice(1)}/_versions/${file}`,
      manifest_size: manifestsOf(name)[version - 1]?.length,
      e_tag: '"tag"',
    });
    const { versions } = await catalog.listTableVersions({ id: t, limit: 1, descending: true });
    expect(versions).toMatchObject([{ version, manifest_path: made.version?.manifest_path }]);
    const { version: told } = await catalog.describeTableVersion({ id: t, version });
    expect(told).toEqual(versions[0]);
  }
  // Nothing is left of what was staged.
  expect(names()).toEqual(
    [...datasetFiles(name).keys()]
      .filter((path) => /_versions.*manifest/.test(path))
      .map((path) => path.slice(10))
      .sort(),
  );
  const pages: number[] = [];
  let token: string | undefined;
  do {
    const page = await catalog.listTableVersions({
      id: t,
      limit: 2,
      ...(token && { page_token: token }),
    });
    pages.push(...page.versions.map(({ version }) => version));
    token = page.page_token;
  } while (token !== undefined);
  expect(pages).toEqual([1, 2, 3]);
  expect((await catalog.describeTableVersion({ id: t })).version.version).toBe(3);
  await expect(catalog.describeTableVersion({ id: t, version: 4 })).rejects.toMatchObject({
    code: 'TableVersionNotFound',
  });
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('a number that is taken is a conflict, and what was staged for it stays its client’s', async () => {
  const { catalog, offer, names } = await declared();
  await catalog.createTableVersion(offer(1));
  await catalog.createTableVersion(offer(2));
  for (const version of [1, 2]) {
    await expect(catalog.createTableVersion(offer(version))).rejects.toMatchObject({
      code: 'ConcurrentModification',
      details: { next: 3 },
    });
  }
  expect(names().filter((name) => name.endsWith('.manifest'))).toHaveLength(2);
  await catalog.createTableVersion(offer(3));
});

test('of many clients that commit one version exactly one does', async () => {
  const { fs, offer, names } = await declared();
  const handles = await Promise.all([open(fs), open(fs), open(fs)]);
  for (const version of [1, 2, 3]) {
    const outcomes = await Promise.all(
      [...handles, ...handles].map((handle) =>
        outcomeOf(handle.createTableVersion(offer(version))),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'ConcurrentModification']));
  }
  expect(names().filter((name) => name.endsWith('.manifest'))).toHaveLength(3);
});

test('what is no staged manifest of the table is refused, and nothing changes', async () => {
  const { fs, catalog, location, stage, offer, names } = await declared();
  const [first, second] = manifestsOf('v2') as [Uint8Array, Uint8Array];
  fs.mkdirSync(`${ROOT}/other/_versions`, { recursive: true });
  fs.writeFileSync(`${ROOT}/other/_versions/x.manifest-1`, first);
  const flipped = first.slice();
  flipped[flipped.length - 1] = 0;
  for (const [request, word] of [
    [{ manifest_path: `${location}/_versions/missing.manifest-1` }, 'not there'],
    [{ manifest_path: `${location}/_versions/../x` }, ''],
    [{ manifest_path: `${location}/data/x` }, ''],
    [{ manifest_path: `${ROOT}/other/_versions/x.manifest-1` }, ''],
    [{ manifest_path: `${location}/_versions/1.manifest` }, 'no staged manifest'],
    [
      { manifest_path: `${location}/_versions/18446744073709551614.manifest` },
      'no staged manifest',
    ],
    [{ manifest_path: `${location}/_versions/.tmp-x` }, 'no staged manifest'],
    [{ manifest_size: first.length + 1 }, 'manifest_size'],
    [{ naming_scheme: 'V3' }, 'naming_scheme'],
    [{ manifest_path: stage(flipped, 1) }, 'does not end'],
    [{ manifest_path: stage(new Uint8Array(), 1), manifest_size: 0 }, 'does not end'],
    [{ manifest_path: stage(first.subarray(20), 1), manifest_size: first.length - 20 }, ''],
    [{ manifest_path: stage(second, 1), manifest_size: second.length }, 'of version 2'],
    [{ version: 2 }, 'does not follow'],
    [{ version: 0 }, ''],
  ] as const) {
    const work = catalog.createTableVersion({ ...offer(1), ...request });
    await expect(work, JSON.stringify(request)).rejects.toMatchObject({
      code: expect.stringMatching(/InvalidInput|ConcurrentModification/),
      message: expect.stringContaining(word),
    });
  }
  expect(names().filter((name) => name.endsWith('.manifest'))).toEqual([]);
});

test('a commit of before a rename, or of a table that was dropped and made anew, is refused', async () => {
  const { catalog, offer } = await declared();
  await catalog.createTableVersion(offer(1));
  await catalog.renameTable({ id: t, new_table_name: 'u' });
  await expect(catalog.createTableVersion(offer(2))).rejects.toMatchObject({
    code: 'TableNotFound',
  });
  await catalog.createTableVersion(offer(2, { id: ['n', 'u'] }));
  await catalog.renameTable({ id: ['n', 'u'], new_table_name: 't' });
  await catalog.dropTable({ id: t });
  await catalog.declareTable({ id: t });
  await expect(catalog.createTableVersion(offer(3))).rejects.toMatchObject({
    code: 'InvalidInput',
  });
  expect((await catalog.listTableVersions({ id: t })).versions).toEqual([]);
});

test('versions are deleted, but for the newest', async () => {
  const { catalog, offer } = await declared();
  for (const version of [1, 2, 3]) await catalog.createTableVersion(offer(version));
  const remove = (start_version: number, end_version: number) =>
    catalog.batchDeleteTableVersions({ id: t, ranges: [{ start_version, end_version }] });
  await expect(remove(2, -1)).rejects.toMatchObject({ code: 'InvalidTableState' });
  expect(await remove(1, 3)).toEqual({ deleted_count: 2 });
  expect(
    (await catalog.listTableVersions({ id: t })).versions.map(({ version }) => version),
  ).toEqual([3]);
  // A client that was asleep since must not bring a number back.
  await expect(catalog.createTableVersion(offer(2))).rejects.toMatchObject({
    code: 'ConcurrentModification',
  });
});

test('rows of this engine and a commit of Lance on one declared table: one of them', async () => {
  const fs = memoryFs();
  const catalog = await open(fs);
  await catalog.createNamespace({ id: ['n'] });
  for (let at = 0; at < 40; at++) {
    const id = ['n', `t${at}`];
    const { location = '' } = await catalog.declareTable({ id });
    const own = outcomeOf(catalog.insertIntoTable({ id }, people(2)));
    for (let left = at * 12; left > 0; left--) await undefined;
    const bytes = manifestsOf('v2')[0] as Uint8Array;
    const staged = `${location}/_versions/18446744073709551614.manifest-1`;
    let theirs: string;
    try {
      fs.mkdirSync(`${location}/_versions`, { recursive: true });
      fs.writeFileSync(staged, bytes);
      theirs = await outcomeOf(
        catalog.createTableVersion({ id, version: 1, manifest_path: staged }),
      );
    } catch {
      theirs = 'closed';
    }
    const isOurs = (await own) === 'ok';
    expect([isOurs, theirs === 'ok'], `${at}: ${theirs}`).toSatisfy(
      ([one, other]: boolean[]) => one !== other,
    );
    if (isOurs) expect(await idsOf(catalog, id)).toEqual([0, 1]);
  }
});
