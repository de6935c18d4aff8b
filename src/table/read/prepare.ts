/**
 * `prepareReads`: warms up a table when it is opened. Parses the schema and reads the footer of the
 * first fragment, or all of a small one, so that the first read finds them cached. Errors are
 * ignored here, because that read will meet them again.
 */

import { openFragment } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

const prepared = new WeakSet<Snapshot>();

/**
 * Parses the schema and reads the footer of the first fragment, or all of a small one, once.
 * Nothing is thrown.
 */
export async function prepareReads(engine: Engine, snapshot: Snapshot): Promise<void> {
  if (prepared.has(snapshot)) return;
  prepared.add(snapshot);
  const [entry] = snapshot.manifest.fragments;
  try {
    if (entry === undefined || snapshot.fields.length === 0) return;
    (await openFragment(engine, snapshot, entry, { keep: true })).close();
  } catch {
    // A table with damaged parts can be opened; reading those parts reports the damage.
  }
}
