/** Cases about tables as entries of a catalog. Numbers are the protocol's. */
import {
  type ConformanceCase,
  fails,
  holds,
  missing,
  refused,
  rows,
  same,
  table,
} from './conformance-kit.ts';
import { ARROW_STREAM_TYPE, JSON_TYPE } from './header-names.ts';

const NAMESPACE_NOT_FOUND = 1;
const TABLE_NOT_FOUND = 4;
const TABLE_EXISTS = 5;
const INVALID = 13;

const pathOf = (id: readonly string[], verb: string): string =>
  `/v1/table/${encodeURIComponent(id.join('$'))}/${verb}`;

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
    operation: 'DeregisterTable',
    name: 'a table that is forgotten is gone',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.deregisterTable({ id });
      await fails(kit.catalog.tableExists({ id }), TABLE_NOT_FOUND, 404);
      await fails(kit.catalog.deregisterTable({ id }), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'RegisterTable',
    name: 'a table that was forgotten is back with its rows, from the location that was answered',
    run: async (kit) => {
      const id = await table(kit);
      const { location = '' } = await kit.catalog.deregisterTable({ id });
      const again = [...kit.home, kit.fresh('t')];
      await kit.catalog.registerTable({ id: again, location });
      same('rows', (await kit.catalog.countTableRows({ id: again })).count, 3);
    },
  },
  {
    operation: 'BatchCommitTables',
    name: 'several tables are declared as one, or none of them',
    run: async (kit) => {
      const ids = [kit.fresh('t'), kit.fresh('t')].map((name) => [...kit.home, name]);
      const declare = (id: readonly string[] = []) => ({ declare_table: { id: [...id] } });
      const operations = ids.map(declare);
      const { results } = await kit.catalog.batchCommitTables({ operations });
      same('results', results.length, 2);
      for (const id of ids) await kit.catalog.tableExists({ id });
      const fresh = [...kit.home, kit.fresh('t')];
      const clash = { operations: [declare(fresh), declare(ids[0])] };
      await fails(kit.catalog.batchCommitTables(clash), TABLE_EXISTS, 409);
      await fails(kit.catalog.tableExists({ id: fresh }), TABLE_NOT_FOUND, 404);
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
