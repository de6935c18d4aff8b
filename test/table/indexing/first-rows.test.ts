/** The first rows of an order through a BTREE: of every type, in every direction, with conditions. */
import { expect, test } from 'vitest';

import {
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  Float16,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  LargeUtf8,
  Schema,
  TimeMicrosecond,
  TimestampNanosecond,
  Uint64,
  Utf8,
} from '../../../src/arrow/apache.ts';
import {
  type DirectoryNamespace,
  openDirectoryNamespace,
} from '../../../src/directory/directory-namespace.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows } from '../../../src/sdk/convert/rows.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';
import { seeded } from '../../helpers/seeded.ts';

const id = ['t'];

const TYPES: Readonly<Record<string, readonly [DataType, (value: number) => unknown]>> = {
  bool: [new Bool(), (value) => value % 2 === 0],
  int8: [new Int8(), (value) => value - 20],
  int64: [new Int64(), (value) => BigInt(value - 20) * 2n ** 55n],
  uint64: [new Uint64(), (value) => BigInt(value) * 2n ** 58n],
  float16: [new Float16(), (value) => (value - 20) / 2],
  float32: [new Float32(), (value) => (value === 5 ? Number.NaN : (value - 20) / 3)],
  float64: [
    new Float64(),
    (value) => [Number.NaN, -0, 0, -Infinity, Infinity][value] ?? value - 20,
  ],
  decimal: [new Decimal(2, 30, 128), (value) => BigInt(value - 20) * 10n ** 20n],
  day: [new DateDay(), (value) => new Date((value - 20) * 86_400_000)],
  time: [new TimeMicrosecond(), (value) => BigInt(value * 1_000)],
  stamp: [new TimestampNanosecond(), (value) => BigInt(value - 20) * 10n ** 15n],
  text: [new Utf8(), (value) => ['', 'a', 'ab', 'b\u{1F600}', 'b\uFFFF'][value] ?? `t${value}`],
  large: [new LargeUtf8(), (value) => `same start ${value}`],
  bytes: [new FixedSizeBinary(2), (value) => Uint8Array.of(255 - value, value)],
  named: [new Dictionary(new Utf8(), new Int32()), (value) => `n${value}`],
};

const schema = new Schema([
  new Field('key', new Int32(), false),
  ...Object.entries(TYPES).map(([name, [type]]) => new Field(name, type, true)),
]);

const random = seeded(3);
const below = (most: number): number => Math.floor(random() * most);

const rows = (from: number, count: number) =>
  toRecordBatchStream(
    Array.from({ length: count }, (_, at) =>
      Object.fromEntries([
        ['key', from + at],
        ...Object.entries(TYPES).map(([name, [, make]]) => [
          name,
          below(6) === 0 ? null : make(below(40)),
        ]),
      ]),
    ),
    { schema },
  );

async function answer(catalog: DirectoryNamespace, request: object, key = 'key'): Promise<string> {
  const columns = { column_names: [key] };
  const found = await collectRows(await catalog.queryTable({ id, columns, ...request } as never));
  return found.map((row) => (row as Record<string, number>)[key]).join(' ');
}

