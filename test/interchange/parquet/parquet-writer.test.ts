/** Parquet that is written here, read back: all types that it has, in pages and row groups of any size. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import {
  type DataType,
  Dictionary,
  dataOf,
  Field,
  Int32,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
  Struct,
  Type,
  Utf8,
  vectorFromArray,
} from '../../../src/arrow/index.ts';
import { memorySource } from '../../../src/interchange/files/index.ts';
import {
  encodeParquet,
  openParquet,
  type ParquetWriteOptions,
} from '../../../src/interchange/parquet/index.ts';
import { encodeSnappy, snappyInSteps } from '../../../src/interchange/parquet/snappy.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/index.ts';
import { drained } from '../../../src/steps.ts';
import { everyType, exactValues, randomBatch, seeded } from '../../helpers/arrow-samples.ts';
import { collectBatches } from '../../helpers/batches.ts';

async function encoded(
  stream: RecordBatchStream,
  options?: ParquetWriteOptions,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeParquet(stream, options)) pieces.push(piece);
  return new Uint8Array(Buffer.concat(pieces));
}

async function readBack(bytes: Uint8Array): Promise<{ schema: Schema; batches: RecordBatch[] }> {
  const stream = await openParquet(memorySource(bytes));
  return { schema: stream.schema, batches: await collectBatches(stream) };
}

const isIn = (type: DataType, wanted: readonly Type[]): boolean =>
  wanted.includes(type.typeId) ||
  (type.children ?? []).some((field: Field) => isIn(field.type, wanted)) ||
  (type.typeId === Type.Dictionary &&
    isIn((type as never as { dictionary: DataType }).dictionary, wanted));

/** Random numbers are no values of the others. */
const OTHERS = [Type.Union, Type.Interval, Type.Decimal, Type.Date, Type.Time, Type.Timestamp];
const types = new Schema(everyType().fields.filter(({ type }) => !isIn(type, OTHERS)));
const required = new Schema(
  types.fields
    .filter(({ type }) => type.typeId !== Type.Null)
    .map((field) => field.clone({ nullable: false })),
);

test.each([
  ['snappy', types, undefined, 90],
  ['zstd', types, 17, 90],
  ['gzip', types, 1, 4],
  ['none', types, 64, 90],
  ['snappy', required, 50, 90],
] as const)('every type as %s', async (compression, schema, rowGroupRows, last) => {
  const random = seeded(compression.length);
  const batches = [last >> 1, 1, last].map((rows) => randomBatch(schema, rows, random));
  const bytes = await encoded(recordBatchStream(schema, batches), { compression, rowGroupRows });
  const found = await readBack(bytes);
  const [all, wanted] = [exactValues(found.batches), exactValues(batches)];
  for (const [column, { name, type, nullable }] of schema.fields.entries()) {
    expect([name, all[column]]).toEqual([name, wanted[column]]);
    const kept = found.schema.fields[column] as Field;
    expect([name, kept.nullable]).toEqual([name, nullable]);
    if (isIn(type, [Type.Dictionary, Type.Utf8View, Type.BinaryView, Type.Map])) continue;
    expect([name, String(kept.type)]).toEqual([name, String(type)]);
  }
  expect(found.batches.reduce((rows, batch) => rows + batch.numRows, 0)).toBe(
    (last >> 1) + 1 + last,
  );
});

const rowsOf = (rows: object[], schema?: Schema): Promise<RecordBatchStream> =>
  toRecordBatchStream(rows, schema === undefined ? {} : { schema });

test('long columns, and texts that do and do not come again', async () => {
  const rows = Array.from({ length: 50_000 }, (_, n) => ({
    same: 'the very same text',
    few: `word ${n % 100}`,
    many: `${n} of many different texts`,
    late: n < 35_000 ? 'a' : `late ${n}`,
    gap: n % 3 === 0 ? null : n,
    list: n % 5 === 0 ? [] : [n, null, `${n}`.length],
  }));
  const stream = await rowsOf(rows);
  const batches = await collectBatches(stream);
  const bytes = await encoded(recordBatchStream(stream.schema, batches));
  // Words of a dictionary are stored once.
  expect(bytes.length).toBeLessThan(2_750_000);
  // toEqual takes seconds for so many values.
  const found = exactValues((await readBack(bytes)).batches);
  expect(isDeepStrictEqual(found, exactValues(batches))).toBe(true);
});

