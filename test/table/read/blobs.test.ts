/** Reading blobs: of small and large files, compressed, with overlays, changed columns and damage. */
import { expect, test } from 'vitest';
import { Field, Int32, List, Schema, Struct, Utf8 } from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/index.ts';
import { blob, type Connection, connect, type Table } from '../../../src/index.ts';
import { memoryFs } from '../../helpers/catalogs.ts';

const inner = new Struct([
  new Field('tags', new List(new Field('item', new Utf8(), true)), true),
  new Field('note', new Utf8(), true),
  blob('deep'),
]);
const schema = new Schema([
  new Field('id', new Int32(), true),
  blob('image'),
  new Field('more', inner, true),
]);

/** Bytes that compress, or none that do. */
function bytesOf(id: number, size: number, plain: boolean): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at++)
    bytes[at] = plain ? id : (id * 31 + at * at * 7 + (at >> 5)) & 255;
  return bytes;
}

const rowOf = (id: number, size: number, plain = false) => ({
  id,
  image: id % 5 === 3 ? null : bytesOf(id, size, plain),
  more:
    id % 5 === 4
      ? null
      : {
          tags: id % 2 === 0 ? null : ['a', `b${id}`],
          note: `n${id}`,
          deep: id % 7 === 5 ? null : bytesOf(id + 1, size, plain),
        },
});

async function made(rows: ReturnType<typeof rowOf>[], options: object = {}): Promise<Table> {
  const db = await connect('/c', { fs: memoryFs() });
  return db.createTable('t', rows, { schema, ...options });
}

const idsOf = async (table: Table): Promise<bigint[]> => {
  const found = await table.query().select(['id']).withRowId().toArray<{ _rowid: bigint }>();
  return found.map(({ _rowid }) => _rowid);
};

async function check(table: Table, rows: readonly ReturnType<typeof rowOf>[]): Promise<void> {
  const ids = await idsOf(table);
  const order = [...rows.keys()].reverse();
  const wanted = order.map((at) => ids[at] as bigint);
  const images = await table.fetchBlobs('image', wanted);
  expect(images.map((bytes) => bytes?.toString('latin1'))).toEqual(
    order.map((at) => rows[at]?.image?.toString('latin1')),
  );
  const deep = await table.fetchBlobs('more.deep', wanted);
  expect(deep.map((bytes) => bytes?.toString('latin1'))).toEqual(
    order.map((at) => rows[at]?.more?.deep?.toString('latin1')),
  );
  const files = await table.fetchBlobFiles('more.deep', ids);
  for (const [at, file] of files.entries()) {
    const bytes = rows[at]?.more?.deep ?? undefined;
    expect(file?.size()).toBe(bytes && BigInt(bytes.length));
    if (file === null || bytes === undefined) continue;
    const from = bytes.length >> 2;
    const part = await file.readRange(BigInt(from), BigInt(bytes.length - from));
    expect(part.equals(bytes.subarray(from, bytes.length - from))).toBe(true);
  }
}

test.each([
  ['in a small file', 7, 20, {}],
  ['in a large one', 12, 9_000, {}],
  ['in one of many rows', 2_000, 40, {}],
  ['in one that is compressed', 12, 150_000, { compression: 'zstd' }],
  ['in many', 3, 20_000, { fragments: 5 }],
])('blobs %s', async (_, count, size, { fragments = 1, ...options }: Record<string, unknown>) => {
  const plain = options.compression === 'zstd';
  const rows = Array.from({ length: count }, (_, id) => rowOf(id, size, plain));
  const table = await made(rows, options);
  const all = [...rows];
  for (let more = 1; more < Number(fragments); more++) {
    const next = Array.from({ length: count }, (_, id) => rowOf(100 * more + id, size >> more));
    await table.add(next);
    all.push(...next);
  }
  await check(table, all);
});

test('blobs whose column was renamed, and beside which others were dropped', async () => {
  const rows = Array.from({ length: 6 }, (_, id) => rowOf(id, 8_000));
  const table = await made(rows);
  await table.alterColumns([{ path: 'image', rename: 'picture' }]);
  await table.addColumns([{ name: 'image', valueSql: 'id * 2' }]);
  const ids = await idsOf(table);
  const found = await table.fetchBlobs('picture', ids);
  expect(found.map((bytes) => bytes?.length)).toEqual(rows.map(({ image }) => image?.length));
  await expect(table.fetchBlobs('image', ids)).rejects.toThrow('is not a blob column');
});

