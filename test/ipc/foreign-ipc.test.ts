import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Data,
  type DataType,
  Field,
  Int32,
  List,
  Null,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { schemasEqual } from '../../src/arrow/schema-equality.ts';
import { encodeIpcFile, encodeIpcStream } from '../../src/ipc/encode/ipc-stream.ts';
import { type OpenArrowOptions, openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { schemaToJson } from '../../src/protocol/types/schema.ts';
import { connect } from '../../src/sdk/connect.ts';
import { everyType, exactValues, randomBatch } from '../helpers/arrow-samples.ts';
import { arbitrarySchema } from '../helpers/arrow-types.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { decodeLz4Frame, decodeZstd } from '../helpers/codecs.ts';
import { casesOf } from '../helpers/long.ts';
import { seeded } from '../helpers/seeded.ts';

const fixture = (name: string): Uint8Array =>
  readFileSync(new URL(`../../fixtures/ipc/${name}`, import.meta.url));

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function collect(stream: RecordBatchStream): Promise<RecordBatch[]> {
  const batches: RecordBatch[] = [];
  for await (const batch of stream) batches.push(batch);
  return batches;
}

const read = async (
  body: Uint8Array | AsyncIterable<Uint8Array>,
  options?: OpenArrowOptions,
): Promise<RecordBatch[]> => collect(await openArrowBody(body, options));

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

const codeOf = async (promise: Promise<unknown>): Promise<[unknown, string]> => {
  try {
    await promise;
  } catch (error) {
    return [(error as { code?: unknown }).code, (error as Error).message];
  }
  return ['none', ''];
};

const plainNumber = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : value;

const refuse = (problem: string): never => {
  throw new Error(problem);
};

describe('frames of other compressors', () => {
  const { lz4, zstd, sizes, checksums } = JSON.parse(
    Buffer.from(fixture('frames.json')).toString(),
  ) as {
    lz4: [string, string][];
    zstd: [string, string][];
    sizes: Record<string, number>;
    checksums: Record<string, number>;
  };

  it.each([
    ['LZ4', lz4, decodeLz4Frame],
    ['Zstandard', zstd, decodeZstd],
  ] as const)('%s frames decode to what was compressed', (_, frames, decode) => {
    expect(frames.length).toBeGreaterThan(40);
    for (const [name, text] of frames) {
      const size = sizes[name] as number;
      const decoded = decode(Buffer.from(text, 'base64'), size, refuse);
      expect(decoded.length).toBe(size);
      expect(crc32(decoded)).toBe(checksums[name]);
    }
  });

  it.each([
    ['LZ4', lz4, decodeLz4Frame],
    ['Zstandard', zstd, decodeZstd],
  ] as const)('%s frames of another size are refused', (_, frames, decode) => {
    for (const [name, text] of frames.slice(0, 20)) {
      const frame = Buffer.from(text, 'base64');
      const size = sizes[name] as number;
      expect(() => decode(frame, size - 1, refuse)).toThrow();
      expect(() => decode(frame, size + 1, refuse)).toThrow();
      expect(() => decode(frame.subarray(0, -1), size, refuse)).toThrow();
    }
  });

  it.each([
    ['LZ4', lz4, decodeLz4Frame],
    ['Zstandard', zstd, decodeZstd],
  ] as const)(
    'damaged %s frames end in an error or in output of their size',
    (_, frames, decode) => {
      const random = seeded(11);
      for (const [name, text] of frames) {
        const frame = Buffer.from(text, 'base64');
        for (let each = 0; each < 20; each += 1) {
          const damaged = Buffer.from(frame);
          for (let bits = 0; bits < 1 + each / 5; bits += 1) {
            damaged[Math.floor(random() * damaged.length)]! ^= 1 << Math.floor(random() * 8);
          }
          const size = sizes[name] as number;
          let refused = 0;
          let problem: unknown;
          let output: Uint8Array | undefined;
          try {
            output = decode(damaged, size, (found) => {
              refused += 1;
              throw new SyntaxError(found);
            });
          } catch (error) {
            problem = error;
          }
          // No byte is written past the size, which bounds the work whatever the frame asks for.
          expect(output?.length ?? size).toBe(size);
          expect(output?.buffer.byteLength ?? size).toBe(size);
          expect([refused, problem instanceof SyntaxError]).toEqual(
            output ? [0, false] : [1, true],
          );
        }
      }
    },
  );
});

describe('bytes of other writers', () => {
  const truth = tableFromIPC(fixture('types-plain.arrow'));
  const columns = truth.schema.fields.map(({ name }) => name);

  it.each([
    'types-plain.arrow',
    'types-plain.arrows',
    'types-lz4.arrow',
    'types-lz4.arrows',
    'types-zstd.arrow',
    'types-zstd.arrows',
  ])('%s holds every type', async (name) => {
    const stream = await openArrowBody(fixture(name));
    expect(schemasEqual(stream.schema, truth.schema, { metadata: true })).toBe(true);
    const batches = await collect(stream);
    expect(batches.map(({ numRows }) => numRows)).toEqual([25, 15]);
    expect(exactValues(batches)).toEqual(exactValues(truth.batches));
    const known = JSON.parse(Buffer.from(fixture('types.json')).toString());
    const table = new Table(batches);
    for (const [column, values] of Object.entries(known)) {
      const child = table.getChild(column);
      expect(JSON.parse(JSON.stringify(child, plainNumber)), column).toEqual(values);
    }
  });

  it('the encoding of before 2019 is read too', async () => {
    const stream = await openArrowBody(fixture('types-v4.arrows'));
    const kept = stream.schema.fields.map((field) => columns.indexOf(field.name));
    const expected = exactValues(truth.batches);
    expect(exactValues(await collect(stream))).toEqual(kept.map((at) => expected[at]));
  });

  it.each(['big-lz4.arrows', 'big-zstd.arrows', 'big-zstd-19.arrows'])('%s', async (name) => {
    const batches = await read(fixture(name));
    const table = new Table(batches);
    expect(table.numRows).toBe(20_000);
    const counter = table.getChild('counter')?.toArray() as Int32Array;
    expect(counter.every((value, at) => value === at)).toBe(true);
    const text = table.getChild('text');
    for (const row of [0, 1, 977, 19_999]) expect(text?.get(row)).toMatch(`row ${row % 977} of `);
    expect(table.getChild('constant')?.get(12_345)).toBe(7n);
  });

  it.each([
    ['dictionary-deltas.arrows', ['a', 'b', null, 'c', 'a', 'd']],
    ['dictionary-deltas.arrow', ['a', 'b', null, 'c', 'a', 'd']],
    ['dictionary-replaced.arrows', ['a', 'b', null, 'c', 'a', 'y', 'x']],
  ])('%s changes its dictionary', async (name, values) => {
    const batches = await read(fixture(name));
    expect(batches.flatMap((batch) => [...(batch.getChildAt(0) ?? [])])).toEqual(values);
  });
});

describe('what we write', () => {
  const random = seeded(5);
  const schema = everyType();
  const batches = [randomBatch(schema, 17, random), randomBatch(schema, 9, random)];
  const sliced = batches.map((batch) => batch.slice(3, 8));

  it.each([
    ['stream', encodeIpcStream],
    ['file', encodeIpcFile],
  ] as const)('a %s of every type is read back, by us and by apache-arrow', async (_, encode) => {
    for (const source of [batches, sliced]) {
      const bytes = await bytesOf(encode(recordBatchStream(schema, source)));
      const expected = exactValues(source);
      const back = await read(bytes);
      expect(exactValues(back)).toEqual(expected);
      expect(schemaToJson(back[0]?.schema as Schema)).toEqual(schemaToJson(schema));
      const theirs = tableFromIPC(bytes);
      expect(exactValues(theirs.batches)).toEqual(expected);
      expect(schemasEqual(theirs.schema, schema)).toBe(true);
    }
  });

  it.each([
    ['stream', encodeIpcStream],
    ['file', encodeIpcFile],
  ] as const)('a %s without batches keeps its schema', async (_, encode) => {
    const bytes = await bytesOf(encode(recordBatchStream(schema, [])));
    const back = await openArrowBody(bytes);
    expect(schemasEqual(back.schema, schema, { metadata: true })).toBe(true);
    const rows = (await collect(back)).map(({ numRows }) => numRows);
    expect(rows).toEqual(encode === encodeIpcStream ? [0] : []);
    expect(tableFromIPC(bytes).numRows).toBe(0);
  });

  it('batches that do not fit the schema are refused', async () => {
    const other = new Schema([schema.fields[1], schema.fields[0]] as Schema['fields']);
    const stream = recordBatchStream(schema, [randomBatch(other, 3, random)]);
    expect((await codeOf(bytesOf(encodeIpcStream(stream))))[0]).toBe('TableSchemaValidation');
    expect((await codeOf(bytesOf(encodeIpcFile(stream))))[0]).toBe('TableSchemaValidation');
  });

  it('is pulled batch by batch', async () => {
    let pulled = 0;
    async function* source(): AsyncGenerator<RecordBatch> {
      for (let at = 0; at < 10; at += 1) {
        pulled += 1;
        yield batches[0] as RecordBatch;
      }
    }
    const chunks = encodeIpcStream(recordBatchStream(schema, source()));
    await chunks.next();
    expect(pulled).toBe(0);
    await chunks.next();
    expect(pulled).toBe(1);
    await chunks.return(undefined);
  });
});

describe('what apache-arrow writes', () => {
  const random = seeded(6);
  // Of views within a map it writes too few: it cuts them twice.
  const { fields } = everyType();
  const schema = new Schema(fields.filter(({ name }) => name !== 'map_3'));

  it.each(['stream', 'file'] as const)('a %s of random batches', async (form) => {
    for (let rows = 0; rows < 40; rows += 7) {
      const batch = randomBatch(schema, rows, random);
      const bytes = tableToIPC(new Table(schema, [batch]), form);
      expect(exactValues(await read(bytes))).toEqual(exactValues([batch]));
      // At an address that is not aligned, too.
      const moved = new Uint8Array(bytes.length + 3).subarray(3);
      moved.set(bytes);
      expect(exactValues(await read(moved))).toEqual(exactValues([batch]));
    }
  });
});

describe('any schema', () => {
  it('survives a stream and a file', async () => {
    await fc.assert(
      fc.asyncProperty(arbitrarySchema, async (schema) => {
        // Indices of 64 bits are read, but not written.
        fc.pre(!/dictionary:u?int64/.test(JSON.stringify(schemaToJson(schema))));
        for (const encode of [encodeIpcStream, encodeIpcFile]) {
          const back = await openArrowBody(await bytesOf(encode(recordBatchStream(schema, []))));
          // Columns of the null type may be null, whatever their field says.
          const expected = JSON.stringify(schemaToJson(schema)).replaceAll(
            '"nullable":false,"type":{"type":"null"}',
            '"nullable":true,"type":{"type":"null"}',
          );
          expect(JSON.stringify(schemaToJson(back.schema))).toBe(expected);
          for (const batch of await collect(back)) expect(batch.numRows).toBe(0);
        }
      }),
      { numRuns: casesOf(80, 200) },
    );
  });
});

describe('chunks', () => {
  it('of every size give the same', async () => {
    for (const name of ['dictionary-replaced.arrows', 'dictionary-deltas.arrow']) {
      const bytes = fixture(name);
      const expected = exactValues(await read(bytes));
      for (let size = 1; size <= bytes.length; size += size < 100 ? 1 : 41) {
        expect(exactValues(await read(chunked(bytes, size)))).toEqual(expected);
      }
    }
  });

  it('are pulled as batches are, and given up when the reader stops', async () => {
    const schema = everyType();
    const batch = randomBatch(schema, 10, seeded(8));
    const stream = recordBatchStream(schema, new Array(20).fill(batch));
    const bytes = await bytesOf(encodeIpcStream(stream));
    let pulled = 0;
    let closed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of chunked(bytes, 1_000)) {
          pulled += chunk.length;
          yield chunk;
        }
      } finally {
        closed = true;
      }
    }
    const opened = await openArrowBody(source());
    expect(pulled).toBeLessThan(bytes.length / 2);
    for await (const each of opened) {
      expect(each.numRows).toBe(10);
      break;
    }
    expect(pulled).toBeLessThan(bytes.length / 2);
    expect(closed).toBe(true);
    await expect(collect(opened)).rejects.toThrow(/read once/);
  });

  it('are not waited for where a message has no body', async () => {
    const bytes = fixture('types-plain.arrows');
    const schemaEnd = 8 + new DataView(bytes.buffer, bytes.byteOffset).getInt32(4, true);
    let pulled = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (const part of [bytes.subarray(0, schemaEnd), bytes.subarray(schemaEnd)]) {
        pulled += 1;
        yield part;
      }
    }
    const opened = await openArrowBody(source());
    expect(pulled).toBe(1);
    expect(exactValues(await collect(opened))).toEqual(exactValues(await read(bytes)));
  });

  it('with an error of their own keep it', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield fixture('types-plain.arrows').subarray(0, 20_000);
      throw new TypeError('the connection is gone');
    }
    await expect(read(broken())).rejects.toThrow(/connection is gone/);
  });

  it('that fail as they are given up tell what was wrong with them', async () => {
    async function* failing(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
      try {
        yield bytes;
      } finally {
        await Promise.reject(new TypeError('the end failed'));
      }
    }
    await expect(read(failing(new Uint8Array(64).fill(0x7f)))).rejects.toThrow(/does not begin/);
    const bytes = fixture('types-plain.arrows').slice();
    bytes.fill(0x7f, 8 + new DataView(bytes.buffer).getInt32(4, true));
    await expect(read(failing(bytes))).rejects.toThrow(/message 1/);
  });

  it('bytes in memory can be read again', async () => {
    for (const name of ['types-lz4.arrows', 'types-plain.arrow', 'dictionary-deltas.arrows']) {
      const stream = await openArrowBody(fixture(name));
      const first = exactValues(await collect(stream));
      expect(exactValues(await collect(stream))).toEqual(first);
    }
  });
});

