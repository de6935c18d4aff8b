/**
 * Lists the conformance cases of creating, declaring, describing and listing tables, and of testing
 * whether a table exists (`TABLE_CASES`).
 */
import { recordBatchStream } from '../../arrow/index.ts';
import { ARROW_STREAM_TYPE } from '../../protocol/index.ts';
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  PAGES_OF_ALL,
  pagesOf,
  pathOf,
  refused,
  rows,
  rowsWithNull,
  SAYS,
  same,
} from '../kit/index.ts';

const JSON_TYPE = 'application/json';

/** The names of the tables, page by page. */
async function tablesOn(
  kit: Kit,
  id: string[],
  asked: { readonly limit?: number; readonly include_declared?: boolean } = {},
): Promise<string[][]> {
  const pages = await pagesOf((page) => kit.call('ListTables', { id, ...asked, ...page }));
  return pages.map(({ tables }) => tables);
}

const DETAILS =
  'When true, the response must include all detailed metadata such as `version`, `schema`, and `stats` which require reading the dataset.';

/** Whether each field of a new table may be null, as its description says. */
async function nullableOf(kit: Kit): Promise<Readonly<Record<string, boolean>>> {
  const id = kit.id('t');
  await kit.call('CreateTable', { id, mode: 'Create' }, rowsWithNull());
  const { schema } = await kit.call('DescribeTable', { id, load_detailed_metadata: true });
  return Object.fromEntries((schema?.fields ?? []).map(({ name, nullable }) => [name, nullable]));
}

