/**
 * Lists the conformance cases of adding, altering and dropping columns, and of changing the
 * metadata of schemas and fields (`COLUMN_CASES`).
 */
import {
  type ConformanceCase,
  fails,
  type Kit,
  namesOf,
  SAYS,
  same,
  valuesIn,
} from '../kit/index.ts';

const every = { k: 100, vector: {} };

async function schemaOf(kit: Kit, id: string[]) {
  const { schema } = await kit.call('DescribeTable', { id, load_detailed_metadata: true });
  return schema;
}

export const COLUMN_CASES: readonly ConformanceCase[] = [
  {
    operation: 'AlterTableAddColumns',
    name: 'adds a column of an expression',
    basis: 'SQL expression for the column (optional if virtual_column or computed is specified).',
    run: async (kit) => {
      const id = await kit.table();
      const new_columns = [{ name: 'double', expression: 'id * 2' }];
      await kit.call('AlterTableAddColumns', { id, new_columns });
      const found = valuesIn(await kit.call('QueryTable', { id, ...every }), 'double').map(Number);
      same('values', found.toSorted(), [0, 2, 4]);
    },
  },
  {
    operation: 'AlterTableAddColumns',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: async (kit) => {
      const new_columns = [{ name: 'double', expression: 'id * 2' }];
      const missing = { id: kit.id('no'), new_columns };
      await fails(kit.call('AlterTableAddColumns', missing), 'TableNotFound');
    },
  },
  {
    operation: 'AlterTableAlterColumns',
    name: 'renames a column',
    basis: 'New name for the column (optional)',
    run: async (kit) => {
      const id = await kit.table();
      const alterations = [{ path: 'name', rename: 'title' }];
      await kit.call('AlterTableAlterColumns', { id, alterations });
      const names = namesOf(await kit.call('QueryTable', { id, ...every }));
      // No sentence orders the columns of an answer.
      same('names', names.toSorted(), ['id', 'title']);
    },
  },
  {
    operation: 'AlterTableAlterColumns',
    name: 'a missing column is not found',
    basis:
      'leaf names alone only identify top-level fields; invalid or unresolved paths should return InvalidInput or TableColumnNotFound.',
    run: async (kit) => {
      const id = await kit.table();
      const alterations = [{ path: 'missing', rename: 'title' }];
      const altered = kit.call('AlterTableAlterColumns', { id, alterations });
      await fails(altered, 'TableColumnNotFound', 'InvalidInput');
    },
  },
  {
    operation: 'AlterTableDropColumns',
    name: 'drops a column',
    basis: 'Remove specified columns from table `id`.',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('AlterTableDropColumns', { id, columns: ['name'] });
      same('names', namesOf(await kit.call('QueryTable', { id, ...every })), ['id']);
    },
  },
  {
    operation: 'AlterTableDropColumns',
    name: 'a missing column is not found',
    basis:
      'leaf names alone only identify top-level fields; invalid or unresolved paths should return InvalidInput or TableColumnNotFound.',
    run: async (kit) => {
      const dropped = { id: await kit.table(), columns: ['missing'] };
      const work = kit.call('AlterTableDropColumns', dropped);
      await fails(work, 'TableColumnNotFound', 'InvalidInput');
    },
  },
  {
    operation: 'UpdateFieldMetadata',
    name: 'merges metadata of a field; null deletes a key, replace the rest',
    basis:
      "Each entry targets a field by `path` and merges the provided key-value pairs into that field's existing metadata, or replaces it when `replace` is true. A null metadata value deletes that key.",
    run: async (kit) => {
      const id = await kit.table();
      const update = async (metadata: Record<string, string | null>, replace = false) => {
        const updates = [{ path: 'id', metadata, ...(replace ? { replace } : {}) }];
        await kit.call('UpdateFieldMetadata', { id, updates });
        const {
          a = null,
          b = null,
          c = null,
        } = (await schemaOf(kit, id))?.fields[0]?.metadata ?? {};
        return [a, b, c];
      };
      same('a, b, c', await update({ a: '1', b: '2' }), ['1', '2', null]);
      same('a, b, c', await update({ b: null, c: '3' }), ['1', null, '3']);
      same('a, b, c', await update({ b: '4' }, true), [null, '4', null]);
    },
  },
  {
    operation: 'UpdateTableSchemaMetadata',
    name: 'replaces the metadata of the schema',
    basis: 'Replace the schema metadata for table `id` with the provided key-value pairs.',
    run: async (kit) => {
      const id = await kit.table();
      await kit.call('UpdateTableSchemaMetadata', { id, metadata: { a: '1' } });
      await kit.call('UpdateTableSchemaMetadata', { id, metadata: { b: '2' } });
      const { a = null, b = null } = (await schemaOf(kit, id))?.metadata ?? {};
      same('a and b', [a, b], [null, '2']);
    },
  },
];
