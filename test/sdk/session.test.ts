/** The SDK on a directory catalog, on the real file system, on memfs and in the engine's memory. */
import { createFsFromVolume, Volume } from 'memfs';
import { describe, expect, test } from 'vitest';
import { tableFromArrays, tableToIPC } from '../../src/arrow/apache.ts';
import type { CatalogEvent } from '../../src/protocol/events.ts';
import { connect, connectNamespace } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import type { DataInput } from '../../src/sdk/convert/data.ts';
import type { ConnectOptions } from '../../src/sdk/handles/connect-options.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import type { WriteProgress } from '../../src/sdk/table/write-progress.ts';
import { memoryFileSystem } from '../../src/store/disk/memory-fs.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

const places: [string, () => { root: string; options: ConnectOptions }][] = [
  ['the real file system', () => ({ root: temporaryFolder(), options: { durability: 'relaxed' } })],
  [
    'memfs',
    () => ({
      root: '/catalog',
      options: {
        fs: createFsFromVolume(new Volume()) as unknown as NonNullable<ConnectOptions['fs']>,
      },
    }),
  ],
];

places.push([
  "the engine's own memory",
  () => ({ root: '/catalog', options: { fs: memoryFileSystem() } }),
]);

const people = [
  { name: 'Ada', age: 36, vector: [1, 2, 3] },
  { name: 'Grace', age: 85, vector: [4, 5, 6] },
];

async function ages(table: Table): Promise<unknown[]> {
  return (await table.query().select(['age']).toArray()).map(({ age }) => age);
}

