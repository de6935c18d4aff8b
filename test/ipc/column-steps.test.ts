/** Columns of very many rows are checked in steps, and a fault is found wherever it lies. */
import { readFileSync } from 'node:fs';
import {
  Dictionary,
  Field,
  Int8,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { expect, test } from 'vitest';
import { openArrowBody } from '../../src/ipc/foreign/foreign-ipc.ts';
import { RequestMemory, ServerMemory } from '../../src/request-memory.ts';

const ROWS = 600_000;

function bodyOf(column: ReturnType<typeof makeData>): Uint8Array {
  const schema = new Schema([new Field('c', column.type, true)]);
  const data = makeData({ type: new Struct(schema.fields), length: ROWS, children: [column] });
  return tableToIPC(new Table([new RecordBatch(schema, data as never)]), 'stream');
}

const offsets = (of: (row: number) => number): Int32Array =>
  Int32Array.from({ length: ROWS + 1 }, (_, row) => of(row));

const texts = (data: Uint8Array) =>
  makeData({ type: new Utf8(), length: ROWS, valueOffsets: offsets((row) => row), data });

const dictionary = vectorFromArray(['a', 'b'], new Utf8());
const words = (data: Int8Array) =>
  makeData({ type: new Dictionary(new Utf8(), new Int8(), 0), length: ROWS, data, dictionary });

const lists = (valueOffsets: Int32Array) =>
  makeData({
    type: new List(new Field('item', new Int32(), true)),
    length: ROWS,
    valueOffsets,
    child: makeData({ type: new Int32(), length: ROWS, data: new Int32Array(ROWS) }),
  });

async function pausesOf(body: Uint8Array): Promise<number> {
  let pauses = 0;
  const pause = (): undefined => {
    pauses += 1;
  };
  for await (const batch of await openArrowBody(body, { pause })) {
    expect(batch.numRows).toBe(ROWS);
  }
  return pauses;
}

test.each([
  ['texts', () => texts(new Uint8Array(ROWS).fill(0x61))],
  ['indices', () => words(new Int8Array(ROWS))],
  ['lists', () => lists(offsets((row) => row))],
])('%s', async (_, make) => {
  // Beside those between messages, buffers and columns.
  expect(await pausesOf(bodyOf(make()))).toBeGreaterThan(ROWS / 2 ** 18);
});

const at = (place: number, wrong: number): Uint8Array => {
  const bytes = new Uint8Array(ROWS).fill(0x61);
  bytes[place] = wrong;
  return bytes;
};

test.each([
  ['text', 'not UTF-8', (place: number) => texts(at(place, 0xff))],
  ['half a character', 'not UTF-8', (place: number) => texts(at(place, 0x80))],
  [
    'index',
    'into a dictionary',
    (place: number) => {
      const indices = new Int8Array(ROWS);
      indices[place] = 7;
      return words(indices);
    },
  ],
  [
    'offset',
    'descend',
    (place: number) => lists(offsets((row) => (row === place + 1 ? ROWS + 1 : row))),
  ],
])(
  'a wrong %s is found before, at and behind the place where a step ends',
  async (_, what, make) => {
    for (const place of [2 ** 18 - 2, 2 ** 18 - 1, 2 ** 18, 2 ** 18 + 1, ROWS - 2]) {
      await expect(pausesOf(bodyOf(make(place))), String(place)).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(what),
      });
    }
  },
);

test('what is made of a message counts for the server while the next one is made', async () => {
  const body = readFileSync(new URL('../../fixtures/ipc/big-zstd.arrows', import.meta.url));
  const server = new ServerMemory(1024 ** 3);
  const memory = new RequestMemory(1024 ** 3, server);
  const taken: [number, number][] = [];
  for await (const _ of await openArrowBody(body, { memory })) {
    taken.push([memory.taken, server.taken]);
  }
  const [[first, firstOfServer] = [0, 0], [second, secondOfServer] = [0, 0]] = taken;
  expect(first).toBeGreaterThan(0);
  expect(firstOfServer).toBe(first);
  expect(secondOfServer).toBe(first + second);
  expect([memory.taken, server.taken]).toEqual([0, 0]);
});