describe('what is refused', () => {
  const bytes = fixture('types-plain.arrows');
  const endless = bytes.subarray(0, -8);

  it('bodies that are no Arrow data', async () => {
    expect(await codeOf(openArrowBody(new Uint8Array(0)))).toEqual([
      'InvalidInput',
      expect.stringMatching(/empty/),
    ]);
    expect((await codeOf(openArrowBody(chunked(new Uint8Array(0), 1))))[0]).toBe('InvalidInput');
    for (const body of [
      Buffer.from('{"rows":[]}'),
      Buffer.from('ARROW1'),
      Buffer.from('ARROW1\0\0ARROW1'),
      Buffer.from('PAR1 and some more bytes'),
      new Uint8Array(8),
      new Uint8Array(1_000),
      new Uint8Array(1_000).fill(255),
    ]) {
      expect((await codeOf(read(body)))[0]).toBe('InvalidInput');
    }
    expect((await codeOf(openArrowBody('text' as never)))[0]).toBe('InvalidInput');
    expect((await codeOf(openArrowBody(undefined as never)))[0]).toBe('InvalidInput');
    async function* text(): AsyncGenerator<Uint8Array> {
      yield 'text' as never;
    }
    expect((await codeOf(openArrowBody(text())))[0]).toBe('InvalidInput');
  });

  it('a stream that stops without its marker, unless that is allowed', async () => {
    const [code, message] = await codeOf(read(endless));
    expect(code).toBe('InvalidInput');
    expect(message).toMatch(/end-of-stream marker/);
    expect((await read(endless, { requireEos: false })).length).toBe(2);
    expect((await read(chunked(endless, 999), { requireEos: false })).length).toBe(2);
    // Within a message it is never allowed.
    const cut = endless.subarray(0, -8);
    expect((await codeOf(read(cut, { requireEos: false })))[0]).toBe('InvalidInput');
  });

  it('bytes after the end', async () => {
    const more = Buffer.concat([bytes, Uint8Array.of(1)]);
    expect(await codeOf(read(more))).toEqual([
      'InvalidInput',
      expect.stringMatching(/bytes follow the end/),
    ]);
  });

  it('more than the limits allow', async () => {
    for (const body of [bytes, fixture('types-plain.arrow'), chunked(bytes, 1_000)]) {
      expect((await codeOf(read(body, { maxBytes: 20_000 })))[0]).toBe('PayloadTooLarge');
    }
    expect((await codeOf(read(bytes, { maxHeldBytes: 5_000 })))[0]).toBe('PayloadTooLarge');
    const file = chunked(fixture('types-plain.arrow'), 1_000);
    expect((await codeOf(read(file, { maxHeldBytes: 20_000 })))[0]).toBe('PayloadTooLarge');
    for (const name of ['big-lz4.arrows', 'big-zstd.arrows', 'big-zstd-19.arrows']) {
      const [code, message] = await codeOf(read(fixture(name), { maxDecompressedBytes: 100_000 }));
      expect(code).toBe('PayloadTooLarge');
      expect(message).toMatch(/decompressed, more than the 100000 allowed/);
    }
  });
});

