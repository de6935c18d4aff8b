/**
 * `HeadCache` caches what an open catalog last saw of its tables, within a limit in bytes: newest
 * versions, table records, and the names of the tables and namespaces in a folder.
 * `unchangedRecord` and `unchangedMain` check an entry with few file system calls, and return
 * undefined if it must be read again, or if the store answers with promises. `unchangedMain` knows
 * only heads that were given to `noteMain`. The look-ups `head`, `record` and `names` return what
 * was seen last, which may be out of date; the caller has to check it. `isUnchanged` compares the
 * facts of a folder at two times.
 */
import type { CacheCounts } from '../../counters.ts';
import {
  isOfKnownSchema,
  joinPath,
  MAIN_BRANCH,
  TABLE_FILE,
  type TableRecord,
  versionFile,
} from '../../format/index.ts';
import type { Awaitable, FolderFacts, ObjectFacts, Store } from '../../store/index.ts';
import { ByteCache, type CacheBudget } from '../work/index.ts';
import type { Head, TableBranch } from './head.ts';
import type { Snapshot } from './snapshot.ts';

/** A record as it was read. */
export interface KnownRecord {
  readonly bytes: Uint8Array;
  readonly record: TableRecord;
  /**
   * The facts of its file before it was read; undefined if the file was too young to be known
   * again.
   */
  readonly facts: ObjectFacts | undefined;
}

/** Sorted, without repeats. */
export interface SortedNames {
  readonly names: readonly string[];
  /** For each name 1 if the marker of its table or namespace was seen, otherwise 0. */
  readonly seen: Uint8Array;
}

/** The names in a folder. */
export interface KnownNames {
  /** The facts of the folder before they were read; undefined if it is missing. */
  readonly facts: FolderFacts | undefined;
  readonly tables: SortedNames;
  readonly namespaces: SortedNames;
}

/** Where the newest version of the main branch of a table was found. */
interface KnownMain {
  /** The key that the head is remembered under. */
  readonly branchFolder: string;
  readonly slot: number;
  readonly file: string;
  readonly next: string;
  /** The inode of the file; undefined if the folder's facts tell that nothing has changed. */
  readonly inode: number | undefined;
  /**
   * The facts of the folder before the version was looked for; undefined if it had just changed.
   */
  readonly folder: FolderFacts | undefined;
  /** How often the file was looked at. */
  looks: number;
}

/** After so many looks at a version it is found out whether one at its folder is enough by now. */
const LOOKS = 16;

type Entry =
  | { readonly head: Head }
  | { readonly main: KnownMain }
  | { readonly record: KnownRecord }
  | { readonly names: KnownNames };

/** The bytes that an entry takes in memory, its key and its place in the cache included. */
function weightOf(entry: Entry): number {
  if ('head' in entry) {
    const { manifest, manifestBytes } = entry.head.snapshot;
    // Parsed, a document takes about three times its bytes, and a schema of its own as much again.
    return 256 + (isOfKnownSchema(manifest) ? 3 : 7) * manifestBytes;
  }
  if ('record' in entry) return 256 + 4 * entry.record.bytes.length;
  if ('names' in entry) return 96 * (namesOf(entry.names) + 2);
  return 384;
}

/** Facts of one folder at two times: no entry came or went in between. */
export const isUnchanged = (
  before: FolderFacts | undefined,
  now: FolderFacts | undefined,
): boolean =>
  before !== undefined && now?.inode === before.inode && now.modified === before.modified;

const namesOf = ({ tables, namespaces }: KnownNames): number =>
  tables.names.length + namespaces.names.length;

export class HeadCache {
  readonly #store: Pick<Store, 'head' | 'folderFacts'>;
  readonly #cache: ByteCache;

  /**
   * @param limit in bytes, or the budget of this and other caches
   * @param counts is told of every look-up
   */
  constructor(
    store: Pick<Store, 'head' | 'folderFacts'>,
    limit: number | CacheBudget,
    counts?: CacheCounts,
  ) {
    this.#store = store;
    this.#cache = new ByteCache(limit, counts);
  }

  /** Most bytes held. */
  get limit(): number {
    return this.#cache.limit;
  }

  /** The newest version last seen of a branch: a starting point. */
  head({ folder }: TableBranch): Head | undefined {
    return this.#head(folder);
  }

  keepHead({ folder }: TableBranch, head: Head): void {
    this.#keep(folder, { head });
  }

  /** Does the same as keepHead unless a later version is known. */
  remember(branch: TableBranch, head: Head): void {
    const known = this.head(branch);
    if (known === undefined || known.slot < head.slot) this.keepHead(branch, head);
  }

  forgetHead({ folder }: TableBranch): void {
    this.#cache.delete(folder);
  }

