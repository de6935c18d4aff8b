/**
 * Defines `FragmentEntry`, the description of one fragment in a manifest or chunk. `fragmentText`
 * encodes it; `decodeFragment` decodes it and throws Corrupt for a malformed one. An entry has the
 * number of rows, the field ids, the files of columns (`entryFile`, with up to 8 overlays), the
 * deletion file, and statistics for pruning, which stay encoded. `liveRows` counts rows without
 * deleted ones. `isReadByLance` tells whether Lance can read the fragment, and `featuresOf` what a
 * release must know to read it. The entry holds the checksum of each column file's footer; the
 * footer holds those of the rest of the file.
 */
import {
  arrayMember,
  asObject,
  corrupt,
  fileIdMember,
  integerMember,
  isWholeNumber,
  type JsonObject,
  member,
  stringMember,
} from '../../json.ts';
import { fragmentFile, indexFile } from '../../paths.ts';

/** The deletion file of a fragment, or its slice of a file that several fragments share. */
export interface DeletionEntry {
  readonly file: string;
  /** How many rows of the fragment are deleted. */
  readonly rows: number;
  /** Length of the file, or of the slice. */
  readonly bytes: number;
  /** crc32 of the whole file, or of the slice. */
  readonly checksum: number;
  /** Of a shared file: where the slice begins, which is `rows` offsets of 4 bytes each. */
  readonly offset?: number | undefined;
  /** The file of a writer of Lance that names the same rows: it goes on to name that one. */
  readonly origin?: string | undefined;
}

/** One file of columns: where it ends, and the root of its checksums. */
export interface ColumnFile {
  readonly file: string;
  readonly bytes: number;
  /** Length of the end of the file that holds its footer, and its crc32: the root of all checksums. */
  readonly footerBytes: number;
  readonly footerChecksum: number;
  /** Set where the file was written for Lance too. */
  readonly lance?: LanceEntry | undefined;
  /**
   * Whether a buffer of the file is compressed. Undefined where none is, and nobody asked for it or tried;
   * false where compaction tried, so that it does not try again.
   */
  readonly compressed?: boolean | undefined;
}

/** A file of some columns of a fragment, written after those before it: the same rows in the same batches. */
export interface OverlayEntry extends ColumnFile {
  /** How many columns it has. */
  readonly columns: number;
}

export interface FragmentEntry extends ColumnFile {
  /** Unique within a branch; the upper half of the row ids of its rows. */
  readonly id: number;
  /** Rows in the file, deleted ones included. */
  readonly rows: number;
  /**
   * Field id of each top-level column of the file, in the file's order, and behind them those of
   * the overlays; `REPLACED_FIELD` for one that a later file holds. Each field stands there once.
   */
  readonly fields: readonly number[];
  /** One entry per column as format/fragment/statistics.ts encodes it; empty for a replaced one. */
  readonly statistics: readonly unknown[];
  readonly deletion: DeletionEntry | undefined;
  /** Oldest first. The functions of overlays.ts read and add them. */
  readonly overlays?: readonly OverlayEntry[] | undefined;
  /** Set of a file of an index, which is read like a fragment and lies in another folder; never stored. */
  readonly isOfIndex?: true | undefined;
}

/** Where the entry's own file lies. */
export const entryFile = (
  table: string,
  { file, isOfIndex }: Pick<FragmentEntry, 'file' | 'isOfIndex'>,
): string => (isOfIndex === true ? indexFile(table, file) : fragmentFile(table, file));

/** In place of the field id of a column that a later file of the fragment holds. */
export const REPLACED_FIELD: number = -1;
/** Readers open each file of a fragment: with more, it is written anew. */
export const MOST_OVERLAYS: number = 8;

