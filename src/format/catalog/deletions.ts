/**
 * Encodes (`encodeDeletions`) and decodes (`decodeDeletions`) deletion files. A deletion file lists
 * the deleted rows of one fragment as ascending offsets, in an Arrow file of one column. A shared
 * file holds the lists of several fragments (`encodeSharedDeletions`), and a reader needs only the
 * slice of its fragment (`decodeDeletionSlice`). Offsets that do not ascend within the fragment
 * throw Internal when they are encoded, and Corrupt when they are decoded. Callers verify the
 * checksum that the fragment's entry holds. The name of a shared file (`sharedDeletionsId`) has a
 * checksum by which `checkSharedDeletions` verifies the whole file. `unionDeletions` merges two
 * lists.
 */

import { crc32 } from 'node:zlib';
import { columnsOf, dataOf, Field, recordBatch, Schema, Uint32 } from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { corrupt, hex8 } from '../../json.ts';
import { columnRanges, decodeLoneFragment, encodeFragment } from '../fragment/index.ts';

const TYPE = new Uint32();
const OFFSET_BYTES = 4;
/** Lance reads no other name; files of earlier releases call it `offset`. */
const SCHEMA = new Schema([new Field('row_id', TYPE, false)]);

/** The rows that are deleted of one fragment. */
export interface FragmentDeletions {
  /** Ascending, without repeats, each below `rows`. */
  readonly offsets: Uint32Array;
  /** Rows of the fragment. */
  readonly rows: number;
}

/**
 * @param offsets ascending, without repeats, each below `rows`
 * @throws Internal when they are not
 */
export function encodeDeletions(offsets: Uint32Array, rows: number): Uint8Array {
  requireSound({ offsets, rows });
  return encodeColumn(offsets);
}

function encodeColumn(offsets: Uint32Array): Uint8Array {
  const column = dataOf(TYPE, offsets.length, { values: offsets });
  return encodeFragment(SCHEMA, [recordBatch(SCHEMA, [column], offsets.length)]).bytes;
}

function requireSound({ offsets, rows }: FragmentDeletions): void {
  const problem = problemOf(offsets, rows);
  if (problem === undefined) return;
  throw new DirspaceError('Internal', `Deleted rows cannot be written: ${problem}.`);
}

/** Where a shared file has the deleted rows of one fragment. */
export interface DeletionSlice {
  readonly offset: number;
  readonly bytes: number;
  readonly checksum: number;
}

/** @returns the file, and a slice for each part @throws Internal for rows that encodeDeletions refuses */
export function encodeSharedDeletions(parts: readonly FragmentDeletions[]): {
  readonly bytes: Uint8Array;
  readonly slices: readonly DeletionSlice[];
} {
  const all = new Uint32Array(parts.reduce((sum, { offsets }) => sum + offsets.length, 0));
  let at = 0;
  for (const part of parts) {
    requireSound(part);
    all.set(part.offsets, at);
    at += part.offsets.length;
  }
  const bytes = encodeColumn(all);
  const [column] = columnRanges(decodeLoneFragment(bytes, 'the deletion file').footer, 0, [0]);
  if (column === undefined) throw new DirspaceError('Internal', 'No deleted row is to be written.');
  let { offset } = column;
  const slices = parts.map(({ offsets }) => {
    const slice = bytes.subarray(offset, offset + offsets.byteLength);
    offset += slice.length;
    return { offset: offset - slice.length, bytes: slice.length, checksum: crc32(slice) };
  });
  return { bytes, slices };
}

/** One fragment's slice of a shared file, as decodeDeletions decodes a file. @throws Corrupt naming `file` */
export function decodeDeletionSlice(bytes: Uint8Array, rows: number, file: string): Uint32Array {
  if (bytes.length % OFFSET_BYTES !== 0) throw corrupt(file, 'its slice ends within an offset');
  // A copy, for a slice may begin where no word may, and lies in memory that others read.
  const offsets = new Uint32Array(bytes.length / OFFSET_BYTES);
  new Uint8Array(offsets.buffer).set(bytes);
  const problem = problemOf(offsets, rows);
  if (problem !== undefined) throw corrupt(file, problem);
  return offsets;
}

/** The name of a shared file ends with the crc32 of its bytes: fragments verify their slices alone. */
export const sharedDeletionsId = (object: string, bytes: Uint8Array): string =>
  `${object}-${hex8(crc32(bytes))}`;

/** @param id of the file, as sharedDeletionsId gives it @throws Corrupt naming `file` */
export function checkSharedDeletions(bytes: Uint8Array, id: string, file: string): void {
  if (sharedDeletionsId('', bytes) === id.slice(id.lastIndexOf('-'))) return;
  throw corrupt(file, 'its bytes do not match the checksum in its name');
}

/**
 * The inverse of encodeDeletions. The caller has checked the bytes against the manifest's checksum.
 * @param rows rows of the fragment they belong to
 * @throws Corrupt naming `file`
 */
export function decodeDeletions(bytes: Uint8Array, rows: number, file: string): Uint32Array {
  const { footer, batches } = decodeLoneFragment(bytes, file);
  const [field] = footer.schema.fields;
  if (footer.schema.fields.length !== 1 || String(field?.type) !== String(TYPE)) {
    throw corrupt(file, 'it is not a list of row offsets');
  }
  const offsets = new Uint32Array(footer.rows);
  let at = 0;
  for (const batch of batches) {
    const [column] = columnsOf(batch);
    if (column === undefined || column.nullCount > 0) throw corrupt(file, 'it has a null offset');
    offsets.set((column.values as Uint32Array).subarray(0, batch.numRows), at);
    at += batch.numRows;
  }
  const problem = problemOf(offsets, rows);
  if (problem !== undefined) throw corrupt(file, problem);
  return offsets;
}

function problemOf(offsets: Uint32Array, rows: number): string | undefined {
  let last = -1;
  for (let at = 0; at < offsets.length; at += 1) {
    const offset = offsets[at] as number;
    if (offset <= last) return `row ${offset} follows row ${last}`;
    last = offset;
  }
  return last < rows ? undefined : `row ${last} is deleted of a fragment of ${rows} rows`;
}

/** The offsets in either list, ascending, once each. May be one of the lists itself. */
export function unionDeletions(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged = new Uint32Array(a.length + b.length);
  let count = 0;
  let left = 0;
  let right = 0;
  while (left < a.length && right < b.length) {
    const x = a[left] as number;
    const y = b[right] as number;
    merged[count++] = x <= y ? x : y;
    if (x <= y) left++;
    if (y <= x) right++;
  }
  const rest = left < a.length ? a.subarray(left) : b.subarray(right);
  merged.set(rest, count);
  return merged.slice(0, count + rest.length);
}
