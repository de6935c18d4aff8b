/**
 * Lists the conformance cases of column backfills and materialized views (`DERIVED_CASES`). Servers
 * may do the work after their answer, so no case expects it to be finished.
 */
import { isDirspaceError } from '../../errors.ts';
import type { CreateMaterializedViewRequest } from '../../protocol/index.ts';
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  namesOf,
  rows,
  SAYS,
  same,
  Undecided,
  valuesIn,
} from '../kit/index.ts';

const every = { k: 100, vector: {} };

/** Declares a computed column, where the server backfills any. */
async function declared(kit: Kit, id: string[]): Promise<void> {
  const missing = kit.call('AlterTableBackfillColumns', { id, column: 'missing' });
  await fails(missing, 'TableColumnNotFound', 'InvalidInput');
  const new_columns = [{ name: 'double', computed: 'id * 2' }];
  await kit.call('AlterTableAddColumns', { id, new_columns });
}

const CREATES = 'CreateMaterializedViewRequest: kind, source_query and output_schema are required.';
const REFRESHES = 'RefreshMaterializedViewResponse: job_id is required.';

/** A view of the rows of `source` above 0: their id, and twice as much. */
const viewOf = (
  source: readonly string[],
  {
    expression = 'id * 2',
    ...more
  }: { readonly expression?: string; readonly with_no_data?: boolean } = {},
): CreateMaterializedViewRequest => ({
  kind: 'query',
  source_query: JSON.stringify({
    source_table: source.at(-1),
    ...(source.length > 1 ? { source_namespace: source.slice(0, -1) } : {}),
    projections: [
      { output: 'id', expression: 'id' },
      { output: 'double', expression },
    ],
    filter: 'id > 0',
  }),
  output_schema: '',
  ...more,
});

/** @throws Undecided where the server takes queries in another form, which the protocol leaves open */
async function madeView(
  kit: Kit,
  source: readonly string[],
  more: { readonly with_no_data?: boolean } = {},
): Promise<string[]> {
  const id = kit.id('view');
  try {
    await kit.call('CreateMaterializedView', { id, ...viewOf(source, more) });
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput')) throw error;
    const why = `The query of a view in JSON is refused: ${error.message}`;
    throw new Undecided('not decidable', why);
  }
  return id;
}

/** The ids of a view, in order, of which every `double` is twice as much. */
async function idsOfView(kit: Kit, id: string[]): Promise<string> {
  const found = await kit.call('QueryTable', { id, ...every });
  same('names of fields', namesOf(found).toSorted(), ['double', 'id']);
  const ids = valuesIn(found, 'id').map(Number);
  same(
    'double',
    valuesIn(found, 'double').map(Number),
    ids.map((one) => 2 * one),
  );
  return ids.toSorted((left, right) => left - right).join(' ');
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
    operation: 'CreateMaterializedView',
    name: 'a view is a table, with the columns of its query',
    basis: CREATES,
    run: async (kit) => {
      const id = await madeView(kit, await kit.table());
      await kit.call('DescribeTable', { id });
      await idsOfView(kit, id);
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'a view that is made without data has no row until it is refreshed',
    basis: 'CreateMaterializedViewRequest: with_no_data is true by default.',
    run: async (kit) => {
      const id = await madeView(kit, await kit.table(), { with_no_data: true });
      same('ids', await idsOfView(kit, id), '');
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'a view with data has the rows of its query, or none yet',
    basis: 'CreateMaterializedViewRequest: with_no_data is true by default.',
    run: async (kit) => {
      const id = await madeView(kit, await kit.table(), { with_no_data: false });
      const ids = await idsOfView(kit, id);
      holds('ids are those of the query, or none', ids === '1 2' || ids === '', ids);
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'the name of a table is taken',
    basis: SAYS.tableTaken,
    run: async (kit) => {
      const source = await kit.table();
      const ids = [await madeView(kit, source), source];
      for (const id of ids) {
        const again = { id, ...viewOf(source) };
        await fails(kit.call('CreateMaterializedView', again), 'TableAlreadyExists');
      }
    },
  },
  {
    operation: 'CreateMaterializedView',
    name: 'a query of a missing table or column fails',
    basis: `${SAYS.tableMissing} ${SAYS.columnMissing}`,
    run: async (kit) => {
      const source = await kit.table();
      await madeView(kit, source);
      const id = kit.id('view');
      const missing = { id, ...viewOf(kit.id('no')) };
      await fails(kit.call('CreateMaterializedView', missing), 'TableNotFound', 'InvalidInput');
      const column = { id, ...viewOf(source, { expression: 'missing + 1' }) };
      const work = kit.call('CreateMaterializedView', column);
      await fails(work, 'TableColumnNotFound', 'InvalidInput');
      // Nothing has taken the name.
      await kit.call('CreateMaterializedView', { id, ...viewOf(source) });
    },
  },
  {
    operation: 'RefreshMaterializedView',
    name: 'a missing view is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('RefreshMaterializedView', { id: kit.id('no') }), 'TableNotFound'),
  },
  {
    operation: 'RefreshMaterializedView',
    name: 'answers a job, and a view has the rows of before or of after a refresh',
    basis: REFRESHES,
    run: async (kit) => {
      const source = await kit.table();
      const id = await madeView(kit, source);
      const refresh = async (...states: readonly string[]): Promise<void> => {
        const { job_id } = await kit.call('RefreshMaterializedView', { id });
        if (typeof job_id !== 'string' || job_id === '') same('job_id', job_id, 'the id of a job');
        const ids = await idsOfView(kit, id);
        holds('ids are those of before or after', states.includes(ids), ids);
      };
      await refresh('', '1 2');
      await kit.call('InsertIntoTable', { id: source }, rows(2, 3));
      await refresh('', '1 2', '1 2 3 4');
      await refresh('', '1 2', '1 2 3 4');
    },
  },
  {
    operation: 'RefreshMaterializedView',
    name: 'a table that is no view is not refreshed',
    basis: `${SAYS.tableMissing} ${SAYS.malformed}`,
    run: async (kit) => {
      const work = kit.call('RefreshMaterializedView', { id: await kit.table() });
      await fails(work, 'TableNotFound', 'InvalidInput');
    },
  },
];
