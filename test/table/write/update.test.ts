/** UPDATE: values by expressions, exact counts, one version, nothing where nothing fits. */
import { describe, expect, test } from 'vitest';
import {
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int8,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { connect } from '../../../src/index.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows, type Row } from '../../../src/sdk/convert/rows.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';

const t = ['t'];
const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('x', new Float64(), true),
  new Field('small', new Int8(), true),
  new Field('name', new Utf8(), true),
  new Field('at', new TimestampMicrosecond(), true),
  new Field('tag', new Dictionary(new Utf8(), new Int32()), true),
  new Field('v', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
  new Field(
    's',
    new Struct([new Field('a', new Int32(), true), new Field('b', new Utf8(), true)]),
    true,
  ),
]);

const row = (id: number): Row => ({
  id: BigInt(id),
  x: id / 2,
  small: id,
  name: `n${id}`,
  at: null,
  tag: id % 2 === 0 ? 'even' : 'odd',
  v: [id, id],
  s: id === 2 ? null : { a: id, b: 'b' },
});

async function setUp(limits = {}) {
  const fs = memoryFs();
  const catalog = await openDirectoryNamespace({ root: '/c', fs, limits });
  const rows = [0, 1, 2, 3, 4].map(row);
  await catalog.createTable({ id: t }, await toRecordBatchStream(rows, { schema }));
  return { catalog, fs };
}
type Catalog = Awaited<ReturnType<typeof setUp>>['catalog'];

const read = async (catalog: Catalog, version?: number): Promise<Row[]> => {
  const request = { id: t, k: 1e9, ...(version === undefined ? {} : { version }) };
  const rows = await collectRows(await catalog.queryTable(request));
  return rows.sort((a, b) => Number(a.id) - Number(b.id));
};

const column = async (catalog: Catalog, name: string): Promise<unknown[]> =>
  (await read(catalog)).map((found) => found[name]);

