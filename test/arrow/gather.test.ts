/** Picking and joining rows, value by value against the source, for every type. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  FixedSizeBinary,
  Int32,
  Utf8,
  Vector,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { dataOf, nullColumn, sliceData } from '../../src/arrow/arrow-data.ts';
import { concatBatches, concatData } from '../../src/arrow/concat.ts';
import { gather, gatherBatch } from '../../src/arrow/gather.ts';
import { gatherData } from '../../src/arrow/gather-data.ts';
import { gatherParts } from '../../src/arrow/gather-parts.ts';
import { encodeFragment } from '../../src/format/fragment/fragment-encoder.ts';
import { everyType, exactColumn, randomBatch, randomData } from '../helpers/arrow-samples.ts';
import { casesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';
import { run } from '../helpers/steps.ts';

const schema = everyType();
const seeds = fc.integer();

/** Random rows of each column with random places among all of them, and the values that are to lie there. */
function placed(columns: readonly Data[], random: () => number) {
  const picks = columns.map((data) => {
    const count = Math.floor(random() * 2 * data.length);
    return {
      data,
      rows: Uint32Array.from({ length: count }, () => Math.floor(random() * data.length)),
    };
  });
  const count = picks.reduce((sum, { rows }) => sum + rows.length, 0);
  const places = Array.from({ length: count }, (_, at) => ({ at, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ at }) => at);
  const values: unknown[] = new Array(count);
  const sources = picks.map(({ data, rows }) => {
    const all = exactColumn(data);
    const own = Uint32Array.from(places.splice(0, rows.length));
    for (const [at, row] of rows.entries()) values[own[at] as number] = all[row];
    return { data, rows, places: own };
  });
  return { sources, values };
}

describe.each(schema.fields.map((field) => [field.name, field.type] as const))('%s', (_, type) => {
  const column = (rows: number, random: () => number): Data =>
    randomData(type, rows + 5, random).slice(5, rows);

  test('gather in any order, with repeats', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.nat(49), { maxLength: 80 }), (seed, rows) => {
        const data = column(50, seeded(seed));
        const all = exactColumn(data);
        expectSame(
          exactColumn(gather(data, Uint32Array.from(rows))),
          rows.map((row) => all[row]),
        );
      }),
      { numRuns: casesOf(8, 25) },
    );
  });

  test('gather runs of rows', () => {
    const data = column(200, seeded(8));
    const rows = Uint32Array.from({ length: 150 }, (_unused, at) => (at < 90 ? at + 20 : at + 40));
    const all = exactColumn(data);
    expectSame(
      exactColumn(gather(data, rows)),
      Array.from(rows, (row) => all[row]),
    );
  });

  test('rows of several columns, each to its place, in parts', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.array(fc.nat(20), { maxLength: 4 }),
        fc.constantFrom(1, 8, 64),
        (seed, sizes, partRows) => {
          const random = seeded(seed);
          const { sources, values } = placed(
            sizes.map((size) => column(size + 1, random)),
            random,
          );
          const parts = run(gatherParts(type, sources, values.length, partRows));
          const cut = parts.map(({ length }) => length);
          expect(cut.slice(0, -1).every((length) => length === partRows)).toBe(true);
          expectSame(parts.flatMap(exactColumn), values);
        },
      ),
      { numRuns: casesOf(8, 25) },
    );
  });

  test('gather of several chunks', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.array(fc.nat(20), { minLength: 2, maxLength: 5 }),
        fc.array(fc.nat(1000), { maxLength: 40 }),
        (seed, sizes, wanted) => {
          const random = seeded(seed);
          const chunks = sizes.map((size) => column(size + 1, random));
          const all = chunks.flatMap(exactColumn);
          const rows = wanted.map((row) => row % all.length);
          const picked = gather(new Vector(chunks), Uint32Array.from(rows));
          expectSame(
            exactColumn(picked),
            rows.map((row) => all[row]),
          );
        },
      ),
      { numRuns: casesOf(8, 25) },
    );
  });

  test('concat', () => {
    fc.assert(
      fc.property(seeds, fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), (seed, sizes) => {
        const random = seeded(seed);
        const chunks = sizes.map((size) => column(size, random));
        expectSame(exactColumn(concatData(chunks)), chunks.flatMap(exactColumn));
      }),
      { numRuns: casesOf(8, 25) },
    );
  });

  test('a column of nulls is one', () => {
    expect(exactColumn(nullColumn(type, 9)).every(isNull)).toBe(true);
  });
});

/** A union's row is null when what it points at is. */
const isNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && isNull((value as { value: unknown }).value));

test('what was gathered and joined can be written', () => {
  const random = seeded(3);
  const batch = randomBatch(schema, 60, random);
  const picked = gatherBatch(batch, Uint32Array.of(3, 1, 1, 59));
  const both = concatBatches([picked, batch]);
  expect(() => encodeFragment(schema, [both])).not.toThrow();
});

test('rows that are not there are refused', () => {
  const data = randomData(schema.fields[1]?.type as never, 5, seeded(1));
  expect(() => gather(data, Uint32Array.of(5))).toThrow(
    expect.objectContaining({ code: 'InvalidInput' }),
  );
});

test('texts of every length go to their places, in steps, and parts share no memory', () => {
  const random = seeded(5);
  const rows = 20_000;
  const texts = Array.from({ length: rows }, (_, row) =>
    String.fromCharCode(33 + (row % 90)).repeat(row % 333),
  );
  const [data] = vectorFromArray(texts, new Utf8()).data as [Data];
  const half = [sliceData(data, 0, 9_000), sliceData(data, 9_000, rows - 9_000)];
  const { sources, values } = placed(half, random);
  const steps = [...gatherParts(new Utf8(), sources, values.length, 4096)];
  expect(steps.length).toBeGreaterThan(10);
  const parts = run(gatherParts(new Utf8(), sources, values.length, 4096));
  expectSame(parts.flatMap(exactColumn), values);
  const memory = parts.flatMap((part) => [part.values.buffer, part.valueOffsets.buffer]);
  expect(new Set(memory).size).toBe(2 * parts.length);
  expect(memory.includes(data.values.buffer)).toBe(false);
});

test('the bitmap of a column without nulls is not looked at, beside one with nulls', () => {
  const bitmap = Uint8Array.of(0);
  const type = new Int32();
  const values = Int32Array.of(1, 2, 3);
  const full = dataOf(type, 3, { nullCount: 0, validity: bitmap, values });
  const gaps = dataOf(type, 3, { nullCount: 2, validity: Uint8Array.of(0b010), values });
  const rows = Uint32Array.of(0, 1, 2);
  const sources = [
    { data: full, rows, places: Uint32Array.of(0, 2, 4) },
    { data: gaps, rows, places: Uint32Array.of(1, 3, 5) },
  ];
  const [part] = run(gatherParts(type, sources, 6, 8));
  expect(exactColumn(part as Data)).toEqual([1, null, 2, 2, 3, null]);
  expect(part?.nullCount).toBe(2);
});

test('rows are picked from a column of more than 2 GiB', () => {
  const bytes = 16;
  const rows = 2 ** 31 / bytes + 1;
  const type = new FixedSizeBinary(bytes);
  // Pages that nobody writes to take no memory.
  const values = new Uint8Array(rows * bytes);
  values[(rows - 1) * bytes] = 7;
  const picked = gatherData(dataOf(type, rows, { values }), Uint32Array.of(rows - 1, 0));
  expect([...(picked.values as Uint8Array)]).toEqual([7, ...new Array(2 * bytes - 1).fill(0)]);
});
