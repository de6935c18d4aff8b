/** What the manifests of our own versions tell clients of Lance that have read an older one. */
import { beforeEach, expect, test } from 'vitest';
import { recordBatchStream, tableFromArrays } from '../../../src/arrow/apache.ts';
import type { ParsedManifest } from '../../../src/format/lance/parsed-manifest.ts';
import type { ParsedOperation } from '../../../src/format/lance/parsed-transaction.ts';
import { connect } from '../../../src/sdk/connect.ts';
import { filesOf } from '../../helpers/catalog-files.ts';
import { memoryFs } from '../../helpers/catalogs.ts';
import { LanceClient } from '../../helpers/lance-client.ts';
import { idsOf, people } from '../../helpers/people.ts';
import type { CatalogFiles } from '../../suites/namespace/context.ts';

const FOLDER = 'data/t.table';
const id = ['t'];
let db: Awaited<ReturnType<typeof connect>>;
let files: CatalogFiles;
let client: LanceClient;

beforeEach(async () => {
  const fs = memoryFs();
  files = filesOf(fs, '/c');
  db = await connect('/c', { fs, lance: 'write' });
  await db.namespace.createTable({ id }, people(5));
  client = new LanceClient(files, FOLDER);
});

/** Of the version that Lance takes for the newest, or of one before it. */
function found(back = 0): ParsedManifest {
  const name = client.names().sort()[back] as string;
  return client.read(name);
}
function operation<Kind extends ParsedOperation['kind']>(
  kind: Kind,
  back = 0,
): Extract<ParsedOperation, { readonly kind: Kind }> {
  const { operation } = found(back).transaction as { operation: ParsedOperation };
  expect(operation.kind).toBe(kind);
  return operation as Extract<ParsedOperation, { readonly kind: Kind }>;
}
const table = () => db.openTable('t');
const append = (count: number, from: number) =>
  db.namespace.insertIntoTable({ id }, people(count, from));
const remove = (predicate: string) => db.namespace.deleteFromTable({ id, predicate });
const byId = (fragment: number) => found().fragments.find(({ id }) => id === fragment);

test('an append lists its fragments, and says whose version it was made on', async () => {
  await append(3, 5);
  expect(found().transaction).toMatchObject({
    readVersion: 1,
    uuid: (await db.namespace.describeTableVersion({ id, version: 2 })).version.metadata
      ?.transaction_id,
  });
  expect(operation('append').fragments).toEqual([byId(1)]);
});

test('a delete has the fragments that lost rows, as the manifest has them, and those that went', async () => {
  await append(3, 5);
  await append(2, 8);
  await remove('id IN (1, 5, 6, 7)');
  const { updatedFragments, deletedFragmentIds, predicate } = operation('delete');
  expect(updatedFragments).toEqual([byId(0)]);
  expect(updatedFragments[0]?.deletion).toMatchObject({ kind: 'arrow', rows: 1 });
  expect(deletedFragmentIds).toEqual([1]);
  expect(predicate).toBe('id IN (1, 5, 6, 7)');
  // Clients read the deleted rows of the fragment before they add their own.
  const { deletion } = updatedFragments[0] as { deletion: { id: bigint } };
  expect(files.all()).toContain(`${FOLDER}/_deletions/0-0-${deletion.id}.arrow`);
  await (await table()).delete(`id = 2 OR id = ${'1'.repeat(15)}${' '.repeat(4096)}`);
  expect(operation('delete').predicate).toBe('');
});

test('an update and a merge have what lost rows, what went and what came', async () => {
  await append(2, 5);
  await (await table()).update({ where: 'id >= 4', values: { name: 'x' } });
  expect(operation('update')).toMatchObject({
    updatedFragments: [byId(0)],
    removedFragmentIds: [1],
    newFragments: [byId(2)],
    fieldsModified: [],
    rewritesColumns: false,
  });
  const rows = [
    { id: 0, name: 'y' },
    { id: 9, name: 'z' },
  ];
  await (await table())
    .mergeInsert('id')
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(rows);
  expect(operation('update')).toMatchObject({
    updatedFragments: [byId(0)],
    removedFragmentIds: [],
    newFragments: [byId(3)],
  });
});

