/**
 * Builds and parses the engine's own names of files and folders on disk, without I/O. `NameCodec`
 * maps the ids of namespaces and tables to folders and back. It escapes capitals if the disk folds
 * case, and throws InvalidInput for a name that is too long on disk. Other functions name the files
 * in a table's folder and in the private folder `.dirspace`; those of tags and branches throw
 * InvalidInput for a name that is not allowed (`isRefName`). Functions named `parse...` return
 * undefined for names of other forms. `joinPath`, `parentFolder` and `lastName` join and split
 * paths. lance-paths.ts has the names that Lance gives.
 */
import { DirspaceError } from './errors.ts';

/** Longest folder name written, in bytes: leaves room under the usual limit of 255. */
const MAX_NAME_BYTES = 240;
const TABLE_SUFFIX = '.table';
export const VERSION_DIGITS = 20;

/** The folder of the root namespace's tables, and so a name no namespace folder may have. */
export const ROOT_TABLES_FOLDER = 'data';
export const PRIVATE_FOLDER = '.dirspace';
export const FORMAT_FILE = `${PRIVATE_FOLDER}/format.json`;
export const STAGING_FOLDER = `${PRIVATE_FOLDER}/staging`;
export const TRASH_FOLDER = `${PRIVATE_FOLDER}/trash`;
/** Empty files that are named like the newest entries of the trash. */
export const DROPS_FOLDER = `${PRIVATE_FOLDER}/drops`;
/** Tables that were taken out of the catalog, with their files. */
export const DETACHED_FOLDER = `${PRIVATE_FOLDER}/detached`;
/** Folders that engines of others write tables into, by the incarnation of the table that they are of. */
export const LANCE_TABLES_FOLDER = `${PRIVATE_FOLDER}/lance`;
/** Links to the folders of tables that clients of Lance may write, by the table's incarnation. */
export const OPENED_FOLDER = `${PRIVATE_FOLDER}/opened`;
export const INTENTS_FOLDER = `${PRIVATE_FOLDER}/intents`;
export const LOCKS_FOLDER = `${PRIVATE_FOLDER}/locks`;
/** What repair took out of the catalog. */
export const QUARANTINE_FOLDER = `${PRIVATE_FOLDER}/quarantine`;
export const TRANSACTIONS_FOLDER = `${PRIVATE_FOLDER}/transactions`;
/** A folder of each half day, with what was answered under idempotency keys in it. */
export const KEYS_FOLDER = `${PRIVATE_FOLDER}/keys`;
/** Files in the private folder that are there while the file system is asked for its time. */
export const CLOCK_PREFIX = 'clock-';
export const NAMESPACE_FILE = '.namespace.json';
/** The marker of a namespace whose name is not decided yet: see directory/catalog/name-contest.ts. */
export const PENDING_NAMESPACE_FILE = '.namespace.pending';
/** The marker of a namespace that lost its name to a table before it was ever visible. */
export const WITHDRAWN_NAMESPACE_FILE = '.namespace.withdrawn';
export const TABLE_FILE = '.table.json';
/** Begins the names of files that are still being written: never listed as content, never hinted. */
export const TEMPORARY_PREFIX = '.tmp-';

/** Names that Windows keeps for devices, whatever follows a period. */
const DEVICE = /^(con|prn|aux|nul|conin|conout|com[0-9]|lpt[0-9])$/i;
const ESCAPE = /%([0-9a-f]{2})/g;
/** Without capitals, periods and escapes: only devices and `data` may still need one. */
const PLAIN = /^[a-z0-9_-]{1,200}$/;
const LONGEST_RESERVED = 'conout'.length;

const escapeAt = (text: string, index: number): string =>
  `${text.slice(0, index)}%${text.charCodeAt(index).toString(16)}${text.slice(index + 1)}`;

const decodeEscapes = (text: string): string =>
  text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const isShort = (name: string): boolean => name.length <= MAX_NAME_BYTES;

export const isTableFolder = (name: string): boolean => name.endsWith(TABLE_SUFFIX);

export type FolderKind = 'namespace' | 'table';

/** Maps components to folder names for one root; capitals are escaped where the disk folds case. */
export class NameCodec {
  /** Known once the root was first written to; before that the root holds no names. */
  foldsCase: boolean;

  constructor(foldsCase: boolean) {
    this.foldsCase = foldsCase;
  }