test('one value that is larger than a page', async () => {
  const stream = await rowsOf([{ t: 'x'.repeat(3_000_000) }, { t: 'y' }, { t: null }]);
  const batches = await collectBatches(stream);
  const bytes = await encoded(recordBatchStream(stream.schema, batches));
  expect(exactValues((await readBack(bytes)).batches)).toEqual(exactValues(batches));
});

test('what Parquet cannot hold is refused by name', async () => {
  const named = (name: string): Schema =>
    new Schema(everyType().fields.filter((field) => field.name === name));
  const written = async (rows: object[], schema: Schema): Promise<Uint8Array> =>
    encoded(await rowsOf(rows, schema));
  const union = written([{ dense_union: 'a' }], named('dense_union'));
  await expect(union).rejects.toThrow(/no form for unions, as the column "dense_union" has/);
  const interval = named('interval_mdn');
  const bad = written([{ interval_mdn: { months: -1, days: 0, nanoseconds: 0n } }], interval);
  await expect(bad).rejects.toThrow(/"interval_mdn" has an interval that is negative/);
  const fine = written([{ interval_mdn: { months: 0, days: 0, nanoseconds: 1n } }], interval);
  await expect(fine).rejects.toThrow(/finer than milliseconds/);
  const good = { months: 14, days: 3, nanoseconds: 5_000_000n };
  const kept = await readBack(await written([{ interval_mdn: good }], interval));
  expect(exactValues(kept.batches)).toEqual(
    exactValues(await collectBatches(await rowsOf([{ interval_mdn: good }], interval))),
  );
  const late = written([{ timestamp_s: 2n ** 62n }], named('timestamp_s'));
  await expect(late).rejects.toThrow(/"timestamp_s" has a timestamp of more than 64 bits/);
  const millis = written([{ date64: 5n }], named('date64'));
  await expect(millis).rejects.toThrow(/no whole day/);
  const wrong = (options: object): unknown => {
    try {
      return encodeParquet(recordBatchStream(types, []), options);
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(wrong({ compression: 'lzo' })).toContain('give one of none, snappy, gzip, zstd');
  expect(wrong({ rowGroupRows: 0 })).toContain('a whole number from 1 on');
  expect(wrong({ compresion: 'zstd' })).toContain('compression');
});

test('a null where the field allows none is refused', async () => {
  const type = new Dictionary(new Utf8(), new Int32());
  const field = new Field('a', type, false);
  const codes = { values: Int32Array.of(0, 1) };
  const nullWord = dataOf(type, 2, {
    ...codes,
    dictionary: vectorFromArray(['a', null], new Utf8()),
  });
  const nullCode = dataOf(type, 2, {
    ...{ ...codes, nullCount: 1, validity: Uint8Array.of(1) },
    dictionary: vectorFromArray(['a', 'b'], new Utf8()),
  });
  const struct = new Struct([field]);
  for (const column of [nullWord, nullCode]) {
    const inner = dataOf(struct, 2, { children: [column] });
    for (const [wanted, data] of [
      [field, column],
      [new Field('s', struct, true), inner],
    ] as const) {
      const schema = new Schema([wanted]);
      const stream = recordBatchStream(schema, [recordBatch(schema, [data], 2)]);
      await expect(encoded(stream, {})).rejects.toThrow('has a null where its field allows none');
    }
  }
});

test('Snappy, of what repeats and what does not', () => {
  const random = seeded(11);
  for (const size of [0, 1, 15, 16, 100, 65_535, 65_536, 65_537, 400_000]) {
    for (const letters of [1, 2, 20, 256]) {
      const content = Uint8Array.from({ length: size }, () => Math.floor(random() * letters));
      const coded = encodeSnappy(content);
      const refuse = (what: string): never => {
        throw new Error(what);
      };
      const back = drained(snappyInSteps(coded, size, refuse));
      expect(Buffer.compare(back, content)).toBe(0);
      if (letters === 1 && size > 1000) expect(coded.length).toBeLessThan(size / 15);
    }
  }
});
