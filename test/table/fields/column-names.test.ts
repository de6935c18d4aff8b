/** Columns are asked for by name: no table has two of one name, however its data came. */
import { expect, test } from 'vitest';
import { Field, Float64, Int32, List, Schema, Struct } from '../../../src/arrow/apache.ts';
import { nullColumn, recordBatch } from '../../../src/arrow/arrow-data.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { encodeIpcStream } from '../../../src/ipc/encode/ipc-stream.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { people } from '../../helpers/people.ts';

const schema = new Schema(['x', 'y', 'x'].map((name) => new Field(name, new Float64(), true)));

async function* batches() {
  yield recordBatch(
    schema,
    schema.fields.map(({ type }) => nullColumn(type, 2)),
    2,
  );
}

const twice = () => encodeIpcStream(Object.assign(batches(), { schema }));

test('creating, overwriting and adding refuse them, and nothing is written', async () => {
  await using catalog = await openDirectoryNamespace({ root: '/c', fs: memoryFs() });
  const refusal = { code: 'TableSchemaValidation' };
  await expect(catalog.createTable({ id: ['t'] }, twice())).rejects.toMatchObject({
    ...refusal,
    message: expect.stringContaining('two columns named "x"'),
  });
  await expect(catalog.tableExists({ id: ['t'] })).rejects.toThrow();
  await catalog.createTable({ id: ['t'] }, people(2));
  const overwriting = { id: ['t'], mode: 'overwrite' };
  await expect(catalog.createTable(overwriting, twice())).rejects.toMatchObject(refusal);
  await expect(catalog.insertIntoTable({ id: ['t'] }, twice())).rejects.toMatchObject(refusal);
  expect(await catalog.countTableRows({ id: ['t'] })).toEqual({ count: 2 });
  expect((await catalog.verify({})).problems).toEqual([]);
});

const pair = (one: string, other: string) =>
  new Struct([one, other].map((name) => new Field(name, new Int32(), true)));

test('no change gives two members of a struct one name, in lists too', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const fields = [
    new Field('id', new Int32(), true),
    new Field('s', pair('a', 'b'), true),
    new Field('l', new List(new Field('item', pair('a', 'b'), true)), true),
  ];
  const table = await db.createTable('t', [], undefined, { schema: new Schema(fields) });
  for (const path of ['s.b', 'l.item.b']) {
    await expect(table.alterColumns([{ path, rename: 'a' }])).rejects.toMatchObject({
      code: 'InvalidInput',
      message: 'There is a column "a" already.',
    });
    await table.alterColumns([{ path, rename: 'c' }]);
  }
});

test('members of one name that came with data stand in the way of no other change', async () => {
  const db = await connect('/c', { fs: memoryFs() });
  const fields = [new Field('id', new Int32(), true), new Field('s', pair('a', 'a'), true)];
  const table = await db.createTable('t', [], undefined, { schema: new Schema(fields) });
  await table.alterColumns([{ path: 'id', rename: 'number' }]);
  await table.addColumns([{ name: 'more', valueSql: '1' }]);
  expect((await table.schema()).fields.map(({ name }) => name)).toEqual(['number', 's', 'more']);
  await expect(table.addColumns([{ name: 's.a', valueSql: '1' }])).rejects.toThrow('already');
});
