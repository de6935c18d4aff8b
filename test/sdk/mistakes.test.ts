/** A newcomer's mistakes in the SDK and on the command line: what is said, and that nothing is done. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Int32 } from '../../src/arrow/index.ts';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
import { type ErrorCode, isDirspaceError } from '../../src/errors.ts';
import { connect } from '../../src/sdk/connect.ts';
import type { Connection } from '../../src/sdk/connection.ts';
import { toRecordBatchStream } from '../../src/sdk/convert/index.ts';
import { Index } from '../../src/sdk/table/index-config.ts';
import type { Table } from '../../src/sdk/table/table.ts';
import { memoryFs } from '../helpers/catalogs.ts';
import { callCli } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/temporary.ts';

/** What JavaScript lets a caller do and the types do not. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes are ones that the types would refuse
type Loose = any;

describe('in the SDK', () => {
  let db: Connection;
  let users: Table;

  beforeEach(async () => {
    db = await connect('/c', { fs: memoryFs() });
    users = await db.createTable('user', [{ name: 'Ada', age: 36, vector: [1, 2] }]);
  });

  const V = [1, 2];
  const mistakes: Readonly<
    Record<string, readonly [() => Promise<unknown>, ErrorCode, ...string[]]>
  > = {
    'an option nearly right opens no other version': [
      () => db.openTable('user', [], { verson: 1 } as Loose),
      'InvalidInput',
      '"verson"',
      'did you mean "version"?',
    ],
    'null in place of rows that overwrite': [
      () => users.add(null as Loose, { mode: 'overwrite' }),
      'InvalidInput',
      'null',
    ],
    'a path in place of rows that overwrite': [
      () => users.add('users.csv' as Loose, { mode: 'overwrite' }),
      'InvalidInput',
      'users.csv',
    ],
    'a merge without an action': [
      () => users.mergeInsert('name').execute([{ name: 'Ada', age: 37, vector: V }]),
      'InvalidInput',
      'no action',
      'whenMatchedUpdateAll()',
    ],
    'a tag of no version': [
      async () => (await users.tags()).create('v1', undefined as Loose),
      'InvalidInput',
      'create("v1", 3)',
    ],
    'a Date in place of a selection': [
      () => users.checkout(new Date(0) as Loose),
      'InvalidInput',
      'checkout({ asOf: new Date(0) })',
    ],
    'a path in place of options renames nothing': [
      () => db.renameTable('user', 'people', ['prod'] as Loose),
      'InvalidInput',
      'these are an array',
      'newNamespacePath',
    ],
    'a column nearly right gets no rows': [
      () => users.add([{ name: 'Alan', agee: 41, vector: V }]),
      'TableSchemaValidation',
      'agee at row 0',
      'Did you mean "age"?',
    ],
    'an option in another case creates nothing': [
      () => db.createTable('other', [{ a: 1 }], [], { Mode: 'overwrite' } as Loose),
      'InvalidInput',
      '"Mode"',
      '"mode"',
    ],
    'embeddings by a function that no table can name': [
      () =>
        db.createTable('other', [{ a: 1 }], [], {
          embeddingFunction: { sourceColumn: 'a', function: {} },
        } as Loose),
      'InvalidInput',
      'not registered',
      'register()',
    ],
    'vectorColumns by the name of a type': [
      () => db.createTable('other', [{ a: [1] }], [], { vectorColumns: { a: 'float32' } } as Loose),
      'InvalidInput',
      '"float32" for "a"',
      'new Float32()',
    ],
    'properties that are a list, beside an option that is one of them': [
      () => db.createTable('other', [{ a: 1 }], [], { properties: ['x'], lance: 'off' } as Loose),
      'InvalidInput',
      'properties',
    ],
    'actions on a transaction that are no list': [
      () => db.alterTransaction('0-0', {} as Loose),
      'InvalidInput',
      'actions',
    ],
    'a file address of another machine': [
      () => db.importFile('file://host/x.csv?sig=secret', 'other'),
      'InvalidInput',
      '"file://host/x.csv" names no file of this machine',
    ],
    'an export to a file address with an escaped separator': [
      () => users.toFile(new URL('file:///a%2Fb.csv')),
      'InvalidInput',
      'a%2Fb.csv" names no file of this machine',
    ],
    'a misspelt option of an export to CSV is told beside those of CSV': [
      () => users.toCsv('x.csv', { headers: false } as Loose),
      'InvalidInput',
      '"headers"',
      '"header"',
      'delimiter',
    ],
    'an option of an export to Parquet that other formats have': [
      () => users.toParquet('x.parquet', { delimiter: ';' } as Loose),
      'InvalidInput',
      '"delimiter"',
      'rowGroupRows',
    ],
    'an option of an export to lines that another format has': [
      () => users.toJsonLines('x.ndjson', { header: false } as Loose),
      'InvalidInput',
      '"header"',
      'compression',
    ],
    'a misspelt option of add adds nothing': [
      () => users.add([{ name: 'x', age: 1, vector: V }], { mod: 'overwrite' } as Loose),
      'InvalidInput',
      '"mod"',
      '"mode"',
    ],
    'a namespace among the options makes no table in the root': [
      () => db.createTable('other', [{ a: 1 }], { namespacePath: ['prod'] } as Loose),
      'InvalidInput',
      'an argument of its own',
    ],
    'a namespace in the one object makes no table in the root': [
      () => db.createTable({ name: 'other', data: [{ a: 1 }], namespace: ['prod'] } as Loose),
      'InvalidInput',
      'an argument of its own',
    ],
    'options that are null': [
      () => db.createNamespace(['prod'], null as Loose),
      'InvalidInput',
      'null',
    ],
    'properties that are text': [
      () => db.createNamespace(['prod'], { properties: 'x' } as Loose),
      'InvalidInput',
      'properties is "x"',
    ],
    'a misspelt behaviour drops nothing': [
      () => db.dropNamespace(['prod'], { behaviour: 'cascade' } as Loose),
      'InvalidInput',
      'did you mean "behavior"?',
    ],
    'a misspelt option creates no namespace': [
      () => db.createNamespace(['prod'], { propertys: { a: 'b' } } as Loose),
      'InvalidInput',
      '"properties"',
    ],
    'the name that a member has in the protocol asks for no page': [
      () => db.listTables({ page_token: 'x' } as Loose),
      'InvalidInput',
      'did you mean "pageToken"?',
    ],
    'a misspelt option lists no namespaces': [
      () => db.listNamespaces([], { limt: 1 } as Loose),
      'InvalidInput',
      '"limit"',
    ],
    'a misspelt option lists not all tables': [
      () => db.listAllTables({ includeDeclard: false } as Loose),
      'InvalidInput',
      '"includeDeclared"',
    ],
    'names after a misspelt one': [
      () => db.tableNames({ startsAfter: 'a' } as Loose),
      'InvalidInput',
      '"startAfter"',
    ],
    'a limit that is no whole number': [
      () => db.tableNames({ limit: 1.5 }),
      'InvalidInput',
      'limit is 1.5',
    ],
    'a misspelt place moves no table': [
      () => db.renameTable('user', 'moved', { newNamespace: ['prod'] } as Loose),
      'InvalidInput',
      'did you mean "newNamespacePath"?',
    ],
    'a misspelt option declares nothing': [
      () => db.declareTable('other', [], { propertie: { a: 'b' } } as Loose),
      'InvalidInput',
      '"properties"',
    ],
    'a misspelt option registers nothing': [
      () => db.registerTable('other', 'x.table', [], { modes: 'overwrite' } as Loose),
      'InvalidInput',
      '"mode"',
    ],
    'a misspelt version is not there': [
      () => db.tableExists('user', [], { verson: 9 } as Loose),
      'InvalidInput',
      '"version"',
    ],
    'a misspelt version is not described': [
      () => db.describeTable('user', [], { versoin: 9 } as Loose),
      'InvalidInput',
      '"version"',
    ],
    'a member in camel case is not passed over': [
      () => db.describeTable('user', [], { loadDetailedMetadata: true } as Loose),
      'InvalidInput',
      'did you mean "load_detailed_metadata"?',
    ],
    'a misspelt place is not watched': [
      async () => db.watch({ paths: ['prod'] } as Loose),
      'InvalidInput',
      '"path"',
    ],
    'a change that there is not changes no properties': [
      () => db.updateNamespaceProperties(['prod'], { remove: ['a'] } as Loose),
      'InvalidInput',
      'there is no "remove"',
      '"removals"',
    ],
    'no changes of properties': [
      () => (db as Loose).updateNamespaceProperties(['prod']),
      'InvalidInput',
      '"properties"',
    ],
    'a version that is text': [
      () => db.openTable('user', [], { version: '1' } as Loose),
      'InvalidInput',
      '"1"',
      'integer',
    ],
    'a version that has a fraction': [() => users.checkout(1.5), 'InvalidInput', '1.5'],
    'properties that are numbers are not written down': [
      () => db.createTable('other', [{ a: 1 }], [], { properties: { a: 5 } } as Loose),
      'InvalidInput',
      'properties.a is 5',
      'string',
    ],
    'metadata that is a number is not written down': [
      () => users.updateSchemaMetadata({ a: 5 } as Loose),
      'InvalidInput',
      'metadata.a is 5',
      'string',
    ],
    'an id that is text': [
      () => db.namespace.describeTable({ id: 'user' } as Loose),
      'InvalidInput',
      'id is "user"',
      'an array',
    ],
    'a request without what it needs': [
      () => db.namespace.renameTable({ id: ['user'] } as Loose),
      'InvalidInput',
      'new_table_name is missing',
    ],
    'a table that is null': [
      () => (db as Loose).createTable(null),
      'InvalidInput',
      'name is a string',
    ],
    'a schema with a field that is null': [
      () =>
        db.createTable('u', [], [], {
          schema: { fields: [{ name: 'a', type: 'int32' }, null] },
        } as Loose),
      'InvalidInput',
      'null at fields[1]',
      'a name and a type',
    ],
    'a schema with a field without a name': [
      () => db.createTable('u', [], [], { schema: { fields: [{ type: 'int32' }] } } as Loose),
      'InvalidInput',
      'a field whose name is undefined at fields[0]',
    ],
    'new columns whose fields are no list': [
      () => users.addColumns({ fields: 5 } as Loose),
      'InvalidInput',
      'addColumns takes',
      'number',
    ],
    'new columns of which one is null': [
      () => users.addColumns([{ name: 'b', type: new Int32(), nullable: true }, null] as Loose),
      'InvalidInput',
      'addColumns takes',
    ],
    'a missing name': [() => (db as Loose).openTable(), 'InvalidInput', 'undefined'],
    'a path that is text': [
      () => db.openTable('user', 'prod' as Loose),
      'InvalidInput',
      '["prod", "search"]',
      'string',
    ],
    'a missing namespace to drop': [
      () => db.dropNamespace(['prod']),
      'NamespaceNotFound',
      'prod',
      'List the namespaces',
    ],
    'a delete without a predicate deletes nothing': [
      () => (users as Loose).delete(),
      'InvalidInput',
      'predicate',
      '"true" deletes every row',
    ],
    'a limit that is text': [
      async () =>
        users
          .query()
          .limit('5' as Loose)
          .toArray(),
      'InvalidInput',
      'limit is "5"',
    ],
    'an order by a bare name': [
      async () =>
        users
          .query()
          .orderBy('age' as Loose)
          .toArray(),
      'InvalidInput',
      '"age"',
      'columnName',
    ],
    'an order whose flag is text': [
      async () =>
        users
          .query()
          .orderBy({ columnName: 'age', ascending: 'yes' } as Loose)
          .toArray(),
      'InvalidInput',
      '"yes"',
    ],
    'a column that is not there': [
      () => users.query().where('agee > 1').toArray(),
      'TableColumnNotFound',
      'agee',
      'did you mean age?',
    ],
    'a query vector that is text': [
      async () => users.vectorSearch('x' as Loose).toArray(),
      'InvalidInput',
      'string',
    ],
    'a query vector that is a set with a gap': [
      async () => users.vectorSearch(new Set([1, null]) as Loose).toArray(),
      'InvalidInput',
      'has null at 1',
    ],
    ...Object.fromEntries(
      [
        [null, 'null'],
        ['', 'string ""'],
        [true, 'boolean true'],
        [undefined, 'undefined'],
        [Number.NaN, 'number NaN'],
      ].map(([value, shown]) => [
        `a query vector with ${String(value)} inside`,
        [
          async () => users.vectorSearch([1, value] as Loose).toArray(),
          'InvalidInput',
          `The query vector has ${shown} at 1; it holds finite numbers.`,
        ],
      ]),
    ),
    'an age that is a number': [
      () => users.optimize({ cleanupOlderThan: 5 } as Loose),
      'InvalidInput',
      'cleanupOlderThan is number 5',
      'Date',
    ],
    'an age that is a bigint': [
      () => users.optimize({ cleanupOlderThan: 5n } as Loose),
      'InvalidInput',
      'cleanupOlderThan is bigint 5n',
      'Date',
    ],
    ...Object.fromEntries(
      [
        [5n, 'bigint 5n'],
        [null, 'null'],
        [true, 'boolean true'],
        ['soon', 'string "soon"'],
        [new Date(Number.NaN), 'Date (invalid)'],
      ].map(([asOf, shown]) => [
        `a version as of ${shown}`,
        [
          () => users.checkout({ asOf } as Loose),
          'InvalidInput',
          `"asOf" is ${shown}; it is a Date`,
        ],
      ]),
    ),
    'a rename to a name that is taken': [
      () => db.renameTable('user', 'user'),
      'TableAlreadyExists',
      'user',
      'Choose another name',
    ],
    'random bytes': [
      () => db.createTable('other', new Uint8Array(100).fill(0xd8)),
      'InvalidInput',
      'does not begin as an Arrow stream or file does',
    ],
    ...Object.fromEntries(
      [
        { descending: true },
        { direction: 'desc' },
        { order: 'desc' },
        { asc: false },
        { desc: true },
      ].map((wrong): [string, readonly [() => Promise<unknown>, ErrorCode, ...string[]]] => {
        const [name = ''] = Object.keys(wrong);
        return [
          `an order by ${name}`,
          [
            async () => users.query().orderBy({ columnName: 'age', ...wrong }),
            'InvalidInput',
            `"${name}" of orderBy`,
            'ascending: false',
          ],
        ];
      }),
    ),
    'a misspelt direction among several keys': [
      async () =>
        users
          .query()
          .orderBy([{ columnName: 'age' }, { columnName: 'name', ascendin: false } as Loose]),
      'InvalidInput',
      '"ascendin"',
      'Did you mean "ascending"?',
    ],
    'a strange member of an order': [
      async () => users.query().orderBy({ columnName: 'age', collation: 'de' } as Loose),
      'InvalidInput',
      '"collation" of orderBy',
    ],
    'a misspelt option of fullTextSearch searches not all columns': [
      async () => users.query().fullTextSearch('Ada', { column: 'name' } as Loose),
      'InvalidInput',
      '"column" of fullTextSearch',
      'Did you mean "columns"?',
    ],
    'a misspelt limit of a run': [
      () => users.query().toArray({ timeoutMS: 5 } as Loose),
      'InvalidInput',
      'did you mean "timeoutMs"?',
    ],
    'a misspelt option of listVersions': [
      () => users.listVersions({ desending: true } as Loose),
      'InvalidInput',
      'did you mean "descending"?',
    ],
    'a misspelt member of what is checked out': [
      () => users.checkout({ version: 1, brnch: 'x' } as Loose),
      'InvalidInput',
      'did you mean "branch"?',
    ],
    'a misspelt option of an index': [
      async () => Index.ivfPq({ numPartition: 2 } as Loose),
      'Unsupported',
      '"numPartition"',
      'Did you mean "numPartitions"?',
    ],
    'options of a clause that are no object': [
      async () => users.mergeInsert('name').whenMatchedUpdateAll(null as Loose),
      'InvalidInput',
      'where',
      'null',
    ],
    'a misspelt option of toRecordBatchStream': [
      () => toRecordBatchStream([{ a: 1 }], { columnType: new Map() } as Loose),
      'InvalidInput',
      'Did you mean "columnTypes"?',
    ],
    'columns to add as an object of SQL': [
      () => users.addColumns({ older: 'age + 1' } as Loose),
      'InvalidInput',
      '[{name: "older", valueSql: "age + 1"}]',
      'object',
    ],
    'columns to add as text': [
      () => users.addColumns('x' as Loose),
      'InvalidInput',
      'valueSql',
      'string',
    ],
    'no columns to add': [() => (users as Loose).addColumns(), 'InvalidInput', 'undefined'],
    'columns to add of which one is null': [
      () => users.addColumns([null] as Loose),
      'InvalidInput',
      'valueSql',
    ],
    'an alteration that is in no array': [
      () => users.alterColumns({ path: 'age', rename: 'years' } as Loose),
      'InvalidInput',
      '[{path: "age", rename: "years"}]',
    ],
    'an alteration that is null': [
      () => users.alterColumns([null] as Loose),
      'InvalidInput',
      'null',
    ],
    'metadata of a field that is in no array': [
      () => users.updateFieldMetadata({ path: 'age', metadata: {} } as Loose),
      'InvalidInput',
      '[{path: "age"',
    ],
    'no columns to drop': [
      () => (users as Loose).dropColumns(),
      'InvalidInput',
      '["age"]',
      'undefined',
    ],
    'a column to drop as text': [
      () => users.dropColumns('age' as Loose),
      'InvalidInput',
      '["age"]',
      'string',
    ],
    'offsets that are text': [
      async () => users.takeOffsets('1' as Loose),
      'InvalidInput',
      'array',
      'string',
    ],
    'no row ids to delete': [() => (users as Loose).deleteRows(), 'InvalidInput', 'undefined'],
    'no version to check out': [
      () => (users as Loose).checkout(),
      'InvalidInput',
      'No version is named',
      'checkout(3)',
    ],
    'a version to check out that is null': [
      () => users.checkout(null as Loose),
      'InvalidInput',
      'No version is named',
    ],
    'an update of nothing': [
      () => (users as Loose).update(),
      'InvalidInput',
      '{values: {age: 37}}',
      'undefined',
    ],
    'an update by pairs': [() => users.update([['age', '1']] as Loose), 'InvalidInput', 'an array'],
    'an update that has a condition alone': [
      () => users.update({ where: "name = 'Ada'" }),
      'InvalidInput',
      'sets no column',
      'values or valuesSql',
    ],
    'a selection of nothing': [
      async () => (users.query() as Loose).select(),
      'InvalidInput',
      '["name", "age"]',
      'undefined',
    ],
    'a mode that is nearly right': [
      () => db.createNamespace(['prod'], { mode: 'exists_ok' } as Loose),
      'InvalidInput',
      'create, exist_ok, overwrite',
      'Did you mean "exist_ok"?',
    ],
    'a row that does not fit': [
      () =>
        users.add([
          { name: 'x', age: 1, vector: V },
          { name: 'y', age: 'old', vector: V },
        ]),
      'TableSchemaValidation',
      'Row 1',
      '"age"',
      '"old"',
      'float64',
    ],
  };

  test.each(Object.entries(mistakes))('%s', async (_, [call, code, ...said]) => {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(isDirspaceError(error, code), String(error)).toBe(true);
    for (const part of said) expect((error as Error).message).toContain(part);
    expect(await users.version()).toBe(1);
    expect(await users.countRows()).toBe(1);
    expect(await db.tableNames()).toEqual(['user']);
  });

  test('of the options that LanceDB has for its files what is so anyway is taken', async () => {
    const brought = { dataStorageVersion: 'stable', enableV2ManifestPaths: true };
    const table = await db.createTable('moved', [{ a: 1 }], [], brought);
    expect(await table.countRows()).toBe(1);
    for (const [name, value] of [
      ['dataStorageVersion', 'legacy'],
      ['enableV2ManifestPaths', false],
      ['useLegacyFormat', true],
    ] as const) {
      await expect(db.createTable('other', [{ a: 1 }], { [name]: value })).rejects.toThrow(
        `The option ${name} is ${JSON.stringify(value)}`,
      );
    }
    const opened = await db.openTable('moved', [], {
      indexCacheSize: undefined,
      storageOptions: {},
    } as Loose);
    expect(await opened.version()).toBe(1);
    await expect(db.openTable('moved', [], { indexCacheSize: 9 })).rejects.toThrow('session');
    await expect(db.openTable('moved', [], { storageOptions: { a: 'b' } })).rejects.toThrow(
      'The option storageOptions',
    );
    expect(await db.tableNames()).toEqual(['moved', 'user']);
  });

  test('an option of a call that reads is refused by name, however far it is from those there are', async () => {
    const odd = { at: 1 } as Loose;
    const reads: Record<string, () => Promise<unknown> | unknown> = {
      openTable: () => db.openTable('user', [], odd),
      tableExists: () => db.tableExists('user', [], odd),
      describeTable: () => db.describeTable('user', [], odd),
      tableNames: () => db.tableNames(odd),
      listTables: () => db.listTables(odd),
      listTrash: () => db.listTrash([], odd),
      exportLance: () => db.exportLance(join(temporaryFolder(), 'e.lance'), 'user', [], odd),
      watch: () => db.watch(odd),
      checkout: () => users.checkout(odd),
      listVersions: () => users.listVersions(odd),
      toArray: () => users.query().toArray(odd),
    };
    for (const [name, call] of Object.entries(reads)) {
      const refused = async (): Promise<unknown> => call();
      await expect(refused(), name).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('There is no option "at"'),
      });
    }
    for (const options of [{ at: undefined }, { idempotencyKey: 'k' }] as Loose[])
      expect(await db.tableNames(options as Loose)).toEqual(['user']);
  });

  test('what is set to undefined, and what a listed version has beside its number, is no mistake', async () => {
    const key = { columnName: 'age', ascending: false, descending: undefined, other: undefined };
    expect(await users.query().orderBy(key).toArray()).toHaveLength(1);
    const [version] = await users.listVersions();
    await users.checkout(version as Loose);
    expect(await users.version()).toBe(1);
  });

  test('a root that is a file, or lies below one, or where nothing can be made', async () => {
    const file = join(temporaryFolder(), 'rows.json');
    writeFileSync(file, '[]');
    for (const readOnly of [false, true]) {
      await expect(connect(file, { readOnly })).rejects.toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('it is a file'),
      });
    }
    await expect(connect(`${file}/below`)).rejects.toMatchObject({ code: 'InvalidInput' });
    const none = () => {
      throw Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT' });
    };
    const fs = { ...memoryFs(), existsSync: () => false, mkdirSync: none } as never;
    await expect(connect('/a/b', { fs })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('no folder can be made'),
    });
    if (!existsSync('/proc/self')) return;
    await expect(connect('/proc/dirspace/catalog')).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('no folder can be made'),
    });
  });

  test('a root that may not be written', async () => {
    const fs = memoryFs();
    const refused = (): never => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
    };
    const closed = { ...fs, mkdirSync: refused } as typeof fs;
    await expect(connect('/closed', { fs: closed })).rejects.toMatchObject({
      code: 'PermissionDenied',
      message: expect.stringContaining('/closed'),
    });
  });
});

describe('on the command line', () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = temporaryFolder();
    writeFileSync(at('rows.ndjson'), '{"name":"Ada","age":36}\n');
    writeFileSync(at('misfit.ndjson'), '{"name":"Bob","age":"old"}\n');
    writeFileSync(at('fake.arrow'), 'hello world');
    writeFileSync(at('empty.ndjson'), '');
    mkdirSync(at('rows.json'));
    mkdirSync(at('newer/.dirspace'), { recursive: true });
    writeFileSync(
      at('newer/.dirspace/format.json'),
      '{"format":2,"features":[],"folds_case":false,"properties":{}}',
    );
    mkdirSync(at('other/src'), { recursive: true });
    writeFileSync(at('other/README.md'), 'hello');
    expect((await callCli(['--root', at('cat'), 'import', at('rows.ndjson'), 'user'])).code).toBe(
      0,
    );
  });

  const mistakes: readonly (readonly [
    args: string,
    code: keyof typeof EXIT,
    ...said: readonly string[],
  ])[] = [
    ['--root nowhere ls', 'notFound', 'nowhere', 'does not exist', '--root'],
    ['--root nowhere head user', 'notFound', 'nowhere'],
    ['--root rows.ndjson ls', 'usage', 'rows.ndjson', 'is no folder'],
    ['--root rows.ndjson import rows.ndjson x', 'usage', 'is no folder'],
    ['--root newer ls', 'failure', 'format 2', 'newer release'],
    ['--root newer import rows.ndjson x', 'failure', 'format 2', 'newer release'],
    ['--uri 127.0.0.1:1 ls', 'usage', '"127.0.0.1:1"', 'http://'],
    ['--root cat head usr', 'notFound', 'The table usr was not found'],
    [
      '--root cat head user --at 9',
      'notFound',
      'Version 9 of the table user was not found',
      'newest is 1',
    ],
    ['--root cat impotr rows.ndjson x', 'usage', 'import?'],
    ['--root cat import rows.ndjson user --mde append', 'usage', '--mode?'],
    ['--root cat import rows.ndjson user', 'alreadyExists', '--mode append'],
    ['--root cat import rows.ndjson prod/user', 'notFound', 'prod', '--parents'],
    ['--root cat create-namespace a/b', 'notFound', 'a', '--parents'],
    [
      '--root cat import misfit.ndjson user --mode append',
      'failure',
      'misfit.ndjson',
      'Row 1 on line 1',
      'age',
    ],
    ['--root cat import fake.arrow x', 'failure', 'fake.arrow', 'does not begin as an Arrow'],
    ['--root cat import empty.ndjson x', 'usage', 'empty.ndjson', 'is empty'],
    ['--root cat import rows.json x', 'usage', 'rows.json', 'is a folder'],
    ['--root cat import nofile.arrow x', 'notFound', 'nofile.arrow'],
    ['--root cat rename user user', 'alreadyExists', 'Choose another name'],
    ['--root cat query user agee>40', 'usage', 'agee', 'did you mean age?'],
    ['--root cat drop nope', 'notFound', 'The table nope was not found'],
  ];

  test.each(mistakes)('dirspace %s', async (line, exit, ...said) => {
    const places = new Set(['nowhere', 'cat', 'newer', 'other', ...readdirSync(folder)]);
    const isFile = (word: string): boolean => places.has(word) || word.endsWith('.arrow');
    const args = line.split(' ').map((word) => (isFile(word) ? at(word) : word));
    const { code, out, error } = await callCli(args);
    expect({ code, out }).toEqual({ code: EXIT[exit as keyof typeof EXIT], out: '' });
    expect(error).toMatch(/^dirspace: /);
    expect(error).not.toMatch(/\n\s+at /);
    for (const part of said) expect(error).toContain(part);
    expect(existsSync(at('nowhere'))).toBe(false);
    expect(JSON.parse((await callCli(['--root', at('cat'), 'ls', '--json'])).out)).toEqual({
      path: [],
      namespaces: [],
      tables: ['user'],
    });
  });

  test('a folder of other things is no catalog, and is left as it is', async () => {
    const { code, out, error } = await callCli(['--root', at('other'), 'ls']);
    expect({ code, out }).toEqual({ code: EXIT.notFound, out: '' });
    expect(error).toContain('no catalog');
    expect(readdirSync(at('other')).sort()).toEqual(['README.md', 'src']);
  });
});
