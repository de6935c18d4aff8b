/** IVF indexes as functions of vectors: kernels against plain arithmetic, recall against exact search. */
import { describe, expect, test } from 'vitest';
import { IvfBuilder, type Partition } from '../../src/indexes/ivf/builder.ts';
import { BLOCK_ROWS, blockBytes, lengthOf, rowBytes } from '../../src/indexes/ivf/layout.ts';
import { PartitionMemory, requirePartitions } from '../../src/indexes/ivf/memory.ts';
import { Probe, type ProbeOptions } from '../../src/indexes/ivf/probe.ts';
import { floatsOf, type IvfMetric } from '../../src/indexes/ivf/rows.ts';
import { signsOf, spanOf, turn } from '../../src/indexes/ivf/turning.ts';
import { Workbench } from '../../src/indexes/ivf/workbench.ts';
import { halfValue, storeHalf } from '../../src/values/index.ts';
import type { VectorBatch, VectorValues } from '../../src/vector/index.ts';
import { distances } from '../helpers/distances.ts';
import { seeded } from '../helpers/seeded.ts';

function run<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const random = (seed: number, count: number): Float32Array => {
  const next = seeded(seed);
  return Float32Array.from({ length: count }, () => next() * 2 - 1);
};

describe('kernels', () => {
  test.each([64, 128, 192, 832])('turn rows of %i as the plain turn does', (length) => {
    const bench = new Workbench(requirePartitions(), length, 1);
    const rows = random(1, 3 * length);
    bench.rows.set(rows);
    bench.turn(3);
    for (let row = 0; row < 3; row += 1) {
      const own = rows.slice(row * length, (row + 1) * length);
      const norm = own.reduce((sum, value) => sum + value * value, 0);
      turn(own);
      expect(bench.rows.slice(row * length, (row + 1) * length)).toEqual(own);
      expect(own.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(norm, 3);
    }
    expect(spanOf(length)).toBeLessThanOrEqual(length);
    expect(spanOf(length) * 2).toBeGreaterThan(length);
  });

  test('the signs of a length never change, as files depend on them', () => {
    const signs = [...signsOf(64)].slice(0, 32).map((sign) => (sign < 0 ? '-' : '+'));
    expect(signs.join('')).toBe('+-++------+-+++++++---++-+-+----');
  });

  test.each([1, 2, 5, 13])('give rows to the nearest of %i centroids', (count) => {
    const length = 64;
    const bench = new Workbench(requirePartitions(), length, count);
    const rows = random(2, 7 * length);
    const centroids = random(3, count * length);
    run(bench.measure(rows));
    bench.load(centroids);
    const found = bench.assign(rows, 7);
    for (let row = 0; row < 7; row += 1) {
      const own = rows.subarray(row * length, (row + 1) * length);
      const far = distances('l2', own, centroids, length, count);
      expect(far[found[row] as number]).toBeLessThan(Math.min(...far) + 0.05);
    }
  });
});

interface Made {
  readonly partitions: readonly Partition[];
  readonly builder: IvfBuilder;
}

function made(metric: IvfMetric, batch: VectorBatch, dimension: number, partitions: number): Made {
  const options = {
    metric,
    dimension,
    rows: batch.rows,
    partitions,
    sampleRate: 32,
    iterations: 4,
  };
  const builder = new IvfBuilder(requirePartitions(), options);
  run(builder.sample(batch));
  run(builder.train());
  run(builder.add(batch, 0));
  return { builder, partitions: run(builder.partitions()) };
}

/** Positions of the rows that the index keeps of a query, and those that every search measures. */
function probed(
  { partitions, builder }: Made,
  options: ProbeOptions,
  wanted?: Uint8Array,
  most = Number.POSITIVE_INFINITY,
): { readonly kept: Set<number>; readonly probes: number; readonly probe: Probe } {
  const length = lengthOf(options.dimension);
  const probe = new Probe(options);
  const centroids = new Float32Array(partitions.length * length);
  for (const [at, { centroid }] of partitions.entries()) centroids.set(centroid, at * length);
  const far = probe.distancesTo(centroids);
  const order = Uint32Array.from(partitions.keys())
    .filter((at) => partitions[at]?.isOdd === false && (partitions[at]?.rows.length ?? 0) > 0)
    .sort((one, other) => (far[one] as number) - (far[other] as number));
  const facts = partitions.map(({ rows, spread }) => ({ rows: rows.length, spread }));
  const memory = new PartitionMemory();
  for (const at of order) {
    if (probe.probed >= most || probe.isEnough(order, far, facts)) break;
    const partition = partitions[at] as Partition;
    const blocks = Math.ceil(partition.rows.length / BLOCK_ROWS);
    const [block, known] = [blockBytes(length), BLOCK_ROWS * rowBytes(length)];
    const place = memory.reserve(blocks * (block + known));
    for (let number = 0; number < blocks; number += 1) {
      const bytes = new Uint8Array(block);
      const rows = new Uint8Array(known);
      builder.writeBlock(partition, number * BLOCK_ROWS, bytes, rows);
      const all = new Uint8Array(place.kernels.memory.buffer);
      all.set(bytes, place.at + number * block);
      all.set(rows, place.at + blocks * block + number * known);
    }
    run(probe.search({ ...place, blocks }, partition.centroid, wanted, 0));
  }
  return { kept: new Set(run(probe.finish())), probes: probe.probed, probe };
}

/** Positions of the k nearest, by exact distances. */
function nearest(
  metric: IvfMetric,
  query: ArrayLike<number>,
  values: VectorValues,
  dimension: number,
  k: number,
  isWanted: (row: number) => boolean = () => true,
): number[] {
  const far = distances(metric, query, values, dimension, values.length / dimension);
  return [...far.keys()]
    .filter((row) => !Number.isNaN(far[row]) && isWanted(row))
    .sort((one, other) => (far[one] as number) - (far[other] as number))
    .slice(0, k);
}

/** Vectors of different kinds, queries after them of the same. */
function vectors(shape: string, dimension: number, rows: number, seed: number): Float32Array {
  const next = seeded(seed);
  const gauss = (): number =>
    Math.sqrt(-2 * Math.log(next() + 1e-12)) * Math.cos(2 * Math.PI * next());
  const centres = Float32Array.from({ length: 20 * dimension }, gauss);
  const values = new Float32Array(rows * dimension);
  for (let row = 0; row < rows; row += 1) {
    const centre = Math.floor(next() * 20) * dimension;
    for (let i = 0; i < dimension; i += 1) {
      const at = row * dimension + i;
      if (shape === 'uniform') values[at] = next();
      else if (shape === 'clustered') values[at] = (centres[centre + i] as number) + 0.2 * gauss();
      else if (shape === 'tight') values[at] = (centres[centre + i] as number) + 0.03 * gauss();
      else values[at] = gauss() / (1 + i / 4);
    }
  }
  return values;
}

describe('recall', () => {
  const K = 10;
  const ROWS = 3_000;
  const QUERIES = 20;
  for (const metric of ['l2', 'cosine', 'dot'] as const) {
    for (const shape of ['uniform', 'clustered', 'skewed']) {
      test.each([3, 24, 100])(
        `of ${metric}, vectors that are ${shape}, of %i elements`,
        (dimension) => {
          const all = vectors(shape, dimension, ROWS + QUERIES, dimension);
          const values = all.subarray(0, ROWS * dimension);
          const index = made(metric, { values, rows: ROWS }, dimension, 14);
          let found = 0;
          for (let number = 0; number < QUERIES; number += 1) {
            const from = (ROWS + number) * dimension;
            const query = all.subarray(from, from + dimension);
            const { kept } = probed(index, { metric, dimension, query, k: K, keep: K + 6 });
            const best = nearest(metric, query, values, dimension, K);
            found += best.filter((row) => kept.has(row)).length;
          }
          expect(found / (QUERIES * K)).toBeGreaterThanOrEqual(0.93);
        },
      );
    }
  }

  test.each(['l2', 'cosine'] as const)(
    'of %s, many tight clusters in each partition, far from its centroid',
    (metric) => {
      const dimension = 100;
      const all = vectors('tight', dimension, ROWS + QUERIES, 5);
      const values = all.subarray(0, ROWS * dimension);
      const index = made(metric, { values, rows: ROWS }, dimension, 5);
      let found = 0;
      for (let number = 0; number < QUERIES; number += 1) {
        const query = all.subarray((ROWS + number) * dimension, (ROWS + number + 1) * dimension);
        const { kept } = probed(index, { metric, dimension, query, k: K, keep: K + 6 });
        const best = nearest(metric, query, values, dimension, K);
        found += best.filter((row) => kept.has(row)).length;
      }
      expect(found / (QUERIES * K)).toBeGreaterThanOrEqual(0.93);
    },
  );

  test('counts rows that are wanted alone', () => {
    const dimension = 16;
    const values = vectors('clustered', dimension, ROWS, 8);
    const index = made('l2', { values, rows: ROWS }, dimension, 14);
    const wanted = Uint8Array.from({ length: ROWS }, (_, row) => (row % 3 === 0 ? 1 : 0));
    const query = values.subarray(0, dimension);
    const options = { metric: 'l2' as const, dimension, query, k: K, keep: K + 6 };
    const { kept } = probed(index, options, wanted);
    expect([...kept].every((row) => row % 3 === 0)).toBe(true);
    const best = nearest('l2', query, values, dimension, K, (row) => row % 3 === 0);
    expect(best.filter((row) => kept.has(row)).length).toBeGreaterThanOrEqual(K - 1);
  });

  test('of vectors without clusters takes most partitions', () => {
    const dimension = 100;
    const all = vectors('uniform', dimension, ROWS + QUERIES, 3);
    const values = all.subarray(0, ROWS * dimension);
    const index = made('l2', { values, rows: ROWS }, dimension, 60);
    let probes = 0;
    for (let number = 0; number < QUERIES; number += 1) {
      const query = all.subarray((ROWS + number) * dimension, (ROWS + number + 1) * dimension);
      probes += probed(index, { metric: 'l2', dimension, query, k: 1, keep: 7 }).probes;
    }
    // After the last partition that held a nearer row it searches some more; the rest is expected.
    expect(probes / QUERIES / index.partitions.length).toBeGreaterThan(0.5);
  });

  test('of clusters takes few partitions, and no more than it is told', () => {
    const dimension = 16;
    const values = vectors('clustered', dimension, ROWS, 8);
    const index = made('l2', { values, rows: ROWS }, dimension, 60);
    const query = values.subarray(0, dimension);
    const options = { metric: 'l2' as const, dimension, query, k: K, keep: K + 6 };
    const { probes } = probed(index, options);
    expect(probes).toBeGreaterThanOrEqual(16);
    expect(probes).toBeLessThan(40);
    expect(probed(index, options, undefined, 2).probes).toBe(2);
  });
});

describe('whether partitions that are left are worth a search', () => {
  const dimension = 16;
  const ROWS = 3_000;
  const values = vectors('clustered', dimension, ROWS, 8);
  const query = values.subarray(0, dimension);

  /** Decides after `probe` of one partition that is left, beside a hundred rows that were found near. */
  function decide(probe: Probe, far: number, spread: number, rows: number): boolean {
    const places = probe.probed + 1;
    const facts = Array.from({ length: places }, (_, at) => ({
      rows: at === 0 ? 100 : 0,
      spread: 0,
    }));
    facts[places - 1] = { rows, spread };
    const distances = new Float32Array(places).fill(-1e9);
    distances[places - 1] = far;
    return probe.isEnough(
      Uint32Array.from({ length: places }, (_, at) => at),
      distances,
      facts,
    );
  }

  test.each(['l2', 'dot'] as const)('is weighed by rows and distances, of %s', (metric) => {
    const index = made(metric, { values, rows: ROWS }, dimension, 60);
    const options = { metric, dimension, query, k: 10, keep: 16 };
    const { probe } = probed(index, options);
    expect(probe.probed).toBeLessThan(60);
    const isDot = metric === 'dot';
    // Where a partition without spread stops to count is how far the tenth of the nearest is.
    let [near, limit] = [-1e6, 1e6];
    for (let step = 0; step < 60; step += 1) {
      const middle = (near + limit) / 2;
      if (decide(probe, middle, 0, 1_000)) limit = middle;
      else near = middle;
    }
    const size = query.reduce((sum, value) => sum + value * value, 0);
    const length = lengthOf(dimension);
    // So many deviations below the limit lies the mean of what is left.
    const enough = (z: number, rows: number): boolean => {
      const spread = 1e-4;
      const deviation = Math.sqrt((spread * (isDot ? size : 4 * limit)) / length);
      return decide(probe, limit - (isDot ? 0 : spread) - z * deviation, spread, rows);
    };
    // A tenth of all rows that are expected near may be left.
    expect([enough(0, 21), enough(0, 24)]).toEqual([true, false]);
    expect([enough(1, 12), enough(1, 15)]).toEqual([true, false]);
    expect([enough(-1, 65), enough(-1, 75)]).toEqual([true, false]);
    expect([enough(20, 11), enough(20, 12)]).toEqual([true, false]);
    expect(enough(-20, 1e9)).toBe(true);
  });

  test('all of them are, before enough rows are known', () => {
    const index = made('l2', { values, rows: ROWS }, dimension, 60);
    const few = { metric: 'l2' as const, dimension, query, k: ROWS, keep: ROWS };
    expect(probed(index, few).probes).toBe(index.partitions.length);
    const none = probed(index, few, new Uint8Array(ROWS));
    expect([none.probes, none.kept.size]).toEqual([index.partitions.length, 0]);
  });
});

test.each([
  ['different', random(6, 3 * 4), 7],
  ['alike, of which one centroid has all', new Float32Array(3 * 4).fill(0.5), 3],
])('as many partitions as rows and more, where rows are %s', (_, values, count) => {
  const { partitions } = made('l2', { values, rows: 3 }, 4, count);
  const positions = partitions.flatMap(({ rows }) => [...rows]);
  expect(positions.sort((a, b) => a - b)).toEqual([0, 1, 2]);
});

test('many rows and elements are gone through in steps', () => {
  const steps = (work: Generator<void, unknown>): number => {
    let count = 0;
    while (work.next().done !== true) count += 1;
    return count;
  };
  const rows = 2 ** 18;
  const options = {
    metric: 'l2' as const,
    dimension: 1,
    rows,
    partitions: 1,
    sampleRate: 1,
    iterations: 1,
  };
  const builder = new IvfBuilder(requirePartitions(), options);
  // Too large to be laid out, so that they are quickly added.
  const batch = { values: new Float64Array(rows).fill(1e300), rows };
  run(builder.sample(batch));
  run(builder.train());
  run(builder.add(batch, 0));
  expect(steps(builder.partitions())).toBe(3);
  const bench = new Workbench(requirePartitions(), 64, 1);
  expect(steps(bench.measure(new Float32Array(2 ** 20 - 1)))).toBe(0);
  expect(steps(bench.measure(new Float32Array(2 ** 20)))).toBe(1);
});

test('a runtime without the kernels is told', () => {
  expect(() => requirePartitions(() => undefined)).toThrow(
    expect.objectContaining({ code: 'Unsupported' }),
  );
});

test('searches that take turns in one memory do not disturb each other', () => {
  const dimension = 3;
  const rows = 70_000;
  const values = random(4, rows * dimension);
  const index = made('l2', { values, rows }, dimension, 1);
  const length = lengthOf(dimension);
  const [partition] = index.partitions as [Partition];
  const blocks = Math.ceil(rows / BLOCK_ROWS);
  const [block, known] = [blockBytes(length), BLOCK_ROWS * rowBytes(length)];
  const place = { ...new PartitionMemory().reserve(blocks * (block + known)), blocks };
  const all = new Uint8Array(place.kernels.memory.buffer);
  for (let number = 0; number < blocks; number += 1) {
    const from = place.at + blocks * block + number * known;
    const own = all.subarray(place.at + number * block, place.at + (number + 1) * block);
    index.builder.writeBlock(partition, number * BLOCK_ROWS, own, all.subarray(from, from + known));
  }
  const probeTo = (query: number[]): Probe =>
    new Probe({ metric: 'l2', dimension, query, k: 5, keep: 9 });
  const steps = (probe: Probe) => probe.search(place, partition.centroid, undefined, 0);
  const alone = probeTo([0.1, 0.2, 0.3]);
  run(steps(alone));
  const [first, second] = [probeTo([0.1, 0.2, 0.3]), probeTo([-0.9, 0.9, 0])];
  const turns = steps(first);
  expect(turns.next().done).toBe(false);
  run(steps(second));
  while (turns.next().done !== true);
  expect([...run(first.finish())]).toEqual([...run(alone.finish())]);
});

test('blocks of any bytes end a search, and give no more rows than are kept', () => {
  const dimension = 20;
  const length = lengthOf(dimension);
  const next = seeded(9);
  const memory = new PartitionMemory();
  const blocks = 5;
  const bytes = blocks * (blockBytes(length) + BLOCK_ROWS * rowBytes(length));
  for (let round = 0; round < 200; round += 1) {
    const place = memory.reserve(bytes);
    const all = new Uint8Array(place.kernels.memory.buffer, place.at, bytes);
    for (let at = 0; at < bytes; at += 1) all[at] = Math.floor(next() * 256);
    if (round % 3 === 0) all.fill(round, 0, bytes >> 1);
    const query = Array.from({ length: dimension }, () => next());
    const metric = (['l2', 'cosine', 'dot'] as const)[round % 3] as IvfMetric;
    const probe = new Probe({ metric, dimension, query, k: 3, keep: 7 });
    const centroid = random(round, length).map((value) => (round % 5 === 0 ? Number.NaN : value));
    const wanted = round % 2 === 0 ? undefined : new Uint8Array(64).fill(1);
    run(probe.search({ ...place, blocks }, centroid, wanted, 0));
    probe.isEnough(Uint32Array.of(0), Float32Array.of(Number.NaN), [{ rows: 9, spread: -1 }]);
    const positions = run(probe.finish());
    expect(positions.length).toBeLessThanOrEqual(7);
    if (wanted !== undefined) expect(positions.every((position) => position < 64)).toBe(true);
  }
});

describe('what becomes of vectors', () => {
  const numbers = [1, -2, 0.5, 3];
  const halves = new Uint16Array(4);
  for (const [at, value] of numbers.entries()) storeHalf(halves, at, value);

  test('every element type gives the same floats', () => {
    for (const values of [
      Float32Array.from(numbers),
      Float64Array.from(numbers),
      halves,
    ] as VectorValues[]) {
      const into = new Float32Array(4);
      expect(floatsOf('l2', values, 0, 4, into)).toBe('plain');
      expect([...into]).toEqual(numbers);
    }
    const into = new Float32Array(2);
    expect(floatsOf('dot', Uint8Array.of(9, 7, 255), 1, 2, into)).toBe('plain');
    expect([...into]).toEqual([7, 255]);
    expect(halfValue(halves[3] as number)).toBe(3);
    const unit = new Float32Array(2);
    const [three, four] = [new Uint16Array(2), new Uint16Array(2)];
    storeHalf(three, 0, 3);
    storeHalf(three, 1, -4);
    expect(floatsOf('cosine', three, 0, 2, unit)).toBe('plain');
    expect([...unit].map((value) => value.toFixed(5))).toEqual(['0.60000', '-0.80000']);
    four.set([0x3c00, 0x7e00]);
    expect(floatsOf('l2', four, 0, 2, unit)).toBe('none');
  });

  test('those that are not numbers, too large, or zero', () => {
    const kind = (metric: IvfMetric, ...values: number[]): string =>
      floatsOf(metric, Float64Array.from(values), 0, values.length, new Float32Array(8));
    const inf = Number.POSITIVE_INFINITY;
    for (const metric of ['l2', 'cosine', 'dot'] as const) {
      expect(kind(metric, 1, Number.NaN)).toBe('none');
      expect(kind(metric, inf, 1)).toBe('odd');
      expect(kind(metric, inf, -inf)).toBe('odd');
      expect(kind(metric, 1, 2)).toBe('plain');
    }
    expect([kind('l2', 1e300, 0), kind('dot', 1e16), kind('l2', 1e15)]).toEqual([
      'odd',
      'odd',
      'plain',
    ]);
    expect([kind('cosine', 1e300, 0), kind('cosine', 1e-300), kind('cosine', 0, 0)]).toEqual([
      'plain',
      'plain',
      'none',
    ]);
    expect(kind('l2', 0, 0)).toBe('plain');
    const unit = new Float32Array(2);
    floatsOf('cosine', Float64Array.of(3e200, 4e200), 0, 2, unit);
    expect([...unit].map((value) => value.toFixed(5))).toEqual(['0.60000', '0.80000']);
  });

  test('nulls and NaN are left out, odd ones are a partition of their own', () => {
    const dimension = 4;
    const values = random(5, 100 * dimension);
    values[3 * dimension] = Number.NaN;
    values[5 * dimension + 1] = Number.POSITIVE_INFINITY;
    const validity = new Uint8Array(13).fill(255);
    validity[0] = 0b1111_1110;
    const { partitions } = made('l2', { values, rows: 100, validity }, dimension, 3);
    const odd = partitions.filter(({ isOdd }) => isOdd);
    expect(odd).toHaveLength(1);
    expect(odd[0]?.rows).toHaveLength(1);
    expect(partitions.reduce((sum, { rows }) => sum + rows.length, 0)).toBe(98);
  });

  test('fewer rows than partitions, equal rows, and none at all', () => {
    const dimension = 5;
    const few = made('l2', { values: random(6, 2 * dimension), rows: 2 }, dimension, 2);
    expect(few.partitions.map(({ rows }) => rows.length)).toEqual([1, 1]);
    const alike = new Float32Array(200 * dimension).fill(0.25);
    const equal = made('l2', { values: alike, rows: 200 }, dimension, 8);
    const query = alike.subarray(0, dimension);
    const options = { metric: 'l2' as const, dimension, query, k: 3, keep: 9 };
    expect(probed(equal, options).kept.size).toBe(9);
    const validity = new Uint8Array(2);
    const none = made(
      'l2',
      { values: random(6, 10 * dimension), rows: 10, validity },
      dimension,
      3,
    );
    expect(none.partitions.map(({ rows }) => rows.length)).toEqual([0]);
    expect(probed(none, options).kept.size).toBe(0);
  });

  test('a query of another length is refused, and one that is not a number finds nothing', () => {
    const options = { metric: 'l2' as const, dimension: 4, k: 1, keep: 1 };
    expect(() => new Probe({ ...options, query: [1, 2] })).toThrow('query dim(2)');
    expect(new Probe({ ...options, query: [1, Number.NaN, 0, 0] }).isMeasurable).toBe(false);
    expect(new Probe({ ...options, metric: 'cosine', query: [0, 0, 0, 0] }).isMeasurable).toBe(
      false,
    );
  });
});
