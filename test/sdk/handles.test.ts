/** What holds for every method of every handle: after close(), and with an aborted signal. */
import { describe, expect, test } from 'vitest';
import type { CallOptions } from '../../src/protocol/namespace.ts';
import { Connection } from '../../src/sdk/connection.ts';
import { Query, VectorQuery } from '../../src/sdk/query/query.ts';
import { Branches } from '../../src/sdk/table/branches.ts';
import { MergeInsertBuilder } from '../../src/sdk/table/merge-insert.ts';
import { Table } from '../../src/sdk/table/table.ts';
import { Tags } from '../../src/sdk/table/tags.ts';
import { recordingCatalog, SCHEMA_JSON, TABLE_ANSWERS } from '../helpers/recording-catalog.ts';

type Calls<Handle> = Readonly<Record<string, (handle: Handle, options?: CallOptions) => unknown>>;

const rows = [{ id: 1n, name: 'a' }];
/** Whatever is written there is gone. */
const DEVICE = '/dev/null';

const CONNECTION: Calls<Connection> = {
  createNamespace: (c, o) => c.createNamespace(['p'], o),
  listNamespaces: (c, o) => c.listNamespaces([], o),
  describeNamespace: (c, o) => c.describeNamespace(['p'], o),
  namespaceExists: (c, o) => c.namespaceExists(['p'], o),
  dropNamespace: (c, o) => c.dropNamespace(['p'], o),
  updateNamespaceProperties: (c, o) => c.updateNamespaceProperties(['p'], {}, o),
  tableNames: (c, o) => c.tableNames([], o),
  listTables: (c, o) => c.listTables([], o),
  listAllTables: (c, o) => c.listAllTables(o),
  createTable: (c, o) => c.createTable('t', rows, [], o),
  createMaterializedView: (c, o) => c.createMaterializedView('v', 't', o),
  openMaterializedView: (c, o) => c.openMaterializedView('v', o),
  listMaterializedViews: (c, o) => c.listMaterializedViews([], o),
  createEmptyTable: (c, o) => c.createEmptyTable('t', SCHEMA_JSON, [], o),
  openTable: (c, o) => c.openTable('t', [], o),
  tableExists: (c, o) => c.tableExists('t', [], o),
  declareTable: (c, o) => c.declareTable('t', [], o),
  describeTable: (c, o) => c.describeTable('t', [], {}, o),
  dropTable: (c, o) => c.dropTable('t', [], o),
  undropTable: (c, o) => c.undropTable('t', [], o),
  dropAllTables: (c, o) => c.dropAllTables([], o),
  deregisterTable: (c, o) => c.deregisterTable('t', [], o),
  registerTable: (c, o) => c.registerTable('t', 'x', [], o),
  cloneTable: (c, o) => c.cloneTable('t', 'u', o),
  renameTable: (c, o) => c.renameTable('t', 'u', o),
  dropTableAsync: (c, o) => c.dropTableAsync('t', [], o),
  openJob: (c, o) => c.openJob('x', o),
  listJobs: (c, o) => c.listJobs(o),
  cancelJob: (c, o) => c.cancelJob('x', o),
  watch: (c, o) => c.watch({ ...o }),
  listTrash: (c, o) => c.listTrash([], o),
  syncLance: (c, o) => c.syncLance([], o),
  sql: (c, o) => c.sql('SELECT 1').toArray(o),
  importFile: (c, o) => c.importFile('x.csv', 't', [], o),
  importLance: (c, o) => c.importLance('x.lance', 't', [], o),
  exportLance: (c, o) => c.exportLance('x.lance', 't', [], o),
  purgeTrash: (c, o) => c.purgeTrash({ ...o }),
  describeTransaction: (c, o) => c.describeTransaction('x', o),
  alterTransaction: (c, o) => c.alterTransaction('x', [], o),
};

