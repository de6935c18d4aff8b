/** What the kernels count is what truth values say, wherever the column lies. */
import { expect, test, vi } from 'vitest';
import {
  Binary,
  type Data,
  type DataType,
  Dictionary,
  Field,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  makeData,
  makeVector,
  RecordBatch,
  Schema,
  Struct,
  TimestampMicrosecond,
  Uint64,
  Utf8,
} from '../../src/arrow/apache.ts';
import { compilePredicate } from '../../src/sql/expression.ts';
import { type CountKernels, countKernels } from '../../src/sql/select/count-kernels.ts';
import { EDGE_DOUBLES } from '../helpers/edge-doubles.ts';

const OPERATORS = ['=', '<>', '<', '<=', '>', '>='];
/** Around the lanes of a vector, the groups of a kernel, and the rows copied at a time. */
const ROWS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 16_383, 16_384, 16_385, 40_001];
const LONGS = [-(2n ** 63n), 1n - 2n ** 63n, -1n, 0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];

const kernels = countKernels() as CountKernels;

function sourceOf(data: Data): { schema: Schema; batch: RecordBatch } {
  const fields = [new Field('v', data.type as DataType, true)];
  const type = new Struct(fields);
  const whole = makeData({ type, length: data.length, children: [data] });
  const schema = new Schema(fields);
  return { schema, batch: new RecordBatch(schema, whole) };
}

/** The column with its buffers in the kernels' memory, as columns are read. */
function inside(data: Data, memory: Uint8Array): Data {
  let end = memory.byteOffset;
  const moved = (array: unknown): unknown => {
    if (!ArrayBuffer.isView(array)) return array;
    const { constructor: Kind, byteLength } = array as Float64Array;
    const from = new Uint8Array(array.buffer, array.byteOffset, byteLength);
    new Uint8Array(memory.buffer).set(from, end);
    const length = (array as Float64Array).length;
    const there = new (Kind as Float64ArrayConstructor)(memory.buffer, end, length);
    end = Math.ceil((end + byteLength) / 64) * 64;
    return there;
  };
  const copy = Object.create(data, {
    valueOffsets: { value: moved(data.valueOffsets) },
    values: { value: moved(data.values) },
  });
  expect(end).toBeLessThanOrEqual(memory.byteOffset + memory.length);
  return copy;
}

/** Compares counts from both places with that of truth values. */
async function check(data: Data, conditions: readonly string[]): Promise<void> {
  const { schema, batch } = sourceOf(data);
  const memory = kernels.take(2 ** 20) as Uint8Array;
  memory.fill(0x6b);
  const near = inside(data, memory);
  for (const sql of conditions) {
    const predicate = await compilePredicate(sql, schema);
    const expected = predicate.count(batch);
    expect(predicate.countColumn(data), sql).toBe(expected);
    expect(predicate.countColumn(near), sql).toBe(expected);
  }
  expect(kernels.give(memory)).toBe(true);
}

test.each(ROWS)('doubles and 64-bit integers, %i rows', async (rows) => {
  const doubles = Float64Array.from(
    { length: rows },
    (_, i) => EDGE_DOUBLES[(i * 7) % 13] as number,
  );
  await check(
    makeData({ type: new Float64(), data: doubles }),
    OPERATORS.flatMap((op) =>
      EDGE_DOUBLES.filter((value) => !Number.isNaN(value)).map(
        (value) => `v ${op} CAST('${Object.is(value, -0) ? '-0' : value}' AS double)`,
      ),
    ),
  );
  const longs = BigInt64Array.from({ length: rows }, (_, i) => LONGS[(i * 5) % 7] as bigint);
  await check(
    makeData({ type: new Int64(), data: longs }),
    OPERATORS.flatMap((op) => LONGS.slice(1).map((value) => `v ${op} CAST('${value}' AS bigint)`)),
  );
  await check(makeData({ type: new TimestampMicrosecond(), data: longs }), [
    "v <= TIMESTAMP '1970-01-01 00:00:00'",
    "v > TIMESTAMP '1970-01-01 00:00:00.000001'",
  ]);
});

function textColumn(texts: readonly string[], type: Utf8 | Binary = new Utf8()): Data {
  const data = Buffer.from(texts.join(''));
  const valueOffsets = new Int32Array(texts.length + 1);
  for (const [row, text] of texts.entries()) {
    valueOffsets[row + 1] = (valueOffsets[row] as number) + Buffer.byteLength(text);
  }
  return makeData({ type: type as Utf8, length: texts.length, valueOffsets, data });
}

/** Texts of one length that differ in one place each, and neighbours of other lengths. */
function variants(length: number): string[] {
  const text = Array.from({ length }, (_, k) => String.fromCharCode(97 + (k % 26))).join('');
  const changed = (at: number): string => `${text.slice(0, at)}#${text.slice(at + 1)}`;
  const places = [0, length - 17, length - 16, (length >> 1) + 1, length - 2, length - 1];
  const same = places.filter((at) => at >= 0 && at < length).map(changed);
  return [text, text, text, text, ...same, `${text}x`, text.slice(1)];
}

