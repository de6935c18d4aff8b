/** Cases about indexes, backfills and materialized views, which many servers do not have. */
import { type ConformanceCase, fails, missing, same, table } from './conformance-kit.ts';

const NAMESPACE_NOT_FOUND = 1;
const TABLE_NOT_FOUND = 4;
const INDEX_NOT_FOUND = 6;

export const INDEX_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateTableIndex',
    name: 'indexes a column of a table that is there',
    run: async (kit) => {
      const index = { column: 'id', index_type: 'BTREE' };
      await kit.catalog.createTableIndex({ id: await table(kit), ...index });
      const absent = { id: missing(kit), ...index };
      await fails(kit.catalog.createTableIndex(absent), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'CreateTableScalarIndex',
    name: 'indexes a column of a table that is there',
    run: async (kit) => {
      const index = { column: 'id', index_type: 'BTREE' };
      await kit.catalog.createTableScalarIndex({ id: await table(kit), ...index });
      const absent = { id: missing(kit), ...index };
      await fails(kit.catalog.createTableScalarIndex(absent), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'ListTableIndices',
    name: 'a new table has none',
    run: async (kit) => {
      same('indexes', (await kit.catalog.listTableIndices({ id: await table(kit) })).indexes, []);
    },
  },
  {
    operation: 'DescribeTableIndexStats',
    name: 'a missing index is not found',
    run: async (kit) => {
      const absent = { id: await table(kit), index_name: 'missing' };
      await fails(kit.catalog.describeTableIndexStats(absent), INDEX_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DropTableIndex',
    name: 'a missing index is not found',
    run: async (kit) => {
      const absent = { id: await table(kit), index_name: 'missing' };
      await fails(kit.catalog.dropTableIndex(absent), INDEX_NOT_FOUND, 404);
    },
  },
  {
    operation: 'AlterTableBackfillColumns',
    name: 'a missing table is not found',
    run: async (kit) => {
      const absent = { id: missing(kit), column: 'id' };
      await fails(kit.catalog.alterTableBackfillColumns(absent), TABLE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'a missing namespace is not found',
    run: async (kit) => {
      const view = { kind: 'query', source_query: 'SELECT 1', output_schema: '' } as const;
      const absent = { id: [...missing(kit), 'v'], ...view };
      await fails(kit.catalog.createMaterializedView(absent), NAMESPACE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'RefreshMaterializedView',
    name: 'a missing view is not found',
    run: async (kit) => {
      await fails(kit.catalog.refreshMaterializedView({ id: missing(kit) }), TABLE_NOT_FOUND, 404);
    },
  },
];
