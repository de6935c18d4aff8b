/**
 * Lists the conformance cases of renaming, registering, deregistering and dropping tables, of
 * committing several tables at once, and of table statistics (`ENTRY_CASES`).
 */
import { type ConformanceCase, fails, holds, SAYS, same } from '../kit/index.ts';

export const ENTRY_CASES: readonly ConformanceCase[] = [
  {
    operation: 'RenameTable',
    name: 'a renamed table has its new name only',
    basis: 'Rename table `id` to a new name.',
    run: async (kit) => {
      const id = await kit.entry();
      const name = kit.name('renamed');
      await kit.call('RenameTable', { id, new_table_name: name });
      holds('the new name', await kit.isThere('table', [...id.slice(0, -1), name]), 'nothing');
      holds('no old name', !(await kit.isThere('table', id)), 'it is there');
    },
  },
  {
    operation: 'RenameTable',
    name: 'moves a table to another namespace',
    basis: 'New namespace identifier to move the table to',
    run: async (kit) => {
      const id = await kit.entry();
      const target = await kit.namespace();
      await kit.call('RenameTable', { id, new_table_name: 'moved', new_namespace_id: target });
      holds('the new name', await kit.isThere('table', [...target, 'moved']), 'nothing');
    },
  },
  {
    operation: 'RenameTable',
    name: 'a taken name is a conflict, and a missing table is not found',
    basis: `${SAYS.tableTaken}. ${SAYS.tableMissing}`,
    run: async (kit) => {
      const [id, other] = [await kit.entry(), await kit.entry()];
      const taken = { id, new_table_name: other.at(-1) ?? '' };
      await fails(kit.call('RenameTable', taken), 'TableAlreadyExists');
      const missing = { id: kit.id('no'), new_table_name: kit.name('t') };
      await fails(kit.call('RenameTable', missing), 'TableNotFound');
    },
  },
  {
    operation: 'DropTable',
    name: 'drops a table; a second time it is not found',
    basis: `Drop table \`id\` and delete its data. ${SAYS.tableMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('DropTable', { id });
      await fails(kit.call('DropTable', { id }), 'TableNotFound');
    },
  },
  {
    operation: 'DropTable',
    name: 'a dropped table is gone',
    basis: 'Drop table `id` and delete its data.',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('DropTable', { id });
      holds('no table', !(await kit.isThere('table', id)), 'it is there');
    },
  },
  {
    operation: 'DeregisterTable',
    name: 'forgets a table; a second time it is not found',
    basis: `Deregister table \`id\` from its namespace. ${SAYS.tableMissing}`,
    run: async (kit) => {
      const id = await kit.entry();
      await kit.call('DeregisterTable', { id });
      await fails(kit.call('DeregisterTable', { id }), 'TableNotFound');
    },
  },
  {
    operation: 'DeregisterTable',
    name: 'a forgotten table is gone',
    basis: 'Deregister table `id` from its namespace.',
    run: async (kit) => {
      const id = await kit.entry();
      await kit.call('DeregisterTable', { id });
      holds('no table', !(await kit.isThere('table', id)), 'it is there');
    },
  },
  {
    operation: 'RegisterTable',
    name: 'takes the location that deregistering answered, and the rows are back',
    basis:
      'Register an existing table at a given storage location as `id`. The table content remains available in the storage.',
    // The protocol does not say which form a location has, nor where a server takes tables from.
    open: true,
    run: async (kit) => {
      const id = await kit.table();
      const { location = '' } = await kit.call('DeregisterTable', { id });
      const again = kit.id('t');
      await kit.call('RegisterTable', { id: again, location });
      same('rows', await kit.count(again), 3);
    },
  },
  {
    operation: 'BatchCommitTables',
    name: 'declares several tables',
    basis: 'Contains the results of each operation in the same order as the request.',
    run: async (kit) => {
      const ids = [kit.id('t'), kit.id('t')];
      const operations = ids.map((id) => ({ declare_table: { id } }));
      const { results } = await kit.call('BatchCommitTables', { operations });
      same('results', results.length, 2);
      for (const id of ids) holds('the table', await kit.isThere('table', id), 'nothing');
    },
  },
  {
    operation: 'BatchCommitTables',
    name: 'declares all of several tables or none',
    basis: 'All operations are committed atomically: either all succeed or none are applied.',
    run: async (kit) => {
      const [taken, fresh] = [await kit.entry(), kit.id('t')];
      const operations = [fresh, taken].map((id) => ({ declare_table: { id } }));
      await fails(kit.call('BatchCommitTables', { operations }), 'TableAlreadyExists');
      holds('no table', !(await kit.isThere('table', fresh)), 'it is there');
    },
  },
  {
    operation: 'GetTableStats',
    name: 'counts the rows and the fragments',
    basis: 'The number of rows in the table',
    run: async (kit) => {
      const stats = await kit.call('GetTableStats', { id: await kit.table() });
      same('num_rows', stats.num_rows, 3);
      holds('fragments', stats.fragment_stats.num_fragments >= 1, stats.fragment_stats);
    },
  },
  {
    operation: 'GetTableStats',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('GetTableStats', { id: kit.id('no') }), 'TableNotFound'),
  },
];