test('a compaction has a group for each run', async () => {
  const large = tableFromArrays({
    id: Int32Array.from({ length: 3000 }, (_, at) => 100 + at),
    name: Array.from({ length: 3000 }, () => 'n'),
  });
  await append(1, 5);
  await db.namespace.insertIntoTable({ id }, recordBatchStream(large.schema, large.batches));
  await append(1, 6);
  await append(1, 7);
  await (await table()).optimize({ compaction: { targetRows: 2000 } });
  const { groups } = operation('rewrite');
  const olds = groups.map(({ oldFragments }) =>
    oldFragments.map((old) => [old.id, old.physicalRows]),
  );
  expect(olds).toEqual([
    [
      [0, 5],
      [1, 1],
    ],
    [
      [3, 1],
      [4, 1],
    ],
  ]);
  // Runs are written side by side.
  const fresh = groups.flatMap(({ newFragments }) => newFragments);
  expect(fresh.map(({ physicalRows }) => physicalRows)).toEqual([6, 2]);
  expect(fresh).toEqual(fresh.map((each) => byId(each.id)));
  expect(new Set(fresh.map((each) => each.id))).toEqual(new Set([5, 6]));
});

test('columns that come are a merge, those that go or get another name a projection', async () => {
  const names = (): string[] => found().fields.map(({ name }) => name);
  await (await table()).addColumns([{ name: 'twice', valueSql: 'id * 2' }]);
  expect(operation('merge').fields).toEqual(found().fields);
  expect(operation('merge').fragments).toEqual([byId(0)]);
  await (await table()).alterColumns([{ path: 'twice', rename: 'double' }]);
  expect(operation('project').fields).toEqual(found().fields);
  await (await table()).dropColumns(['double']);
  expect(operation('project').fields).toEqual(found().fields);
  expect(names()).toEqual(['id', 'name']);
  await (await table()).alterColumns([{ path: 'name', nullable: false }]);
  operation('restore');
  await (await table()).alterColumns([{ path: 'name', nullable: true }]);
  operation('project');
  await (await table()).alterColumns([{ path: 'id', dataType: 'int64' }] as never);
  operation('restore');
});

test('metadata: of the schema and of fields a projection, of the table its changes', async () => {
  await db.namespace.updateTableSchemaMetadata({ id, metadata: { a: 'b' } });
  expect(operation('project').fields).toEqual(found().fields);
  await (await table()).updateFieldMetadata([{ path: 'id', metadata: { unit: 'm' } }]);
  expect(operation('project').fields[0]?.metadata).toEqual(new Map([['unit', 'm']]));
});

test('an overwrite and a restore', async () => {
  await db.namespace.createTable({ id, mode: 'Overwrite' }, people(2, 7));
  expect(operation('overwrite')).toMatchObject({
    fields: found().fields,
    fragments: found().fragments,
  });
  await db.namespace.restoreTable({ id, version: 1 });
  expect(operation('restore').version).toBe(1);
});

test('the files of a branch are those of the table, as its manifests say', async () => {
  await (await (await table()).branches()).create('draft');
  const branch = await (await (await table()).branches()).checkout('draft');
  await branch.delete('id = 0');
  client = new LanceClient(files, `${FOLDER}/tree/draft`);
  const [fragment] = operation('delete').updatedFragments;
  expect(fragment).toEqual(byId(0));
  expect(fragment?.files[0]?.base).toBe(0);
});

test('a client that is behind deletes other rows of a fragment that lost some', async () => {
  await remove('id = 0');
  await (await table()).update({ where: 'id = 1', values: { name: 'x' } });
  // It read version 1, found from the transactions that its rows are others, and joined them.
  client.open();
  await db.namespace.createTableVersion({ id, ...client.delete(new Map([[0, [0, 1, 3]]])) });
  expect(await idsOf(db.namespace, id)).toEqual([2, 4, 1]);
});
