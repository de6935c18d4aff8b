import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  type RecordBatch,
  recordBatchStream,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  tableFromArrays,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import { describeType } from '../../src/arrow/index.ts';
import { isDirspaceError } from '../../src/errors.ts';
import { schemaToJson } from '../../src/protocol/types/schema.ts';
import {
  type DataInput,
  type DataOptions,
  toRecordBatchStream,
} from '../../src/sdk/convert/data.ts';
import { collectBatches, throughArrow } from '../helpers/batches.ts';

const ROWS = [
  { id: 1, name: 'a', vector: [1, 2] },
  { id: 2, name: null, vector: [3, 4] },
  { id: 3, name: 'c', vector: null },
];
const ROWS_BACK = [
  { id: 1, name: 'a', vector: Float32Array.of(1, 2) },
  { id: 2, name: null, vector: Float32Array.of(3, 4) },
  { id: 3, name: 'c', vector: null },
];
const int = (name: string, nullable = true): Field => new Field(name, new Int32(), nullable);

async function tableOf(data: DataInput, options?: DataOptions): Promise<Table> {
  const stream = await toRecordBatchStream(data, options);
  return new Table(stream.schema, await collectBatches(stream));
}

async function* later<T>(items: Iterable<T>): AsyncGenerator<T> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
}

