/** Cases about tables as entries of a catalog, their versions, tags and branches. */
import { type RecordBatchStream, recordBatchStream, tableFromArrays } from '../arrow.ts';
import { type ConformanceCase, fails, holds, type Kit, refused, same } from './conformance-kit.ts';
import { ARROW_STREAM_TYPE, JSON_TYPE } from './header-names.ts';

const NAMESPACE_NOT_FOUND = 1;
const TABLE_NOT_FOUND = 4;
const TABLE_EXISTS = 5;
const TAG_NOT_FOUND = 8;
const TAG_EXISTS = 9;
const VERSION_NOT_FOUND = 11;
const INVALID = 13;
const BRANCH_NOT_FOUND = 22;

/** Rows with an `id` from `from` on and a `name`. */
export function rows(count: number, from = 0): RecordBatchStream {
  const ids = Int32Array.from({ length: count }, (_, at) => from + at);
  const names = Array.from(ids, (id) => `name ${id}`);
  const { schema, batches } = tableFromArrays({ id: ids, name: names });
  return recordBatchStream(schema, batches);
}

/** A table of three rows with ids 0 to 2. */
export async function table(kit: Kit, count = 3): Promise<string[]> {
  const id = [...kit.home, kit.fresh('t')];
  await kit.catalog.createTable({ id }, rows(count));
  return id;
}

const pathOf = (id: readonly string[], verb: string): string =>
  `/v1/table/${encodeURIComponent(id.join('$'))}/${verb}`;

const missing = (kit: Kit): string[] => [...kit.home, 'missing'];

