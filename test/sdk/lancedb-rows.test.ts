/** Rows, schemas and messages behave as programs written for LanceDB's SDK expect. */
import assert from 'node:assert';
import { expect, test, vi } from 'vitest';
import {
  type DataType,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Schema,
} from '../../src/arrow/apache.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { memoryFs } from '../helpers/catalogs.ts';

async function opened(): Promise<Connection> {
  return connect('/catalog', { fs: memoryFs() });
}

test('rows and structs in them become JSON with arrays for vectors', async () => {
  const db = await opened();
  const table = await db.createTable('t', [
    { id: 1, vector: [1, 2], at: { point: new Float32Array([3, 4]), toJSON: 5 } },
  ]);
  const [row] = await table.query().toArray();
  expect(row.vector).toBeInstanceOf(Float32Array);
  const plain = { id: 1, vector: [1, 2], at: { point: [3, 4], toJSON: 5 } };
  expect(JSON.parse(JSON.stringify(row))).toEqual(plain);
  expect(row.toJSON()).toEqual(plain);
  expect(Object.keys(row)).toEqual(['id', 'vector', 'at']);
  expect(structuredClone(row)).toEqual(row);
  expect({ ...row }).not.toHaveProperty('toJSON');
});

test('vectors in rows have the methods of Arrow vectors and are plain typed arrays else', async () => {
  const db = await opened();
  const table = await db.createTable('t', [
    { vector: [1, 2], several: [new Float32Array([3, 4])], bits: new Uint8Array([5, 6]) },
  ]);
  const [row] = await table.query().toArray();
  const { vector } = row;
  expect(JSON.stringify([vector, row.several])).toBe('[[1,2],[[3,4]]]');
  expect(Array.from(vector.toArray())).toEqual([1, 2]);
  expect(vector.toArray().toArray).toBeUndefined();
  vector.toArray()[0] = 9;
  expect([vector.get(0), vector.get(1), vector.get(2)]).toEqual([1, 2, null]);
  expect(vector).toStrictEqual(new Float32Array([1, 2]));
  expect(vector.constructor).toBe(Float32Array);
  expect(vector.map((item: number) => 2 * item)).toStrictEqual(new Float32Array([2, 4]));
  expect(Object.keys(vector)).toEqual(['0', '1']);
  await table.add([row]);
  const rows = await table.query().toArray();
  expect(rows[1].vector).toEqual(vector);
  expect((await table.vectorSearch(vector).column('vector').limit(1).toArray())[0]._distance).toBe(
    0,
  );
});

test('vectors of float16, and those with a null inside, are plain arrays', async () => {
  const db = await opened();
  const vector = (item: DataType): FixedSizeList =>
    new FixedSizeList(2, new Field('item', item, true));
  const schema = new Schema([
    new Field('half', vector(new Float16())),
    new Field('single', vector(new Float32()), true),
  ]);
  const data = [
    { half: [1, 2], single: [1, null] },
    { half: [3, 4], single: [3, 4] },
  ];
  const table = await db.createTable('t', data, { schema });
  const rows = await table.query().toArray();
  expect(rows.map(({ half }) => half)).toStrictEqual([
    [1, 2],
    [3, 4],
  ]);
  expect(rows[0].single).toStrictEqual([1, null]);
  const { single } = rows[1];
  assert.deepEqual(single, new Float32Array([3, 4]));
  assert.deepStrictEqual(single.toJSON(), [3, 4]);
  assert.deepStrictEqual(Array.from(single), [3, 4]);
});

test('a branch of main has no parent branch, one of another names it', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1 }]);
  const branches = await table.branches();
  const x = await branches.create('x');
  await (await x.branches()).create('y', 'x');
  expect(await branches.list()).toMatchObject({
    x: { parentBranch: null, parentVersion: 1 },
    y: { parentBranch: 'x', parentVersion: 1 },
  });
});

test('types of a schema may be names, of any case, beside types', async () => {
  const db = await opened();
  const { Float32 } = await import('../../src/arrow/apache.ts');
  const fields = [
    { name: 'id', type: 'int64', nullable: false },
    { name: 'name', type: 'Utf8', nullable: true, metadata: new Map([['k', 'v']]) },
    { name: 'day', type: 'DateDay', nullable: true },
    { name: 'at', type: 'timestamp:us:UTC', nullable: true },
    { name: 'half', type: new Float32(), nullable: true },
    {
      name: 'list',
      type: { type: 'list', fields: [{ name: 'item', type: { type: 'int8' }, nullable: true }] },
      nullable: true,
    },
  ];
  const schema = { fields, metadata: new Map([['a', 'b']]), names: fields.map(({ name }) => name) };
  const table = await db.createEmptyTable('t', schema);
  const made = await table.schema();
  expect(made.fields.map(String)).toEqual([
    'id: Int64',
    'name: Utf8',
    'day: Date32<DAY>',
    'at: Timestamp<MICROSECOND, UTC>',
    'half: Float32',
    'list: List<Int8>',
  ]);
  expect([made.fields[0]?.nullable, made.fields[1]?.metadata.get('k')]).toEqual([false, 'v']);
  expect(made.metadata.get('a')).toBe('b');
  await expect(
    db.createEmptyTable('u', { fields: [{ name: 'id', type: 'int65' }] }),
  ).rejects.toThrow(/fields\[0\].*int65/);
});

