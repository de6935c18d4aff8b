/** What optimizing does to indexes, and what it leaves alone. */
import { expect, test } from 'vitest';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { withFlippedBit } from '../../helpers/damage.ts';
import { InterruptedCatalog, publication } from '../../helpers/interrupted.ts';
import { bitsOf, casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { idsOf, people } from '../../helpers/people.ts';

const id = ['t'];

async function opened(fs: TestFs, more: object = {}): Promise<DirectoryNamespace> {
  const limits = { indexedRows: 0, indexedShare: 1, ...more };
  return openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', limits });
}

const FOLDER = '/c/data/t.table/indexes';
const indexFiles = (fs: TestFs): string[] =>
  fs.existsSync(FOLDER) ? (fs.readdirSync(FOLDER) as string[]).sort() : [];

async function coverage(catalog: DirectoryNamespace): Promise<unknown> {
  const { indexes } = await catalog.listTableIndices({ id });
  return indexes.map((one) => [one.num_indexed_rows, one.num_unindexed_rows, one.num_segments]);
}

const grown = async (catalog: DirectoryNamespace): Promise<void> => {
  await catalog.createTable({ id }, people(10));
  for (let at = 1; at < 5; at++) await catalog.insertIntoTable({ id }, people(10, at * 10));
};

test('joining whole fragments touches no file of an index', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs);
  await grown(catalog);
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  await catalog.createTableIndex({ id, column: 'name', index_type: 'BITMAP' });
  const files = indexFiles(fs);
  expect(files).toHaveLength(2);
  const { fragments_added, version } = await catalog.optimizeTable({ id });
  expect([fragments_added, version]).toEqual([1, 8]);
  expect(indexFiles(fs)).toEqual(files);
  expect(await coverage(catalog)).toEqual([
    [50, 0, 1],
    [50, 0, 1],
  ]);
  const plan = await catalog.explainTableQueryPlan({
    id,
    query: { filter: 'id = 37', k: 9 },
  } as never);
  expect(JSON.stringify(plan)).toContain('Index: id_idx names 1 of 50 rows');
  expect(await idsOf(catalog, id)).toEqual(Array.from({ length: 50 }, (_, at) => at));
});

test('rows that came later get a segment, and many segments become one', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs);
  await catalog.createTable({ id }, people(1_000));
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  const segments: unknown[] = [];
  for (let at = 0; at < 5; at++) {
    await catalog.insertIntoTable({ id }, people(10, 1_000 + at * 10));
    await catalog.optimizeTable({ id, compact: false });
    segments.push(await coverage(catalog));
  }
  expect(segments).toEqual([
    [[1_010, 0, 2]],
    [[1_020, 0, 3]],
    [[1_030, 0, 4]],
    [[1_040, 0, 1]],
    [[1_050, 0, 2]],
  ]);
  const before = (await catalog.listTableVersions({ id })).versions.length;
  await catalog.optimizeTable({ id, compact: false });
  expect((await catalog.listTableVersions({ id })).versions).toHaveLength(before);
  await catalog.insertIntoTable({ id }, people(500, 1_050));
  await catalog.optimizeTable({ id, compact: false });
  expect(await coverage(catalog)).toEqual([[1_550, 0, 1]]);
});

test('covering new rows keeps what a compaction gave to the segments meanwhile', async () => {
  const limits = { indexedRows: 0, indexedShare: 1, fragmentRows: 50 };
  const options = { root: '/c', fs: memoryFs(), durability: 'relaxed', limits } as const;
  const own = await InterruptedCatalog.open(options);
  const catalog = own.namespace;
  await grown(catalog);
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  await catalog.insertIntoTable({ id }, people(4, 50));
  // The other process ends between its compaction and its indexes.
  const other = await InterruptedCatalog.open(options);
  let published = 0;
  other.interrupt(
    (...call) => publication(...call) && ++published === 2,
    () => Promise.reject(new Error('ended')),
  );
  own.interrupt(publication, async () => {
    await other.namespace.optimizeTable({ id }).catch(() => {});
    expect(await coverage(other.namespace)).toEqual([[50, 4, 1]]);
  });
  await catalog.optimizeTable({ id, compact: false });
  expect([own.interrupted, other.interrupted]).toEqual([true, true]);
  expect(await coverage(catalog)).toEqual([[54, 0, 2]]);
  const { count } = await catalog.countTableRows({ id, predicate: 'id BETWEEN 40 AND 52' });
  expect(count).toBe(13);
});

test('as many full segments as a table needs are left alone', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs, { segmentRows: 10 });
  await grown(catalog);
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  expect(await coverage(catalog)).toEqual([[50, 0, 5]]);
  const before = (await catalog.listTableVersions({ id })).versions.length;
  await catalog.optimizeTable({ id, compact: false });
  expect((await catalog.listTableVersions({ id })).versions).toHaveLength(before);
});

