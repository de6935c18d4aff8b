/**
 * Lists the conformance cases about namespaces (`NAMESPACE_CASES`). They create, describe, list and
 * drop namespaces and test whether one exists, with several modes, ids and pages. Rules for all
 * requests are here too, such as what malformed JSON gets.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  PAGES_OF_ALL,
  pagesOf,
  pathOf,
  refused,
  SAYS,
  same,
  Undecided,
} from '../kit/index.ts';

const JSON_TYPE = 'application/json';

/** The names of the children, page by page. */
async function namesOn(kit: Kit, id: string[], limit?: number): Promise<string[][]> {
  const bound = limit === undefined ? {} : { limit };
  const pages = await pagesOf((page) => kit.call('ListNamespaces', { id, ...bound, ...page }));
  return pages.map(({ namespaces }) => namespaces);
}

/** @throws Undecided where the target restricts all the same: the protocol asks for no more */
async function cascade(kit: Kit, id: string[]): Promise<void> {
  try {
    await kit.call('DropNamespace', { id, behavior: 'Cascade' });
  } catch (error) {
    if (!isDirspaceError(error, 'NamespaceNotEmpty')) throw error;
    const why = 'Cascade is treated as Restrict, which the protocol lets basic catalogs do.';
    throw new Undecided('not implemented', `${why} ${error.message}`);
  }
}

