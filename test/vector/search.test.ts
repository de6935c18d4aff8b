import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ElementType, Metric } from '../../src/vector/elements.ts';
import { createNearest } from '../../src/vector/nearest.ts';
import { createSearch, type SearchOptions, type VectorBatch } from '../../src/vector/search.ts';
import { distances } from '../helpers/distances.ts';
import { casesOf } from '../helpers/long.ts';
import { numbersOf, randomValues } from '../helpers/naive-vectors.ts';
import { seeded } from '../helpers/seeded.ts';
import { finished, type Match, run } from '../helpers/steps.ts';

const BOTH = ['simd', 'plain'] as const;
const base = { metric: 'l2', dimension: 1, elementType: 'float32', k: 10 } as const;

function search(options: Partial<SearchOptions>, batch: Partial<VectorBatch>): Match[] {
  const values = batch.values ?? new Float32Array(0);
  const made = createSearch({ ...base, queries: [[0]], ...options });
  run(made.add({ values, rows: values.length, ...batch }, 100));
  return finished(made)[0] as Match[];
}

const positions = (matches: readonly Match[]): number[] => matches.map((match) => match.position);

describe.each(BOTH)('with %s kernels', (kernels) => {
  test('finds the nearest, nearest first, ties in order of position', () => {
    const values = Float32Array.from({ length: 3000 }, (_, index) => (index * 7) % 5);
    expect(search({ kernels, k: 4 }, { values })).toEqual([
      { query: 0, position: 100, distance: 0 },
      { query: 0, position: 105, distance: 0 },
      { query: 0, position: 110, distance: 0 },
      { query: 0, position: 115, distance: 0 },
    ]);
    expect(positions(search({ kernels, k: 602 }, { values })).slice(-2)).toEqual([103, 108]);
  });

  test('ties do not depend on the order of batches', () => {
    const made = createSearch({ ...base, kernels, queries: [[0]], k: 3 });
    for (const first of [20, 0, 10])
      run(made.add({ values: new Float32Array(10), rows: 10 }, first));
    expect(positions(finished(made)[0] as Match[])).toEqual([0, 1, 2]);
  });

  test('nulls never match, whatever lies under them', () => {
    const values = Float32Array.of(0, 3, 0, 1, 2, NaN, 0, 5, 0, 6);
    const validity = Uint8Array.of(0b01011000, 0b00010101); // From bit 3 on: 1 1 0 1 0 1 0 1 0 1
    const found = search({ kernels }, { values, validity, validityOffset: 3 });
    expect(positions(found)).toEqual([100, 103, 101, 107, 109]);
  });

  test('only selected rows match, in whatever order they are given', () => {
    const values = Float32Array.from({ length: 5000 }, (_, index) => 5000 - index);
    const selection = Uint32Array.of(9, 8, 7, 4000, 4001, 4002, 10, 4999);
    const found = search({ kernels, k: 5 }, { values, selection });
    expect(positions(found)).toEqual([5099, 4102, 4101, 4100, 110]);
    expect(search({ kernels }, { values, selection: new Uint32Array(0) })).toEqual([]);
    const validity = new Uint8Array(625).fill(255);
    validity[500] = 0b11111101;
    expect(positions(search({ kernels, k: 2 }, { values, selection, validity }))).toEqual([
      5099, 4102,
    ]);
    expect(() => search({ kernels }, { values, selection: Uint32Array.of(5000) })).toThrow(
      /Row 5000 was selected of a batch of 5000/,
    );
  });

  test('bounds take the lower in and leave the upper out', () => {
    const values = Float32Array.of(0, 1, 2, 3, Infinity, NaN, -1);
    const between = (lowerBound?: number, upperBound?: number): number[] =>
      search({ kernels, lowerBound, upperBound }, { values }).map((match) => match.distance);
    expect(between(1, 9)).toEqual([1, 1, 4]);
    expect(between(undefined, 1)).toEqual([0]);
    expect(between(4)).toEqual([4, 9, Infinity]);
    expect(between(0, Infinity)).toEqual([0, 1, 1, 4, 9]);
    expect(between(9, 1)).toEqual([]);
    // A bound is a float32, as distances are: 0.1 as given would leave the third out.
    const tenths = { values: Float32Array.of(0.1), dimension: 1 };
    const options = { kernels, metric: 'dot', queries: [[9]] } as const;
    const exact = search(options, tenths)[0]?.distance as number;
    expect(search({ ...options, lowerBound: exact + 1e-12 }, tenths)).toHaveLength(1);
  });

  test('infinite distances come last, NaN not at all', () => {
    const values = Float32Array.of(NaN, Infinity, 1, -Infinity, 0, NaN);
    expect(positions(search({ kernels }, { values }))).toEqual([104, 102, 101, 103]);
    expect(positions(search({ kernels, k: 3 }, { values }))).toEqual([104, 102, 101]);
    expect(search({ kernels, queries: [[NaN]] }, { values })).toEqual([]);
  });

  test('k beyond the rows gives every row', () => {
    const random = seeded(9);
    const values = randomValues('float32', 5000, random);
    for (const k of [5000, 5001, Number.MAX_SAFE_INTEGER, 2 ** 63, Infinity]) {
      const found = search({ kernels, k }, { values });
      const sorted = [...values.keys()].sort(
        (a, b) =>
          Math.fround((values[a] as number) ** 2) - Math.fround((values[b] as number) ** 2) ||
          a - b,
      );
      expect(positions(found)).toEqual(sorted.map((row) => row + 100));
    }
  });
});

