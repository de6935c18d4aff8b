/** Columns of several vectors to a row: searched by late interaction, as a naive program does it. */
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int32,
  LargeList,
  List,
  Schema,
  Uint8,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { Connection, connect, connectNamespace } from '../../../src/index.ts';
import { createServer } from '../../../src/server.ts';
import type { Metric } from '../../../src/vector/elements.ts';
import { createLateSearch } from '../../../src/vector/late-interaction.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { naiveDistance } from '../../helpers/naive-vectors.ts';
import { seeded } from '../../helpers/seeded.ts';

const DIMENSION = 3;
type Vectors = (number[] | null)[] | null;

const schemaOf = (element: DataType, large = false): Schema => {
  const vector = new FixedSizeList(DIMENSION, new Field('item', element, true));
  const Lists = large ? LargeList : List;
  return new Schema([
    new Field('id', new Int32(), false),
    new Field('parts', new Lists(new Field('item', vector, true)), true),
  ]);
};

/** Whole numbers of 0 to 8, which every element type has. */
function randomRows(count: number, random: () => number): { id: number; parts: Vectors }[] {
  const vector = (): number[] => Array.from({ length: DIMENSION }, () => Math.floor(random() * 9));
  return Array.from({ length: count }, (_, id) => {
    if (random() < 0.1) return { id, parts: null };
    const parts = Array.from({ length: Math.floor(random() * 5) }, () =>
      random() < 0.1 ? null : vector(),
    );
    return { id, parts };
  });
}

/** The distance of a row; undefined where it has none to one of the query's vectors. */
function naive(metric: Metric, query: number[][], parts: Vectors): number | undefined {
  let sum = 0;
  for (const vector of query) {
    const distances = (parts ?? [])
      .filter((part) => part !== null)
      .map((part) => naiveDistance(metric, vector, part as number[]))
      .filter((distance) => !Number.isNaN(distance));
    if (distances.length === 0) return undefined;
    sum += Math.min(...distances);
  }
  return sum;
}

const TYPES: [string, DataType, Metric[]][] = [
  ['float32', new Float32(), ['cosine', 'l2', 'dot']],
  ['float16', new Float16(), ['cosine', 'l2']],
  ['float64', new Float64(), ['cosine', 'dot']],
  ['uint8', new Uint8(), ['l2', 'hamming']],
];

describe.each(TYPES)('vectors of %s', (name, element, metrics) => {
  test('the nearest rows and their distances, here and over a server', async () => {
    const random = seeded(7);
    const rows = randomRows(120, random);
    const fs = memoryFs();
    const limits = { batchRows: 16, fragmentRows: 50 };
    const db = new Connection(await openDirectoryNamespace({ root: '/c', fs, limits }));
    const table = await db.createTable('t', rows, {
      schema: schemaOf(element, name === 'float64'),
    });
    await table.delete('id % 13 = 5');
    const server = await createServer({
      namespace: db.namespace,
      limits: { maxEventLoopDelayMs: 0 },
    });
    const there = await connectNamespace('rest', { uri: 'http://x' }, { fetch: server.fetch });
    const remote = await there.openTable('t');
    for (const metric of metrics) {
      for (const vectors of [1, 2, 5]) {
        const query = Array.from({ length: vectors }, () =>
          Array.from({ length: DIMENSION }, () => 1 + Math.floor(random() * 8)),
        );
        const expected = rows
          .filter(({ id }) => id % 13 !== 5)
          .flatMap(({ id, parts }) => {
            const distance = naive(metric, query, parts);
            return distance === undefined ? [] : [{ id, distance }];
          })
          .sort((a, b) => Math.fround(a.distance) - Math.fround(b.distance) || a.id - b.id);
        const search = (of: typeof table) =>
          of.search(vectors === 1 ? (query[0] as number[]) : query).distanceType(metric as 'l2');
        const found = async (asked: ReturnType<typeof search>) => {
          const answered = await asked.select(['id']).toArray();
          expect(Object.keys(answered[0] ?? {})).toEqual(['id', '_distance']);
          return answered as unknown as { id: number; _distance: number }[];
        };
        const all = await found(search(table).limit(200));
        expect(all.length).toBe(expected.length);
        // Sums of equal distances may differ in their last digit, and then come in another order.
        for (const [at, { id, _distance }] of all.entries()) {
          expect(_distance).toBeCloseTo(expected[at]?.distance as number, 4);
          const own = expected.find((one) => one.id === id);
          expect(_distance).toBeCloseTo(own?.distance as number, 4);
        }
        expect(await found(search(remote).limit(200))).toEqual(all);
        expect(await found(search(table).limit(5).offset(3))).toEqual(all.slice(3, 8));
        const few = all.filter(({ id }) => id % 2 === 0);
        expect(await found(search(table).where('id % 2 = 0').limit(7))).toEqual(few.slice(0, 7));
        const after = search(table).where('id % 2 = 0').postfilter().limit(9);
        expect(await found(after)).toEqual(all.slice(0, 9).filter(({ id }) => id % 2 === 0));
        const [low, high] = [all[4]?._distance as number, all[30]?._distance as number];
        expect(await found(search(table).distanceRange(low, high).limit(200))).toEqual(
          all.filter(({ _distance }) => _distance >= low && _distance < high),
        );
      }
    }
  });
});

