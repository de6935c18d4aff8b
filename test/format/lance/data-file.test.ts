/** Lance data files that are damaged or made to do harm: read or refused, with bounded work. */
import { describe, expect, test } from 'vitest';
import { type Data, dataOf, Utf8 } from '../../../src/arrow/index.ts';
import { isDirspaceError } from '../../../src/errors.ts';
import {
  FragmentColumns,
  LanceDataFile,
  lanceSchema,
  placesOfFile,
  readInBatches,
} from '../../../src/format/lance/index.ts';
import {
  allNulls,
  binary,
  dictionary,
  endOffsets,
  fixedSizeList,
  flat,
  list,
  noNulls,
  type Page,
  someNulls,
} from '../../../src/format/lance/page-encoding.ts';
import {
  message,
  type ProtoMembers,
  type ProtoMessage,
} from '../../../src/format/lance/protobuf.ts';
import { encodeFrame } from '../../../src/ipc/index.ts';
import { exactValues } from '../../helpers/arrow-samples.ts';
import { lanceDataFiles } from '../../helpers/lance-datasets.ts';
import { file, membersOf, page, repeatedText } from '../../helpers/lance-pages.ts';
import { casesOf } from '../../helpers/long.ts';
import { seeded } from '../../helpers/seeded.ts';

const source = (bytes: Uint8Array) => ({
  size: bytes.length,
  read: (from: number, to: number) => bytes.subarray(from, to),
});

async function values(bytes: Uint8Array, most = 1000, atOnce?: number): Promise<unknown[][]> {
  const file = await LanceDataFile.open(source(bytes), 'some.lance');
  const schema = lanceSchema(file.fields, file.metadata, 'some.lance');
  const columns = new FragmentColumns(schema, placesOfFile(schema, file), file.rows, 'some.lance');
  const size = atOnce ?? (await columns.batchRows());
  const batches = [];
  for (let from = 0; from < Math.min(columns.rows, most); from += size) {
    batches.push(await columns.batch(from, Math.min(size, columns.rows - from)));
  }
  return exactValues(batches);
}

const bytes = Uint8Array.from({ length: 64 }, (_, at) => at);
const int8 = (...pages: readonly Page[]): Uint8Array => file(bytes, [{ type: 'int8', pages }]);
const text = (
  ends: readonly number[],
  adjustment: number | bigint,
  values = 'abcdefgh',
): Uint8Array => {
  const content = Buffer.concat([
    new Uint8Array(BigUint64Array.from(ends.map(BigInt)).buffer),
    Buffer.from(values, 'latin1'),
  ]);
  const encoding = binary(endOffsets(64, 0), 1, adjustment);
  const buffers = [[0, ends.length * 8] as const, [ends.length * 8, values.length] as const];
  return file(new Uint8Array(content), [
    { type: 'string', pages: [page(encoding, ends.length, ...buffers)] },
  ]);
};

/** The size of values, and a frame of them. */
function compressed(values: Uint8Array): Uint8Array {
  const frame = encodeFrame(values) as Uint8Array;
  const all = new Uint8Array(8 + frame.length);
  all.set(frame, 8);
  return sized(all, BigInt(values.length));
}

function sized(all: Uint8Array, size: bigint): Uint8Array {
  new DataView(all.buffer, all.byteOffset).setBigUint64(0, size, true);
  return all;
}

/** A column of four rows, whatever there is in its one compressed buffer. */
function packedInt8(
  values: readonly number[],
  change: (all: Uint8Array) => Uint8Array = (all) => all,
): Uint8Array {
  const all = change(compressed(Uint8Array.from(values)));
  const pages = [page(noNulls(flat(8, 0, true)), 4, [0, all.length])];
  return file(all, [{ type: 'int8', pages }]);
}

