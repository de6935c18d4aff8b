/**
 * Encodes and decodes what a manifest or a chunk holds of one fragment: file, rows, deletion file,
 * field ids, statistics for pruning, and the checksum of the fragment's footer. The footer holds
 * the checksums of the rest of the fragment.
 */
import {
  arrayMember,
  asObject,
  corrupt,
  fileIdMember,
  integerMember,
  isWholeNumber,
  member,
} from '../../json.ts';

/** The deletion file of a fragment. */
export interface DeletionEntry {
  readonly file: string;
  /** How many rows it deletes. */
  readonly rows: number;
  readonly bytes: number;
  /** crc32 of the whole file. */
  readonly checksum: number;
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
}

export const liveRows = (fragment: FragmentEntry): number =>
  fragment.rows - (fragment.deletion?.rows ?? 0);

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
    ...(fragment.deletion === undefined
      ? {}
      : {
          deletion: {
            file: fragment.deletion.file,
            rows: fragment.deletion.rows,
            bytes: fragment.deletion.bytes,
            crc32: fragment.deletion.checksum,
          },
        }),
  };
}

export function decodeFragment(value: unknown, file: string): FragmentEntry {
  const entry = asObject(value, file, 'a fragment');
  const rows = integerMember(entry, 'rows', file);
  const fields = arrayMember(entry, 'fields', file);
  if (!fields.every(isWholeNumber)) {
    throw corrupt(file, 'fields of a fragment holds something else than field ids');
  }
  const deletion = member(entry, 'deletion');
  const fragment: FragmentEntry = {
    id: integerMember(entry, 'id', file),
    file: fileIdMember(entry, 'file', file),
    rows,
    bytes: integerMember(entry, 'bytes', file),
    footerBytes: integerMember(entry, 'footer_bytes', file),
    footerChecksum: integerMember(entry, 'footer_crc32', file),
    fields: fields as number[],
    statistics: arrayMember(entry, 'statistics', file),
    deletion: deletion === undefined ? undefined : decodeDeletion(deletion, rows, file),
  };
  if (fragment.footerBytes > fragment.bytes) {
    throw corrupt(file, `the footer of fragment ${fragment.file} is longer than the fragment`);
  }
  return fragment;
}

function decodeDeletion(value: unknown, rows: number, file: string): DeletionEntry {
  const entry = asObject(value, file, 'deletion');
  const deletion = {
    file: fileIdMember(entry, 'file', file),
    rows: integerMember(entry, 'rows', file),
    bytes: integerMember(entry, 'bytes', file),
    checksum: integerMember(entry, 'crc32', file),
  };
  if (deletion.rows >= rows) {
    throw corrupt(file, `deletion file ${deletion.file} deletes every row of its fragment`);
  }
  return deletion;
}
