/** Dropping and replacing namespaces: one rename each, made safe against a crash by intents. */
import { DirspaceError } from '../errors.ts';
import { TRASH_FOLDER } from '../format/paths.ts';
import type { ObjectPath } from '../protocol/ident.ts';
import type { DropBehavior } from '../protocol/modes.ts';
import { type Catalog, showId } from './catalog.ts';
import { type Intent, pendingIntents, withIntent } from './intents.ts';
import { prepareTrash } from './trash.ts';

/** How long an intent whose first step was not taken is left to its process, in milliseconds. */
const INTENT_GRACE = 3_600_000;

export type DropOutcome = 'dropped' | 'missing' | 'not empty';

/** A namespace is empty when nothing but its own files is in its folder. */
export async function isNamespaceEmpty(catalog: Catalog, id: ObjectPath): Promise<boolean> {
  return isFolderEmpty(catalog, catalog.engine.names.namespaceFolder(id));
}

export async function dropNamespaceFolder(
  catalog: Catalog,
  id: ObjectPath,
  behavior: DropBehavior,
): Promise<DropOutcome> {
  const place = catalog.engine.names.namespaceFolder(id);
  if (behavior === 'Restrict') {
    const trash = `${TRASH_FOLDER}/${catalog.env.uuid()}`;
    return withIntent(catalog, { kind: 'drop_empty_namespace', place, trash }, async (intent) => {
      if ((await catalog.store.moveFolder(place, trash)) !== 'moved') return 'missing';
      return finish(catalog, intent);
    });
  }
  const trash = await prepareTrash(catalog, 'namespace', id);
  return (await catalog.store.moveFolder(place, trash)) === 'moved' ? 'dropped' : 'missing';
}

export interface Replacement {
  readonly kind: 'table' | 'namespace';
  readonly id: ObjectPath;
  readonly place: string;
  /** The folder that takes the place of what is there. */
  readonly staging: string;
}

/** What is at the place goes to the trash whole, and the other folder takes its place. */
export async function replaceFolder(catalog: Catalog, replacement: Replacement): Promise<void> {
  const { kind, id, place, staging } = replacement;
  const trash = await prepareTrash(catalog, kind, id);
  const intent: Intent = { kind: 'replace', place, trash, staging };
  const outcome = await withIntent(catalog, intent, () => finish(catalog, intent));
  if (outcome === 'dropped') return;
  throw new DirspaceError(
    'ConcurrentModification',
    `The ${kind} ${showId(id)} was changed by somebody else while it was being replaced. Look at it and try again.`,
    { details: { id } },
  );
}

/** Finishes what a crash interrupted. Called when a catalog is opened for writing. */
export async function finishIntents(catalog: Catalog): Promise<void> {
  for (const { file, intent } of await pendingIntents(catalog)) {
    const outcome = await finish(catalog, intent);
    const written = (await catalog.store.head(file))?.modified ?? 0;
    // Nothing moved yet: perhaps its process is alive and just about to.
    if (outcome === 'missing' && catalog.env.now() - written < INTENT_GRACE) continue;
    await catalog.store.delete(file);
  }
}

/** Carries on from wherever the steps stopped; each of them does nothing when done before. */
async function finish(catalog: Catalog, intent: Intent): Promise<DropOutcome> {
  const { store } = catalog;
  if (intent.kind === 'replace') {
    // The trash folder is unique to the intent and never empty: a repeated move is refused there.
    if ((await store.list(intent.staging)) !== undefined) {
      await store.moveFolder(intent.place, intent.trash);
      if ((await store.moveFolder(intent.staging, intent.place)) === 'taken') return 'not empty';
    }
    return 'dropped';
  }
  if ((await store.list(intent.trash)) === undefined) return 'missing';
  if (await isFolderEmpty(catalog, intent.trash)) {
    await store.deleteFolder(intent.trash);
    return 'dropped';
  }
  // Something was created in it between the look and the move: it must not be lost.
  await bringBack(catalog, intent.trash, intent.place);
  return 'not empty';
}

async function bringBack(catalog: Catalog, trash: string, place: string): Promise<void> {
  if ((await catalog.store.moveFolder(trash, place)) !== 'taken') return;
  // The namespace was recreated meanwhile: its new children join it one by one.
  for (const child of (await catalog.store.list(trash)) ?? []) {
    if (child.kind !== 'folder') continue;
    await catalog.store.moveFolder(`${trash}/${child.name}`, `${place}/${child.name}`);
  }
}

async function isFolderEmpty(catalog: Catalog, folder: string): Promise<boolean> {
  const entries = (await catalog.store.list(folder)) ?? [];
  return !entries.some((entry) => entry.kind === 'folder');
}