describe('update', () => {
  test('changes the matching rows in one version and keeps the old one', async () => {
    const { catalog } = await setUp();
    const before = await read(catalog);
    const answer = await catalog.updateTable({
      id: t,
      predicate: 'id >= 3',
      updates: [
        ['x', 'x * 2 + id'],
        ['name', "upper(name) || '!'"],
      ],
    });
    expect(answer).toMatchObject({ updated_rows: 2, version: 2 });
    expect(answer.transaction_id).toBeTypeOf('string');
    expect(await column(catalog, 'x')).toEqual([0, 0.5, 1, 6, 8]);
    expect(await column(catalog, 'name')).toEqual(['n0', 'n1', 'n2', 'N3!', 'N4!']);
    expect(await column(catalog, 'tag')).toEqual(['even', 'odd', 'even', 'odd', 'even']);
    expect(await read(catalog, 1)).toEqual(before);
  });

  test('expressions see the row as it was', async () => {
    const { catalog } = await setUp();
    await catalog.updateTable({
      id: t,
      updates: [
        ['x', 'small'],
        ['small', 'CAST(id + 1 AS TINYINT)'],
      ],
    });
    expect(await column(catalog, 'x')).toEqual([0, 1, 2, 3, 4]);
    expect(await column(catalog, 'small')).toEqual([1, 2, 3, 4, 5]);
  });

  test('every kind of column takes a value', async () => {
    const { catalog } = await setUp();
    await catalog.updateTable({
      id: t,
      predicate: 'id = 1',
      updates: [
        ['at', "'2024-01-02T03:04:05.000001Z'"],
        ['tag', "'new ' || tag"],
        ['v', '[0.1, -2]'],
        ['s.a', 'id + 40'],
        ['small', 'NULL'],
      ],
    });
    const [, changed] = await read(catalog);
    expect(changed).toMatchObject({ tag: 'new odd', small: null, s: { a: 41, b: 'b' } });
    expect(Array.from((changed?.v ?? []) as Iterable<number>)).toEqual([Math.fround(0.1), -2]);
    const { count } = await catalog.countTableRows({
      id: t,
      predicate: "at = TIMESTAMP '2024-01-02 03:04:05.000001'",
    });
    expect(count).toBe(1);
  });

  test('a member of a null struct stays null', async () => {
    const { catalog } = await setUp();
    await catalog.updateTable({ id: t, updates: [['s.a', '7']] });
    expect(await column(catalog, 's')).toEqual([
      { a: 7, b: 'b' },
      { a: 7, b: 'b' },
      null,
      { a: 7, b: 'b' },
      { a: 7, b: 'b' },
    ]);
  });

  test('no match makes no version', async () => {
    const { catalog } = await setUp();
    const answer = await catalog.updateTable({
      id: t,
      predicate: 'id > 100',
      updates: [['x', '1']],
    });
    expect(answer).toEqual({ updated_rows: 0, version: 1 });
  });

  test.each([
    [[['nope', '1']], 'TableColumnNotFound', 'nope'],
    [[['x', 'nope + 1']], 'TableColumnNotFound', 'nope'],
    [[['small', '300']], 'InvalidInput', '"small" (int8)'],
    [[['small', 'id * 100']], 'InvalidInput', '"small" (int8)'],
    [[['small', 'x']], 'InvalidInput', '"small" (int8)'],
    [[['x', "'text'"]], 'InvalidInput', '"x" (float64)'],
    [[['name', 'id']], 'InvalidInput', '"name" (utf8)'],
    [[['at', "'soon'"]], 'InvalidInput', '"at" (timestamp(us))'],
    [[['v', '[1, 2, 3]']], 'InvalidInput', '"v" (fixed_size_list<float32>[2])'],
    [[['id', 'NULL']], 'TableSchemaValidation', '"id"'],
    [
      [
        ['x', '1'],
        ['x', '2'],
      ],
      'InvalidInput',
      'set twice',
    ],
    [
      [
        ['s', 'NULL'],
        ['s.a', '2'],
      ],
      'InvalidInput',
      'overlap',
    ],
    [[], 'InvalidInput', 'no column'],
  ] as [string[][], string, string][])('refuses %j', async (updates, code, text) => {
    const { catalog, fs } = await setUp();
    const files = filesOf(fs, '/c').all().join();
    const failing = catalog.updateTable({ id: t, updates });
    await expect(failing).rejects.toMatchObject({
      code,
      message: expect.stringContaining(text),
    });
    expect(filesOf(fs, '/c').all().join()).toBe(files);
  });

  test('fragments and batches of any size', async () => {
    const { catalog } = await setUp({ batchRows: 2, fragmentRows: 2 });
    await catalog.deleteFromTable({ id: t, predicate: 'id = 1' });
    const answer = await catalog.updateTable({ id: t, updates: [['x', 'id * 10']] });
    expect(answer.updated_rows).toBe(4);
    expect(await column(catalog, 'x')).toEqual([0, 20, 30, 40]);
    expect((await catalog.countTableRows({ id: t })).count).toBe(4);
  });

  test('the same key updates once', async () => {
    const { catalog } = await setUp();
    const request = { id: t, predicate: 'id = 1', updates: [['x', 'x + 1']] };
    const options = { idempotencyKey: 'k1' };
    const first = await catalog.updateTable(request, options);
    expect(await catalog.updateTable(request, options)).toEqual(first);
    expect(await column(catalog, 'x')).toEqual([0, 1.5, 1, 1.5, 2]);
  });

  test('two writers at once both count', async () => {
    const { catalog, fs } = await setUp();
    const others = await Promise.all(
      [1, 2, 3].map(() => openDirectoryNamespace({ root: '/c', fs })),
    );
    const all = [catalog, ...others];
    await Promise.all(all.map((each) => each.updateTable({ id: t, updates: [['x', 'x + 1']] })));
    expect(await column(catalog, 'x')).toEqual([4, 4.5, 5, 5.5, 6]);
    // Three runs of rows with a struct and without it, and two more fragments a version: what lost
    // was removed.
    const arrow = filesOf(fs, '/c')
      .all()
      .filter((file) => /data\/.*\.arrow$/.test(file));
    expect(arrow).toHaveLength(3 + 4 * 2);
  });
});

test('rows of many small fragments keep what an update does not set, of every type', async () => {
  const fields = [
    new Field('id', new Int64(), true),
    new Field('word', new Dictionary(new Utf8(), new Int32()), true),
    new Field('list', new List(new Field('item', new Utf8(), true)), true),
    new Field('pair', new Struct([new Field('x', new Int32(), true)]), true),
    new Field('v', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
  ];
  const rowOf = (id: number): Row => ({
    id: BigInt(id),
    word: id % 4 === 3 ? null : `w${id % 5}`,
    list: id % 3 === 1 ? null : Array.from({ length: id % 4 }, (_, k) => `${id}-${k}`),
    pair: { x: id },
    v: [id, 0.5],
  });
  await using db = await connect({ uri: '/c', fs: memoryFs() as never });
  const options = { schema: new Schema(fields) as never };
  const table = await db.createTable('t', [rowOf(0), rowOf(1), rowOf(2)], options);
  for (let from = 3; from < 36; from += 3) {
    await table.add([rowOf(from), rowOf(from + 1), rowOf(from + 2)]);
  }
  const sorted = async (): Promise<Row[]> => {
    const rows = (await table.query().toArray()) as Row[];
    const plain: Row[] = rows.map((row) => ({ ...row, v: [...(row.v as number[])] }));
    return plain.sort((a, b) => (a.pair as { x: number }).x - (b.pair as { x: number }).x);
  };
  const before = await sorted();
  expect(before).toHaveLength(36);
  await table.update({ where: 'id % 3 <> 1', valuesSql: { id: 'id + 1000' } });
  expect(await sorted()).toEqual(
    before.map((row) => ({
      ...row,
      id: (row.id as bigint) % 3n === 1n ? row.id : (row.id as bigint) + 1000n,
    })),
  );
});
