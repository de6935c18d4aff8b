/** CSV as record batches: what is found out, what is refused, and that pieces of any size give the same. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  columnsOf,
  DateDay,
  Field,
  Float32,
  Int8,
  Schema,
  Utf8,
} from '../../../src/arrow/index.ts';
import type { RejectedRow } from '../../../src/interchange/csv/csv-options.ts';
import { type CsvReadOptions, csvTypes, openCsv } from '../../../src/interchange/csv/csv-reader.ts';
import { memorySource, streamSource } from '../../../src/interchange/files/byte-source.ts';
import { decompressed } from '../../../src/interchange/files/decompress.ts';
import { batchRows } from '../../../src/sdk/convert/rows.ts';
import { casesOf } from '../../helpers/long.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function read(data: Uint8Array | string, options: CsvReadOptions = {}) {
  const bytes = typeof data === 'string' ? bytesOf(data) : data;
  return readFrom(memorySource(bytes, 'x.csv'), options);
}

async function readFrom(source: Parameters<typeof openCsv>[0], options: CsvReadOptions = {}) {
  const stream = await openCsv(source, options);
  const rows: unknown[][] = [];
  for await (const batch of stream) {
    for (const row of batchRows(batch)) rows.push(Object.values(row));
  }
  const types = stream.schema.fields.map(({ name, type }) => `${name}:${type}`);
  return { types, rows };
}

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts].map((at) => at % (bytes.length + 1)).sort((a, b) => a - b)) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
  yield bytes.subarray(start);
}

describe('types', () => {
  test.each<[string, string, readonly unknown[]]>([
    ['1,-2,9007199254740993', 'Int64', [1n, -2n, 9007199254740993n]],
    ['1,18446744073709551615', 'Uint64', [1n, 18446744073709551615n]],
    ['1,99999999999999999999', 'Utf8', ['1', '99999999999999999999']],
    ['1,2.5,-1e-3,.5', 'Float64', [1, 2.5, -0.001, 0.5]],
    ['1,nan,-inf', 'Float64', [1, Number.NaN, Number.NEGATIVE_INFINITY]],
    ['nan,x', 'Utf8', ['nan', 'x']],
    ['0.1,9007199254740993', 'Utf8', ['0.1', '9007199254740993']],
    ['007,8', 'Utf8', ['007', '8']],
    ['+49,1', 'Utf8', ['+49', '1']],
    ['true,FALSE,', 'Bool', [true, false, null]],
    ['2020-02-29,1969-12-31', 'Date32<DAY>', ['2020-02-29', '1969-12-31']],
    ['2020-02-30,2020-02-28', 'Utf8', ['2020-02-30', '2020-02-28']],
    ['12:30:00,00:00:01.5', 'Time64<MICROSECOND>', [45_000_000_000n, 1_500_000n]],
    [',', 'Utf8', [null, null]],
  ])('%s', async (cells, type, values) => {
    const { types, rows } = await read(
      `a,b\n${cells
        .split(',')
        .map((cell) => `${cell},x`)
        .join('\n')}\n`,
    );
    expect(types[0]).toBe(`a:${type}`);
    const found = rows.map(([value]) =>
      value instanceof Date ? value.toISOString().slice(0, 10) : value,
    );
    expect(found).toEqual(values);
  });

  test('timestamps keep their zone, or have none, to the nanosecond', async () => {
    const { types } = await read(
      'a,b,c,d\n2020-01-01 00:00:00.5,2020-01-01T00:00:00Z,2020-01-01,2020-01-01 00:00:00.123456789\n2020-01-01,2020-01-01 02:00:00+02:00,2020-01-01T01:02:03,2020-01-01\n',
    );
    expect(types).toEqual([
      'a:Timestamp<MICROSECOND>',
      'b:Timestamp<MICROSECOND, UTC>',
      'c:Timestamp<MICROSECOND>',
      'd:Timestamp<NANOSECOND>',
    ]);
  });

  test('are those that are given, by name or by a schema', async () => {
    const types = new Map([['a', new Int8()]]);
    expect(await read('a,b\n7,1\n', { types })).toEqual({
      types: ['a:Int8', 'b:Int64'],
      rows: [[7, 1n]],
    });
    await expect(read('a\n300\n', { types })).rejects.toThrow(
      'x.csv, line 2, column 1: column "a": found "300", expected int8',
    );
    await expect(read('b\n1\n', { types })).rejects.toThrow('which x.csv does not have');
    const schema = new Schema([new Field('d', new DateDay(), false), new Field('t', new Utf8())]);
    expect((await read('2020-01-02,007\n', { schema })).types).toEqual(['d:Date32<DAY>', 't:Utf8']);
    await expect(read('d,t\n,x\n', { schema })).rejects.toThrow('found nothing, expected date32');
  });

  test('a field that does not fit the beginning says so, and all rows may be asked first', async () => {
    const text = `id,n\n${Array.from({ length: 200_000 }, (_, at) => `${at},1\n`).join('')}x,2.5\n`;
    await expect(read(text)).rejects.toMatchObject({
      code: 'InvalidInput',
      details: { line: 200_002, column: 1, guessed: true },
    });
    const { types, rows } = await read(text, { sample: 'all' });
    expect(types).toEqual(['id:Utf8', 'n:Float64']);
    expect(rows.length).toBe(200_001);
  });
});

describe('a first row that ends behind the first megabyte', () => {
  const long = 'x'.repeat(1_200_000);
  const breaks = 'x,\n'.repeat(900_000);
  const rows = Array.from({ length: 50 }, (_, at) => `${at},y,1.5\n`).join('');
  test.each<[string, string, CsvReadOptions]>([
    ['a long field', `id,body,price\n1,${long},2.5\n${rows}`, {}],
    ['a quoted one with breaks', `id,body,price\n1,"${breaks}",2.5\n${rows}`, {}],
    ['a long header', `id,"${breaks}",price\n1,x,2.5\n${rows}`, {}],
    ['no header', `1,"${breaks}",2.5\n${rows}`, {}],
    ['no header, a field of 200 kB', `1,"${breaks.slice(0, 200_000)}",2.5\n${rows}`, {}],
    ['all rows', `id,body,price\n1,${long},2.5\n${rows}`, { sample: 'all' }],
    ['no other row', `id,body,price\n1,${long},2.5`, {}],
  ])('has types: %s', async (_, text, options) => {
    const { types } = await read(text, options);
    expect(types.map((type) => type.slice(type.lastIndexOf(':') + 1))).toEqual([
      'Int64',
      'Utf8',
      'Float64',
    ]);
  });

  test('is read once, of a stream', async () => {
    const bytes = bytesOf(`id,body,price\n1,"${breaks}",2.5\n${rows}`);
    const source = streamSource(cutAt(bytes, [7, 1_048_570, 1_048_577, 2_000_000]), 'x.csv');
    const found = await readFrom(source);
    expect(found.types).toEqual(['id:Int64', 'body:Utf8', 'price:Float64']);
    expect(found.rows.length).toBe(51);
    expect(found.rows[0]).toEqual([1n, breaks, 2.5]);
    expect(found.rows[50]).toEqual([49n, 'y', 1.5]);
  });

  test('is looked for in eight megabytes, where a quote is never closed', async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield bytesOf('"');
      for (;;) {
        pulled++;
        yield new Uint8Array(1 << 20).fill(97);
      }
    }
    await expect(readFrom(streamSource(endless(), 'x.csv'))).rejects.toThrow('is not closed');
    expect(pulled).toBeGreaterThanOrEqual(8);
    expect(pulled).toBeLessThanOrEqual(16);
  });

  test('that is damaged is refused', async () => {
    await expect(read(`1,"${long}"x,2.5\n${rows}`)).rejects.toThrow('text follows the closing');
  });
});

test('a column without a name keeps it where the schema has one', async () => {
  const schema = new Schema([new Field('', new Int8()), new Field('b', new Utf8(), true)]);
  expect(await read('"",b\n1,x\n', { schema })).toEqual({
    types: [':Int8', 'b:Utf8'],
    rows: [[1, 'x']],
  });
  expect((await read('"",b\n1,x\n', { header: true })).types).toEqual(['column0:Int64', 'b:Utf8']);
});

describe('how it is written', () => {
  test.each<[string, string, readonly unknown[][]]>([
    ['semicolons', 'a;b\n1;2,5\n', [[1n, '2,5']]],
    ['tabs', 'a\tb\n1\tx y\n', [[1n, 'x y']]],
    ['bars', 'a|b\n1|x\n', [[1n, 'x']]],
    [
      'CRLF',
      'a,b\r\n1,x\r\n2,y\r\n',
      [
        [1n, 'x'],
        [2n, 'y'],
      ],
    ],
    [
      'CR',
      'a,b\r1,x\r2,y',
      [
        [1n, 'x'],
        [2n, 'y'],
      ],
    ],
    ['no last line break', 'a,b\n1,x', [[1n, 'x']]],
    ['blank lines', '\na,b\n\n1,x\n\n', [[1n, 'x']]],
    ['quoted delimiters and breaks', 'a,b\n1,"x, ""y""\r\nz"\n', [[1n, 'x, "y"\r\nz']]],
    [
      'empty quotes and no quotes',
      'a,b\n1,""\n2,\n',
      [
        [1n, ''],
        [2n, null],
      ],
    ],
    [
      'apostrophes as quotes',
      "a,b\n1,'x,y'\n2,'z'\n",
      [
        [1n, 'x,y'],
        [2n, 'z'],
      ],
    ],
    [
      'apostrophes in texts',
      "a,b\n1,it's\n2,Bob's\n",
      [
        [1n, "it's"],
        [2n, "Bob's"],
      ],
    ],
    [
      'backslashes',
      'a,b\n1,"x \\" y"\n2,"z"\n',
      [
        [1n, 'x " y'],
        [2n, 'z'],
      ],
    ],
    ['quotes inside fields', 'a,b\n1,x"y"\n', [[1n, 'x"y"']]],
  ])('%s', async (_, text, rows) => {
    expect((await read(text)).rows).toEqual(rows);
  });

  test.each<[string, string, string[]]>([
    ['texts above numbers', 'a,b\n1,x\n', ['a:Int64', 'b:Utf8']],
    ['texts above texts', 'a,b\nx,y\n', ['a:Utf8', 'b:Utf8']],
    ['numbers above numbers', '1,2\n3,4\n', ['column0:Int64', 'column1:Int64']],
    [
      'names that come twice, or not at all',
      'a,a,\n1,2,3\n',
      ['a:Int64', 'a_1:Int64', 'column2:Int64'],
    ],
  ])('a header: %s', async (_, text, types) => {
    expect((await read(text)).types).toEqual(types);
  });

  test.each([
    [
      'UTF-8 with a mark',
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('a,b\n1,é\n')]),
    ],
    ['UTF-16 LE', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('a,b\n1,é\n', 'utf16le')])],
    ['UTF-16 LE without a mark', Buffer.from('a,b\n1,é\n', 'utf16le')],
    [
      'UTF-16 BE',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('a,b\n1,é\n', 'utf16le').swap16()]),
    ],
    ['Latin 1', Buffer.from('a,b\n1,é\n', 'latin1')],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toEqual({ types: ['a:Int64', 'b:Utf8'], rows: [[1n, 'é']] });
  });

  test('has the delimiter that its first line names', async () => {
    for (const first of ['sep=;\r\n', 'SEP=;\n', '"sep=;"\n', '\ufeffsep=;\r\n']) {
      const { types, rows } = await read(`${first}id;name\r\n1;a,b\r\n`);
      expect({ types, rows }).toEqual({ types: ['id:Int64', 'name:Utf8'], rows: [[1n, 'a,b']] });
    }
    expect((await read('sep=|\na|b\n1\t,2|3\n')).rows).toEqual([['1\t,2', 3n]]);
    expect((await read('sep=;\na,b;c\n1,2;3\n', { delimiter: ',' })).types[0]).toBe('a:Int64');
    expect((await read('sep=;\na,b\n1,2\n', { skipLines: 1 })).rows).toEqual([[1n, 2n]]);
    expect((await read('sep=x\na\n')).rows).toEqual([['a']]);
    await expect(read('sep=;\na;b\n1;2;3\n')).rejects.toThrow('line 3');
  });

  test('is what the options say', async () => {
    expect((await read('x\na,b\n1,NA\n', { skipLines: 1, nulls: ['NA'] })).rows).toEqual([
      [1n, null],
    ]);
    expect((await read('a,b\n1,2\n', { header: false })).rows).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
    expect((await read('a,b\n1\n', { ragged: 'pad' })).rows).toEqual([[1n, null]]);
    expect((await read('a,"b\n1,x\n', { quote: '' })).types).toEqual(['a:Int64', '"b:Utf8']);
    await expect(read('a\n1\n', { delimeter: ';' } as never)).rejects.toThrow(
      'Did you mean "delimiter"',
    );
    await expect(read('a\n1\n', { encoding: 'ebcdic' })).rejects.toThrow('give one of utf-8');
  });
});

describe('rows that cannot be taken', () => {
  test.each<[string, string]>([
    ['a,b\n1,x\n2\n', 'x.csv, line 3, column 2: the row has 1 field where 2 are expected'],
    ['a,b\n1,x\n2,y,z\n', 'x.csv, line 3, column 5: the row has 3 fields where 2 are expected'],
    ['a,b\n1,"x"y\n', 'x.csv, line 2, column 6: text follows the closing quote'],
    ['a,b\n1,"x\ny\n', 'x.csv, line 2, column 3: the quote that begins here is not closed'],
  ])('%j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test('go to the caller, in order and as they are in the file', async () => {
    const rejected: RejectedRow[] = [];
    const text = 'a,b\n1,x\n2\n"three","y,\nz"\n4,é\n5,6,7\n6,w\n';
    const types = new Map([['a', new Int8()]]);
    const { rows } = await read(text, { types, onReject: (row) => rejected.push(row) });
    expect(rows).toEqual([
      [1, 'x'],
      [4, 'é'],
      [6, 'w'],
    ]);
    expect(rejected.map(({ line, column, text: row }) => [line, column, row])).toEqual([
      [3, 2, '2'],
      [4, 2, '"three","y,\nz"'],
      [7, 5, '5,6,7'],
    ]);
  });

  test('go to the caller once each, for the first field that does not fit', async () => {
    const rejected: RejectedRow[] = [];
    const types = new Map(['a', 'b', 'c'].map((name) => [name, new Int8()]));
    const text = 'a,b,c\n1,2,3\nx,y,z\n4,y,6\n7,8,z\n';
    const { rows } = await read(text, { types, onReject: (row) => rejected.push(row) });
    expect(rows).toEqual([[1, 2, 3]]);
    expect(rejected.map(({ line, column, reason }) => [line, column, reason.slice(0, 10)])).toEqual(
      [
        [3, 1, 'column "a"'],
        [4, 3, 'column "b"'],
        [5, 5, 'column "c"'],
      ],
    );
  });

  test('are found in their lines at the cost of one pass, however many there are', async () => {
    const rejected: RejectedRow[] = [];
    const text = `a,b\r\n1,2\r\n${'"x\ny",2,3\r\n'.repeat(30_000)}`;
    const { rows } = await read(text, {
      delimiter: ',',
      header: true,
      onReject: (row) => rejected.push(row),
    });
    expect(rows).toEqual([[1n, 2n]]);
    expect(rejected.length).toBe(30_000);
    for (const [at, { line, column }] of rejected.entries()) {
      if (line !== 3 + 2 * at || column !== 6) expect([at, line, column]).toBe('another place');
    }
  });

  test('are those with a number beyond float32, which would become infinite', async () => {
    const types = new Map([['a', new Float32()]]);
    const { rows } = await read('a\n3.4e38\n-inf\n0.1\n', { types });
    expect(rows).toEqual([[Math.fround(3.4e38)], [Number.NEGATIVE_INFINITY], [Math.fround(0.1)]]);
    for (const cell of ['1e39', '-340282366920938463463374607431768211456']) {
      await expect(read(`a\n1\n${cell}\n`, { types })).rejects.toThrow(
        'x.csv, line 3, column 1: column "a": found',
      );
    }
  });

  test('are those whose bytes are no UTF-8, once the file began as UTF-8', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a,b\n1,x\n2,'),
      Buffer.from([0xff]),
      Buffer.from('\n3,z\n'),
    ]);
    await expect(read(bytes, { encoding: 'utf-8' })).rejects.toThrow(
      'line 3, column 3: the row is not in UTF-8',
    );
    const rejected: RejectedRow[] = [];
    const { rows } = await read(bytes, {
      encoding: 'utf-8',
      onReject: (row) => rejected.push(row),
    });
    expect([rows, rejected.length]).toEqual([
      [
        [1n, 'x'],
        [3n, 'z'],
      ],
      1,
    ]);
  });

  test('a record without end is refused, and memory stays bounded', async () => {
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield bytesOf('a,b\n1,"');
      const more = new Uint8Array(1 << 24).fill(120);
      for (;;) yield more;
    }
    const source = streamSource(endless(), 'x.csv');
    await expect(readFrom(source, { header: true })).rejects.toThrow('one record has more than');
  });
});

test('pieces of any size, and compression, give the same rows', async () => {
  const field = fc.constantFrom(
    '',
    '1',
    '-2.5',
    'x',
    '2020-01-01',
    'é𝄞',
    '"',
    'a,b',
    'l\nm',
    'r\r\ns',
    "'",
    'true',
  );
  const rows = fc.array(fc.array(field, { minLength: 3, maxLength: 3 }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.array(fc.nat(), { maxLength: 8 }),
      fc.boolean(),
      async (cells, cuts, isCrlf) => {
        const quoted = (text: string): string =>
          /["',\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        const text = ['k,l,m', ...cells.map((row) => row.map(quoted).join(','))].join(
          isCrlf ? '\r\n' : '\n',
        );
        const bytes = bytesOf(text);
        const options = { header: true, delimiter: ',', quote: '"' };
        const types = new Map(['k', 'l', 'm'].map((name) => [name, new Utf8()]));
        const whole = await read(bytes, { ...options, types });
        // A record of empty fields is no blank line: it has commas.
        expect(whole.rows).toEqual(
          cells.map((row) => row.map((cell) => (cell === '' ? null : cell))),
        );
        expect(
          await readFrom(streamSource(cutAt(bytes, cuts), 'x.csv'), { ...options, types }),
        ).toEqual(whole);
        const packed = decompressed(streamSource(cutAt(gzipSync(bytes), cuts), 'x.csv'), 'gzip');
        expect(await readFrom(packed, { ...options, types })).toEqual(whole);
        expect((await read(bytes, options)).rows.length).toBe(cells.length);
      },
    ),
    { numRuns: casesOf(25, 150) },
  );
});

test('any bytes are read or refused by name', async () => {
  const alphabet = fc.constantFrom(
    ...[...'a,"\n\r\'\\;1 2-:.\t|'].map((each) => each.charCodeAt(0)),
    0xff,
    0xc3,
    0xa9,
    0,
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(alphabet, { maxLength: 40 }),
      fc.boolean(),
      async (codes, rejects) => {
        const options = rejects ? { onReject: () => {} } : {};
        try {
          const { rows, types } = await read(Uint8Array.from(codes), options);
          for (const row of rows) expect(row.length).toBe(types.length);
        } catch (error) {
          expect(error).toMatchObject({ code: 'InvalidInput' });
        }
      },
    ),
    { numRuns: casesOf(100, 10_000) },
  );
});

test('a name that is there thousands of times is numbered at the cost of one pass', async () => {
  const text = `a_2,${'a,'.repeat(30_000)}a\n${'x,'.repeat(30_001)}x\n`;
  const stream = await openCsv(memorySource(bytesOf(text), 'x.csv'), { header: true });
  const before = process.memoryUsage().arrayBuffers;
  const { value } = await stream[Symbol.asyncIterator]().next();
  expect(value?.numRows).toBe(1);
  // Before a text is read no column has room for more than a few.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(400e6);
  const types = stream.schema.fields.map(({ name, type }) => `${name}:${type}`);
  expect(types.slice(0, 4)).toEqual(['a_2:Utf8', 'a:Utf8', 'a_1:Utf8', 'a_3:Utf8']);
  expect(new Set(types).size).toBe(30_002);
});

test('a file whose types cannot be found out is closed', async () => {
  let closed = 0;
  const source = {
    ...memorySource(bytesOf(''), 'x.csv'),
    async *pieces() {
      try {
        yield bytesOf('"a\n1\n');
        yield* [];
      } finally {
        closed++;
      }
    },
  };
  await expect(csvTypes([source], { header: true })).rejects.toThrow('a quote in it is not closed');
  const endless = {
    ...source,
    async *pieces() {
      try {
        for (;;) yield Buffer.alloc(1 << 21, '"a');
      } finally {
        closed++;
      }
    },
  };
  await expect(csvTypes([endless], { header: true })).rejects.toThrow('cannot be read');
  expect(closed).toBe(2);
});

test.each(['ebcdic', 'constructor', 5])('the encoding %j is refused', async (encoding) => {
  await expect(read('a\n1\n', { encoding: encoding as string })).rejects.toMatchObject({
    code: 'InvalidInput',
  });
});

test('CRLF may be cut anywhere, and lines count on across pieces', async () => {
  const bytes = bytesOf('a\r\n1\r\n\r\n2\r\n');
  const text = bytesOf('a,b\n1,"x\ny"\n2,z\n3\n');
  for (let cut = 0; cut < text.length; cut++) {
    const one = await readFrom(streamSource(cutAt(bytes, [cut]), 'x.csv'), { header: true });
    expect(one.rows).toEqual([[1n], [null], [2n]]);
    const bad = readFrom(streamSource(cutAt(text, [cut]), 'x.csv'), { delimiter: ',' });
    await expect(bad).rejects.toThrow('x.csv, line 5, column 2');
  }
});

test('a time without a zone does not follow those with one', async () => {
  const text = `a\n${'2020-01-01 00:00:00Z\n'.repeat(60_000)}2020-01-01 00:00:00\n`;
  await expect(read(text)).rejects.toMatchObject({ details: { line: 60_002, guessed: true } });
});

test('memory is taken for the rows of a batch, of thousands of columns for fewer', async () => {
  const names = Array.from({ length: 2_000 }, (_, at) => `c${at}`);
  const bytes = bytesOf(`${names.join(',')}\n${names.map((_, at) => at).join(',')}\n`);
  const stream = await openCsv(memorySource(bytes, 'x.csv'));
  let taken = 0;
  for await (const batch of stream) {
    for (const { values } of columnsOf(batch)) taken += values.buffer.byteLength;
  }
  // 65,536 rows of them would take a gigabyte.
  expect(taken).toBeLessThan(40e6);
});

test.each([
  ['a,b\n1\n', "With ragged 'pad' the others are null; onReject takes such rows aside."],
  ['a,b\n1,2,3\n', 'where 2 are expected. onReject takes such rows aside.'],
  ['# of a tool\na,b\n1,2\n', 'Lines before the header are passed over by skipLines.'],
  ['a,b\n"x"y,1\n', "is read with quote ''; onReject"],
  ['a,b\n"x,1\n', "A file without quotes is read with quote ''."],
])('what to do is told of %j', async (text, advice) => {
  await expect(read(text)).rejects.toThrow(advice);
});

test('an encoding is asked for where a late row is in another', async () => {
  const late = Buffer.concat([Buffer.alloc(1 << 20, 'a\n'), Buffer.from('é\n', 'latin1')]);
  await expect(read(late)).rejects.toThrow('Give its encoding, such as latin1');
});
