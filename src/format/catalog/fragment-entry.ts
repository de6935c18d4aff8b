/**
 * Defines `FragmentEntry`, the description of one fragment in a manifest or chunk, and encodes and
 * decodes it (`fragmentText`, `decodeFragment`). It holds the file, rows, deletion file, field ids,
 * statistics for pruning, and whether Lance can read the fragment. It also holds the checksum of
 * the fragment's footer, which in turn holds the checksums of the rest of the file. `liveRows`
 * counts the rows that are not deleted, `isReadByLance` asks about Lance, and `featuresOf` names the
 * features that older releases lack for it.
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

export interface FragmentEntry {
  /** Unique within a branch; the upper half of the row ids of its rows. */
  readonly id: number;
  readonly file: string;
  /** Rows in the file, deleted ones included. */
  readonly rows: number;
  readonly bytes: number;
  /** Length of the end of the file that holds its footer, and its crc32: the root of all checksums. */
  readonly footerBytes: number;
  readonly footerChecksum: number;
  /** Field id of each top-level column of the file, in the file's order. */
  readonly fields: readonly number[];
  /** One entry per column as format/fragment/statistics.ts encodes it. */
  readonly statistics: readonly unknown[];
  readonly deletion: DeletionEntry | undefined;
  /** Set where the file was written for Lance too. */
  readonly lance?: LanceEntry | undefined;
}

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
export const isReadByLance = ({ lance }: FragmentEntry): boolean =>
  lance !== undefined && 'fileSize' in lance;

/** A form that older releases cannot read. */
interface FragmentFeature {
  /** As manifests name it. */
  readonly name: string;
  readonly isNeededBy: (entry: FragmentEntry) => boolean;
}

/** A new form of fragments or their entries is a row here. */
const FRAGMENT_FEATURES: readonly FragmentFeature[] = [
  { name: 'shared_deletions', isNeededBy: ({ deletion }) => deletion?.offset !== undefined },
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
  };
}

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
  const fields = fieldIdsMember(entry, file);
  const deletion = member(entry, 'deletion');
  const lance = member(entry, 'lance');
  const fragment: FragmentEntry = {
    id: integerMember(entry, 'id', file),
    file: fileIdMember(entry, 'file', file),
    rows,
    bytes: integerMember(entry, 'bytes', file),
    footerBytes: integerMember(entry, 'footer_bytes', file),
    footerChecksum: integerMember(entry, 'footer_crc32', file),
    fields,
    statistics: arrayMember(entry, 'statistics', file),
    deletion: deletion === undefined ? undefined : decodeDeletion(deletion, rows, file),
    ...(lance === undefined ? {} : { lance: decodeLance(lance, fields, file) }),
  };
  if (fragment.footerBytes > fragment.bytes) {
    throw corrupt(file, `the footer of fragment ${fragment.file} is longer than the fragment`);
  }
  if (lanceFileSize(fragment) > fragment.bytes - fragment.footerBytes) {
    throw corrupt(file, `the Lance part of fragment ${fragment.file} ends behind its footer`);
  }
  return fragment;
}

/** 0 where the file is none of Lance's. */
const lanceFileSize = ({ lance }: FragmentEntry): number =>
  lance !== undefined && 'fileSize' in lance ? lance.fileSize : 0;

function fieldIdsMember(entry: JsonObject, file: string): number[] {
  const fields = arrayMember(entry, 'fields', file);
  if (fields.every(isWholeNumber)) return fields as number[];
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
