/** Answers through indexes where nulls, deletions, other versions and several indexes meet. */
import { beforeEach, expect, test } from 'vitest';
import { Field, FixedSizeList, Int32, List, Schema } from '../../../src/arrow/apache.ts';
import { dataOf, recordBatch } from '../../../src/arrow/index.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { encodeIpcStream } from '../../../src/ipc/encode/ipc-stream.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

const id = ['t'];
const item = new Field('item', new Int32(), true);
let catalog: DirectoryNamespace;

const rows = (from: number, count: number) =>
  toRecordBatchStream(
    Array.from({ length: count }, (_, at) => ({
      n: at % 3 === 0 ? null : from + at,
      m: from + at,
      s: ['abc', 'abd', 'acc'][at % 3],
    })),
    {
      columnTypes: new Map([
        ['n', new Int32()],
        ['m', new Int32()],
      ]),
    },
  );

const index = (column: string, index_type = 'BTREE'): Promise<unknown> =>
  catalog.createTableIndex({ id, column, index_type });
const counted = async (predicate: string): Promise<number> =>
  (await catalog.countTableRows({ id, predicate })).count;
const names = async (): Promise<string[]> =>
  (await catalog.listTableIndices({ id })).indexes.map(({ index_name }) => index_name);

beforeEach(async () => {
  const limits = { indexedRows: 0, indexedShare: 1 };
  catalog = await openDirectoryNamespace({
    root: '/c',
    fs: memoryFs(),
    durability: 'relaxed',
    limits,
  });
  await catalog.createTable({ id }, await rows(0, 30));
});

test.each(['BTREE', 'BITMAP'])('nulls are in no range of a %s', async (type) => {
  await index('n', type);
  expect(await counted('n = 0')).toBe(0);
  expect(await counted('n >= -5')).toBe(20);
  expect(await counted('n < 5')).toBe(3);
  expect(await counted('n = 28')).toBe(1);
  expect(await counted('n IS NULL')).toBe(10);
});

test('a pattern with more than a prefix is checked on the rows', async () => {
  await index('s');
  expect(await counted("s LIKE 'a%'")).toBe(30);
  expect(await counted("s LIKE 'a%c'")).toBe(20);
  expect(await counted("s LIKE 'ab_'")).toBe(20);
});

test('deleted rows are not counted, nor found', async () => {
  await index('s', 'BITMAP');
  await catalog.deleteFromTable({ id, predicate: 'm < 6' });
  expect(await counted("s = 'abc'")).toBe(8);
});

test('OR asks each index for the fragments that all of them cover', async () => {
  await index('m');
  await catalog.insertIntoTable({ id }, await rows(100, 30));
  await index('n');
  expect(await counted('n = 101 OR m = 100')).toBe(2);
  expect(await counted('m = 100 OR n = 101')).toBe(2);
  expect(await counted('m = 100 AND n = 101')).toBe(0);
  expect(await counted('n = 101 AND m = 101')).toBe(1);
});

test('an overwrite leaves no index, and restoring brings those of the version back', async () => {
  await index('m');
  await index('s');
  await catalog.dropTableIndex({ id, index_name: 's_idx' });
  await catalog.insertIntoTable({ id, mode: 'overwrite' }, await rows(50, 10));
  expect(await names()).toEqual([]);
  expect(await counted('m = 55')).toBe(1);
  await catalog.restoreTable({ id, version: 3 });
  expect(await names()).toEqual(['m_idx', 's_idx']);
  expect(await counted('m = 5')).toBe(1);
  expect(await counted('m = 55')).toBe(0);
});

test.each([12, 400])(
  'a row counts once for an item that a list of %i items repeats',
  async (items) => {
    const lists = Array.from({ length: 30 }, (_, row) => ({
      l: Array.from({ length: items }, (_, at) => (at % 7 === 0 ? null : (row + at) % (items - 4))),
    }));
    await catalog.createTable(
      { id, mode: 'overwrite' },
      await toRecordBatchStream(lists, { columnTypes: new Map([['l', new List(item)]]) }),
    );
    const tests = [0, 3, items - 5].map((value) => `array_has_any(l, [${value}])`);
    const scanned = await Promise.all(tests.map(counted));
    await index('l', 'LABEL_LIST');
    expect(await Promise.all(tests.map(counted))).toEqual(scanned);
    expect(scanned.every((count) => count > 0 && count <= 30)).toBe(true);
  },
);