test('a progress function that throws warns once, and the rows are added', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1 }]);
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  try {
    const progress = (): void => {
      throw new Error('boom');
    };
    await table.add([{ id: 2 }], { progress });
    expect(warn.mock.calls).toEqual([
      [expect.stringContaining('boom'), { type: 'DirspaceWarning', code: 'DIRSPACE_PROGRESS' }],
    ]);
  } finally {
    warn.mockRestore();
  }
  expect(await table.countRows()).toBe(2);
});

test('a merge tells how many rows it wrote, in how many attempts', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1 }, { id: 2 }, { id: 3 }]);
  const merge = table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll();
  const done = await merge.whenNotMatchedBySourceDelete().execute([{ id: 1 }, { id: 9 }]);
  expect(done).toMatchObject({ numAttempts: 1, numRows: 2, numDeletedRows: 2 });
});

test('analyzePlan takes the name of its metrics, as LanceDB has it', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1, vector: [1, 2] }]);
  for (const query of [table.query(), table.search([1, 2]), table.takeOffsets([0])]) {
    expect(await query.analyzePlan('aggregate')).toEqual(expect.any(String));
    await expect(query.analyzePlan('none' as never)).rejects.toThrow('"none"');
  }
});

test('messages have the words that programs look for', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ id: 1 }]);
  const [tags, branches] = [await table.tags(), await table.branches()];
  await tags.create('v', 1);
  await branches.create('b');
  await expect(db.openTable('no')).rejects.toThrow('The table no was not found');
  await expect(db.openTable('no', ['ns'])).rejects.toThrow(/was not found, nor was the namespace/);
  await expect(db.dropTable('no')).rejects.toThrow('was not found');
  await expect(db.describeNamespace(['no'])).rejects.toThrow('The namespace no was not found');
  await expect(table.checkout(9)).rejects.toThrow('was not found');
  await expect(db.createTable('t', [{ id: 1 }])).rejects.toThrow('already exists');
  await expect(db.renameTable('t', 't')).rejects.toThrow('already exists');
  await expect(tags.create('v', 1)).rejects.toThrow('already exists');
  await expect(branches.create('b')).rejects.toThrow('already exists');
  await db.createNamespace(['ns']);
  await expect(db.createNamespace(['ns'])).rejects.toThrow('already exists');
  expect(() => table.takeRowIds([1.5])).toThrow('Row id must be an integer (or bigint)');
  for (const id of [-1, -1n]) {
    expect(() => table.takeRowIds([id])).toThrow('Row id cannot be negative');
  }
  expect(() => table.takeRowIds([2 ** 53])).toThrow('Row id is too large for number; use bigint');
  expect(() => table.takeRowIds([1n << 64n])).toThrow(
    'Row id is too large: it has at most 64 bits',
  );
  await expect(table.search('a', 'vector').toArray()).rejects.toThrow(
    'No embedding functions are defined in the table',
  );
  await expect(table.tokenize('a', {} as never)).rejects.toThrow('Specify exactly one');
  await expect(branches.create('')).rejects.toThrow('non-empty');
  await expect(connectNamespace('', {})).rejects.toThrow('implName must be a non-empty string');
  await table.checkout(1);
  await expect(table.add([{ id: 2 }])).rejects.toThrow(
    'table cannot be modified when a specific version is checked out',
  );
  table.close();
  await expect(table.countRows()).rejects.toThrow('Table t is closed');
  await db.close();
  await expect(db.tableNames()).rejects.toThrow('Connection is closed');
});

test('whole floats become integers of a shorter type, -0 among them as 0', async () => {
  const db = await opened();
  const table = await db.createTable('t', [{ x: -0 }, { x: 7 }]);
  await table.alterColumns([{ path: 'x', dataType: 'int8' }]);
  const rows = await table.query().toArray<{ x: number }>();
  expect(rows.map(({ x }) => Object.is(x, 0) || x)).toEqual([true, 7]);
});