test('queries are answered apart, in their order', () => {
  const values = Float32Array.of(0, 1, 2, 3);
  const made = createSearch({ ...base, queries: [[0], [3], Float32Array.of(1.9)], k: 2 });
  run(made.add({ values, rows: 4 }, 0));
  const found = finished(made);
  expect(found.map(positions)).toEqual([
    [0, 1],
    [3, 2],
    [2, 1],
  ]);
  expect(found.map((matches) => matches.map((match) => match.query))).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ]);
});

test('searches may be fed in turn', () => {
  const random = seeded(3);
  const first = createSearch({ ...base, dimension: 3, queries: [[0, 0, 0]], k: 5 });
  const other = createSearch({
    ...base,
    elementType: 'uint8',
    metric: 'hamming',
    dimension: 40,
    queries: [new Uint8Array(40)],
    k: 5,
  });
  const floats = randomValues('float32', 300, random);
  const bytes = randomValues('uint8', 4000, random);
  for (let part = 0; part < 4; part += 1) {
    const rows = 25 * part;
    run(first.add({ values: floats.subarray(rows * 3), rows: 25 }, rows));
    run(other.add({ values: bytes.subarray(rows * 40), rows: 25 }, rows));
  }
  const alone = createSearch({ ...base, dimension: 3, queries: [[0, 0, 0]], k: 5 });
  run(alone.add({ values: floats, rows: 100 }, 0));
  expect(finished(first)).toEqual(finished(alone));
  expect(finished(other)[0]).toHaveLength(5);
});

test('a search is what sorting every distance gives', () => {
  const types: ElementType[] = ['float16', 'float32', 'float64', 'uint8'];
  const metrics: Metric[] = ['l2', 'cosine', 'dot', 'hamming'];
  fc.assert(
    fc.property(
      fc.record({
        type: fc.constantFrom(...types),
        metric: fc.constantFrom(...metrics),
        dimension: fc.constantFrom(1, 2, 3, 7, 16, 33),
        rows: fc.integer({ min: 0, max: 700 }),
        batches: fc.integer({ min: 1, max: 4 }),
        k: fc.integer({ min: 1, max: 800 }),
        queries: fc.integer({ min: 1, max: 3 }),
        nulls: fc.boolean(),
        selected: fc.boolean(),
        seed: fc.nat(),
      }),
      (given) => {
        const { type, dimension, rows, k, seed } = given;
        const metric = given.metric === 'hamming' && type !== 'uint8' ? 'l2' : given.metric;
        const random = seeded(seed);
        const values = randomValues(type, rows * dimension, random);
        const queries = Array.from({ length: given.queries }, () =>
          numbersOf(randomValues(type, dimension, random), 0, dimension),
        );
        const valid = Array.from({ length: rows }, () => !given.nulls || random() < 0.8);
        const chosen = Array.from({ length: rows }, () => !given.selected || random() < 0.5);
        const options = { metric, elementType: type, dimension, queries, k };
        const found = BOTH.map((kernels) => {
          const made = createSearch({ ...options, kernels });
          const size = Math.max(1, Math.ceil(rows / given.batches));
          for (let from = 0; from < rows; from += size) {
            const count = Math.min(size, rows - from);
            const own = Array.from({ length: count }, (_, row) => row);
            run(
              made.add(
                {
                  values: values.subarray(from * dimension, (from + count) * dimension),
                  rows: count,
                  validity: given.nulls ? bitmapOf(valid.slice(from, from + count)) : undefined,
                  selection: given.selected
                    ? Uint32Array.from(own.filter((row) => chosen[from + row]))
                    : undefined,
                },
                from,
              ),
            );
          }
          return finished(made);
        });
        const expected = queries.map((vector, query) => {
          const all = distances(metric, vector, values, dimension, rows);
          return Array.from(all, (distance, position) => ({ query, position, distance }))
            .filter(({ position }) => valid[position] && chosen[position])
            .filter(({ distance }) => !Number.isNaN(distance))
            .sort((a, b) => a.distance - b.distance || a.position - b.position)
            .slice(0, k);
        });
        expect(found).toEqual([expected, expected]);
      },
    ),
    { numRuns: casesOf(80, 150) },
  );
});

