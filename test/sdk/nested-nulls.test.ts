/** Where a null in a nested field of Arrow data is, and which ones count. */
import { expect, test } from 'vitest';
import { Field, Int32, List, Schema, Struct } from '../../src/arrow/apache.ts';
import { dataOf, recordBatch, recordBatchStream, sliceData } from '../../src/arrow/index.ts';
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
