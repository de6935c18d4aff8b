/** Files of other programs as tables and streams: formats, compression, modes, addresses, types from all rows. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { type RecordBatch, tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import {
  filesOf,
  fromCsv,
  fromFile,
  fromJson,
  fromJsonLines,
  openFiles,
} from '../../src/sdk/files/index.ts';
import type { RejectedRow } from '../../src/sdk/index.ts';
import { startServer } from '../../src/server.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const CSV = 'id,name\n1,a\n2,b\n';
const ROWS = [
  { id: 1n, name: 'a' },
  { id: 2n, name: 'b' },
];
const fresh = () => connect('/c', { fs: memoryFs() });
const rowsOf = async (table: { query(): { toArray(): Promise<unknown[]> } }): Promise<unknown[]> =>
  (await table.query().toArray()).map((row) => ({ ...(row as object) }));

/** Parallel writers of Zstandard begin with a frame that decoders pass over. */
const SKIPPABLE = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);
/** A short text in one block, as it is. */
const zstdFrame = (text: string): Buffer =>
  Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length, (text.length << 3) | 1, 0, 0]),
    Buffer.from(text),
  ]);

test.each(['x.csv', 'x.parquet', 'x.lance'])(
  'a path through a file leads to none: %s',
  async (name) => {
    const path = join(temporaryFolder(), 'a.csv');
    writeFileSync(path, CSV);
    await expect(fromFile(join(path, name))).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(/^There is no file /),
    });
  },
);

test('a type for a column that a file with types lacks is refused without a word of rows', async () => {
  const arrow = tableToIPC(tableFromArrays({ total: [1] }));
  await expect(fromFile(arrow, { types: { zone: 'int8' } })).rejects.toThrow(
    /^A type is given for the column "zone", which the data does not have\.$/,
  );
});

describe('a file', () => {
  test.each<[string, Uint8Array]>([
    ['x.csv', Buffer.from(CSV)],
    ['x.tsv', Buffer.from(CSV.replaceAll(',', '\t'))],
    ['x.csv.gz', gzipSync(CSV)],
    ['no-ending', gzipSync(CSV)],
    ['skippable-frame-first', Buffer.concat([SKIPPABLE, zstdFrame(CSV)])],
  ])('%s', async (name, bytes) => {
    const path = join(temporaryFolder(), name);
    writeFileSync(path, bytes);
    const db = await fresh();
    for (const [at, given] of [
      path,
      pathToFileURL(path),
      bytes,
      new Blob([bytes as Uint8Array<ArrayBuffer>]),
    ].entries()) {
      const { table, version, rows } = await db.importFile(given, `t${at}`);
      expect([version, rows, await rowsOf(table)]).toEqual([1, 2, ROWS]);
    }
  });

  test('of JSON and of Arrow, by their first bytes too', async () => {
    const db = await fresh();
    const arrow = tableFromArrays({ id: BigInt64Array.of(1n, 2n) });
    for (const [name, bytes] of Object.entries({
      lines: Buffer.from('{"id": 1}\n{"id": 2}\n'),
      array: Buffer.from(' [{"id": 1}, {"id": 2}]'),
      file: tableToIPC(arrow, 'file'),
      stream: tableToIPC(arrow, 'stream'),
      zipped: gzipSync(tableToIPC(arrow, 'file')),
    })) {
      const { table } = await db.importFile(bytes, name);
      expect(await rowsOf(table)).toEqual([{ id: 1n }, { id: 2n }]);
    }
  });

  test('several files, of a pattern or of a list, are read by the types of the first', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'd'));
    for (const at of [1, 2, 3]) writeFileSync(join(folder, 'd', `${at}.csv`), `id\n${at}\n`);
    const db = await fresh();
    const { rows, table } = await db.importFile(join(folder, 'd', '*.csv'), 't');
    expect([rows, await table.countRows('id > 1')]).toEqual([3, 2]);
    writeFileSync(join(folder, 'd', '4.csv'), 'id\n1.5\n');
    const wider = await db.importFile(join(folder, 'd', '*.csv'), 'u');
    expect(await rowsOf(wider.table)).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 1.5 }]);
  });

  test('whose beginning misled about a type is read anew', async () => {
    const text = `id\n${'123456789\n'.repeat(150_000)}x\n`;
    const db = await fresh();
    const { rows, table } = await db.importFile(Buffer.from(text), 't');
    expect([rows, (await table.schema()).fields[0]?.type.toString()]).toEqual([150_001, 'Utf8']);
    // Of a stream there is no second pass.
    async function* stream(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < text.length; at += 65_536)
        yield Buffer.from(text.slice(at, at + 65_536));
    }
    await expect(db.importFile(stream(), 'u')).rejects.toThrow('line 150002');
    expect(await db.tableNames()).toEqual(['t']);
  });
});

