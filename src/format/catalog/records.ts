/**
 * Encodes and decodes the small JSON files of a catalog: the records of the format, of namespaces,
 * tables, tags and branches, of entries of the trash, and of idempotency keys. Each kind has a pair
 * of functions, such as `encodeTable` and `decodeTable`. Decoding throws Corrupt for damage, and
 * UnsupportedFormat for a newer format or an unknown feature. Only the record of the format may
 * lack a checksum, as older releases wrote it. `isOutside` recognises the location of a table
 * outside the root.
 */
import {
  arrayMember,
  corrupt,
  encodeChecksummed,
  hasChecksum,
  integerMember,
  type JsonObject,
  member,
  objectMember,
  parseChecksummed,
  parseJson,
  stringMapMember,
  stringMember,
} from '../../json.ts';
import { reservedFolder } from '../../paths.ts';
import { FORMAT_VERSION, LOCATION_FEATURE, REMOVING_FEATURE, refuseNewer } from './manifest.ts';

export type Properties = Readonly<Record<string, string>>;

/** `.dirspace/format.json`: facts about the root, fixed when it was first used. */
export interface FormatRecord {
  readonly foldsCase: boolean;
  /** Properties of the catalog: `managed_versioning` and `lance`. */
  readonly properties: Properties;
}

export interface NamespaceRecord {
  /** Told apart from an earlier namespace of the same name. */
  readonly id: string;
  readonly properties: Properties;
}

export interface TableRecord {
  /** The incarnation: no two tables ever share it, even under one name. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly properties: Properties;
  /** The newest version when the properties were written: those of later manifests replace them. */
  readonly since?: number | undefined;
  /**
   * Where programs of others write the table: a folder of `.dirspace/lance`, or a URI outside the
   * root. Absent for tables that are written here, and for those that lie where their name says.
   */
  readonly location?: string | undefined;
}

export interface TagRecord {
  /** Incarnation of the table the tag belongs to. */
  readonly table: string;
  readonly branch: string;
  readonly version: number;
}

export interface BranchRecord {
  /** Names the branch's versions folder: a recreated branch has another one. */
  readonly id: string;
  /** Incarnation of the table the branch belongs to. */
  readonly table: string;
  readonly parentBranch: string;
  readonly parentVersion: number;
  readonly createdAt: number;
}

/** What was dropped, beside the folder in the trash. */
export interface TrashRecord {
  readonly kind: 'table' | 'namespace';
  readonly id: readonly string[];
  readonly droppedAt: number;
  /** Files of its tables outside the root are being removed: it cannot be brought back. */
  readonly removing?: true | undefined;
}

/** What was asked and answered under an idempotency key. */
export interface KeyRecord {
  /** Tells the request from others: digits and lower-case letters. */
  readonly stamp: string;
  readonly operation: string;
  /** Set while the outcome is not recorded; the stamp then does not cover the request's data. */
  readonly begun?: true;
  /**
   * Bytes of the answer of a request that was done and answers more than is kept. Stands beside `begun`,
   * so that an older release does the request again, as it always did, and answers nothing wrong.
   */
  readonly unkept?: number;
  /** Undefined where the operation answers nothing. */
  readonly answer: JsonObject | undefined;
}

const encode = (value: Record<string, unknown>): Uint8Array =>
  encodeChecksummed({ format: FORMAT_VERSION, ...value }).bytes;

function decode(bytes: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  const { document } = parseChecksummed(bytes, file);
  refuseNewer(document, file);
  return document;
}

/** An older release reads the same members, so that it can say that it is too old. */
export const encodeFormat = (record: FormatRecord): Uint8Array =>
  encode({ features: [], folds_case: record.foldsCase, properties: record.properties });

/** All that a release without checksums ever wrote there; anything else is damage. */
const OLD_FORMAT_MEMBERS = ['format', 'features', 'folds_case', 'properties'];
const OLD_PROPERTIES = ['{}', '{"managed_versioning":"true"}'];

/** Files of releases that wrote no checksum are taken literally, so that damage shows there too. */
export function decodeFormat(bytes: Uint8Array, file: string): FormatRecord {
  if (hasChecksum(bytes)) return formatRecord(decode(bytes, file), file);
  const document = parseJson(bytes, file);
  refuseNewer(document, file);
  const record = formatRecord(document, file);
  const isOld =
    Object.keys(document).join() === OLD_FORMAT_MEMBERS.join() &&
    member(document, 'format') === FORMAT_VERSION &&
    OLD_PROPERTIES.includes(JSON.stringify(record.properties));
  if (isOld) return record;
  throw corrupt(file, 'it has no checksum, and is not what an older release wrote');
}

function formatRecord(document: JsonObject, file: string): FormatRecord {
  const foldsCase = member(document, 'folds_case');
  if (typeof foldsCase !== 'boolean') throw corrupt(file, 'folds_case is not true or false');
  return { foldsCase, properties: stringMapMember(document, 'properties', file) };
}

export const encodeNamespace = (record: NamespaceRecord): Uint8Array =>
  encode({ id: record.id, properties: record.properties });

export function decodeNamespace(bytes: Uint8Array, file: string): NamespaceRecord {
  const document = decode(bytes, file);
  return {
    id: stringMember(document, 'id', file),
    properties: stringMapMember(document, 'properties', file),
  };
}

