/** Tables and queries as files of other programs, and these files read back. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type DataType,
  Field,
  Float32,
  Float64,
  List,
  type RecordBatch,
  recordBatchStream,
  Schema,
  Struct,
  Type,
} from '../../src/arrow/index.ts';
import { toJson } from '../../src/cli/terminal/output.ts';
import { parseExactJson } from '../../src/interchange/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { fromCsv, fromFile } from '../../src/sdk/files/index.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { everyType, exactValues, randomBatch, seeded } from '../helpers/arrow-samples.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

let db: Connection;
let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = temporaryFolder();
  db = await connect('/c', { fs: memoryFs() });
});

const collected = async (stream: AsyncIterable<RecordBatch>): Promise<RecordBatch[]> => {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
};

/** What a union's value is a member of, and the words of a dictionary, are not in any text. */
const isIn = (type: DataType, wanted: readonly Type[]): boolean =>
  wanted.includes(type.typeId) ||
  (type.children ?? []).some((field: Field) => isIn(field.type, wanted)) ||
  (type.typeId === Type.Dictionary &&
    isIn((type as never as { dictionary: DataType }).dictionary, wanted));

/** Of these, random numbers are mostly no values that a calendar or a precision has. */
const CHOSEN = [Type.Union, Type.Decimal, Type.Date, Type.Time, Type.Timestamp];
const textual = new Schema(everyType().fields.filter(({ type }) => !isIn(type, CHOSEN)));