const TABLE: Calls<Table> = {
  schema: (t, o) => t.schema(o),
  version: (t, o) => t.version(o),
  countRows: (t, o) => t.countRows(undefined, o),
  location: (t, o) => t.location(o),
  uri: (t, o) => t.uri(o),
  stats: (t, o) => t.stats(o),
  query: (t, o) => t.query().toArray(o),
  takeOffsets: (t, o) => t.takeOffsets([1]).toArray(o),
  blobColumns: (t, o) => t.blobColumns(o),
  fetchBlobs: (t, o) => t.fetchBlobs('id', [], o),
  fetchBlobFiles: (t, o) => t.fetchBlobFiles('id', [], o),
  takeRowIds: (t, o) => t.takeRowIds([1]).toArray(o),
  vectorSearch: (t, o) => t.vectorSearch([1]).toArray(o),
  search: (t, o) => t.search('x').toArray(o),
  toArrow: (t, o) => t.toArrow(o),
  stream: (t, o) => t.stream(o),
  toFile: (t, o) => t.toFile(DEVICE, { ...o, format: 'csv' }),
  toCsv: (t, o) => t.toCsv(DEVICE, o),
  toJsonLines: (t, o) => t.toJsonLines(DEVICE, o),
  toJson: (t, o) => t.toJson(DEVICE, o),
  toParquet: (t, o) => t.toParquet(DEVICE, o),
  toArrowFile: (t, o) => t.toArrowFile(DEVICE, o),
  toBytes: (t, o) => t.toBytes('csv', o).next(),
  add: (t, o) => t.add(rows, o),
  update: (t, o) => t.update({ id: '1' }, o),
  delete: (t, o) => t.delete('TRUE', o),
  deleteRows: (t, o) => t.deleteRows([1], o),
  mergeInsert: (t, o) => t.mergeInsert('id').execute(rows, o),
  checkout: (t, o) => t.checkout(1, o),
  checkoutLatest: (t, o) => t.checkoutLatest(o),
  restore: (t, o) => t.restore(1, o),
  listVersions: (t, o) => t.listVersions(o),
  profile: (t, o) => t.profile(o),
  diff: (t, o) => t.diff(1, undefined, o),
  files: (t, o) => t.files(o),
  tags: async (t, o) => (await t.tags()).list(o),
  branches: async (t, o) => (await t.branches()).list(o),
  optimize: (t, o) => t.optimize(o),
  optimizeAsync: (t, o) => t.optimizeAsync(o),
  updateSchemaMetadata: (t, o) => t.updateSchemaMetadata({}, o),
  updateFieldMetadata: (t, o) => t.updateFieldMetadata([], o),
  addColumns: (t, o) => t.addColumns([], o),
  alterColumns: (t, o) => t.alterColumns([], o),
  dropColumns: (t, o) => t.dropColumns([], o),
  refreshColumn: (t, o) => t.refreshColumn('x', o),
  setUnenforcedPrimaryKey: (t, o) => t.setUnenforcedPrimaryKey('id', o),
  initialStorageOptions: (t, o) => t.initialStorageOptions(o),
  latestStorageOptions: (t, o) => t.latestStorageOptions(o),
  tokenize: (t, o) => t.tokenize('a', { column: 'id' }, o),
  createIndexAsync: (t, o) => t.createIndexAsync('id', o),
  refreshColumnAsync: (t, o) => t.refreshColumnAsync('id', o),
  createIndex: (t, o) => t.createIndex('id', o),
  listIndices: (t, o) => t.listIndices(o),
  indexStats: (t, o) => t.indexStats('x', o),
  dropIndex: (t, o) => t.dropIndex('x', o),
  waitForIndex: (t, o) => t.waitForIndex(['x'], 1, o),
  prewarmIndex: (t, o) => t.prewarmIndex('x', o),
};

