/**
 * Builds and parses the names of the files and folders that a table or catalog has for Lance: a
 * table's manifests, data files, deletion files, transactions, tags and branches, and the table
 * `__manifest` by which Lance knows a catalog. Functions named `parse...` return undefined for
 * names of other forms, and those named `is...` tell whether a name has a form. This file does no
 * I/O. The engine's own names are in paths.ts.
 */
import {
  DOCUMENT_SUFFIX,
  documentName,
  FRAGMENTS,
  fragmentsFolder,
  isDocument,
  lastName,
  parseVersionDigits,
  VERSION_DIGITS,
  versionDigits,
} from './paths.ts';

/** Folders of a dataset of Lance: manifests first, then what they refer to, and its branches. */
export const LANCE_FOLDERS = [
  '_versions',
  '_transactions',
  '_deletions',
  '_indices',
  '_refs',
  'tree',
] as const;
/** Whether Lance or its clients give this name to what lies in the folder of a dataset. */
export const isInLanceDataset = (name: string): boolean => LANCE_DATASET_ENTRY.test(name);
const LANCE_DATASET_ENTRY = /^(data|tree|_[a-z_]+(\.manifest)?|\.lance-[a-z-]+)$/;
/** The folder of the manifests that this engine makes for Lance's readers. */
const LANCE = 'lance';
const LANCE_MANIFEST = '.manifest';
export const lanceFolder = (table: string): string => `${table}/${LANCE}`;
/**
 * The folder of one branch's manifests.
 * @param versions where the version files of the branch are
 * @param place names what else the manifests depend on, where they do
 */
export const lanceManifestsFolder = (table: string, versions: string, place?: string): string =>
  `${lanceFolder(table)}/${lastName(versions)}${place === undefined ? '' : `-${place}`}`;
export const lanceManifestFile = (folder: string, version: number): string =>
  `${folder}/${versionDigits(version)}${LANCE_MANIFEST}`;
/** The version a manifest made for Lance stands for, or undefined for any other file. */
export const parseLanceManifest = (name: string): number | undefined =>
  name.endsWith(LANCE_MANIFEST)
    ? parseVersionDigits(name.slice(0, -LANCE_MANIFEST.length))
    : undefined;
/** Where Lance looks for the deleted rows of fragments, under names of its own. */
export const lanceDeletionsFolder = (table: string): string => `${table}/_deletions`;
export const lanceDeletionFile = (table: string, fragment: number, id: bigint): string =>
  `${lanceDeletionsFolder(table)}/${lanceDeletionName(fragment, { kind: 'arrow', readVersion: 0, id })}`;
/** The name of a deletion file by what a manifest of Lance says of it. */
export const lanceDeletionName = (
  fragment: number,
  { kind, readVersion, id }: LanceDeletion,
): string => `${fragment}-${readVersion}-${id}.${kind === 'arrow' ? 'arrow' : 'bin'}`;

interface LanceDeletion {
  readonly kind: string;
  readonly readVersion: number | bigint;
  readonly id: number | bigint;
}

const LANCE_DELETION_NAME = /^[0-9]{1,16}-0-([0-9]{1,20})\.arrow$/;
/** The number that Lance's name of a deletion file ends with, or undefined for any other file. */
export function parseLanceDeletion(name: string): bigint | undefined {
  const id = LANCE_DELETION_NAME.exec(name)?.[1];
  return id === undefined ? undefined : BigInt(id);
}
/**
 * The dataset that Lance finds by the path of a branch: its manifests lie below. Main's is the table.
 * @param name of the branch; undefined for main
 */
export const lanceDataset = (table: string, name: string | undefined): string =>
  name === undefined ? table : `${lanceBranchesTree(table)}/${name}`;
export const lanceBranchesTree = (table: string): string => `${table}/tree`;
export const lanceVersionsFolder = (dataset: string): string => `${dataset}/_versions`;
const LARGEST_U64 = 2n ** 64n - 1n;
/** Lance counts down, so that the newest version comes first in a list of names. */
export const lanceVersionFile = (dataset: string, version: number): string =>
  `${lanceVersionsFolder(dataset)}/${lanceVersionDigits(version)}${LANCE_MANIFEST}`;