const FORMATS = [
  ...['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'arrow-stream', 'csv.gz', 'ndjson.zst'],
];

/** Rows of the types that have a calendar, a clock or digits, with values at their edges. */
const CALENDAR = [
  {
    date32: 0,
    date64: Date.UTC(9999, 11, 31),
    time32_s: 0,
    time32_ms: 86_399_999,
    time64_us: 86_399_999_999n,
    time64_ns: 86_399_999_999_999n,
    timestamp_s: -62_135_596_800n,
    timestamp_ms: 253_402_300_799_999n,
    timestamp_us: -(2n ** 63n),
    timestamp_ns: 2n ** 63n - 1n,
    decimal128: '-99999999999999999999999999.9999',
    decimal256: `${'9'.repeat(56)}.0001`,
  },
  {
    date32: Date.UTC(-4712, 0, 1),
    date64: -86_400_000,
    time32_s: 86_399,
    time32_ms: 1,
    time64_us: 1_000n,
    time64_ns: 1n,
    timestamp_s: 0n,
    timestamp_ms: -1n,
    timestamp_us: 1_700_000_000_123_000n,
    timestamp_ns: -(2n ** 63n),
    decimal128: '0.0001',
    decimal256: '-0.0000',
  },
  {},
];
const calendar = new Schema(
  everyType().fields.filter(({ name }) => Object.hasOwn(CALENDAR[0] as object, name)),
);

describe.each(FORMATS)('%s', (name) => {
  const ending = name.replace('arrow-stream', 'arrows');

  test('holds the values of every type', async () => {
    const isArrow = name.startsWith('arrow');
    // Those of Parquet are not negative.
    const positive = textual.fields.filter(({ type }) => !isIn(type, [Type.Interval]));
    const schema = isArrow ? everyType() : name === 'parquet' ? new Schema(positive) : textual;
    const random = seeded(name.length);
    const batches = [30, 1, 70].map((rows) => randomBatch(schema, rows, random));
    const table = await db.createTable('t', recordBatchStream(schema, batches));
    const file = at(`t.${ending}`);
    const { rows, bytes, format } = await table.toFile(file);
    expect([rows, format]).toEqual([101, name.split('.')[0]]);
    expect(bytes).toBe(statSync(file).size);
    const found = await collected(await fromFile(file, isArrow ? {} : { schema }));
    const expected = await collected(await table.stream());
    const [all, wanted] = [exactValues(found), exactValues(expected)];
    for (const [column, { name: field }] of schema.fields.entries()) {
      expect([field, all[column]]).toEqual([field, wanted[column]]);
    }
    expect(readdirSync(folder)).toEqual([`t.${ending}`]);
  });

  test('holds dates, times and decimals', async () => {
    const table = await db.createTable('t', CALENDAR, [], { schema: calendar });
    const file = at(`t.${ending}`);
    await table.toFile(file);
    const isArrow = name.startsWith('arrow');
    const found = await collected(await fromFile(file, isArrow ? {} : { schema: calendar }));
    expect(calendar.fields.length).toBe(12);
    expect(exactValues(found)).toEqual(exactValues(await collected(await table.stream())));
  });

  test('of no rows has its columns', async () => {
    const schema = new Schema(textual.fields.slice(0, 20));
    const table = await db.createTable('t', recordBatchStream(schema, []));
    const file = at(`t.${ending}`);
    expect((await table.toFile(file)).rows).toBe(0);
    const back = await fromFile(file, name.startsWith('arrow') ? {} : { schema });
    expect(back.schema.fields.map(String)).toEqual(schema.fields.map(String));
    expect(exactValues(await collected(back)).flat()).toEqual([]);
  });
});

test('CSV that is read without a schema has the types and values of its columns', async () => {
  const rows = [
    { n: 1n, big: 9_007_199_254_740_993n, f: 0.1, b: true, d: '2026-01-31', t: 'x' },
    { n: -2n, big: -9_223_372_036_854_775_808n, f: -1e-7, b: false, d: '1969-12-31', t: '' },
    { n: null, big: null, f: null, b: null, d: null, t: null },
    { n: 4n, big: 1n, f: 5, b: true, d: '2000-02-29', t: 'a,"b"\r\n ü€𝄞' },
    { n: 5n, big: 1n, f: 5, b: true, d: '2000-02-29', t: ' spaces ' },
  ];
  const types = { n: 'int64', big: 'int64', f: 'float64', b: 'bool', d: 'date32', t: 'utf8' };
  const json = Object.entries(types).map(([name, type]) => ({
    name,
    nullable: true,
    type: { type },
  }));
  const table = await db.createTable('t', rows, [], { schema: { fields: json } as never });
  await table.toCsv(at('t.csv'));
  expect(readFileSync(at('t.csv'), 'utf8')).toBe(
    'n,big,f,b,d,t\n' +
      '1,9007199254740993,0.1,true,2026-01-31,x\n' +
      '-2,-9223372036854775808,-1e-7,false,1969-12-31,""\n' +
      ',,,,,\n' +
      '4,1,5,true,2000-02-29,"a,""b""\r\n ü€𝄞"\n' +
      '5,1,5,true,2000-02-29," spaces "\n',
  );
  const back = await db.importFile(at('t.csv'), 'back');
  expect((await back.table.schema()).fields.map(String)).toEqual(
    (await table.schema()).fields.map(String),
  );
  expect(await back.table.query().toArray()).toEqual(await table.query().toArray());
});

test('a column alone keeps its rows, nulls and empty texts too', async () => {
  const table = await db.createTable('t', [{ t: 'a' }, { t: null }, { t: '' }, { t: 'b' }]);
  await table.toCsv(at('t.csv'));
  const schema = await table.schema();
  const back = await collected(await fromFile(at('t.csv'), { schema }));
  expect(exactValues(back)).toEqual([['61', null, '', '62']]);
  await table.toCsv(at('null.csv'), { null: 'NULL' });
  expect(readFileSync(at('null.csv'), 'utf8')).toBe('t\na\nNULL\n""\nb\n');
});

test('a column alone of each type is read back from CSV, nulls too', async () => {
  for (const field of textual.fields) {
    const batch = randomBatch(new Schema([field]), 30, seeded(5));
    const table = await db.createTable(field.name, recordBatchStream(batch.schema, [batch]));
    const wanted = exactValues(await collected(await table.stream()));
    expect([field.name, wanted[0]]).toEqual([field.name, expect.arrayContaining([null])]);
    await table.toFile(at('t.csv'));
    const back = await collected(await fromFile(at('t.csv'), { schema: batch.schema }));
    expect([field.name, exactValues(back)]).toEqual([field.name, wanted]);
  }
});

test('a decimal and bytes in quotes: nothing is null, and no bytes', async () => {
  writeFileSync(at('d.csv'), 'd\n1.5\n""\n\n');
  const typed = (types: Record<string, string>) => fromFile(at('d.csv'), { types });
  expect(exactValues(await collected(await typed({ d: 'decimal128:5:1' })))[0]).toEqual([
    expect.anything(),
    null,
    null,
  ]);
  writeFileSync(at('d.csv'), 'd\nYQ==\n""\n\n');
  expect(exactValues(await collected(await typed({ d: 'binary' })))).toEqual([['61', '', null]]);
});

test('CSV is read back whatever character separates its fields', async () => {
  const table = await db.createTable('t', CALENDAR, [], { schema: calendar });
  const wanted = exactValues(await collected(await table.stream()));
  for (const delimiter of ' !#/:;=[{|~\t\\') {
    await table.toCsv(at('t.csv'), { delimiter });
    const found = await fromCsv(at('t.csv'), { delimiter, header: true, schema: calendar });
    expect([delimiter, exactValues(await collected(found))]).toEqual([delimiter, wanted]);
  }
});

test('CSV as its options say', async () => {
  const rows = [
    { 'a;b': 'NA', n: null },
    { 'a;b': '\ufeffx', n: 1.5 },
  ];
  const table = await db.createTable('t', rows);
  await table.toCsv(at('t.csv'), { delimiter: ';', null: 'NA' });
  expect(readFileSync(at('t.csv'), 'utf8')).toBe('"a;b";n\n"NA";NA\n"\ufeffx";1.5\n');
  await table.toCsv(at('t.csv'), { header: false });
  expect(readFileSync(at('t.csv'), 'utf8')).toBe('NA,\n"\ufeffx",1.5\n');
  for (const [delimiter, name] of [
    ['"', 'quote'],
    ['', 'none'],
    [',,', 'two'],
    ['ü', 'wide'],
    ['1', 'digit'],
  ]) {
    const wrong = table.toCsv(at(`${name}.csv`), { delimiter: delimiter as string });
    await expect(wrong).rejects.toThrow(/The option delimiter of CSV is/);
  }
  await expect(table.toCsv(at('x'), { null: 'a,b' })).rejects.toThrow(/The option null of CSV/);
  await expect(table.toCsv(at('x'), { header: 'yes' as never })).rejects.toThrow(/header of CSV/);
  await expect(table.toFile(at('x.csv'), { csv: { delimter: ';' } as never })).rejects.toThrow(
    /no option "delimter".*delimiter/,
  );
  expect(readdirSync(folder)).toEqual(['t.csv']);
});

test('JSON has all digits, and texts for what it has no form for', async () => {
  const rows = [
    {
      big: 9_007_199_254_740_993n,
      f: Number.NaN,
      bytes: Uint8Array.of(0, 255),
      t: 'a"\\\n\u0001é',
      l: [1, null],
    },
    { big: 1n, f: -0, bytes: null, t: null, l: [] },
    { big: 1n, f: Number.NEGATIVE_INFINITY, bytes: Uint8Array.of(), t: '', l: null },
  ];
  const table = await db.createTable('t', rows);
  await table.toJsonLines(at('t.ndjson'));
  expect(readFileSync(at('t.ndjson'), 'utf8')).toBe(
    '{"big":9007199254740993,"f":"NaN","bytes":"AP8=","t":"a\\"\\\\\\n\\u0001é","l":[1,null]}\n' +
      '{"big":1,"f":-0,"bytes":null,"t":null,"l":[]}\n' +
      '{"big":1,"f":"-Infinity","bytes":"","t":"","l":null}\n',
  );
  await table.query().select(['big']).limit(2).toJson(at('t.json'));
  expect(readFileSync(at('t.json'), 'utf8')).toBe('[\n{"big":9007199254740993},\n{"big":1}\n]\n');
  // Into a table that has the types, the texts are values again.
  const other = await db.createEmptyTable('u', await table.schema());
  await db.importFile(at('t.ndjson'), 'u', [], { mode: 'append' });
  expect(await other.query().toArray()).toEqual(await table.query().toArray());
});

test.each(['json', 'ndjson', 'csv'])(
  'floats without a fraction are read back from %s',
  async (name) => {
    const large = [2 ** 60, -(2 ** 53), 1_764_271_000_123_456_800, 1e20, 1e300, -0, 2.5];
    const rows = large.map((x) => ({ x, y: Math.fround(x), l: [x], s: { x } }));
    const float = (name: string, type: DataType): Field => new Field(name, type, true);
    const schema = new Schema([
      float('x', new Float64()),
      float('y', new Float32()),
      float('l', new List(float('item', new Float64()))),
      float('s', new Struct([float('x', new Float64())])),
    ]);
    rows[4]!.y = 2 ** 100;
    const table = await db.createTable('t', rows, [], { schema });
    await table.toFile(at(`t.${name}`));
    const back = await collected(await fromFile(at(`t.${name}`), { schema }));
    expect(exactValues(back)).toEqual(exactValues(await collected(await table.stream())));
    if (name === 'csv') return;
    const inferred = await db.importFile(at(`t.${name}`), 'inferred');
    expect(await inferred.table.query().select(['x', 'l']).toArray()).toEqual(
      rows.map(({ x, l }) => ({ x, l })),
    );
  },
);

test('a number beyond all floats is refused in a column of floats', async () => {
  writeFileSync(at('t.ndjson'), `{"x":1${'0'.repeat(310)}}\n`);
  await expect(
    fromFile(at('t.ndjson'), { types: { x: 'float64' } }).then(collected),
  ).rejects.toThrow(/expected float64/);
});

test('a text that is no base64 is refused as bytes', async () => {
  const schema = new Schema(everyType().fields.filter(({ name }) => name === 'binary'));
  for (const [name, text] of [
    ['t.ndjson', '{"binary":"no base64!"}\n'],
    ['t.csv', 'binary\nno base64!\n'],
  ] as const) {
    writeFileSync(at(name), text);
    const read = async (): Promise<unknown> => collected(await fromFile(at(name), { schema }));
    await expect(read()).rejects.toThrow(/no base64!/);
  }
});

test('numbers of 64 bits at their edges, signed and unsigned', async () => {
  const edges = [
    0n,
    1n,
    2n ** 31n,
    2n ** 32n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
  ];
  const signed = [...edges, ...edges.map((edge) => -edge), -(2n ** 63n), 0n, 0n];
  const unsigned = [
    ...edges,
    ...edges.map((edge) => 2n ** 64n - 1n - edge),
    2n ** 63n,
    2n ** 64n - 1n,
    5n,
  ];
  const fields = everyType().fields.filter(({ name }) => ['int64', 'uint64'].includes(name));
  const rows = signed.map((int64, at) => ({ int64, uint64: unsigned[at] }));
  const table = await db.createTable('t', rows, [], { schema: new Schema(fields) });
  await table.toCsv(at('t.csv'), { header: false });
  const lines = rows.map(({ int64, uint64 }) => `${int64},${uint64}\n`);
  expect(readFileSync(at('t.csv'), 'utf8')).toBe(lines.join(''));
});

test('a query, a version, a tag and a branch', async () => {
  const table = await db.createTable('t', [{ n: 1 }, { n: 2 }, { n: 3 }]);
  await table.delete('n = 1');
  await (await table.tags()).create('first', 1);
  const branch = await (await table.branches()).create('side');
  await branch.add([{ n: 9 }]);
  const text = async (from: Pick<Table, 'toCsv'>): Promise<string> => {
    await from.toCsv(at('t.csv'), { header: false });
    return readFileSync(at('t.csv'), 'utf8').replaceAll('\n', ' ');
  };
  expect(await text(table)).toBe('2 3 ');
  expect(await text(await db.openTable('t', [], { version: 1 }))).toBe('1 2 3 ');
  expect(await text(await db.openTable('t', [], { tag: 'first' }))).toBe('1 2 3 ');
  expect(await text(branch)).toBe('2 3 9 ');
  const query = table.query().where('n > 0').select({ twice: 'n * 2' });
  expect(await text(query.orderBy({ columnName: 'n', ascending: false }).limit(1))).toBe('6 ');
  expect(await text(table.takeOffsets([1, 0]))).toBe('3 2 ');
});

describe('where a file goes', () => {
  let table: Table;
  beforeEach(async () => {
    table = await db.createTable('t', [{ n: 1 }]);
  });

  test('it replaces a file at once, with its permissions, and through a link', async () => {
    writeFileSync(at('old.csv'), 'old');
    chmodSync(at('old.csv'), 0o640);
    symlinkSync(at('old.csv'), at('link.csv'));
    await table.toFile(at('link.csv'));
    expect(readFileSync(at('old.csv'), 'utf8')).toBe('n\n1\n');
    expect(statSync(at('old.csv')).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).sort()).toEqual(['link.csv', 'old.csv']);
    await table.toFile(new URL(`file://${at('url.ndjson')}`));
    await table.toFile(`file://${at('url.json')}`);
    expect(readdirSync(folder).sort()).toEqual(['link.csv', 'old.csv', 'url.json', 'url.ndjson']);
  });

  test('a name as long as the file system takes', async () => {
    const name = `${'ä'.repeat(125)}.csv`;
    await table.toFile(at(name));
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('places that cannot be written are refused', async () => {
    mkdirSync(at('d.csv'));
    await expect(table.toFile(at('d.csv'))).rejects.toThrow(/is a folder; name a file/);
    await expect(table.toFile(at('none/t.csv'))).rejects.toThrow(/there is no folder/);
    await expect(table.toFile(at('t.txt'))).rejects.toThrow(/tells no format/);
    await expect(table.toFile(at('t.csv'), { format: 'xlsx' })).rejects.toThrow(/no format "xlsx"/);
    await expect(table.toFile('s3://b/t.csv')).rejects.toThrow(/file address/);
    await expect(table.toFile('')).rejects.toThrow(/Give a path/);
    await expect(table.toFile(7 as never)).rejects.toThrow(/The output is number 7/);
    await expect(table.toFile(at('t.csv'), { compresion: 'gzip' } as never)).rejects.toThrow(
      /compression/,
    );
    await expect(table.toFile(at('t.json'), { csv: {} })).rejects.toThrow(/written as json/);
    await expect(table.toFile(at('t.csv'), { compression: 'lz4' as never })).rejects.toThrow(/lz4/);
    const catalog = await connect(at('catalog'));
    await catalog.createNamespace(['n']);
    await catalog.close();
    const inside = table.toFile(join(folder, 'catalog', 'n', 't.csv'));
    await expect(inside).rejects.toThrow(/Name a file outside of it/);
    expect(readdirSync(folder).sort()).toEqual(['catalog', 'd.csv']);
  });

  test('a pipe and a device are written into', async () => {
    execFileSync('mkfifo', [at('pipe.csv')]);
    await expect(table.toFile(at('pipe.csv'))).rejects.toThrow(/nobody reads/);
    const reader = spawn('cat', [at('pipe.csv')], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    reader.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    const closed = once(reader, 'close');
    for (;;) {
      const failed = await table.toFile(at('pipe.csv')).catch((error: Error) => error);
      if (!(failed instanceof Error)) break;
      expect(failed.message).toContain('nobody reads');
    }
    await closed;
    expect(text).toBe('n\n1\n');
    expect((await table.toFile('/dev/null', { format: 'csv' })).bytes).toBe(4);
  });

  test('streams of Node and of the web, with compression', async () => {
    const passed = new PassThrough();
    const written = table.toFile(passed, { format: 'csv', compression: 'gzip' });
    const pieces: Buffer[] = [];
    for await (const piece of passed) pieces.push(piece);
    expect((await written).bytes).toBe(Buffer.concat(pieces).length);
    expect(gunzipSync(Buffer.concat(pieces)).toString()).toBe('n\n1\n');
    let text = '';
    let isClosed = false;
    const web = new WritableStream<Uint8Array>({
      write: (bytes) => {
        text += Buffer.from(bytes).toString();
      },
      close: () => {
        isClosed = true;
      },
    });
    await table.toJsonLines(web);
    expect([text, isClosed]).toEqual(['{"n":1}\n', true]);
    const bytes: Uint8Array[] = [];
    for await (const piece of table.toBytes('json')) bytes.push(piece);
    expect(Buffer.concat(bytes).toString()).toBe('[\n{"n":1}\n]\n');
    await expect(table.toFile(new PassThrough())).rejects.toThrow(/has no name/);
  });
});

describe('a long export', () => {
  const ROWS = 40_000;
  let table: Table;
  beforeEach(async () => {
    const text = 'x'.repeat(100);
    const rows = Array.from({ length: ROWS }, (_, n) => ({ n, text }));
    table = await db.createTable('t', rows);
  });

  test('is read no faster than it is taken', async () => {
    let told = 0;
    let taken = 0;
    let most = 0;
    const slow = new Writable({
      highWaterMark: 1,
      write: (piece: Uint8Array, _, done) => {
        taken += piece.length;
        most = Math.max(most, told - taken);
        setImmediate(done);
      },
    });
    const progress = (now: { bytes: number }): void => {
      told = now.bytes;
    };
    const { bytes } = await table.toCsv(slow, { progress });
    expect(taken).toBe(bytes);
    expect(told).toBe(bytes);
    // A few pieces are under way.
    expect(most).toBeLessThan(2_000_000);
    expect(bytes).toBeGreaterThan(4_000_000);
  });

  test('that is aborted or fails leaves nothing', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const progress = (): void => abort.abort(reason);
    const ended = table.toCsv(at('t.csv'), { progress, signal: abort.signal });
    await expect(ended).rejects.toBe(reason);
    const failed = table.toCsv(at('t.csv'), {
      progress: () => {
        throw reason;
      },
    });
    await expect(failed).rejects.toBe(reason);
    const gone = new Writable({ write: (_, __, done) => done(reason) });
    await expect(table.toCsv(gone)).rejects.toBe(reason);
    writeFileSync(at('old.csv'), 'old');
    await expect(table.toCsv(at('old.csv'), { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(readdirSync(folder)).toEqual(['old.csv']);
    expect(readFileSync(at('old.csv'), 'utf8')).toBe('old');
  });

  test('that was left half by a process that died is removed by the next one', async () => {
    // The process that ends leaves its tag in the name.
    const dead = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(dead, 'close');
    const { stagingPath } = await import('../../src/datasets/staging.ts');
    const mine = stagingPath(at('t.csv'));
    const [, host] = /partial-([0-9a-f]{8})-/.exec(mine) ?? [];
    const left = mine.replace(
      /partial-[0-9a-f]{8}-[0-9a-f]+-/,
      `partial-${host}-${Number(dead.pid).toString(16)}-`,
    );
    writeFileSync(left, 'half');
    writeFileSync(mine, 'another one of this process is under way');
    await table.toCsv(at('t.csv'));
    expect(existsSync(left)).toBe(false);
    expect(existsSync(mine)).toBe(true);
  });
});

test('unions are written as their values', async () => {
  const union = everyType().fields.filter(({ type }) => type.typeId === Type.Union);
  const schema = new Schema(union);
  const batch = randomBatch(schema, 50, seeded(3));
  const table = await db.createTable('t', recordBatchStream(schema, [batch]));
  await table.toJsonLines(at('t.ndjson'));
  const rows = readFileSync(at('t.ndjson'), 'utf8').trimEnd().split('\n');
  const values = rows.map((row) => toJson(parseExactJson(row)));
  const plain = (await table.query().toArray()).map((row) => toJson(row));
  expect(values).toEqual(plain);
});

test('what is in no calendar is written as the number that it is', async () => {
  const fields = everyType().fields.filter(({ name }) =>
    ['time64_us', 'timestamp_s'].includes(name),
  );
  const table = await db.createTable('t', [{ time64_us: 5n, timestamp_s: 2n ** 62n }], [], {
    schema: new Schema(fields),
  });
  await table.toCsv(at('t.csv'), { header: false });
  expect(readFileSync(at('t.csv'), 'utf8')).toBe('00:00:00.000005,4611686018427387904\n');
  const back = fromFile(at('t.csv'), { schema: new Schema(fields) });
  await expect(back).rejects.toThrow(/timestamp/);
});