/** Numbers, bits and texts, of which all buffers are compressed. */
function packedColumns(rows: number): Uint8Array {
  const numbers = Int32Array.from({ length: rows }, (_, row) => row * row);
  const bits = new Uint8Array(Math.ceil(rows / 8)).fill(0b1010_1010);
  const ends = BigUint64Array.from({ length: rows }, (_, row) => BigInt(row + 1));
  const letters = new Uint8Array(rows).fill(97);
  const buffers = [numbers, bits, ends, letters].map((each) =>
    compressed(new Uint8Array(each.buffer)),
  );
  let at = 0;
  const places = buffers.map(({ length }) => {
    at += length;
    return [at - length, length] as const;
  });
  const [first, second, third, fourth] = places as [Place, Place, Place, Place];
  return file(
    new Uint8Array(Buffer.concat(buffers)),
    [
      { type: 'int32', pages: [page(noNulls(flat(32, 0, true)), rows, first)] },
      { type: 'bool', pages: [page(noNulls(flat(1, 0, true)), rows, second)] },
      {
        type: 'string',
        pages: [page(binary(endOffsets(64, 0, true), 1, undefined, true), rows, third, fourth)],
      },
    ],
    { rows },
  );
}
type Place = readonly [at: number, bytes: number];

test('compressed buffers are read, all rows and one by one', async () => {
  const given = packedColumns(11);
  const all = await values(given);
  expect(all).toEqual([
    [0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100],
    [false, true, false, true, false, true, false, true, false, true, false],
    Array.from({ length: 11 }, () => '61'),
  ]);
  expect(await values(given, 11, 1)).toEqual(all);
});

test('a compressed buffer is read once for the batches of its page', async () => {
  const given = packedInt8([1, 2, 3, 4]);
  let reads = 0;
  const counted = {
    size: given.length,
    read: (from: number, to: number) => {
      if (from === 0) reads += 1;
      return given.subarray(from, to);
    },
  };
  const opened = await LanceDataFile.open(counted, 'x');
  const schema = lanceSchema(opened.fields, opened.metadata, 'x');
  const columns = new FragmentColumns(schema, placesOfFile(schema, opened), 4, 'x');
  for (let row = 0; row < 4; row++) await columns.batch(row, 1);
  expect(reads).toBe(1);
});

test('a column that the disk failed to give is read again', async () => {
  const given = int8(page(noNulls(flat(8, 0)), 4, [1, 4]));
  let fails = false;
  const opened = await LanceDataFile.open(
    {
      size: given.length,
      read: (from: number, to: number) => {
        if (fails) throw new Error('EIO');
        return given.subarray(from, to);
      },
    },
    'x',
  );
  fails = true;
  await expect(opened.column(0, 'c')).rejects.toThrow('EIO');
  fails = false;
  expect((await opened.column(0, 'c')).rows).toBe(4);
  expect(opened.column(0, 'c')).toBe(opened.column(0, 'c'));
});

test('what is made here is read', async () => {
  expect(await values(int8(page(noNulls(flat(8, 0)), 4, [1, 4])))).toEqual([[1, 2, 3, 4]]);
  expect(await values(int8(page(noNulls(flat(8, 0)), 3, [1, 3]), page(allNulls(), 1)))).toEqual([
    [1, 2, 3, null],
  ]);
  expect(await values(int8(page(someNulls(1, flat(8, 0)), 4, [1, 4], [5, 1])))).toEqual([
    [1, null, 3, null],
  ]);
  expect(await values(text([1, 3, 12, 5], 9))).toEqual([['61', '6263', null, '6465']]);
  expect(await values(text([1, 3, 3, 5], 0))).toEqual([['61', '6263', '', '6465']]);
});

async function refused(given: Uint8Array): Promise<string> {
  try {
    await values(given);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'Unsupported', 'UnsupportedFormat')) {
      return (error as Error).message;
    }
    throw error;
  }
  throw new Error('It was read.');
}

const column = (encoding: ProtoMessage): ProtoMessage =>
  message().message(1, encoding).message(2, message());
const direct = (type: string, body: ProtoMessage): ProtoMessage =>
  message().message(
    2,
    message().message(1, message().text(1, `/lance.encodings.${type}`).message(2, body)),
  );
const kind = (member: number): ProtoMessage => message().message(member, message());
const outside = 2 ** 40;

