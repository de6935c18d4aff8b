/** Damaged and lost files of indexes: no row, version or answer depends on them. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { withFlippedBit } from '../helpers/damage.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { idsOf, people } from '../helpers/people.ts';

const id = ['t'];
const FOLDER = '/c/data/t.table/indexes';

function opened(fs: TestFs): Promise<DirectoryNamespace> {
  const limits = { indexedRows: 0, indexedShare: 1 };
  return openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', limits });
}

const DAMAGES: Readonly<Record<string, (fs: TestFs, path: string) => void>> = {
  lost: (fs, path) => fs.unlinkSync(path),
  damaged: (fs, path) => {
    const bytes = fs.readFileSync(path) as Uint8Array;
    fs.writeFileSync(path, withFlippedBit(bytes, bytes.length * 4));
  },
  'cut short': (fs, path) => {
    const bytes = fs.readFileSync(path) as Uint8Array;
    fs.writeFileSync(path, bytes.subarray(0, bytes.length - 9));
  },
};

/** 60 rows in two fragments, with a tag, a branch, a deletion, and an index of one segment. */
async function setUp(fs: TestFs, type = 'BTREE', column = 'id'): Promise<number[]> {
  const catalog = await opened(fs);
  await catalog.createTable({ id }, people(50));
  await catalog.createTableIndex({ id, column, index_type: type });
  await catalog.createTableTag({ id, tag: 'kept', version: 2 });
  await catalog.createTableBranch({ id, name: 'side' });
  await catalog.insertIntoTable({ id }, people(10, 50));
  await catalog.deleteFromTable({ id, predicate: 'id = 3' });
  await catalog.close();
  return Array.from({ length: 60 }, (_, at) => at).filter((at) => at !== 3);
}

const onlyFile = (fs: TestFs): string => `${FOLDER}/${fs.readdirSync(FOLDER)[0]}`;

for (const [how, damage] of Object.entries(DAMAGES)) {
  test(`repair takes a ${how} index off, and keeps every row and version`, async () => {
    const fs = memoryFs();
    const ids = await setUp(fs);
    const file = onlyFile(fs);
    const path = file.slice('/c/'.length);
    damage(fs, file);
    const catalog = await opened(fs);
    const before = await catalog.verify({});
    expect(before.problems.map(({ kind, path: at }) => [kind, at])).toEqual(
      before.problems.map(() => ['index', path]),
    );
    expect(before.problems[0]?.what).toContain('optimize builds it anew');
    const planned = await catalog.repair({});
    const done = await catalog.repair({ apply: true });
    expect(done.actions).toEqual(planned.actions);
    expect(
      done.actions.map(({ why }) => /of (branch \w+) leaves .* (\w+)\. All/.exec(why)?.slice(1)),
    ).toEqual([
      ['branch main', 'id_idx'],
      ['branch side', 'id_idx'],
    ]);
    expect(done.actions.every((action) => action.path === path && !action.quarantined)).toBe(true);
    expect(await idsOf(catalog, id)).toEqual(ids);
    const { versions } = await catalog.listTableVersions({ id });
    expect(versions.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5]);
    expect(await idsOf(catalog, id, { version: 2 })).toHaveLength(50);
    expect(await idsOf(catalog, id, { branch: 'side' })).toHaveLength(50);
    // The versions that name the file go on naming it; nothing more is to be done for the newest.
    const again = await catalog.repair({ apply: true });
    expect(again.actions).toEqual([]);
    expect(again.left.every(({ kind }) => kind === 'index')).toBe(true);
    await catalog.optimizeTable({ id });
    const { indexes } = await catalog.listTableIndices({ id });
    expect(indexes.map((one) => [one.index_name, one.num_unindexed_rows])).toEqual([['id_idx', 0]]);
  });
}
