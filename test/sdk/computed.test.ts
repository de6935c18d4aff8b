/** Computed columns and functions of the program through the SDK: what is declared, and what is refused. */
import { afterEach, expect, test } from 'vitest';
import {
  Binary,
  Field,
  Float64,
  Int64,
  List,
  Schema,
  tableFromArrays,
  Utf8,
} from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import { registerFunction } from '../../src/sdk/functions.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { memoryFs } from '../helpers/catalogs.ts';

async function setUp(valueSql = 'x * 2'): Promise<Table> {
  const db = await connect('/c', { fs: memoryFs() });
  const rows = [
    { k: 'a', x: 1 },
    { k: 'b', x: 2 },
    { k: 'c', x: null },
  ];
  const table = await db.createTable('t', rows);
  await table.addColumns({ computed: [{ name: 'y', valueSql }] });
  return table;
}

const ends: (() => void)[] = [];
const register = (...given: Parameters<typeof registerFunction>): void => {
  ends.push(registerFunction(...given));
};
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

test('is null until it is refreshed, and null again where its input changes', async () => {
  const table = await setUp();
  const values = async () => (await table.query().select(['y']).toArray()).map(({ y }) => y);
  expect(await values()).toEqual([null, null, null]);
  expect(await table.refreshColumn('y')).toMatchObject({ rowsFilled: 2, version: 3 });
  expect(await values()).toEqual([2, 4, null]);
  await table.update({ where: "k = 'b'", values: { x: 5 } });
  expect(await values()).toEqual([2, null, null]);
  await table.update({ where: "k = 'a'", values: { k: 'aa' } });
  expect((await values()).sort()).toEqual([2, null, null]);
  await table.update({ valuesSql: { y: ' null' }, where: "k = 'aa'" });
  expect(await values()).toEqual([null, null, null]);
  await table.refreshColumn('y');
  await table.update({ valuesSql: { x: 'x + 1', y: 'NULL' }, where: "k = 'b'" });
  expect((await values()).sort()).toEqual([2, null, null]);
  const [field] = (await table.schema()).fields.slice(-1);
  expect(Object.fromEntries(field?.metadata ?? [])).toEqual({
    computed_column: 'true',
    'computed_column.expression': 'x * 2',
    'computed_column.inputs': '["x"]',
    'computed_column.kind': 'sql',
  });
});

test.each([
  ['add', (table: Table) => table.add([{ k: 'd', x: 1, y: 1 }])],
  ['update', (table: Table) => table.update({ values: { y: 1 } })],
  [
    'merge',
    (table: Table) =>
      table
        .mergeInsert('k')
        .whenMatchedUpdateAll()
        .execute([{ k: 'a', y: 1 }]),
  ],
  ['rename an input', (table: Table) => table.alterColumns([{ path: 'x', rename: 'z' }])],
  ['drop an input', (table: Table) => table.dropColumns(['x'])],
  ['retype', (table: Table) => table.alterColumns([{ path: 'y', dataType: 'int64' }])],
  ['require', (table: Table) => table.alterColumns([{ path: 'y', nullable: false }])],
  [
    'change how it is computed',
    (table: Table) =>
      table.updateFieldMetadata([{ path: 'y', metadata: { 'computed_column.expression': '1' } }]),
  ],
  [
    'compute it from another',
    (table: Table) => table.addColumns({ computed: [{ name: 'z', valueSql: 'y + 1' }] }),
  ],
  [
    'compute it from ids of rows',
    (table: Table) => table.addColumns({ computed: [{ name: 'z', valueSql: '_rowid + 1' }] }),
  ],
  [
    'compute nothing',
    (table: Table) => table.addColumns({ computed: [{ name: 'z', valueSql: 'NULL' }] }),
  ],
  [
    'bring metadata along',
    (table: Table) =>
      table.addColumns(new Field('z', new Int64(), true, new Map([['computed_column', 'true']]))),
  ],
])('refuses to %s', async (_, change) => {
  const table = await setUp();
  await table.refreshColumn('y');
  await expect(change(table)).rejects.toMatchObject({ code: 'InvalidInput' });
  expect(await table.version()).toBe(3);
});

