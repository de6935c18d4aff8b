/**
 * Drops namespaces (`dropNamespaceFolder`), and replaces namespaces and tables (`replaceFolder`),
 * by renaming folders into the trash. With `Restrict` only an empty namespace is dropped: its
 * folder is checked again after the rename, and if something was created in it meanwhile, the
 * namespace is brought back. The outcome tells whether it was missing or not empty. Such drops and
 * replacements have several steps, so they are recorded as intents (intents.ts); `finishIntents`
 * completes or undoes interrupted ones, and `settleIntentsAt` those of one place. `replaceFolder`
 * returns false if nothing is at the place any more, and throws ConcurrentModification if another
 * writer disturbs it. `isNamespaceEmpty` and `isUndecided` look at folders.
 */
import { DirspaceError } from '../../errors.ts';
import {
  decodeNamespace,
  encodeNamespace,
  joinPath,
  NAMESPACE_FILE,
  PENDING_NAMESPACE_FILE,
  parentFolder,
  STAGING_FOLDER,
  TRASH_FOLDER,
  trashRecordFile,
  WITHDRAWN_NAMESPACE_FILE,
} from '../../format/index.ts';
import type { DropBehavior, ObjectPath } from '../../protocol/index.ts';
import type { Entry } from '../../store/index.ts';
import { stagingFolder } from '../../table/index.ts';
import { type Catalog, showId } from './catalog.ts';
import { type Intent, pendingIntents, withIntent } from './intents.ts';
import { emptyTrash, numberedAnew, settleDrop } from './trash.ts';
import { prepareTrash } from './trash-entries.ts';

/** How long an intent whose first step was not taken is left to its process, in milliseconds. */
const INTENT_GRACE = 3_600_000;

export type DropOutcome = 'dropped' | 'missing' | 'not empty';

/** A namespace that was just found is empty when nothing but its own files is in its folder. */
export async function isNamespaceEmpty(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  const folder = catalog.engine.names.namespaceFolder(id);
  return areOwn(catalog, folder, (await catalog.store.list(folder, true)) ?? []);
}

/** @param found the id of the namespace that was there before its number in the trash was taken */
export async function dropNamespaceFolder(
  catalog: Catalog,
  id: ObjectPath,
  behavior: DropBehavior,
  found: string,
): Promise<DropOutcome> {
  const place = catalog.engine.names.namespaceFolder(id);
  if (behavior === 'Restrict') return dropEmpty(catalog, id, place);
  const trash = await prepareTrash(catalog, 'namespace', id);
  if ((await catalog.store.moveFolder(place, trash)) === 'moved') {
    const moved = await namespaceIn(catalog, trash);
    await settleDrop(catalog, await numberedAnew(catalog, trash, found, moved, 'namespace', id));
    return 'dropped';
  }
  await emptyTrash(catalog, trash);
  return 'missing';
}

/**
 * An empty namespace does not stay in the trash, from which only tables are brought back: it gets no number
 * and no record there.
 */
async function dropEmpty(catalog: Catalog, id: ObjectPath, place: string): Promise<DropOutcome> {
  const trash = joinPath(TRASH_FOLDER, catalog.env.uuid());
  const intent: Intent = { kind: 'drop_empty_namespace', place, trash };
  const outcome = await runIntent(catalog, intent, async () =>
    (await catalog.store.moveFolder(place, trash)) === 'moved'
      ? finish(catalog, intent)
      : 'missing',
  );
  // The intent is gone by now: nothing looks for what it moved.
  if (outcome === 'dropped') await removeEmpty(catalog, id, trash);
  return outcome;
}

/** What another process put into the folder in the moment of its move stays in the trash. Never fails. */
async function removeEmpty(catalog: Catalog, id: ObjectPath, trash: string): Promise<void> {
  try {
    await catalog.store.delete(joinPath(trash, NAMESPACE_FILE));
    if (await catalog.store.deleteEmptyFolder(trash)) return;
  } catch {
    // It stays as what could not be removed.
  }
  try {
    await settleDrop(catalog, await keep(catalog, id, trash));
  } catch {
    // It goes with the next sweep.
  }
}

