/**
 * Decides which one exists when a table and a namespace of one name are created at the same time. A
 * new namespace has a pending marker and is invisible at first. `decideNamespace` renames the
 * marker, which confirms the namespace, or withdraws it if a table has its name. A new table that
 * has just taken its place calls `namespaceHasName`: it withdraws a pending namespace, and tells
 * whether a confirmed one has the name. The marker is renamed only once, so both sides see the same
 * decision. `withdrawNamespace` takes back a pending namespace. `clearNamespacePlace` removes what
 * a dead creator left at a place, and decides for a creator that lives; it returns false if the
 * place holds what is not the engine's.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  decodeNamespace,
  joinPath,
  NAMESPACE_FILE,
  PENDING_NAMESPACE_FILE,
  WITHDRAWN_NAMESPACE_FILE,
} from '../../format/index.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { hasDied, parseProcessTag } from '../../store/index.ts';
import type { Catalog } from './catalog.ts';
import { settleIntentsAt } from './drop-namespace.ts';

/**
 * Confirms or withdraws the pending namespace at the place of `id`, also that of another creator,
 * which may be dead. Does nothing where none is pending.
 */
export async function decideNamespace(catalog: Catalog, id: ObjectPath): Promise<void> {
  const { names } = catalog.engine;
  const folder = names.namespaceFolder(id);
  const table = names.possibleTableFolder(id);
  const isTaken =
    table !== undefined &&
    (await standsAt(catalog, table, (place) => catalog.store.enter(place, true)));
  const isDecided = await catalog.store.renameFile(
    joinPath(folder, PENDING_NAMESPACE_FILE),
    joinPath(folder, isTaken ? WITHDRAWN_NAMESPACE_FILE : NAMESPACE_FILE),
  );
  // The marker of a namespace that others withdrew is left where they died before they removed it.
  if (!isDecided || isTaken) await removeWithdrawn(catalog, folder);
}

/**
 * Asked by a table that has just taken its place: whether a namespace has the name, so that the
 * table has to go again. A namespace that is not confirmed yet is withdrawn.
 */
export async function namespaceHasName(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const folder = catalog.engine.names.namespaceFolder(id);
  if (await withdraw(catalog, folder)) await removeWithdrawn(catalog, folder);
  return standsAt(
    catalog,
    folder,
    async () => (await catalog.store.head(joinPath(folder, NAMESPACE_FILE))) !== undefined,
  );
}

/** Takes back a namespace of that id that is not confirmed yet. */
export async function withdrawNamespace(catalog: Catalog, id: ObjectPath): Promise<void> {
  const folder = catalog.engine.names.namespaceFolder(id);
  await withdraw(catalog, folder);
  await removeWithdrawn(catalog, folder);
}

/**
 * Makes room at the place of a namespace where nothing visible stands. False for what is not the
 * engine's, which stays.
 */
export async function clearNamespacePlace(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const folder = catalog.engine.names.namespaceFolder(id);
  const entries = await catalog.store.list(folder);
  if (entries === undefined) return (await catalog.store.enter(folder)) === false;
  const markers = [NAMESPACE_FILE, PENDING_NAMESPACE_FILE, WITHDRAWN_NAMESPACE_FILE];
  if (entries.length > 0 && !entries.some(({ name }) => markers.includes(name))) return false;
  if (await isOfDeadCreator(catalog, folder)) await withdrawNamespace(catalog, id);
  else await decideNamespace(catalog, id);
  // The marker is removed first, so a crash may leave a folder that holds nothing.
  await catalog.store.deleteEmptyFolder(folder);
  return true;
}

/** Whether the pending namespace was left by a dead process: it was never acknowledged. */
async function isOfDeadCreator({ store }: Catalog, folder: string): Promise<boolean> {
  const file = joinPath(folder, PENDING_NAMESPACE_FILE);
  try {
    const bytes = await store.get(file);
    const creator = bytes && parseProcessTag(decodeNamespace(bytes, file).id);
    return creator !== undefined && hasDied(creator);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt', 'UnsupportedFormat')) return false;
    throw error;
  }
}

const withdraw = (catalog: Catalog, folder: string): Promise<boolean> =>
  catalog.store.renameFile(
    joinPath(folder, PENDING_NAMESPACE_FILE),
    joinPath(folder, WITHDRAWN_NAMESPACE_FILE),
  );

/** Removes the folder if it is empty: another creator that took the place meanwhile keeps it. */
async function removeWithdrawn(catalog: Catalog, folder: string): Promise<void> {
  if (!(await catalog.store.delete(joinPath(folder, WITHDRAWN_NAMESPACE_FILE)))) return;
  await catalog.store.deleteEmptyFolder(folder);
}

/**
 * Whether the object is at its place. One that is being replaced, or brought back, is away for a
 * moment: its intent is there before it leaves and until it is back, and is finished here.
 */
async function standsAt(
  catalog: Catalog,
  place: string,
  look: (place: string) => boolean | Promise<boolean>,
): Promise<boolean> {
  if (await look(place)) return true;
  await settleIntentsAt(catalog, place);
  return look(place);
}