describe('refused', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['no bytes', new Uint8Array(), /does not end with LANC/],
    ['too few bytes', new Uint8Array(Buffer.from('\0\0\x03\0LANC', 'latin1')), /are no Lance file/],
    [
      'version 2.1',
      file(bytes, [], { version: [2, 1] }),
      /has the version 2\.1; 2\.0 is read.*data_storage_version/,
    ],
    ['a legacy file', file(bytes, [], { version: [0, 2] }), /has the version 0\.2/],
    [
      'a buffer outside of the file',
      int8(page(noNulls(flat(8, 0)), 4, [outside, 4])),
      /4 bytes at 1099511627776 of a file/,
    ],
    [
      'a buffer that is too short',
      int8(page(noNulls(flat(8, 0)), 4, [1, 3])),
      /a buffer of 3 bytes is read from 0 to 4/,
    ],
    [
      'a buffer that is missing',
      int8(page(noNulls(flat(8, 2)), 4, [1, 4])),
      /buffer 2 of its page is missing/,
    ],
    [
      'values of other bits',
      int8(page(noNulls(flat(16, 0)), 4, [1, 8])),
      /16 bits, where 8 are due/,
    ],
    ['values of 3 bits', int8(page(noNulls(flat(3, 0)), 4, [1, 8])), /"3 bits"/],
    ['too few rows', int8(page(noNulls(flat(8, 0)), 3, [1, 3])), /has 3 rows of 4/],
    ['too many rows', int8(page(noNulls(flat(8, 0)), 5, [1, 5])), /has 5 rows of 4/],
    [
      'pages that share bytes',
      file(new Uint8Array(4096), [
        { type: 'int8', pages: Array(200).fill(page(noNulls(flat(8, 0)), 1, [0, 4096])) },
      ]),
      /more bytes than the file/,
    ],
    [
      '2^40 rows',
      file(bytes, [{ type: 'int8', pages: [page(allNulls(), outside)] }], { rows: outside }),
      /it has 1099511627776 rows/,
    ],
    ['2^40 rows of a column', int8(page(allNulls(), outside)), /more than 4294967295 rows/],
    ['ends that descend', text([3, 1, 4, 5], 0), /an end of 1 follows one of 3/],
    ['an end behind the bytes', text([1, 2, 3, 99], 0), /a buffer of 8 bytes is read from 0 to 99/],
    ['a huge end', text([1, 2, 3, 2 ** 50], 0), /4 values have 1125899906842624 bytes/],
    ['text that is not UTF-8', text([1, 2, 3, 4], 0, 'ab\xffdefgh'), /not UTF-8/],
    [
      'a text cut within a character',
      text([1, 2, 3, 4], 0, 'aé'.normalize().replace('é', '\xc3\xa9')),
      /not UTF-8|is read/,
    ],
    [
      'text as numbers',
      file(bytes, [{ type: 'string', pages: [page(noNulls(flat(8, 0)), 4, [0, 4])] }]),
      /in the encoding "flat"/,
    ],
    [
      'numbers by a dictionary',
      file(bytes, [
        {
          type: 'int32',
          pages: [
            page(dictionary(noNulls(flat(8, 0)), noNulls(flat(32, 1)), 3), 4, [0, 4], [0, 12]),
          ],
        },
      ]),
      /\(Int32\) in the encoding "dictionary"/,
    ],
    [
      'vectors of another length',
      file(bytes, [
        {
          type: 'fixed_size_list:int8:3',
          pages: [page(noNulls(fixedSizeList(2, noNulls(flat(8, 0)))), 4, [0, 12])],
        },
      ]),
      /vectors of 2 values/,
    ],
    [
      'vectors of 2^31 - 1 nulls',
      file(bytes, [
        { type: `fixed_size_list:double:${2 ** 31 - 1}`, pages: [page(allNulls(), 4)] },
      ]),
      /take more than 26843\d{4} bytes/,
    ],
    [
      'lists beyond their items',
      file(
        bytes,
        [
          { type: 'list', pages: [page(list(endOffsets(64, 0), 2), 1, [8, 8])] },
          { type: 'int8', parent: 0, pages: [page(allNulls(), 2)] },
        ],
        { rows: 1 },
      ),
      /an end of \d+, where 2 are there/,
    ],
    [
      'lists of items that are not there',
      file(
        new Uint8Array(BigUint64Array.of(9n).buffer),
        [
          { type: 'list', pages: [page(list(endOffsets(64, 0), 9), 1, [0, 8])] },
          { type: 'int8', parent: 0, pages: [page(allNulls(), 2)] },
        ],
        { rows: 1 },
      ),
      /has 2 rows, where 9 are due/,
    ],
    [
      'lists that leave items out',
      file(
        new Uint8Array(BigUint64Array.of(1n).buffer),
        [
          { type: 'list', pages: [page(list(endOffsets(64, 0), 9), 1, [0, 8])] },
          { type: 'int8', parent: 0, pages: [page(allNulls(), 9)] },
        ],
        { rows: 1 },
      ),
      /end at item 1 of 9/,
    ],
    [
      '2^31 null items',
      file(
        new Uint8Array(BigUint64Array.of(2n ** 31n).buffer),
        [
          { type: 'large_list', pages: [page(list(endOffsets(64, 0), 2 ** 31), 1, [0, 8])] },
          { type: 'double', parent: 0, pages: [page(allNulls(), 2 ** 31)] },
        ],
        { rows: 1 },
      ),
      /take more than/,
    ],
    [
      'a dictionary index outside',
      file(Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 97), [
        {
          type: 'dict:string:int8:false',
          pages: [
            page(
              dictionary(noNulls(flat(8, 0)), binary(endOffsets(64, 1), 2, 0), 1),
              4,
              [8, 4],
              [0, 8],
              [12, 1],
            ),
          ],
        },
      ]),
      /index 1 into a dictionary of 1/,
    ],
    [
      'an index beyond those that its type has',
      file(
        new Uint8Array([
          ...[199, 0, 0, 0],
          ...new Uint8Array(BigUint64Array.from({ length: 200 }, (_, at) => BigInt(at + 1)).buffer),
          ...new Uint8Array(200).fill(97),
        ]),
        [
          {
            type: 'dict:string:int8:false',
            pages: [
              page(
                dictionary(noNulls(flat(8, 0)), binary(endOffsets(64, 1), 2, 0), 200),
                4,
                [0, 4],
                [4, 1600],
                [1604, 200],
              ),
            ],
          },
        ],
      ),
      /index 199 has no place in Int8/,
    ],
    [
      '2^31 null dictionary values',
      file(bytes, [
        {
          type: 'dict:int64:int8:false',
          pages: [page(dictionary(noNulls(flat(8, 0)), allNulls(), 2 ** 31), 4, [1, 4])],
        },
      ]),
      /take more than/,
    ],
    [
      'a buffer of another compression',
      int8(
        page(
          noNulls(
            membersOf(
              message().message(
                1,
                message().integer(1, 8).message(2, message()).message(3, message().text(1, 'lz4')),
              ),
            ),
          ),
          4,
          [0, 8],
        ),
      ),
      /"compressed by lz4"/,
    ],
    [
      'a compressed buffer without its size',
      packedInt8([1, 2, 3], (all) => all.subarray(0, 7)),
      /compressed buffer has 7 bytes/,
    ],
    [
      'a compressed buffer of more than frames can hold',
      packedInt8([1, 2, 3, 4], (all) => sized(all, 2n ** 40n)),
      /compressed buffer of \d+ bytes is said to hold 1099511627776/,
    ],
    [
      'a compressed buffer of another size',
      packedInt8([1, 2, 3, 4], (all) => sized(all, 5n)),
      /holds? .*4 bytes|holds 4 bytes where 5 are declared/,
    ],
    [
      'a compressed buffer of fewer values',
      packedInt8([1, 2, 3]),
      /a buffer of 3 bytes is read from 0 to 4/,
    ],
    [
      'a compressed buffer that is beyond what a file may take',
      packedInt8([1], () => sized(new Uint8Array(40_000), 900_000_000n)),
      /take more than/,
    ],
    ...[8, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 40].map(
      (member) =>
        [
          `encoding ${member}`,
          int8(page(membersOf(kind(member)), 4, [0, 8])),
          /in the encoding "/,
        ] as [string, Uint8Array, RegExp],
    ),
    [
      'a column with zones',
      file(bytes, [
        { type: 'int8', pages: [], metadata: column(direct('ColumnEncoding', kind(2))) },
      ]),
      /holds zones in column "c0", which are not read.* data_storage_version="2\.0"/,
    ],
    [
      'a blob column',
      file(bytes, [
        { type: 'int8', pages: [], metadata: column(direct('ColumnEncoding', kind(3))) },
      ]),
      /holds blobs in column "c0", which are not read\. Drop the column with Lance first\.$/,
    ],
    [
      'binary values of no bytes',
      file(bytes, [{ type: 'fixed_size_binary:0', pages: [page(noNulls(flat(0, 0)), 4, [0, 0])] }]),
      /holds binary values of no bytes in column "c0", .*\. Drop the column with Lance first\.$/,
    ],
    [
      'an encoding that stands elsewhere',
      file(bytes, [{ type: 'int8', pages: [], metadata: column(message().message(1, message())) }]),
      /stand elsewhere/,
    ],
    [
      'an encoding of another kind',
      file(bytes, [{ type: 'int8', pages: [], metadata: column(direct('Other', kind(1))) }]),
      /of type .*Other/,
    ],
    [
      'no encoding',
      file(bytes, [{ type: 'int8', pages: [], metadata: message() }]),
      /has no encoding/,
    ],
  ])('%s', async (_, given, expected) => {
    expect(await refused(given)).toMatch(expected);
  });
});

