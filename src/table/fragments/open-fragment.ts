/**
 * `openFragment`: opens a fragment for reading, as a whole (small-fragment.ts) or by ranges
 * (large-fragment.ts), depending on its size. If cleanup removed the version meanwhile, that is
 * TableVersionNotFound; damage is Corrupt.
 */
import type { FragmentEntry } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import type { FragmentReader, ReadPurpose } from './fragment-reader.ts';
import { LargeFragment } from './large-fragment.ts';
import { isSmall, openSmall } from './small-fragment.ts';

/** @throws TableVersionNotFound when cleanup removed the version meanwhile, Corrupt */
export const openFragment = (
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  purpose: ReadPurpose = {},
): Awaitable<FragmentReader> =>
  isSmall(entry)
    ? openSmall(engine, snapshot, entry, purpose)
    : LargeFragment.open(engine, snapshot, entry, purpose);