test('takes null for it, a new name, other metadata, and leaving with its input', async () => {
  const table = await setUp();
  await table.add([{ k: 'd', x: 4, y: null }]);
  await table
    .mergeInsert('k')
    .whenMatchedUpdateAll()
    .execute([{ k: 'a', x: 9, y: null }]);
  await table.alterColumns([{ path: 'y', rename: 'double' }]);
  await table.updateFieldMetadata([{ path: 'double', metadata: { unit: 'm' }, replace: true }]);
  expect(await table.refreshColumn('double')).toMatchObject({ rowsFilled: 3 });
  const [field] = (await table.schema()).fields.slice(-1);
  expect(field?.metadata.get('unit')).toBe('m');
  await table.dropColumns(['x', 'double']);
  expect((await table.schema()).fields.map(({ name }) => name)).toEqual(['k']);
});

test('the condition of a merge may name it among the values that came, where it is null', async () => {
  const table = await setUp();
  await table.refreshColumn('y');
  const merge = (where: string) =>
    table
      .mergeInsert('k')
      .whenMatchedUpdateAll({ where })
      .execute([{ k: 'a', x: 9, y: null }]);
  expect((await merge('source.y IS NOT NULL')).numUpdatedRows).toBe(0);
  expect((await merge('source.y IS NULL AND target.y = 2')).numUpdatedRows).toBe(1);
});

const declared = (entries: Record<string, string> = {}, type = new Float64(), nullable = true) => {
  const metadata = { computed_column: 'true', 'computed_column.expression': 'x * 2' };
  const all = { ...metadata, 'computed_column.inputs': '["x"]', ...entries };
  return new Schema([
    new Field('x', new Float64(), true),
    new Field('y', type, nullable, new Map(Object.entries(all))),
  ]);
};

test('a schema that is given may declare it', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ x: 3 }], { schema: declared() });
  expect(await table.refreshColumn('y')).toMatchObject({ rowsFilled: 1 });
  await table.add([{ x: 4 }], { mode: 'overwrite' });
  await table.refreshColumn('y');
  expect(await table.query().toArray()).toEqual([{ x: 4, y: 8 }]);
  await expect(db.createTable('copy', await table.toArrow())).rejects.toThrow(/cannot be written/);
  const rows = [{ x: 1, y: 7 }];
  await expect(table.add(rows, { mode: 'overwrite' })).rejects.toThrow(/cannot be written/);
  expect(await db.tableNames()).toEqual(['t']);
});

test.each([
  ['another type', declared({}, new Int64() as never), /gives float64/],
  ['not null', declared({}, new Float64(), false), /nullable/],
  ['other inputs', declared({ 'computed_column.inputs': '["y"]' }), /computed_column.inputs/],
  ['a column of no table', declared({ 'computed_column.expression': 'nope' }), /nope/],
  ['itself', declared({ 'computed_column.expression': 'y' }), /computed column itself/],
])('a schema is refused that declares %s', async (_, schema, message) => {
  const db = await connect('/c', { fs: memoryFs() });
  await expect(db.createTable('t', [], { schema })).rejects.toThrow(message);
});

test('a function of the program fills, filters and selects', async () => {
  register('half', (x: number) => x / 2, { args: ['double'], returns: 'double' });
  const table = await setUp('HALF(x) + 1');
  expect(await table.refreshColumn('y')).toMatchObject({ rowsFilled: 2 });
  const rows = table.query().where('half(x) >= 1').select({ h: 'half(x)', y: 'y' });
  expect(await rows.toArray()).toEqual([{ h: 1, y: 2 }]);
  expect(await table.countRows('half(NULL) IS NULL')).toBe(3);
});

test('types: what comes and what is answered', async () => {
  const seen: unknown[] = [];
  const keep = (value: unknown): unknown => {
    seen.push(value);
    return value;
  };
  const ascii = (text: string): Uint8Array => Buffer.from(text);
  register('keep_long', keep as never, { args: ['int64'], returns: new Int64() });
  register('ascii_of', ascii, { args: [new Utf8()], returns: 'binary' });
  register('is_long', (x: bigint) => x > 1n, { args: ['int64'], returns: 'bool' });
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', [{ n: 1n, s: 'ab' }]);
  const columns = { n: 'keep_long(n)', b: 'ascii_of(s)', l: 'is_long(n)', c: 'keep_long(7)' };
  const [row] = await table.query().select(columns).toArray();
  expect(row).toEqual({ n: 1n, b: new Uint8Array([97, 98]), l: false, c: 7n });
  expect(seen).toEqual(expect.arrayContaining([1n, 7n]));
});

