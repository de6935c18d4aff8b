/**
 * Lists the conformance cases of querying a table, such as by filter, columns, version or nearest
 * vectors, and of query plans (`QUERY_CASES`).
 */
import { ARROW_FILE_TYPE, mediaType, type QueryTableRequest } from '../../protocol/index.ts';
import {
  type ConformanceCase,
  countOf,
  fails,
  holds,
  type Kit,
  namesOf,
  pathOf,
  type Rows,
  refused,
  rows,
  SAYS,
  same,
  valuesIn,
  vectorRows,
} from '../kit/index.ts';

const JSON_TYPE = 'application/json';

const query = (kit: Kit, id: string[], members: Partial<QueryTableRequest>): Promise<Rows> =>
  kit.call('QueryTable', { id, k: 100, vector: {}, ...members });

/** The ids of an answer, in order of their values: without a vector the protocol promises none. */
const sortedIds = (found: Rows): number[] =>
  valuesIn(found, 'id')
    .map(Number)
    .toSorted((left, right) => left - right);

async function vectorTable(kit: Kit): Promise<string[]> {
  const id = kit.id('v');
  await kit.call('CreateTable', { id, mode: 'Create' }, vectorRows(5));
  return id;
}

const nearest = { vector: { single_vector: [3.2, 1] }, vector_column: 'vector', k: 2 };

