/** Cases about the rows of tables: adding, reading, changing them, and changing their columns. */
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  missing,
  refused,
  rows,
  same,
  table,
} from './conformance-kit.ts';
import { ARROW_FILE_TYPE, JSON_TYPE, mediaType } from './header-names.ts';

const TABLE_NOT_FOUND = 4;

/** The values of a column in the answer to a query. */
async function values(
  kit: Kit,
  request: Parameters<Kit['catalog']['queryTable']>[0],
  column = 'id',
): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const batch of await kit.catalog.queryTable(request)) {
    found.push(...(batch.getChild(column) ?? []));
  }
  return found;
}

export const ROW_CASES: readonly ConformanceCase[] = [
  {
    operation: 'InsertIntoTable',
    name: 'adds rows',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(2, 3));
      same('rows', (await kit.catalog.countTableRows({ id })).count, 5);
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'mode overwrite replaces the rows',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id, mode: 'overwrite' }, rows(2, 3));
      same('rows', (await kit.catalog.countTableRows({ id })).count, 2);
    },
  },
  {
    operation: 'InsertIntoTable',
    name: 'a missing table is not found',
    run: (kit) =>
      fails(kit.catalog.insertIntoTable({ id: missing(kit) }, rows(1)), TABLE_NOT_FOUND, 404),
  },
  {
    operation: 'CountTableRows',
    name: 'answers a bare integer',
    run: async (kit) => {
      const id = await table(kit);
      const path = `/v1/table/${encodeURIComponent(id.join('$'))}/count_rows`;
      const { status, json } = await kit.send('POST', path, { body: '{}', type: JSON_TYPE });
      same('status', status, 200);
      same('the body', json, 3);
    },
  },
  {
    operation: 'CountTableRows',
    name: 'counts the rows of an old version',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(2, 3));
      same('rows', (await kit.catalog.countTableRows({ id, version: 1 })).count, 3);
    },
  },
  {
    operation: 'CountTableRows',
    name: 'counts the rows that match a predicate',
    run: async (kit) => {
      const id = await table(kit);
      same('rows', (await kit.catalog.countTableRows({ id, predicate: 'id >= 1' })).count, 2);
    },
  },
  {
    operation: 'QueryTable',
    name: 'answers an Arrow file where nothing else is asked for',
    run: async (kit) => {
      const id = await table(kit);
      const path = `/v1/table/${encodeURIComponent(id.join('$'))}/query`;
      const answer = await kit.send('POST', path, { body: '{"k":2}', type: JSON_TYPE });
      same('status', answer.status, 200);
      same('type', mediaType(answer.headers.get('content-type')), ARROW_FILE_TYPE);
      same('magic', new TextDecoder().decode(answer.bytes.subarray(0, 6)), 'ARROW1');
    },
  },
  {
    operation: 'QueryTable',
    name: 'k and offset choose rows',
    run: async (kit) => {
      const id = await table(kit, 5);
      same('ids', await values(kit, { id, k: 2, offset: 1 }), [1, 2]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'columns choose columns',
    run: async (kit) => {
      const id = await table(kit);
      const answer = await kit.catalog.queryTable({
        id,
        k: 1,
        columns: { column_names: ['name'] },
      });
      same(
        'names of fields',
        answer.schema.fields.map(({ name }) => name),
        ['name'],
      );
    },
  },
  {
    operation: 'QueryTable',
    name: 'a filter chooses rows',
    run: async (kit) => {
      const id = await table(kit, 5);
      same('ids', await values(kit, { id, k: 10, filter: 'id > 2' }), [3, 4]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a version is read as it was',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.insertIntoTable({ id }, rows(2, 3));
      same('ids', await values(kit, { id, k: 10, version: 1 }), [0, 1, 2]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a request without k is refused',
    run: async (kit) => {
      const id = await table(kit);
      const path = `/v1/table/${encodeURIComponent(id.join('$'))}/query`;
      refused(await kit.send('POST', path, { body: '{}', type: JSON_TYPE }), 400, 13);
    },
  },
  {
    operation: 'UpdateTable',
    name: 'changes the rows that match',
    run: async (kit) => {
      const id = await table(kit);
      const updates = [['name', "'new'"]];
      const answer = await kit.catalog.updateTable({ id, predicate: 'id = 1', updates });
      same('updated_rows', answer.updated_rows, 1);
      const names = await values(kit, { id, k: 10 }, 'name');
      same('rows with the new name', names.filter((name) => name === 'new').length, 1);
    },
  },
  {
    operation: 'DeleteFromTable',
    name: 'deletes the rows that match',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.deleteFromTable({ id, predicate: 'id = 1' });
      same('ids', await values(kit, { id, k: 10 }), [0, 2]);
    },
  },
  {
    operation: 'MergeInsertIntoTable',
    name: 'updates what matches and inserts what does not',
    run: async (kit) => {
      const id = await table(kit);
      const answer = await kit.catalog.mergeInsertIntoTable(
        { id, on: 'id', when_matched_update_all: true, when_not_matched_insert_all: true },
        rows(2, 2),
      );
      same('num_updated_rows', answer.num_updated_rows, 1);
      same('num_inserted_rows', answer.num_inserted_rows, 1);
      same('ids', (await values(kit, { id, k: 10 })).sort(), [0, 1, 2, 3]);
    },
  },
  {
    operation: 'AlterTableAddColumns',
    name: 'adds a column of an expression',
    run: async (kit) => {
      const id = await table(kit);
      const new_columns = [{ name: 'double', expression: 'id * 2' }];
      await kit.catalog.alterTableAddColumns({ id, new_columns });
      same('values', (await values(kit, { id, k: 10 }, 'double')).map(Number), [0, 2, 4]);
    },
  },
  {
    operation: 'AlterTableAlterColumns',
    name: 'renames a column',
    run: async (kit) => {
      const id = await table(kit);
      const alterations = [{ path: 'name', rename: 'title' }];
      await kit.catalog.alterTableAlterColumns({ id, alterations });
      same('values', await values(kit, { id, k: 1 }, 'title'), ['name 0']);
    },
  },
  {
    operation: 'AlterTableDropColumns',
    name: 'drops a column',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.alterTableDropColumns({ id, columns: ['name'] });
      const answer = await kit.catalog.queryTable({ id, k: 1 });
      same(
        'names of fields',
        answer.schema.fields.map(({ name }) => name),
        ['id'],
      );
    },
  },
  {
    operation: 'UpdateFieldMetadata',
    name: 'changes the metadata of a field',
    run: async (kit) => {
      const id = await table(kit);
      await kit.catalog.updateFieldMetadata({
        id,
        updates: [{ path: 'id', metadata: { a: '1' } }],
      });
      const { schema } = await kit.catalog.describeTable({ id, load_detailed_metadata: true });
      same('metadata', schema?.fields[0]?.metadata?.a, '1');
    },
  },
  {
    operation: 'ExplainTableQueryPlan',
    name: 'answers a text',
    run: async (kit) => {
      const { plan } = await kit.catalog.explainTableQueryPlan({
        id: await table(kit),
        query: { k: 1 },
      });
      holds('a plan', plan !== '', plan);
    },
  },
  {
    operation: 'AnalyzeTableQueryPlan',
    name: 'answers a text',
    run: async (kit) => {
      const { analysis } = await kit.catalog.analyzeTableQueryPlan({ id: await table(kit), k: 1 });
      holds('an analysis', analysis !== '', analysis);
    },
  },
];