test('blobs in a struct that lost a member before them', async () => {
  const members = new Struct([new Field('note', new Utf8(), true), blob('one'), blob('two')]);
  const own = new Schema([new Field('id', new Int32(), true), new Field('more', members, true)]);
  const [one, two] = [bytesOf(1, 30_000, false), bytesOf(2, 30_000, false)];
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ id: 1, more: { note: 'n', one, two } }], {
    schema: own,
  });
  await table.dropColumns(['more.note']);
  const ids = await idsOf(table);
  expect((await table.fetchBlobs('more.one', ids))[0]?.equals(one)).toBe(true);
  expect((await table.fetchBlobs('more.two', ids))[0]?.equals(two)).toBe(true);
});

test('blobs of changed rows are those of the version', async () => {
  const rows = Array.from({ length: 6 }, (_, id) => rowOf(id, 8_000));
  const table = await made(rows);
  const next = { ...rowOf(2, 8_000), image: Buffer.alloc(30_000, 9) };
  await table.mergeInsert('id').whenMatchedUpdateAll().execute([next]);
  const [row] = await table.query().where('id = 2').withRowId().toArray<{ _rowid: bigint }>();
  const [changed] = await table.fetchBlobs('image', [row?._rowid as bigint]);
  expect(changed?.equals(next.image)).toBe(true);
});

test('rows that are deleted, or of no fragment, are refused before anything is answered', async () => {
  const table = await made(Array.from({ length: 6 }, (_, id) => rowOf(id, 8_000)));
  const ids = await idsOf(table);
  await table.delete('id = 4');
  for (const id of [ids[4] as bigint, 6n, (1n << 32n) * 77n, (1n << 64n) - 1n]) {
    await expect(table.fetchBlobs('image', [ids[0] as bigint, id])).rejects.toThrow(
      `There is no row with the id ${id}`,
    );
  }
});

async function answered(request: object, db: Connection, fs: ReturnType<typeof memoryFs>) {
  await db.close();
  const catalog = await openDirectoryNamespace({ root: '/c', fs });
  const batches: number[] = [];
  const sizes: unknown[] = [];
  for await (const batch of await catalog.fetchBlobs({ id: ['t'], ...request } as never)) {
    batches.push(batch.numRows);
    const size = batch.getChild('_size');
    for (let row = 0; row < batch.numRows; row++) sizes.push(size?.get(row));
  }
  await catalog.close();
  return { batches, sizes };
}

test('an answer is cut into batches by bytes, and a long value is one by itself', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const sizes = [1_500_000, 1_500_000, 1_500_000, 5_000_000, 10];
  const rows = sizes.map((size, id) => ({ ...rowOf(0, 1), id, image: Buffer.alloc(size, id) }));
  const table = await db.createTable('t', rows, { schema });
  const ids = await idsOf(table);
  const whole = await answered({ column: 'image', row_ids: ids }, db, fs);
  expect(whole.batches).toEqual([2, 1, 1, 1]);
  expect(whole.sizes).toEqual(sizes.map(BigInt));
  const none = await answered({ column: 'image', row_ids: ids, length: 0 }, db, fs);
  expect(none.batches).toEqual([5]);
  expect(none.sizes).toEqual(sizes.map(BigInt));
});

test('damage is found in the pages that are read, and nowhere else', async () => {
  const fs = memoryFs();
  const db = await connect('/c', { fs });
  const image = bytesOf(3, 200_000, false);
  image.write('here it is', 150_000);
  const table = await db.createTable('t', [{ id: 1, image, more: null }], { schema });
  const [id] = (await idsOf(table)) as [bigint];
  await db.close();
  const [file] = ((await fs.promises.readdir('/c', { recursive: true })) as string[]).filter(
    (name) => String(name).endsWith('.arrow'),
  ) as [string];
  const bytes = (await fs.promises.readFile(`/c/${file}`)) as Buffer;
  const at = bytes.indexOf('here it is');
  expect(at).toBeGreaterThan(10);
  bytes[at] = (bytes[at] as number) ^ 1;
  await fs.promises.writeFile(`/c/${file}`, bytes);
  const again = await (await connect('/c', { fs })).openTable('t');
  const [opened] = await again.fetchBlobFiles('image', [id]);
  expect((await opened?.readRange(0n, 100_000n))?.equals(image.subarray(0, 100_000))).toBe(true);
  await expect(opened?.readRange(149_000n, 151_000n)).rejects.toMatchObject({ code: 'Corrupt' });
  await expect(again.fetchBlobs('image', [id])).rejects.toMatchObject({ code: 'Corrupt' });
});
