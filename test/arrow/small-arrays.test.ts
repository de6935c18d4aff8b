/** Small arrays share memory, and nobody who has one notices. */
import { describe, expect, test } from 'vitest';
import { Data, Decimal, Float64, Int64, Null, Utf8, Vector } from '../../src/arrow/apache.ts';
import { dataOf } from '../../src/arrow/arrow-data.ts';
import { newArray } from '../../src/arrow/small-arrays.ts';

describe('small arrays', () => {
  test('do not overlap, whatever is written into them', () => {
    const arrays = Array.from({ length: 5_000 }, (_, at) => newArray(Uint8Array, 1 + (at % 40)));
    for (const array of arrays) expect(array.every((byte) => byte === 0)).toBe(true);
    for (const [at, array] of arrays.entries()) array.fill(at);
    for (const [at, array] of arrays.entries()) {
      expect(array.every((byte) => byte === at % 256)).toBe(true);
    }
  });

  test('of wide values begin where such values may', () => {
    newArray(Uint8Array, 3);
    expect(newArray(Float64Array, 2).byteOffset % 8).toBe(0);
    newArray(Int8Array, 1);
    expect(newArray(BigInt64Array, 1).length).toBe(1);
  });

  test('long ones have a buffer of their own', () => {
    expect(newArray(Float64Array, 1_000).buffer.byteLength).toBe(8_000);
    expect(newArray(Float64Array, 2).buffer.byteLength).toBeLessThanOrEqual(16 * 1024);
  });

  test('are still there after somebody transferred theirs', () => {
    const one = newArray(Uint8Array, 4).fill(7);
    const other = newArray(Uint8Array, 4).fill(8);
    expect(other.buffer).toBe(one.buffer);
    try {
      structuredClone(one, { transfer: [one.buffer as ArrayBuffer] });
    } catch {
      // Newer releases of Node refuse, older ones copy.
    }
    expect([...other]).toEqual([8, 8, 8, 8]);
    expect(newArray(Uint8Array, 4).length).toBe(4);
  });
});

test.each([
  ['fixed', new Int64(), { values: BigInt64Array.of(1n, 2n) }],
  [
    'nulls',
    new Float64(),
    { values: Float64Array.of(1, 2), nullCount: 1, validity: Uint8Array.of(1) },
  ],
  ['text', new Utf8(), { offsets: Int32Array.of(0, 1, 2), values: Uint8Array.of(97, 98) }],
  ['wide', new Decimal(0, 38), { values: new Uint32Array(8) }],
  ['no values', new Null(), {}],
] as const)('columns of %s are what the public constructor makes', (_, type, parts) => {
  const { nullCount, validity, offsets, values } = {
    nullCount: 0,
    validity: undefined,
    offsets: undefined,
    values: undefined,
    ...parts,
  };
  const made = dataOf(type, 2, parts);
  const nulls = type instanceof Null ? 2 : nullCount;
  const like = new Data(type, 0, 2, nulls, [
    offsets,
    values,
    nulls > 0 ? validity : new Uint8Array(0),
  ] as never);
  expect(made).toBeInstanceOf(Data);
  expect(made.constructor).toBe(Data);
  expect(made).toEqual(like);
  expect([...new Vector([made])]).toEqual([...new Vector([like])]);
});
