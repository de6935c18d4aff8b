/**
 * Encodes and decodes the indexes that a manifest lists (`indexesText`, `decodeIndexes`). Decoding
 * throws Corrupt for damage, for an empty list and for more than 256. An index consists of
 * immutable segments, whose files (`indexFileIds`) are written like fragments. They refer to rows
 * by positions of 32 bits, which number the rows of the segment's fragments (`runs`), one fragment
 * after the other. A run covers its fragment only while the file with the indexed column is the one
 * that it was built from (`columnStamp`). `livingIndexes` leaves out indexes of dropped fields, and
 * returns undefined if none is left.
 */
import {
  arrayMember,
  asObject,
  corrupt,
  fileIdMember,
  integerMember,
  isWholeNumber,
  type JsonObject,
  objectMember,
  stringMember,
} from '../../json.ts';
import type { FragmentEntry } from './fragment-entry.ts';
import { columnFiles } from './overlays.ts';

/** Manifests with indexes name it: an older release would drop them with its next version. */
export const INDEXES_FEATURE = 'indexes';

/** More indexes than this are refused: each is looked at by every query. */
export const MOST_INDEXES = 256;

/** A file of a segment in the folder `indexes`, written like a fragment. */
export interface IndexFile {
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly footerBytes: number;
  readonly footerChecksum: number;
}

/** A fragment whose rows follow those of the run before it. */
export interface IndexRun {
  readonly fragment: number;
  /** All rows of the fragment, deleted ones among them. */
  readonly rows: number;
  /** As `columnStamp` gave it when the segment was built. */
  readonly stamp: number;
}

export interface IndexSegment {
  readonly runs: readonly IndexRun[];
  readonly files: readonly IndexFile[];
}

export interface IndexEntry {
  /** Tells an index from one of the same name that was dropped. */
  readonly id: string;
  readonly name: string;
  /** `BTREE` and its like; a type that this release does not know is listed and never used. */
  readonly type: string;
  /** Ids of the fields that it is of. */
  readonly fields: readonly number[];
  readonly parameters: JsonObject;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly segments: readonly IndexSegment[];
}

/** Stands for a column that the fragment does not hold: it is null in all rows. */
const ABSENT = 0;

/** Tells the file that holds a top-level column of a fragment. Changed values are in another file. */
export function columnStamp(entry: FragmentEntry, field: number): number {
  const at = entry.fields.indexOf(field);
  if (at < 0) return ABSENT;
  for (const { first, columns, footerChecksum } of columnFiles(entry)) {
    if (at >= first && at < first + columns) return footerChecksum;
  }
  return ABSENT;
}

/** Those whose fields are all still there. */
export function livingIndexes(
  indexes: readonly IndexEntry[] | undefined,
  fieldIds: readonly number[],
): readonly IndexEntry[] | undefined {
  if (indexes === undefined) return undefined;
  const known = new Set(fieldIds);
  const living = indexes.filter(({ fields }) => fields.every((id) => known.has(id)));
  return living.length === 0 ? undefined : living.length === indexes.length ? indexes : living;
}

/** Names of all files of some indexes. */
export const indexFileIds = (indexes: readonly IndexEntry[] = []): string[] =>
  indexes.flatMap(({ segments }) => segments.flatMap(({ files }) => files.map(({ file }) => file)));

const texts = new WeakMap<IndexEntry, string>();

/** The indexes as JSON text. Most versions take them over from their base, so each text is kept. */
export const indexesText = (indexes: readonly IndexEntry[]): string =>
  `[${indexes.map(indexText).join()}]`;

function indexText(index: IndexEntry): string {
  let text = texts.get(index);
  if (text === undefined) {
    text = JSON.stringify({
      id: index.id,
      name: index.name,
      type: index.type,
      fields: index.fields,
      parameters: index.parameters,
      created: index.created,
      segments: index.segments.map(({ runs, files }) => ({
        files: files.map(({ file, rows, bytes, footerBytes, footerChecksum }) => ({
          file,
          rows,
          bytes,
          footer_bytes: footerBytes,
          footer_crc32: footerChecksum,
        })),
        runs: runs.map(({ fragment, rows, stamp }) => [fragment, rows, stamp]),
      })),
    });
    texts.set(index, text);
  }
  return text;
}

/** @throws Corrupt naming what is wrong with which index */
export function decodeIndexes(document: JsonObject, file: string): readonly IndexEntry[] {
  const listed = arrayMember(document, 'indexes', file);
  if (listed.length === 0 || listed.length > MOST_INDEXES) {
    throw corrupt(file, `it lists ${listed.length} indexes, not 1 to ${MOST_INDEXES}`);
  }
  const indexes = listed.map((value) => decodeIndex(asObject(value, file, 'an index'), file));
  for (const member of ['id', 'name'] as const) {
    if (new Set(indexes.map((index) => index[member])).size < indexes.length) {
      throw corrupt(file, `two of its indexes have one ${member}`);
    }
  }
  return indexes;
}

function decodeIndex(value: JsonObject, file: string): IndexEntry {
  const name = stringMember(value, 'name', file);
  const fields = arrayMember(value, 'fields', file);
  if (fields.length === 0 || !fields.every(isWholeNumber)) {
    throw corrupt(file, `the fields of index ${name} are no field ids`);
  }
  return {
    id: stringMember(value, 'id', file),
    name,
    type: stringMember(value, 'type', file),
    fields: fields as number[],
    parameters: objectMember(value, 'parameters', file),
    created: integerMember(value, 'created', file),
    segments: arrayMember(value, 'segments', file).map((segment) =>
      decodeSegment(asObject(segment, file, 'a segment'), name, file),
    ),
  };
}

function decodeSegment(value: JsonObject, name: string, file: string): IndexSegment {
  const runs = arrayMember(value, 'runs', file).map((run) => decodeRun(run, name, file));
  const fragments = new Set(runs.map(({ fragment }) => fragment));
  const rows = runs.reduce((sum, run) => sum + run.rows, 0);
  const files = arrayMember(value, 'files', file);
  if (fragments.size < runs.length || rows > MOST_POSITIONS) {
    throw corrupt(file, `the runs of a segment of index ${name} cannot be`);
  }
  if (files.length === 0 || files.length > MOST_FILES) {
    throw corrupt(file, `a segment of index ${name} has ${files.length} files`);
  }
  return { runs, files: files.map((one) => decodeIndexFile(asObject(one, file, 'a file'), file)) };
}

/** Positions are numbers of 32 bits. */
export const MOST_POSITIONS: number = 2 ** 32 - 1;
const MOST_FILES = 64;

function decodeRun(value: unknown, name: string, file: string): IndexRun {
  const [fragment, rows, stamp, ...more] = Array.isArray(value) ? (value as unknown[]) : [];
  if (
    isWholeNumber(fragment) &&
    isWholeNumber(rows) &&
    rows > 0 &&
    isWholeNumber(stamp) &&
    more.length === 0
  ) {
    return { fragment, rows, stamp };
  }
  throw corrupt(file, `a run of index ${name} is not a fragment, its rows and a stamp`);
}

function decodeIndexFile(value: JsonObject, file: string): IndexFile {
  const found = {
    file: fileIdMember(value, 'file', file),
    rows: integerMember(value, 'rows', file),
    bytes: integerMember(value, 'bytes', file),
    footerBytes: integerMember(value, 'footer_bytes', file),
    footerChecksum: integerMember(value, 'footer_crc32', file),
  };
  if (found.footerBytes <= found.bytes) return found;
  throw corrupt(file, `the footer of index file ${found.file} is longer than the file`);
}
