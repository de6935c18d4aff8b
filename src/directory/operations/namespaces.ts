/**
 * Carries out the namespace operations: `createNamespace`, `listNamespaces`, `describeNamespace`,
 * `dropNamespace` and `updateNamespaceProperties`. A namespace is a folder with a marker file that
 * holds its properties. The root has no marker: it always exists, and cannot be dropped or changed.
 * A missing namespace or parent throws NamespaceNotFound, a taken name NamespaceAlreadyExists.
 * Creating in mode overwrite replaces an existing namespace, with all that it holds, by an empty
 * one. Dropping one that is not empty throws NamespaceNotEmpty, unless the behavior is cascade.
 * catalog/name-contest.ts decides between a namespace and a table of one name.
 */

import { DirspaceError } from '../../errors.ts';
import {
  encodeNamespace,
  joinPath,
  LANCE_CATALOG,
  lanceVersionsFolder,
  NAMESPACE_FILE,
  type NamespaceRecord,
  PENDING_NAMESPACE_FILE,
  type Properties,
  STAGING_FOLDER,
} from '../../format/index.ts';
import { followsByPath } from '../../lance-mode.ts';
import {
  CREATE_MODES,
  type CreateNamespaceRequest,
  type CreateNamespaceResponse,
  type DescribeNamespaceResponse,
  DROP_BEHAVIORS,
  DROP_MODES,
  type DropNamespaceRequest,
  type DropNamespaceResponse,
  type ListNamespacesRequest,
  type ListNamespacesResponse,
  type ObjectPath,
  parseMode,
  type UpdateNamespacePropertiesRequest,
} from '../../protocol/index.ts';
import { stagingFolder, writeObject } from '../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  clearNamespacePlace,
  decideNamespace,
  dropNamespaceFolder,
  findNamespace,
  isNamespaceEmpty,
  missingNamespace,
  namespaceId,
  namespacesIn,
  pageLimit,
  pageOf,
  pageStart,
  readNamespace,
  replaceFolder,
  requireNamespace,
  requireRoom,
  showId,
  strangerInTheWay,
  withdrawNamespace,
} from '../catalog/index.ts';

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
  await refuseLanceCatalog(catalog, id);
  const properties = withCreatedAt(catalog, request.properties ?? {});

  const existing = await findNamespace(catalog, id, true);
  if (existing !== undefined && mode === 'ExistOk')
    return { properties: { ...existing.properties } };
  if (existing !== undefined && mode === 'Create') throw namespaceExists(id);
  // A name may be short enough for a namespace and too long for a table, whose folder has a suffix.
  const table = catalog.engine.names.possibleTableFolder(id);
  if (table !== undefined && (await catalog.store.enter(table, true))) throw tableInTheWay(id);

  const folder = catalog.engine.names.namespaceFolder(id);
  if (existing === undefined) requireRoom(catalog, id, folder);
  const staged = await stageNamespace(catalog, properties);
  const { staging } = staged;
  let winner = existing;
  if (winner === undefined) {
    winner = await placeNamespace(catalog, id, staged);
    if (winner?.id === staged.id) return { properties };
  }
  if (winner !== undefined && mode === 'Overwrite') {
    await renameMarker(catalog, staging, PENDING_NAMESPACE_FILE, NAMESPACE_FILE);
    if (await replaceFolder(catalog, { kind: 'namespace', id, place: folder, staging })) {
      return { properties };
    }
    // Dropped meanwhile, so it is created after all.
    await renameMarker(catalog, staging, NAMESPACE_FILE, PENDING_NAMESPACE_FILE);
    winner = await placeNamespace(catalog, id, staged);
    if (winner?.id === staged.id) return { properties };
  }
  await catalog.store.deleteFolder(staging);
  await requireNamespace(catalog, parent);
  if (winner === undefined) {
    const isTable = table !== undefined && (await catalog.store.enter(table));
    throw isTable ? tableInTheWay(id) : await neverPlaced(catalog, id);
  }
  if (mode === 'ExistOk') return { properties: { ...winner.properties } };
  throw namespaceExists(id);
}

/** How often others may take the place and leave it again before a creator gives up. */
const PLACINGS = 64;

/**
 * The namespace that has the name in the end: the staged one, or that of another creator; undefined
 * where a table has it. @throws NamespaceAlreadyExists where something else stands there
 */
