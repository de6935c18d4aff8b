import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { halfValues, nearestHalf } from '../../src/values/half.ts';
import { type ElementType, MAX_DIMENSION, type Metric } from '../../src/vector/elements.ts';
import { loadSimdKernels } from '../../src/vector/simd-kernels.ts';
import { distances } from '../helpers/distances.ts';
import { halfOf, naiveDistance, numbersOf, randomValues } from '../helpers/naive-vectors.ts';
import { seeded } from '../helpers/seeded.ts';

const TYPES: ElementType[] = ['float16', 'float32', 'float64', 'uint8'];
const METRICS: Metric[] = ['l2', 'cosine', 'dot', 'hamming'];
const DIMENSIONS = [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 127, 128, 129, 768, 1536];

const goTogether = (metric: Metric, type: ElementType): boolean =>
  metric !== 'hamming' || type === 'uint8';

/** Results must agree in every bit, and where they are NaN. */
function bits(values: Float32Array): Uint32Array {
  const own = values.map((value) => (Number.isNaN(value) ? NaN : value));
  return new Uint32Array(own.buffer);
}

describe.each(TYPES)('distances of %s', (type) => {
  const cases = METRICS.filter((metric) => goTogether(metric, type));

  test.each(cases)('%s is as defined, and the same from both kernels', (metric) => {
    for (const dimension of DIMENSIONS) {
      const random = seeded(dimension * 31 + type.length);
      const rows = 37;
      const values = randomValues(type, rows * dimension, random);
      const query = numbersOf(randomValues(type, dimension, random), 0, dimension);
      const found = distances(metric, query, values, dimension, rows, 'simd');
      const plain = distances(metric, query, values, dimension, rows, 'plain');
      expect(bits(found), `${dimension}`).toEqual(bits(plain));
      for (let row = 0; row < rows; row += 1) {
        const naive = naiveDistance(metric, numbersOf(values, row, dimension), query);
        // Sums of floats err with the number of terms and their size.
        const size = metric === 'cosine' ? 1 : Math.max(1, Math.abs(naive), dimension / 8);
        const error = Math.abs((found[row] as number) - naive) / size;
        expect(error, `${dimension}, row ${row}`).toBeLessThan(1e-6);
      }
    }
  });

  test('spans several blocks and a view that does not begin its buffer', () => {
    const dimension = 33;
    const rows = 6000;
    const random = seeded(5);
    const all = randomValues(type, rows * dimension + 1, random);
    const values = all.subarray(1);
    const query = numbersOf(values, 77, dimension);
    const found = distances('l2', query, values, dimension, rows);
    expect(bits(found)).toEqual(bits(distances('l2', query, values, dimension, rows, 'plain')));
    expect(found[77]).toBe(0);
    for (const row of [0, 1, 2999, 5999]) {
      const naive = naiveDistance('l2', numbersOf(values, row, dimension), query);
      expect(Math.abs((found[row] as number) / naive - 1)).toBeLessThan(1e-5);
    }
  });
});

test('float64 is summed in doubles', () => {
  const values = Float64Array.of(1e8 + 1, 1e8, 1e8 + 0.5, 1e8);
  expect([...distances('l2', [1e8, 1e8], values, 2, 2)]).toEqual([1, 0.25]);
});

test('sums of bytes are exact at the longest dimension', () => {
  const values = new Uint8Array(MAX_DIMENSION).fill(255);
  const zero = new Uint8Array(MAX_DIMENSION);
  const exact = 65_025 * MAX_DIMENSION;
  for (const kernels of ['simd', 'plain'] as const) {
    expect(distances('l2', zero, values, MAX_DIMENSION, 1, kernels)[0]).toBe(Math.fround(exact));
    const dot = distances('dot', values, values, MAX_DIMENSION, 1, kernels)[0];
    expect(dot).toBe(Math.fround(1 - exact));
    const bitCount = distances('hamming', zero, values, MAX_DIMENSION, 1, kernels)[0];
    expect(bitCount).toBe(8 * MAX_DIMENSION);
  }
});