function bitmapOf(bits: readonly boolean[]): Uint8Array {
  const bitmap = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, index) => {
    if (bit) bitmap[index >> 3] = (bitmap[index >> 3] as number) | (1 << (index & 7));
  });
  return bitmap;
}

test('the k nearest of any offers, in any order', () => {
  const offers = fc.array(fc.tuple(fc.integer({ min: -5, max: 5 }), fc.nat(30)), {
    maxLength: 300,
  });
  fc.assert(
    fc.property(offers, fc.integer({ min: 1, max: 100 }), (given, k) => {
      const nearest = createNearest(k);
      for (const [distance, position] of given) nearest.offer(distance, position);
      const { distances: found, positions: at } = run(nearest.drain());
      const sorted = given.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, k);
      expect([...found].map((distance, index) => [distance, at[index]])).toEqual(sorted);
    }),
  );
});

test('what cannot be asked is refused', () => {
  const make = (options: Partial<SearchOptions>) => () =>
    createSearch({ ...base, queries: [[0]], ...options });
  for (const k of [0, -1, 1.5, NaN]) expect(make({ k })).toThrow(/ask for 1 or more/);
  expect(make({ queries: [] })).toThrow(/needs a query vector/);
  expect(make({ queries: [[1, 2]] })).toThrow(/dim\(2\) doesn.t match/);
  expect(make({ lowerBound: NaN })).toThrow(/lower bound/);
  expect(make({ elementType: 'int8' as ElementType })).toThrow(/int8/);
  const made = createSearch({ ...base, queries: [[0]] });
  expect(() => run(made.add({ values: new Float64Array(1), rows: 1 }, 0))).toThrow(/Float32Array/);
  expect(() => run(made.add({ values: new Float32Array(1), rows: 2 }, 0))).toThrow(/need 2 values/);
  finished(made);
  expect(() => finished(made)).toThrow(expect.objectContaining({ code: 'Closed' }));
  expect(() => run(made.add({ values: new Float32Array(1), rows: 1 }, 0))).toThrow(/finished/);
});

test('many query vectors are measured in steps, beside other searches', () => {
  const random = seeded(11);
  const [dimension, rows, k] = [8, 4_000, 3];
  const values = randomValues('float32', rows * dimension, random) as Float32Array;
  const queries = Array.from({ length: 400 }, () =>
    numbersOf(randomValues('float32', dimension, random), 0, dimension),
  );
  const options = { ...base, dimension, queries, k };
  const other = createSearch({ ...base, dimension: 5, queries: [[1, 2, 3, 4, 5]] });
  const made = createSearch(options);
  let steps = 0;
  for (const _ of made.add({ values, rows }, 0)) {
    steps += 1;
    // Lays its rows where those of the first search lie.
    run(other.add({ values: new Float32Array(500).fill(steps), rows: 100 }, 0));
  }
  // 1.6 million rows measured: no step takes more than the fiftieth part of them.
  expect(steps).toBeGreaterThan(30);
  const found = finished(made);
  queries.forEach((query, at) => {
    const alone = createSearch({ ...options, queries: [query] });
    run(alone.add({ values, rows }, 0));
    const [expected] = finished(alone);
    expect(found[at]).toEqual(expected?.map((match) => ({ ...match, query: at })));
  });
});

test('a search of all rows says what it holds, and orders its rows in steps', () => {
  const rows = 40_000;
  const values = Float32Array.from({ length: rows }, (_, row) => (row * 7919) % rows);
  const made = createSearch({ ...base, queries: [[0]], k: Infinity });
  run(made.add({ values, rows }, 0));
  expect(made.heldBytes).toBeGreaterThanOrEqual(12 * rows);
  expect(made.heldBytes).toBeLessThan(24 * rows + 1024);
  expect([...made.finish()].length).toBeGreaterThanOrEqual(4);
});
