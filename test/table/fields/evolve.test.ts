/** Columns added, altered, dropped and described: old versions keep theirs, data stays in place. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  IntervalYearMonth,
  LargeList,
  LargeUtf8,
  List,
  Null,
  Schema,
  Struct,
  TimeMicrosecond,
  TimeSecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from '../../../src/arrow/apache.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { connect } from '../../../src/index.ts';
import type { LanceMode } from '../../../src/lance-mode.ts';
import { typeToJson } from '../../../src/protocol/types/schema.ts';
import { toRecordBatchStream } from '../../../src/sdk/convert/data.ts';
import { collectRows, type Row } from '../../../src/sdk/convert/rows.ts';
import { canWiden, wideningOf } from '../../../src/table/fields/widen.ts';
import { filesOf, memoryFs } from '../../helpers/catalogs.ts';

const t = ['t'];
const child = (name: string, type: DataType): Field => new Field(name, type, true);
const schema = new Schema([
  new Field('id', new Int32(), false),
  child('small', new Int8()),
  child('name', new Utf8()),
  child('s', new Struct([child('a', new Int16()), child('b', new Utf8())])),
  child(
    'l',
    new List(child('item', new Struct([child('x', new Int32()), child('y', new Utf8())]))),
  ),
]);
const row = (id: number): Row => ({
  id,
  small: id % 3 === 0 ? null : id - 5,
  name: `n${id}`,
  s: id === 4 ? null : { a: id, b: `b${id}` },
  l:
    id === 5
      ? null
      : [
          { x: id, y: 'y' },
          { x: 0 - id, y: null },
        ],
});
const ten = Array.from({ length: 10 }, (_, id) => row(id));

const data = (rows: Row[], as = schema) => toRecordBatchStream(rows, { schema: as });

async function setUp(rows = ten, as = schema, lance?: LanceMode) {
  const fs = memoryFs();
  const open = () =>
    openDirectoryNamespace({ root: '/c', fs, lance, limits: { batchRows: 3, fragmentRows: 6 } });
  const catalog = await open();
  await catalog.createTable({ id: t }, await data(rows, as));
  const arrows = () =>
    filesOf(fs, '/c')
      .all()
      .filter((file) => file.includes('/data/'));
  return { catalog, fs, open, arrows };
}
type Catalog = Awaited<ReturnType<typeof setUp>>['catalog'];

const read = async (catalog: Catalog, more = {}): Promise<Row[]> =>
  collectRows(await catalog.queryTable({ id: t, k: 1e9, ...more }));

const names = async (catalog: Catalog): Promise<string[]> =>
  (await catalog.queryTable({ id: t, k: 0 })).schema.fields.map(({ name }) => name);

describe('add columns', () => {
  test('values of an expression, row ids and order kept, deleted rows not looked at', async () => {
    const { catalog } = await setUp();
    await catalog.deleteFromTable({ id: t, predicate: 'id = 2 OR id = 7' });
    const before = await read(catalog, { with_row_id: true });
    const answer = await catalog.alterTableAddColumns({
      id: t,
      new_columns: [
        { name: 'twice', expression: 'id * 2' },
        { name: 'part', expression: '10 / (id - 2)' },
        { name: 's.c', expression: "s.b || '!'" },
        { name: 'at', expression: '_rowoffset' },
      ],
    });
    expect(answer).toEqual({ version: 3, transaction_id: expect.any(String) });
    const after = await read(catalog, { with_row_id: true });
    expect(after).toEqual(
      before.map((each, at) => ({
        ...each,
        s: each.s === null ? null : { ...(each.s as Row), c: `${(each.s as Row).b}!` },
        twice: expect.anything(),
        part: expect.anything(),
        at: BigInt(at),
      })),
    );
    expect(after.map(({ twice }) => Number(twice))).toEqual(before.map(({ id }) => Number(id) * 2));
    expect(await read(catalog, { version: 2, with_row_id: true })).toEqual(before);
    const { count } = await catalog.countTableRows({ id: t, predicate: 'twice >= 10' });
    expect(count).toBe(4);
  });

  test('a column of nulls writes no data', async () => {
    const { catalog, arrows } = await setUp();
    const before = arrows();
    await catalog.alterTableAddColumns({
      id: t,
      new_columns: [
        { name: 'n', expression: 'CAST(NULL AS BIGINT)' },
        { name: 's.n', expression: 'CAST(NULL AS DOUBLE)' },
        {
          name: 'v',
          data_type: { ...typeToJson(new FixedSizeList(2, child('item', new Float32()))) },
        },
      ],
    });
    expect(arrows()).toEqual(before);
    const found = await read(catalog);
    expect(found.map(({ n, v }) => [n, v])).toEqual(ten.map(() => [null, null]));
    expect(found[1]?.s).toEqual({ a: 1, b: 'b1', n: null });
    expect((await catalog.countTableRows({ id: t, predicate: 's.n IS NULL' })).count).toBe(10);
    await catalog.updateTable({
      id: t,
      predicate: 'id = 3',
      updates: [
        ['n', '7'],
        ['v', '[1, 2]'],
        ['s.n', '0.5'],
      ],
    });
    expect((await read(catalog, { filter: 'n = 7' }))[0]).toMatchObject({
      id: 3,
      s: { a: 3, n: 0.5 },
    });
  });

  test('clients that know the old schema go on writing', async () => {
    const { catalog } = await setUp();
    await catalog.alterTableAddColumns({
      id: t,
      new_columns: [
        { name: 'n', expression: 'id + 1' },
        { name: 's.n', expression: 'id' },
      ],
    });
    await catalog.alterTableAlterColumns({
      id: t,
      alterations: [{ path: 'small', data_type: { type: 'int64' } }],
    });
    await catalog.insertIntoTable({ id: t }, await data([row(11)]));
    const found = await read(catalog, { filter: 'id >= 9' });
    expect(found.map(({ n }) => (n === null ? null : Number(n)))).toEqual([10, null]);
    expect(found[1]).toMatchObject({ small: 6n, s: { a: 11, b: 'b11', n: null } });
    expect((await catalog.countTableRows({ id: t, predicate: 'small = 6' })).count).toBe(1);
  });

  test.each([
    [{ name: 'id', expression: '1' }, 'InvalidInput', 'already'],
    [{ name: 'n', expression: 'nope' }, 'TableColumnNotFound', 'nope'],
    [{ name: 'n', expression: 'CAST(name AS INT)' }, 'InvalidInput', 'n0'],
    [{ name: 'no.n', expression: '1' }, 'TableColumnNotFound', 'no'],
    [{ name: 'l.item.z', expression: '1' }, 'InvalidInput', 'l.item'],
    [{ name: '_rowid', expression: '1' }, 'InvalidInput', '_rowid'],
    [{ name: 'n' }, 'InvalidInput', 'no expression'],
    [{ name: 'n', computed: 'nope' }, 'TableColumnNotFound', 'nope'],
  ])('refuses %j', async (column, code, message) => {
    const { catalog, arrows } = await setUp();
    const before = arrows();
    await expect(
      catalog.alterTableAddColumns({ id: t, new_columns: [column] }),
    ).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(arrows()).toEqual(before);
  });
});

describe('alter columns', () => {
  test('renames, nested ones too, without touching data', async () => {
    const { catalog, arrows, open } = await setUp();
    const before = arrows();
    await catalog.alterTableAlterColumns({
      id: t,
      alterations: [
        { path: 'name', rename: 'title' },
        { path: 's.b', rename: 'bee' },
        { path: 'l.item.x', rename: 'ex' },
      ],
    });
    expect(arrows()).toEqual(before);
    for (const each of [catalog, await open()]) {
      const [, found] = await read(each);
      expect(found).toEqual({
        id: 1,
        small: -4,
        title: 'n1',
        s: { a: 1, bee: 'b1' },
        l: [
          { ex: 1, y: 'y' },
          { ex: -1, y: null },
        ],
      });
      expect(await read(each, { version: 1 })).toEqual(ten);
    }
    expect((await catalog.countTableRows({ id: t, predicate: "s.bee = 'b3'" })).count).toBe(1);
    await expect(catalog.countTableRows({ id: t, predicate: "name = 'a'" })).rejects.toMatchObject({
      code: 'TableColumnNotFound',
    });
    // Names may change places in one change.
    await catalog.alterTableAlterColumns({
      id: t,
      alterations: [
        { path: 'id', rename: 'small' },
        { path: 'small', rename: 'id' },
      ],
    });
    expect((await read(catalog))[1]).toMatchObject({ id: -4, small: 1 });
  });

  test('nullability goes both ways, to required only where nothing is null', async () => {
    const { catalog } = await setUp();
    const alter = (path: string, nullable: boolean) =>
      catalog.alterTableAlterColumns({ id: t, alterations: [{ path, nullable }] });
    await expect(alter('small', false)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('4 rows'),
    });
    await catalog.deleteFromTable({ id: t, predicate: 'small IS NULL' });
    await alter('small', false);
    await alter('s.b', false);
    await expect(alter('s', false)).rejects.toMatchObject({ code: 'InvalidInput' });
    const refused = catalog.insertIntoTable({ id: t }, await data([{ ...row(1), small: null }]));
    await expect(refused).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await expect(
      catalog.updateTable({ id: t, updates: [['small', 'NULL']] }),
    ).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await alter('small', true);
    await catalog.insertIntoTable({ id: t }, await data([{ ...row(1), small: null }]));
    expect(await read(catalog)).toHaveLength(7);
  });

  test('widening writes rows anew where Lance reads them, and nowhere else', async () => {
    const widen = async (as: Schema): Promise<number> => {
      const { catalog, arrows } = await setUp([row(1)], as);
      const before = arrows().length;
      const alterations = [{ path: 'id', data_type: { type: 'int64' } }];
      await catalog.alterTableAlterColumns({ id: t, alterations });
      return arrows().length - before;
    };
    expect(await widen(schema)).toBe(1);
    const months = child('i', new IntervalYearMonth());
    expect(await widen(new Schema([...schema.fields, months]))).toBe(0);
  });

  test('widening changes no file and every predicate sees the new type', async () => {
    const { catalog, arrows } = await setUp(ten, schema, 'off');
    const before = arrows();
    await catalog.alterTableAlterColumns({
      id: t,
      alterations: [
        { path: 'small', data_type: { type: 'int64' } },
        { path: 'id', data_type: { type: 'float64' } },
        { path: 's.a', data_type: { type: 'int32' } },
        { path: 'name', data_type: { type: 'large_utf8' } },
        { path: 'l.item.x', data_type: { type: 'int64' } },
      ],
    });
    expect(arrows()).toEqual(before);
    const found = await read(catalog);
    expect(found).toEqual(
      ten.map((each) => ({
        ...each,
        small: each.small === null ? null : BigInt(each.small as number),
        l:
          (each.l as Row[] | null)?.map((item) => ({ ...item, x: BigInt(item.x as number) })) ??
          null,
      })),
    );
    const count = async (predicate: string) =>
      (await catalog.countTableRows({ id: t, predicate })).count;
    expect(await count('small = 3')).toBe(1);
    expect(await count('id BETWEEN 2.5 AND 5')).toBe(3);
    expect(await count("name = 'n4'")).toBe(1);
    expect(await count('s.a = 100000')).toBe(0);
    expect(await read(catalog, { version: 1 })).toEqual(ten);
    await catalog.restoreTable({ id: t, version: 1 });
    expect(await read(catalog)).toEqual(ten);
  });

  test.each([
    ['id', 'bool'],
    ['id', 'utf8'],
    ['name', 'binary'],
    ['s', 'int32'],
    ['l', 'list'],
  ])('%s to %s is refused, naming both types', async (path, type) => {
    const { catalog } = await setUp();
    const data_type =
      type === 'list' ? { ...typeToJson(new List(child('item', new Struct([])))) } : { type };
    await expect(
      catalog.alterTableAlterColumns({ id: t, alterations: [{ path, data_type }] }),
    ).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(/type .+ cannot become /),
    });
  });

  test('names that are taken, empty or dotted are refused; no change makes no version', async () => {
    const { catalog } = await setUp();
    for (const rename of ['name', '', 'a.b', '_rowid']) {
      await expect(
        catalog.alterTableAlterColumns({ id: t, alterations: [{ path: 'id', rename }] }),
      ).rejects.toMatchObject({ code: 'InvalidInput' });
    }
    await expect(
      catalog.alterTableAlterColumns({ id: t, alterations: [{ path: 'nope', rename: 'x' }] }),
    ).rejects.toMatchObject({ code: 'TableColumnNotFound' });
    expect(
      await catalog.alterTableAlterColumns({ id: t, alterations: [{ path: 'id', rename: 'id' }] }),
    ).toEqual({ version: 1 });
  });
});

describe('drop columns', () => {
  test('drops, nested ones too; a column of the same name later is another', async () => {
    const { catalog, arrows } = await setUp();
    const before = arrows();
    const dropped = await catalog.alterTableDropColumns({
      id: t,
      columns: ['name', 's.a', 'l.item.x'],
    });
    expect(dropped).toMatchObject({ version: 2, transaction_id: expect.any(String) });
    expect(arrows()).toEqual(before);
    expect((await read(catalog))[1]).toEqual({
      id: 1,
      small: -4,
      s: { b: 'b1' },
      l: [{ y: 'y' }, { y: null }],
    });
    await catalog.alterTableAddColumns({
      id: t,
      new_columns: [
        { name: 'name', expression: 'CAST(NULL AS TEXT)' },
        { name: 's.a', expression: 'CAST(NULL AS SMALLINT)' },
      ],
    });
    expect((await read(catalog))[1]).toMatchObject({ name: null, s: { b: 'b1', a: null } });
    expect(await read(catalog, { version: 1 })).toEqual(ten);
  });

  test('rows stay when all the columns of their fragments are gone', async () => {
    const { catalog } = await setUp();
    await catalog.alterTableAddColumns({
      id: t,
      new_columns: [{ name: 'n', expression: 'CAST(NULL AS INT)' }],
    });
    await catalog.alterTableDropColumns({ id: t, columns: ['id', 'small', 'name', 's', 'l'] });
    expect(await read(catalog)).toEqual(ten.map(() => ({ n: null })));
  });

  test('the last one stays, unknown ones are named', async () => {
    const { catalog } = await setUp();
    for (const columns of [['s.a', 's.b'], await names(catalog), ['l.item']]) {
      await expect(catalog.alterTableDropColumns({ id: t, columns })).rejects.toMatchObject({
        code: 'InvalidInput',
      });
    }
    await expect(catalog.alterTableDropColumns({ id: t, columns: ['s.z'] })).rejects.toMatchObject({
      code: 'TableColumnNotFound',
      message: expect.stringContaining('s.z'),
    });
  });
});

test('metadata of fields is merged, replaced, removed', async () => {
  const { catalog } = await setUp();
  const update = (path: string, metadata: Record<string, string | null>, replace?: boolean) =>
    catalog.updateFieldMetadata({
      id: t,
      updates: [{ path, metadata, ...(replace === undefined ? {} : { replace }) }],
    });
  expect(await update('s.a', { x: '1', y: '2' })).toMatchObject({
    version: 2,
    fields: { 's.a': { x: '1', y: '2' } },
  });
  expect((await update('s.a', { x: null, z: '3' })).fields).toEqual({ 's.a': { y: '2', z: '3' } });
  expect((await update('s.a', { w: '4' }, true)).fields).toEqual({ 's.a': { w: '4' } });
  const described = await catalog.describeTable({ id: t, load_detailed_metadata: true });
  expect(described.schema?.fields[3]?.type.fields?.[0]?.metadata).toEqual({ w: '4' });
  const odd = ['__proto__'];
  await catalog.createTable(
    { id: odd },
    (await toRecordBatchStream([JSON.parse('{"__proto__":1}')])) as never,
  );
  const answer = await catalog.updateFieldMetadata({
    id: odd,
    updates: [{ path: '__proto__', metadata: { unit: 'm' } }],
  });
  expect(Object.entries(answer.fields ?? {})).toEqual([['__proto__', { unit: 'm' }]]);
  await expect(update('nope', {})).rejects.toMatchObject({ code: 'TableColumnNotFound' });
  expect(await read(catalog)).toEqual(ten);
});

test('columns change while others write', async () => {
  const { catalog, open } = await setUp();
  const other = await open();
  const writing = (async () => {
    for (let id = 20; id < 30; id++) await other.insertIntoTable({ id: t }, await data([row(id)]));
  })();
  await catalog.alterTableAddColumns({ id: t, new_columns: [{ name: 'n', expression: 'id + 1' }] });
  await catalog.alterTableAlterColumns({
    id: t,
    alterations: [{ path: 'small', data_type: { type: 'int32' } }],
  });
  await writing;
  const found = await read(catalog);
  expect(found).toHaveLength(20);
  for (const { id, n } of found)
    if (n !== null || Number(id) < 10) expect(Number(n)).toBe(Number(id) + 1);
});

describe('widening', () => {
  const TYPES: DataType[] = [
    new Null(),
    new Int8(),
    new Int16(),
    new Int32(),
    new Int64(),
    new Uint8(),
    new Uint16(),
    new Uint32(),
    new Uint64(),
    new Float16(),
    new Float32(),
    new Float64(),
    new DateDay(),
    new DateMillisecond(),
    new TimestampSecond(),
    new TimestampMillisecond(),
    new TimestampNanosecond(),
    new TimeSecond(),
    new TimeMicrosecond(),
    new Decimal(2, 10, 128),
    new Decimal(2, 20, 128),
    new Decimal(3, 20, 128),
    new Utf8(),
    new LargeUtf8(),
    new List(child('item', new Int8())),
    new LargeList(child('item', new Int32())),
    new Struct([child('a', new Int8())]),
    new Struct([child('a', new Int64())]),
    new Dictionary(new Utf8(), new Int8()),
  ];

  test('is transitive, so that what was widened twice is read at once', () => {
    for (const a of TYPES)
      for (const b of TYPES)
        for (const c of TYPES)
          if (canWiden(a, b) && canWiden(b, c)) expect(canWiden(a, c), `${a} ${b} ${c}`).toBe(true);
  });

  const NUMBERS: [DataType, (bits: number) => number][] = [
    [new Int8(), (bits) => (bits << 24) >> 24],
    [new Uint8(), (bits) => bits & 0xff],
    [new Int16(), (bits) => (bits << 16) >> 16],
    [new Uint16(), (bits) => bits & 0xffff],
    [new Int32(), (bits) => bits | 0],
    [new Uint32(), (bits) => bits >>> 0],
    [new Float32(), (bits) => Math.fround(bits / 3)],
  ];
  test('keeps every number and every null', () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer(), { freq: 4 }), { maxLength: 20 }),
        fc.nat(5),
        (bits, from) => {
          for (const [type, cut] of NUMBERS) {
            const values = bits.map((each) => (each === null ? null : cut(each)));
            const column = vectorFromArray(values, type).slice(Math.min(from, values.length));
            const expected = Array.from(column, (value) => (value === null ? null : Number(value)));
            for (const to of TYPES) {
              const widen = wideningOf(type, to);
              if (widen === undefined || column.data[0] === undefined) continue;
              const wide = new Vector([widen(column.data[0])]);
              expect(
                Array.from(wide, (value) => (value === null ? null : Number(value))),
                `${type} ${to}`,
              ).toEqual(expected);
            }
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('a column whose nulls would take too much of each row is refused', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ id: 1 }]);
  const vectors = (length: number): Schema =>
    new Schema([child('v', new FixedSizeList(length, child('item', new Float32())))]);
  // Four bytes and the validity of each item.
  for (const length of [2 ** 31 - 1, 3_355_444])
    await expect(table.addColumns(vectors(length))).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringMatching(/^A column "v" of type .* bytes in each row, also where/),
    });
  await table.addColumns(vectors(3_355_443));
  expect(await table.countRows('v IS NULL')).toBe(1);
});

test('the SDK changes tables end to end', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ]);
  const rows = async () => table.query().toArray();
  expect(await table.update({ where: 'id = 2', values: { name: "it's" } })).toMatchObject({
    rowsUpdated: 1,
    version: 2,
  });
  const merged = await table
    .mergeInsert('id')
    .whenMatchedUpdateAll({ where: "target.name = 'a'" })
    .whenNotMatchedInsertAll()
    .execute([
      { id: 1, name: 'A' },
      { id: 3, name: 'c' },
    ]);
  expect(merged).toMatchObject({ numUpdatedRows: 1, numInsertedRows: 1, numDeletedRows: 0 });
  await table.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  await table.addColumns(new Field('v', new FixedSizeList(2, child('item', new Float32())), true));
  await table.alterColumns([{ path: 'name', rename: 'title', dataType: 'large_utf8' }]);
  await table.dropColumns(['id']);
  expect((await rows()).sort((a, b) => Number(a.twice) - Number(b.twice))).toEqual([
    { title: 'A', twice: 2, v: null },
    { title: "it's", twice: 4, v: null },
    { title: 'c', twice: 6, v: null },
  ]);
  expect(await table.update({ values: { v: [1, 2] } })).toMatchObject({ rowsUpdated: 3 });
  await table.updateFieldMetadata([{ path: 'v', metadata: { unit: 'm' } }]);
  expect((await table.schema()).fields[2]?.metadata.get('unit')).toBe('m');
  await db.close();
});