export const TABLE_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateTable',
    name: 'creates a table; a second one of its name is a conflict',
    basis: 'Create: the operation fails with 409.',
    run: async (kit) => {
      const id = kit.id('t');
      await kit.call('CreateTable', { id, mode: 'Create' }, rows(3));
      const again = kit.call('CreateTable', { id, mode: 'Create' }, rows(1));
      await fails(again, 'TableAlreadyExists');
    },
  },
  {
    operation: 'CreateTable',
    name: 'a table has the rows that it was created with',
    basis: 'Create table `id` in the namespace with the given data in Arrow IPC stream.',
    run: async (kit) => same('rows', await kit.count(await kit.table(3)), 3),
  },
  {
    operation: 'CreateTable',
    name: 'a stream without rows creates an empty table',
    basis: 'If the stream is empty, the API creates a new empty table.',
    run: async (kit) => {
      const id = kit.id('t');
      const empty = recordBatchStream(rows(1).schema, []);
      await kit.call('CreateTable', { id, mode: 'Create' }, empty);
      same('rows', await kit.count(id), 0);
    },
  },
  {
    operation: 'CreateTable',
    name: 'mode ExistOk leaves an existing table as it is, in both spellings',
    basis: `ExistOk: the operation succeeds and the existing table is kept. ${SAYS.words}`,
    run: async (kit) => {
      const id = await kit.table(3);
      for (const mode of ['ExistOk', 'exist_ok']) {
        await kit.call('CreateTable', { id, mode }, rows(1));
      }
      same('rows', await kit.count(id), 3);
    },
  },
  {
    operation: 'CreateTable',
    name: 'mode Overwrite replaces the rows',
    basis: 'Overwrite: the existing table is dropped and a new table with this name is created.',
    run: async (kit) => {
      const id = await kit.table(3);
      await kit.call('CreateTable', { id, mode: 'Overwrite' }, rows(1));
      same('rows', await kit.count(id), 1);
    },
  },
  {
    operation: 'CreateTable',
    name: 'a missing namespace is not found',
    basis: SAYS.namespaceMissing,
    run: async (kit) => {
      await kit.needs('CreateNamespace');
      const id = [...kit.id('no'), 't'];
      await fails(kit.call('CreateTable', { id, mode: 'Create' }, rows(1)), 'NamespaceNotFound');
    },
  },
  {
    operation: 'CreateTable',
    name: 'bytes that are no Arrow data are refused',
    basis: SAYS.malformed,
    malformed: true,
    run: async (kit) => {
      const id = kit.id('t');
      const body = new TextEncoder().encode('this is no Arrow data');
      const path = `${pathOf('table', id, 'create')}?mode=Create`;
      refused(await kit.send('POST', path, { body, type: ARROW_STREAM_TYPE }));
    },
  },
  {
    operation: 'TableExists',
    name: 'tells what is there from what is not',
    basis: 'a `200` response means the table exists; a `404` response means it does not',
    run: async (kit) => {
      await kit.call('TableExists', { id: await kit.entry() });
      await fails(kit.call('TableExists', { id: kit.id('no') }), 'TableNotFound');
    },
  },
  {
    operation: 'DescribeTable',
    name: 'answers the location of a table',
    basis:
      'This means the implementation only needs to return the table `location` without opening the dataset.',
    run: async (kit) => {
      const { location } = await kit.call('DescribeTable', { id: await kit.entry() });
      holds('a location', typeof location === 'string' && location !== '', location);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'a missing table is not found',
    basis: SAYS.tableMissing,
    run: (kit) => fails(kit.call('DescribeTable', { id: kit.id('no') }), 'TableNotFound'),
  },
  {
    operation: 'DescribeTable',
    name: 'load_detailed_metadata answers version, schema and statistics',
    basis: DETAILS,
    run: async (kit) => {
      const id = await kit.table();
      const found = await kit.call('DescribeTable', { id, load_detailed_metadata: true });
      holds('a version', Number.isInteger(found.version), found.version);
      const names = found.schema?.fields.map(({ name }) => name);
      same('names of fields', names, ['id', 'name']);
      holds('statistics', Number.isInteger(found.stats?.num_fragments), found.stats);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'the schema says of a field that has a null that it is nullable',
    basis: `JSON representation of an Apache Arrow field, whose required \`nullable\` says whether its values may be null. ${DETAILS}`,
    run: async (kit) => same('nullable of name', (await nullableOf(kit)).name, true),
  },
  {
    operation: 'DescribeTable',
    name: 'the schema says of a field that was created as not nullable that it is not',
    basis: `JSON representation of an Apache Arrow field, whose required \`nullable\` says whether its values may be null. ${DETAILS}`,
    // A server may make every field nullable as it stores it.
    open: true,
    run: async (kit) => same('nullable of id', (await nullableOf(kit)).id, false),
  },
  {
    operation: 'DescribeTable',
    name: 'load_detailed_metadata answers the name and the namespace',
    basis: 'Table name. Only populated when `load_detailed_metadata` is true.',
    open: true,
    run: async (kit) => {
      const id = await kit.table();
      const found = await kit.call('DescribeTable', { id, load_detailed_metadata: true });
      same('table', found.table, id.at(-1));
      same('namespace', found.namespace, id.slice(0, -1));
    },
  },
  {
    operation: 'DescribeTable',
    name: 'with_table_uri answers a complete URI',
    basis:
      'Table URI. Unlike location, this field must be a complete and valid URI. Only returned when `with_table_uri` is true.',
    run: async (kit) => {
      const id = await kit.entry();
      const { table_uri } = await kit.call('DescribeTable', { id, with_table_uri: true });
      holds('a URI', /^[a-z][a-z0-9+.-]*:/i.test(table_uri ?? ''), table_uri);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'check_declared tells that a table with rows is more than declared',
    basis: 'When true, the response should populate `is_only_declared`.',
    run: async (kit) => {
      const id = await kit.table();
      const found = await kit.call('DescribeTable', { id, check_declared: true });
      same('is_only_declared', found.is_only_declared, false);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'a tag beside a version is refused',
    basis: 'Cannot be used together with `version` or `branch`.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'x', version });
      await fails(kit.call('DescribeTable', { id, version, tag: 'x' }), 'InvalidInput');
    },
  },
  {
    operation: 'DescribeTable',
    name: 'describes the version of a tag',
    basis:
      'If specified, the server should resolve the tag to a version number and describe that version.',
    run: async (kit) => {
      const id = await kit.table();
      const version = await kit.version(id);
      await kit.call('CreateTableTag', { id, tag: 'x', version });
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      const asked = { id, tag: 'x', load_detailed_metadata: true };
      same('version', (await kit.call('DescribeTable', asked)).version, version);
    },
  },
  {
    operation: 'DescribeTable',
    name: 'describes the latest version where none is named',
    basis:
      'Version of the table to describe. If not specified, server should resolve it to the latest version.',
    run: async (kit) => {
      const id = await kit.table();
      const asked = { id, load_detailed_metadata: true };
      await kit.call('DescribeTable', asked);
      await kit.call('InsertIntoTable', { id }, rows(1, 3));
      same('version', (await kit.call('DescribeTable', asked)).version, await kit.version(id));
    },
  },
  {
    operation: 'DescribeTable',
    name: 'a negative version is refused',
    basis: SAYS.malformed,
    // The shapes say what a valid request is, and not that a server has to check every bound.
    open: true,
    malformed: true,
    run: async (kit) => {
      const path = pathOf('table', await kit.entry(), 'describe');
      refused(await kit.send('POST', path, { body: '{"version":-1}', type: JSON_TYPE }));
    },
  },
  {
    operation: 'ListTables',
    name: 'lists the names of the tables of a namespace',
    basis: 'List all child table names of the parent namespace `id`.',
    run: async (kit) => {
      const id = await kit.namespace();
      for (const name of ['a', 'b']) await kit.entry([...id, name]);
      same('names', (await tablesOn(kit, id)).flat().toSorted(), ['a', 'b']);
    },
  },
  {
    operation: 'ListTables',
    name: 'pages have at most as many names as asked for, and each name once',
    basis: `An inclusive upper bound of the number of results that a caller will receive. ${SAYS.pages}`,
    run: async (kit) => {
      const id = await kit.namespace();
      for (const name of ['a', 'b', 'c']) await kit.entry([...id, name]);
      const pages = await tablesOn(kit, id, { limit: 2 });
      holds(
        'at most 2 names on a page',
        pages.every(({ length }) => length <= 2),
        pages,
      );
      same('names', pages.flat().toSorted(), ['a', 'b', 'c']);
    },
  },
  {
    operation: 'ListTables',
    name: 'include_declared false leaves out what is only declared',
    basis: 'When false, only tables with storage components are returned.',
    run: async (kit) => {
      const id = await kit.namespace();
      await kit.call('CreateTable', { id: [...id, 'a'], mode: 'Create' }, rows(1));
      await kit.call('DeclareTable', { id: [...id, 'b'] });
      const tables = await tablesOn(kit, id, { include_declared: false });
      same('names', tables.flat(), ['a']);
    },
  },
  {
    operation: 'ListTables',
    name: 'a missing namespace is not found',
    basis: SAYS.namespaceMissing,
    run: async (kit) => {
      await kit.needs('CreateNamespace');
      await fails(kit.call('ListTables', { id: kit.id('no') }), 'NamespaceNotFound');
    },
  },
  {
    operation: 'ListAllTables',
    name: 'lists a table by its full identifier',
    basis: 'Each string in the list is the full identifier in string form.',
    run: async (kit) => {
      const name = (await kit.entry()).join('$');
      const pages = await pagesOf(
        (page) => kit.call('ListAllTables', page),
        ({ tables }) => tables.includes(name),
        PAGES_OF_ALL,
      );
      const found = pages.flatMap(({ tables }) => tables);
      holds(`the identifier ${name}`, found.includes(name), found.slice(0, 20));
    },
  },
  {
    operation: 'DeclareTable',
    name: 'declares a table; a second one of its name is a conflict',
    basis: `Declare a table with the given name without touching storage. ${SAYS.tableTaken}`,
    run: async (kit) => {
      const id = kit.id('t');
      await kit.call('DeclareTable', { id });
      await fails(kit.call('DeclareTable', { id }), 'TableAlreadyExists');
    },
  },
  {
    operation: 'DeclareTable',
    name: 'a declared table is there, and only declared',
    basis:
      'When true, indicates that the table has been declared in the namespace but not yet created on storage.',
    run: async (kit) => {
      const id = kit.id('t');
      await kit.call('DeclareTable', { id });
      const found = await kit.call('DescribeTable', { id, check_declared: true });
      same('is_only_declared', found.is_only_declared, true);
    },
  },
];