test('a search whose memory is grown by another one goes on', () => {
  const small = Float32Array.of(3, 4);
  expect(distances('l2', [0, 0], small, 2, 1)[0]).toBe(25);
  const wide = new Float64Array(100_000 * 3).fill(1);
  const far = distances('l2', new Float64Array(100_000), wide, 100_000, 3);
  expect([...far]).toEqual([100_000, 100_000, 100_000]);
  expect(distances('l2', [0, 0], small, 2, 1)[0]).toBe(25);
});

describe('numbers that are not finite, or nearly not', () => {
  const infinite = Infinity;
  const rows = [
    [1, 1],
    [NaN, 1],
    [infinite, 1],
    [-infinite, 1],
    [infinite, infinite],
    [0, 0],
    [2e19, 2e19],
    [1e38, -1e38],
    [1e-30, 1e-30],
    [-3e38, -3e38],
  ];
  const values = Float32Array.from(rows.flat());

  test.each(['simd', 'plain'] as const)('%s: float32', (kernels) => {
    const of = (metric: Metric): number[] => [
      ...distances(metric, [1, 1], values, 2, rows.length, kernels),
    ];
    const far = infinite;
    expect(of('l2')).toEqual([0, NaN, far, far, far, 2, far, far, 2, far]);
    const dot = of('dot');
    expect(dot.map((value) => (Number.isFinite(value) ? 0 : value))).toEqual(
      [0, NaN, -far, far, -far, 0, 0, 0, 0, 0].with(9, far),
    );
    // Squares that leave the range of a float do not harm an angle.
    const cosine = of('cosine').map((value) => Math.round(value * 1e6) / 1e6);
    expect(cosine).toEqual([0, NaN, NaN, NaN, NaN, NaN, 0, 1, 0, 2]);
  });

  test.each(['simd', 'plain'] as const)('%s: float16 and float64', (kernels) => {
    const halves = Uint16Array.of(0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0x8000, 0x7bff);
    const found = distances('l2', [1], halves, 1, halves.length, kernels);
    const least = Math.fround((1 - 2 ** -24) ** 2);
    expect([...found]).toEqual([0, infinite, infinite, NaN, least, 1, Math.fround(65_503 ** 2)]);
    const doubles = Float64Array.of(1e300, 1e300, 1e-300, 2e-300, -1e300, 0);
    const angles = distances('cosine', [1e200, 1e200], doubles, 2, 3, kernels);
    expect(angles[0]).toBeLessThan(1e-7);
    expect(angles[1]).toBeCloseTo(1 - 3 / Math.sqrt(10), 6);
    expect(angles[2]).toBeCloseTo(1 + Math.SQRT1_2, 6);
  });

  test('a query of huge or tiny elements still has its angle, one of zeros has none', () => {
    const row = Float32Array.of(1, 0);
    for (const size of [3e38, 1e-38, 1e-45]) {
      expect(distances('cosine', [size, 0], row, 2, 1)[0]).toBeLessThan(1e-7);
      expect(distances('cosine', [0, -size], row, 2, 1)[0]).toBe(1);
    }
    expect(distances('cosine', [0, 0], row, 2, 1)[0]).toBeNaN();
    expect(distances('cosine', [NaN, 1], row, 2, 1)[0]).toBeNaN();
    expect(distances('cosine', [Infinity, 1], row, 2, 1)[0]).toBeNaN();
  });
});

/** The indexes at which two arrays differ; NaN equals NaN. */
function differing(one: ArrayLike<number>, other: ArrayLike<number>): number[] {
  expect(one.length).toBe(other.length);
  const out: number[] = [];
  for (let index = 0; index < one.length; index += 1) {
    if (!Object.is(one[index], other[index])) out.push(index);
  }
  return out;
}

