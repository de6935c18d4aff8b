/** A fragment to read from: as a whole where it is small, in parts where it is not. */
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