test.each(ROWS)('texts, %i rows', async (rows) => {
  for (const length of [0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 47, 64]) {
    const all = variants(length);
    const wanted = all[0] as string;
    const conditions = [`v = '${wanted}'`, `v <> '${wanted}'`, `v = '${wanted}y'`];
    // Runs of one length, which the kernel takes four at a time, and lengths in disorder.
    const equallyLong = all.filter((text) => text.length === length);
    for (const list of [equallyLong, all]) {
      const step = list.length % 3 === 0 ? 5 : 3;
      const many = Math.min(rows, Math.floor(400_000 / (length + 1)));
      const texts = Array.from({ length: many }, (_, i) => list[(i * step) % list.length] ?? '');
      await check(textColumn(texts), conditions);
    }
  }
});

test('texts beyond ASCII, and binary values', async () => {
  const texts = ['é', 'e', '日本', '日木', '\u{1f600}', 'é'];
  await check(textColumn(texts), ["v = 'é'", "v = '日本'", "v <> '\u{1f600}'"]);
  await check(textColumn(['ab', 'ac', 'ab', ''], new Binary() as never), ["v = x'6162'"]);
});

test('what the kernels do not know is left to truth values', async () => {
  const nulls = makeData({
    type: new Float64(),
    data: Float64Array.of(1, 2),
    nullCount: 1,
    nullBitmap: Uint8Array.of(1),
  });
  const values = makeVector(BigInt64Array.of(5n, 6n)).data[0] as Data;
  const dictionary = makeData({
    type: new Dictionary(new Int64(), new Int64() as never),
    data: BigInt64Array.of(1n, 0n, 1n) as never,
    dictionary: makeVector(values as never) as never,
  });
  const long = makeData({
    type: new LargeUtf8(),
    length: 1,
    valueOffsets: BigInt64Array.of(0n, 1n),
    data: Buffer.from('a'),
  });
  const cases: [Data, string][] = [
    [nulls, 'v > 0'],
    [dictionary, 'v = 6'],
    [long, "v = 'a'"],
    [makeData({ type: new Int32(), data: Int32Array.of(1) }), 'v = 1'],
    [makeData({ type: new Uint64(), data: BigUint64Array.of(1n) }), 'v = 1'],
    [makeData({ type: new Float64(), data: Float64Array.of(1) }), "v = CAST('NaN' AS double)"],
    [makeData({ type: new Float64(), data: Float64Array.of(1) }), 'v > 0 AND v < 2'],
    [
      makeData({ type: new Int64(), data: BigInt64Array.of(1n) }),
      `v > CAST('${LONGS[0]}' AS bigint)`,
    ],
    [textColumn(['a']), "v < 'b'"],
    [textColumn(['a']), `v = '${'a'.repeat(40_000)}'`],
  ];
  for (const [data, sql] of cases) {
    const predicate = await compilePredicate(sql, sourceOf(data).schema);
    expect(predicate.countColumn(data), sql).toBeNull();
  }
});

test('offsets that lead outside of their values are not followed', () => {
  const wanted = Buffer.from('abc');
  const values = Buffer.from('abcabcabcabc');
  const far = 2 ** 30;
  const forged = [
    [0, 3, far, far + 3, 12],
    [0, far, far + 3, far + 6, far + 9, 12],
    [0, -3, 0, 3, 12],
    [far, far + 3, far + 6, far + 9, far + 12],
  ];
  const memory = kernels.take(1000) as Uint8Array;
  for (const list of forged) {
    const offsets = Int32Array.from(list);
    expect([null, 0, 1, 2]).toContain(kernels.equalTexts(offsets, values, wanted));
    const near = inside(textColumn(['abc', 'abc', 'abc', 'abc']), memory);
    const placed = new Int32Array(memory.buffer, memory.byteOffset + 512, list.length);
    placed.set(offsets);
    expect(kernels.equalTexts(placed, near.values as Uint8Array, wanted)).toBeNull();
  }
  kernels.give(memory);
});

test('memory is lent until none is left, and large columns get none', () => {
  const lent = Array.from({ length: 6 }, () => kernels.take(1000));
  const given = lent.filter((memory) => memory !== undefined);
  expect(given).toHaveLength(5);
  expect(new Set(given.map(({ byteOffset }) => byteOffset)).size).toBe(5);
  for (const memory of given) expect(kernels.give(memory)).toBe(true);
  expect(kernels.take(2 ** 20 + 1)).toBeUndefined();
  expect(kernels.give(new Uint8Array(10))).toBe(false);
});

test('long texts are counted in memory of their own or not here', async () => {
  const data = textColumn(Array.from({ length: 20_000 }, (_, i) => `${i}`.padStart(100, '-')));
  const predicate = await compilePredicate(
    `v = '${'7'.padStart(100, '-')}'`,
    sourceOf(data).schema,
  );
  expect(predicate.countColumn(data)).toBeNull();
});

test('without WebAssembly, or its vector instructions, truth values tell', async () => {
  const data = makeData({ type: new Float64(), data: Float64Array.of(1, 2, 3) });
  class Unknown {
    constructor() {
      throw new Error('unknown instruction');
    }
  }
  for (const replacement of [undefined, { Module: Unknown }]) {
    vi.stubGlobal('WebAssembly', replacement);
    vi.resetModules();
    try {
      const fresh = await import('../../src/sql/expression.ts');
      expect(fresh.countKernels()).toBeNull();
      const predicate = await fresh.compilePredicate('v > 1', sourceOf(data).schema);
      expect(predicate.countColumn(data)).toBeNull();
      expect(predicate.count(sourceOf(data).batch)).toBe(2);
    } finally {
      vi.unstubAllGlobals();
      // Other files of this worker share the modules.
      vi.resetModules();
    }
  }
});