describe('values that small files of writers seldom have', () => {
  const ends = (...numbers: number[]): Uint8Array =>
    new Uint8Array(BigUint64Array.from(numbers.map(BigInt)).buffer);
  const joinedBytes = (...parts: readonly Uint8Array[]): Uint8Array =>
    new Uint8Array(Buffer.concat(parts));
  const ab = Uint8Array.of(97, 98);

  test('texts by a dictionary, in which 0 is null', async () => {
    const content = joinedBytes(ends(1, 2), ab, Uint8Array.of(0, 1, 2, 1));
    const encoding = dictionary(noNulls(flat(8, 0)), binary(endOffsets(64, 1), 2, 0), 2);
    const pages = [page(encoding, 4, [18, 4], [0, 16], [16, 2])];
    expect(await values(file(content, [{ type: 'string', pages }]))).toEqual([
      [null, '61', '62', '61'],
    ]);
  });

  test('dictionaries with a null value, and another one in each page', async () => {
    const content = joinedBytes(ends(1, 5), ends(1, 2), ab, Uint8Array.of(0, 1, 1, 0));
    const of = (addition: number) =>
      dictionary(noNulls(flat(8, 0)), binary(endOffsets(64, 1), 2, addition), 2);
    const pages = [
      page(of(4), 2, [34, 2], [0, 16], [32, 1]),
      page(of(0), 2, [36, 2], [16, 16], [32, 2]),
    ];
    expect(await values(file(content, [{ type: 'dict:string:int8:false', pages }]))).toEqual([
      ['61', null, '62', '61'],
    ]);
  });

  test('a dictionary that many pages share may be larger than the file is then', async () => {
    const content = joinedBytes(ends(4000), new Uint8Array(4000).fill(97), new Uint8Array(4));
    const encoding = dictionary(noNulls(flat(8, 0)), binary(endOffsets(64, 1), 2, 0), 1);
    const pages = Array.from({ length: 40 }, () => page(encoding, 1, [4008, 1], [0, 8], [8, 4000]));
    const given = file(content, [{ type: 'dict:string:int8:false', pages }], { rows: 40 });
    expect((await values(given))[0]).toHaveLength(40);
  });

  test('nulls by a bitmap and by ends at once', async () => {
    const content = joinedBytes(Uint8Array.of(0b1101), ends(1, 1, 12, 2), ab);
    const encoding = someNulls(0, binary(endOffsets(64, 1), 2, 11));
    const pages = [page(encoding, 4, [0, 1], [1, 32], [33, 2])];
    expect(await values(file(content, [{ type: 'string', pages }]))).toEqual([
      ['61', null, null, '62'],
    ]);
  });

  test('lists of several pages, read from the middle', async () => {
    const content = joinedBytes(ends(1, 3), ends(2, 2), Uint8Array.of(1, 2, 3, 4, 5));
    const given = file(content, [
      {
        type: 'list',
        pages: [
          page(list(endOffsets(64, 0), 3), 2, [0, 16]),
          page(list(endOffsets(64, 0), 2), 2, [16, 16]),
        ],
      },
      {
        type: 'int8',
        parent: 0,
        pages: [page(noNulls(flat(8, 0)), 1, [32, 1]), page(noNulls(flat(8, 0)), 4, [33, 4])],
      },
    ]);
    expect(await values(given)).toEqual([[[1], [2, 3], [4, 5], []]]);
    expect(await values(given, 1000, 1)).toEqual([[[1], [2, 3], [4, 5], []]]);
  });

  test('ends that descend between two readings', async () => {
    const work = values(text([3, 1, 4, 5], 0), 1000, 1);
    await expect(work).rejects.toThrow(/an end of 1 follows one of 3/);
  });

  test('messages nested without end', async () => {
    let encoding = flat(8, 0);
    for (let depth = 0; depth < 40; depth++) encoding = noNulls(encoding);
    expect(await refused(int8(page(encoding, 4, [0, 4])))).toMatch(/messages are nested/);
  });

  test('a column whose metadata lies outside', async () => {
    const given = int8(page(noNulls(flat(8, 0)), 4, [0, 4]));
    const view = new DataView(given.buffer, given.byteOffset, given.byteLength);
    const table = Number(view.getBigUint64(given.length - 32, true));
    view.setBigUint64(table, BigInt(given.length - 1), true);
    expect(await refused(given)).toMatch(/column table: \d+ bytes at \d+ of a file of/);
  });
});