export const NAMESPACE_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateNamespace',
    name: 'creates a namespace; a second one of its name is a conflict',
    basis: 'Create: the operation fails with 409.',
    run: async (kit) => {
      const id = kit.id('ns');
      await kit.call('CreateNamespace', { id });
      await fails(kit.call('CreateNamespace', { id, mode: 'Create' }), 'NamespaceAlreadyExists');
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a namespace that was created is there',
    basis: 'Create new namespace `id`.',
    run: async (kit) =>
      holds('the namespace', await kit.isThere('namespace', await kit.namespace()), false),
  },
  {
    operation: 'CreateNamespace',
    name: 'keeps the properties that it was given',
    basis: 'Properties stored on the namespace, if supported by the implementation.',
    open: true,
    run: async (kit) => {
      const id = await kit.namespace({ owner: 'me' });
      const { properties } = await kit.call('DescribeNamespace', { id });
      same('the property "owner"', properties?.owner, 'me');
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'mode ExistOk keeps the namespace that is there, in both spellings',
    basis: `ExistOk: the operation succeeds and the existing namespace is kept. ${SAYS.words}`,
    run: async (kit) => {
      const id = await kit.namespace();
      const child = [...id, 'child'];
      await kit.call('CreateNamespace', { id: child });
      for (const mode of ['ExistOk', 'exist_ok']) await kit.call('CreateNamespace', { id, mode });
      holds('the child namespace', await kit.isThere('namespace', child), false);
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'mode Overwrite leaves an empty namespace',
    basis:
      'Overwrite: the existing namespace is dropped and a new empty namespace with this name is created.',
    run: async (kit) => {
      const id = await kit.namespace();
      const child = [...id, 'child'];
      await kit.call('CreateNamespace', { id: child });
      await kit.call('CreateNamespace', { id, mode: 'Overwrite' });
      holds('no child namespace', !(await kit.isThere('namespace', child)), 'the child is there');
      holds('the namespace', await kit.isThere('namespace', id), 'nothing');
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a namespace and a table of one parent cannot have one name',
    basis:
      'The name of any object must be unique among all other objects that share the same parent namespace.',
    run: async (kit) => {
      const id = await kit.entry();
      await fails(
        kit.call('CreateNamespace', { id }),
        'NamespaceAlreadyExists',
        'TableAlreadyExists',
        'InvalidInput',
      );
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a missing parent is not found',
    basis: SAYS.namespaceMissing,
    open: true,
    run: (kit) =>
      fails(kit.call('CreateNamespace', { id: [...kit.id('no'), 'child'] }), 'NamespaceNotFound'),
  },
  {
    operation: 'CreateNamespace',
    name: 'an id in the body that is not that of the path is refused',
    basis:
      'When the information in the route and request body both present but do not match, the server must throw a 400 Bad Request error.',
    run: async (kit) => {
      const body = JSON.stringify({ id: [kit.name('other')] });
      const path = pathOf('namespace', kit.id('ns'), 'create');
      refused(await kit.send('POST', path, { body, type: JSON_TYPE }));
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a body that is not JSON is refused',
    basis: SAYS.malformed,
    malformed: true,
    run: async (kit) => {
      const path = pathOf('namespace', kit.id('ns'), 'create');
      refused(await kit.send('POST', path, { body: '{"mode":', type: JSON_TYPE }));
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a member of a wrong type is refused',
    basis: SAYS.malformed,
    malformed: true,
    run: async (kit) => {
      const path = pathOf('namespace', kit.id('ns'), 'create');
      refused(await kit.send('POST', path, { body: '{"properties":7}', type: JSON_TYPE }));
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'lists the names of the children',
    basis:
      'The list of names of the child namespaces relative to the parent namespace `id` in the request.',
    run: async (kit) => {
      const id = await kit.namespace();
      same('names', (await namesOn(kit, id)).flat(), []);
      for (const name of ['a', 'b']) await kit.call('CreateNamespace', { id: [...id, name] });
      same('names', (await namesOn(kit, id)).flat().toSorted(), ['a', 'b']);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'the delimiter alone is the root',
    basis: 'When the value is equal to the delimiter, it represents the root namespace.',
    run: async (kit) => {
      const [top = ''] = await kit.namespace();
      const pages = await pagesOf(
        (page) => kit.call('ListNamespaces', { id: [], limit: 1000, ...page }),
        ({ namespaces }) => namespaces.includes(top),
        PAGES_OF_ALL,
      );
      const found = pages.flatMap(({ namespaces }) => namespaces);
      holds(`the name ${top}`, found.includes(top), found);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'pages have at most as many names as asked for, and each name once',
    basis: `An inclusive upper bound of the number of results that a caller will receive. ${SAYS.pages}`,
    run: async (kit) => {
      const id = await kit.namespace();
      for (const name of ['a', 'b', 'c']) await kit.call('CreateNamespace', { id: [...id, name] });
      const pages = await namesOn(kit, id, 2);
      holds(
        'at most 2 names on a page',
        pages.every(({ length }) => length <= 2),
        pages,
      );
      same('names', pages.flat().toSorted(), ['a', 'b', 'c']);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'takes the delimiter that the query names',
    basis:
      'An optional delimiter of the `string identifier`, following the Lance Namespace spec. When not specified, the `$` delimiter must be used.',
    run: async (kit) => {
      const id = await kit.namespace();
      await kit.call('CreateNamespace', { id: [...id, 'inner'] });
      const path = `/v1/namespace/${id.join('.')}/list?delimiter=.`;
      const pages = await pagesOf(async ({ page_token }) => {
        const token =
          page_token === undefined ? '' : `&page_token=${encodeURIComponent(page_token)}`;
        const { status, json } = await kit.send('GET', path + token);
        same('status', status, 200);
        return json as { namespaces?: unknown; page_token?: string | null } | undefined;
      });
      same(
        'names',
        pages.flatMap((page) => page?.namespaces),
        ['inner'],
      );
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'a missing namespace is not found',
    basis: SAYS.namespaceMissing,
    run: (kit) => fails(kit.call('ListNamespaces', { id: kit.id('no') }), 'NamespaceNotFound'),
  },
  {
    operation: 'DescribeNamespace',
    name: 'tells what is there from what is not',
    basis: `Describe the detailed information for namespace \`id\`. ${SAYS.namespaceMissing}`,
    run: async (kit) => {
      await kit.call('DescribeNamespace', { id: await kit.namespace() });
      await fails(kit.call('DescribeNamespace', { id: kit.id('no') }), 'NamespaceNotFound');
    },
  },
  {
    operation: 'DescribeNamespace',
    name: 'the root is there',
    basis:
      'The root namespace is assumed to always exist and is ready to be connected to by a tool to explore objects in the namespace.',
    run: async (kit) => void (await kit.call('DescribeNamespace', { id: [] })),
  },
  {
    operation: 'NamespaceExists',
    name: 'tells what is there from what is not',
    basis: 'a `200` response means the namespace exists; a `404` response means it does not',
    run: async (kit) => {
      await kit.call('NamespaceExists', { id: await kit.namespace() });
      await fails(kit.call('NamespaceExists', { id: kit.id('no') }), 'NamespaceNotFound');
    },
  },
  {
    operation: 'DropNamespace',
    name: 'drops an empty namespace; a second time it is not found',
    basis:
      'Fail (default): the server must return 400 indicating the namespace to drop does not exist.',
    run: async (kit) => {
      const id = await kit.namespace();
      await kit.call('DropNamespace', { id });
      await fails(kit.call('DropNamespace', { id }), 'NamespaceNotFound');
    },
  },
  {
    operation: 'DropNamespace',
    name: 'a dropped namespace is gone',
    basis: 'Drop namespace `id` from its parent namespace.',
    run: async (kit) => {
      const id = await kit.namespace();
      await kit.call('DropNamespace', { id });
      holds('no namespace', !(await kit.isThere('namespace', id)), 'it is there');
    },
  },
  {
    operation: 'DropNamespace',
    name: 'mode Skip accepts a missing namespace, in both spellings',
    basis: `Skip: the server must return 204 indicating the drop operation has succeeded. ${SAYS.words}`,
    run: async (kit) => {
      for (const mode of ['Skip', 'skip']) {
        await kit.call('DropNamespace', { id: kit.id('no'), mode });
      }
    },
  },
  {
    operation: 'DropNamespace',
    name: 'a namespace with a child namespace is refused, and stays',
    basis:
      'Restrict (default): the namespace should not contain any table or child namespace when drop is initiated.',
    run: async (kit) => {
      const id = await kit.namespace();
      await kit.call('CreateNamespace', { id: [...id, 'child'] });
      await fails(kit.call('DropNamespace', { id }), 'NamespaceNotEmpty');
      holds('the namespace', await kit.isThere('namespace', id), 'nothing');
    },
  },
  {
    operation: 'DropNamespace',
    name: 'a namespace with a table is refused',
    basis: 'If tables are found, the server should return error and not drop the namespace.',
    run: async (kit) => {
      const id = await kit.namespace();
      const table = await kit.entry([...id, 't']);
      await fails(kit.call('DropNamespace', { id }), 'NamespaceNotEmpty');
      holds('the table', await kit.isThere('table', table), 'nothing');
    },
  },
  {
    operation: 'DropNamespace',
    name: 'behavior Cascade drops what is in it',
    basis:
      'Cascade: all tables and child namespaces in the namespace are dropped before the namespace is dropped. The `Cascade` behavior mode, which recursively drops all contents, is not required for basic implementations.',
    run: async (kit) => {
      const id = await kit.namespace();
      const child = [...id, 'child'];
      await kit.call('CreateNamespace', { id: child });
      await kit.entry([...child, 't']);
      await cascade(kit, id);
      holds('no namespace', !(await kit.isThere('namespace', id)), 'it is there');
      holds('no child', !(await kit.isThere('namespace', child)), 'it is there');
    },
  },
];