test('an address is fetched, and what a server says instead of a file is told', async () => {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/x.csv.gz') === true) response.end(gzipSync(CSV));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const home = `http://127.0.0.1:${port}`;
  try {
    const db = await fresh();
    const { table } = await db.importFile(`${home}/x.csv.gz?token=secret`, 't');
    expect(await rowsOf(table)).toEqual(ROWS);
    const missing = db.importFile(`${home}/y.csv?token=secret`, 'u');
    await expect(missing).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:\d+\/y\.csv answered 404 Not Found, and no file\.$/,
    );
  } finally {
    server.close();
  }
});

describe('modes', () => {
  test('append and merge read the types of the table; merge updates by its keys', async () => {
    const db = await fresh();
    await db.importFile(Buffer.from(CSV), 't', [], { types: { id: 'int16' } });
    const more = await db.importFile(Buffer.from('name,id\nc,3\n'), 't', [], { mode: 'append' });
    expect([more.version, await rowsOf(more.table)]).toEqual([
      2,
      [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
        { id: 3, name: 'c' },
      ],
    ]);
    const merged = await db.importFile(Buffer.from('id,name\n2,B\n4,d\n'), 't', [], {
      mode: 'merge',
      on: 'id',
    });
    expect(merged.merged).toMatchObject({ numUpdatedRows: 1, numInsertedRows: 1 });
    await expect(
      db.importFile(Buffer.from('id\nx\n'), 't', [], { mode: 'append' }),
    ).rejects.toThrow('found "x", expected int16');
    const { table } = await db.importFile(Buffer.from('k\n1\n'), 't', [], { mode: 'overwrite' });
    expect([await table.version(), await rowsOf(table)]).toEqual([4, [{ k: 1n }]]);
    await expect(db.importFile(Buffer.from(CSV), 't')).rejects.toMatchObject({
      code: 'TableAlreadyExists',
    });
  });

  test.each([
    [{ mode: 'upsert' }, 'give one of create, append, overwrite, merge'],
    [{ mode: 'merge' }, 'name the key columns'],
    [{ on: 'id' }, 'only a merge has key columns'],
    [{ mode: 'append', types: { id: 'int8' } }, 'types is given with mode "append"'],
    [{ types: { id: 'integer' } }, 'give an Arrow type'],
    [{ format: 'json', csv: { header: true } }, 'The option header is of CSV'],
    [{ format: 'ndjson', onReject: () => {} }, 'The option onReject is of CSV'],
    [{ format: 'xls' }, 'There is no format "xls"'],
    [{ csv: { seperator: ';' } }, 'CSV has no option "seperator"'],
  ])('%j is refused', async (options, message) => {
    const db = await fresh();
    await db.createTable('there', [{ id: 1 }]);
    await expect(db.importFile(Buffer.from(CSV), 'there', [], options as never)).rejects.toThrow(
      message,
    );
  });

  test.each(['ndjson', 'json', 'csv'])('a file of %s without rows adds none', async (format) => {
    const db = await fresh();
    const table = await db.createTable('t', [{ id: 1 }]);
    const file = Buffer.from(format === 'json' ? '[]' : '');
    for (const mode of [{ mode: 'append' }, { mode: 'merge', on: 'id' }] as const)
      expect(await db.importFile(file, 't', [], { ...mode, format })).toMatchObject({ rows: 0 });
    expect(await table.countRows()).toBe(1);
    await expect(db.importFile(file, 'new', [], { format })).rejects.toThrow('no rows');
  });

  test('rows that cannot be taken are counted and handed over, and progress is told', async () => {
    const db = await fresh();
    const rejected: RejectedRow[] = [];
    const seen: number[] = [];
    const text = Buffer.from('id,name\n1,a\n2\n3,c\n');
    const made = await db.importFile(text, 't', [], {
      onReject: (row) => rejected.push(row),
      progress: ({ bytesRead, totalBytes, rows }) => seen.push(bytesRead, totalBytes ?? -1, rows),
    });
    expect([made.rows, made.rejected, rejected[0]?.text]).toEqual([2, 1, '2']);
    expect(seen.slice(-3)).toEqual([text.length, text.length, 2]);
  });
});