test.each(lanceDataFiles)('rows one by one are those of all: $name', async ({ bytes: given }) => {
  expect(await values(given, 40, 1)).toEqual(
    (await values(given, 40)).map((one) => one.slice(0, 40)),
  );
});

test('a packed struct in one file, and the column behind it', async () => {
  const member = flat(8, 0);
  const packed: ProtoMembers = (into) => {
    into.message(9, (body) => {
      body
        .message(1, member)
        .message(1, member)
        .message(2, (buffer) => buffer.integer(1, 0));
    });
  };
  const rows = 3;
  // An int16 and an int8 a row, one row behind the other; then the int8s of the last column.
  const content = Uint8Array.of(1, 0, 10, 2, 0, 20, 3, 1, 30, 7, 8, 9);
  const struct = (isPacked: boolean, ...inner: string[]): Uint8Array =>
    file(
      content,
      [
        { type: 'struct', pages: [page(packed, rows, [0, 9])], isPacked },
        ...inner.map((type) => ({ type, parent: 0, pages: [], isInside: true })),
        { type: 'int8', pages: [page(noNulls(flat(8, 0)), rows, [9, 3])] },
      ],
      { rows },
    );
  expect(await values(struct(true, 'int16', 'int8'))).toEqual([
    [
      [1, 10],
      [2, 20],
      [259, 30],
    ],
    [7, 8, 9],
  ]);
  expect(await values(struct(true, 'int16', 'int8'), rows, 1)).toEqual(
    await values(struct(true, 'int16', 'int8')),
  );
  expect(await refused(struct(true, 'int8', 'int16', 'int8'))).toMatch(/packs 2 members of 3/);
  expect(await refused(struct(true, 'int16', 'string'))).toMatch(
    /in the encoding "Utf8"|packed structs/,
  );
  expect(await refused(struct(false, 'int16', 'int8'))).toMatch(/stored as packed_struct|is named/);
});