/** Methods that run a query made before. */
const QUERY: Calls<Query> = {
  execute: (q, o) => q.execute(o).next(),
  toArrow: (q, o) => q.toArrow(o),
  toArray: (q, o) => q.toArray(o),
  stream: (q, o) => q.stream(o),
  toFile: (q, o) => q.toFile(DEVICE, { ...o, format: 'csv' }),
  toCsv: (q, o) => q.toCsv(DEVICE, o),
  toJsonLines: (q, o) => q.toJsonLines(DEVICE, o),
  toJson: (q, o) => q.toJson(DEVICE, o),
  toParquet: (q, o) => q.toParquet(DEVICE, o),
  toArrowFile: (q, o) => q.toArrowFile(DEVICE, o),
  toBytes: (q, o) => q.toBytes('csv', o).next(),
  outputSchema: (q, o) => q.outputSchema(o),
  explainPlan: (q, o) => q.explainPlan(false, o),
  analyzePlan: (q, o) => q.analyzePlan(o),
};

const TAGS: Calls<Tags> = {
  list: (t, o) => t.list(o),
  getVersion: (t, o) => t.getVersion('v1', o),
  create: (t, o) => t.create('x', 1, o),
  update: (t, o) => t.update('x', 1, o),
  delete: (t, o) => t.delete('x', o),
};

const BRANCHES: Calls<Branches> = {
  list: (b, o) => b.list(o),
  create: (b, o) => b.create('x', null, null, o),
  checkout: (b, o) => b.checkout('x', null, o),
  delete: (b, o) => b.delete('x', o),
  diff: (b, o) => b.diff('x', o),
  cherryPick: (b, o) => b.cherryPick('x', false, o),
};

/** Methods that say something of the handle itself, or only change what it will ask for. */
const EXEMPT = new Set([
  'constructor',
  ...['isOpen', 'close', 'display', 'currentBranch'],
  ...['select', 'withRowId', 'where', 'filter', 'limit', 'offset', 'orderBy'],
  // Others run what these make.
  ...['groupBy', 'aggregate'],
  ...['fullTextSearch', 'fastSearch', 'nearestTo', 'nearestToText', 'rerank'],
  // Refused by name, whatever the handle.
  ...['setLsmWriteSpec', 'getLsmWriteSpec', 'unsetLsmWriteSpec', 'getLsmStats', 'useLsm'],
  ...['flushLsm', 'compactLsm', 'checkpointLsm', 'closeLsmWriters'],
  // Steps of the class and its base, which are called by those above.
  ...['probe', 'identified', 'pin', 'follow', 'writable', 'enter', 'answer'],
]);

function methodsOf(prototype: object): string[] {
  const names: string[] = [];
  for (let at = prototype; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof property.value === 'function' && !EXEMPT.has(name)) names.push(name);
    }
  }
  return [...new Set(names)].sort();
}

test.each([
  ['Connection', Connection, CONNECTION],
  ['Table', Table, TABLE],
  ['Query', Query, QUERY],
  ['Tags', Tags, TAGS],
  ['Branches', Branches, BRANCHES],
] as const)('the table of calls has every method of %s', (_, { prototype }, calls) => {
  expect(Object.keys(calls).sort()).toEqual(methodsOf(prototype));
});

test('the other builders have nothing else that runs', () => {
  const builders = [
    'addQueryVector',
    'bypassVectorIndex',
    'column',
    'distanceRange',
    'distanceType',
  ];
  builders.push('ef', 'maximumNprobes', 'minimumNprobes', 'nprobes', 'postfilter', 'refineFactor');
  const runs = methodsOf(VectorQuery.prototype).filter((name) => !builders.includes(name));
  expect(runs).toEqual(Object.keys(QUERY).sort());
  expect(
    methodsOf(MergeInsertBuilder.prototype).filter((name) => !name.startsWith('when')),
  ).toEqual(['execute', 'useIndex', 'validateSingleShard']);
});

function setUp() {
  const recording = recordingCatalog({ ...TABLE_ANSWERS, listTables: () => ({ tables: [] }) });
  return { ...recording, connection: new Connection(recording.catalog) };
}

async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

