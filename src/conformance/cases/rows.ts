/**
 * Lists the conformance cases of inserting, counting, merging, updating and deleting rows, and of
 * restoring versions (`ROW_CASES`).
 */
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  pathOf,
  rows,
  SAYS,
  same,
  valuesIn,
} from '../kit/index.ts';

/** The ids of the rows, in order of their values. */
async function idsOf(kit: Kit, id: string[]): Promise<unknown[]> {
  const found = valuesIn(await kit.call('QueryTable', { id, k: 1000, vector: {} }), 'id');
  return found.toSorted((left, right) => Number(left) - Number(right));
}

export const ROW_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CountTableRows',
    name: 'counts the rows of tables of several sizes',
    basis: 'Count the number of rows in table `id`',
    run: async (kit) => {
      for (const size of [3, 5]) {
        const { count } = await kit.call('CountTableRows', { id: await kit.table(size) });
        same('count', count, size);
      }
    },
  },
  {
    operation: 'CountTableRows',
    name: 'answers a plain integer',
    basis:
      'REST namespace returns the response as a plain integer instead of the `CountTableRowsResponse` JSON object.',
    run: async (kit) => {
      const path = pathOf('table', await kit.table(), 'count_rows');
      const { status, json } = await kit.send('POST', path, {
        body: '{}',
        type: 'application/json',
      });
      same('status', status, 200);
      same('the body', json, 3);
    },
  },
  {
    operation: 'CountTableRows',
    name: 'counts the rows that match a predicate',
    basis: 'Optional SQL predicate to filter rows for counting.',
    run: async (kit) => {
      const id = await kit.table();
      same('count', (await kit.call('CountTableRows', { id, predicate: 'id >= 1' })).count, 2);
    },
  },
  {
    operation: 'CountTableRows',
    name: 'counts the rows of an old version; a missing version is not found',
    basis: SAYS.versionMissing,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('InsertIntoTable', { id }, rows(2, 3));
      same('count', (await kit.call('CountTableRows', { id, version })).count, 3);
      const missing = kit.call('CountTableRows', { id, version: version + 1000 });
      await fails(missing, 'TableVersionNotFound');
    },
  },
  {
    operation: 'CountTableRows',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('CountTableRows', { id: kit.id('no') }), 'TableNotFound'),
  },
  {
    operation: 'InsertIntoTable',
    name: 'appends rows to a table',
    basis: 'Append (default): insert data to the existing table',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('InsertIntoTable', { id }, rows(2, 3));
      await kit.call('InsertIntoTable', { id, mode: 'Append' }, rows(2, 5));
      same('rows', await kit.count(id), 7);
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'mode Overwrite replaces the rows, in both spellings',
    basis: `Overwrite: remove all data in the table and then insert data to it. ${SAYS.words}`,
    run: async (kit) => {
      const id = await kit.table();
      for (const [at, mode] of ['Overwrite', 'overwrite'].entries()) {
        await kit.call('InsertIntoTable', { id, mode }, rows(2 - at, 3));
        same('rows', await kit.count(id), 2 - at);
      }
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'creates a table that was only declared',
    basis:
      'For tables that have been declared but not yet created on storage (is_only_declared=true), this operation will create the table with the provided data.',
    run: async (kit) => {
      const id = kit.id('t');
      await kit.call('DeclareTable', { id });
      await kit.call('InsertIntoTable', { id }, rows(2));
      same('rows', await kit.count(id), 2);
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) =>
      fails(kit.call('InsertIntoTable', { id: kit.id('no') }, rows(1)), 'TableNotFound'),
  },
  {
    operation: 'UpdateTable',
    name: 'changes the rows that match the predicate, and counts them',
    basis:
      "Each update consists of a field path and an SQL expression that will be evaluated against the current row's value. Optionally, a predicate can be provided to filter which rows to update.",
    run: async (kit) => {
      const id = await kit.table();
      const updates = [['name', "'new'"]];
      const answer = await kit.call('UpdateTable', { id, predicate: 'id = 1', updates });
      same('updated_rows', answer.updated_rows, 1);
      const found = await kit.call('QueryTable', { id, k: 10, vector: {} });
      const named = valuesIn(found, 'name').filter((name) => name === 'new');
      same('rows with the new name', named.length, 1);
    },
  },
  {
    operation: 'UpdateTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const missing = { id: kit.id('no'), updates: [['name', "'new'"]] };
      await fails(kit.call('UpdateTable', missing), 'TableNotFound');
    },
  },
  {
    operation: 'DeleteFromTable',
    name: 'deletes the rows that match the predicate',
    basis: 'Delete data from table based on a SQL predicate.',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('DeleteFromTable', { id, predicate: 'id = 1' });
      same('rows', await kit.count(id), 2);
      same('ids', await idsOf(kit, id), [0, 2]);
    },
  },
  {
    operation: 'DeleteFromTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) =>
      fails(
        kit.call('DeleteFromTable', { id: kit.id('no'), predicate: 'id = 1' }),
        'TableNotFound',
      ),
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'updates what matches and inserts what does not, and counts both',
    basis:
      "This operation updates existing rows based on a matching column and inserts new rows that don't match. It returns the number of rows inserted and updated.",
    run: async (kit) => {
      const id = await kit.table();
      const answer = await kit.call(
        'MergeInsertIntoTable',
        { id, on: ['id'], when_matched_update_all: true, when_not_matched_insert_all: true },
        rows(2, 2),
      );
      same('num_updated_rows', answer.num_updated_rows, 1);
      same('num_inserted_rows', answer.num_inserted_rows, 1);
      same('ids', await idsOf(kit, id), [0, 1, 2, 3]);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'with several columns in on, a row matches where all are equal',
    basis: "when_not_matched_insert_all: Insert all columns when rows don't match",
    run: async (kit) => {
      const id = await kit.table();
      const updates = [['name', "'other'"]];
      await kit.call('UpdateTable', { id, predicate: 'id = 1', updates });
      await kit.call(
        'MergeInsertIntoTable',
        { id, on: ['id', 'name'], when_not_matched_insert_all: true },
        rows(3),
      );
      same('rows', await kit.count(id), 4);
      same('ids', await idsOf(kit, id), [0, 1, 1, 2]);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'when_not_matched_by_source_delete deletes what the data does not have',
    basis: "Delete all rows from target table that don't match a row in the source table",
    run: async (kit) => {
      const id = await kit.table();
      await kit.call(
        'MergeInsertIntoTable',
        { id, on: ['id'], when_not_matched_by_source_delete: true, when_matched_update_all: true },
        rows(1, 2),
      );
      same('rows', await kit.count(id), 1);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'when_not_matched_by_source_delete_filt deletes what has no match and fits',
    basis:
      'Delete rows from the target table if there is no match AND the SQL expression evaluates to true.',
    run: async (kit) => {
      const id = await kit.table();
      const filter = { when_not_matched_by_source_delete_filt: 'id < 1' };
      const clauses = { when_not_matched_by_source_delete: true, when_matched_update_all: true };
      await kit.call('MergeInsertIntoTable', { id, on: ['id'], ...clauses, ...filter }, rows(1, 2));
      same('ids', await idsOf(kit, id), [1, 2]);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'when_matched_update_all_filt chooses the rows that are updated',
    basis:
      'The row is updated (similar to UpdateAll) only for rows where the SQL expression evaluates to true.',
    // How the expression names the columns of the table and those of the data is not said.
    open: true,
    run: async (kit) => {
      const id = await kit.table();
      const filter = { when_matched_update_all_filt: 'target.id >= 1' };
      const answer = await kit.call(
        'MergeInsertIntoTable',
        { id, on: ['id'], when_matched_update_all: true, ...filter },
        rows(3),
      );
      same('num_updated_rows', answer.num_updated_rows, 2);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'creates a table that was only declared',
    basis:
      'For tables that have been declared but not yet created on storage (is_only_declared=true), this operation will create the table with the provided data (since there are no existing rows to merge with).',
    run: async (kit) => {
      const id = kit.id('t');
      await kit.call('DeclareTable', { id });
      const clauses = { when_matched_update_all: true, when_not_matched_insert_all: true };
      await kit.call('MergeInsertIntoTable', { id, on: ['id'], ...clauses }, rows(2));
      same('rows', await kit.count(id), 2);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const missing = { id: kit.id('no'), on: ['id'], when_not_matched_insert_all: true };
      await fails(kit.call('MergeInsertIntoTable', missing, rows(1)), 'TableNotFound');
    },
  },
  {
    operation: 'RestoreTable',
    name: 'an old version becomes the newest',
    basis: 'Restore table `id` to a specific version.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      await kit.call('RestoreTable', { id, version });
      same('rows', await kit.count(id), 3);
      holds('a newer version', (await kit.version(id)) > version + 1, await kit.version(id));
    },
  },
];