test('a column that was changed in place is covered again', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs, { overlayBytes: 0 });
  await grown(catalog);
  await catalog.createTableIndex({ id, column: 'name', index_type: 'BTREE' });
  await catalog.updateTable({ id, predicate: 'id >= 30', updates: [['name', "'new'"]] });
  expect(await coverage(catalog)).toEqual([[30, 20, 1]]);
  await catalog.optimizeTable({ id, compact: false });
  expect(await coverage(catalog)).toEqual([[50, 0, 1]]);
  const { count } = await catalog.countTableRows({ id, predicate: "name = 'new'" });
  expect(count).toBe(20);
});

test('what cleanup removes of indexes is what no version needs', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs);
  await grown(catalog);
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  const [first] = indexFiles(fs);
  await catalog.createTableTag({ id, tag: 'kept', version: 6 });
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BTREE' });
  const name = 'id_idx';
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BITMAP', name });
  expect(indexFiles(fs)).toHaveLength(3);
  await catalog.cleanupTable({ id, older_than_millis: 0, orphan_grace_millis: 0 });
  const left = indexFiles(fs);
  expect(left).toHaveLength(2);
  expect(left).toContain(first);
  expect((await catalog.verify({})).problems).toEqual([]);
});

test('an index that is cancelled leaves nothing behind', async () => {
  const fs = memoryFs();
  const catalog = await opened(fs, { fragmentRows: 10, segmentRows: 10 });
  await grown(catalog);
  const controller = new AbortController();
  const { signal } = controller;
  const asks = signal.throwIfAborted.bind(signal);
  signal.throwIfAborted = () => {
    if (indexFiles(fs).length >= 2) controller.abort(new Error('enough'));
    asks();
  };
  const index = { id, column: 'id', index_type: 'BTREE' };
  const creating = catalog.createTableIndex(index, { signal });
  await expect(creating).rejects.toThrow('enough');
  expect(indexFiles(fs)).toEqual([]);
  expect((await catalog.listTableIndices({ id })).indexes).toEqual([]);
});

test('damage of any part of an index is found by verify, and costs no answer', async () => {
  const fs = memoryFs();
  await grown(await opened(fs));
  const catalog = await opened(fs);
  await catalog.createTableIndex({ id, column: 'name', index_type: 'BTREE' });
  await catalog.createTableIndex({ id, column: 'id', index_type: 'BITMAP' });
  for (const name of indexFiles(fs)) {
    const path = `${FOLDER}/${name}`;
    const whole = Uint8Array.from(fs.readFileSync(path) as Buffer);
    for (const bit of bitsOf(whole.length, casesOf(1_013, 1))) {
      fs.writeFileSync(path, withFlippedBit(whole, bit));
      const { problems } = await (await opened(fs)).verify({});
      const kinds = new Set(problems.map(({ kind }) => kind));
      expect([...kinds], `${name} ${bit}`).toEqual(['index']);
    }
    for (const bytes of [whole.subarray(0, whole.length - 1), Buffer.alloc(0)]) {
      fs.writeFileSync(path, bytes);
      const damaged = await opened(fs);
      const counts = ["name = 'name 7'", 'id = 7'].map((predicate) =>
        damaged.countTableRows({ id, predicate }),
      );
      expect(await Promise.all(counts)).toEqual([{ count: 1 }, { count: 1 }]);
      const covered = (await coverage(damaged)) as number[][];
      expect(covered.map(([rows]) => rows).sort()).toEqual([0, 50]);
    }
    fs.writeFileSync(path, whole);
  }
});

test('an index is built beside appends, deletions and another index', async () => {
  const catalog = await opened(memoryFs());
  await grown(catalog);
  const changes = Array.from({ length: 6 }, async (_, at) => {
    await catalog.insertIntoTable({ id }, people(3, 100 + at * 3));
    if (at % 2 === 0) await catalog.deleteFromTable({ id, predicate: `id = ${at}` });
  });
  const indexes = ['id', 'name'].map((column) =>
    catalog.createTableIndex({ id, column, index_type: 'BTREE' }),
  );
  await Promise.all([...changes, ...indexes]);
  expect((await catalog.listTableIndices({ id })).indexes).toHaveLength(2);
  await catalog.optimizeTable({ id });
  expect(await coverage(catalog)).toEqual([
    [65, 0, 1],
    [65, 0, 1],
  ]);
  for (const at of [0, 1, 2, 44, 117]) {
    const { count } = await catalog.countTableRows({ id, predicate: `name = 'name ${at}'` });
    expect(count).toBe(at === 0 || at === 2 ? 0 : 1);
  }
});
