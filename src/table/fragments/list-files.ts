/**
 * `listFiles` lists the files that hold the rows of a version, a page of fragments at a time in row
 * order. For each fragment it adds the place of its deleted rows and the layout of its columns (see
 * stored-layout.ts). A page ends early once its layouts take 16 MiB as JSON; `next` is where the
 * next page begins, and is missing at the end. `unlikeFragments` finds the fragments that a plain
 * copy of the version would not have: those with deleted rows, and those with several files or
 * other columns than the version's that would be nearer to it if they were written anew. Both read
 * footers of fragments.
 */
import {
  columnFiles,
  deletionFile,
  type FragmentEntry,
  type FragmentFooter,
  fragmentFile,
  isCompressedEntry,
  liveRows,
} from '../../format/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { Turn } from '../work/index.ts';
import { openFragment } from './open-fragment.ts';
import { type StoredLayout, storedLayout } from './stored-layout.ts';

/** Paths are relative to the folder of the table. */
export interface FragmentFiles {
  readonly id: number;
  /** Live rows of the version before its own. */
  readonly firstRow: number;
  /** Rows in its files, and those of them that are deleted. */
  readonly rows: number;
  readonly deletedRows: number;
  /** The oldest first: its own, then the files of columns that were written later. */
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly compressed: boolean;
  readonly deletion?: DeletionPlace;
  /** The number of the layout of its columns. */
  readonly layout: number;
}

/**
 * Where the offsets of deleted rows are: an Arrow file of one column, or uint32 values from
 * `offset` on.
 */
export interface DeletionPlace {
  readonly path: string;
  readonly rows: number;
  readonly offset?: number;
}

export interface ListedFiles {
  readonly layouts: readonly StoredLayout[];
  readonly fragments: readonly FragmentFiles[];
  /** Place of the next fragment; undefined at the end. */
  readonly next?: number;
}

/** @param from place of the first fragment to list, in row order; at most `most` are */
export async function listFiles(
  engine: Engine,
  snapshot: Snapshot,
  { from, most, signal }: { from: number; most: number; signal?: AbortSignal | undefined },
): Promise<ListedFiles> {
  const { tableFolder: folder } = snapshot.branch;
  const within = (path: string): string => path.slice(folder.length + 1);
  const entries = await snapshot.fragments();
  const layouts = new Layouts(engine, snapshot);
  const fragments: FragmentFiles[] = [];
  const turn = new Turn(engine.env);
  let firstRow = 0;
  for (const entry of entries.slice(0, from)) firstRow += liveRows(entry);
  const end = Math.min(entries.length, from + most);
  for (const entry of entries.slice(from, end)) {
    signal?.throwIfAborted();
    if (turn.isOver()) await turn.pass();
    if (layouts.isFull) break;
    const { deletion } = entry;
    fragments.push({
      id: entry.id,
      firstRow,
      rows: entry.rows,
      deletedRows: deletion?.rows ?? 0,
      files: columnFiles(entry).map(({ file, bytes }) => ({
        path: within(fragmentFile(folder, file)),
        bytes,
      })),
      compressed: isCompressedEntry(entry),
      ...(deletion === undefined
        ? {}
        : {
            deletion: {
              path: within(deletionFile(folder, deletion.file)),
              rows: deletion.rows,
              ...(deletion.offset === undefined ? {} : { offset: deletion.offset }),
            },
          }),
      layout: await layouts.of(entry, turn),
    });
    firstRow += liveRows(entry);
  }
  const next = from + fragments.length;
  return { layouts: layouts.all, fragments, ...(next < entries.length ? { next } : {}) };
}

/** Ids of fragments with deleted rows, several files, or other columns than the version. */
export async function unlikeFragments(
  engine: Engine,
  snapshot: Snapshot,
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<number>> {
  const unlike = new Set<number>();
  const layouts = new Layouts(engine, snapshot);
  const turn = new Turn(engine.env);
  for (const entry of await snapshot.fragments()) {
    signal?.throwIfAborted();
    if (turn.isOver()) await turn.pass();
    if (entry.deletion !== undefined || (await layouts.read(entry, turn)).isRewritable) {
      unlike.add(entry.id);
    }
  }
  return unlike;
}

/** The layouts of a page may have this many characters as JSON, and the layout that passes it. */
const MOST_LAYOUT_TEXT = 1 << 24;

/** Fragments that were written with one schema share a layout. */
class Layouts {
  readonly all: StoredLayout[] = [];
  readonly #engine: Engine;
  readonly #snapshot: Snapshot;
  readonly #places = new Map<string, number>();
  #characters = 0;
  /** The layout of the fragment read last: most often the next one has the same. */
  #last: { readonly like: LayoutKey; readonly layout: StoredLayout; place?: number } | undefined;

  constructor(engine: Engine, snapshot: Snapshot) {
    this.#engine = engine;
    this.#snapshot = snapshot;
  }

  get isFull(): boolean {
    return this.#characters >= MOST_LAYOUT_TEXT;
  }

  /** The place of its layout in `all`. */
  async of(entry: FragmentEntry, turn: Turn): Promise<number> {
    const layout = await this.read(entry, turn);
    if (this.#last?.place !== undefined) return this.#last.place;
    const key = JSON.stringify(layout);
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.all.push(layout) - 1;
      this.#places.set(key, place);
      this.#characters += key.length;
    }
    if (this.#last !== undefined) this.#last.place = place;
    return place;
  }

  /** From the footers of its files. */
  async read(entry: FragmentEntry, turn: Turn): Promise<StoredLayout> {
    const reader = await openFragment(this.#engine, this.#snapshot, entry, { turn });
    try {
      const like = layoutKey(entry, reader.footer);
      const last = this.#last;
      if (last?.like.stored === like.stored && last.like.text === like.text) return last.layout;
      const layout = storedLayout(this.#snapshot.fields, entry, reader.footer);
      this.#last = { like, layout };
      return layout;
    } finally {
      reader.close();
    }
  }
}

interface LayoutKey {
  readonly stored: FragmentFooter['stored'];
  readonly text: string;
}

const layoutKey = (entry: FragmentEntry, { stored, wide }: FragmentFooter): LayoutKey => ({
  stored,
  text: [entry.fields, wide, columnFiles(entry).map(({ columns }) => columns)].join(';'),
});