async function placeNamespace(
  catalog: Catalog,
  id: ObjectPath,
  { staging }: StagedNamespace,
): Promise<NamespaceRecord | undefined> {
  const folder = catalog.engine.names.namespaceFolder(id);
  for (let placing = 0; placing < PLACINGS; placing++) {
    const outcome = await catalog.store.moveFolder(staging, folder);
    if (outcome === 'moved') {
      try {
        await decideNamespace(catalog, id);
      } catch (error) {
        await withdrawNamespace(catalog, id).catch(() => {});
        throw error;
      }
      return findNamespace(catalog, id);
    }
    if (outcome === 'missing') return undefined;
    const winner = await findNamespace(catalog, id);
    if (winner !== undefined) return winner;
    if (await clearNamespacePlace(catalog, id)) continue;
    await catalog.store.deleteFolder(staging);
    throw strangerInTheWay('NamespaceAlreadyExists', id, folder);
  }
  await catalog.store.deleteFolder(staging);
  throw await neverPlaced(catalog, id);
}

export async function listNamespaces(
  catalog: Catalog,
  request: ListNamespacesRequest,
): Promise<ListNamespacesResponse> {
  const id = namespaceId(request.id);
  await requireNamespace(catalog, id);
  const limit = pageLimit(request);
  const names = await namespacesIn(catalog, id, pageStart(request), limit + 1);
  const { items, page_token } = pageOf(names, { limit: request.limit }, (name) => name);
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
  const outcome = await dropNamespaceFolder(catalog, id, behavior, existing.id);
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

interface StagedNamespace {
  readonly staging: string;
  /** Tells it from others that take the same place. */
  readonly id: string;
}

/** With a marker that does not count yet: see name-contest.ts. */
async function stageNamespace(catalog: Catalog, properties: Properties): Promise<StagedNamespace> {
  const staging = stagingFolder(catalog.env);
  // It tells the process, so that what a dead one left does not stand in the way of others.
  const id = staging.slice(STAGING_FOLDER.length + 1);
  const marker = joinPath(staging, PENDING_NAMESPACE_FILE);
  const written = writeObject(catalog.store, marker, encodeNamespace({ id, properties }));
  await Promise.all([written, catalog.store.syncFolders([staging])]);
  return { staging, id };
}

/** @throws ConcurrentModification where the marker is gone: a folder without it is no namespace */
async function renameMarker(
  catalog: Catalog,
  staging: string,
  from: string,
  to: string,
): Promise<void> {
  if (await catalog.store.renameFile(joinPath(staging, from), joinPath(staging, to))) return;
  await catalog.store.deleteFolder(staging);
  throw new DirspaceError(
    'ConcurrentModification',
    `The folder ${staging}, in which the new namespace was being made, has lost its file ${from}. The new namespace was not put in its place; try again.`,
  );
}

const withCreatedAt = (catalog: Catalog, properties: Properties): Record<string, string> =>
  Object.hasOwn(properties, 'created_at')
    ? { ...properties }
    : { ...properties, created_at: new Date(catalog.env.now()).toISOString() };

const namespaceExists = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'NamespaceAlreadyExists',
    `The namespace ${showId(id)} already exists. Use mode exist_ok to accept it, or overwrite to replace it with all it holds.`,
    { details: { id } },
  );

/** Why a namespace found no place: a file of others, such as one of rows, or others in turn. */
async function neverPlaced(catalog: Catalog, id: ObjectPath): Promise<DirspaceError> {
  const folder = catalog.engine.names.namespaceFolder(id);
  const isStranger = (await catalog.store.head(folder)) !== undefined;
  return isStranger ? strangerInTheWay('NamespaceAlreadyExists', id, folder) : oftenTaken(id);
}

const oftenTaken = (id: ObjectPath): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `Others created and dropped ${showId(id)} while it was being created. Nothing was created; try again.`,
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

/** A folder of that name at the root is Lance's, once the catalog has been synchronized. @throws InvalidInput */
async function refuseLanceCatalog(catalog: Catalog, id: ObjectPath): Promise<void> {
  const [name] = id;
  if (id.length !== 1 || name !== LANCE_CATALOG) return;
  const isTaken = await catalog.store.enter(lanceVersionsFolder(LANCE_CATALOG));
  if (!isTaken && !followsByPath(catalog.engine.lance)) return;
  throw new DirspaceError(
    'InvalidInput',
    `The name ${LANCE_CATALOG} is that of the table by which Lance knows this catalog. Choose another name for the namespace.`,
    { details: { id } },
  );
}