test('plans say so, and what does not fit is refused', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = [{ id: 1, parts: [[1, 0, 0]] }];
  const table = await db.createTable('t', rows, { schema: schemaOf(new Float32()) });
  const plan = await table
    .search([
      [1, 0, 0],
      [0, 1, 0],
    ])
    .distanceType('cosine')
    .explainPlan();
  expect(plan).toContain('Nearest: parts by cosine to 2 vectors together');
  await expect(table.search([1, 0]).toArray()).rejects.toThrow('dimension: 2');
  await expect(table.search([[1, 0, 0], [1]]).toArray()).rejects.toThrow('query dim(1)');
  expect(await table.search([1, 0, 0]).limit(0).toArray()).toEqual([]);
  const [only] = await table.search([1, 0, 0]).toArray();
  expect(only).toMatchObject({ id: 1, _distance: 0 });
  const empty = await db.createTable('e', [], { schema: schemaOf(new Float32()) });
  expect(await empty.search([1, 0, 0]).toArray()).toEqual([]);
});

test('many vectors to a row, in steps, by both kernels alike', () => {
  const random = seeded(3);
  const dimension = 8;
  const lengths = [5_000, 0, 1, 3_000, 2];
  const rows = lengths.reduce((sum, length) => sum + length, 0);
  const values = Float32Array.from({ length: rows * dimension }, () => random() - 0.5);
  const ends = Uint32Array.from(lengths);
  for (let at = 1; at < ends.length; at++)
    ends[at] = (ends[at] as number) + (ends[at - 1] as number);
  const starts = Uint32Array.from(ends, (_, at) => (at === 0 ? 0 : (ends[at - 1] as number)));
  const queries = Array.from({ length: 40 }, () =>
    Array.from({ length: dimension }, () => random() - 0.5),
  );
  const search = (kernels: 'simd' | 'plain') => {
    const late = createLateSearch({
      metric: 'l2',
      dimension,
      elementType: 'float32',
      queries,
      k: 10,
      kernels,
    });
    const other = createLateSearch({
      metric: 'l2',
      dimension,
      elementType: 'float32',
      queries: [queries[0] as number[]],
      k: 10,
      kernels,
    });
    let steps = 0;
    const batch = { vectors: { values, rows }, rows: Uint32Array.of(0, 1, 2, 3, 4), starts, ends };
    for (const _ of late.add(batch, 100)) {
      steps++;
      // Another search lays its vectors at the same place meanwhile.
      const twisted = { ...batch, vectors: { values: values.map((value) => -value), rows } };
      if (steps < 3) for (const __ of other.add(twisted, 0));
    }
    const drain = late.finish();
    let next = drain.next();
    while (!next.done) next = drain.next();
    return { steps, ...next.value };
  };
  const [simd, plain] = [search('simd'), search('plain')];
  expect(simd.steps).toBeGreaterThan(1);
  expect([...simd.positions]).toEqual([...plain.positions]);
  expect([...simd.distances]).toEqual([...plain.distances]);
  const expected = lengths
    .flatMap((length, row) => {
      if (length === 0) return [];
      let sum = 0;
      for (const query of queries) {
        let least = Infinity;
        for (let at = starts[row] as number; at < (ends[row] as number); at++) {
          const own = Array.from(values.subarray(at * dimension, (at + 1) * dimension));
          least = Math.min(least, naiveDistance('l2', query, own));
        }
        sum += least;
      }
      return [{ row, sum }];
    })
    .sort((a, b) => a.sum - b.sum);
  expect([...simd.positions]).toEqual(expected.map(({ row }) => 100 + row));
  for (const [at, { sum }] of expected.entries()) expect(simd.distances[at]).toBeCloseTo(sum, 3);
});

test.each([0, -1, 1.5, Number.NaN])('a late search for %s rows is refused', (k) => {
  const asked = { metric: 'l2', dimension: 2, elementType: 'float32', queries: [[1, 2]] } as const;
  expect(() => createLateSearch({ ...asked, k })).toThrow(`the nearest ${k} rows is not possible`);
  expect(() => createLateSearch({ ...asked, k: Infinity })).not.toThrow();
});
