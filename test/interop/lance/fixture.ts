/**
 * Makes `fixtures/lance`: one catalog with a table of every type that Lance 2.0 holds, and one whose columns
 * were dropped, renamed, added and widened: `fixture.ts PACKAGE ROOT`. Its manifests are those that Lance was
 * seen to read (`npm run interop:lance` reads them again); a unit test compares them with what is made today.
 */
import { pathToFileURL } from 'node:url';
import { Field, Int32, Schema, Struct, Table, Utf8, vectorFromArray } from 'apache-arrow';
import type { connect as Connect } from '../../../src/index.ts';
import { leafTypes, nestedTypes, randomBatch, seeded } from '../../helpers/arrow-samples.ts';

const [entry = '', root = ''] = process.argv.slice(2);
const { connect } = (await import(pathToFileURL(entry).href)) as { connect: typeof Connect };
const random = seeded(13);
const nullable = (name: string, type: Field['type']): Field => new Field(name, type, true);

const without = /view|interval|_int8$|map|union|dictionary_of|fixed_size_list|^struct/;
const fields = [
  ...Object.entries(leafTypes)
    .filter(([name]) => !without.test(name))
    .map(([name, make]) => nullable(name, make())),
  nullable('vector', (nestedTypes.fixed_size_list as Make)(new Int32(), new Int32())),
  nullable('list', (nestedTypes.list as Make)(new Utf8(), new Utf8())),
  nullable('large_list', (nestedTypes.large_list as Make)(new Int32(), new Utf8())),
  new Field('struct', new Struct([nullable('a', new Int32()), nullable('b', new Utf8())]), false),
];
type Make = (a: Field['type'], b: Field['type']) => Field['type'];

const db = await connect(root, { lance: 'read' });
const schema = new Schema([new Field('n', new Int32(), false), ...fields]);
const rows = (count: number): never =>
  new Table(schema, [
    randomBatch(schema as never, count, random, 0.25),
    randomBatch(schema as never, 3, random, 0.25),
  ] as never) as never;
const types = await db.createTable('types', rows(40));
await types.add(rows(9));
await types.delete('n % 3 = 0');

const people = (from: number): never =>
  new Table({
    id: vectorFromArray([from, from + 1, from + 2], new Int32()),
    name: vectorFromArray(['a', null, 'c'], new Utf8()),
    gone: vectorFromArray([1, 2, 3], new Int32()),
  }) as never;
const changed = await db.createTable('changed', people(1));
await changed.add(people(10));
await changed.addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
await changed.dropColumns(['gone']);
await changed.alterColumns([{ path: 'name', rename: 'title' }]);
await changed.alterColumns([{ path: 'id', dataType: 'int64' }]);
await changed.delete('id = 2');
for (const table of ['types', 'changed']) {
  const { versions } = await db.namespace.listTableVersions({ id: [table] }, { forLance: true });
  console.log(table, versions.length);
}
await db.close();