const lanceVersionDigits = (version: number): string =>
  String(LARGEST_U64 - BigInt(version)).padStart(VERSION_DIGITS, '0');
const LANCE_VERSION_NAME = /^([0-9]{20})\.manifest$/;
/** The version that a manifest of Lance stands for by its name, or undefined for any other file. */
export function parseLanceVersionFile(name: string): number | undefined {
  const digits = LANCE_VERSION_NAME.exec(name)?.[1];
  if (digits === undefined) return undefined;
  const version = Number(LARGEST_U64 - BigInt(digits));
  return Number.isSafeInteger(version) && version >= 0 ? version : undefined;
}
/**
 * The fence: a manifest of version 0, which no table has. Where it is the only manifest, Lance takes
 * it for the newest version and refuses to open the dataset.
 */
export const lanceFenceFile = (table: string): string => lanceVersionFile(table, FENCE_VERSION);
/** Whether a file name in the folder of manifests is that of the fence. */
export const isLanceFenceName = (name: string): boolean =>
  parseLanceVersionFile(name) === FENCE_VERSION;
const FENCE_VERSION = 0;
/** Manifests of no version of ours: where Lance finds one, it opens none of the dataset's versions. */
export const isStrangeLanceManifest = (name: string): boolean =>
  LANCE_MANIFEST_NAME.test(name) && parseLanceVersionFile(name) === undefined;
const LANCE_MANIFEST_NAME = /^[0-9]{1,20}\.manifest$/;
const LANCE_STAGED_NAME = /^([0-9]{20})\.manifest-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The version that a writer of Lance has staged a manifest for, or undefined for any other file. */
export function parseStagedLanceManifest(name: string): number | undefined {
  const digits = LANCE_STAGED_NAME.exec(name)?.[1];
  return digits === undefined ? undefined : parseLanceVersionFile(`${digits}${LANCE_MANIFEST}`);
}
/**
 * A detached commit of a client of Lance, or what it staged for one: a version that is none of the
 * dataset's history. Lance's numbers for these begin at 2^63.
 */