test('texts of a dictionary are read in batches that a small file may take', async () => {
  const [length, rows] = [100_000, 4000];
  const given = repeatedText(length, rows);
  await expect(values(given, rows, rows)).rejects.toThrow(
    'The rows of the Lance file some.lance that are read at once take more than',
  );
  const opened = await LanceDataFile.open(source(given), 'x');
  const schema = lanceSchema(opened.fields, opened.metadata, 'x');
  const columns = new FragmentColumns(schema, placesOfFile(schema, opened), rows, 'x');
  const counts: number[] = [];
  for await (const count of readInBatches(rows, rows, async (from, count) => {
    const batch = await columns.batch(from, count);
    expect(batch.getChildAt(0)?.get(count - 1)).toHaveLength(length);
    return count;
  }))
    counts.push(count);
  expect(counts).toEqual([2000, 2000]);
  const wide = readInBatches(1, 1, () => columns.batch(0, rows));
  await expect(wide.next()).rejects.toThrow('Write them in more files');
  const damaged = readInBatches(8, 8, () => Promise.reject(new Error('else')));
  await expect(damaged.next()).rejects.toThrow('else');
});

test('columns that share a dictionary do not keep it as often as there are columns', async () => {
  const texts = (length: number): Data =>
    dataOf(new Utf8(), 1, { offsets: Int32Array.of(0, length), values: new Uint8Array(length) });
  const [small, large] = [texts(10), texts(40_000_000)];
  /** How often dictionaries are made that columns ask for in this order. */
  const made = async (...asked: readonly (readonly [string, string, Data])[]): Promise<number> => {
    const opened = await LanceDataFile.open(source(repeatedText(8, 8)), 'x');
    let count = 0;
    for (const [column, key, values] of asked)
      await opened.dictionary(column, key, async () => {
        count += 1;
        return values;
      });
    return count;
  };
  const [a, b] = [['a', 'k', large] as const, ['b', 'k', large] as const];
  expect(await made(a, a, b, b)).toBe(2);
  // `b` is in the place of `a`, so that `a` is made again.
  expect(await made(a, b, a)).toBe(3);
  const few = [['a', 'k', small] as const, ['b', 'k', small] as const];
  expect(await made(...few, ...few)).toBe(2);
  // The first one of `a` is gone when the next one is there.
  const next = ['a', 'l', large] as const;
  expect(await made(a, next, ['b', 'k', small], next)).toBe(3);
});

