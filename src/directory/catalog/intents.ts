/**
 * Records intents, so that a crash cannot leave an operation half done. `withIntent` writes down an
 * operation of several steps before its first step and removes the record after the last one. After
 * an error it calls `recover`; if that fails too, the record stays. The error is thrown in either
 * case. `pendingIntents` lists the records of crashed and of running processes. It skips a record
 * that was cut short, and throws Corrupt for other damage, as `decodeIntent` does.
 * drop-namespace.ts finishes such operations: every step can be repeated, even while the first
 * process is still at work.
 */

import {
  INTENTS_FOLDER,
  intentFile,
  isDocument,
  isIntentAside,
  isIntentPlace,
  joinPath,
} from '../../format/index.ts';
import { corrupt, encodeChecksummed, member, parseChecksummed, stringMember } from '../../json.ts';
import { writeObject } from '../../table/index.ts';
import type { Catalog } from './catalog.ts';

export type Intent =
  /** `place` goes to `trash`, and comes back if it turns out not to be empty. */
  | { readonly kind: 'drop_empty_namespace'; readonly place: string; readonly trash: string }
  /** `place` goes to `trash` and `staging` takes its place. */
  | {
      readonly kind: 'replace';
      readonly place: string;
      readonly trash: string;
      readonly staging: string;
    };

const KINDS: readonly string[] = ['drop_empty_namespace', 'replace'];

/**
 * Writes the intent, runs it, and removes it. Its outcome is what `run` returns. After an error
 * `recover` brings things to an end, old or new; if that fails too, the next opener does it.
 */
export async function withIntent<Result>(
  catalog: Catalog,
  intent: Intent,
  run: (intent: Intent) => Promise<Result>,
  recover: () => Promise<void>,
): Promise<Result> {
  const file = intentFile(catalog.env.uuid());
  await Promise.all([
    writeObject(catalog.store, file, encodeChecksummed({ ...intent }).bytes),
    catalog.store.syncFolders([INTENTS_FOLDER]),
  ]);
  let result: Result;
  try {
    result = await run(intent);
  } catch (error) {
    try {
      await recover();
      await catalog.store.delete(file);
    } catch {
      // The first error says more, and the intent is still there.
    }
    throw error;
  }
  await catalog.store.delete(file);
  return result;
}

/**
 * Intents that are still there, with their files. A file that was cut short is skipped: its intent
 * was never begun. @throws Corrupt for other damage
 */
export async function pendingIntents(
  catalog: Catalog,
): Promise<{ readonly file: string; readonly intent: Intent }[]> {
  const entries = (await catalog.store.list(INTENTS_FOLDER)) ?? [];
  const found: { file: string; intent: Intent }[] = [];
  for (const { name, kind } of entries) {
    if (kind !== 'file' || !isDocument(name)) continue;
    const file = joinPath(INTENTS_FOLDER, name);
    const bytes = await catalog.store.get(file);
    // Empty or cut short: the crash came before the intent was durable, and so before its first step.
    if (bytes === undefined || !isWhole(bytes)) continue;
    found.push({ file, intent: decodeIntent(bytes, file) });
  }
  return found;
}

const isWhole = (bytes: Uint8Array): boolean => bytes.at(-1) === '\n'.charCodeAt(0);

/** @throws Corrupt, also for folders that no intent is ever about */
export function decodeIntent(bytes: Uint8Array, file: string): Intent {
  const { document } = parseChecksummed(bytes, file);
  const kind = stringMember(document, 'kind', file);
  const place = stringMember(document, 'place', file);
  const trash = stringMember(document, 'trash', file);
  const staging = member(document, 'staging');
  if (!KINDS.includes(kind)) throw corrupt(file, `kind is ${kind}`);
  if (!isIntentPlace(place) || !isIntentAside(trash)) throw corrupt(file, 'it names other folders');
  if (kind === 'drop_empty_namespace') return { kind, place, trash };
  if (typeof staging !== 'string' || !(isIntentAside(staging) || isIntentPlace(staging))) {
    throw corrupt(file, 'it names other folders');
  }
  return { kind: 'replace', place, trash, staging };
}
