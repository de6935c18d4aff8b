/** Columns of blobs: queries describe them, and the bytes are read by row id. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  Binary,
  Field,
  Int32,
  LargeBinary,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
} from '../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../src/directory/index.ts';
import {
  type BlobFile,
  type BlobOptions,
  blob,
  type Connection,
  connect,
  isBlobField,
  type Table,
} from '../../src/index.ts';
import { Connection as AnyConnection } from '../../src/sdk/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { restPair } from '../helpers/rest-pair.ts';

const BYTES = [Buffer.from('abc'), null, Buffer.alloc(0), Buffer.alloc(70_000, 7)];
const schema = new Schema([
  new Field('id', new Int32(), true),
  blob('video'),
  new Field('more', new Struct([blob('deep'), new Field('note', new Utf8(), true)]), true),
]);
const rows = BYTES.map((video, id) => ({
  id,
  video,
  more: id === 1 ? null : { deep: video, note: `n${id}` },
}));

const described = (size: number, uri = '') => ({
  kind: uri === '' ? 0 : 3,
  position: 0n,
  size: BigInt(size),
  blob_id: 0,
  blob_uri: uri,
});

let local: Connection;
const sides: Record<string, () => Promise<Table>> = {};
beforeAll(async () => {
  const fs = memoryFs();
  local = await connect('/blobs', { fs });
  await local.createTable('t', rows, { schema });
  sides['in process'] = () => local.openTable('t');
  sides['over a server'] = async () => {
    const catalog = await openDirectoryNamespace({ root: '/blobs', fs });
    const { client } = await restPair({ namespace: catalog });
    return new AnyConnection(client as never).openTable('t');
  };
});

const idsOf = async (table: Table): Promise<bigint[]> => {
  const found = await table.query().select(['id']).withRowId().toArray<{ _rowid: bigint }>();
  return found.map(({ _rowid }) => _rowid);
};

describe.each(['in process', 'over a server'])('blobs %s', (side) => {
  let table: Table;
  let ids: bigint[];
  beforeAll(async () => {
    table = await (sides[side] as () => Promise<Table>)();
    ids = await idsOf(table);
  });

  test('are described in place of their bytes', async () => {
    const found = await table.query().toArray();
    expect(found.map(({ video }) => video)).toEqual([
      described(3),
      null,
      described(0),
      described(70_000),
    ]);
    expect(found.map(({ more }) => more)).toEqual([
      { deep: described(3), note: 'n0' },
      null,
      { deep: described(0), note: 'n2' },
      { deep: described(70_000), note: 'n3' },
    ]);
    const taken = await table
      .takeRowIds([ids[3] as bigint])
      .select(['video'])
      .toArray();
    expect(taken).toEqual([{ video: described(70_000) }]);
    const answer = await table.query().select(['video']).toArrow();
    const [field] = answer.schema.fields as [Field];
    expect([...field.metadata.keys()]).toEqual(['lance-encoding:blob', 'lance-encoding:packed']);
    const some = await table.query().where('id >= 2').offset(1).toArray();
    expect(some.map(({ video }) => video)).toEqual([described(70_000)]);
  });

  test('are bytes where these are selected, and null to conditions', async () => {
    const found = await table.query().select({ bytes: 'video.data' }).toArray<{ bytes: unknown }>();
    expect(found[0]?.bytes).toEqual(Uint8Array.from(BYTES[0] as Buffer));
    expect(await table.countRows('video IS NULL')).toBe(1);
  });

  test('are columns that the table tells', async () => {
    expect(await table.blobColumns()).toEqual(['video', 'more.deep']);
    const [, video] = (await table.schema()).fields as [Field, Field];
    expect(isBlobField(video)).toBe(true);
    expect(String(video.type)).toBe('Struct<{data:LargeBinary, uri:Utf8}>');
  });

  test('are fetched in the order of the ids, with repeats, in memory of their own', async () => {
    expect(await table.fetchBlobs('video', ids)).toEqual(BYTES);
    const [last, first, again] = await table.fetchBlobs(
      'more.deep',
      [3, 0, 0].map((at) => ids[at] as bigint),
    );
    expect(last).toEqual(BYTES[3]);
    expect(first).toEqual(BYTES[0]);
    first?.fill(0);
    expect(again).toEqual(BYTES[0]);
    expect(again?.buffer.byteLength).toBe(3);
    expect(await table.fetchBlobs('video', ids)).toEqual(BYTES);
    expect(await table.fetchBlobs('more.deep', [ids[1] as bigint])).toEqual([null]);
    expect(await table.fetchBlobs('video', [])).toEqual([]);
    expect(await table.fetchBlobs('video', [Number(ids[0])])).toEqual([BYTES[0]]);
  });

  test('are files that read them when they are asked to', async () => {
    const files = await table.fetchBlobFiles('video', ids);
    expect(files.map((file) => file?.size())).toEqual([3n, undefined, 0n, 70_000n]);
    expect(files[1]).toBeNull();
    const [file] = files as [BlobFile];
    expect(await file.readRange(1n, 3n)).toEqual(Buffer.from('bc'));
    expect(await file.readRange(3n, 3n)).toEqual(Buffer.alloc(0));
    expect(await file.read()).toEqual(BYTES[0]);
    expect(await file.read()).toEqual(Buffer.alloc(0));
    expect(await file.readRange(0n, 1n)).toEqual(Buffer.from('a'));
    expect(await files[3]?.read()).toEqual(BYTES[3]);
    for (const [start, end] of [
      [0n, 4n],
      [2n, 1n],
      [-1n, 1n],
      [0, 1],
    ] as [bigint, bigint][]) {
      await expect(file.readRange(start, end)).rejects.toMatchObject({ code: 'InvalidInput' });
    }
  });

  test.each([
    ['a column that is none', 'id', 'InvalidInput', 'is not a blob column'],
    ['a column that there is not', 'vidoe', 'TableColumnNotFound', 'Did you mean "video"'],
  ])('of %s are refused', async (_, column, code, message) => {
    for (const fetch of ['fetchBlobs', 'fetchBlobFiles'] as const) {
      const fetched = table[fetch](column, ids);
      await expect(fetched).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    }
  });

  test('of rows that there are not are refused', async () => {
    const missing = [ids[0] as bigint, 99n << 32n];
    for (const fetch of ['fetchBlobs', 'fetchBlobFiles'] as const) {
      const fetched = table[fetch]('video', missing);
      await expect(fetched).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(String(99n << 32n)),
      });
    }
    await expect(table.fetchBlobs('video', [1.5])).rejects.toMatchObject({ code: 'InvalidInput' });
    await expect(table.fetchBlobs('video', [-1])).rejects.toMatchObject({ code: 'InvalidInput' });
  });
});

test('handles stay on the version that they were opened at', async () => {
  const table = await local.createTable('kept', [{ id: 1, video: Buffer.from('old') }], {
    schema: new Schema([new Field('id', new Int32(), true), blob('video')]),
  });
  const [file] = await table.fetchBlobFiles('video', await idsOf(table));
  await table
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .execute([{ id: 1, video: Buffer.from('new') }]);
  expect(await table.fetchBlobs('video', await idsOf(table))).toEqual([Buffer.from('new')]);
  expect(await file?.read()).toEqual(Buffer.from('old'));
  await table.checkout(1);
  expect(await table.fetchBlobs('video', await idsOf(table))).toEqual([Buffer.from('old')]);
});

test('rows give bytes, alone or in a struct, and no addresses', async () => {
  const table = await local.createTable('given', [], { schema });
  const bytes = Uint8Array.of(1, 2);
  await table.add([
    { id: 1, video: { data: bytes, uri: null } },
    { id: 2, video: { data: bytes } },
  ]);
  await table.add([{ id: 3, video: bytes }]);
  expect(await table.fetchBlobs('video', await idsOf(table))).toEqual(
    [1, 2, 3].map(() => Buffer.from(bytes)),
  );
  for (const video of ['s3://there', { uri: 's3://there' }]) {
    await expect(table.add([{ id: 4, video }])).rejects.toMatchObject({
      code: 'Unsupported',
      message: expect.stringContaining('Row 0, column "video"'),
    });
  }
  await expect(table.add([{ id: 4, video: 5 }])).rejects.toMatchObject({
    code: 'TableSchemaValidation',
  });
});

test('addresses in Arrow data are described, and not followed', async () => {
  const field = blob('video');
  const children = (field.type as Struct).children as [Field, Field];
  const data = makeData({
    type: new Struct(children) as never,
    length: 1,
    children: [
      makeData({
        type: new LargeBinary(),
        length: 1,
        nullCount: 1,
        nullBitmap: Uint8Array.of(0),
        valueOffsets: new BigInt64Array(2),
        data: new Uint8Array(0),
      }),
      makeData({
        type: new Utf8(),
        length: 1,
        valueOffsets: Int32Array.of(0, 2),
        data: Buffer.from('u:'),
      }),
    ],
  } as never);
  const own = new Schema([field]);
  const batch = new RecordBatch(
    own,
    makeData({ type: new Struct(own.fields), length: 1, children: [data as never] }),
  );
  const table = await local.createTable('external', [batch] as never);
  expect(await table.query().toArray()).toEqual([{ video: described(0, 'u:') }]);
  const [{ _rowid }] = (await table.query().withRowId().toArray()) as [{ _rowid: bigint }];
  const ids = [_rowid];
  for (const fetch of ['fetchBlobs', 'fetchBlobFiles'] as const) {
    const fetched = table[fetch]('video', ids);
    await expect(fetched).rejects.toMatchObject({
      code: 'Unsupported',
      message: expect.stringContaining('"u:"'),
    });
  }
});

test('a struct of another form is no blob, whatever its metadata say', async () => {
  const { metadata } = blob('x');
  const type = new Struct([new Field('data', new Binary(), true)]);
  const fields = [
    new Field('odd', type, true, metadata),
    new Field('blobs', new List(blob('item')), true),
  ];
  const table = await local.createTable(
    'odd',
    [{ odd: { data: Uint8Array.of(1) }, blobs: [Uint8Array.of(2)] }],
    {
      schema: new Schema(fields),
    },
  );
  expect(await table.blobColumns()).toEqual([]);
  expect(await table.query().toArray()).toEqual([
    { odd: { data: Uint8Array.of(1) }, blobs: [{ data: Uint8Array.of(2), uri: null }] },
  ]);
});

test.each([
  [{ inlineSizeThreshold: 1.5 }, 'inlineSizeThreshold'],
  [{ dedicatedSizeThreshold: 0 }, 'dedicatedSizeThreshold'],
  [{ packFileSizeThreshold: -1 }, 'packFileSizeThreshold'],
  [{ inline: 1 }, 'inline'],
])('the options %j are refused', (options, name) => {
  expect(() => blob('x', options as BlobOptions)).toThrow(name);
});

test('options are kept as metadata', () => {
  const field = blob('x', { nullable: false, inlineSizeThreshold: 0, packFileSizeThreshold: 9 });
  expect(field.nullable).toBe(false);
  expect(Object.fromEntries(field.metadata)).toEqual({
    'ARROW:extension:name': 'lance.blob.v2',
    'lance-encoding:blob-inline-size-threshold': '0',
    'lance-encoding:blob-pack-file-size-threshold': '9',
  });
});
