/** Damaged and lost files of indexes: no row, version or answer depends on them. */
import { expect, test } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float32,
  List,
  type RecordBatchStream,
  recordBatchStream,
  Table,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../src/directory/directory-namespace.ts';
import { withFlippedBit } from '../helpers/damage.ts';
import { memoryFs, type TestFs } from '../helpers/memory-fs.ts';
import { idsOf } from '../helpers/people.ts';

const id = ['t'];
const FOLDER = '/c/data/t.table/indexes';

function people(count: number, from = 0): RecordBatchStream {
  const ids = Array.from({ length: count }, (_, row) => from + row);
  const table = new Table({
    id: vectorFromArray(Int32Array.from(ids)),
    name: vectorFromArray(
      ids.map((each) => `name ${each}`),
      new Utf8(),
    ),
    tags: vectorFromArray(
      ids.map((each) => ['all', `tag ${each}`]),
      new List(new Field('item', new Utf8(), true)),
    ),
    vector: vectorFromArray(
      ids.map((each) => [each, 0, 0]),
      new FixedSizeList(3, new Field('item', new Float32(), true)),
    ),
  });
  return recordBatchStream(table.schema, table.batches);
}

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

/** The ids that a query finds. */
async function found(catalog: DirectoryNamespace, query: object): Promise<number[]> {
  const ids: number[] = [];
  const request = { id, k: 100, columns: { column_names: ['id'] }, ...query };
  for await (const batch of await catalog.queryTable(request as never))
    for (const value of batch.getChild('id') ?? []) ids.push(Number(value));
  return ids.sort((one, other) => one - other);
}

const QUERIES: Readonly<Record<string, { column: string; query: object; ids: number[] }>> = {
  BTREE: { column: 'id', query: { filter: 'id IN (7, 55)' }, ids: [7, 55] },
  BITMAP: { column: 'name', query: { filter: "name = 'name 7'" }, ids: [7] },
  LABEL_LIST: { column: 'tags', query: { filter: "array_has(tags, 'tag 7')" }, ids: [7] },
  FTS: {
    column: 'name',
    // Fast: damage hides no row all the same.
    query: {
      fast_search: true,
      full_text_query: { string_query: { query: '7', columns: ['name'] } },
    },
    ids: [7],
  },
  IVF_SQ: {
    column: 'vector',
    query: { fast_search: true, vector: { single_vector: [7, 0, 0] }, k: 1 },
    ids: [7],
  },
};

const statesOf = async (catalog: DirectoryNamespace): Promise<unknown> =>
  (await catalog.listTableIndices({ id })).indexes.map((one) => [
    one.num_indexed_rows,
    one.num_unindexed_rows,
  ]);

for (const [type, { column, query, ids }] of Object.entries(QUERIES)) {
  test(`queries scan what a damaged ${type} covers, and optimize builds it anew`, async () => {
    const fs = memoryFs();
    await setUp(fs, type, column);
    const files = (fs.readdirSync(FOLDER) as string[]).map((file) => `${FOLDER}/${file}`);
    for (const [how, damage] of Object.entries(DAMAGES)) {
      for (const file of files) {
        const sound = fs.readFileSync(file) as Uint8Array;
        damage(fs, file);
        const catalog = await opened(fs);
        const path = file.slice('/c/'.length);
        // What is lost or cut short is seen by whoever lists indexes; a flipped bit by who reads it.
        if (how !== 'damaged') expect(await statesOf(catalog)).toEqual([[0, 59]]);
        expect(await found(catalog, query), `${how} ${path}`).toEqual(ids);
        const { filter } = query as { filter?: string };
        if (filter !== undefined)
          expect((await catalog.countTableRows({ id, predicate: filter })).count).toBe(ids.length);
        const isMet = (await statesOf(catalog)) as number[][];
        expect(isMet, `${how} ${path}`).toEqual([[0, 59]]);
        const plan = await catalog.explainTableQueryPlan({
          id,
          query: { k: 9, ...query },
        } as never);
        expect(JSON.stringify(plan)).toContain(`The file ${path} is damaged`);
        const { ok, problems } = await catalog.verify({});
        expect([ok, problems.every((problem) => problem.path === path)]).toEqual([false, true]);
        // It is remembered: the file is not read again by this catalog, and by the next one it is.
        fs.writeFileSync(file, sound);
        expect(await statesOf(catalog)).toEqual([[0, 59]]);
        await catalog.close();
        const again = await opened(fs);
        expect(await statesOf(again)).toEqual([[49, 10]]);
        await again.close();
      }
    }
    DAMAGES.lost?.(fs, files[0] as string);
    const catalog = await opened(fs);
    await catalog.optimizeTable({ id, compact: false });
    expect(await statesOf(catalog)).toEqual([[59, 0]]);
    expect(await found(catalog, query)).toEqual(ids);
    // The version before names the lost file, and is read.
    expect(await idsOf(catalog, id, { version: 4 })).toHaveLength(59);
  });
}

test('damage of rows is thrown, whatever indexes there are', async () => {
  const fs = memoryFs();
  await setUp(fs, 'BITMAP', 'name');
  const folder = '/c/data/t.table/data';
  for (const file of fs.readdirSync(folder) as string[])
    DAMAGES['cut short']?.(fs, `${folder}/${file}`);
  const catalog = await opened(fs);
  await expect(found(catalog, { filter: "name = 'name 7'" })).rejects.toMatchObject({
    code: 'Corrupt',
    details: { file: expect.stringContaining('/data/') },
  });
});

test('repair leaves sound segments to the index', async () => {
  const fs = memoryFs();
  await setUp(fs);
  const before = new Set(fs.readdirSync(FOLDER) as string[]);
  const catalog = await opened(fs);
  await catalog.updateTable({ id, updates: [['name', "'x'"]], predicate: 'id = 55' });
  await catalog.optimizeTable({ id, compact: false });
  const added = (fs.readdirSync(FOLDER) as string[]).find((file) => !before.has(file));
  await catalog.insertIntoTable({ id }, people(2, 60));
  await catalog.optimizeTable({ id, compact: false });
  await catalog.close();
  const { length } = fs.readdirSync(FOLDER) as string[];
  DAMAGES.lost?.(fs, `${FOLDER}/${added}`);
  const again = await opened(fs);
  const segments = async (): Promise<unknown> =>
    (await again.listTableIndices({ id })).indexes.map((one) => one.num_segments);
  expect([length, await segments()]).toEqual([3, [2]]);
  await again.repair({ apply: true });
  expect(await segments()).toEqual([1]);
  expect(await found(again, { filter: 'id IN (7, 55, 61)' })).toEqual([7, 55, 61]);
});

test('repair commits nothing to a branch that stays damaged', async () => {
  const fs = memoryFs();
  await setUp(fs);
  for (const folder of [FOLDER, '/c/data/t.table/data'])
    for (const file of fs.readdirSync(folder) as string[])
      DAMAGES['cut short']?.(fs, `${folder}/${file}`);
  const catalog = await opened(fs);
  expect((await catalog.repair({ apply: true })).actions).toEqual([]);
  expect((await catalog.listTableVersions({ id })).versions).toHaveLength(4);
});