  /**
   * The folder name of one component.
   * @throws InvalidInput when the name would be too long on disk
   */
  encode(component: string, kind: FolderKind, atRoot: boolean): string {
    const name = this.#folderName(component, kind, atRoot);
    if (isShort(name)) return name;
    throw new DirspaceError(
      'InvalidInput',
      `The ${kind} name ${component.slice(0, 40)}... needs ${name.length} bytes on disk; at most ${MAX_NAME_BYTES} are allowed. Choose a shorter name.`,
    );
  }

  /** Where a table of the id lies; undefined where its name would be too long for one. */
  possibleTableFolder(id: readonly string[]): string | undefined {
    const name = this.#folderName(id.at(-1) as string, 'table', id.length === 1);
    return isShort(name) ? this.tableFolder(id) : undefined;
  }

  #folderName(component: string, kind: FolderKind, atRoot: boolean): string {
    let name = component;
    if (name.endsWith('.')) name = escapeAt(name, name.length - 1);
    if (kind === 'namespace' && name.endsWith(TABLE_SUFFIX)) {
      name = escapeAt(name, name.length - TABLE_SUFFIX.length);
    }
    const [base] = name.split('.', 1) as [string];
    const reserved = kind === 'namespace' && atRoot && name === ROOT_TABLES_FOLDER;
    if (name.startsWith('.') || DEVICE.test(base) || reserved) name = escapeAt(name, 0);
    if (this.foldsCase) {
      name = name.replace(/[A-Z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
    }
    return kind === 'table' ? name + TABLE_SUFFIX : name;
  }

  /** What a folder of a namespace is, or undefined when it is not the engine's. */
  decode(folder: string, atRoot: boolean): { kind: FolderKind; name: string } | undefined {
    const kind: FolderKind = isTableFolder(folder) ? 'table' : 'namespace';
    const bare = kind === 'table' ? folder.slice(0, -TABLE_SUFFIX.length) : folder;
    // Names that no rule touches, so that long lists need not encode each name again.
    if (bare.length > LONGEST_RESERVED && PLAIN.test(bare)) return { kind, name: bare };
    if (kind === 'table' && PLAIN.test(bare) && !DEVICE.test(bare)) return { kind, name: bare };
    const name = decodeEscapes(bare);
    if (folder.length > MAX_NAME_BYTES || !/^[A-Za-z0-9_.-]+$/.test(name)) return undefined;
    return this.#folderName(name, kind, atRoot) === folder ? { kind, name } : undefined;
  }

  /** The folder of a namespace; the root namespace is the root itself, ''. */
  namespaceFolder(path: readonly string[]): string {
    return path.map((part, depth) => this.encode(part, 'namespace', depth === 0)).join('/');
  }

  /** The folder that holds a namespace's tables. */
  tablesFolder(path: readonly string[]): string {
    return path.length === 0 ? ROOT_TABLES_FOLDER : this.namespaceFolder(path);
  }

  /** The folder of the table `id`, whose last part is its name. */
  tableFolder(id: readonly string[]): string {
    const namespace = id.slice(0, -1);
    const name = this.encode(id.at(-1) as string, 'table', namespace.length === 0);
    return `${this.tablesFolder(namespace)}/${name}`;
  }

  /** The id of the table that has its place at `folder`; undefined where that is no place of one. */
  tableIdAt(folder: string): readonly string[] | undefined {
    if (folder.startsWith(`${PRIVATE_FOLDER}/`)) return undefined;
    const parts = folder.split('/');
    const atRoot = parts.length === 2 && parts[0] === ROOT_TABLES_FOLDER;
    const decoded = this.decode(parts.at(-1) as string, atRoot);
    if (decoded?.kind !== 'table') return undefined;
    const namespace = atRoot ? [] : parts.slice(0, -1);
    const path = namespace.map((part, depth) => this.decode(part, depth === 0)?.name);
    if (path.includes(undefined)) return undefined;
    const id = [...(path as string[]), decoded.name];
    // A table right under the root would be one of the root, and those are in `data`.
    return this.possibleTableFolder(id) === folder ? id : undefined;
  }
}

/** `a/b` -> `b` */
export const lastName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** `a/b` -> `a`; a name without a folder is in the root, ''. */
export function parentFolder(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut < 0 ? '' : path.slice(0, cut);
}

export const joinPath = (folder: string, name: string): string =>
  folder === '' ? name : `${folder}/${name}`;

/** The files of one branch of one incarnation of a table. `main` lives in the table folder itself. */
export function versionsFolder(table: string, incarnation: string, branch: string): string {
  return versionsFolderIn(
    branch === MAIN_BRANCH ? table : branchFolder(table, branch),
    incarnation,
  );
}
/** Where a branch's own folder is not in its place yet, or no longer. */
export const versionsFolderIn = (home: string, incarnation: string): string =>
  `${home}/${VERSIONS_PREFIX}${incarnation}`;
const VERSIONS_PREFIX = 'versions-';
export const isVersionsFolder = (name: string): boolean => name.startsWith(VERSIONS_PREFIX);

export const MAIN_BRANCH = 'main';
export const branchesFolder = (table: string): string => `${table}/branches`;
export const branchFolder = (table: string, branch: string): string =>
  `${branchesFolder(table)}/${encodeRef(branch)}`;
export const branchFile = (table: string, branch: string): string =>
  branchFileIn(branchFolder(table, branch));
export const branchFileIn = (folder: string): string => `${folder}/branch.json`;
export const tagsFolder = (table: string): string => `${table}/tags`;
export const tagFile = (table: string, tag: string): string =>
  `${tagsFolder(table)}/${encodeRef(tag)}.json`;
/** The tag that a file name stands for, or undefined for any other file. */
export const parseTagFile = (name: string): string | undefined =>
  isDocument(name) ? decodeRef(documentName(name)) : undefined;

/** Whether a file is named like a JSON document of the engine. */
export const isDocument = (name: string): boolean => name.endsWith(DOCUMENT_SUFFIX);
export const DOCUMENT_SUFFIX = '.json';
export const documentName = (file: string): string => file.slice(0, -DOCUMENT_SUFFIX.length);

export const versionFile = (folder: string, version: number): string =>
  `${folder}/${versionDigits(version)}.json`;
export const latestFile = (folder: string): string => `${folder}/latest.json`;

const VERSION_NAME = /^([0-9]{20})\.json$/;
/** The version a file name stands for, or undefined for any other file. */
export function parseVersionFile(name: string): number | undefined {
  const version = Number(VERSION_NAME.exec(name)?.[1]);
  return Number.isSafeInteger(version) ? version : undefined;
}

/** A marker file whose name alone says that the versions `first` to `last` were deleted. */
export const deletedRunFile = (folder: string, first: number, last: number): string =>
  `${folder}/deleted-${versionDigits(first)}-${versionDigits(last)}.json`;

/** How a version is written in names and in the hint. */
export const versionDigits = (version: number): string =>
  version.toString().padStart(VERSION_DIGITS, '0');
export const parseVersionDigits = (digits: string): number | undefined =>
  parseVersionFile(`${digits}.json`);

/** What lists show of 64 versions, from `first` on; see table/history/version-digests.ts. */
export const digestsFile = (folder: string, first: number): string =>
  `${folder}/digests-${versionDigits(first)}.json`;
const DIGESTS_NAME = /^digests-([0-9]{20}\.json)$/;
/** The first version whose digest the file holds, or undefined for any other file name. */
export const parseDigestsFile = (name: string): number | undefined =>
  parseVersionFile(DIGESTS_NAME.exec(name)?.[1] ?? '');

const DELETED_NAME = /^deleted-([0-9]{20})-([0-9]{20})\.json$/;
export interface VersionRun {
  readonly first: number;
  readonly last: number;
}
export function parseDeletedRun(name: string): VersionRun | undefined {
  const found = DELETED_NAME.exec(name);
  return found === null ? undefined : { first: Number(found[1]), last: Number(found[2]) };
}

export const FRAGMENTS = 'data';
const DELETIONS = 'deletions';
const CHUNKS = 'chunks';
const INDEXES = 'indexes';
export const fragmentsFolder = (table: string): string => `${table}/${FRAGMENTS}`;
export const deletionsFolder = (table: string): string => `${table}/${DELETIONS}`;
export const chunksFolder = (table: string): string => `${table}/${CHUNKS}`;
export const indexesFolder = (table: string): string => `${table}/${INDEXES}`;
export const fragmentName = (file: string): string => `${file}.arrow`;
export const fragmentFile = (table: string, file: string): string =>
  `${fragmentsFolder(table)}/${fragmentName(file)}`;
export const indexFile = (table: string, file: string): string =>
  `${indexesFolder(table)}/${fragmentName(file)}`;
export const deletionFile = (table: string, file: string): string =>
  `${deletionsFolder(table)}/${file}.arrow`;
export const chunkFile = (table: string, file: string): string =>
  `${chunksFolder(table)}/${file}.json`;

/** Folders of a table whose files never change. */
export const objectFolders = (table: string): readonly string[] => [
  fragmentsFolder(table),
  deletionsFolder(table),
  chunksFolder(table),
  indexesFolder(table),
];
const OBJECT_NAME = /^[0-9a-f-]{8,64}\.(arrow|json)$/;
/** Whether the engine writes files of this name there: a table's folder may hold other programs' data. */
export const isObject = (folder: string, name: string): boolean =>
  OBJECT_NAME.exec(name)?.[1] === (lastName(folder) === CHUNKS ? 'json' : 'arrow');
/** `t.table/data/1f0e.arrow` -> `1f0e`: what manifests call a file of a table. */
export const objectId = (path: string): string => lastName(path).replace(/\.[a-z]+$/, '');
/** Whether a folder of a table holds its rows: most of the bytes, which no watcher needs to see. */
export const isRowsFolder = (name: string): boolean => name === FRAGMENTS || name === DELETIONS;

/** A manifest handed over for publication by the table-version operations. */
export const stagedManifestFile = (folder: string, transaction: string): string =>
  `${folder}/staged-${transaction}.json`;
const STAGED_NAME = /^staged-[0-9a-z.-]{1,200}\.json$/;
export const isStagedManifest = (name: string): boolean => STAGED_NAME.test(name);

/** Temporary files of a write in progress; never part of anything. */
export const isTemporary = (name: string): boolean => name.startsWith(TEMPORARY_PREFIX);
/** Temporary files that the engine wrote: other programs also use names that begin with `.tmp-`. */
export const isOwnTemporary = (name: string): boolean => OWN_TEMPORARY.test(name);
const OWN_TEMPORARY = /^\.tmp-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Keeps a version from being deleted while a tag, branch or version is made from it; see table/history/holds.ts. */
export const holdFile = (folder: string, version: number, id: string): string =>
  `${folder}/.tmp-hold-${version}-${id}`;
const HOLD_NAME = /^\.tmp-hold-(\d{1,16})-/;
/** The version that a hold keeps. */
export function parseHold(name: string): number | undefined {
  const found = HOLD_NAME.exec(name);
  return found === null ? undefined : Number(found[1]);
}

export interface WriterMark {
  readonly id: string;
  readonly scope: string;
  readonly pid: number;
  readonly start: number;
}

/** In a table's folder: announces a writer that has not committed yet, and the process it is in. */
export const writerFile = (table: string, { id, scope, pid, start }: WriterMark): string =>
  `${table}/.tmp-writer-${id}-${scope}-${pid}-${start}`;
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const WRITER_NAME = new RegExp(`^\\.tmp-writer-(${UUID})-([0-9a-f]{8})-(\\d{1,10})-(\\d{1,15})$`);
export function parseWriter(name: string): WriterMark | undefined {
  const [, id, scope, pid, start] = WRITER_NAME.exec(name) ?? [];
  if (id === undefined || scope === undefined) return undefined;
  return { id, scope, pid: Number(pid), start: Number(start) };
}

/** What is written for several fragments has a checksum behind its number. */
const OWNED_NAME = new RegExp(`^(${UUID})-[0-9a-f]{1,8}(?:-[0-9a-f]{8})?\\.(?:arrow|json)$`);
/** The id of the writer that made a file of a table; older releases left it out of the name. */
export const writerOf = (name: string): string | undefined => OWNED_NAME.exec(name)?.[1];

const REF_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/;

/**
 * Tags and branches share one rule: like a component, not starting with a period, 200 at most.
 * Capitals are escaped always, so that a catalog can be copied to a disk that folds case.
 */
export function encodeRef(name: string): string {
  if (!REF_NAME.test(name)) {
    throw new DirspaceError(
      'InvalidInput',
      `The name ${JSON.stringify(name.slice(0, 80))} is not allowed for a tag or branch: use a non-empty name of at most 200 letters, digits, "_", "-" or ".", not starting with a period.`,
    );
  }
  return name.replace(/[A-Z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

/** Whether a tag or branch of ours may have the name. */
export const isRefName = (name: string): boolean => REF_NAME.test(name);

/** The inverse of encodeRef, undefined for names it never makes. */
export function decodeRef(encoded: string): string | undefined {
  const name = decodeEscapes(encoded);
  return REF_NAME.test(name) && encodeRef(name) === encoded ? name : undefined;
}

/** A table that was taken out of the catalog. */
export const detachedFolder = (uuid: string): string => `${DETACHED_FOLDER}/${uuid}${TABLE_SUFFIX}`;

/**
 * Where engines of others write the rows of a declared table. It never moves and is never used for
 * another table: a writer that still holds it reaches that table or an error.
 */
export const reservedFolder = (incarnation: string): string =>
  `${LANCE_TABLES_FOLDER}/${incarnation}`;
export const isReservedFolder = (path: string): boolean => RESERVED_FOLDER.test(path);
const RESERVED_FOLDER = /^\.dirspace\/lance\/[0-9a-f-]{8,64}$/;

/**
 * The path by which clients of Lance open a table that they may write. No other table ever has it, so a
 * path below it tells which table a client has opened.
 */
export const openedFolder = (incarnation: string): string => `${OPENED_FOLDER}/${incarnation}`;

const DROP_DIGITS = 12;
const DROP_NAME = /^(\d{12})-[0-9a-f-]{8,51}$/;
/** The name of the `number`th drop in the trash. */
export const dropName = (number: number, uuid: string): string =>
  `${String(number).padStart(DROP_DIGITS, '0')}-${uuid}`;
/** The number of a drop by the name of its folder or record; 0 for any other name. */
export const dropNumber = (name: string): number =>
  Number(DROP_NAME.exec(isDocument(name) ? documentName(name) : name)?.[1] ?? 0);
/** The record beside a dropped folder. */
export const trashRecordFile = (folder: string): string => `${folder}.json`;
/** The folder that a record in the trash is of; undefined for any other file. */
export const parseTrashRecord = (name: string): string | undefined =>
  isDocument(name) ? documentName(name) : undefined;

/** Where the files of a table outside the root go while they are removed: beside their folder. */
export const outsideAside = (parent: string, incarnation: string): string =>
  joinPath(parent, `.dirspace-dropped-${incarnation}`);

export const intentFile = (uuid: string): string => `${INTENTS_FOLDER}/${uuid}.json`;
/** Whether an intent may name this path as the place of a table or namespace. */
export const isIntentPlace = (path: string): boolean => INTENT_PLACE.test(path);
const INTENT_PLACE = /^(?!\.dirspace)[^/][^\0]*$/;
/** Whether an intent may name this path as a folder of the trash or of staging. */
export const isIntentAside = (path: string): boolean => INTENT_ASIDE.test(path);
const INTENT_ASIDE = /^\.dirspace\/(trash|staging|detached)\/[0-9a-f-]{8,64}(\.table)?$/;

const JOURNAL_SUFFIX = '.journal.json';
/** The decision of a commit of several tables. */
export const decisionFile = (batch: string): string => `${TRANSACTIONS_FOLDER}/${batch}.json`;
/** The steps that follow the decision: see directory/catalog/journal.ts. */
export const journalFile = (batch: string): string =>
  `${TRANSACTIONS_FOLDER}/${batch}${JOURNAL_SUFFIX}`;
/** The batch of a journal; undefined for any other file. */
export const parseJournalFile = (name: string): string | undefined =>
  name.endsWith(JOURNAL_SUFFIX) ? name.slice(0, -JOURNAL_SUFFIX.length) : undefined;
export const transactionPropertiesFile = (transaction: string): string =>
  `${TRANSACTIONS_FOLDER}/${transaction}.properties.json`;

/** Answers under idempotency keys: a folder of each period, a file of each hash of a key. */
export const keysFolder = (period: number): string => `${KEYS_FOLDER}/${period}`;
export const keyFile = (period: number, hash: string): string =>
  `${keysFolder(period)}/${hash}.json`;
export const isKeysFolder = (name: string): boolean => /^\d{1,9}$/.test(name);
export const isKeyFile = (name: string): boolean => /^[0-9a-f]{48}\.json$/.test(name);

/** Says what lies in one folder of the quarantine. */
export const quarantineRecordFile = (folder: string): string => `${folder}/record.json`;