/** Where Lance's readers find a fragment's columns, or why they cannot. */
export type LanceEntry =
  | {
      /** Position behind Lance's footer: the size that Lance takes the file to have. */
      readonly fileSize: number;
      /** Field ids of the columns that Lance sees, nested ones too, depth first. */
      readonly fields: readonly number[];
      /** The files of a writer of Lance that the rows came from: it goes on to name those. */
      readonly origin?: readonly LanceFileEntry[] | undefined;
    }
  | {
      /** Which column has no form in Lance, and what it holds: the end of a sentence. */
      readonly problem: string;
      /** Set where it is in the values, not in the type: the same rows would have it again. */
      readonly inValues?: boolean | undefined;
    };

/** A file of a fragment as manifests of Lance describe it. */
export interface LanceFileEntry {
  /** Its name in the `data` folder. */
  readonly path: string;
  /** Lance's ids of the fields that it holds; -2 of one that another file holds now. */
  readonly fields: readonly number[];
  /** Lance's column of each of them. */
  readonly columns: readonly number[];
  /** The size that Lance takes the file to have. */
  readonly fileSize: number;
}

/** Of a slice of a shared deletion file: one offset in the fragment, a little-endian uint32. */
const DELETED_ROW_BYTES = 4;

export const liveRows = (fragment: FragmentEntry): number =>
  fragment.rows - (fragment.deletion?.rows ?? 0);

/** Whether Lance can read the fragment. */
export const isReadByLance = ({
  lance,
  overlays,
}: Pick<FragmentEntry, 'lance' | 'overlays'>): boolean =>
  isFileOfLance(lance) &&
  (overlays === undefined || overlays.every((overlay) => isFileOfLance(overlay.lance)));

const isFileOfLance = (lance: LanceEntry | undefined): boolean =>
  lance !== undefined && 'fileSize' in lance;

/** Whether a file of the fragment holds a compressed buffer. */
export const isCompressedEntry = ({ compressed, overlays = [] }: FragmentEntry): boolean =>
  compressed === true || overlays.some((overlay) => overlay.compressed === true);

/** A form that older releases cannot read. */
interface FragmentFeature {
  /** As manifests name it. */
  readonly name: string;
  readonly isNeededBy: (entry: FragmentEntry) => boolean;
}

/** A new form of fragments or their entries is a row here. */
const FRAGMENT_FEATURES: readonly FragmentFeature[] = [
  { name: 'overlays', isNeededBy: ({ overlays }) => overlays !== undefined },
  { name: 'shared_deletions', isNeededBy: ({ deletion }) => deletion?.offset !== undefined },
  { name: 'zstd', isNeededBy: (entry) => isCompressedEntry(entry) },
];

export const FRAGMENT_FEATURE_NAMES: readonly string[] = FRAGMENT_FEATURES.map(({ name }) => name);

/** The features that a release has to know to read the fragment: a manifest counts them in its totals. */
export const featuresOf = (entry: FragmentEntry): readonly string[] =>
  FRAGMENT_FEATURES.filter(({ isNeededBy }) => isNeededBy(entry)).map(({ name }) => name);

const texts = new WeakMap<FragmentEntry, string>();

/** The entry as JSON text. Entries are written again with every version, so the text is kept. */
export function fragmentText(fragment: FragmentEntry): string {
  let text = texts.get(fragment);
  if (text === undefined) {
    text = JSON.stringify(encodeFragment(fragment));
    texts.set(fragment, text);
  }
  return text;
}

function encodeFragment(fragment: FragmentEntry): Record<string, unknown> {
  return {
    id: fragment.id,
    file: fragment.file,
    rows: fragment.rows,
    bytes: fragment.bytes,
    footer_bytes: fragment.footerBytes,
    footer_crc32: fragment.footerChecksum,
    fields: fragment.fields,
    statistics: fragment.statistics,
    ...(fragment.deletion === undefined ? {} : { deletion: encodeDeletion(fragment.deletion) }),
    ...(fragment.lance === undefined
      ? {}
      : { lance: encodeLance(fragment.lance, fragment.fields) }),
    ...(fragment.overlays === undefined ? {} : { overlays: fragment.overlays.map(encodeOverlay) }),
    // JSON leaves out what is undefined.
    compressed: fragment.compressed,
  };
}