/** Gives a folder that lies in the trash without a record its number and record; returns where it is then. */
async function keep(catalog: Catalog, id: ObjectPath, folder: string): Promise<string> {
  const kept = await prepareTrash(catalog, 'namespace', id);
  const outcome = await catalog.store.moveFolder(folder, kept);
  if (outcome !== 'moved') await catalog.store.delete(trashRecordFile(kept));
  return outcome === 'moved' ? kept : folder;
}

/** The id of the namespace in a folder that was moved; undefined where nothing tells. Never fails. */
async function namespaceIn(catalog: Catalog, folder: string): Promise<string | undefined> {
  const file = joinPath(folder, NAMESPACE_FILE);
  try {
    return decodeNamespace((await catalog.store.get(file)) as Uint8Array, file).id;
  } catch {
    return undefined;
  }
}

export interface Replacement {
  readonly kind: 'table' | 'namespace';
  readonly id: ObjectPath;
  readonly place: string;
  /** The folder that takes the place of what is there. */
  readonly staging: string;
}

/**
 * What is at the place goes to the trash whole, and the other folder takes its place. False, with
 * nothing changed, where nothing is there any more. @throws ConcurrentModification if another
 * writer disturbs it, CommitStateUnknown if the disk leaves its outcome open
 */
export async function replaceFolder(catalog: Catalog, replacement: Replacement): Promise<boolean> {
  const { kind, id, place, staging } = replacement;
  const trash = await prepareTrash(catalog, kind, id);
  const intent: Intent = { kind: 'replace', place, trash, staging };
  const outcome = await runIntent(catalog, intent, async () => {
    if ((await catalog.store.moveFolder(place, trash)) === 'missing') return 'missing';
    return putInPlace(catalog, intent);
  });
  if (outcome === 'dropped') {
    await settleDrop(catalog, trash);
    return true;
  }
  if (outcome === 'missing') {
    await emptyTrash(catalog, trash);
    return false;
  }
  await discardStaging(catalog, staging);
  throw new DirspaceError(
    'ConcurrentModification',
    `Another writer changed the ${kind} ${showId(id)} while it was being replaced. Look at it and try again.`,
    { details: { id } },
  );
}

/** Finishes what a crash interrupted. Called when a catalog is opened for writing. */
export async function finishIntents(catalog: Catalog): Promise<void> {
  for (const { file, intent } of await pendingIntents(catalog)) {
    const written = (await catalog.store.head(file))?.modified ?? 0;
    // Nothing moved yet: perhaps its process is alive and just about to.
    const recent = catalog.env.now() - written < INTENT_GRACE;
    if (recent && !(await hasBegun(catalog, intent))) continue;
    await settle(catalog, intent);
    await catalog.store.delete(file);
  }
}

/** Finishes operations that have taken away what stands at the place, also beside their process. */
export async function settleIntentsAt(catalog: Catalog, place: string): Promise<void> {
  for (const { intent } of await pendingIntents(catalog)) {
    if (intent.place === place && (await hasBegun(catalog, intent))) await settle(catalog, intent);
  }
}

const runIntent = (
  catalog: Catalog,
  intent: Intent,
  run: () => Promise<DropOutcome>,
): Promise<DropOutcome> => withIntent(catalog, intent, run, () => settle(catalog, intent));

/** The trash folder is unique to the intent: once it is there, the first step was taken. */
const hasBegun = async (catalog: Catalog, { trash }: Intent): Promise<boolean> =>
  (await catalog.store.list(trash)) !== undefined;

/** Finishes an intent that has begun; withdraws one that has not, so that it never runs later. */
async function settle(catalog: Catalog, intent: Intent): Promise<void> {
  if (await hasBegun(catalog, intent)) await finish(catalog, intent);
  else if (intent.kind === 'replace') await discardStaging(catalog, intent.staging);
}

async function discardStaging(catalog: Catalog, folder: string): Promise<void> {
  if (folder.startsWith(`${STAGING_FOLDER}/`)) await catalog.store.deleteFolder(folder);
}

/** Carries on after the first step; what was done before is not done again. */
async function finish(catalog: Catalog, intent: Intent): Promise<DropOutcome> {
  if (intent.kind === 'replace') return putInPlace(catalog, intent);
  const moved = await catalog.store.list(intent.trash);
  if (moved === undefined) return 'missing';
  if (await areOwn(catalog, intent.trash, moved)) return 'dropped';
  // Something was created in it between the look and the move: it must not be lost.
  await bringBack(catalog, intent.trash, intent.place);
  if (!(await hasBegun(catalog, intent))) await emptyTrash(catalog, intent.trash);
  else await keepRest(catalog, intent);
  return 'not empty';
}

