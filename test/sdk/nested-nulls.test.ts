/** Where a null in a nested field of Arrow data is, and which ones count. */
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  Dictionary,
  Field,
  FixedSizeList,
  Int8,
  Int32,
  List,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../src/arrow/apache.ts';
import {
  type Data,
  dataOf,
  recordBatch,
  recordBatchStream,
  sliceData,
} from '../../src/arrow/index.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/data.ts';
import { collectRows } from '../../src/sdk/convert/rows.ts';

const loose = new List(new Field('item', new Int32(), true));
const strict = new Schema([new Field('c', new List(new Field('item', new Int32(), false)), true)]);

/** Lists with the given ends over `items`; bits say which lists and items there are. */
function lists(ends: readonly number[], items: number, itemBits: number, listBits = 255) {
  const rows = ends.length;
  const missing = (bits: number, of: number): number =>
    Array.from({ length: of }, (_, at) => (bits >> at) & 1).filter((bit) => bit === 0).length;
  return dataOf(loose, rows, {
    nullCount: missing(listBits, rows),
    validity: Uint8Array.of(listBits),
    // Padded as the buffers of an IPC message are.
    offsets: Int32Array.from([0, ...ends, ...new Array<number>(15 - rows).fill(0)]),
    children: [
      dataOf(new Int32(), items, {
        nullCount: missing(itemBits, items),
        validity: Uint8Array.of(itemBits),
        values: new Int32Array(items),
      }),
    ],
  });
}

async function conformed(column: ReturnType<typeof lists>): Promise<number> {
  const schema = new Schema([new Field('c', loose, true)]);
  const batch = recordBatch(schema, [column], column.length);
  const stream = recordBatchStream(schema, [batch]);
  return (await collectRows(await toRecordBatchStream(stream, { schema: strict }))).length;
}

test('the row of a null item is that of its list, whatever pads the offsets', async () => {
  await expect(conformed(lists([2], 2, 0b01))).rejects.toMatchObject({
    message: expect.stringMatching(/^Row 0, column "c\[1\]": found null/),
    details: { row: 0, column: 'c[1]' },
  });
  await expect(conformed(lists([1, 3], 3, 0b011))).rejects.toMatchObject({
    details: { row: 1, column: 'c[1]' },
  });
});

test('items of null lists, and those that no list holds, may be null', async () => {
  expect(await conformed(lists([1, 3], 3, 0b011, 0b01))).toBe(2);
  expect(await conformed(lists([1], 3, 0b001))).toBe(1);
  expect(await conformed(sliceData(lists([1, 3], 3, 0b110), 1, 1))).toBe(1);
});

test('so may vectors of a list of a null struct', async () => {
  const inner = (nullable: boolean) =>
    new Struct([new Field('c', nullable ? loose : (strict.fields[0]?.type as List), true)]);
  const wide = new Schema([new Field('s', inner(true), true)]);
  const wanted = new Schema([new Field('s', inner(false), true)]);
  const column = dataOf(inner(true), 2, {
    nullCount: 1,
    validity: Uint8Array.of(0b01),
    children: [lists([1, 3], 3, 0b011)],
  });
  const stream = recordBatchStream(wide, [recordBatch(wide, [column], 2)]);
  const rows = await collectRows(await toRecordBatchStream(stream, { schema: wanted }));
  expect(rows.map(({ s }) => s === null)).toEqual([false, true]);
});

test('a null below structs and vectors of which none is null is refused', async () => {
  const items = dataOf(new Int32(), 2, {
    ...{ nullCount: 1, validity: Uint8Array.of(0b01), values: Int32Array.of(1, 0) },
  });
  const item = (nullable: boolean) => new Field('a', new Int32(), nullable);
  for (const [have, want, path] of [
    [new Struct([item(true)]), new Struct([item(false)]), 'c.a'],
    [new FixedSizeList(1, item(true)), new FixedSizeList(1, item(false)), 'c[0]'],
  ] as const) {
    const schema = new Schema([new Field('c', have, true)]);
    const column = dataOf(have, 2, { children: [items] });
    const stream = recordBatchStream(schema, [recordBatch(schema, [column], 2)]);
    const wanted = new Schema([new Field('c', want, true)]);
    const read = async () => collectRows(await toRecordBatchStream(stream, { schema: wanted }));
    await expect(read()).rejects.toThrow(`Row 1, column "${path}": found null`);
  }
});

