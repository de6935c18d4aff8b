/**
 * What every read of a version begins with, done when its table is opened: a program opens a table
 * to read it, and waits there for the disk anyway.
 */

import { openFragment } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

const prepared = new WeakSet<Snapshot>();

/** Parses the schema and reads the footer of the first fragment, or all of a small one, once. Nothing is thrown. */
export async function prepareReads(engine: Engine, snapshot: Snapshot): Promise<void> {
  if (prepared.has(snapshot)) return;
  prepared.add(snapshot);
  const [entry] = snapshot.manifest.fragments;
  try {
    if (entry === undefined || snapshot.fields.length === 0) return;
    (await openFragment(engine, snapshot, entry, { keep: true })).close();
  } catch {
    // A table can be opened while parts of it are damaged; who reads them is told.
  }
}
