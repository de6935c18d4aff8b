/** Vectors kept in the kernels' memory give the distances that vectors copied there give. */
import { expect, test } from 'vitest';
import {
  type KernelMemory,
  RESIDENTS_AT,
  ResidentRoom,
  Residents,
} from '../../src/vector/residents.ts';
import { createSearch } from '../../src/vector/search.ts';
import { seeded } from '../helpers/seeded.ts';
import { finished, run } from '../helpers/steps.ts';

const random = seeded(7);

function matches(
  values: Float32Array,
  dimension: number,
  query: number[],
  metric: 'l2' | 'cosine',
) {
  const search = createSearch({
    metric,
    dimension,
    elementType: 'float32',
    queries: [query],
    k: 7,
  });
  run(search.add({ values, rows: values.length / dimension, again: true }, 0));
  return finished(search);
}

test.each([8, 128, 12, 262_144])('dimension %i, searched again and again', (dimension) => {
  const rows = dimension > 1_000 ? 5 : 1_500;
  const arrays = [1, 2].map(() => Float32Array.from({ length: rows * dimension }, () => random()));
  const query = Array.from({ length: dimension }, () => random());
  for (const metric of ['l2', 'cosine'] as const) {
    const first = arrays.map((values) => matches(values.slice(), dimension, query, metric));
    for (let again = 0; again < 3; again++) {
      const found = arrays.map((values) => matches(values, dimension, query, metric));
      expect(found).toEqual(first);
    }
  }
});

class FakeMemory implements KernelMemory {
  buffer = new ArrayBuffer(65_536);
  grow(pages: number): number {
    const larger = new Uint8Array(this.buffer.byteLength + pages * 65_536);
    larger.set(new Uint8Array(this.buffer));
    this.buffer = larger.buffer;
    return 0;
  }
}

const bytesAt = (memory: FakeMemory, at: number, length: number) =>
  Array.from(new Uint8Array(memory.buffer, at, length));

test('the second search moves an array in, and later ones find it', () => {
  const memory = new FakeMemory();
  const residents = new Residents(new ResidentRoom(memory));
  const values = Uint8Array.of(1, 2, 3, 4);
  expect(residents.placeOf(values, true)).toBeUndefined();
  expect(residents.placeOf(values, false)).toBeUndefined();
  expect(residents.placeOf(values, true)).toBe(RESIDENTS_AT);
  expect(residents.placeOf(values, false)).toBe(RESIDENTS_AT);
  expect(bytesAt(memory, RESIDENTS_AT, 4)).toEqual([1, 2, 3, 4]);
  // Another part of the same buffer is another array.
  expect(residents.placeOf(values.subarray(1), true)).toBeUndefined();
});

test('arrays that find no room are turned away until there have been many', () => {
  const memory = new FakeMemory();
  const residents = new Residents(new ResidentRoom(memory, 150));
  const arrays = [1, 2, 3].map((value) => new Uint8Array(60).fill(value));
  const twice = (values: Uint8Array) => {
    residents.placeOf(values, true);
    return residents.placeOf(values, true);
  };
  expect(arrays.map(twice)).toEqual([RESIDENTS_AT, RESIDENTS_AT + 64, undefined]);
  for (let search = 0; search < 4_096; search++) residents.placeOf(arrays[2] as Uint8Array, true);
  expect(twice(arrays[2] as Uint8Array)).toBe(RESIDENTS_AT);
  expect(bytesAt(memory, RESIDENTS_AT, 2)).toEqual([3, 3]);
  expect(residents.placeOf(arrays[0] as Uint8Array, false)).toBeUndefined();
});

test('where the system has no more memory for it, an array stays where it is', () => {
  const memory = new FakeMemory();
  memory.grow = () => {
    throw new RangeError('no memory');
  };
  const residents = new Residents(new ResidentRoom(memory));
  const values = Uint8Array.of(1, 2, 3, 4);
  for (let search = 0; search < 3; search++) {
    expect(residents.placeOf(values, true)).toBeUndefined();
  }
});