const LANCE_DETACHED_NAME =
  /^d(?:9|1[0-9])[0-9]{18}\.manifest(?:-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/;
/** Where a manifest goes that another program wrote: no program of Lance's looks for such a name. */
export const lanceAsideFile = (file: string, id: string): string => `${file}${ASIDE}${id}`;
const ASIDE = '.aside-';
export const isLanceAside = (name: string): boolean => LANCE_ASIDE_NAME.test(name);
const LANCE_ASIDE_NAME = /\.(manifest|json)\.aside-[0-9a-f-]{8,36}$/;
/** The folder of the table by which Lance knows a catalog: no namespace of the root may have its name. */
export const LANCE_CATALOG = '__manifest';
/** An empty file in that folder: the table's newest version may lack changes of the catalog. */
export const LANCE_CATALOG_STALE: string = `${LANCE_CATALOG}/.stale`;
/** The file of a fragment of that table: the digest of its bytes, and a unique id. */
export const lanceCatalogObject = (digest: string, id: string): string => `${digest}-${id}`;
const LANCE_CATALOG_OBJECT = /^([0-9a-f]{32})-[0-9a-f-]{36}\.arrow$/;
/** The digest in the name of such a file, or undefined for any other. */
export const parseLanceCatalogObject = (name: string): string | undefined =>
  LANCE_CATALOG_OBJECT.exec(name)?.[1];
/** Beside manifests: which version a client of Lance saw last. */
export const LANCE_HINT = 'latest_version_hint.json';
export const lanceRefsFolder = (table: string): string => `${table}/_refs`;
export const lanceTagsFolder = (table: string): string => `${lanceRefsFolder(table)}/tags`;
export const lanceBranchesFolder = (table: string): string => `${lanceRefsFolder(table)}/branches`;
/** Lance's name of a tag or branch in one of these folders is its own, unchanged. */
export const lanceRefFile = (folder: string, name: string): string =>
  `${folder}/${name}${DOCUMENT_SUFFIX}`;
export const parseLanceRef = (file: string): string | undefined =>
  isDocument(file) ? documentName(file) : undefined;
/** Tags and branches that Lance takes: of ours, all but those that end or go on with periods or `.lock`. */
export const isLanceRef = (name: string): boolean =>
  !name.endsWith('.') && !name.includes('..') && !name.endsWith('.lock');

/** The table whose folder LanceDB would name so, right below the root; undefined for other folders. */
export const lanceTableOf = (folder: string): string | undefined =>
  /^([^/]+)\.lance$/.exec(folder)?.[1];

/** Files that a client of Lance makes for a version that it is about to create, below the table's folder. */
export const lanceWriterFolders = (table: string): readonly string[] => [
  fragmentsFolder(table),
  lanceVersionsFolder(table),
  lanceDeletionsFolder(table),
  lanceTransactionsFolder(table),
];
/** Whether clients of Lance may give a data file this name; the engine's own end with `.arrow`. */
export const isLanceFile = (name: string): boolean => LANCE_FILE_NAME.test(name);
const LANCE_FILE_NAME = /^[0-9A-Za-z_-]{1,120}\.lance$/;
/** Whether a client of Lance makes files of this name there; never one of the engine's own. */
export const isLanceWriterFile = (folder: string, name: string): boolean =>
  LANCE_WRITER_NAMES.get(lastName(folder))?.test(name) === true;
const LANCE_TRANSACTION_NAME = /^[0-9]{1,20}-[0-9a-f-]{36}\.txn$/;
/** By the name of the folder. */
const LANCE_WRITER_NAMES: ReadonlyMap<string, RegExp> = new Map([
  [FRAGMENTS, LANCE_FILE_NAME],
  ['_versions', new RegExp(`${LANCE_STAGED_NAME.source}|${LANCE_DETACHED_NAME.source}`)],
  [
    '_deletions',
    /^[0-9]{1,16}-(?:[1-9][0-9]{0,19}-[0-9]{1,20}\.arrow|[0-9]{1,20}-[0-9]{1,20}\.bin)$/,
  ],
  ['_transactions', LANCE_TRANSACTION_NAME],
]);
/** Folders in which Lance's object store writes a file under another name first. */
export const lanceTemporaryFolders = (table: string, dataset: string): readonly string[] => [
  ...lanceWriterFolders(dataset),
  ...(dataset === table ? [lanceTagsFolder(table), lanceBranchesFolder(table)] : []),
];
/** Whether Lance's object store gives a file this name until it is whole; nothing ever refers to one. */
export const isLanceTemporary = (name: string): boolean => LANCE_TEMPORARY.test(name);
const LANCE_TEMPORARY = /^(?:\.tmp[0-9A-Za-z]{6}|[0-9A-Za-z._%-]{1,200}#[0-9]{1,9})$/;
/** Folders in which a writer of Lance leaves files before it finds out that it may not write. */
export const isLanceDebris = (name: string): boolean =>
  name === '_indices' || name === '_transactions';
/** A data file as writers of Lance name theirs. */
export const isLanceData = (name: string): boolean => LANCE_DATA_NAME.test(name);
const LANCE_DATA_NAME = /^[01]{24}[0-9a-f]{26}\.lance$/;
/** Where writers of Lance put a file about each transaction; the manifest also describes it. */
export const lanceTransactionsFolder = (dataset: string): string => `${dataset}/_transactions`;
export const isLanceTransaction = (name: string): boolean => LANCE_TRANSACTION_NAME.test(name);
export const isLanceFragment = (name: string): boolean => name.endsWith('.lance');

/** Where the manifest of a version of Lance may be: by the newer scheme of names, and by the older one. */
export const lanceVersionFiles = (dataset: string, version: number): readonly string[] => [
  lanceVersionFile(dataset, version),
  `${lanceVersionsFolder(dataset)}/${version}${LANCE_MANIFEST}`,
];
const OLDER_LANCE_VERSION_NAME = /^([1-9][0-9]{0,15})\.manifest$/;
/** The version that the name of a manifest of Lance stands for by either scheme. */
export function parseLanceVersionName(
  name: string,
): { readonly version: number; readonly scheme: 'V1' | 'V2' } | undefined {
  const newer = parseLanceVersionFile(name);
  if (newer !== undefined) return newer > 0 ? { version: newer, scheme: 'V2' } : undefined;
  const version = Number(OLDER_LANCE_VERSION_NAME.exec(name)?.[1]);
  return Number.isSafeInteger(version) ? { version, scheme: 'V1' } : undefined;
}