/** What could not join the namespace that was made anew stays in the trash, under its own name. */
async function keepRest(catalog: Catalog, { place, trash }: Intent): Promise<void> {
  const { names } = catalog.engine;
  const parts = place.split('/');
  const id = parts.map((part, depth) => names.decode(part, depth === 0)?.name);
  const isNamed = id.every((part) => part !== undefined);
  if (!isNamed || (await catalog.store.head(trashRecordFile(trash))) !== undefined) return;
  await keep(catalog, id, trash);
}

async function putInPlace(
  catalog: Catalog,
  { staging, place }: Intent & { readonly kind: 'replace' },
): Promise<DropOutcome> {
  const outcome = await catalog.store.moveFolder(staging, place);
  // An opener that found the intent may have been faster.
  if (outcome === 'moved' || (await catalog.store.list(staging)) === undefined) return 'dropped';
  if (outcome === 'missing' && (await catalog.store.enter(parentFolder(place)))) {
    throw new DirspaceError(
      'CommitStateUnknown',
      `The disk says that ${staging} is not there, and lists what is in it. What was to be replaced is out of its place; opening the catalog again finishes the change.`,
      { details: { place, staging } },
    );
  }
  return 'not empty';
}

async function bringBack(catalog: Catalog, trash: string, place: string): Promise<void> {
  let outcome = await catalog.store.moveFolder(trash, place);
  if (outcome === 'missing' && (await catalog.store.list(trash)) !== undefined) {
    // Its parent was dropped because it looked empty: it is not.
    await bringBackParents(catalog, parentFolder(place));
    outcome = await catalog.store.moveFolder(trash, place);
  }
  if (outcome !== 'taken') return;
  // One that is not confirmed may still be withdrawn: what joined it would be lost to sight.
  if ((await catalog.store.head(joinPath(place, NAMESPACE_FILE))) === undefined) return;
  // The namespace was recreated meanwhile: its new children join it one by one.
  for (const child of (await catalog.store.list(trash)) ?? []) {
    if (child.kind !== 'folder') continue;
    await catalog.store.moveFolder(`${trash}/${child.name}`, `${place}/${child.name}`);
  }
}

/**
 * Makes the missing namespaces above a place again. Each comes with its marker by one rename: a folder
 * without one would be cleared by the next creator of that name.
 */
async function bringBackParents(catalog: Catalog, folder: string): Promise<void> {
  if (await catalog.store.enter(folder)) return;
  await bringBackParents(catalog, parentFolder(folder));
  const staging = stagingFolder(catalog.env);
  await catalog.store.createFolder(staging);
  const marker = encodeNamespace({ id: catalog.env.uuid(), properties: {} });
  await catalog.store.putIfAbsent(joinPath(staging, NAMESPACE_FILE), marker);
  const outcome = await catalog.store.moveFolder(staging, folder);
  if (outcome === 'moved') return;
  await discardStaging(catalog, staging);
  if (outcome === 'taken') return;
  throw new DirspaceError(
    'ConcurrentModification',
    `The folder ${folder} cannot be made again: the namespace that it was in is gone. Nothing was lost; opening the catalog again finishes what was begun.`,
    { details: { path: folder } },
  );
}

/** Whether a namespace has no more in its folder than its own files. */
async function areOwn(
  catalog: Catalog,
  folder: string,
  entries: readonly Entry[],
): Promise<boolean> {
  for (const { name, kind } of entries) {
    if (kind === 'folder' && !(await isUndecided(catalog, joinPath(folder, name)))) return false;
  }
  return true;
}

/** Whether a namespace is still pending, and so was never visible; dropping its parent takes it along. */
export async function isUndecided(catalog: Catalog, folder: string): Promise<boolean> {
  const isThere = async (name: string): Promise<boolean> =>
    (await catalog.store.head(joinPath(folder, name))) !== undefined;
  const waits =
    (await isThere(PENDING_NAMESPACE_FILE)) || (await isThere(WITHDRAWN_NAMESPACE_FILE));
  return waits && !(await isThere(NAMESPACE_FILE));
}
