/**
 * `prepareReads` warms up a table when it is opened: it reads the footer of the first fragment,
 * unless it is long, so that the first read finds it cached. This is wasted on tables that are
 * opened only for their schemas. So once two tables were prepared and none was read since
 * (`noteRead`), it prepares only one of 64. It looks at each version once. Errors are ignored.
 */

import { LONG_FOOTER_BYTES } from '../../format/index.ts';
import { openFragment } from '../fragments/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';

/** Tables that are prepared although none of those before was read. */
const UNREAD = 2;
/** Beyond these, one of so many is, to find out whether tables are read again. */
const TRIAL = 64;

/** How preparing has paid for the tables of one open catalog. */
interface Outcome {
  unread: number;
  passedOver: number;
}

const outcomes = new WeakMap<Engine['heads'], Outcome>();
/** Versions that were prepared or passed over. */
const opened = new WeakSet<Snapshot>();
/** Versions that were prepared and not read yet. */
const prepared = new WeakSet<Snapshot>();

/** Once for each version; nothing is thrown. */
export async function prepareReads(engine: Engine, snapshot: Snapshot): Promise<void> {
  if (opened.has(snapshot)) return;
  opened.add(snapshot);
  const [entry] = snapshot.manifest.fragments;
  if (entry === undefined || entry.footerBytes >= LONG_FOOTER_BYTES || !isWorthIt(engine)) return;
  prepared.add(snapshot);
  try {
    (await openFragment(engine, snapshot, entry, { keep: true })).close();
  } catch {
    // A table with damaged parts can be opened; reading those parts reports the damage.
  }
}

/** Rows of the version are about to be read. */
export function noteRead({ heads }: Engine, snapshot: Snapshot): void {
  const outcome = outcomes.get(heads);
  if (outcome !== undefined && prepared.delete(snapshot)) outcome.unread = 0;
}

function isWorthIt({ heads }: Engine): boolean {
  let outcome = outcomes.get(heads);
  if (outcome === undefined) {
    outcome = { unread: 0, passedOver: 0 };
    outcomes.set(heads, outcome);
  }
  if (outcome.unread >= UNREAD && ++outcome.passedOver % TRIAL !== 0) return false;
  outcome.unread++;
  return true;
}
