/** Columns that are added as `arrow_cast(NULL, TYPE)` or with a cast vector have the type named. */
import { expect, test } from 'vitest';
import { describeType } from '../../src/arrow/index.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Table } from '../../src/sdk/table/index.ts';
import { memoryFs } from '../helpers/catalogs.ts';

async function opened(): Promise<Table> {
  const db = await connect('/catalog', { fs: memoryFs() });
  return db.createTable('t', [{ id: 1, vector: [1, 2.5] }]);
}

async function added(table: Table, valueSql: string): Promise<[string, unknown]> {
  await table.addColumns([{ name: 'x', valueSql }]);
  const field = (await table.schema()).fields.find(({ name }) => name === 'x');
  const [row] = await table.query().toArray();
  await table.dropColumns(['x']);
  return [describeType(field?.type as never), row.x];
}

test.each([
  ['FixedSizeList(768, Float16)', 'fixed_size_list<float16>[768]'],
  ['FixedSizeList(2,Float32)', 'fixed_size_list<float32>[2]'],
  ['List(Utf8)', 'list<utf8>'],
  ['List(FixedSizeList(2, Float32))', 'list<fixed_size_list<float32>[2]>'],
  ['List(Decimal128(5, 2))', 'list<decimal128(5, 2)>'],
  ['LargeUtf8', 'large_utf8'],
  ['LargeBinary', 'large_binary'],
  ['Time32(Second)', 'time32(s)'],
  ['Time64(Nanosecond)', 'time64(ns)'],
  ['Duration(Millisecond)', 'duration(ms)'],
])('a column of nulls is %s', async (name, type) => {
  expect(await added(await opened(), `arrow_cast(NULL, '${name}')`)).toEqual([type, null]);
});

test('a vector becomes one of other numbers, or a list, but none of another length', async () => {
  const table = await opened();
  const cast = (type: string): Promise<unknown> => added(table, `arrow_cast(vector, '${type}')`);
  const type = 'fixed_size_list<float16>[2]';
  expect(await cast('FixedSizeList(2, Float16)')).toEqual([type, [1, 2.5]]);
  expect(await cast('List(Float64)')).toEqual(['list<float64>', [1, 2.5]]);
  await expect(cast('FixedSizeList(3, Float32)')).rejects.toThrow(/does not fit/);
  await expect(cast('FixedSizeList(999999999, Float32)')).rejects.toThrow('at most 65536 items');
  await expect(cast('FixedSizeBinary(999999999)')).rejects.toThrow('at most 65536 bytes');
  await expect(cast('FixedSizeList(3, Float64)')).rejects.toThrow(/does not fit/);
});

test.each(['FixedSizeList(0, Float32)', 'FixedSizeList(2)', 'List()', 'Time32(Nanosecond)'])(
  '%s is refused',
  async (name) => {
    const call = added(await opened(), `arrow_cast(NULL, '${name}')`);
    await expect(call).rejects.toThrow(/The type .* is not known/);
  },
);

test('lists in lists have a limit', async () => {
  const name = `${'List('.repeat(1_000)}Int32${')'.repeat(1_000)}`;
  const call = added(await opened(), `arrow_cast(NULL, '${name}')`);
  await expect(call).rejects.toThrow('at most 32 lists');
});