describe('lists of nulls as apache-arrow writes them, with a null count of -1', () => {
  const nulls = new List(new Field('item', new Null(), true));
  const item = new Struct([new Field('a', new Null(), true)]);
  const cases: readonly (readonly [DataType, readonly unknown[]])[] = [
    [nulls, [[null, null], [], null]],
    [new List(new Field('item', item, true)), [[{ a: null }], null, [null]]],
  ];

  it.each(cases)('%s is read, stored and given back', async (type, values) => {
    const table = new Table({ c: vectorFromArray(values, type) });
    const bytes = tableToIPC(table, 'stream');
    const plain = (batches: readonly RecordBatch[]): unknown =>
      JSON.parse(JSON.stringify(batches.flatMap((batch) => [...(batch.getChild('c') ?? [])])));
    const batches = await read(bytes);
    expect(plain(batches)).toEqual(values);
    for (const batch of batches) {
      const inner: Data[] = [batch.data];
      for (const data of inner) {
        expect(data.nullCount).toBeGreaterThanOrEqual(0);
        inner.push(...data.children);
      }
    }
    const db = await connect('/c', { fs: memoryFs(), durability: 'relaxed' });
    for (const [name, data] of [
      ['bytes', bytes],
      ['table', table],
    ] as const) {
      const made = await db.createTable(name, data as never);
      const rows = (await made.query().toArray()).map(({ c }) => c);
      expect(JSON.parse(JSON.stringify(rows)), name).toEqual(values);
    }
    await db.close();
  });

  it('is refused of any other column, and no other count is taken', async () => {
    const sound = tableToIPC(new Table({ c: vectorFromArray([[null]], nulls) }), 'stream');
    // The count of the node of one null, which is -1.
    const node = Buffer.alloc(16, 0xff);
    node.writeBigInt64LE(1n, 0);
    const at = Buffer.from(sound).indexOf(node);
    expect(at).toBeGreaterThan(0);
    const wrong = Uint8Array.from(sound);
    new DataView(wrong.buffer).setBigInt64(at + 8, -2n, true);
    expect(await codeOf(read(wrong))).toEqual([
      'InvalidInput',
      expect.stringContaining('-2 nulls'),
    ]);
    const list = Uint8Array.from(sound);
    const outer = Buffer.alloc(16);
    outer.writeBigInt64LE(1n, 0);
    const of = Buffer.from(sound).indexOf(outer);
    expect(of).toBeGreaterThan(0);
    new DataView(list.buffer).setBigInt64(of + 8, -1n, true);
    expect(await codeOf(read(list))).toEqual(['InvalidInput', expect.stringContaining('-1 nulls')]);
  });
});

describe('the version in a footer', () => {
  /** A file whose footer says that its metadata is of this version, counted from 0. */
  const footed = (version: number): Uint8Array => {
    const file = tableToIPC(new Table({ a: vectorFromArray([1, 2], new Int32()) }), 'file').slice();
    const view = new DataView(file.buffer);
    const footer = file.length - 10 - view.getInt32(file.length - 10, true);
    const root = footer + view.getUint32(footer, true);
    const fields = root - view.getInt32(root, true);
    view.setInt16(root + view.getUint16(fields + 4, true), version, true);
    return file;
  };

  it('may be missing, as writers up to 0.14 left it out', async () => {
    expect((await read(footed(0))).map(({ numRows }) => numRows)).toEqual([2]);
  });

  it.each([1, 2, 5])('is refused where it is %d', async (version) => {
    const [code, message] = await codeOf(read(footed(version)));
    expect(code).toBe('InvalidInput');
    expect(message).toContain(`V${version + 1}; only V4 and V5 are supported`);
  });
});