export const TABLE_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateTable',
    name: 'creates a table with its rows',
    run: async (kit) => {
      const id = await table(kit);
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'CreateTable',
    name: 'an existing one is a conflict',
    run: async (kit) => {
      const id = await table(kit);
      await fails(kit.catalog.createTable({ id }, rows(1)), TABLE_EXISTS, 409);
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'CreateTable',
    name: 'mode exist_ok leaves an existing one as it is',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTable({ id, mode: 'exist_ok' }, rows(1));
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'CreateTable',
    name: 'mode overwrite replaces the rows',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTable({ id, mode: 'overwrite' }, rows(1));
      same('rows', (await kit.catalog.countTableRows({ id })).count, 1);
    },
  },
  {
    operation: 'CreateTable',
    name: 'a missing namespace is not found',
    run: (kit) =>
      fails(
        kit.catalog.createTable({ id: [...missing(kit), 't'] }, rows(1)),
        NAMESPACE_NOT_FOUND,
        404,
      ),
  },
  {
    operation: 'CreateTable',
    name: 'bytes that are no Arrow data are refused, and nothing is created',
    run: async (kit) => {
      const id = [...kit.home, kit.fresh('t')];
      const body = new TextEncoder().encode('this is no Arrow data');
      refused(await kit.send('POST', pathOf(id, 'create'), { body, type: ARROW_STREAM_TYPE }), 400);
      await fails(kit.catalog.tableExists({ id }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'answers the location, and no more than it was asked for has to be there',
    run: async (kit) => {
      const { location } = await kit.catalog.describeTable({ id: await table(kit) });
      holds('a location', typeof location === 'string' && location !== '', location);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'load_detailed_metadata answers name, version, schema and statistics',
    run: async (kit) => {
      const id = await table(kit);
      const found = await kit.catalog.describeTable({ id, load_detailed_metadata: true });
      same('table', found.table, id.at(-1));
      same('namespace', found.namespace, id.slice(0, -1));
      holds('a version', Number.isInteger(found.version), found.version);
      same(
        'names of fields',
        found.schema?.fields.map(({ name }) => name),
        ['id', 'name'],
      );
      holds('statistics', Number.isInteger(found.stats?.num_fragments), found.stats);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'with_table_uri answers a complete URI',
    run: async (kit) => {
      const found = await kit.catalog.describeTable({ id: await table(kit), with_table_uri: true });
      holds('a URI', /^[a-z][a-z0-9+.-]*:/i.test(found.table_uri ?? ''), found.table_uri);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'a missing table is not found',
    run: (kit) => fails(kit.catalog.describeTable({ id: missing(kit) }), TABLE_NOT_FOUND, 404),
  },
  {
    operation: 'DescribeTable',
    name: 'a tag beside a version is refused',
    run: async (kit) => {
      const id = await table(kit);
      await fails(kit.catalog.describeTable({ id, version: 1, tag: 'x' }), INVALID, 400);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'a negative version is refused',
    run: async (kit) => {
      const path = pathOf(await table(kit), 'describe');
      const body = JSON.stringify({ version: -1 });
      refused(await kit.send('POST', path, { body, type: JSON_TYPE }), 400, INVALID);
    },
  },
  {
    operation: 'TableExists',
    name: 'tells what is there from what is not',
    run: async (kit) => {
      await kit.catalog.tableExists({ id: await table(kit) });
      await fails(kit.catalog.tableExists({ id: missing(kit) }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'ListTables',
    name: 'lists the tables of a namespace in pages',
    run: async (kit) => {
      const id = [...kit.home, kit.fresh('ns')];
      await kit.catalog.createNamespace({ id });
      for (const name of ['a', 'b', 'c']) {
        await kit.catalog.createTable({ id: [...id, name] }, rows(1));
      }
      const first = await kit.catalog.listTables({ id, limit: 2 });
      holds('two names', first.tables.length === 2, first.tables);
      const page_token = first.page_token ?? '';
      holds('a page token', page_token !== '', first.page_token);
      const second = await kit.catalog.listTables({ id, limit: 2, page_token });
      same('names', [...first.tables, ...second.tables].sort(), ['a', 'b', 'c']);
    },
  },
  {
    operation: 'ListTables',
    name: 'a missing namespace is not found',
    run: (kit) => fails(kit.catalog.listTables({ id: missing(kit) }), NAMESPACE_NOT_FOUND, 404),
  },
  {
    operation: 'ListAllTables',
    name: 'lists a table by its full id',
    run: async (kit) => {
      const id = await table(kit);
      const { tables } = await kit.catalog.listAllTables({});
      holds(`the id ${id.join('$')}`, tables.includes(id.join('$')), tables.slice(0, 20));
    },
  },
  {
    operation: 'DeclareTable',
    name: 'a declared table is only declared',
    run: async (kit) => {
      const id = [...kit.home, kit.fresh('t')];
      const { location } = await kit.catalog.declareTable({ id });
      holds('a location', typeof location === 'string', location);
      const found = await kit.catalog.describeTable({ id, check_declared: true });
      same('is_only_declared', found.is_only_declared, true);
      await fails(kit.catalog.declareTable({ id }), TABLE_EXISTS, 409);
    },
  },
  {
    operation: 'RenameTable',
    name: 'moves a table to another name',
    run: async (kit) => {
      const id = await table(kit);
      const name = kit.fresh('renamed');
      await kit.catalog.renameTable({ id, new_table_name: name });
      same('rows', (await kit.catalog.countTableRows({ id: [...kit.home, name] })).count, 3);
      await fails(kit.catalog.tableExists({ id }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DropTable',
    name: 'a dropped table is gone',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.dropTable({ id });
      await fails(kit.catalog.tableExists({ id }), TABLE_NOT_FOUND, 404);
      await fails(kit.catalog.dropTable({ id }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'ListTableVersions',
    name: 'every write is a version',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      const { versions } = await kit.catalog.listTableVersions({ id, descending: true });
      same(
        'versions',
        versions.map(({ version }) => version),
        [2, 1],
      );
    },
  },
  {
    operation: 'DescribeTableVersion',
    name: 'a missing version is not found',
    run: async (kit) => {
      const id = await table(kit);
      same(
        'version',
        (await kit.catalog.describeTableVersion({ id, version: 1 })).version.version,
        1,
      );
      await fails(kit.catalog.describeTableVersion({ id, version: 99 }), VERSION_NOT_FOUND, 404);
    },
  },
  {
    operation: 'RestoreTable',
    name: 'an old version becomes the latest',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.restoreTable({ id, version: 1 });
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'CreateTableTag',
    name: 'a tag names its version until it is moved or deleted',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      same('version', (await kit.catalog.getTableTagVersion({ id, tag: 'v' })).version, 1);
      await fails(kit.catalog.createTableTag({ id, tag: 'v', version: 2 }), TAG_EXISTS, 409);
    },
  },
  {
    operation: 'UpdateTableTag',
    name: 'moves a tag',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(1, 3));
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      await kit.catalog.updateTableTag({ id, tag: 'v', version: 2 });
      same('version', (await kit.catalog.getTableTagVersion({ id, tag: 'v' })).version, 2);
    },
  },
  {
    operation: 'ListTableTags',
    name: 'lists tags with their versions',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      same('version', (await kit.catalog.listTableTags({ id })).tags.v?.version, 1);
    },
  },
  {
    operation: 'DeleteTableTag',
    name: 'a deleted tag is not found',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableTag({ id, tag: 'v', version: 1 });
      await kit.catalog.deleteTableTag({ id, tag: 'v' });
      await fails(kit.catalog.getTableTagVersion({ id, tag: 'v' }), TAG_NOT_FOUND, 404);
    },
  },
  {
    operation: 'GetTableTagVersion',
    name: 'a missing tag is not found',
    run: async (kit) => {
      const id = await table(kit);
      await fails(kit.catalog.getTableTagVersion({ id, tag: 'missing' }), TAG_NOT_FOUND, 404);
    },
  },
  {
    operation: 'CreateTableBranch',
    name: 'what is written to a branch is not seen beside it',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      await kit.catalog.insertIntoTable({ id, branch: 'b' }, rows(2, 3));
      same('rows', (await kit.catalog.countTableRows({ id, branch: 'b' })).count, 5);
      same('rows', (await kit.catalog.countTableRows({ id })).count, 3);
    },
  },
  {
    operation: 'ListTableBranches',
    name: 'lists branches with their parents',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      const { branches } = await kit.catalog.listTableBranches({ id });
      same('parentVersion', branches.b?.parentVersion, 1);
    },
  },
  {
    operation: 'DeleteTableBranch',
    name: 'a deleted branch is not found',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.createTableBranch({ id, name: 'b' });
      await kit.catalog.deleteTableBranch({ id, name: 'b' });
      await fails(kit.catalog.deleteTableBranch({ id, name: 'b' }), BRANCH_NOT_FOUND, 404);
    },
  },
  {
    operation: 'GetTableStats',
    name: 'counts rows and fragments',
    run: async (kit) => {
      const stats = await kit.catalog.getTableStats({ id: await table(kit) });
      same('num_rows', stats.num_rows, 3);
      holds('fragments', stats.fragment_stats.num_fragments >= 1, stats.fragment_stats);
    },
  },
  {
    operation: 'UpdateTableSchemaMetadata',
    name: 'replaces the metadata of the schema',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.updateTableSchemaMetadata({ id, metadata: { a: '1' } });
      const { schema } = await kit.catalog.describeTable({ id, load_detailed_metadata: true });
      same('metadata', schema?.metadata?.a, '1');
    },
  },
];
