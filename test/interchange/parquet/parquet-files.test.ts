/**
 * Parquet files of other writers against what pyarrow reads of them: pyarrow 26 wrote those that are not
 * called duckdb, in several codecs, encodings and forms of the same rows, and the Arrow files beside
 * them, which have what it read.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { connect } from '../../../src/sdk/connect.ts';
import { batchRows } from '../../../src/sdk/convert/index.ts';
import { type FileInput, fromFile, fromParquet } from '../../../src/sdk/files/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const folder = join(import.meta.dirname, 'files');
const at = (name: string): string => join(folder, name);

interface Found {
  readonly types: Record<string, string>;
  readonly rows: unknown[];
}

async function readAll(file: FileInput, format?: string): Promise<Found> {
  const stream = await fromFile(file, format === undefined ? {} : { format });
  const rows: unknown[] = [];
  for await (const batch of stream) rows.push(...batchRows(batch));
  const types = stream.schema.fields.map(({ name, type }) => [name, String(type)]);
  return { types: Object.fromEntries(types), rows };
}

const COLUMNS = 68;

test.each([
  'default',
  'page2small',
  'delta',
  'split',
  'brotli',
  'gzip',
  'lz4',
  'legacylist',
  'crc',
])('%s has the values and types that pyarrow reads', async (name) => {
  const [found, expected] = [
    await readAll(at(`${name}.parquet`)),
    await readAll(at('default.arrow')),
  ];
  // Dictionaries come as their values, and dates of milliseconds as such.
  const other = { dict: 'Utf8', date64: 'Date64<MILLISECOND>' };
  expect(found.types).toEqual({ ...expected.types, ...other });
  expect(Object.keys(found.types)).toHaveLength(COLUMNS);
  expect(found.rows).toEqual(expected.rows);
});

test('without an Arrow schema in the file, types are those of Parquet', async () => {
  const { types, rows } = await readAll(at('noarrow.parquet'));
  expect(types).toMatchObject({
    ...{ uint8: 'Uint8', int16: 'Int16', uint64: 'Uint64', large_string: 'Utf8', dict: 'Utf8' },
    ...{ float16: 'Float16', date64: 'Date32<DAY>', t32s: 'Time32<MILLISECOND>', dur: 'Int64' },
    ...{
      ts_s_None: 'Timestamp<MILLISECOND>',
      'ts_us_Europe/Berlin': 'Timestamp<MICROSECOND, UTC>',
    },
    ...{ ts_ns_UTC: 'Timestamp<NANOSECOND, UTC>', t64ns: 'Time64<NANOSECOND>' },
    ...{ fsb: 'FixedSizeBinary[5]', dec38_38: 'Decimal[38e+38]', null: 'Null' },
  });
  const expected = (await readAll(at('default.arrow'))).rows as Record<string, unknown>[];
  for (const name of [
    'int64',
    'uint64_req',
    'string',
    'listlist',
    'liststruct',
    'mapstruct',
    'dec50_3',
  ]) {
    const column = (all: unknown[]) => all.map((row) => (row as Record<string, unknown>)[name]);
    expect([name, column(rows)]).toEqual([name, column(expected)]);
  }
});

test('timestamps of 96 bits', async () => {
  const [found, expected] = [await readAll(at('int96.parquet')), await readAll(at('int96.arrow'))];
  const name = 'ts_us_None';
  expect(found.types[name]).toBe('Timestamp<NANOSECOND>');
  const column = ({ rows }: Found) => rows.map((row) => (row as Record<string, unknown>)[name]);
  expect(column(found)).toEqual(column(expected));
});

test.each(['duckdb', 'duckdb-v2'])('%s has the values that pyarrow reads', async (name) => {
  const [found, expected] = [
    await readAll(at(`${name}.parquet`)),
    await readAll(at('duckdb.arrow')),
  ];
  expect(found.types.iv).toBe('Interval<MONTH_DAY_NANO>');
  const days = found.rows.map((row) => (row as { iv: unknown }).iv);
  expect(days).toEqual(days.map((_, at) => ({ months: 0, days: at, nanoseconds: 0n })));
  const strip = ({ rows }: Found) => rows.map((row) => ({ ...(row as object), iv: undefined }));
  expect(strip(found)).toEqual(strip(expected));
});

test('a UUID stays one', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const { table } = await db.importFile(at('duckdb.parquet'), 't');
  const pieces: Uint8Array[] = [];
  for await (const piece of table.query().select(['u']).toBytes('parquet')) pieces.push(piece);
  for (const file of [at('duckdb.parquet'), Buffer.concat(pieces)]) {
    const { schema } = await fromParquet(file);
    const field = schema.fields.find(({ name }) => name === 'u');
    expect(String(field?.type)).toBe('FixedSizeBinary[16]');
    expect(field?.metadata.get('ARROW:extension:name')).toBe('arrow.uuid');
  }
});

describe('wherever the bytes are', () => {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });

  const served = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stops.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  test('bytes, streams, compressed ones, patterns', async () => {
    const bytes = readFileSync(at('duckdb.parquet'));
    const { rows } = await readAll(at('duckdb.parquet'));
    expect((await readAll(new Uint8Array(bytes))).rows).toEqual(rows);
    expect((await readAll(createReadStream(at('duckdb.parquet')))).rows).toEqual(rows);
    expect((await readAll(gzipSync(bytes))).rows).toEqual(rows);
    const db = await connect('/c', { fs: memoryFs() });
    const made = await db.importFile(join(folder, 'duckdb*.parquet'), 't');
    expect([made.rows, await made.table.countRows('i64 = 0')]).toEqual([24, 2]);
    const before = await made.table.query().limit(1).toArray();
    await made.table.add(await fromParquet(at('duckdb.parquet')));
    expect(await made.table.countRows()).toBe(36);
    expect(before[0]).toMatchObject({ t: 'text 0', d9: '0.00', l: [0n, null, 1n] });
  });

  test('a server that gives ranges is asked for them, another for the whole', async () => {
    const bytes = readFileSync(at('duckdb.parquet'));
    const asked: (string | undefined)[] = [];
    const url = await served((request, response) => {
      const { range } = request.headers;
      asked.push(range);
      const [, from, to] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
      const isChanged = request.url?.includes('changed') === true;
      const total = isChanged && range !== undefined ? bytes.length + 1 : bytes.length;
      const headers = { 'accept-ranges': request.url?.includes('whole') ? 'none' : 'bytes' };
      if (from === undefined) {
        response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
      } else {
        const part = bytes.subarray(Number(from), Number(to) + 1);
        const extent = `bytes ${from}-${to}/${total}`;
        response.writeHead(206, { ...headers, 'content-range': extent }).end(part);
      }
    });
    const { rows } = await readAll(at('duckdb.parquet'));
    expect((await readAll(`${url}/x.parquet`)).rows).toEqual(rows);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.slice(1).every((range) => range !== undefined)).toBe(true);
    asked.length = 0;
    expect((await readAll(`${url}/whole.parquet`)).rows).toEqual(rows);
    expect((await readAll(`${url}/noname`)).rows).toEqual(rows);
    expect(asked).toEqual([undefined, undefined]);
    await expect(readAll(`${url}/changed.parquet`)).rejects.toThrow(
      /was changed while it was read/,
    );
  });
});
