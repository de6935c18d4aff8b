/** Whether a table is written for Lance: the option `lance` of creating one, over every kind of catalog. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { Field, Int32, Schema, tableFromArrays } from '../../src/arrow/apache.ts';
import { connect } from '../../src/sdk/connect.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { memoryFs, type TestFs } from '../helpers/catalogs.ts';
import { restPair } from '../helpers/rest-pair.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const rows = (): never => tableFromArrays({ id: Int32Array.of(1, 2) }) as never;
const schema = new Schema([new Field('id', new Int32(), true)]) as never;

const opens = async (db: Connection, table: string): Promise<boolean | undefined> =>
  (await db.describeTable(table, [], { load_detailed_metadata: true })).lance?.opens;

describe.each(['a directory', 'a server'])('of %s', (kind) => {
  let db: Connection;
  beforeAll(async () => {
    db =
      kind === 'a directory'
        ? await connect('/c', { fs: memoryFs() })
        : new Connection((await restPair({ root: temporaryFolder() })).client);
  });

  test('goes before what the catalog says, and is a property of the table', async () => {
    await db.createTable('on', rows(), { lance: 'read' });
    await db.createTable('off', rows(), { lance: 'off', properties: { owner: 'me' } });
    await db.createTable({ name: 'object', data: rows(), lance: 'off' });
    await db.createEmptyTable('empty', schema, { lance: 'off' });
    await db.createEmptyTable('plain', schema);
    const found = await Promise.all(
      ['on', 'off', 'object', 'empty', 'plain'].map((table) => opens(db, table)),
    );
    expect(found).toEqual([true, undefined, undefined, undefined, true]);
    const { properties } = await db.describeTable('off', [], { load_detailed_metadata: true });
    expect(properties).toEqual({ owner: 'me', lance: 'off' });
  });

  test('is checked, and fits the property of that name', async () => {
    await expect(db.createTable('x', rows(), { lance: 'yes' as never })).rejects.toThrow(
      'lance is "yes"; it is one of off, read',
    );
    await expect(
      db.createTable('x', rows(), { lance: 'off', properties: { lance: 'read' } }),
    ).rejects.toThrow('The option lance is "off", and the property lance is "read".');
    await expect(
      db.createTable('x', rows(), { lance: 'off', properties: 7 as never }),
    ).rejects.toThrow(/properties/);
    expect(await db.tableExists('x')).toBe(false);
    await db.createTable('same', rows(), { lance: 'off', properties: { lance: 'off' } });
    expect(await opens(db, 'same')).toBeUndefined();
  });

  test('of a table that is overwritten switches it on, and not off', async () => {
    const table = await db.createTable('later', rows(), { lance: 'off' });
    await db.createTable('later', rows(), { mode: 'overwrite', lance: 'read' });
    expect(await opens(db, 'later')).toBe(true);
    const off = db.createTable('later', rows(), { mode: 'overwrite', lance: 'off' });
    await expect(off).rejects.toThrow('lance is "off", and the table is written for Lance');
    expect(await table.version()).toBe(2);
    await db.createTable('later', rows(), { mode: 'overwrite' });
    expect(await opens(db, 'later')).toBe(true);
    await table.restore(1);
    expect(await opens(db, 'later')).toBe(false);
    await table.optimize();
    expect(await opens(db, 'later')).toBe(true);
  });
});

const formatOf = (fs: TestFs, root: string): unknown =>
  JSON.parse(String(fs.readFileSync(join(root, '.dirspace/format.json'), 'utf8'))).properties;

test('a new catalog is for Lance, and one of before it is not', async () => {
  const fs = memoryFs();
  const db = await connect('/new', { fs });
  await db.createTable('t', rows());
  expect(formatOf(fs, '/new')).toEqual({ lance: 'read' });
  expect(await opens(db, 't')).toBe(true);

  const off = await connect('/off', { fs, lance: 'off' });
  await off.createTable('t', rows());
  expect(formatOf(fs, '/off')).toEqual({});
  // As releases before Lance left it: a file without the property.
  const again = await connect('/off', { fs });
  await again.createTable('u', rows());
  expect(await opens(again, 'u')).toBeUndefined();
  expect(formatOf(fs, '/off')).toEqual({});
});
