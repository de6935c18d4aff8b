/** Columns are asked for by name: no table has two of one name, however its data came. */
import { expect, test } from 'vitest';
import { Field, Float64, Schema } from '../../../src/arrow/apache.ts';
import { nullColumn, recordBatch } from '../../../src/arrow/arrow-data.ts';
import { openDirectoryNamespace } from '../../../src/directory/directory-namespace.ts';
import { encodeIpcStream } from '../../../src/ipc/encode/ipc-stream.ts';
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
