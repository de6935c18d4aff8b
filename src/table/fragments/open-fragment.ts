/**
 * `openFragment` opens a fragment for reading; the caller closes it. A file of at most 16 KiB is
 * read whole (small-fragment.ts), and a larger one by ranges (large-fragment.ts). A fragment with
 * overlays has several files, which are read as one (composed-fragment.ts). It throws
 * TableVersionNotFound if cleanup removed the version meanwhile, and Corrupt for a damaged file.
 */
import { columnFiles, type FragmentEntry } from '../../format/index.ts';
import type { Awaitable } from '../../store/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { andThen } from '../work/index.ts';
import { ComposedFragment } from './composed-fragment.ts';
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
  entry.overlays === undefined
    ? openFile(engine, snapshot, entry, purpose)
    : openFiles(engine, snapshot, entry, purpose);

const openFile = (
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  purpose: ReadPurpose,
): Awaitable<FragmentReader> =>
  isSmall(entry)
    ? openSmall(engine, snapshot, entry, purpose)
    : LargeFragment.open(engine, snapshot, entry, purpose);

/** The files of a fragment as entries of their own. */
const alone = new WeakMap<FragmentEntry, readonly FragmentEntry[]>();

function filesOf(entry: FragmentEntry): readonly FragmentEntry[] {
  let files = alone.get(entry);
  if (files === undefined) {
    const { id, rows } = entry;
    files = columnFiles(entry).map((file) => ({
      ...file,
      id,
      rows,
      fields: [],
      statistics: [],
      deletion: undefined,
    }));
    alone.set(entry, files);
  }
  return files;
}

function openFiles(
  engine: Engine,
  snapshot: Snapshot,
  entry: FragmentEntry,
  purpose: ReadPurpose,
): Awaitable<FragmentReader> {
  const opened: FragmentReader[] = [];
  const failed = (error: unknown): never => {
    for (const file of opened) file.close();
    throw error;
  };
  const from = (index: number): Awaitable<FragmentReader> => {
    const file = filesOf(entry)[index];
    if (file === undefined) return new ComposedFragment(opened);
    return andThen(openFile(engine, snapshot, file, purpose), (reader) => {
      opened.push(reader);
      return from(index + 1);
    });
  };
  try {
    const made = from(0);
    return made instanceof Promise ? made.catch(failed) : made;
  } catch (error) {
    return failed(error);
  }
}