test.each([
  ['text for a number', () => 'x'],
  ['a fraction for a whole number', () => 1.5],
  ['more than fits', () => 2 ** 40],
  ['a promise', async () => 1],
  [
    'an error',
    () => {
      throw new Error('broken');
    },
  ],
])('a function that answers %s is refused by name', async (_, call) => {
  register('odd_one', call, { args: ['double'], returns: 'int32' });
  const table = await setUp('odd_one(x)');
  const filled = table.refreshColumn('y');
  await expect(filled).rejects.toMatchObject({ code: 'InvalidInput' });
  await expect(filled).rejects.toThrow(/odd_one/);
  expect(await table.version()).toBe(2);
});

test('once it has ended it is not known, to what was compiled before either', async () => {
  const end = registerFunction('gone', (x: number) => x, { args: ['double'], returns: 'double' });
  const table = await setUp('gone(x)');
  expect(await table.countRows('gone(x) > 0')).toBe(2);
  end();
  end();
  await expect(table.countRows('gone(x) > 0')).rejects.toThrow(/gone is not known/);
  await expect(table.refreshColumn('y')).rejects.toThrow(/gone is not known/);
  register('gone', (x: number) => -x, { args: ['double'], returns: 'double' });
  expect(await table.countRows('gone(x) > 0')).toBe(0);
});

const double = { args: ['double'], returns: 'double' };
test.each([
  ['a word of SQL', 'case', double],
  ['no name', 'a b', double],
  ['a function of SQL', 'lower', double],
  ['a form of SQL', 'coalesce', double],
  ['an alias', 'len', double],
  ['an aggregate', 'sum', double],
  ['a window function', 'Row_Number', double],
  ['the time of a statement', 'now', { ...double, args: [] }],
  ['the day of a statement', 'Today', { ...double, args: [] }],
  ['a word of SQL without parentheses', 'current_date', { ...double, args: [] }],
  ['a type without plain values', 'f1', { args: ['timestamp:us:-'], returns: 'double' }],
  ['a type without its unit', 'f1', { args: ['timestamp'], returns: 'double' }],
  ['no types', 'f1', {} as never],
  ['an option that there is not', 'f1', { ...double, volatile: true }],
])('registerFunction refuses %s', (_, name, signature) => {
  const call = (): void => ends.push(registerFunction(name, (x: number) => x, signature)) as never;
  expect(call).toThrow(expect.objectContaining({ code: 'InvalidInput' }));
});

test('a name is taken once, and wrong arguments are named', async () => {
  register('once', (x: number) => x, double);
  expect(() => registerFunction('ONCE', (x: number) => x, double)).toThrow(/registered already/);
  const table = await setUp();
  await expect(table.countRows('once(k) > 0')).rejects.toThrow(/once takes float64 here/);
  await expect(table.countRows('once(x, x) > 0')).rejects.toThrow(/once takes 1 argument/);
  await expect(table.countRows('onec(x) > 0')).rejects.toThrow(/did you mean once/);
});

test('slow calls let others go on in between', async () => {
  let [calls, most] = [0, 0];
  let isOver = false;
  const tick = (): void => {
    most = Math.max(most, calls);
    calls = 0;
    if (!isOver) setImmediate(tick);
  };
  const slow = (x: number): number => {
    calls++;
    const end = performance.now() + 2;
    while (performance.now() < end);
    return x;
  };
  register('slow', slow, double);
  const db = await connect('/c', { fs: memoryFs() });
  const table = await db.createTable('t', tableFromArrays({ x: new Float64Array(60) }));
  setImmediate(tick);
  expect(await table.countRows('slow(x) >= 0')).toBe(60);
  isOver = true;
  expect(most).toBeLessThan(20);
});

test('a function that changes its arguments changes nothing of the table or the text', async () => {
  const change = (list: unknown[], first: number): number => {
    for (const part of list) if (part instanceof Uint8Array) part.fill(0);
    return list.reverse().length + first;
  };
  register('changing', change as never, {
    args: [new List(new Field('item', new Binary(), true)), 'double'],
    returns: 'double',
  });
  const db = await connect('/c', { fs: memoryFs() });
  const bytes = [Buffer.from('ab'), Buffer.from('cd')];
  const table = await db.createTable('t', [
    { b: bytes, x: 1 },
    { b: bytes, x: 2 },
  ]);
  const query = table.query().select({ n: 'changing(b, x)', b: 'b' });
  for (let round = 0; round < 2; round++) {
    const rows = (await query.toArray()) as { n: number; b: Uint8Array[] }[];
    expect(
      rows.map(({ n, b }) => [n, ...Array.from(b, (part) => String(Buffer.from(part)))]),
    ).toEqual([
      [3, 'ab', 'cd'],
      [4, 'ab', 'cd'],
    ]);
  }
});
