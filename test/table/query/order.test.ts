/** Ordered reads, and columns whose names the grammar of SQL would cut. */
import { describe, expect, test } from 'vitest';
import {
  Decimal,
  Field,
  Float16,
  Float32,
  Float64,
  Int32,
  Schema,
  Struct,
} from '../../../src/arrow/apache.ts';
import { connect } from '../../../src/sdk/connect.ts';
import type { ColumnOrdering } from '../../../src/sdk/query/query.ts';
import { temporaryFolder } from '../../helpers/temporary.ts';

const nested = new Struct([new Field('a', new Int32(), true), new Field('in', new Int32(), true)]);
const schema = new Schema([
  new Field('id', new Int32(), true),
  new Field('st', nested, true),
  new Field('st.in', new Int32(), true),
  new Field('dec', new Decimal(2, 20, 128), true),
]);
const rows = [
  { id: 0, st: { a: 3, in: 0 }, 'st.in': 2, dec: '1.50' },
  { id: 1, st: null, 'st.in': 1, dec: null },
  { id: 2, st: { a: 1, in: 5 }, 'st.in': 3, dec: '-99999999999999.99' },
  { id: 3, st: { a: null, in: 9 }, 'st.in': 0, dec: '0.75' },
];

async function made() {
  const connection = await connect(temporaryFolder(), { durability: 'relaxed' });
  return connection.createTable('t', rows, undefined, { schema });
}

test.each<[ColumnOrdering, number[]]>([
  [{ columnName: 'st.a' }, [2, 0, 1, 3]],
  [{ columnName: 'ST.A', ascending: false, nullsFirst: true }, [1, 3, 0, 2]],
  // A column of that very name comes before the nested one.
  [{ columnName: 'st.in' }, [3, 1, 0, 2]],
  [{ columnName: 'dec' }, [2, 3, 0, 1]],
  [{ columnName: 'dec', ascending: false, nullsFirst: true }, [1, 0, 3, 2]],
  [{ columnName: '_rowid', ascending: false }, [3, 2, 1, 0]],
])('ordered by %o', async (ordering, ids) => {
  const found = await (await made()).query().orderBy(ordering).select(['id']).toArray();
  expect(found.map(({ id }) => id)).toEqual(ids);
});

test('bytes have an order, structs have none, be there rows or not', async () => {
  const connection = await connect(temporaryFolder(), { durability: 'relaxed' });
  const bytes = [Uint8Array.of(2), Uint8Array.of(), Uint8Array.of(1, 0), Uint8Array.of(1)];
  const table = await connection.createTable(
    'b',
    bytes.map((at, id) => ({ id, at })),
  );
  const found = await table.query().orderBy({ columnName: 'at' }).select(['id']).toArray();
  expect(found.map(({ id }) => id)).toEqual([1, 3, 2, 0]);
  const empty = await connection.createTable('e', [], undefined, { schema });
  const query = empty.query().orderBy({ columnName: 'st' });
  await expect(query.toArray()).rejects.toMatchObject({ code: 'InvalidInput' });
  const unknown = empty.query().orderBy({ columnName: 'st.b' });
  await expect(unknown.toArray()).rejects.toMatchObject({ code: 'TableColumnNotFound' });
});

test('names of more than 63 bytes can be asked for', async () => {
  const connection = await connect(temporaryFolder(), { durability: 'relaxed' });
  const [one, two, wide] = [`${'x'.repeat(63)}A`, `${'x'.repeat(63)}B`, 'ü'.repeat(40)];
  const table = await connection.createTable('n', [
    { [one]: 1, [two]: 2, [wide]: 3, st: { [wide]: 4 } },
    { [one]: 9, [two]: 9, [wide]: 9, st: { [wide]: 9 } },
  ]);
  for (const filter of [`${one} = 1`, `"${two}" = 2`, `\`${wide}\` = 3`, `st.${wide} < 5`]) {
    expect(await table.countRows(filter), filter).toBe(1);
  }
});

/** Values out of order, so that one NaN that is equal to its neighbours leaves them unsorted. */
const NUMBERS = [3, NaN, -Infinity, 1, NaN, Infinity, -0, 2, NaN, -5, 0.5, NaN, 0, 4];
const RISING = [-Infinity, -5, -0, 0, 0.5, 1, 2, 3, 4, Infinity, NaN, NaN, NaN, NaN];

describe.each([
  ['float64', new Float64()],
  ['float32', new Float32()],
  ['float16', new Float16()],
] as const)('NaN of %s comes after every other number', (_, type) => {
  const ordered = async (values: readonly (number | null)[], ordering: object) => {
    const connection = await connect(temporaryFolder(), { durability: 'relaxed' });
    const floats = new Schema([new Field('id', new Int32()), new Field('x', type, true)]);
    const data = values.map((x, id) => ({ id, x }));
    const table = await connection.createTable('f', data, undefined, { schema: floats });
    const found = await table
      .query()
      .orderBy({ columnName: 'x', ...ordering })
      .toArray();
    return { xs: found.map(({ x }) => x), ids: found.map(({ id }) => id as number) };
  };

  test('rising, falling, and in the order of the rows among themselves', async () => {
    const rising = await ordered(NUMBERS, {});
    expect(rising.xs).toEqual(RISING);
    expect(rising.ids.slice(-4)).toEqual([1, 4, 8, 11]);
    const falling = await ordered(NUMBERS, { ascending: false });
    // Zeros are equal, so that they stay as they came.
    expect(falling.xs).toEqual([...RISING].reverse().map((x) => (x === 0 ? expect.closeTo(0) : x)));
    expect(falling.ids.slice(0, 4)).toEqual([1, 4, 8, 11]);
    expect(falling.ids.filter((id) => NUMBERS[id] === 0)).toEqual([6, 12]);
  });

  test('beside nulls, wherever these are asked for', async () => {
    const values = [null, ...NUMBERS, null];
    const last = await ordered(values, { nullsFirst: false });
    expect(last.xs).toEqual([...RISING, null, null]);
    const first = await ordered(values, { nullsFirst: true, ascending: false });
    expect(first.xs.slice(0, 7)).toEqual([null, null, NaN, NaN, NaN, NaN, Infinity]);
  });
});

test('rows whose first key is NaN are ordered by the second', async () => {
  const connection = await connect(temporaryFolder(), { durability: 'relaxed' });
  const table = await connection.createTable('t', [
    { x: NaN, y: 3 },
    { x: 1, y: 9 },
    { x: NaN, y: 1 },
    { x: NaN, y: 2 },
    { x: 1, y: 8 },
  ]);
  const keys = [{ columnName: 'x' }, { columnName: 'y' }];
  const found = await table.query().orderBy(keys).select(['y']).toArray();
  expect(found.map(({ y }) => y)).toEqual([8, 9, 1, 2, 3]);
});