export const QUERY_CASES: readonly ConformanceCase[] = [
  {
    operation: 'QueryTable',
    name: 'answers the rows of a table',
    basis:
      'Query table `id` with vector search, full text search and optional SQL filtering. Returns results in Arrow IPC file or stream format.',
    run: async (kit) => {
      const found = await query(kit, await kit.table(5), {});
      same('ids', sortedIds(found), [0, 1, 2, 3, 4]);
      same('names of fields', namesOf(found).toSorted(), ['id', 'name']);
    },
  },
  {
    operation: 'QueryTable',
    name: 'columns have the types of the data that the table was created with',
    basis: 'The schema of the Arrow IPC stream is used as the table schema.',
    run: async (kit) => {
      const { schema } = await query(kit, await vectorTable(kit), {});
      const types = schema.fields.map(({ name, type }) => `${name}: ${String(type)}`);
      same('types', types.toSorted(), ['id: Int32', 'vector: FixedSizeList[2]<Float32>']);
    },
  },
  {
    operation: 'QueryTable',
    name: 'answers an Arrow file',
    basis: 'REST namespace returns the response as Arrow IPC file binary data',
    run: async (kit) => {
      const path = pathOf('table', await kit.table(), 'query');
      const body = JSON.stringify({ k: 2, vector: {} });
      const answer = await kit.send('POST', path, { body, type: JSON_TYPE });
      same('status', answer.status, 200);
      same('type', mediaType(answer.type), ARROW_FILE_TYPE);
      same('first bytes', new TextDecoder().decode(answer.bytes.subarray(0, 6)), 'ARROW1');
    },
  },
  {
    operation: 'QueryTable',
    name: 'k is the number of rows',
    basis: 'Number of results to return',
    run: async (kit) => same('rows', countOf(await query(kit, await kit.table(5), { k: 2 })), 2),
  },
  {
    operation: 'QueryTable',
    name: 'offset skips rows',
    basis: 'Number of results to skip',
    run: async (kit) => {
      same('rows', countOf(await query(kit, await kit.table(5), { offset: 2 })), 3);
    },
  },
  {
    operation: 'QueryTable',
    name: 'column_names choose columns',
    basis: 'List of Lance field paths to return.',
    run: async (kit) => {
      const found = await query(kit, await kit.table(), { columns: { column_names: ['name'] } });
      same('names of fields', namesOf(found), ['name']);
    },
  },
  {
    operation: 'QueryTable',
    name: 'column_aliases name columns anew',
    basis: 'Object mapping output aliases to source Lance field paths.',
    run: async (kit) => {
      const columns = { column_aliases: { title: 'name' } };
      const found = await query(kit, await kit.table(1), { columns });
      same('values', valuesIn(found, 'title'), ['name 0']);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a filter chooses rows',
    basis: 'Optional SQL filter expression.',
    run: async (kit) => {
      same('ids', sortedIds(await query(kit, await kit.table(5), { filter: 'id > 2' })), [3, 4]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a version is read as it was; a missing one is not found',
    basis: `Table version to query. ${SAYS.versionMissing}`,
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('InsertIntoTable', { id }, rows(2, 3));
      same('ids', sortedIds(await query(kit, id, { version })), [0, 1, 2]);
      await fails(query(kit, id, { version: version + 1000 }), 'TableVersionNotFound');
    },
  },
  {
    operation: 'QueryTable',
    name: 'with_row_id answers a column _rowid',
    basis: 'If true, return the row id as a column called `_rowid`',
    run: async (kit) => {
      const found = await query(kit, await kit.table(), { with_row_id: true });
      const ids = valuesIn(found, '_rowid').map(String);
      same('distinct row ids', new Set(ids).size, 3);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a vector search answers the nearest rows, nearest first',
    basis: 'Query vector(s) for similarity search.',
    run: async (kit) => {
      const found = await query(kit, await vectorTable(kit), nearest);
      same('ids', valuesIn(found, 'id').map(Number), [3, 4]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'distance_type chooses the metric',
    basis: 'Distance metric to use',
    run: async (kit) => {
      const id = await vectorTable(kit);
      // By distance the nearest is [1, 1], by angle [3, 1].
      const asked = { ...nearest, vector: { single_vector: [0.6, 0.2] }, k: 1 };
      const idsBy = async (distance_type: string): Promise<number[]> =>
        valuesIn(await query(kit, id, { ...asked, distance_type }), 'id').map(Number);
      same('ids by l2', await idsBy('l2'), [1]);
      same('ids by cosine', await idsBy('cosine'), [3]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'lower_bound and upper_bound bound the distances',
    basis: 'Lower bound for search. Upper bound for search',
    // "For search" does not say of what.
    open: true,
    run: async (kit) => {
      const id = await vectorTable(kit);
      // Distances of 0 for 3, 1 for 2 and 4, and more for the others.
      const asked = { ...nearest, vector: { single_vector: [3, 1] }, k: 5, distance_type: 'l2' };
      same(
        'ids up to 1.5',
        sortedIds(await query(kit, id, { ...asked, upper_bound: 1.5 })),
        [2, 3, 4],
      );
      same(
        'ids from 0.5 on',
        sortedIds(await query(kit, id, { ...asked, lower_bound: 0.5 })),
        [0, 1, 2, 4],
      );
    },
  },
  {
    operation: 'QueryTable',
    name: 'a filter of a vector search is applied before it where prefilter says so',
    basis: 'Whether to apply filtering before vector search',
    run: async (kit) => {
      const asked = { ...nearest, prefilter: true, filter: 'id < 2' };
      const found = await query(kit, await vectorTable(kit), asked);
      same('ids', valuesIn(found, 'id').map(Number), [1, 0]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'takes the bounds of the partitions to search',
    basis:
      'Minimum number of IVF partitions to search before adaptive expansion. Maximum number of IVF partitions to search. When omitted, all partitions may be searched if needed.',
    run: async (kit) => {
      const asked = { ...nearest, minimum_nprobes: 1, maximum_nprobes: 20 };
      const found = await query(kit, await vectorTable(kit), asked);
      same('ids', valuesIn(found, 'id').map(Number), [3, 4]);
    },
  },
  {
    operation: 'QueryTable',
    name: 'a request without k is refused',
    basis: SAYS.malformed,
    malformed: true,
    run: async (kit) => {
      const path = pathOf('table', await kit.table(), 'query');
      refused(await kit.send('POST', path, { body: '{"vector":{}}', type: JSON_TYPE }));
    },
  },
  {
    operation: 'QueryTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(query(kit, kit.id('no'), {}), 'TableNotFound'),
  },
  {
    operation: 'ExplainTableQueryPlan',
    name: 'answers a text',
    basis: 'Returns a human-readable explanation of how the query will be executed.',
    run: async (kit) => {
      const asked = { id: await kit.table(), query: { k: 1, vector: {} } };
      const { plan } = await kit.call('ExplainTableQueryPlan', asked);
      holds('a plan', plan !== '', plan);
    },
  },
  {
    operation: 'AnalyzeTableQueryPlan',
    name: 'answers a text',
    basis: 'Returns detailed statistics and analysis of the query execution plan.',
    run: async (kit) => {
      const asked = { id: await kit.table(), k: 1, vector: {} };
      const { analysis } = await kit.call('AnalyzeTableQueryPlan', asked);
      holds('an analysis', analysis !== '', analysis);
    },
  },
];