const web = <T>(items: Iterable<T>): ReadableStream<T> => {
  const iterator = items[Symbol.iterator]();
  return new ReadableStream<T>({
    pull(controller) {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
};

const table = await tableOf(ROWS, { batchRows: 2 });
const streamBytes = tableToIPC(table, 'stream');
const fileBytes = tableToIPC(table, 'file');
const chunks = (bytes: Uint8Array, size = 100): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );
const readerOnly = (items: Iterable<object>): DataInput => {
  const stream = web(items);
  return { getReader: () => stream.getReader() };
};

describe('every kind of input', () => {
  const inputs: [string, () => DataInput][] = [
    ['an array of rows', () => ROWS],
    ['an array of arrays of rows', () => [ROWS.slice(0, 2), ROWS.slice(2)]],
    ['a generator of rows', () => ROWS.values()],
    ['an async generator of rows', () => later(ROWS)],
    ['an async generator of arrays of rows', () => later([ROWS.slice(0, 1), [], ROWS.slice(1)])],
    ['a web stream of rows', () => web(ROWS)],
    ['a web stream without async iteration', () => readerOnly(ROWS)],
    ['a Node stream of rows', () => Readable.from(ROWS)],
    ['a table', () => table],
    ['an array of batches', () => table.batches],
    ['an async generator of batches', () => later(table.batches)],
    ['an async generator of tables', () => later([table])],
    ['a stream of batches', () => recordBatchStream(table.schema, table.batches)],
    [
      'an object of vectors',
      () =>
        Object.fromEntries(
          table.schema.names.map((n) => [n, table.getChild(n as string)]),
        ) as never,
    ],
    ['an IPC stream', () => streamBytes],
    ['an IPC file', () => fileBytes],
    ['an IPC stream in a Buffer', () => Buffer.from(streamBytes)],
    ['an IPC stream in an ArrayBuffer', () => streamBytes.slice().buffer],
    ['an array of chunks of an IPC stream', () => chunks(streamBytes)],
    ['chunks of an IPC stream', () => later(chunks(streamBytes))],
    ['a web stream of chunks of an IPC stream', () => web(chunks(streamBytes))],
    [
      'a Node stream of chunks of an IPC stream',
      () => Readable.from(chunks(streamBytes), { objectMode: false }),
    ],
  ];

  it.each(inputs)('%s', async (_, input) => {
    expect(await throughArrow(input())).toStrictEqual(ROWS_BACK);
  });

  it.each(inputs)('%s with an explicit schema', async (_, input) => {
    const schema = new Schema([
      new Field('name', new Utf8(), true),
      new Field('vector', new List(new Field('item', new Float64(), true)), true),
      int('extra'),
      int('id', false),
    ]);
    const result = await tableOf(input(), { schema });
    expect(
      result.schema.fields.map((field) => `${field.name}: ${describeType(field.type)}`),
    ).toEqual(['name: utf8', 'vector: list<float64>', 'extra: int32', 'id: int32']);
    expect(await throughArrow(input(), { schema })).toStrictEqual([
      { name: 'a', vector: [1, 2], extra: null, id: 1 },
      { name: null, vector: [3, 4], extra: null, id: 2 },
      { name: 'c', vector: null, extra: null, id: 3 },
    ]);
  });

  it('a vector of structs', async () => {
    const vector = vectorFromArray([{ a: 1 }, { a: 2 }], new Struct([int('a')]));
    expect(await throughArrow(vector as never)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('rows that Arrow itself handed out', async () => {
    expect(await throughArrow(table.toArray())).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
    const { schema } = table;
    expect(await throughArrow(table.toArray(), { schema })).toStrictEqual(ROWS_BACK);
  });

  it('instances of classes with getters, given a schema', async () => {
    class Point {
      get a(): number {
        return 7;
      }
    }
    expect(await throughArrow([new Point()], { schema: new Schema([int('a')]) })).toEqual([
      { a: 7 },
    ]);
  });
});

describe('nothing at all', () => {
  it.each([
    ['an array', []],
    ['a generator', [].values()],
    ['an async generator', later([])],
    ['a web stream', web([])],
    ['a Node stream', Readable.from([])],
  ] as [string, DataInput][])(
    'in %s is empty with a schema and an error without',
    async (_, data) => {
      const error = await toRecordBatchStream(data).catch((reason: unknown) => reason);
      expect(isDirspaceError(error, 'InvalidInput')).toBe(true);
      expect(await throughArrow([], { schema: new Schema([int('a')]) })).toEqual([]);
    },
  );

  it('in a table or stream keeps its schema', async () => {
    const schema = new Schema([int('a')]);
    expect((await tableOf(new Table(schema))).schema.names).toEqual(['a']);
    expect((await tableOf(recordBatchStream(schema, []))).schema.names).toEqual(['a']);
  });
});

describe('what is no data', () => {
  it.each([5, 'text', null, undefined, true, () => 1, new Date(0), {}, { a: 1 }])(
    '%s is refused',
    async (data) => {
      const error = await toRecordBatchStream(data as never).catch((reason: unknown) => reason);
      expect(isDirspaceError(error, 'InvalidInput')).toBe(true);
      expect(String(error)).toMatch(/Pass an array of objects/);
    },
  );

  it.each([[[1, 2]], [['a']], [[null]], [later([5])]])('rows %s are refused', async (data) => {
    await expect(throughArrow(data as never)).rejects.toThrow(/Row 0: found .*expected an object/);
  });

  it('items of two kinds are refused', async () => {
    const data = later([table.batches[0] as RecordBatch, { id: 1 }]);
    await expect(throughArrow(data)).rejects.toThrow(
      /Item 1 of the data is object.*first was Arrow/,
    );
    const bytes = later([streamBytes.subarray(0, 50), { id: 1 }]);
    await expect(throughArrow(bytes)).rejects.toThrow();
  });

  it.each([0, -1, 1.5, NaN])('batchRows %s is refused', async (batchRows) => {
    await expect(toRecordBatchStream(ROWS, { batchRows })).rejects.toThrow(/positive integer/);
  });

  it.each([5, 'int32', null, {}, { fields: 5 }, { fields: [{ name: 'a' }] }])(
    'schema %j is refused',
    async (schema) => {
      const error = await toRecordBatchStream(ROWS, { schema: schema as never }).catch((e) => e);
      expect(isDirspaceError(error)).toBe(true);
    },
  );

  it('a schema with one name twice is refused', async () => {
    const schema = new Schema([int('a'), int('a')]);
    await expect(toRecordBatchStream([], { schema })).rejects.toThrow(/two columns named "a"/);
  });
});

describe('schemas', () => {
  it('may be JSON', async () => {
    const schema = schemaToJson(
      new Schema([int('id'), new Field('t', new TimestampMicrosecond('UTC'))]),
    );
    const result = await tableOf([{ id: 5, t: new Date(7) }], { schema });
    expect(result.schema.fields.map((field) => describeType(field.type))).toEqual([
      'int32',
      'timestamp(us, UTC)',
    ]);
  });

  it('keep their metadata', async () => {
    const schema = new Schema([int('id')], new Map([['k', 'v']]));
    for (const data of [[{ id: 1 }], tableFromArrays({ id: Int32Array.of(1) })]) {
      expect((await toRecordBatchStream(data as never, { schema })).schema.metadata.get('k')).toBe(
        'v',
      );
    }
  });
});

describe('rows that do not fit', () => {
  const data = Array.from({ length: 10 }, (_, i) => ({ a: i === 7 ? 'seven' : i }));
  const message =
    'Row 7, column "a": found string "seven", expected float64. The type was inferred from the ' +
    'first values there; pass a schema to choose another.';

  it.each([
    ['an array', () => data],
    ['an async generator', () => later(data)],
  ])(
    'in %s throw before anything of their batch, and name the row of the input',
    async (_, input) => {
      const seen: number[] = [];
      const stream = await toRecordBatchStream(input(), { batchRows: 3 });
      const reading = (async () => {
        for await (const batch of stream) seen.push(batch.numRows);
      })();
      await expect(reading).rejects.toThrow(message);
      expect(seen).toEqual([3, 3]);
    },
  );

  it('include those with keys that the first batch lacks', async () => {
    const rows = [{ a: 1 }, { a: 2 }, { a: 3, b: 4 }];
    await expect(throughArrow(later(rows), { batchRows: 2 })).rejects.toThrow(
      /schema: b at row 2: found number 4, but there is no such column \(a\)\..*A schema takes columns that come later/,
    );
    expect(await throughArrow(later(rows), { batchRows: 3 })).toHaveLength(3);
  });

  it('include vectors of another length', async () => {
    await expect(throughArrow([{ vector: [1, 2] }, { vector: [1] }])).rejects.toThrow(
      /Row 1, column "vector": found array of 1, expected fixed_size_list<float32>\[2\]/,
    );
  });
});

describe('Arrow data under another schema', () => {
  const cast = async (from: Field, values: readonly unknown[], to: Field): Promise<unknown[]> => {
    const rows = values.map((c) => ({ c }));
    const source = await tableOf(rows, { schema: new Schema([from]) });
    return (await throughArrow(source, { schema: new Schema([to]), batchRows: 2 })).map(
      (row) => row.c,
    );
  };
  const column = (type: Field['type'], nullable = true): Field => new Field('c', type, nullable);
  const listOf = (type: Field['type']): List => new List(new Field('item', type, true));

  it.each([
    ['whole floats to int32', new Float64(), [1, null, -5], new Int32(), [1, null, -5]],
    ['int32 to int64', new Int32(), [1], new Int64(), [1n]],
    ['int64 to float64', new Int64(), [2n ** 53n], new Float64(), [2 ** 53]],
    ['exact floats to float32', new Float64(), [0.5, NaN], new Float32(), [0.5, NaN]],
    [
      'timestamps to finer ones',
      new TimestampMillisecond(),
      [new Date(5)],
      new TimestampNanosecond(),
      [5_000_000n],
    ],
    [
      'timestamps to coarser ones',
      new TimestampNanosecond(),
      [5_000_000n],
      new TimestampMillisecond(),
      [new Date(5)],
    ],
    [
      'timestamps between zones',
      new TimestampMicrosecond('UTC'),
      [5n],
      new TimestampMicrosecond('Europe/Rome'),
      [5n],
    ],
    [
      'lists to vectors',
      listOf(new Float64()),
      [[1, 2], null],
      new FixedSizeList(2, new Field('item', new Float32(), true)),
      [Float32Array.of(1, 2), null],
    ],
    [
      'timestamps in lists',
      listOf(new TimestampMicrosecond()),
      [[5000n], null, []],
      listOf(new TimestampMillisecond()),
      [[new Date(5)], null, []],
    ],
    [
      'members of structs',
      new Struct([int('b'), int('a')]),
      [{ a: 1, b: 2 }, null],
      new Struct([new Field('a', new Int64(), false), new Field('z', new Utf8(), true), int('b')]),
      [{ a: 1n, z: null, b: 2 }, null],
    ],
  ])('%s', async (_, from, values, to, expected) => {
    expect(await cast(column(from), values, column(to))).toStrictEqual(expected);
  });

  it.each([
    [
      'fractions',
      new Float64(),
      [1, 1.5],
      new Int32(),
      /Row 1, column "c": found number 1.5, expected int32/,
    ],
    ['large integers', new Int64(), [2n ** 40n], new Int32(), /Row 0.*expected int32/],
    ['inexact floats', new Float64(), [0.1], new Float32(), /number 0.1, expected float32/],
    [
      'inexact floats in vectors',
      listOf(new Float64()),
      [[0.5, 0.1]],
      new FixedSizeList(2, new Field('item', new Float32(), true)),
      /Row 0, column "c\[1\]"/,
    ],
    [
      'fractions of a coarser unit',
      new TimestampNanosecond(),
      [5n],
      new TimestampMillisecond(),
      /Row 0.*expected timestamp\(ms\)/,
    ],
    ['text as numbers', new Utf8(), ['1'], new Int32(), /the data is utf8, the schema wants int32/],
    ['numbers as text', new Int32(), [1], new Utf8(), /no lossless cast/],
    [
      'items of lists',
      listOf(new Float64()),
      [[1], [2, 2.5]],
      listOf(new Int32()),
      /Row 1, column "c\[1\]"/,
    ],
  ])('refuses %s', async (_, from, values, to, message) => {
    await expect(cast(column(from), values, column(to))).rejects.toThrow(message);
  });

  it('refuses nulls where none may be', async () => {
    await expect(
      cast(column(new Int32()), [1, 2, null], column(new Int32(), false)),
    ).rejects.toThrow(/Row 2, column "c": found null, expected int32 \(not null\)/);
  });

  it('refuses columns missing on either side', async () => {
    const source = tableFromArrays({ a: Int32Array.of(1), b: Int32Array.of(1) });
    const only = (schema: Schema): Promise<unknown> => throughArrow(source as never, { schema });
    await expect(only(new Schema([int('a')]))).rejects.toThrow(/Column "b".*the schema lacks/);
    await expect(only(new Schema([int('a'), int('b'), int('c', false)]))).rejects.toThrow(
      /Column "c".*not nullable, that the data lacks/,
    );
  });

  it('does not copy what already fits', async () => {
    const values = Int32Array.of(1, 2, 3);
    const source = tableFromArrays({ a: values });
    const schema = new Schema([int('a')]);
    for (const options of [{}, { schema }]) {
      const [batch] = (await tableOf(source as never, options)).batches;
      expect(batch?.data.children[0]?.values.buffer).toBe(values.buffer);
    }
  });

  it('counts rows over all batches', async () => {
    const source = await tableOf(
      [1, 2, 3, 4.5].map((c) => ({ c })),
      { batchRows: 2 },
    );
    await expect(throughArrow(source, { schema: new Schema([int('c')]) })).rejects.toThrow(/Row 3/);
  });
});

describe('reading from a source', () => {
  interface Watched extends AsyncIterable<object> {
    pulled: number;
    returned: number;
  }

  const watched = (length: number): Watched => {
    const source: Watched = {
      pulled: 0,
      returned: 0,
      [Symbol.asyncIterator]: () => ({
        next: async () =>
          source.pulled >= length
            ? { done: true, value: undefined }
            : { done: false, value: { a: source.pulled++ } },
        return: async () => {
          source.returned++;
          return { done: true, value: undefined };
        },
      }),
    };
    return source;
  };
  const schema = new Schema([int('a')]);

  it('pulls one item before the first read, and then one batch at a time', async () => {
    const source = watched(100);
    const stream = await toRecordBatchStream(source, { schema, batchRows: 10 });
    expect(source.pulled).toBe(1);
    const iterator = stream[Symbol.asyncIterator]();
    for (let batch = 1; batch <= 3; batch++) {
      await iterator.next();
      await new Promise((resolve) => setImmediate(resolve));
      expect(source.pulled).toBe(batch * 10);
    }
    await iterator.return?.();
    expect(source.returned).toBe(1);
    expect(source.pulled).toBe(30);
  });

  it('pulls one batch ahead to infer a schema, no more', async () => {
    const source = watched(100);
    const stream = await toRecordBatchStream(source, { batchRows: 10 });
    expect(source.pulled).toBe(10);
    for await (const batch of stream) {
      expect(batch.numRows).toBe(10);
      break;
    }
    expect([source.pulled, source.returned]).toEqual([10, 1]);
  });

  it('does not call return() on a source that has ended', async () => {
    const source = watched(25);
    const stream = await toRecordBatchStream(source, { batchRows: 10 });
    const sizes = (await collectBatches(stream)).map((batch) => batch.numRows);
    expect(sizes).toEqual([10, 10, 5]);
    expect(source.returned).toBe(0);
  });

  it('closes the source when rows do not fit, or nothing can be inferred', async () => {
    const source = watched(100);
    const wrong = new Schema([new Field('a', new Utf8(), true)]);
    await expect(throughArrow(source, { schema: wrong, batchRows: 10 })).rejects.toThrow(/Row 0/);
    expect(source.returned).toBe(1);
    let closed = false;
    async function* nulls(): AsyncGenerator<object> {
      try {
        for (;;) yield { a: null };
      } finally {
        closed = true;
      }
    }
    await expect(toRecordBatchStream(nulls(), { batchRows: 5 })).rejects.toThrow(
      /cannot be inferred/,
    );
    expect(closed).toBe(true);
  });

  it('closes sources of batches that are left early', async () => {
    let closed = false;
    async function* batches(): AsyncGenerator<RecordBatch> {
      try {
        for (;;) yield table.batches[0] as RecordBatch;
      } finally {
        closed = true;
      }
    }
    for await (const _ of await toRecordBatchStream(batches())) break;
    expect(closed).toBe(true);
  });

  it('cancels web streams', async () => {
    let cancelled = false;
    const endless = new ReadableStream<object>({
      pull: (controller) => controller.enqueue({ a: 1 }),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const _ of await toRecordBatchStream(endless, { batchRows: 3 })) break;
    expect(cancelled).toBe(true);
  });

  it('passes on the errors of the source', async () => {
    async function* failing(): AsyncGenerator<object> {
      yield { a: 1 };
      throw new Error('of the source');
    }
    await expect(throughArrow(failing())).rejects.toThrow('of the source');
    await expect(throughArrow(failing(), { schema, batchRows: 1 })).rejects.toThrow(
      'of the source',
    );
  });

  it('happens once for streams and again for arrays and tables', async () => {
    const stream = await toRecordBatchStream(later(ROWS));
    await collectBatches(stream);
    await expect(collectBatches(stream)).rejects.toThrow(/has been read already/);
    for (const data of [ROWS, table]) {
      const again = await toRecordBatchStream(data);
      expect((await collectBatches(again)).length).toBe((await collectBatches(again)).length);
    }
  });

  it('cuts long arrays of rows into batches', async () => {
    const rows = Array.from({ length: 10 }, (_, a) => ({ a }));
    for (const data of [rows, later([rows])]) {
      const stream = await toRecordBatchStream(data, { batchRows: 4 });
      const sizes = (await collectBatches(stream)).map((batch) => batch.numRows);
      expect(sizes).toEqual([4, 4, 2]);
    }
  });
});

describe('an abort', () => {
  const reason = new Error('enough');

  it('before the start rejects without touching the source', async () => {
    const data = { [Symbol.asyncIterator]: () => expect.unreachable() };
    const signal = AbortSignal.abort(reason);
    await expect(toRecordBatchStream(data as never, { signal })).rejects.toBe(reason);
  });

  it('while the source hangs rejects at once and tells the source', async () => {
    const controller = new AbortController();
    let returned = false;
    const hanging = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => {}),
        return: async () => {
          returned = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const pending = toRecordBatchStream(hanging, { signal: controller.signal });
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    expect(returned).toBe(true);
  });

  it.each([
    ['rows', () => ROWS],
    ['a generator', () => later(ROWS)],
    ['a table', () => table],
    ['a stream of batches', () => recordBatchStream(table.schema, table.batches)],
    ['IPC bytes', () => streamBytes],
  ] as [string, () => DataInput][])('between batches of %s stops there', async (_, input) => {
    const controller = new AbortController();
    const stream = await toRecordBatchStream(input(), { batchRows: 2, signal: controller.signal });
    let batches = 0;
    const reading = (async () => {
      for await (const _ of stream) {
        batches++;
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(batches).toBe(1);
  });
});