export const encodeTable = (record: TableRecord): Uint8Array =>
  encode({
    id: record.id,
    created_at: record.createdAt,
    properties: record.properties,
    ...(record.since === undefined ? {} : { since: record.since }),
    // An older release would take a table whose rows lie elsewhere for one without any.
    ...(record.location === undefined
      ? {}
      : { features: [LOCATION_FEATURE], location: record.location }),
  });

const INCARNATION = /^[0-9a-f-]{8,64}$/;

export function decodeTable(bytes: Uint8Array, file: string): TableRecord {
  const document = decode(bytes, file);
  const id = stringMember(document, 'id', file);
  if (!INCARNATION.test(id)) throw corrupt(file, 'id is not an incarnation id');
  return {
    id,
    createdAt: integerMember(document, 'created_at', file),
    properties: stringMapMember(document, 'properties', file),
    ...(Object.hasOwn(document, 'since') ? { since: integerMember(document, 'since', file) } : {}),
    ...decodeLocation(document, id, file),
  };
}

const URI = /^[a-z][a-z0-9+.-]{0,31}:\/\/[^\s\0]{1,4096}$/;
/** Whether a location is one outside the root. */
export const isOutside = (location: string): boolean => URI.test(location);

function decodeLocation(document: JsonObject, id: string, file: string): { location?: string } {
  if (!Object.hasOwn(document, 'location')) return {};
  const location = stringMember(document, 'location', file);
  // The folder is removed with the table, so it must be the table's own.
  if (location === reservedFolder(id) || isOutside(location)) return { location };
  throw corrupt(file, 'location is neither the folder reserved for the table nor a URI');
}

export const encodeTag = (record: TagRecord): Uint8Array =>
  encode({ table: record.table, branch: record.branch, version: record.version });

export function decodeTag(bytes: Uint8Array, file: string): TagRecord {
  const document = decode(bytes, file);
  return {
    table: stringMember(document, 'table', file),
    branch: stringMember(document, 'branch', file),
    version: integerMember(document, 'version', file),
  };
}

export const encodeBranch = (record: BranchRecord): Uint8Array =>
  encode({
    id: record.id,
    table: record.table,
    parent_branch: record.parentBranch,
    parent_version: record.parentVersion,
    created_at: record.createdAt,
  });

export function decodeBranch(bytes: Uint8Array, file: string): BranchRecord {
  const document = decode(bytes, file);
  const id = stringMember(document, 'id', file);
  if (!INCARNATION.test(id)) throw corrupt(file, 'id is not a branch id');
  return {
    id,
    table: stringMember(document, 'table', file),
    parentBranch: stringMember(document, 'parent_branch', file),
    parentVersion: integerMember(document, 'parent_version', file),
    createdAt: integerMember(document, 'created_at', file),
  };
}

export const encodeTrash = (record: TrashRecord): Uint8Array =>
  encode({
    // An older release would bring back a table whose files are partly gone.
    ...(record.removing === true ? { features: [REMOVING_FEATURE] } : {}),
    trash: { kind: record.kind, id: record.id, dropped_at: record.droppedAt },
  });

export function decodeTrash(bytes: Uint8Array, file: string): TrashRecord {
  const document = decode(bytes, file);
  const trash = objectMember(document, 'trash', file);
  const id = member(trash, 'id');
  const kind = stringMember(trash, 'kind', file);
  if (!Array.isArray(id) || !id.every((part) => typeof part === 'string')) {
    throw corrupt(file, 'id is not a list of names');
  }
  if (kind !== 'table' && kind !== 'namespace') throw corrupt(file, `kind is ${kind}`);
  const droppedAt = integerMember(trash, 'dropped_at', file);
  const isRemoving =
    Object.hasOwn(document, 'features') &&
    arrayMember(document, 'features', file).includes(REMOVING_FEATURE);
  return { kind, id, droppedAt, ...(isRemoving ? { removing: true } : {}) };
}

export const encodeKey = ({ stamp, operation, begun, unkept, answer }: KeyRecord): Uint8Array =>
  encode({
    stamp,
    operation,
    ...(begun === undefined ? {} : { begun }),
    ...(unkept === undefined ? {} : { unkept }),
    ...(answer === undefined ? {} : { answer }),
  });

const STAMP = /^[0-9a-z]{1,40}$/;

export function decodeKey(bytes: Uint8Array, file: string): KeyRecord {
  const document = decode(bytes, file);
  const stamp = stringMember(document, 'stamp', file);
  if (!STAMP.test(stamp)) throw corrupt(file, 'stamp is none that was made of a request');
  const operation = stringMember(document, 'operation', file);
  const answered = member(document, 'answer') !== undefined;
  // As it would be written: JSON has numbers that are not, such as 1e400.
  const answer = answered
    ? (JSON.parse(JSON.stringify(objectMember(document, 'answer', file))) as JsonObject)
    : undefined;
  const begun = member(document, 'begun');
  if (begun !== undefined && begun !== true)
    throw corrupt(file, 'begun is neither true nor absent');
  const unkept = member(document, 'unkept');
  if (unkept !== undefined && (begun !== true || typeof unkept !== 'number' || !(unkept > 0)))
    throw corrupt(file, 'unkept is no number of bytes, or stands without begun');
  return {
    stamp,
    operation,
    ...(begun === undefined ? {} : { begun }),
    ...(unkept === undefined ? {} : { unkept }),
    answer,
  };
}