const encodeOverlay = (overlay: OverlayEntry): Record<string, unknown> => ({
  file: overlay.file,
  columns: overlay.columns,
  bytes: overlay.bytes,
  footer_bytes: overlay.footerBytes,
  footer_crc32: overlay.footerChecksum,
  lance: overlay.lance === undefined ? undefined : encodeLance(overlay.lance, []),
  compressed: overlay.compressed,
});

const encodeDeletion = (deletion: DeletionEntry): Record<string, unknown> => ({
  file: deletion.file,
  rows: deletion.rows,
  // JSON leaves out what is undefined.
  bytes: deletion.offset === undefined ? deletion.bytes : undefined,
  offset: deletion.offset,
  crc32: deletion.checksum,
  origin: deletion.origin,
});

/** The fields are left out where they are the columns themselves: where none is nested. */
function encodeLance(lance: LanceEntry, columns: readonly number[]): Record<string, unknown> {
  if ('problem' in lance) {
    return { problem: lance.problem, ...(lance.inValues === true ? { in_values: true } : {}) };
  }
  const flat =
    lance.fields.length === columns.length && lance.fields.every((id, at) => id === columns[at]);
  return {
    bytes: lance.fileSize,
    ...(flat ? {} : { fields: lance.fields }),
    ...(lance.origin === undefined ? {} : { origin: lance.origin.map(encodeOrigin) }),
  };
}

const encodeOrigin = ({ path, fields, columns, fileSize }: LanceFileEntry): JsonObject => ({
  path,
  bytes: fileSize,
  fields,
  columns,
});

export function decodeFragment(value: unknown, file: string): FragmentEntry {
  const entry = asObject(value, file, 'a fragment');
  const rows = integerMember(entry, 'rows', file);
  const overlays = Object.hasOwn(entry, 'overlays') ? decodeOverlays(entry, file) : undefined;
  const fields = fieldIdsMember(entry, file, overlays !== undefined);
  const deletion = member(entry, 'deletion');
  const fragment: FragmentEntry = {
    id: integerMember(entry, 'id', file),
    rows,
    ...decodeColumnFile(entry, fields, file),
    fields,
    statistics: arrayMember(entry, 'statistics', file),
    deletion: deletion === undefined ? undefined : decodeDeletion(deletion, rows, file),
    ...(overlays === undefined ? {} : { overlays }),
  };
  if (overlays !== undefined) checkOverlays(fragment, overlays, file);
  return fragment;
}

/** @param fields what its Lance part has where it does not say so */
function decodeColumnFile(entry: JsonObject, fields: readonly number[], file: string): ColumnFile {
  const lance = member(entry, 'lance');
  const found: ColumnFile = {
    file: fileIdMember(entry, 'file', file),
    bytes: integerMember(entry, 'bytes', file),
    footerBytes: integerMember(entry, 'footer_bytes', file),
    footerChecksum: integerMember(entry, 'footer_crc32', file),
    ...(lance === undefined ? {} : { lance: decodeLance(lance, fields, file) }),
    ...(Object.hasOwn(entry, 'compressed') ? { compressed: decodeFlag(entry, file) } : {}),
  };
  if (found.footerBytes > found.bytes) {
    throw corrupt(file, `the footer of fragment ${found.file} is longer than the fragment`);
  }
  if (lanceFileSize(found) > found.bytes - found.footerBytes) {
    throw corrupt(file, `the Lance part of fragment ${found.file} ends behind its footer`);
  }
  return found;
}

