/** Picking, filtering and joining rows, value by value against the source, for every type. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Data, Vector } from '../../src/arrow/apache.ts';
import { nullColumn } from '../../src/arrow/arrow-data.ts';
import { setPositions } from '../../src/arrow/bitmaps.ts';
import { concatBatches, concatData } from '../../src/arrow/concat.ts';
import { filterBatch, gather, gatherBatch } from '../../src/arrow/gather.ts';
import { encodeFragment } from '../../src/format/fragment/fragment-encoder.ts';
import {
  everyType,
  exactColumn,
  exactValues,
  randomBatch,
  randomData,
} from '../helpers/arrow-samples.ts';
import { casesOf } from '../helpers/long.ts';
import { expectSame } from '../helpers/same.ts';
import { seeded } from '../helpers/seeded.ts';

const schema = everyType();
const seeds = fc.integer();

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

test('filter keeps the rows whose bits are set', () => {
  const batch = randomBatch(schema, 100, seeded(1)).slice(7);
  const mask = Uint8Array.from({ length: 12 }, (_, at) => (at * 73) & 255);
  const rows = [...Array(93).keys()].filter((row) => ((mask[row >> 3] as number) >> (row & 7)) & 1);
  expect([...setPositions(mask, 93)]).toEqual(rows);
  const all = exactValues([batch]);
  expect(exactValues([filterBatch(batch, mask)])).toEqual(
    all.map((column) => rows.map((row) => column[row])),
  );
  expect(filterBatch(batch, new Uint8Array(12).fill(255))).toBe(batch);
});

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