test('only the bytes of the rows that are asked for are read', async () => {
  const given = file(
    new Uint8Array(80_000),
    [{ type: 'int64', pages: [page(noNulls(flat(64, 0)), 10_000, [0, 80_000])] }],
    { rows: 10_000 },
  );
  const read: number[] = [];
  const counted = {
    size: given.length,
    read: (from: number, to: number) => {
      read.push(to - from);
      return given.subarray(from, to);
    },
  };
  const opened = await LanceDataFile.open(counted, 'x');
  const schema = lanceSchema(opened.fields, opened.metadata, 'x');
  const columns = new FragmentColumns(schema, placesOfFile(schema, opened), 10_000, 'x');
  await columns.batchRows();
  read.length = 0;
  const batch = await columns.batch(5_000, 10);
  expect(batch.numRows).toBe(10);
  expect(read).toEqual([80]);
});

function mutated(whole: Uint8Array, random: () => number): Uint8Array {
  const changed = whole.slice();
  // Where the metadata stands, most of the time: values have no structure.
  const place = (): number =>
    random() < 0.2
      ? Math.floor(random() * changed.length)
      : changed.length - 1 - Math.floor(random() ** 2 * Math.min(changed.length, 2000));
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = place();
    const choice = random();
    if (choice < 0.6) changed[at] = (changed[at] as number) ^ (1 << Math.floor(random() * 8));
    else if (choice < 0.8)
      changed[at] = [0, 1, 0x7f, 0x80, 0xff][Math.floor(random() * 5)] as number;
    else changed.copyWithin(at, place(), place());
  }
  return random() < 0.05 ? changed.slice(0, place()) : changed;
}

test('damaged files are read or refused, and nothing else', async () => {
  const random = seeded(31);
  const cases = casesOf(1_500, 100_000);
  const files = [...lanceDataFiles.map(({ bytes }) => bytes), packedColumns(100)];
  let read = 0;
  for (let number = 0; number < cases; number++) {
    const whole = files[number % files.length] as Uint8Array;
    try {
      await values(mutated(whole, random), 200);
      read += 1;
    } catch (error) {
      if (!isDirspaceError(error, 'Corrupt', 'Unsupported', 'UnsupportedFormat')) throw error;
    }
  }
  expect(read).toBeGreaterThan(cases / 50);
  expect(read).toBeLessThan(cases);
});

test('a file that is cut off while it is opened is told as damaged', async () => {
  const given = repeatedText(8, 8);
  for (let reads = 1; reads <= 4; reads++) {
    let left = reads;
    const shrinking = {
      size: given.length,
      read: (from: number, to: number) =>
        left-- > 0 ? given.subarray(from, to) : given.subarray(from, Math.min(to, from + 3)),
    };
    const opening = LanceDataFile.open(shrinking, 'x');
    if (reads === 4) await opening;
    else await expect(opening).rejects.toMatchObject({ code: 'Corrupt' });
  }
});
