/** Columns of list views and runs become plain ones, within bounds that are known before they grow. */
import { describe, expect, it } from 'vitest';
import {
  type Data,
  type DataType,
  Field,
  Int32,
  LargeList,
  List,
  type RecordBatch,
  Type,
  Utf8,
  Utf8View,
} from '../../src/arrow/apache.ts';
import { dataBytes, dataOf } from '../../src/arrow/arrow-data.ts';
import { hasLargeOffsets } from '../../src/arrow/arrow-types.ts';
import { describeType } from '../../src/arrow/schema-equality.ts';
import { MessageBudget } from '../../src/ipc/foreign/foreign-budget.ts';
import { expandRuns, listsOfViews, lookAtViews } from '../../src/ipc/foreign/foreign-encodings.ts';
import { type OpenArrowOptions, openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import {
  exactColumn,
  exactValues,
  leafTypes,
  nestedTypes,
  randomData,
} from '../helpers/arrow-samples.ts';
import { ipcFixture } from '../helpers/foreign-samples.ts';
import { seeded } from '../helpers/seeded.ts';

const SEED = 20_260_214;
const refuse = (problem: string): never => {
  throw new SyntaxError(problem);
};
const unclaimed = (): never => {
  throw new Error('nothing is to be claimed');
};

const TYPES: readonly (readonly [string, DataType])[] = [
  ...Object.entries(leafTypes).map(([name, make]) => [name, make()] as const),
  ...Object.entries(nestedTypes).flatMap(([name, make]) => [
    [`${name} of text`, make(new Utf8(), new Int32())] as const,
    [`${name} of views`, make(new Utf8View(), new Utf8View())] as const,
    [`${name} of lists`, make(new List(new Field('item', new Utf8(), true)), new Utf8())] as const,
  ]),
];

/**
 * That at least the bytes of a column were claimed, but for the ends of bitmaps and offsets. Bytes
 * that views under nulls tell of are no claim.
 */
function expectClaimed(bytes: number, column: Data, nulls: number): void {
  if (nulls > 0 && describeType(column.type).includes('view')) return;
  const ends = 64 + (column.type.typeId === Type.Union ? 4 * column.length : 0);
  expect(bytes + ends).toBeGreaterThanOrEqual(dataBytes(column));
}

describe.each(TYPES)('values of %s', (_, type) => {
  const random = seeded(SEED);
  const whole = (below: number): number => Math.floor(random() * below);

  it('are repeated by runs, and their bytes claimed before', () => {
    for (let each = 0; each < 30; each += 1) {
      const runs = whole(12);
      const nulls = each % 2 === 0 ? 0 : 0.3;
      const values = randomData(type, runs + whole(3), random, nulls);
      let last = 0;
      const numbers = Array.from({ length: runs }, () => {
        last += 1 + whole(each < 15 ? 3 : 40);
        return last;
      });
      const ends = [
        Int16Array.from(numbers),
        Int32Array.from(numbers),
        BigInt64Array.from(numbers.map(BigInt)),
      ][each % 3] as Int32Array;
      const rows = last - whole(Math.min(last, 5) + 1);
      let claimed = 0;
      const claim = (bytes: number, count: number): void => {
        expect(count).toBe(rows);
        claimed += bytes;
      };
      const expanded = expandRuns(ends, values, rows, claim, refuse);
      const held = exactColumn(values);
      const expected = Array.from(
        { length: rows },
        (_, row) => held[numbers.findIndex((end) => end > row)],
      );
      expect(exactColumn(expanded)).toEqual(expected);
      expect(expanded.length).toBe(rows);
      expectClaimed(claimed, expanded, nulls);
    }
  });

  it.each(['list', 'large list'])('are picked by views of a %s', (kind) => {
    const item = new Field('item', type, true);
    const listType = kind === 'list' ? new List(item) : new LargeList(item);
    const Offsets = hasLargeOffsets(listType) ? BigInt64Array : Int32Array;
    for (let each = 0; each < 30; each += 1) {
      const nulls = each % 2 === 0 ? 0 : 0.3;
      const values = randomData(type, whole(9), random, nulls);
      const length = whole(12);
      const begins = Array.from({ length }, () => whole(values.length + 1));
      const sizes = begins.map((begin) => whole(values.length - begin + 1));
      const valid = begins.map(() => random() < 0.7);
      const bitmap = new Uint8Array(2);
      const nullCount = valid.filter((there) => !there).length;
      for (const [row, there] of valid.entries()) {
        if (there) bitmap[row >> 3] = (bitmap[row >> 3] as number) | (1 << (row & 7));
        else [begins[row], sizes[row]] = [whole(99) - 50, whole(99) - 50];
      }
      const words = (numbers: number[]): Int32Array =>
        (Offsets === Int32Array
          ? Int32Array.from(numbers)
          : BigInt64Array.from(numbers.map(BigInt))) as Int32Array;
      const validity = nullCount === 0 ? undefined : bitmap;
      const views = lookAtViews(words(begins), words(sizes), length, validity, refuse);
      let claimed = Number.POSITIVE_INFINITY;
      const lists = listsOfViews(
        views,
        values,
        (bytes) => {
          claimed = bytes;
        },
        refuse,
      );
      const column = dataOf(listType, length, {
        nullCount,
        validity,
        offsets: lists.offsets,
        children: [lists.values],
      });
      const held = exactColumn(values);
      expect(exactColumn(column)).toEqual(
        begins.map((begin, row) =>
          valid[row] ? held.slice(begin, begin + (sizes[row] as number)) : null,
        ),
      );
      if (lists.values !== values) expectClaimed(claimed, lists.values, nulls);
    }
  });
});

describe('list views', () => {
  const numbers = (count: number): Data =>
    dataOf(new Int32(), count, { values: Int32Array.from({ length: count }, (_, at) => at) });
  const look = (offsets: number[], sizes: number[]) =>
    lookAtViews(
      Int32Array.from(offsets),
      Int32Array.from(sizes),
      offsets.length,
      undefined,
      refuse,
    );

  it('in order keep their values as they are', () => {
    const values = numbers(9);
    const lists = listsOfViews(look([2, 3, 0, 5], [1, 2, 0, 4]), values, unclaimed, refuse);
    expect(lists.values).toBe(values);
    expect([...lists.offsets]).toEqual([2, 3, 5, 5, 9]);
    const later = listsOfViews(look([7, 2, 3], [0, 1, 2]), values, unclaimed, refuse);
    expect(later.values).toBe(values);
    expect([...later.offsets]).toEqual([2, 2, 3, 5]);
  });

  it('with gaps between them, or shared, do not', () => {
    for (const [offsets, sizes] of [
      [
        [0, 2],
        [1, 1],
      ],
      [
        [0, 0],
        [1, 1],
      ],
      [
        [1, 0],
        [1, 1],
      ],
    ] as const) {
      expect(() =>
        listsOfViews(look([...offsets], [...sizes]), numbers(9), unclaimed, refuse),
      ).toThrow('nothing is to be claimed');
    }
  });

  it('are refused outside of their values, empty ones too', () => {
    expect(() => look([0, -1], [1, 2])).toThrow(/row 1 has 2 values from -1 on/);
    expect(() => look([0, 1], [1, -2])).toThrow(/row 1 has -2 values from 1 on/);
    for (const [offset, size] of [
      [8, 2],
      [10, 0],
      [0x7fffffff, 0x7fffffff],
    ] as const) {
      const views = look([0, offset], [1, size]);
      expect(() => listsOfViews(views, numbers(9), unclaimed, refuse)).toThrow(/in 9 values/);
    }
  });
});

describe('runs', () => {
  const values = dataOf(new Int32(), 3, { values: Int32Array.of(1, 2, 3) });

  it('are refused where they do not ascend or do not reach the last row', () => {
    for (const [ends, problem] of [
      [[3, 2, 5], /its run 1 ends at row 2, and begins at row 3/],
      [[3, 3, 5], /its run 1 ends at row 3/],
      [[0, 3, 5], /its run 0 ends at row 0/],
      [[-1, 3, 5], /its run 0 ends at row -1/],
      [[3, 5, 4], /its run 2 ends at row 4/],
      [[1, 2, 4], /its runs have 4 of 5 rows/],
      [[], /its runs have 0 of 5 rows/],
    ] as const) {
      expect(() => expandRuns(Int32Array.from(ends), values, 5, unclaimed, refuse)).toThrow(
        problem,
      );
    }
  });

  it('claim texts of views, but not what stands under nulls', () => {
    const views = new Uint8Array(32);
    new Int32Array(views.buffer).set([13, 0, 0, 0, 0x7fffffff, 0, 0, 0]);
    const texts = dataOf(new Utf8View(), 2, {
      nullCount: 1,
      validity: Uint8Array.of(1),
      values: views,
      views: [new Uint8Array(13)],
    });
    let claimed = 0;
    const claim = (bytes: number): void => {
      claimed = bytes;
    };
    expandRuns(Int32Array.of(8, 16), texts, 16, claim, refuse);
    expect(claimed).toBe(16 * 16 + 8 * 13 + 16 / 8);
  });

  it('may lead past the last row, which claims nothing', () => {
    let claimed: unknown;
    const ends = BigInt64Array.of(1n, 4n, 2n ** 62n);
    const claim = (...args: number[]): void => {
      claimed = args;
    };
    expect(exactColumn(expandRuns(ends, values, 3, claim, refuse))).toEqual([1, 2, 2]);
    expect(claimed).toEqual([12, 3]);
  });
});

/** Bytes with each place where the 64-bit words stand changed, which must be there. */
function patched(bytes: Uint8Array, words: readonly number[], into: readonly number[]): Uint8Array {
  const copy = Buffer.from(bytes);
  const pattern = Buffer.from(BigInt64Array.from(words.map(BigInt)).buffer);
  let at = copy.indexOf(pattern);
  expect(at).toBeGreaterThan(0);
  for (; at >= 0; at = copy.indexOf(pattern, at + pattern.length)) {
    copy.set(Buffer.from(BigInt64Array.from(into.map(BigInt)).buffer), at);
  }
  return new Uint8Array(copy);
}

const oneRun = (): Uint8Array => ipcFixture('corpus/by-hand/one-run.arrows');

/** Each batch of as many rows of one run: the only numbers in the file that are 77. */
const longRuns = (rows: number, name = 'one-run'): Uint8Array =>
  patched(ipcFixture(`corpus/by-hand/${name}.arrows`), [77], [rows]);

const read = async (bytes: Uint8Array, options?: OpenArrowOptions): Promise<RecordBatch[]> => {
  const batches: RecordBatch[] = [];
  for await (const batch of await openArrowBody(bytes, options)) batches.push(batch);
  return batches;
};

describe('what few bytes stand for', () => {
  it('is bounded for runs of one message', async () => {
    const [first] = await read(longRuns(1_000_000));
    expect(first?.numRows).toBe(1_000_000);
    expect(first?.getChildAt(0)?.get(999_999)).toBe(5n);
    const before = process.memoryUsage();
    for (const rows of [2 ** 27, 2 ** 30, 2 ** 31 - 8]) {
      await expect(read(longRuns(rows))).rejects.toMatchObject({
        code: 'PayloadTooLarge',
        message: expect.stringMatching(/up to column "e" take \d+ bytes once they are expanded/),
      });
    }
    const { rss } = process.memoryUsage();
    expect(rss - before.rss).toBeLessThan(100 * 2 ** 20);
    // 8 bytes of each value and 4 of its position, besides the 12 of the run.
    const maxDecompressedBytes = 12_000 + 12;
    expect(await read(longRuns(1_000), { maxDecompressedBytes })).toHaveLength(4);
    await expect(read(longRuns(1_001), { maxDecompressedBytes })).rejects.toMatchObject({
      code: 'PayloadTooLarge',
    });
  });

  it('is bounded for all messages, beyond what compression could pack into each', async () => {
    const maxDecompressedBytes = 10_000_000;
    // 3.6 million bytes in each of four batches, of which 524,288 are free.
    await expect(read(longRuns(300_000), { maxDecompressedBytes })).rejects.toMatchObject({
      code: 'PayloadTooLarge',
      message: expect.stringMatching(/of all batches up to column "e" take more bytes/),
    });
    expect(await read(longRuns(250_000), { maxDecompressedBytes })).toHaveLength(4);
    expect(await read(longRuns(43_690), { maxDecompressedBytes: 530_000 })).toHaveLength(4);
  });

  it('is bounded for views that share their values', async () => {
    const nested = ipcFixture('corpus/by-hand/views-2.arrows');
    expect(exactValues(await read(nested))[0]?.flat(2)).toHaveLength(512);
    await expect(read(nested, { maxDecompressedBytes: 2_000 })).rejects.toMatchObject({
      code: 'PayloadTooLarge',
      message: expect.stringMatching(/its list views and runs up to column "e" take/),
    });
  });

  it('is bounded for values that take no bytes', async () => {
    expect((await read(longRuns(1_000_000, 'one-run-of-null')))[0]?.numRows).toBe(1_000_000);
    await expect(read(longRuns(2 ** 24 + 1, 'one-run-of-null'))).rejects.toThrow(
      /16777217 values take no bytes/,
    );
  });

  it('is bounded for dictionaries', async () => {
    const bytes = ipcFixture('corpus/by-hand/dictionaries-of-views.arrows');
    expect(exactValues(await read(bytes))[0]).toHaveLength(2);
    await expect(read(bytes, { maxDecompressedBytes: 300 })).rejects.toMatchObject({
      code: 'PayloadTooLarge',
      message: expect.stringMatching(/its dictionaries take \d+ bytes/),
    });
  });
});

describe('messages of runs', () => {
  const NODES = [77, 0, 1, 0, 1, 0];
  const problem = async (bytes: Uint8Array): Promise<unknown> =>
    read(bytes).then(
      () => 'read',
      ({ message }) => message,
    );

  it('are refused where they do not fit together', async () => {
    expect(await problem(patched(oneRun(), NODES, [77, 0, 1, 0, 0, 0]))).toMatch(
      /column "e": it has 0 values for 1 runs/,
    );
    expect(await problem(patched(oneRun(), NODES, [77, 1, 1, 0, 1, 0]))).toMatch(
      /its node has 1 nulls, which its values should have/,
    );
    expect(await problem(patched(oneRun(), NODES, [78, 0, 1, 0, 1, 0]))).toMatch(
      /it has 78 rows in a batch of 77/,
    );
    // A bitmap made of the padding after the run end.
    const buffers = patched(oneRun(), [0, 0, 0, 4, 8, 0, 8, 8], [4, 1, 0, 4, 8, 0, 8, 8]);
    expect(await problem(patched(buffers, NODES, [77, 0, 1, 1, 1, 0]))).toMatch(
      /its run ends have nulls/,
    );
  });

  it('have run ends of 16, 32 or 64 bits', async () => {
    const bytes = Buffer.from(oneRun());
    const at = bytes.indexOf(Uint8Array.of(1, 32, 0, 0, 0)) + 1;
    expect(at).toBeGreaterThan(1);
    for (const bits of [8, 33]) {
      bytes.writeInt32LE(bits, at);
      expect(await problem(bytes)).toMatch(/run ends are not signed|no integers of 33 bits/);
    }
    bytes.writeInt32LE(32, at);
    bytes[at - 1] = 0;
    expect(await problem(bytes)).toMatch(
      /column "e": its run ends are not signed integers of 16, 32 or 64 bits/,
    );
  });
});

describe('rows that no parent refers to', () => {
  const lastOf77 = (bytes: Uint8Array, into: number): Uint8Array => {
    const copy = Buffer.from(bytes);
    copy.writeInt32LE(into, copy.lastIndexOf(Uint8Array.of(77, 0, 0, 0)));
    return new Uint8Array(copy);
  };

  it.each(['list', 'views', 'struct'])('of runs in a %s are not expanded', async (parent) => {
    // The node of the runs says 2^30 rows, and the parent needs 77 of them.
    const bytes = ipcFixture(`corpus/by-hand/runs-in-${parent}.arrows`);
    const longer = lastOf77(patched(bytes, [77, 0, 1, 0], [2 ** 30, 0, 1, 0]), 2 ** 30);
    expect(exactValues(await read(longer))).toEqual(exactValues(await read(bytes)));
  });

  it('are none before the first', async () => {
    const bytes = Buffer.from(ipcFixture('corpus/by-hand/runs-in-list.arrows'));
    bytes.writeInt32LE(-5, bytes.indexOf(Uint8Array.of(3, 0, 0, 0, 77, 0, 0, 0)) + 4);
    await expect(read(bytes)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(/its offsets descend at row 1/),
    });
  });
});

describe('a dictionary of two columns', () => {
  it.each(['dictionary-laid-twice', 'dictionary-of-two-types'])('refused: %s', async (name) => {
    await expect(read(ipcFixture(`corpus/by-hand/${name}.arrows`))).rejects.toThrow(
      /dictionary 0 has values of two types/,
    );
  });
});

describe('the budget of a message', () => {
  it('takes from that of the stream what is not free, once', () => {
    const stream = { unbacked: 0, expanded: 200_000 };
    const budget = new MessageBudget(stream, 4, 0, 1_000_000);
    for (const left of [200_000, 131_072, 31_072]) {
      budget.claimExpanded(100_000, 0, 'it');
      expect(stream.expanded).toBe(left);
    }
    expect(budget.expanded).toBe(300_000);
  });

  it('has fewer values than bitmaps can tell', () => {
    const stream = { unbacked: 0, expanded: Number.POSITIVE_INFINITY };
    const budget = new MessageBudget(stream, 0, 0, Number.POSITIVE_INFINITY);
    expect(() => budget.claimExpanded(1, 2 ** 31, 'it')).toThrow(/it has 2147483648 values/);
  });
});
