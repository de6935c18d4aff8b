/** Every call that changes something refuses an option that it does not have, and changes nothing. */
import { beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { memoryFs } from '../helpers/catalogs.ts';

/** What JavaScript lets a caller do and the types do not. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes are ones that the types would refuse
type Loose = any;

let db: Connection;
let table: Table;

beforeEach(async () => {
  db = await connect('/c', { fs: memoryFs() });
  await db.createNamespace(['n']);
  table = await db.createTable('t', [{ id: 1, s: 'a' }]);
  await (await table.branches()).create('draft');
  await (await table.tags()).create('first', 1);
  await db.createTable('gone', [{ id: 1 }]);
  await db.dropTable('gone');
});

const ROWS = [{ id: 2, s: 'b' }];
const COLUMN = [{ name: 'x', valueSql: '1' }];

const changes: Readonly<Record<string, (options: Loose) => Promise<unknown>>> = {
  createNamespace: (options) => db.createNamespace(['m'], options),
  dropNamespace: (options) => db.dropNamespace(['n'], options),
  updateNamespaceProperties: (options) =>
    db.updateNamespaceProperties(['n'], { properties: { a: 'b' } }, options),
  syncLance: (options) => db.syncLance([], options),
  purgeTrash: (options) => db.purgeTrash(options),
  alterTransaction: (options) => db.alterTransaction('x', [], options),
  createTable: (options) => db.createTable('u', ROWS, [], options),
  'createTable with the options second': (options) => db.createTable('u', ROWS, options),
  'createTable from one object': (options) => db.createTable({ name: 'u', data: ROWS, ...options }),
  importFile: (options) => db.importFile(Buffer.from('a\n1\n'), 'u', [], options),
  createEmptyTable: async (options) => db.createEmptyTable('u', await table.schema(), [], options),
  createMaterializedView: (options) => db.createMaterializedView('v', 't', options),
  declareTable: (options) => db.declareTable('u', [], options),
  refreshColumn: (options) => table.refreshColumn('id', options),
  dropTable: (options) => db.dropTable('t', [], options),
  dropTableAsync: (options) => db.dropTableAsync('t', [], options),
  undropTable: (options) => db.undropTable('gone', [], options),
  dropAllTables: (options) => db.dropAllTables([], options),
  'dropAllTables without a path': (options) => db.dropAllTables(undefined, options),
  deregisterTable: (options) => db.deregisterTable('t', [], options),
  registerTable: (options) => db.registerTable('u', 'u.table', [], options),
  renameTable: (options) => db.renameTable('t', 'u', options),
  add: (options) => table.add(ROWS, options),
  update: (options) => table.update({ s: "'z'" }, options),
  delete: (options) => table.delete('true', options),
  deleteRows: (options) => table.deleteRows([0], options),
  mergeInsert: (options) => table.mergeInsert('id').whenMatchedUpdateAll().execute(ROWS, options),
  restore: (options) => table.restore(1, options),
  optimize: (options) => table.optimize(options),
  optimizeAsync: (options) => table.optimizeAsync(options),
  updateSchemaMetadata: (options) => table.updateSchemaMetadata({ a: 'b' }, options),
  updateFieldMetadata: (options) =>
    table.updateFieldMetadata([{ path: 'id', metadata: { a: 'b' } }], options),
  addColumns: (options) => table.addColumns(COLUMN, options),
  alterColumns: (options) => table.alterColumns([{ path: 's', rename: 'r' }], options),
  dropColumns: (options) => table.dropColumns(['s'], options),
  createIndex: (options) => table.createIndex('id', options),
  createIndexAsync: (options) => table.createIndexAsync('id', options),
  dropIndex: (options) => table.dropIndex('id_idx', options),
  'tags.create': async (options) => (await table.tags()).create('x', 1, options),
  'tags.update': async (options) => (await table.tags()).update('first', 1, options),
  'tags.delete': async (options) => (await table.tags()).delete('first', options),
  'branches.create': async (options) => (await table.branches()).create('x', null, null, options),
  'branches.cherryPick': async (options) =>
    (await table.branches()).cherryPick('draft', false, options),
  'branches.delete': async (options) => (await table.branches()).delete('draft', options),
};

async function expectUnchanged(): Promise<void> {
  expect(await db.tableNames()).toEqual(['t']);
  expect((await db.listNamespaces()).namespaces).toEqual(['n']);
  expect((await db.describeNamespace(['n'])).properties).not.toHaveProperty('a');
  expect((await db.listTrash()).length).toBe(1);
  expect(await table.version()).toBe(1);
  expect(await table.query().toArray()).toMatchObject([{ id: 1, s: 'a' }]);
  expect(Object.keys(await (await table.tags()).list())).toEqual(['first']);
  expect(Object.keys(await (await table.branches()).list())).toEqual(['draft']);
}

describe('an option that a changing call does not have', () => {
  test.each(Object.entries(changes))('%s', async (name, call) => {
    // `dryRun`, `branch` and the like are options of other calls, and not near to those of this one.
    for (const option of ['whoKnowsWhat', 'rehearse']) {
      await expect(call({ [option]: true }), name).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining(`"${option}"`),
        details: { option },
      });
    }
    await expect(call({ signl: undefined, idempotencyKy: 'k' })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('did you mean "'),
    });
    await expectUnchanged();
  });

  test.each([
    ['delete on another branch', () => changes.delete?.({ branch: 'draft' })],
    ['a dry run of dropAllTables', () => changes.dropAllTables?.({ dryRun: true })],
    ['a limited dropAllTables', () => changes.dropAllTables?.({ limit: 1 })],
    ['dropAllTables with the options first', () => db.dropAllTables({ dryRun: true } as Loose)],
    ['a misspelt cascade', () => changes.dropNamespace?.({ cascad: false })],
    ['a dry run of dropColumns', () => changes.dropColumns?.({ dryRun: true })],
    ['dropTable with cascade', () => changes.dropTable?.({ cascade: true })],
    ['a dry run of restore', () => changes.restore?.({ dryRun: true })],
    ['a dry run of deregisterTable', () => changes.deregisterTable?.({ dryRun: true })],
    ['a branch of deleting a tag', () => changes['tags.delete']?.({ branch: 'draft' })],
    ['options that are null', () => changes.delete?.(null)],
    ['options that are text', () => changes.dropTable?.('cascade')],
    [
      'a misspelt replace of field metadata',
      () =>
        table.updateFieldMetadata([{ path: 'id', metadata: { a: 'b' }, replce: true } as Loose]),
    ],
    [
      'a new column with a type beside its SQL',
      () => table.addColumns([{ ...COLUMN[0], dataTyp: 'int8' } as Loose]),
    ],
    [
      'computed columns with more',
      () => table.addColumns({ computed: COLUMN, nullable: true } as Loose),
    ],
    [
      'an alteration with a default',
      () => table.alterColumns([{ path: 's', rename: 'r', default: 1 } as Loose]),
    ],
    [
      'a compaction with a strange limit',
      () => table.optimize({ compaction: { parallelism: 2 } } as Loose),
    ],
  ])('%s', async (_, call) => {
    await expect(call()).rejects.toMatchObject({ code: 'InvalidInput' });
    await expectUnchanged();
  });
});

test.each(Object.entries(changes))('%s takes the options of every call', async (name, call) => {
  const { signal } = new AbortController();
  const options = { signal, onContext: () => undefined, idempotencyKey: 'k', strange: undefined };
  const error = await call(options).catch((thrown: Error) => thrown);
  expect(String(error), name).not.toContain('no option');
});

test('the walk names every public method that changes something', () => {
  const methods = (of: object): string[] =>
    of === Object.prototype || of === null
      ? []
      : [...Object.getOwnPropertyNames(of), ...methods(Object.getPrototypeOf(of))];
  const changing =
    /^(create|drop|undrop|declare|register|deregister|rename|alter|purge|add|update|delete|mergeInsert|restore|optimize)/;
  for (const name of [...methods(db), ...methods(table)]) {
    if (changing.test(name)) expect(Object.keys(changes), name).toContain(name);
  }
});