test('every half has its value, from both kernels', () => {
  const halves = Uint16Array.from({ length: 65_536 }, (_, index) => index);
  const expected = Float32Array.from(halves, halfOf);
  expect(differing(halfValues(), expected)).toEqual([]);
  const flipped = expected.map((value) => 1 - value);
  const squared = expected.map((value) => value * value);
  for (const kernels of ['simd', 'plain'] as const) {
    const products = distances('dot', [1], halves, 1, halves.length, kernels);
    expect(differing(products, flipped)).toEqual([]);
    const squares = distances('l2', [0], halves, 1, halves.length, kernels);
    expect(differing(squares, squared)).toEqual([]);
  }
});

test('numbers round to the nearest half, ties to even', () => {
  const low = Array.from({ length: 0x7bff }, (_, index) => halfOf(index));
  const high = Array.from({ length: 0x7bff }, (_, index) => halfOf(index + 1));
  const between = (share: number): number[] =>
    low.map((value, index) => nearestHalf(value + ((high[index] as number) - value) * share));
  const even = low.map((value, index) => (index % 2 === 0 ? value : (high[index] as number)));
  expect(differing(between(0), low)).toEqual([]);
  expect(differing(between(0.499), low)).toEqual([]);
  expect(differing(between(0.5), even)).toEqual([]);
  expect(differing(between(0.501), high)).toEqual([]);
  expect([-1.0004, 65_519, 65_520, -1e9, NaN].map(nearestHalf)).toEqual([
    -1,
    65_504,
    Infinity,
    -Infinity,
    NaN,
  ]);
});

test('a vector is at no distance from itself, and from its multiples by powers of two', () => {
  const random = seeded(11);
  for (const type of TYPES) {
    for (const dimension of [3, 128, 129]) {
      const values = randomValues(type, dimension, random);
      const own = numbersOf(values, 0, dimension);
      expect(distances('cosine', own, values, dimension, 1)[0]).toBe(0);
      expect(distances('l2', own, values, dimension, 1)[0]).toBe(0);
      if (type === 'uint8') continue;
      const double = own.map((value) => value * 2);
      expect(distances('cosine', double, values, dimension, 1)[0]).toBe(0);
    }
  }
});

test('what does not fit is refused', () => {
  const two = new Float32Array(2);
  const refused = (call: () => unknown, words: RegExp): void => {
    expect(call).toThrow(expect.objectContaining({ code: 'InvalidInput' }));
    expect(call).toThrow(words);
  };
  refused(() => distances('hamming', [1, 2], two, 2, 1), /uint8/);
  refused(() => distances('manhattan' as Metric, [1, 2], two, 2, 1), /manhattan/);
  refused(() => distances('l2', [1, 2, 3], two, 2, 1), /dim\(3\) doesn.t match.*dim\(2\)/);
  refused(() => distances('l2', [1, 2], two, 2, 2), /need 4 values; found 2/);
  refused(() => distances('l2', [], two, 0, 1), /0 elements/);
  refused(() => distances('l2', [1, 2], two, 2 ** 18 + 1, 1), /262145 elements/);
  for (const value of [-1, 256, 1.5, NaN]) {
    refused(() => distances('l2', [1, value], new Uint8Array(2), 2, 1), /Element 1/);
  }
});

test('without WebAssembly, or its vector instructions, there are no SIMD kernels', () => {
  expect(loadSimdKernels()?.name).toBe('simd');
  for (const replacement of [undefined, { validate: () => false }]) {
    vi.stubGlobal('WebAssembly', replacement);
    try {
      expect(loadSimdKernels()).toBeUndefined();
    } finally {
      vi.unstubAllGlobals();
    }
  }
});

test('each checked-in module is what its source assembles to', async () => {
  const script = new URL('../../scripts/build-wasm.mjs', import.meta.url).href;
  const { assemble } = (await import(script)) as {
    assemble(wat: string, name: string): Promise<string>;
  };
  for (const source of ['vector/kernels', 'sql/select/count', 'sql/evaluate/numbers']) {
    const read = (ending: string): string =>
      readFileSync(new URL(`../../src/${source}.${ending}`, import.meta.url), 'utf8');
    expect(await assemble(read('wat'), source.split('/').at(-1) ?? '')).toBe(read('wasm.ts'));
  }
});
