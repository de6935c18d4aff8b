/** Cases about namespaces, and about what holds for every request. Numbers are the protocol's. */
import {
  type ConformanceCase,
  fails,
  holds,
  type Kit,
  missing,
  refused,
  same,
} from './conformance-kit.ts';
import { JSON_TYPE } from './header-names.ts';

const NAMESPACE_NOT_FOUND = 1;
const NAMESPACE_EXISTS = 2;
const NAMESPACE_NOT_EMPTY = 3;
const INVALID = 13;

async function namespace(kit: Kit, properties?: Record<string, string>): Promise<string[]> {
  const id = [...kit.home, kit.fresh('ns')];
  await kit.catalog.createNamespace({ id, ...(properties === undefined ? {} : { properties }) });
  return id;
}

async function allNamespaces(kit: Kit, id: string[], limit: number): Promise<string[]> {
  const names: string[] = [];
  let token: string | undefined;
  do {
    const page = await kit.catalog.listNamespaces({
      id,
      limit,
      ...(token === undefined ? {} : { page_token: token }),
    });
    holds(`at most ${limit} names`, page.namespaces.length <= limit, page.namespaces);
    names.push(...page.namespaces);
    token = page.page_token || undefined;
  } while (token !== undefined && names.length < 100);
  return names;
}

const encoded = (id: readonly string[]): string => encodeURIComponent(id.join('$'));

export const CATALOG_CASES: readonly ConformanceCase[] = [
  {
    operation: 'CreateNamespace',
    name: 'creates a namespace with its properties',
    run: async (kit) => {
      const id = await namespace(kit, { owner: 'me' });
      const { properties } = await kit.catalog.describeNamespace({ id });
      same('the property "owner"', properties?.owner, 'me');
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'an existing one is a conflict',
    run: async (kit) => {
      const id = await namespace(kit);
      await fails(kit.catalog.createNamespace({ id }), NAMESPACE_EXISTS, 409);
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'mode exist_ok accepts an existing one',
    run: async (kit) => {
      const id = await namespace(kit, { owner: 'me' });
      await kit.catalog.createNamespace({ id, mode: 'exist_ok' });
      await kit.catalog.createNamespace({ id, mode: 'ExistOk' });
      same(
        'the property "owner"',
        (await kit.catalog.describeNamespace({ id })).properties?.owner,
        'me',
      );
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a missing parent is not found',
    run: (kit) =>
      fails(
        kit.catalog.createNamespace({ id: [...missing(kit), 'child'] }),
        NAMESPACE_NOT_FOUND,
        404,
      ),
  },
  {
    operation: 'CreateNamespace',
    name: 'an id in the body that is not that of the path is refused',
    run: async (kit) => {
      const body = JSON.stringify({ id: ['other'] });
      const path = `/v1/namespace/${encoded([...kit.home, kit.fresh('ns')])}/create`;
      refused(await kit.send('POST', path, { body, type: JSON_TYPE }), 400, INVALID);
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a component with an illegal character is refused',
    run: async (kit) => {
      const path = `/v1/namespace/${encoded([...kit.home, 'a b'])}/create`;
      refused(await kit.send('POST', path, { body: '{}', type: JSON_TYPE }), 400, INVALID);
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a body that is not JSON is refused',
    run: async (kit) => {
      const path = `/v1/namespace/${encoded([...kit.home, kit.fresh('ns')])}/create`;
      refused(await kit.send('POST', path, { body: '{"mode":', type: JSON_TYPE }), 400);
    },
  },
  {
    operation: 'CreateNamespace',
    name: 'a member of a wrong type is refused',
    run: async (kit) => {
      const path = `/v1/namespace/${encoded([...kit.home, kit.fresh('ns')])}/create`;
      const body = JSON.stringify({ properties: 7 });
      refused(await kit.send('POST', path, { body, type: JSON_TYPE }), 400, INVALID);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'lists what was created, under the delimiter as the root too',
    run: async (kit) => {
      const { json, status } = await kit.send('GET', '/v1/namespace/%24/list');
      same('status', status, 200);
      const { namespaces } = (json ?? {}) as { namespaces?: readonly string[] };
      holds('the namespace of this run', namespaces?.includes(String(kit.home[0])) === true, json);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'pages hold each name once',
    run: async (kit) => {
      const id = await namespace(kit);
      for (const name of ['a', 'b', 'c']) await kit.catalog.createNamespace({ id: [...id, name] });
      same('names', (await allNamespaces(kit, id, 2)).sort(), ['a', 'b', 'c']);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'takes another delimiter',
    run: async (kit) => {
      const id = await namespace(kit);
      await kit.catalog.createNamespace({ id: [...id, 'inner'] });
      const path = `/v1/namespace/${encodeURIComponent(id.join('/'))}/list?delimiter=%2F`;
      const { json } = await kit.send('GET', path);
      same('names', (json as { namespaces?: unknown } | undefined)?.namespaces, ['inner']);
    },
  },
  {
    operation: 'ListNamespaces',
    name: 'a missing namespace is not found',
    run: (kit) => fails(kit.catalog.listNamespaces({ id: missing(kit) }), NAMESPACE_NOT_FOUND, 404),
  },
  {
    operation: 'DescribeNamespace',
    name: 'a missing namespace is not found',
    run: (kit) =>
      fails(kit.catalog.describeNamespace({ id: missing(kit) }), NAMESPACE_NOT_FOUND, 404),
  },
  {
    operation: 'DescribeNamespace',
    name: 'the root is there',
    run: async (kit) => void (await kit.catalog.describeNamespace({ id: [] })),
  },
  {
    operation: 'NamespaceExists',
    name: 'tells what is there from what is not',
    run: async (kit) => {
      const id = await namespace(kit);
      await kit.catalog.namespaceExists({ id });
      await fails(
        kit.catalog.namespaceExists({ id: [...id, 'missing'] }),
        NAMESPACE_NOT_FOUND,
        404,
      );
    },
  },
  {
    operation: 'DropNamespace',
    name: 'an empty one is gone afterwards',
    run: async (kit) => {
      const id = await namespace(kit);
      await kit.catalog.dropNamespace({ id });
      await fails(kit.catalog.describeNamespace({ id }), NAMESPACE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DropNamespace',
    name: 'one that is not empty is a conflict',
    run: async (kit) => {
      const id = await namespace(kit);
      await kit.catalog.createNamespace({ id: [...id, 'child'] });
      await fails(kit.catalog.dropNamespace({ id }), NAMESPACE_NOT_EMPTY, 409);
    },
  },
  {
    operation: 'DropNamespace',
    name: 'behavior cascade drops what is in it',
    run: async (kit) => {
      const id = await namespace(kit);
      await kit.catalog.createNamespace({ id: [...id, 'child'] });
      await kit.catalog.dropNamespace({ id, behavior: 'Cascade' });
      await fails(kit.catalog.describeNamespace({ id }), NAMESPACE_NOT_FOUND, 404);
    },
  },
  {
    operation: 'DropNamespace',
    name: 'a missing one is not found, and accepted with mode skip',
    run: async (kit) => {
      const id = [...kit.home, 'missing'];
      await fails(kit.catalog.dropNamespace({ id }), NAMESPACE_NOT_FOUND, 404);
      await kit.catalog.dropNamespace({ id, mode: 'Skip' });
    },
  },
];