const noteOf = async (catalog: DirectoryNamespace, query: object): Promise<string> => {
  const plan = await catalog.explainTableQueryPlan({ id, query: { id, ...query } } as never);
  return /Index: (.*?)(\\n|\n|"|$)/.exec(JSON.stringify(plan))?.[1] ?? '';
};

test('of every type, with and without a condition', async () => {
  const fs = memoryFs();
  const small = { batchRows: 16, fragmentRows: 64, segmentRows: 128 };
  const open = (limits: object): Promise<DirectoryNamespace> =>
    openDirectoryNamespace({ root: '/c', fs, durability: 'relaxed', limits });
  const indexed = await open({ ...small, indexedRows: 0, indexedShare: 8 });
  const plain = await open({ ...small, indexedRows: Number.POSITIVE_INFINITY });
  await indexed.createTable({ id }, await rows(0, 100));
  await indexed.insertIntoTable({ id }, await rows(100, 90));
  for (const column of Object.keys(TYPES)) {
    await indexed.createTableScalarIndex({ id, column, index_type: 'BTREE' });
  }
  await indexed.deleteFromTable({ id, predicate: 'key % 7 = 3' });
  await indexed.insertIntoTable({ id }, await rows(190, 15));
  for (const column_name of Object.keys(TYPES)) {
    const ways = [0, 1, 2, 3].filter(() => casesOf(0, 1) === 1 || below(2) === 0);
    for (const way of ways) {
      const order = { column_name, ascending: way < 2, nulls_first: way % 2 === 0 };
      const order_by = [order, { column_name: 'key', ascending: below(2) === 0 }];
      for (const filter of [undefined, 'key % 3 = 1', 'key < 0']) {
        const request = {
          order_by: below(2) === 0 ? order_by : [order],
          k: 1 + below(way === 0 ? 80 : 12),
          offset: below(3),
          ...(filter === undefined ? {} : { filter }),
        };
        const what = JSON.stringify(request);
        expect([what, await answer(indexed, request)]).toEqual([
          what,
          await answer(plain, request),
        ]);
        if (filter === 'key < 0' || request.k > 20 || below(4) > 0) continue;
        expect([what, await noteOf(indexed, request)]).toEqual([
          what,
          expect.stringContaining(`${column_name}_idx gives the first `),
        ]);
      }
    }
  }
});

test('of distinct values, one more row at a time, with rows deleted at both ends', async () => {
  const fs = memoryFs();
  const limits = { batchRows: 16, fragmentRows: 64, segmentRows: 128 };
  const open = (more: object): Promise<DirectoryNamespace> =>
    openDirectoryNamespace({
      root: '/c',
      fs,
      durability: 'relaxed',
      limits: { ...limits, ...more },
    });
  const indexed = await open({ indexedRows: 0, indexedShare: 8 });
  const plain = await open({ indexedRows: Number.POSITIVE_INFINITY });
  const numbers = Array.from({ length: 200 }, (_, at) => ({
    key: at,
    v: at % 20 === 0 ? null : (at * 73) % 211,
  }));
  await indexed.createTable({ id }, await toRecordBatchStream(numbers));
  await indexed.createTableScalarIndex({ id, column: 'v', index_type: 'BTREE' });
  const { indexes } = await indexed.listTableIndices({ id });
  expect(indexes[0]?.num_segments).toBe(2);
  for (const predicate of [undefined, 'v < 40 OR v > 170']) {
    if (predicate !== undefined) await indexed.deleteFromTable({ id, predicate });
    for (const way of [0, 1, 2, 3]) {
      const order_by = [{ column_name: 'v', ascending: way < 2, nulls_first: way % 2 === 0 }];
      for (const k of casesOf([1, 10, 11, 65], [1, 2, 9, 10, 11, 12, 30, 64, 65, 90])) {
        for (const filter of [undefined, 'key % 5 = 2']) {
          const request = { k, order_by, ...(filter === undefined ? {} : { filter }) };
          const what = JSON.stringify([predicate, request]);
          const expected = await answer(plain, request);
          expect([what, await answer(indexed, request)]).toEqual([what, expected]);
        }
      }
    }
  }
  const few = { k: 10, order_by: [{ column_name: 'v', nulls_first: true }] };
  expect(await noteOf(indexed, few)).toMatch(
    /^v_idx gives the first 10 of the order among \d\d of/,
  );
});

test('tells in its plan what an order is read from, or why from nothing', async () => {
  const limits = { indexedShare: 0.2 };
  const db = await openDirectoryNamespace({ root: '/c', fs: memoryFs(), limits });
  const numbers = (from: number, count: number) =>
    toRecordBatchStream(
      Array.from({ length: count }, (_, at) => ({ n: from + at, few: at % 2, other: at % 3 })),
    );
  await db.createTable({ id }, await numbers(0, 5_000));
  const note = (column_name: string, more: object = {}): Promise<string> =>
    noteOf(db, { k: 3, order_by: [{ column_name }], ...more });
  expect(await note('n')).toBe('');
  await db.createTableScalarIndex({ id, column: 'n', index_type: 'BTREE' });
  await db.createTableScalarIndex({ id, column: 'few', index_type: 'BTREE' });
  await db.createTableScalarIndex({ id, column: 'other', index_type: 'BITMAP' });
  expect(await note('n')).toBe('n_idx gives the first 3 of the order among 3 of 5000 rows');
  expect(await note('n', { offset: 4 })).toContain('gives the first 7 of the order among 7 of');
  expect(await note('n', { k: 6_000 })).toBe(
    'none used, an order of all rows is not read from one',
  );
  expect(await note('n', { k: 2_000 })).toBe('none used, n_idx would give 2000 of 5000 rows');
  expect(await note('few')).toBe('none used, few_idx would give 2500 of 5000 rows');
  expect(await note('other')).toBe('none used, other has no BTREE');
  expect(await note('n', { filter: 'n % 2 = 0' })).toBe(
    'n_idx gives the first 3 of the order among 64 of 5000 rows',
  );
  expect(await note('n', { filter: 'n > 4990' })).toContain('n_idx names 9 of 5000 rows');
  expect(await note('n', { filter: 'n < 0 OR other = 7' })).toContain('names 0 of 5000');
  expect(await note('n', { filter: 'n + 1 < 0' })).toBe('none used, none answers the condition');
  expect(await note('n', { filter: '_rowid > 5' })).toBe(
    'none used, the condition names rows by number',
  );
  expect(
    await answer(db, { k: 2, order_by: [{ column_name: 'n' }], filter: '_rowid > 5' }, 'n'),
  ).toBe('6 7');
  await db.insertIntoTable({ id }, await numbers(5_000, 10));
  expect(await note('n')).toBe(
    'n_idx gives the first 3 of the order among 3 of 5010 rows; fragments that are not covered and are scanned: 1',
  );
});
