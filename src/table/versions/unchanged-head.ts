/**
 * The newest version of a table that nobody has changed since it was read last, with three looks at
 * the disk. Readers that come back find nothing new most of the time, and the whole way to the
 * newest version, through the table's record, takes several times as long.
 *
 * They are enough, as the id of the table's incarnation is part of the path of a version: it is
 * there only while this incarnation is in its place. And a version that is there, and whose
 * successor is not, is the newest. That it is the very same file, not one of that name, shows that
 * the path leads where it led when no link was in it.
 */
import { versionFile } from '../../format/index.ts';
import type { Engine } from './engine.ts';
import type { Head, TableBranch } from './head.ts';
import type { Snapshot } from './snapshot.ts';

interface Seen {
  /** What the head is remembered under. */
  readonly branchFolder: string;
  readonly slot: number;
  readonly file: string;
  readonly next: string;
  readonly inode: number;
}

const SEEN_BYTES = 1024;

const keyOf = (tableFolder: string): string => `seen ${tableFolder}`;

/** Of the main branch; undefined where it must be looked for. */
export function unchangedHead(engine: Engine, tableFolder: string): Snapshot | undefined {
  const seen = engine.heads.get<Seen>(keyOf(tableFolder));
  if (seen === undefined) return undefined;
  const head = engine.heads.get<Head>(seen.branchFolder);
  if (head?.slot !== seen.slot) return undefined;
  // The successor first: a deleted run loses its first version before the versions after it.
  if (engine.store.head(seen.next) !== undefined) return undefined;
  const found = engine.store.head(seen.file);
  if (found === undefined || found instanceof Promise) return undefined;
  // Missed once more: the table may have been away before, with both, and come back.
  if (engine.store.head(seen.next) !== undefined) return undefined;
  const { snapshot } = head;
  return found.size === snapshot.manifestBytes && found.inode === seen.inode ? snapshot : undefined;
}

/**
 * Remembers a head of the main branch that was found the whole way, or just made. Nothing is thrown:
 * without it the next one goes the whole way again.
 */
export async function noteHead(
  engine: Engine,
  branch: TableBranch,
  { slot, snapshot }: Head,
): Promise<void> {
  // A version that a batch has left undecided may become the newest without a file that is new.
  if (snapshot.version !== slot) return;
  const { file } = snapshot;
  try {
    const found = engine.store.head(file);
    // A store that does not answer at once would have to be waited for by every reader.
    if (found instanceof Promise) await found;
    else if (found?.size === snapshot.manifestBytes) {
      const next = versionFile(branch.folder, slot + 1);
      const seen: Seen = { branchFolder: branch.folder, slot, file, next, inode: found.inode };
      engine.heads.set(keyOf(branch.tableFolder), seen, SEEN_BYTES);
    }
  } catch {
    // Whoever needs the version is told what is wrong with it.
  }
}
