/**
 * Lists the conformance cases of column backfills and materialized views (`DERIVED_CASES`). Servers may
 * do the work after their answer, so no case expects it done.
 */
import { type ConformanceCase, fails, type Kit, SAYS, same, valuesIn } from '../kit/index.ts';

const every = { k: 100, vector: {} };

/** Declares a computed column, where the server backfills any. */
async function declared(kit: Kit, id: string[]): Promise<void> {
  const missing = kit.call('AlterTableBackfillColumns', { id, column: 'missing' });
  await fails(missing, 'TableColumnNotFound', 'InvalidInput');
  const new_columns = [{ name: 'double', computed: 'id * 2' }];
  await kit.call('AlterTableAddColumns', { id, new_columns });
}

export const DERIVED_CASES: readonly ConformanceCase[] = [
  {
    operation: 'AlterTableBackfillColumns',
    name: 'answers a job, and values are those of the expression or not there yet',
    basis:
      'The column must be a virtual (UDF-backed) column or a computed column declared with an expression binding. Returns a job ID for tracking.',
    run: async (kit) => {
      const id = await kit.table();
      await declared(kit, id);
      const { job_id } = await kit.call('AlterTableBackfillColumns', { id, column: 'double' });
      if (typeof job_id !== 'string' || job_id === '') same('job_id', job_id, 'the id of a job');
      // The job may be running still.
      const found = await kit.call('QueryTable', { id, ...every });
      const keys = valuesIn(found, 'id').map(Number);
      const wrong = valuesIn(found, 'double').filter(
        (value, at) => value !== null && Number(value) !== 2 * (keys[at] as number),
      );
      same('values that are neither null nor right', wrong, []);
    },
  },
  {
    operation: 'AlterTableBackfillColumns',
    name: 'a computed column is null until it is backfilled',
    basis:
      'The column is added all-null with the expression persisted as its binding in field metadata; its type and input columns are inferred from the expression. Rows are filled by backfill, never at declaration.',
    run: async (kit) => {
      const id = await kit.table();
      await declared(kit, id);
      const found = valuesIn(await kit.call('QueryTable', { id, ...every }), 'double');
      same('values', found, [null, null, null]);
    },
  },
  {
    operation: 'AlterTableBackfillColumns',
    name: 'a column of plain values cannot be filled',
    basis:
      'The column must be a virtual (UDF-backed) column or a computed column declared with an expression binding.',
    run: async (kit) => {
      const id = await kit.table();
      await declared(kit, id);
      const plain = { id, column: 'name' };
      await fails(kit.call('AlterTableBackfillColumns', plain), 'InvalidInput');
    },
  },
  {
    operation: 'AlterTableBackfillColumns',
    name: 'a missing column is not found',
    basis:
      'leaf names alone only identify top-level fields; invalid or unresolved paths should return InvalidInput or TableColumnNotFound.',
    run: async (kit) => {
      const missing = { id: await kit.table(), column: 'missing' };
      const work = kit.call('AlterTableBackfillColumns', missing);
      await fails(work, 'TableColumnNotFound', 'InvalidInput');
    },
  },
  {
    operation: 'AlterTableBackfillColumns',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const missing = { id: kit.id('no'), column: 'id' };
      await fails(kit.call('AlterTableBackfillColumns', missing), 'TableNotFound');
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'a missing namespace is not found',
    basis: SAYS.namespaceMissing,
    run: async (kit) => {
      await kit.needs('CreateNamespace');
      const view = { kind: 'query', source_query: 'SELECT 1', output_schema: '' } as const;
      const missing = { id: [...kit.id('no'), 'v'], ...view };
      await fails(kit.call('CreateMaterializedView', missing), 'NamespaceNotFound');
    },
  },
  {
    operation: 'RefreshMaterializedView',
    name: 'a missing view is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('RefreshMaterializedView', { id: kit.id('no') }), 'TableNotFound'),
  },
];
