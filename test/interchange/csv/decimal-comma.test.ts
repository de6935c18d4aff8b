/** Numbers with a decimal comma, as files of many countries have them; Intl writes some to compare with. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type DataType,
  Decimal,
  Dictionary,
  Float32,
  Int8,
  Int32,
  Utf8,
} from '../../../src/arrow/index.ts';
import { checkCsvOptions } from '../../../src/interchange/csv/csv-options.ts';
import { type CsvReadOptions, openCsv } from '../../../src/interchange/csv/csv-reader.ts';
import { memorySource } from '../../../src/interchange/files/byte-source.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { batchRows } from '../../../src/sdk/convert/rows.ts';
import { fromCsv } from '../../../src/sdk/files/from-file.ts';
import { casesOf } from '../../helpers/long.ts';
import { memoryFs } from '../../helpers/memory-fs.ts';

async function read(text: string, options: CsvReadOptions = {}) {
  const source = memorySource(new TextEncoder().encode(text), 'x.csv');
  const stream = await openCsv(source, { decimal: ',', ...options });
  const rows: unknown[][] = [];
  for await (const batch of stream) {
    for (const row of batchRows(batch)) rows.push(Object.values(row));
  }
  return { types: stream.schema.fields.map(({ type }) => `${type}`), rows };
}

const columnOf = async (...fields: string[]): Promise<[string, unknown[]]> => {
  const { types, rows } = await read(`${fields.join('\n')}\n`, { header: false, delimiter: ';' });
  return [types[0] as string, rows.flat()];
};

test.each<[string[], string, unknown[]]>([
  [['1,5', '-2'], 'Float64', [1.5, -2]],
  [['1.234,5', '-1.234.567,25', ',5', '7,'], 'Float64', [1234.5, -1234567.25, 0.5, 7]],
  [['1.000', '12', '-1.000.000'], 'Int64', [1000n, 12n, -1000000n]],
  [['9.007.199.254.740.993'], 'Int64', [9007199254740993n]],
  [['1,5e3', 'inf', '  2,5 '], 'Float64', [1500, Number.POSITIVE_INFINITY, 2.5]],
  [['1.5'], 'Utf8', ['1.5']],
  [['1.2345', '1'], 'Utf8', ['1.2345', '1']],
  [['1234.567,0'], 'Utf8', ['1234.567,0']],
  [['.123'], 'Utf8', ['.123']],
  [['1..234'], 'Utf8', ['1..234']],
  [['1,234.567'], 'Utf8', ['1,234.567']],
  [['1,2,3'], 'Utf8', ['1,2,3']],
  [['a.bcd'], 'Utf8', ['a.bcd']],
  [['1e.500'], 'Utf8', ['1e.500']],
  [['1,2.3'], 'Utf8', ['1,2.3']],
  [['-.123'], 'Utf8', ['-.123']],
  [['0.123'], 'Utf8', ['0.123']],
  [['007,5'], 'Utf8', ['007,5']],
  [['01.02.2024', '31.12.2024'], 'Utf8', ['01.02.2024', '31.12.2024']],
  [['2024-02-01'], 'Date32<DAY>', ['2024-02-01']],
  [['2024-02-01T10:00:00.5'], 'Timestamp<MICROSECOND>', [1706781600500000n]],
  [['true', 'false'], 'Bool', [true, false]],
])('%j become %s', async (fields, type, values) => {
  const [found, given] = await columnOf(...fields);
  const plain = given.map((value) =>
    value instanceof Date ? value.toISOString().slice(0, 10) : value,
  );
  expect([found, plain]).toEqual([type, values]);
});

test('numbers that Intl writes in German come back', async () => {
  const digits = { maximumFractionDigits: 20 } as const;
  const german = new Intl.NumberFormat('de-DE', digits);
  const plain = new Intl.NumberFormat('en-US', { ...digits, useGrouping: false });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: -1e15, max: 1e15, noNaN: true }), { minLength: 1 }),
      async (numbers) => {
        const [type, found] = await columnOf('0,5', ...numbers.map((each) => german.format(each)));
        expect(type).toBe('Float64');
        expect(found.slice(1)).toEqual(numbers.map((each) => Number(plain.format(each))));
      },
    ),
    { numRuns: casesOf(50, 2_000), seed: 7 },
  );
});

test('a comma is not found out to stand between fields, unless it is said to', async () => {
  const { types, rows } = await read('name;x\na;1,5\nb;2,5\n');
  expect([types, rows]).toEqual([
    ['Utf8', 'Float64'],
    [
      ['a', 1.5],
      ['b', 2.5],
    ],
  ]);
  const numbers = await read('1,5;2,5\n3,5;4,5\n');
  expect(numbers.rows).toEqual([
    [1.5, 2.5],
    [3.5, 4.5],
  ]);
  const quoted = await read('"x","y"\n"1,5","2"\n', { delimiter: ',' });
  expect(quoted.rows).toEqual([[1.5, 2n]]);
});

test('types that are given take such numbers, and refuse others by their place', async () => {
  const given: Record<string, DataType> = {
    d: new Decimal(2, 9),
    f: new Float32(),
    i: new Int8(),
    t: new Utf8(),
    k: new Dictionary(new Utf8(), new Int32()),
  };
  const db = await connect('/c', { fs: memoryFs() });
  const text = 'd;f;i;t;k\n1.234,50;0,5;+7;1,5;1,5\n-0,25;1.000;-1;a.b;2\n';
  const table = await db.createTable(
    't',
    await fromCsv(Buffer.from(text), { decimal: ',', types: given }),
  );
  const rows = await table.query().toArray();
  expect(rows.map((row) => ({ ...row, d: String(row.d) }))).toEqual([
    { d: '1234.50', f: 0.5, i: 7, t: '1,5', k: '1,5' },
    { d: '-0.25', f: 1000, i: -1, t: 'a.b', k: '2' },
  ]);
  for (const wrong of ['1.5;1;1;;', '1;1.5;1;;', '1;1;1.0;;']) {
    const stream = fromCsv(Buffer.from(`d;f;i;t;k\n1;1;1;;\n${wrong}\n`), {
      decimal: ',',
      types: given,
    });
    await expect(stream.then((rows) => table.add(rows))).rejects.toThrow('line 3');
  }
  await db.close();
});

test('the option is a point or a comma', () => {
  expect(() => checkCsvOptions({ decimal: ';' as ',' })).toThrow('decimal of CSV is ";"; give');
  expect(checkCsvOptions({ decimal: '.' }).hasDecimalComma).toBe(false);
});