test('a step of an index of lists has some thousand items, however long the lists are', async () => {
  const values = Int32Array.from({ length: 100 * 4_000 }, (_, at) => at % 50);
  const offsets = Int32Array.from({ length: 101 }, (_, at) => at * 4_000);
  const child = dataOf(item.type, values.length, { values });
  const lists = dataOf(new List(item), 100, { offsets, children: [child] });
  const schema = new Schema([new Field('l', lists.type, true)]);
  async function* batches() {
    yield recordBatch(schema, [lists], 100);
  }
  const stream = Object.assign(batches(), { schema });
  await catalog.createTable({ id, mode: 'overwrite' }, encodeIpcStream(stream));
  const { signal } = new AbortController();
  let looks = 0;
  signal.throwIfAborted = () => {
    looks += 1;
  };
  const request = { id, column: 'l', index_type: 'LABEL_LIST' };
  await catalog.createTableIndex(request, { signal });
  expect(looks).toBeGreaterThan(values.length / 16_384);
  expect(await counted('array_has_any(l, [7])')).toBe(100);
});

test.each([
  ['list', new List(item)],
  ['fixed_size_list', new FixedSizeList(2, item)],
])('an index of a %s that is coded in several steps finds what a scan finds', async (_, type) => {
  const lists = Array.from({ length: 20_000 }, (_, row) => ({ l: [row % 1_000, row >> 4] }));
  const columnTypes = new Map([['l', type]]);
  await catalog.createTable(
    { id, mode: 'overwrite' },
    await toRecordBatchStream(lists, { columnTypes }),
  );
  const tests = ['[1]', '[600]', '[1249]', '[999, 1100]'].map(
    (some) => `array_has_any(l, ${some})`,
  );
  const scanned = await Promise.all(tests.map(counted));
  await index('l', 'LABEL_LIST');
  expect(await Promise.all(tests.map(counted))).toEqual(scanned);
});

test('rows are counted by indexes that name all of them, without reading a row', async () => {
  const fs = memoryFs();
  const opened = () => openDirectoryNamespace({ root: '/d', fs, durability: 'relaxed' });
  catalog = await opened();
  const rows = Array.from({ length: 5_000 }, (_, at) => ({
    l: at % 17 === 0 ? null : [at % 40, (at * 7) % 40],
    m: at,
    s: `s${at % 25}`,
  }));
  const columnTypes = new Map([['l', new List(item)]]);
  await catalog.createTable({ id }, await toRecordBatchStream(rows, { columnTypes }));
  const asked = [
    'array_has_any(l, [3, 4])',
    'array_has_all(l, [3, 21])',
    'm >= 100 AND m < 600',
    "m >= 100 AND m < 300 AND s = 's7'",
    "s = 's1' OR array_has(l, 3)",
  ];
  const scanned = await Promise.all(asked.map(counted));
  expect(scanned.every((count) => count > 0)).toBe(true);
  for (const [column, type] of Object.entries({ l: 'LABEL_LIST', m: 'BTREE', s: 'BITMAP' }))
    await index(column, type);
  const folder = (await catalog.describeTable({ id })).location as string;
  const [file] = fs.readdirSync(`${folder}/data`) as string[];
  const path = `${folder}/data/${file}`;
  const bytes = fs.readFileSync(path) as Buffer;
  bytes.fill(0xaa, 64, bytes.length >> 1);
  fs.writeFileSync(path, bytes);
  catalog = await opened();
  expect(await Promise.all(asked.map(counted))).toEqual(scanned);
  await expect(counted('m % 2 = 0')).rejects.toMatchObject({ code: 'Corrupt' });
});