describe('the types of JSON', () => {
  const typesOf = async (text: string, options: object = {}): Promise<string> => {
    const given = { format: 'ndjson', ...options };
    const { table } = await (await fresh()).importFile(Buffer.from(text), 't', [], given);
    return (await table.schema()).fields.join(', ');
  };
  const many = (row: string): string => `${row}\n`.repeat(8_192);

  test.each<[string, string]>([
    ['{"a": 1}\n{"a": null}\n{"a": -2}', 'a: Int64'],
    ['{"a": 1}\n{"a": 1.5}', 'a: Float64'],
    ['{"a": 1}\n{"a": 1e300}', 'a: Float64'],
    ['{"a": -0}\n{"a": 1}', 'a: Float64'],
    ['{"a": 1}\n{"a": 9223372036854775807}', 'a: Int64'],
    ['{"a": 1}\n{"a": 9223372036854775808}', 'a: Uint64'],
    ['{"a": {"b": 1, "c": 0.5}}\n{"a": {"b": 2}}', 'a: Struct<{b:Int64, c:Float64}>'],
    ['{"a": [1]}\n{"a": [2]}\n{"a": []}', 'a: List<Int64>'],
    ['{"a": [[1], []]}\n{"a": [[2, 2.5]]}', 'a: List<List<Float64>>'],
    ['{"vector": [1, 2]}', 'vector: FixedSizeList[2]<Float32>'],
  ])('of %j', async (text, types) => {
    expect(await typesOf(text)).toBe(types);
  });

  test.each<[string, string]>([
    [`${many('{"a": 1}')}{"a": 1.5}`, 'a: Float64'],
    [`${many('{"a": 1}')}{"a": 9223372036854775808}`, 'a: Uint64'],
    [
      `${many('{"a": {"b": [1]}}')}{"a": {"b": [1.5], "c": "x"}}`,
      'a: Struct<{b:List<Float64>, c:Utf8}>',
    ],
    [`${many('{"a": null, "b": true}')}{"a": "x", "b": false}`, 'a: Utf8, b: Bool'],
    [`${many('{"b": 1}')}{"a": "x", "b": 2}`, 'b: Int64, a: Utf8'],
  ])('are those of all rows where later ones do not fit the first: %#', async (text, types) => {
    expect(await typesOf(text)).toBe(types);
  });

  test('that are given stay, also of a column that comes late', async () => {
    const text = `${many('{"b": 1, "c": 1}')}{"a": 1, "b": 2, "c": 1.5}`;
    const types = { a: 'int8', b: 'float32' };
    expect(await typesOf(text, { types })).toBe('b: Float32, c: Float64, a: Int8');
    expect(await typesOf(text, { types, columns: ['c', 'a', 'b'] })).toBe(
      'c: Float64, a: Int8, b: Float32',
    );
    await expect(typesOf(text, { types: { ...types, d: 'int8' } })).rejects.toThrow(
      'A type is given for the column "d", which the first rows do not have',
    );
  });

  test('are refused where no type holds all values, by the first row that says so', async () => {
    await expect(typesOf(`${many('{"a": 1}')}{"a": "x"}`)).rejects.toThrow(
      'Row 8193 on line 8193, column "a": found string "x", expected int64. The type was inferred',
    );
    await expect(typesOf(`${many('{"a": 1}')}{"a": 0.5}\n{"a": "x"}`)).rejects.toThrow(
      'Row 8194 on line 8194, column "a": found string "x", expected float64.',
    );
    await expect(typesOf('{"a": 18446744073709551616}')).rejects.toThrow('out of range');
    await expect(typesOf('{"a": 9223372036854775808}\n{"a": -1}')).rejects.toThrow('out of range');
  });

  test('are text where all rows of the files are null, as in CSV', async () => {
    expect(await typesOf('{"a": null}')).toBe('a: Utf8');
    expect(await typesOf(many('{"a": null}'))).toBe('a: Utf8');
    expect(await typesOf(`${many('{"a": null}')}{"a": 5}`)).toBe('a: Int64');
    expect(await typesOf('{"a": null}\n{"a": []}\n{"a": null}')).toBe('a: List<Utf8>');
    expect(await typesOf('{"a": []}\n{"a": [5]}')).toBe('a: List<Int64>');
    expect(await typesOf('{"a": [null]}\n{"a": [[]]}')).toBe('a: List<List<Utf8>>');
    expect(await typesOf('{"a": {"b": null, "c": 1}}')).toContain('b');
    // Of a stream of many rows the later ones are not known.
    const stream = [Buffer.from(many('{"a": null}'))];
    const format = 'ndjson';
    const left = fromFile(Readable.from(stream), { format });
    await expect(left).rejects.toThrow('cannot be inferred');
    const few = await fromFile(Readable.from([Buffer.from('{"a": null}')]), { format });
    expect(String(few.schema.fields[0]?.type)).toBe('Utf8');
  });

  test('are floats where one has a fraction, which round long whole numbers', async () => {
    expect(await typesOf('{"a": 0.5}\n{"a": 9007199254740993}')).toBe('a: Float64');
    expect(await typesOf('{"a": 9007199254740993}\n{"a": 0.5}')).toBe('a: Float64');
  });

  test('of a stream are those of its first rows', async () => {
    async function* rows(last: string): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${many('{"a": 1}')}${last}`);
    }
    const db = await fresh();
    const options = { format: 'ndjson' };
    await expect(db.importFile(rows('{"a": 1.5}'), 't', [], options)).rejects.toThrow('8193');
    const { table } = await db.importFile(rows('{"a": 2}'), 't', [], options);
    expect((await table.schema()).fields.join()).toBe('a: Int64');
    await table.add(await fromJsonLines(rows('{"a": 3}')));
    expect(await table.countRows('a = 3')).toBe(1);
    // Rows of a program are inferred as ever.
    const own = await db.createTable('own', [{ a: 1 }]);
    expect((await own.schema()).fields.join()).toBe('a: Float64');
  });

  test('are those of the table that is there', async () => {
    const db = await fresh();
    await db.createTable('t', [{ a: 1.5 }]);
    const more = await db.importFile(Buffer.from('{"a": 1}'), 't', [], {
      mode: 'append',
      format: 'ndjson',
    });
    expect(await rowsOf(more.table)).toEqual([{ a: 1.5 }, { a: 1 }]);
  });
});

test('types without a form in bytes are built from texts and JSON', async () => {
  const db = await fresh();
  const text = 'd,v,s\n1.50,"[1,2]","{""a"": 1}"\n,,\n';
  const schema = {
    fields: [
      { name: 'd', nullable: true, type: { type: 'decimal128:10:2' } },
      {
        name: 'v',
        nullable: true,
        type: { type: 'list', fields: [{ name: 'item', nullable: true, type: { type: 'int32' } }] },
      },
      {
        name: 's',
        nullable: true,
        type: { type: 'struct', fields: [{ name: 'a', nullable: true, type: { type: 'int8' } }] },
      },
    ],
  };
  const { table } = await db.importFile(Buffer.from(text), 't', [], { schema });
  const [first, second] = (await table.query().toArray()) as {
    d: unknown;
    v: unknown;
    s: unknown;
  }[];
  expect(JSON.stringify([String(first?.d), first?.v, first?.s])).toBe('["1.50",[1,2],{"a":1}]');
  expect(Object.values({ ...second })).toEqual([null, null, null]);
  await expect(db.importFile(Buffer.from('d,v,s\n1.505,,\n'), 'u', [], { schema })).rejects.toThrow(
    'line 2, column 1',
  );
  await expect(db.importFile(Buffer.from('d,v,s\n1,[x],\n'), 'u', [], { schema })).rejects.toThrow(
    'column "v"',
  );
});

test.each([
  ['\n\n\r\n', 'has blank lines alone'],
  ['{"a": 1, "b": 2}', 'holds JSON. Read it as ndjson'],
  ['{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', 'holds JSON. Read it as ndjson'],
  ['\n{\n  "a": [1, 2],\n  "b": 2\n}\n', 'holds JSON. Read it as json'],
  ['[{"a": 1},\n{"a": 2}]', 'holds JSON. Read it as json'],
])('CSV that is none: %j', async (text, message) => {
  const path = join(temporaryFolder(), 'x.csv');
  writeFileSync(path, text);
  const db = await fresh();
  await expect(db.importFile(path, 't')).rejects.toThrow(message);
  // What is said of it is heeded.
  const { table } = await db.importFile(path, 't', [], { csv: { header: false, ragged: 'pad' } });
  expect((await table.schema()).fields[0]?.name).toMatch(/^column0+$/);
});

test.each([
  ['PAR1\u0015\u0004\u0000x', 'x.csv', 'holds Parquet, and no csv. Read it as parquet'],
  ['ARROW1\0\0\u0010', 'x.tsv', 'holds Arrow, and no tsv. Read it as arrow'],
  ['PAR1\u0015\u0004\u0000x', 'x.json', 'holds Parquet, and no json'],
  ['PK\u0003\u0004rest', 'x.csv', 'holds a ZIP archive, as spreadsheets are, and no csv'],
  ['SQLite format 3\0', 'x.ndjson', 'holds a database of SQLite'],
])('a file of another format is not read as text: %j', async (text, name, message) => {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, text);
  await expect((await fresh()).importFile(path, 't')).rejects.toThrow(message);
});

test('a stream of Arrow from before 0.15, whose messages have no mark, is found by its bytes', async () => {
  const marked = Buffer.from(tableToIPC(tableFromArrays({ id: Int32Array.of(1, 2) }), 'stream'));
  const old = Buffer.from(marked.toString('hex').replaceAll('ffffffff', ''), 'hex');
  const { table } = await (await fresh()).importFile(old, 't');
  expect(await rowsOf(table)).toEqual([{ id: 1 }, { id: 2 }]);
  const path = join(temporaryFolder(), 'x.csv');
  writeFileSync(path, old);
  await expect((await fresh()).importFile(path, 't')).rejects.toThrow('holds Arrow, and no csv');
});

test('a stream of another format is closed when it is refused', async () => {
  let isClosed = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(512, 'PK\u0003\u0004', 'latin1');
    } finally {
      isClosed = true;
    }
  }
  const given = (await fresh()).importFile(chunks(), 't', [], { format: 'csv' });
  await expect(given).rejects.toThrow('holds a ZIP archive');
  expect(isClosed).toBe(true);
});

test('a first column may have the name of a format', async () => {
  const path = join(temporaryFolder(), 'x.csv');
  writeFileSync(path, 'PAR1,ARROW1\n1,2\n');
  expect((await (await fresh()).importFile(path, 't')).rows).toBe(1);
});

test('CSV may have braces', async () => {
  const db = await fresh();
  for (const [at, text] of ['{a},b\n1,2\n', '{1}\n{2}\n', '[1]\n[2]\n'].entries()) {
    const path = join(temporaryFolder(), 'x.csv');
    writeFileSync(path, text);
    expect((await db.importFile(path, `t${at}`)).rows).toBeGreaterThan(0);
  }
});

test('of many files that are looked at only some stay open, and all are read', async () => {
  const open = new Set<ServerResponse>();
  let isHeld = true;
  // What compresses to more than the bytes that are looked at.
  const numbers = Array.from({ length: 500 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 0);
  const text = `id\n${numbers.join('\n')}\n`;
  const server = createServer(({ url }, response) => {
    open.add(response);
    response.once('close', () => open.delete(response));
    response.write(url?.endsWith('.gz') === true ? gzipSync(text) : text);
    if (!isHeld) response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const files = Array.from({ length: 24 }, (_, at) =>
    at % 2 === 0 ? `http://127.0.0.1:${port}/${at}.csv` : `http://127.0.0.1:${port}/${at}.csv.gz`,
  );
  try {
    const opened = await openFiles(await filesOf(files, undefined), {});
    await vi.waitFor(() => expect(open.size).toBe(16));
    isHeld = false;
    for (const response of open) response.end();
    let rows = 0;
    for await (const batch of (await opened.data()) as AsyncIterable<RecordBatch>) {
      rows += batch.numRows;
    }
    expect(rows).toBe(24 * 500);
    isHeld = true;
    // Those that were open when another was refused are closed.
    const bad = [...files.slice(0, 3), join(temporaryFolder(), 'missing.csv')];
    await expect(openFiles(await filesOf(bad, undefined), {})).rejects.toThrow('no file');
    await vi.waitFor(() => expect(open.size).toBe(0));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('a file that is refused is closed', async () => {
  let isClosed = false;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield Buffer.alloc(1 << 20, 'a,"b"c\n');
    } finally {
      isClosed = true;
    }
  }
  const db = await fresh();
  await expect(db.importFile(chunks(), 't', [], { csv: { skipLines: 1e6 } })).rejects.toThrow(
    'lines',
  );
  expect(isClosed).toBe(true);
  isClosed = false;
  await expect(fromCsv(chunks(), { delimiter: ',' })).rejects.toThrow(
    'first record cannot be read',
  );
  expect(isClosed).toBe(true);
});

test('streams are rows that tables take', async () => {
  const db = await fresh();
  const table = await db.createTable('t', await fromCsv(Buffer.from(CSV), { delimiter: ',' }));
  await table.add(
    await fromJsonLines(Buffer.from('{"id": 3, "name": "c"}\n'), { schema: await table.schema() }),
  );
  await table.add(await fromFile(gzipSync('id;name\n4;d\n')));
  await table.add(
    await fromJson(Buffer.from('[{"id": 5, "name": "e"}]'), { types: { id: 'int64' } }),
  );
  expect(await table.countRows()).toBe(5);
  await expect(fromCsv(Buffer.from(CSV), { header: 'no' } as never)).rejects.toThrow(
    'give true or false',
  );
  await expect(fromFile(7 as never)).rejects.toThrow('Give a path');
});

test('over a server the same', async () => {
  await using server = await startServer({
    root: join(temporaryFolder(), 'served'),
    create: true,
    limits: { drainDelayMs: 0 },
  });
  const db = await connectNamespace('rest', { uri: server.url });
  const { rows, table } = await db.importFile(Buffer.from(CSV), 't');
  expect([rows, await rowsOf(table)]).toEqual([2, ROWS]);
  const more = { mode: 'merge', on: 'id' } as const;
  const { merged } = await db.importFile(gzipSync('id,name\n2,B\n3,c\n'), 't', [], more);
  expect(merged).toMatchObject({ numUpdatedRows: 1, numInsertedRows: 1 });
  await expect(db.importFile(Buffer.from('id,n\n1,2\nx\n'), 'u')).rejects.toThrow('line 3');
  expect(await db.tableNames()).toEqual(['t']);
  await db.close();
});
