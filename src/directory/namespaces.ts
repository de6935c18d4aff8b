/** Namespaces: folders with a marker file that holds their properties. */
import { DirspaceError } from '../errors.ts';
import { joinPath, NAMESPACE_FILE, STAGING_FOLDER } from '../format/paths.ts';
import { encodeNamespace, type Properties } from '../format/records.ts';
import type { UpdateNamespacePropertiesRequest } from '../protocol/extensions.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import type {
  CreateNamespaceRequest,
  CreateNamespaceResponse,
  DescribeNamespaceResponse,
  DropNamespaceRequest,
  DropNamespaceResponse,
  ListNamespacesRequest,
  ListNamespacesResponse,
} from '../protocol/models.ts';
import { CREATE_MODES, DROP_BEHAVIORS, DROP_MODES, parseMode } from '../protocol/modes.ts';
import { writeObject } from '../table/write-object.ts';
import {
  beginWrite,
  type Catalog,
  findNamespace,
  missingNamespace,
  namespaceId,
  readNamespace,
  requireNamespace,
  requireRoom,
  showId,
} from './catalog.ts';
import {
  dropNamespaceFolder,
  isNamespaceEmpty,
  type Replacement,
  replaceFolder,
} from './drop-namespace.ts';
import { namespacesIn } from './listing.ts';
import { pageOf } from './paging.ts';
import { strangerInTheWay } from './taken-names.ts';

/** @throws NamespaceNotFound for the parent, NamespaceAlreadyExists */
export async function createNamespace(
  catalog: Catalog,
  request: CreateNamespaceRequest,
): Promise<CreateNamespaceResponse> {
  await beginWrite(catalog);
  const id = namespaceId(request.id);
  const mode = parseMode(request.mode, CREATE_MODES);
  if (id.length === 0) {
    if (mode === 'ExistOk') return { properties: {} };
    throw new DirspaceError(
      'NamespaceAlreadyExists',
      'The root namespace is always there; it can be neither created nor overwritten.',
    );
  }
  const parent = id.slice(0, -1);
  await requireNamespace(catalog, parent);
  const properties = withCreatedAt(catalog, request.properties ?? {});

  const existing = await findNamespace(catalog, id);
  if (existing !== undefined && mode === 'ExistOk')
    return { properties: { ...existing.properties } };
  if (existing !== undefined && mode === 'Create') throw namespaceExists(id);
  const table = catalog.engine.names.tableFolder(id);
  if (await catalog.store.enter(table)) throw tableInTheWay(id);

  const folder = catalog.engine.names.namespaceFolder(id);
  if (existing === undefined) requireRoom(catalog, id, folder);
  const staging = await stageNamespace(catalog, properties);
  const replacement: Replacement = { kind: 'namespace', id, place: folder, staging };
  if (existing !== undefined) {
    await replaceFolder(catalog, replacement);
    return { properties };
  }
  const outcome = await catalog.store.moveFolder(staging, folder);
  if (outcome !== 'moved') {
    const winner = outcome === 'taken' ? await findNamespace(catalog, id) : undefined;
    if (winner !== undefined && mode === 'Overwrite') {
      await replaceFolder(catalog, replacement);
      return { properties };
    }
    await catalog.store.deleteFolder(staging);
    if (outcome === 'missing') missingNamespace(parent);
    if (winner === undefined) throw strangerInTheWay('NamespaceAlreadyExists', id, folder);
    if (mode === 'ExistOk') return { properties: { ...winner.properties } };
    throw namespaceExists(id);
  }
  // A table of the same name may have come meanwhile; it looks for us just as we look for it, so
  // at most one of the two is acknowledged.
  if (await catalog.store.enter(table)) {
    await dropNamespaceFolder(catalog, id, 'Cascade');
    throw tableInTheWay(id);
  }
  return { properties };
}

