/** Builds of vector indexes that are killed or fail, and those beside other changes of the table. */
import { expect, test } from 'vitest';
import { Field, FixedSizeList, Float32, Int32, Schema } from '../../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import type { FileSystem } from '../../../src/store/disk/file-system.ts';
import { strictFileSystem } from '../../../src/store/disk/strict-fs.ts';
import { withFlippedBit } from '../../helpers/damage.ts';
import { type Fault, FaultyFs } from '../../helpers/faulty-fs.ts';
import { bitsOf, casesOf } from '../../helpers/long.ts';
import { memoryFs, type TestFs } from '../../helpers/memory-fs.ts';
import { grow, type Tree, treeOf } from '../../helpers/trees.ts';

const ROOT = '/c';
const FOLDER = '/c/data/t.table/indexes';
const indexFiles = (fs: TestFs): string[] => fs.readdirSync(FOLDER) as string[];
const id = ['t'];
const schema = new Schema([
  new Field('id', new Int32(), true),
  new Field('vector', new FixedSizeList(4, new Field('item', new Float32(), true)), true),
]);
const rows = (from: number, count: number) =>
  toRecordBatchStream(
    Array.from({ length: count }, (_, at) => ({ id: from + at, vector: [from + at, at, 1, 2] })),
    { schema },
  );
const LIMITS = { batchRows: 8, fragmentRows: 16, segmentRows: 32, indexedRows: 0, indexedShare: 1 };

const open = (fs: FileSystem): Promise<DirectoryNamespace> =>
  openDirectoryNamespace({ root: ROOT, fs, limits: LIMITS });

const request = { id, column: 'vector', index_type: 'IVF_SQ' };

async function firstTree(): Promise<Tree> {
  const fs = memoryFs();
  const catalog = await open(strictFileSystem(fs));
  await catalog.createTable({ id }, await rows(0, 40));
  await catalog.deleteFromTable({ id, predicate: 'id = 3' });
  return treeOf(fs, ROOT);
}

/** The two rows nearest to one of an id, the lower first of equal ones. */
async function nearest(catalog: DirectoryNamespace, to: number): Promise<number[]> {
  const vector = { single_vector: [to, to, 1, 2] };
  const found: number[] = [];
  for await (const batch of await catalog.queryTable({ id, k: 2, vector, distance_type: 'l2' }))
    for (const value of batch.getChild('id') ?? []) found.push(Number(value));
  return found;
}

const FAULTS: readonly (Omit<Fault, 'at'> & { readonly step: number })[] = [
  { kind: 'kill', changing: true, step: casesOf(13, 1) },
  { kind: 'ENOSPC', persistent: true, step: casesOf(29, 1) },
];

test('every call of a build is the last one, or fails: the index is whole, or not there', async () => {
  const tree = await firstTree();
  let built = 0;
  for (const { step, ...fault } of FAULTS) {
    for (let at = 1; ; at += step) {
      const healthy = strictFileSystem(grow(tree, ROOT));
      const faulty = new FaultyFs(healthy);
      const catalog = await open(faulty.fs);
      faulty.arm({ ...fault, at });
      const failed = await catalog.createTableIndex(request).then(
        () => false,
        () => true,
      );
      const where = JSON.stringify({ ...fault, at });
      const again = await open(healthy);
      const { indexes } = await again.listTableIndices({ id });
      if (!failed) expect(indexes, where).toHaveLength(1);
      for (const one of indexes) {
        built += 1;
        expect([one.num_indexed_rows, one.num_segments], where).toEqual([39, 2]);
      }
      expect((await again.verify({})).problems, where).toEqual([]);
      expect(await nearest(again, 7), where).toEqual([7, 6]);
      await again.createTableIndex(request);
      expect((await again.listTableIndices({ id })).indexes, where).toHaveLength(1);
      if (!faulty.fired) break;
    }
  }
  expect(built).toBeGreaterThan(0);
}, 60_000);

test('a build that is cancelled leaves nothing behind, and tells how far it came', async () => {
  const fs = grow(await firstTree(), ROOT);
  const catalog = await open(strictFileSystem(fs));
  const controller = new AbortController();
  const build = catalog.createTableIndex(request, { signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(build).rejects.toThrow('enough');
  expect(fs.existsSync(FOLDER) ? indexFiles(fs) : []).toEqual([]);
  await catalog.createTableIndex(request);
  const before = indexFiles(fs).length;
  await catalog.insertIntoTable({ id }, await rows(40, 20));
  const told: number[] = [];
  await catalog.optimizeTable({ id, compact: false }, {
    on_progress: ({ rows_done: done }: { rows_done: number }) => told.push(done),
  } as never);
  // The eight rows of the last segment are indexed once more with those that came.
  expect(told.at(-1)).toBe(28);
  expect(indexFiles(fs).length).toBe(before + 2);
});

test('damage of any part of an index is found, by verify and by who reads it', async () => {
  const fs = grow(await firstTree(), ROOT);
  await (await open(strictFileSystem(fs))).createTableIndex(request);
  for (const name of indexFiles(fs)) {
    const path = `${FOLDER}/${name}`;
    const whole = fs.readFileSync(path) as Buffer;
    for (const bit of bitsOf(whole.length, casesOf(9_001, 7))) {
      fs.writeFileSync(path, withFlippedBit(whole, bit));
      const damaged = await open(strictFileSystem(fs));
      const { problems } = await damaged.verify({});
      expect([...new Set(problems.map(({ kind }) => kind))], `${name} ${bit}`).toEqual(['index']);
      expect(await nearest(damaged, 7), `${name} ${bit}`).toEqual([7, 6]);
    }
    fs.writeFileSync(path, whole);
  }
});

test('an index is built beside appends, deletions, compaction and another index', async () => {
  const fs = grow(await firstTree(), ROOT);
  const catalog = await open(strictFileSystem(fs));
  const changes = Array.from({ length: 5 }, async (_, at) => {
    await catalog.insertIntoTable({ id }, await rows(100 + at * 4, 4));
    if (at % 2 === 0) await catalog.deleteFromTable({ id, predicate: `id = ${10 + at}` });
    else await catalog.optimizeTable({ id });
  });
  const dot = { ...request, name: 'dot', distance_type: 'dot' };
  const builds = [request, dot].map((each) => catalog.createTableIndex(each));
  await Promise.all([...changes, ...builds]);
  await catalog.optimizeTable({ id });
  const { indexes } = await catalog.listTableIndices({ id });
  expect(indexes.map((one) => [one.num_indexed_rows, one.num_unindexed_rows])).toEqual([
    [56, 0],
    [56, 0],
  ]);
  for (const at of [7, 20, 33]) expect((await nearest(catalog, at))[0]).toBe(at);
  expect((await catalog.verify({})).problems).toEqual([]);
});
