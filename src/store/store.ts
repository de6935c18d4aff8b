/**
 * Defines the interface `Store`, which reads and writes bytes by path. It is split into parts for
 * reading, writing and folders, so that an object store could implement some of them. Paths are
 * relative to the root and never leave it. For a missing object, methods return `undefined`,
 * `false` or `missing`. If the folder is missing, `put`, `putIfAbsent`, `link` and `mark` throw
 * InvalidTableState. Results may be synchronous (`Awaitable`), because a small read is much faster
 * without the thread pool.
 */
import type { FolderAlias } from './disk/index.ts';

export type Awaitable<T> = T | Promise<T>;

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'other';
}

export interface ObjectReader {
  readonly size: number;
  /**
   * Exactly `length` bytes, 8-byte aligned in memory; throws Corrupt past the end. They are read
   * into the beginning of `into` where that is given.
   */
  read(offset: number, length: number, into?: Uint8Array): Awaitable<Uint8Array>;
  close(): void;
}

export interface ObjectWriter {
  /** Appends the buffers in order. They must not change until the promise resolves. */
  write(buffers: readonly Uint8Array[]): Promise<void>;
  /** Everything written is on disk (full durability) and of the size returned. */
  finish(): Promise<number>;
  /** Removes what was written. */
  abort(): Promise<void>;
}

export interface ObjectFacts {
  readonly size: number;
  readonly modified: number;
  /** Two names of one object have the same; a copy has another. */
  readonly inode: number;
  /** Whether the last change is so long ago that the next one gets another time. */
  readonly settled: boolean;
}

/** Never settled where the file system is an object that the caller gave: not all keep such times. */
export type FolderFacts = ObjectFacts;

export interface ReadableStore {
  /**
   * Refuses a symbolic link at the path or at the object's folder; `enter` checks the folders
   * above, once for each operation. `entered`: the folder was entered just now. `expected`: the
   * size, for callers that know it and verify what they get; bytes behind it are not looked for.
   */
  get(path: string, entered?: boolean, expected?: number): Awaitable<Uint8Array | undefined>;
  head(path: string): Awaitable<ObjectFacts | undefined>;
  /**
   * A small file whose loss costs nothing. Undefined for anything else at that name, a folder, a
   * link, a file of more than 4 KiB, and for whatever the file system says of it: never an error.
   */
  getHint(path: string): Awaitable<Uint8Array | undefined>;
  /** Refuses what `get` refuses. */
  open(path: string): Awaitable<ObjectReader | undefined>;
  /**
   * Entries in no particular order; undefined when there is no such folder. Throws what `enter`
   * throws. `entered`: the folder was entered just now.
   */
  list(folder: string, entered?: boolean): Awaitable<Entry[] | undefined>;
}

/**
 * Writes may name a folder `via` that must be there at the very moment the object gets or loses its
 * name: the object comes from that folder, or goes into it, by the one call that does the change. A
 * folder above both may have been replaced by another, and the change is then refused as it is
 * where the object's own folder is missing.
 */
export interface WritableStore {
  /**
   * Atomic create: whole or absent, exclusive, durable once it resolves. `false` when the name is
   * taken. Awaits `after` before the object becomes visible. An error may mean either outcome.
   */
  putIfAbsent(
    path: string,
    bytes: Uint8Array,
    after?: Promise<unknown>,
    via?: string,
  ): Promise<boolean>;
  /**
   * A second name for the bytes of an object that never changes, durable once it resolves. `false` when
   * the name is taken or there is no such object.
   */
  link(from: string, to: string): Promise<boolean>;
  /**
   * The bytes of an object that never changes under a second path, whose folder is there: as a second name
   * where the file system gives one, else, and where `copied`, as a copy. A copy may be seen before it is
   * whole. The bytes are durable once it resolves, the name once its folder is synced. `false` when there is
   * no such object.
   */
  share(from: string, to: string, copied?: boolean): Promise<boolean>;
  /** Atomic replace. */
  put(path: string, bytes: Uint8Array, via?: string): Promise<void>;
  /**
   * Replaces in place, unsynced: readers may see a torn mix and must be able to tell. Whatever the
   * file system says and whatever stands at the name is no error; a link in the folder's chain is.
   */
  putHint(path: string, bytes: Uint8Array): Awaitable<void>;
  /** An empty file that says something by its name; neither atomic nor durable. */
  mark(path: string): Awaitable<void>;
  /**
   * A new object under a name that nothing refers to yet. Makes the folder if needed. `entered`: the
   * operation has entered the folder above the object's own already, and looks at that alone.
   */
  create(path: string, entered?: boolean): Awaitable<ObjectWriter>;
  /** False when there is no such object. */
  delete(path: string, via?: string): Awaitable<boolean>;
}

/** Folder moves: what a catalog of directories needs beyond objects. */
export interface FolderStore {
  /**
   * False when the folder is missing; throws InvalidInput when a link stands in its chain.
   * `isOftenMissing`: looks at the folder first, as finding out here that one is missing takes
   * three times as long as entering it.
   */
  enter(folder: string, isOftenMissing?: boolean): Awaitable<boolean>;
  /**
   * Whether a folder stands at the name. Unlike `enter`, it looks once and does not refuse links in
   * the folders above. For folders that are likely missing, where `enter` takes ten times as long.
   */
  hasFolder(folder: string): Awaitable<boolean>;
  /**
   * Facts of a folder. `modified` is the time of its last change, which no program can set, and
   * changes with every entry that comes or goes; `size` means nothing. Undefined when it is
   * missing; throws what `enter` throws. `entered`: the folder above was entered just now.
   */
  folderFacts(folder: string, entered?: boolean): Awaitable<FolderFacts | undefined>;
  /**
   * Durably makes the folder and its missing parents; with `within`, only those below that folder,
   * which must be there: a writer that outlived its table must not bring back its place.
   */
  createFolder(folder: string, within?: string): Promise<void>;
  /** Makes the names inside these folders durable. */
  syncFolders(folders: readonly string[]): Promise<void>;
  /**
   * One atomic rename. 'taken' when something stands at `to`, 'missing' when `from` or the parent
   * of `to` is not there. Both parents are durable once it resolves.
   */
  moveFolder(from: string, to: string): Promise<'moved' | 'taken' | 'missing'>;
  /**
   * One atomic rename of a file within its folder, durable once it resolves. False when no file is at
   * `from`: of callers that rename the same file to different names exactly one gets true.
   */
  renameFile(from: string, to: string): Promise<boolean>;
  /**
   * Gives a folder a second path, for other programs: a symbolic link at `path`, which the store itself
   * never follows. Makes the folder of the link if needed. A link that leads elsewhere is made
   * anew. False where the file system has no such links or refuses them, where something else
   * stands at the name, and in a read-only store unless the link is there.
   */
  alias(path: string, folder: string): Awaitable<boolean>;
  /** The link at `path`, whether its folder is there or not; undefined where no link is. */
  findAlias(path: string): Awaitable<FolderAlias | undefined>;
  /** Removes a folder with all it holds, never through a link; `pause` runs every 256 files or so. */
  deleteFolder(folder: string, pause?: () => Promise<void>): Promise<void>;
  /** Removes a folder that holds nothing; false when it is not there, or holds anything. */
  deleteEmptyFolder(folder: string): Awaitable<boolean>;
}

export type Store = ReadableStore & WritableStore & FolderStore;
