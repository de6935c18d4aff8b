/**
 * Lists the conformance cases of creating, listing, describing and dropping indexes
 * (`INDEX_CASES`).
 */
import { type ConformanceCase, fails, SAYS, same } from '../kit/index.ts';

const index = { column: 'id', index_type: 'BTREE' };

export const INDEX_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateTableIndex',
    name: 'indexes a column of a table; a missing table is not found',
    basis: `Create an index on a table field for faster search operations. ${SAYS.tableMissing}`,
    run: async (kit) => {
      await kit.call('CreateTableIndex', { id: await kit.table(), ...index });
      await fails(kit.call('CreateTableIndex', { id: kit.id('no'), ...index }), 'TableNotFound');
    },
  },
  {
    operation: 'CreateTableScalarIndex',
    name: 'indexes a column of a table; a missing table is not found',
    basis: `Create a scalar index on a table field for faster filtering operations. ${SAYS.tableMissing}`,
    run: async (kit) => {
      await kit.call('CreateTableScalarIndex', { id: await kit.table(), ...index });
      const missing = { id: kit.id('no'), ...index };
      await fails(kit.call('CreateTableScalarIndex', missing), 'TableNotFound');
    },
  },
  {
    operation: 'ListTableIndices',
    name: 'a new table has none; a missing table is not found',
    basis: `List all indices created on a table. ${SAYS.tableMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      same('indexes', (await kit.call('ListTableIndices', { id })).indexes, []);
      await fails(kit.call('ListTableIndices', { id: kit.id('no') }), 'TableNotFound');
    },
  },
  {
    operation: 'DescribeTableIndexStats',
    name: 'a missing index is not found',
    basis: SAYS.indexMissing,
    run: async (kit) => {
      const missing = { id: await kit.table(), index_name: 'missing' };
      await fails(kit.call('DescribeTableIndexStats', missing), 'TableIndexNotFound');
    },
  },
  {
    operation: 'DropTableIndex',
    name: 'a missing index is not found',
    basis: SAYS.indexMissing,
    run: async (kit) => {
      const missing = { id: await kit.table(), index_name: 'missing' };
      await fails(kit.call('DropTableIndex', missing), 'TableIndexNotFound');
    },
  },
];