describe('values that count for nothing', () => {
  const small = new Schema([new Field('c', new List(new Field('item', new Int8(), false)), true)]);

  test('need not fit the wanted type: of items outside of a slice, and of null lists', async () => {
    const read = async (column: ReturnType<typeof lists>) => {
      const schema = new Schema([new Field('c', loose, true)]);
      const stream = recordBatchStream(schema, [recordBatch(schema, [column], column.length)]);
      return collectRows(await toRecordBatchStream(stream, { schema: small }));
    };
    const wide = lists([1, 2, 3], 3, 0b111, 0b101);
    (wide.children[0] as Data<Int32>).values.set([1, 300, 3]);
    expect(await read(wide)).toEqual([{ c: [1] }, { c: null }, { c: [3] }]);
    const outer = lists([1, 2], 2, 0b11);
    (outer.children[0] as Data<Int32>).values.set([1, 300]);
    expect(await read(sliceData(outer, 0, 1))).toEqual([{ c: [1] }]);
    await expect(read(outer)).rejects.toThrow('Row 1, column "c[0]": found number 300');
  });

  test('nor need items of the items of null lists, vectors and structs', async () => {
    const items = (values: number[]) =>
      dataOf(new Int32(), values.length, { values: Int32Array.from(values) });
    const field = (type: DataType) => new Field('item', type, true);
    const listType = (item: DataType) => new List(field(item));
    const inner = (values: number[], ...offsets: number[]) =>
      dataOf(listType(new Int32()), offsets.length - 1, {
        ...{ offsets: Int32Array.from(offsets), children: [items(values)] },
      });
    const missing = { nullCount: 1, validity: Uint8Array.of(0b101) };
    const one = inner([1, 300, 300, 3], 0, 1, 3, 4);
    const two = inner([1, 2, 300, 300, 3, 4], 0, 1, 2, 3, 4, 5, 6);
    const pairs = (item: DataType) => new FixedSizeList(2, field(item));
    const struct = (item: DataType) => new Struct([field(item)]);
    const offsets = Int32Array.of(0, 1, 2, 3);
    const shapes: [(item: DataType) => DataType, Data, unknown[]][] = [
      [
        listType,
        dataOf(listType(one.type), 3, { ...missing, offsets, children: [one] }),
        [[[1]], null, [[3]]],
      ],
      [
        pairs,
        dataOf(pairs(two.type), 3, { ...missing, children: [two] }),
        [[[1], [2]], null, [[3], [4]]],
      ],
      [
        struct,
        dataOf(struct(one.type), 3, { ...missing, children: [one] }),
        [{ item: [1] }, null, { item: [3] }],
      ],
    ];
    for (const [typeOf, column, expected] of shapes) {
      const schema = new Schema([new Field('c', column.type, true)]);
      const wanted = new Schema([new Field('c', typeOf(listType(new Int8())), true)]);
      const stream = recordBatchStream(schema, [recordBatch(schema, [column], 3)]);
      const rows = await collectRows(await toRecordBatchStream(stream, { schema: wanted }));
      expect(rows.map(({ c }) => c)).toEqual(expected);
    }
  });

  test('nor need members of null structs', async () => {
    const struct = (member: DataType) => new Struct([new Field('a', member, false)]);
    const [have, want] = [struct(new Int32()), struct(new Int8())];
    const column = dataOf(have, 2, {
      nullCount: 1,
      validity: Uint8Array.of(0b01),
      children: [dataOf(new Int32(), 2, { values: Int32Array.of(1, 300) })],
    });
    const schema = new Schema([new Field('c', have, true)]);
    const stream = recordBatchStream(schema, [recordBatch(schema, [column], 2)]);
    const wanted = new Schema([new Field('c', want, true)]);
    const rows = await collectRows(await toRecordBatchStream(stream, { schema: wanted }));
    expect(rows).toEqual([{ c: { a: 1 } }, { c: null }]);
  });
});

test('a code whose word in the dictionary is null is a null', async () => {
  const type = new Dictionary(new Utf8(), new Int32());
  const column = dataOf(type, 2, {
    values: Int32Array.of(0, 1),
    dictionary: vectorFromArray(['a', null], new Utf8()),
  });
  const read = async (nullable: boolean) => {
    const schema = new Schema([new Field('c', type, nullable)]);
    const stream = recordBatchStream(schema, [recordBatch(schema, [column], 2)]);
    return collectRows(await toRecordBatchStream(stream));
  };
  expect(await read(true)).toEqual([{ c: 'a' }, { c: null }]);
  await expect(read(false)).rejects.toThrow('Row 1, column "c": found null');
});