  /**
   * The newest version of the main branch of the table in that folder, whichever it is; undefined
   * where it must be looked for.
   *
   * One look is enough where the folder of the versions had not changed for a while when they were
   * looked for: as versions come and go, it gets another time.
   *
   * Else three looks are enough, as the id of the table's incarnation is part of the path of a
   * version: it is there only while this incarnation is in its place. And a version that is there,
   * and whose successor is not, is the newest. That it is the very same file, not one of that name,
   * shows that the path leads where it led when no link was in it.
   */
  unchangedMain(tableFolder: string): Snapshot | undefined {
    const known = this.#get(`main ${tableFolder}`);
    if (known === undefined || !('main' in known)) return undefined;
    const { main } = known;
    const { branchFolder, slot, file, next, inode } = main;
    const head = this.#head(branchFolder);
    if (head?.slot !== slot) return undefined;
    if (main.folder !== undefined && isUnchanged(main.folder, this.#folderFacts(branchFolder)))
      return head.snapshot;
    if (inode === undefined) return undefined;
    const folder = ++main.looks % LOOKS === 0 ? this.#folderFacts(branchFolder) : undefined;
    // The successor first: a deleted run loses its first version before the versions after it.
    if (this.#store.head(next) !== undefined) return undefined;
    const found = this.#store.head(file);
    if (found === undefined || found instanceof Promise) return undefined;
    // Missed once more: the table may have been away before, with both, and come back.
    if (this.#store.head(next) !== undefined) return undefined;
    const { snapshot } = head;
    if (found.size !== snapshot.manifestBytes || found.inode !== inode) return undefined;
    if (folder?.settled === true) this.#keep(`main ${tableFolder}`, { main: { ...main, folder } });
    return snapshot;
  }

  /**
   * Notes for unchangedMain a head that was just made, or found through the table's record, so that
   * no link is in its path. Takes one look, or none where the facts of the folder are enough.
   * Nothing is thrown: without a note the next one who asks goes the whole way again.
   */
  async noteMain({ slot, snapshot, folder }: Head): Promise<void> {
    const { branch, file } = snapshot;
    // A version whose multi-table commit is undecided may become the newest without a file that is
    // new.
    if (branch.branch !== MAIN_BRANCH || snapshot.version !== slot) return;
    const next = versionFile(branch.folder, slot + 1);
    const place = { branchFolder: branch.folder, slot, file, next, looks: 0 };
    if (folder !== undefined) {
      const main = { ...place, inode: undefined, folder };
      this.#keep(`main ${branch.tableFolder}`, { main });
      return;
    }
    try {
      const found = this.#store.head(file);
      // A store that does not answer at once would have to be waited for by every reader.
      if (found instanceof Promise) await found;
      else if (found?.size === snapshot.manifestBytes) {
        const main = { ...place, inode: found.inode, folder };
        this.#keep(`main ${branch.tableFolder}`, { main });
      }
    } catch {
      // Reading the version will report what is wrong with it.
    }
  }

  /** The record of a table as it was read last. */
  record(tableFolder: string): KnownRecord | undefined {
    const known = this.#get(`record ${tableFolder}`);
    return known !== undefined && 'record' in known ? known.record : undefined;
  }

  keepRecord(tableFolder: string, record: KnownRecord): void {
    this.#keep(`record ${tableFolder}`, { record });
  }

  /**
   * The record of a table whose file is the same as before. A record is only ever replaced by
   * another file, and so never has the same inode, size and time of change again, unless that
   * happens within one tick of the file system's clock.
   */
  unchangedRecord(tableFolder: string): TableRecord | undefined {
    const known = this.record(tableFolder);
    if (known?.facts === undefined) return undefined;
    const found = this.recordFacts(tableFolder);
    const isSame =
      found?.inode === known.facts.inode &&
      found.modified === known.facts.modified &&
      found.size === known.facts.size;
    return isSame ? known.record : undefined;
  }

  /** Undefined where the store does not answer at once. */
  recordFacts(tableFolder: string): ObjectFacts | undefined {
    const found: Awaitable<ObjectFacts | undefined> = this.#store.head(
      joinPath(tableFolder, TABLE_FILE),
    );
    if (!(found instanceof Promise)) return found;
    found.catch(() => {});
    return undefined;
  }

  /** The names in a folder as they were read last. */
  names(folder: string): KnownNames | undefined {
    const known = this.#get(`names ${folder}`);
    return known !== undefined && 'names' in known ? known.names : undefined;
  }

  keepNames(folder: string, names: KnownNames): void {
    this.#keep(`names ${folder}`, { names });
  }

  /** Undefined where the store does not answer at once. */
  #folderFacts(folder: string): FolderFacts | undefined {
    const found = this.#store.folderFacts(folder, true);
    if (!(found instanceof Promise)) return found;
    found.catch(() => {});
    return undefined;
  }

  #head(branchFolder: string): Head | undefined {
    const known = this.#get(branchFolder);
    return known !== undefined && 'head' in known ? known.head : undefined;
  }

  #get(key: string): Entry | undefined {
    return this.#cache.get<Entry>(key);
  }

  #keep(key: string, entry: Entry): void {
    this.#cache.set(key, entry, weightOf(entry));
  }
}