export async function listNamespaces(
  catalog: Catalog,
  request: ListNamespacesRequest,
): Promise<ListNamespacesResponse> {
  const id = namespaceId(request.id);
  await requireNamespace(catalog, id);
  const names = await namespacesIn(catalog, id);
  const { items, page_token } = pageOf(names, request, (name) => name);
  return { namespaces: [...items], ...(page_token === undefined ? {} : { page_token }) };
}

export async function describeNamespace(
  catalog: Catalog,
  request: { readonly id?: string[] },
): Promise<DescribeNamespaceResponse> {
  const { properties } = await readNamespace(catalog, namespaceId(request.id));
  return { properties: { ...properties } };
}

/** @throws NamespaceNotFound unless mode is skip, NamespaceNotEmpty unless behavior is cascade */
export async function dropNamespace(
  catalog: Catalog,
  request: DropNamespaceRequest,
): Promise<DropNamespaceResponse> {
  await beginWrite(catalog);
  const id = namespaceId(request.id);
  const mode = parseMode(request.mode, DROP_MODES);
  const behavior = parseMode(request.behavior, DROP_BEHAVIORS, 'behavior');
  if (id.length === 0) {
    throw new DirspaceError('InvalidInput', 'The root namespace cannot be dropped.');
  }
  const existing = await findNamespace(catalog, id);
  if (existing === undefined) {
    if (mode === 'Skip') return {};
    missingNamespace(id);
  }
  if (behavior === 'Restrict' && !(await isNamespaceEmpty(catalog, id))) throw notEmpty(id);
  const outcome = await dropNamespaceFolder(catalog, id, behavior);
  if (outcome === 'not empty') throw notEmpty(id);
  if (outcome === 'missing' && mode === 'Fail') missingNamespace(id);
  return { properties: { ...existing.properties } };
}

/** @throws NamespaceNotFound */
export async function updateNamespaceProperties(
  catalog: Catalog,
  request: UpdateNamespacePropertiesRequest,
): Promise<{ properties: Properties }> {
  await beginWrite(catalog);
  const id = namespaceId(request.id as string[]);
  if (id.length === 0) {
    throw new DirspaceError('InvalidInput', 'The root namespace has no properties of its own.');
  }
  const folder = catalog.engine.names.namespaceFolder(id);
  return catalog.engine.queue.run(folder, () =>
    catalog.engine.withLock(folder, async () => {
      const record = await readNamespace(catalog, id);
      const removed = new Set(request.removals ?? []);
      const kept = Object.entries(record.properties).filter(([name]) => !removed.has(name));
      const properties = Object.fromEntries([...kept, ...Object.entries(request.properties ?? {})]);
      const bytes = encodeNamespace({ ...record, properties });
      await catalog.store.put(joinPath(folder, NAMESPACE_FILE), bytes);
      return { properties };
    }),
  );
}

async function stageNamespace(catalog: Catalog, properties: Properties): Promise<string> {
  const staging = `${STAGING_FOLDER}/${catalog.env.uuid()}`;
  const record = encodeNamespace({ id: catalog.env.uuid(), properties });
  const written = writeObject(catalog.store, joinPath(staging, NAMESPACE_FILE), record);
  await Promise.all([written, catalog.store.syncFolders([staging])]);
  return staging;
}

const withCreatedAt = (catalog: Catalog, properties: Properties): Record<string, string> =>
  Object.hasOwn(properties, 'created_at')
    ? { ...properties }
    : { ...properties, created_at: new Date(catalog.env.now()).toISOString() };

const namespaceExists = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'NamespaceAlreadyExists',
    `The namespace ${showId(id)} exists already. Use mode exist_ok to accept it, or overwrite to replace it with all it holds.`,
    { details: { id } },
  );

const tableInTheWay = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'NamespaceAlreadyExists',
    `${showId(id)} is a table; a namespace cannot have the same name. Choose another name or drop the table.`,
    { details: { id } },
  );

const notEmpty = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'NamespaceNotEmpty',
    `The namespace ${showId(id)} still holds tables or namespaces. Drop them first, or use behavior cascade to drop all of it.`,
    { details: { id } },
  );