describe.each(places)('on %s', (_, place) => {
  async function open(): Promise<Connection & { again(): Promise<Connection> }> {
    const { root, options } = place();
    const connection = await connect(root, options);
    return Object.assign(connection, {
      again: () => connectNamespace('dir', { root }, { ...options, readOnly: true }),
    });
  }

  test('namespaces, tables and rows', async () => {
    const db = await open();
    await db.createNamespace(['prod'], { properties: { owner: 'search' } });
    await db.createNamespace(['prod', 'search']);
    const table = await db.createTable('user', people, ['prod', 'search']);
    expect(await table.version()).toBe(1);
    expect(await table.countRows()).toBe(2);
    expect((await table.schema()).fields.map(String)).toEqual([
      'name: Utf8',
      'age: Float64',
      'vector: FixedSizeList[3]<Float32>',
    ]);
    expect(await table.query().toArray()).toEqual([
      { name: 'Ada', age: 36, vector: Float32Array.of(1, 2, 3) },
      { name: 'Grace', age: 85, vector: Float32Array.of(4, 5, 6) },
    ]);
    expect(await db.listNamespaces()).toEqual({ namespaces: ['prod'] });
    expect(await db.tableNames(['prod', 'search'])).toEqual(['user']);
    expect(await db.listAllTables()).toEqual({ tables: ['prod$search$user'] });
    expect((await db.describeNamespace(['prod'])).properties).toMatchObject({ owner: 'search' });
    await db.updateNamespaceProperties(['prod'], { removals: ['owner'], properties: { a: 'b' } });
    const { properties } = await db.describeNamespace(['prod']);
    expect(properties).toMatchObject({ a: 'b' });
    expect(properties).not.toHaveProperty('owner');

    const reader = await db.again();
    const read = await reader.openTable('user', ['prod', 'search']);
    expect(await read.schema()).toEqual(await read.schema());
    expect(await ages(read)).toEqual([36, 85]);
    await expect(read.add(people)).rejects.toMatchObject({ code: 'ReadOnly' });
    await reader.close();
    await db.close();
  });

  test('versions, tags and branches', async () => {
    const db = await open();
    const table = await db.createTable('t', people);
    const added = await table.add([{ name: 'Alan', age: 41, vector: [7, 8, 9] }]);
    expect(added).toMatchObject({ version: 2, numInsertedRows: 1 });
    const { status } = await db.describeTransaction(added.transactionId as string);
    expect(status.toLowerCase()).toBe('succeeded');
    const tags = await table.tags();
    await tags.create('first', 1);
    expect(await tags.getVersion('first')).toBe(1);

    const old = await db.openTable('t', [], { tag: 'first' });
    expect(await ages(old)).toEqual([36, 85]);
    await expect(old.add(people)).rejects.toMatchObject({ code: 'InvalidInput' });
    await old.checkoutLatest();
    expect(await ages(old)).toEqual([36, 85, 41]);

    const draft = await (await table.branches()).create('draft');
    await draft.add([{ name: 'Edsger', age: 72, vector: [0, 0, 0] }]);
    expect(await draft.countRows()).toBe(4);
    expect(await table.countRows()).toBe(3);
    const onDraft = await db.openTable('t', [], { branch: 'draft' });
    expect(await ages(onDraft)).toEqual([36, 85, 41, 72]);

    await table.restore('first');
    expect(await table.version()).toBe(3);
    expect(await ages(table)).toEqual([36, 85]);
    const versions = await table.listVersions({ descending: true });
    expect(versions.map(({ version }) => version)).toEqual([3, 2, 1]);
    for (const { version, timestamp } of versions) {
      const found = await db.openTable('t', [], { asOf: timestamp });
      expect(await found.version()).toBeGreaterThanOrEqual(version);
    }
    await expect(db.openTable('t', [], { asOf: 0 })).rejects.toMatchObject({
      code: 'TableVersionNotFound',
    });
    await db.close();
  });

  test('rows by id', async () => {
    const db = await open();
    const table = await db.createTable('t', people);
    const [first] = await table.query().withRowId().toArray();
    const deleted = await table.deleteRows([first?._rowid as bigint]);
    expect(deleted).toMatchObject({ version: 2, numDeletedRows: 1 });
    expect(await ages(table)).toEqual([85]);
    await db.close();
  });

  test('rows are added to the schema that the table has by now, whoever changed it', async () => {
    const db = await open();
    const table = await db.createTable('t', people);
    await table.add([{ name: 'Alan', age: 41, vector: [7, 8, 9] }]);
    const other = await db.openTable('t');
    await other.addColumns([{ name: 'born', valueSql: 'CAST(1900 AS INT)' }]);
    await table.add([{ name: 'Edsger', age: 72, vector: [1, 1, 1], born: 1930 }]);
    await other.alterColumns([{ path: 'born', dataType: 'int64', rename: 'year' }]);
    await table.add([{ name: 'Barbara', age: 81, vector: [2, 2, 2], year: 2n ** 40n }]);
    const gone = [{ name: 'Donald', age: 86, vector: [3, 3, 3], born: 1938 }];
    await expect(table.add(gone)).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    await other.dropColumns(['age', 'vector']);
    await table.add([{ name: 'Tony', year: 1934 }]);
    expect(await table.query().select(['name', 'year']).toArray()).toEqual([
      { name: 'Ada', year: 1900n },
      { name: 'Grace', year: 1900n },
      { name: 'Alan', year: 1900n },
      { name: 'Edsger', year: 1930n },
      { name: 'Barbara', year: 2n ** 40n },
      { name: 'Tony', year: 1934n },
    ]);
    expect(await table.version()).toBe(8);
    await db.close();
  });

  test('adding tells how far it got, whatever the callback does', async () => {
    const db = await open();
    const table = await db.createTable('n', [{ n: 0 }]);
    const heard: WriteProgress[] = [];
    const progress = (told: WriteProgress): void => {
      heard.push(told);
      throw new Error('not my fault');
    };
    const batches = [1, 2].map((n) => tableFromArrays({ n: Float64Array.of(n, n) }));
    expect((await table.add(batches, { progress })).version).toBe(2);
    expect(heard.map(({ outputRows, done }) => [outputRows, done])).toEqual([
      [2, false],
      [4, false],
      [4, true],
    ]);
    expect(heard.at(-1)).toMatchObject({ totalRows: 4, activeTasks: 0, totalTasks: 1 });
    expect(heard.at(-1)?.outputBytes).toBeGreaterThanOrEqual(32);
    heard.length = 0;
    await expect(table.add([{ n: 'x' }], { progress })).rejects.toThrow('expected float64');
    expect(heard).toEqual([]);
  });

  test('a merge leaves alone the columns that do not come', async () => {
    const db = await open();
    const table = await db.createTable('user', people);
    const update = (data: DataInput): Promise<unknown> =>
      table.mergeInsert('name').whenMatchedUpdateAll().execute(data);
    const [ada, grace] = people.map((row) => ({ ...row, vector: Float32Array.from(row.vector) }));
    await update([{ name: 'Ada', age: 37 }]);
    await update(tableFromArrays({ name: ['Grace'], age: [86] }));
    await update(tableToIPC(tableFromArrays({ name: ['Grace'], age: [87] })));
    expect(await table.query().orderBy({ columnName: 'name' }).toArray()).toEqual([
      { ...ada, age: 37 },
      { ...grace, age: 87 },
    ]);
    // A column counts where any row has it.
    const uneven = [
      { name: 'Ada', age: 38 },
      { name: 'Alan', vector: [7, 8, 9] },
    ];
    await table
      .mergeInsert('name')
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute(uneven);
    async function* stream(): AsyncGenerator<object> {
      yield { name: 'Grace', vector: [0, 0, 0] };
    }
    await update(stream());
    expect(await table.query().orderBy({ columnName: 'name' }).toArray()).toEqual([
      { name: 'Ada', age: 38, vector: null },
      { name: 'Alan', age: null, vector: Float32Array.of(7, 8, 9) },
      { name: 'Grace', age: 87, vector: Float32Array.of(0, 0, 0) },
    ]);
    await expect(update([{ age: 1 }])).rejects.toThrow('key column "name"');
    await expect(update([{ name: 'Ada', size: 1 }])).rejects.toThrow('no such column');
  });

  test('batches, limits and offsets', async () => {
    const db = await open();
    const values = Int32Array.from({ length: 1000 }, (_item, at) => at);
    const table = await db.createTable('t', tableToIPC(tableFromArrays({ n: values }), 'stream'));
    const rows = await table.query().offset(10).limit(3).toArray();
    expect(rows).toEqual([{ n: 10 }, { n: 11 }, { n: 12 }]);
    let total = 0;
    for await (const batch of table.query().execute({ maxBatchLength: 64 })) {
      expect(batch.numRows).toBeLessThanOrEqual(64);
      total += batch.numRows;
    }
    expect(total).toBe(1000);
    const arrow = await table.query().select('n').limit(5).toArrow();
    expect([...(arrow.getChild('n') ?? [])]).toEqual([0, 1, 2, 3, 4]);
    await db.close();
  });

  test('names of tables', async () => {
    const db = await open();
    await db.createNamespace(['p']);
    await db.createTable('t', people);
    await expect(db.createTable('t', people)).rejects.toMatchObject({ code: 'TableAlreadyExists' });
    const same = await db.createTable('t', [{ other: 1 }], { existOk: true });
    expect(await same.countRows()).toBe(2);
    const replaced = await db.createTable('t', [{ other: 1 }], { mode: 'overwrite' });
    expect(await replaced.version()).toBe(2);
    await db.renameTable('t', 'u', { newNamespacePath: ['p'] });
    expect(await db.tableExists('t')).toBe(false);
    expect(await db.tableExists('u', ['p'])).toBe(true);
    await db.dropTable('u', ['p']);
    await expect(db.openTable('u', ['p'])).rejects.toMatchObject({ code: 'TableNotFound' });
    await db.undropTable('u', ['p']);
    expect(await (await db.openTable('u', ['p'])).countRows()).toBe(1);
    await db.declareTable('d', ['p']);
    await expect(db.openTable('d', ['p'])).rejects.toMatchObject({ code: 'InvalidTableState' });
    const empty = await db.createEmptyTable('e', await replacedSchema(db), ['p']);
    expect(await empty.countRows()).toBe(0);
    await db.dropAllTables(['p']);
    expect(await db.tableNames(['p'])).toEqual([]);
    await db.dropNamespace(['p']);
    expect(await db.namespaceExists(['p'])).toBe(false);
    await db.close();
  });

  test('a row that does not fit leaves nothing behind', async () => {
    const db = await open();
    const rows = [{ n: 1 }, { n: 'two' }];
    await expect(db.createTable('t', rows)).rejects.toMatchObject({
      code: 'TableSchemaValidation',
    });
    expect(await db.tableNames()).toEqual([]);
    const table = await db.createTable('t', [{ n: 1 }]);
    await expect(table.add(rows)).rejects.toMatchObject({ code: 'TableSchemaValidation' });
    expect(await table.version()).toBe(1);
    await db.close();
  });

  test('watching', async () => {
    const db = await open();
    const stop = new AbortController();
    const events: CatalogEvent[] = [];
    const watched = (async () => {
      for await (const event of db.watch({ signal: stop.signal })) {
        events.push(event);
        if (event.type === 'version_committed' && event.version === 2) stop.abort();
      }
    })();
    const table = await startWatching(db, events);
    await table.add(people);
    await watched;
    const versions = events.flatMap((e) =>
      e.type === 'version_committed' && e.table[0] === 't' ? [e.version] : [],
    );
    expect(versions).toEqual([1, 2]);
    await db.close();
  });
});

async function replacedSchema(db: Connection) {
  return (await db.openTable('u', ['p'])).schema();
}

/** The first event shows that the watcher is at work. */
async function startWatching(db: Connection, events: readonly CatalogEvent[]): Promise<Table> {
  for (let at = 0; events.length === 0; at++) {
    await db.createNamespace([`n${at}`]);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return db.createTable('t', people);
}