describe('after close', () => {
  test.each(Object.entries(CONNECTION))('connection.%s', async (_, call) => {
    const { connection, calls } = setUp();
    expect(connection.isOpen()).toBe(true);
    await connection.close();
    await connection.close();
    expect(connection.isOpen()).toBe(false);
    expect(await outcome(() => call(connection))).toMatchObject({ code: 'Closed' });
    expect(calls.map(({ method }) => method)).toEqual(['close']);
  });

  const kinds = [
    ...Object.entries(TABLE).map(([name, call]) => ({
      name: `table.${name}`,
      make: async (table: Table) => table,
      call: call as (handle: never) => unknown,
    })),
    ...Object.entries(QUERY).map(([name, call]) => ({
      name: `query.${name}`,
      make: async (table: Table) => table.query(),
      call: call as (handle: never) => unknown,
    })),
    ...Object.entries(TAGS).map(([name, call]) => ({
      name: `tags.${name}`,
      make: (table: Table) => table.tags(),
      call: call as (handle: never) => unknown,
    })),
    ...Object.entries(BRANCHES).map(([name, call]) => ({
      name: `branches.${name}`,
      make: (table: Table) => table.branches(),
      call: call as (handle: never) => unknown,
    })),
  ];

  test.each(kinds)('$name', async ({ make, call }) => {
    const { connection, calls } = setUp();
    const table = await connection.openTable('t');
    const handle = await make(table);
    calls.length = 0;
    table.close();
    table.close();
    expect(table.isOpen()).toBe(false);
    expect(await outcome(() => call(handle as never))).toMatchObject({ code: 'Closed' });
    expect(calls).toEqual([]);
  });

  test.each(kinds)('$name, of the connection', async ({ make, call }) => {
    const { connection } = setUp();
    const table = await connection.openTable('t');
    const handle = await make(table);
    await connection.close();
    expect(table.isOpen()).toBe(false);
    expect(await outcome(() => call(handle as never))).toMatchObject({ code: 'Closed' });
  });

  test('a merge begun before', async () => {
    const { connection } = setUp();
    const table = await connection.openTable('t');
    const merge = table.mergeInsert('id');
    table.close();
    expect(await outcome(() => merge.execute(rows))).toMatchObject({ code: 'Closed' });
  });

  test('closing a table leaves the connection and its other tables open', async () => {
    const { connection } = setUp();
    const [one, two] = [await connection.openTable('t'), await connection.openTable('t')];
    one.close();
    expect(await two.version()).toBe(7);
    expect(connection.isOpen()).toBe(true);
  });

  test('disposing closes', async () => {
    const { connection, calls } = setUp();
    const table = await connection.openTable('t');
    table[Symbol.dispose]();
    expect(table.isOpen()).toBe(false);
    const other = await connection.openTable('t');
    await other[Symbol.asyncDispose]();
    expect(other.isOpen()).toBe(false);
    await connection[Symbol.asyncDispose]();
    expect(calls.at(-1)?.method).toBe('close');
  });
});

describe('an aborted signal ends the call with its reason and asks nothing', () => {
  const reason = new Error('enough');
  const aborted = { signal: AbortSignal.abort(reason) };

  test.each(Object.entries(CONNECTION))('connection.%s', async (_, call) => {
    const { connection, calls } = setUp();
    expect(await outcome(() => call(connection, aborted))).toBe(reason);
    expect(calls).toEqual([]);
  });

  const kinds = [
    ['table', TABLE, async (table: Table) => table],
    ['query', QUERY, async (table: Table) => table.query()],
    ['tags', TAGS, (table: Table) => table.tags()],
    ['branches', BRANCHES, (table: Table) => table.branches()],
  ] as const;
  const calls = kinds.flatMap(([kind, methods, make]) =>
    Object.entries(methods).map(([name, call]) => ({
      name: `${kind}.${name}`,
      make: make as (table: Table) => Promise<unknown>,
      call: call as (handle: never, options: CallOptions) => unknown,
    })),
  );
  test.each(calls)('$name', async ({ make, call }) => {
    const recording = setUp();
    const handle = await make(await recording.connection.openTable('t'));
    recording.calls.length = 0;
    expect(await outcome(() => call(handle as never, aborted))).toBe(reason);
    expect(recording.calls).toEqual([]);
  });
});
