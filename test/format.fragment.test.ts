/** Fragments: what is written is read back, by this package and by apache-arrow. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Data,
  type DataType,
  Field,
  Int32,
  makeData,
  type RecordBatch,
  Schema,
  tableFromIPC,
  Utf8,
} from '../src/arrow.ts';
import { decodeFragment } from '../src/format/fragment-decoder.ts';
import { encodeFragment } from '../src/format/fragment-encoder.ts';
import {
  batchOf,
  everyType,
  exactValues,
  leafTypes,
  nestedTypes,
  randomBatch,
  seeded,
} from './helpers/arrow-samples.ts';

function roundTrip(schema: Schema, batches: readonly RecordBatch[]): readonly RecordBatch[] {
  const { bytes, summary } = encodeFragment(schema, batches);
  expect(bytes.length).toBe(summary.bytes);
  const decoded = decodeFragment(bytes, summary, 'f');
  expect(decoded.footer.rows).toBe(batches.reduce((rows, batch) => rows + batch.numRows, 0));
  const full = batches.filter((batch) => batch.numRows > 0);
  expect(exactValues(decoded.batches)).toEqual(exactValues(full));
  if (schema.fields.length > 0) {
    const table = tableFromIPC(bytes);
    expect(table.numRows).toBe(decoded.footer.rows);
    expect(table.schema.fields.map(String)).toEqual(decoded.footer.schema.fields.map(String));
    if (full.length > 0) expect(exactValues(table.batches)).toEqual(exactValues(full));
  }
  return decoded.batches;
}

describe('round trip', () => {
  const schema = everyType();
  for (const [at, field] of schema.fields.entries()) {
    test(`a column of ${field.name}`, () => {
      const own = new Schema([field]);
      for (const rows of [1, 7, 8, 9, 64, 200]) {
        const random = seeded(rows * 1000 + at);
        roundTrip(own, [randomBatch(own, rows, random)]);
        roundTrip(own, [randomBatch(own, rows, random, 0)]);
        roundTrip(own, [randomBatch(own, rows, random, 1)]);
        const batch = randomBatch(own, rows + 20, random);
        roundTrip(own, [batch.slice(3, rows + 3), batch.slice(8, rows + 9), batch.slice(0, 0)]);
      }
    });
  }

  test('all types together, dictionaries differing from batch to batch', () => {
    const random = seeded(5);
    const batches = [100, 3, 0, 40].map((rows) => randomBatch(schema, rows, random));
    roundTrip(schema, batches);
  });

  test('no batches, no rows, no columns', () => {
    expect(roundTrip(schema, [])).toEqual([]);
    expect(roundTrip(schema, [randomBatch(schema, 0, seeded(1))])).toEqual([]);
    const empty = new Schema([]);
    const [batch] = roundTrip(empty, [batchOf(empty, [], 17)]);
    expect(batch?.numRows).toBe(17);
  });

  test('random schemas and data', () => {
    const leaf = fc.constantFrom(...Object.values(leafTypes)).map((make) => make());
    const { type } = fc.letrec<{ type: DataType }>((tie) => ({
      type: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc
          .tuple(fc.constantFrom(...Object.values(nestedTypes)), tie('type'), tie('type'))
          .map(([make, a, b]) => make(a, b)),
      ),
    }));
    fc.assert(
      fc.property(
        fc.array(type, { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(40), fc.nat(12)), { maxLength: 4 }),
        fc.integer(),
        (types, sizes, seed) => {
          const random = seeded(seed);
          const own = new Schema(types.map((each, at) => new Field(`c${at}`, each, true)));
          const batches = sizes.map(([rows, skip]) =>
            randomBatch(own, rows + skip, random).slice(skip),
          );
          roundTrip(own, batches);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('metadata of schema and fields survives', () => {
    const own = new Schema(
      [new Field('a', new Utf8(), true, new Map([['k', 'v']]))],
      new Map([['table', 'ä']]),
    );
    const { bytes, summary } = encodeFragment(own, [randomBatch(own, 3, seeded(1))]);
    const { footer } = decodeFragment(bytes, summary, 'f');
    expect(footer.schema.metadata).toEqual(new Map([['table', 'ä']]));
    expect(footer.schema.fields[0]?.metadata).toEqual(new Map([['k', 'v']]));
  });
});

describe('ragged input is refused', () => {
  const int = (length: number, values: number): Data =>
    makeData({ type: new Int32(), length, nullCount: 0, data: new Int32Array(values) });
  const schema = new Schema([new Field('a', new Int32(), true), new Field('b', new Int32(), true)]);

  test('columns of unequal length', () => {
    expect(() => encodeFragment(schema, [batchOf(schema, [int(4, 4), int(3, 3)], 4)])).toThrow(
      expect.objectContaining({ code: 'TableSchemaValidation' }),
    );
  });
});