function decodeOverlays(entry: JsonObject, file: string): OverlayEntry[] {
  const overlays = arrayMember(entry, 'overlays', file);
  if (overlays.length === 0 || overlays.length > MOST_OVERLAYS) {
    throw corrupt(file, `a fragment has ${overlays.length} overlays, not 1 to ${MOST_OVERLAYS}`);
  }
  return overlays.map((value) => {
    const overlay = asObject(value, file, 'an overlay');
    const columns = integerMember(overlay, 'columns', file);
    return { ...decodeColumnFile(overlay, [], file), columns };
  });
}

function checkOverlays(
  { file: name, fields, statistics }: FragmentEntry,
  overlays: readonly OverlayEntry[],
  file: string,
): void {
  const columns = overlays.reduce((sum, overlay) => sum + overlay.columns, 0);
  const living = fields.filter((id) => id !== REPLACED_FIELD);
  const isSound =
    columns < fields.length &&
    statistics.length === fields.length &&
    overlays.every((overlay) => overlay.columns > 0) &&
    new Set(living).size === living.length;
  if (!isSound) throw corrupt(file, `the overlays of fragment ${name} do not fit its fields`);
}

function decodeFlag({ compressed }: JsonObject, file: string): boolean {
  if (typeof compressed === 'boolean') return compressed;
  throw corrupt(file, 'compressed of a fragment is neither true nor false');
}

/** 0 where the file is none of Lance's. */
const lanceFileSize = ({ lance }: ColumnFile): number =>
  lance !== undefined && 'fileSize' in lance ? lance.fileSize : 0;

/** @param withReplaced whether other files may hold some of them */
function fieldIdsMember(entry: JsonObject, file: string, withReplaced = false): number[] {
  const fields = arrayMember(entry, 'fields', file);
  const isId = (id: unknown): boolean =>
    isWholeNumber(id) || (withReplaced && id === REPLACED_FIELD);
  if (fields.every(isId)) return fields as number[];
  throw corrupt(file, 'fields of a fragment holds something else than field ids');
}

function decodeLance(value: unknown, columns: readonly number[], file: string): LanceEntry {
  const entry = asObject(value, file, 'lance');
  if (Object.hasOwn(entry, 'problem')) {
    const problem = stringMember(entry, 'problem', file);
    return entry.in_values === true ? { problem, inValues: true } : { problem };
  }
  return {
    fileSize: integerMember(entry, 'bytes', file),
    fields: Object.hasOwn(entry, 'fields') ? fieldIdsMember(entry, file) : columns,
    ...(Object.hasOwn(entry, 'origin')
      ? { origin: arrayMember(entry, 'origin', file).map((value) => decodeOrigin(value, file)) }
      : {}),
  };
}

function decodeOrigin(value: unknown, file: string): LanceFileEntry {
  const entry = asObject(value, file, 'a file of origin');
  const integers = (name: string): number[] => {
    const found = arrayMember(entry, name, file);
    if (found.every(Number.isSafeInteger)) return found as number[];
    throw corrupt(file, `${name} of a file of origin holds something else than whole numbers`);
  };
  return {
    path: stringMember(entry, 'path', file),
    fileSize: integerMember(entry, 'bytes', file),
    fields: integers('fields'),
    columns: integers('columns'),
  };
}

function decodeDeletion(value: unknown, rows: number, file: string): DeletionEntry {
  const entry = asObject(value, file, 'deletion');
  const deleted = integerMember(entry, 'rows', file);
  const isShared = Object.hasOwn(entry, 'offset');
  const deletion: DeletionEntry = {
    file: fileIdMember(entry, 'file', file),
    rows: deleted,
    bytes: isShared ? deleted * DELETED_ROW_BYTES : integerMember(entry, 'bytes', file),
    checksum: integerMember(entry, 'crc32', file),
    ...(isShared ? { offset: integerMember(entry, 'offset', file) } : {}),
    ...(Object.hasOwn(entry, 'origin') ? { origin: stringMember(entry, 'origin', file) } : {}),
  };
  if (deletion.rows >= rows) {
    throw corrupt(file, `deletion file ${deletion.file} deletes every row of its fragment`);
  }
  return deletion;
}
