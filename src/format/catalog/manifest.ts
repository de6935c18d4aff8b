/**
 * Encodes (`encodeManifest`) and decodes (`decodeVersion`) the manifest, the JSON document of one
 * version of one branch of a table. `decodeVersion` may also return a tombstone
 * (`encodeTombstone`), which takes the place of the first of a run of deleted versions. Decoding
 * verifies the checksum and throws Corrupt for damage. A newer format or an unknown feature throws
 * UnsupportedFormat; `refuseNewer` checks that for other documents too. The fields of the schema
 * are checked later, in protocol/types/schema.ts. Manifests with the same schema share it, frozen
 * (known-schemas.ts).
 */
import { DirspaceError } from '../../errors.ts';
import {
  arrayMember,
  asObject,
  corrupt,
  encodeChecksummed,
  encodeChecksummedText,
  integerMember,
  isWholeNumber,
  type JsonObject,
  member,
  objectMember,
  parseChecksummed,
  stringMapMember,
  stringMember,
} from '../../json.ts';
import type { JsonArrowField, JsonArrowSchema } from '../../protocol/index.ts';
import { type ChunkEntry, decodeChunkEntry, encodeChunkEntry } from './chunk.ts';
import {
  decodeFragment,
  FRAGMENT_FEATURE_NAMES,
  type FragmentEntry,
  fragmentText,
} from './fragment-entry.ts';
import { decodeIndexes, INDEXES_FEATURE, type IndexEntry, indexesText } from './index-entry.ts';
import { SchemaReader } from './known-schemas.ts';
import { decodeView, type ManifestView, VIEW_FEATURE } from './manifest-view.ts';

export const FORMAT_VERSION = 1;
/** Fragments may hold a Lance part, which older releases would take for damage. */
const LANCE_FEATURE = 'lance';
/** A feature in the record of a table: its rows may lie at a location of their own. */
export const LOCATION_FEATURE = 'location';
/** A feature in a record of the trash: files of its tables outside the root are being removed. */
export const REMOVING_FEATURE = 'removing';
/** Columns may be computed by an expression: whoever writes keeps their values from getting stale. */
const COMPUTED_FEATURE = 'computed_columns';
/** Features a file may name and this release understands. */
const KNOWN_FEATURES: readonly string[] = [
  LANCE_FEATURE,
  LOCATION_FEATURE,
  REMOVING_FEATURE,
  INDEXES_FEATURE,
  COMPUTED_FEATURE,
  VIEW_FEATURE,
  ...FRAGMENT_FEATURE_NAMES,
];

export type OperationKind =
  | 'create'
  | 'append'
  | 'overwrite'
  | 'delete'
  | 'update'
  | 'merge'
  | 'restore'
  | 'compact'
  | 'schema'
  | 'metadata';
const OPERATION_KINDS: readonly string[] = [
  'create',
  'append',
  'overwrite',
  'delete',
  'update',
  'merge',
  'restore',
  'compact',
  'schema',
  'metadata',
] satisfies OperationKind[];

export interface Operation {
  readonly kind: OperationKind;
  /** Counts of what it did, e.g. `added_rows`; informative. */
  readonly summary: Readonly<Record<string, number>>;
}

export interface Totals {
  /** Rows in the fragments, deleted ones included. */
  readonly rows: number;
  readonly deletedRows: number;
  /** Bytes of fragments and deletion files. */
  readonly bytes: number;
  readonly fragments: number;
  /** Fragments that Lance can read; 0 if absent. */
  readonly lanceFragments?: number | undefined;
  /**
   * Fragments that need a feature of `featuresOf`, by its name; absent where none needs one. The
   * manifest names these features, so older releases read a table again once no fragment needs any.
   */
  readonly features?: Readonly<Record<string, number>> | undefined;
}

export interface ParentVersion {
  readonly version: number;
  readonly branch: string;
  /** Checksum of the parent's manifest: versions form a chain. */
  readonly checksum: string;
}

/** Properties of a table that took effect together with a version. */
export interface VersionedProperties {
  readonly since: number;
  readonly values: Readonly<Record<string, string>>;
}

export interface Manifest {
  /** Incarnation id of the table the manifest belongs to. */
  readonly table: string;
  readonly branch: string;
  readonly version: number;
  readonly parent: ParentVersion | undefined;
  /** Milliseconds since the epoch; never decreases along a branch. */
  readonly timestamp: number;
  readonly transaction: string;
  /** Set when the version counts only if that transaction was committed as a whole. */
  readonly batch: string | undefined;
  readonly operation: Operation;
  readonly schema: JsonArrowSchema;
  /** Ids of all fields, nested ones too, depth first in the schema's order. */
  readonly fieldIds: readonly number[];
  readonly nextFieldId: number;
  readonly nextFragmentId: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Set once a version replaced the properties of its table: carried on by every later one. */
  readonly properties?: VersionedProperties | undefined;
  /**
   * Whether new fragments are written for Lance too. Once true it stays so; undefined where the catalog
   * decides.
   */
  readonly lance?: boolean | undefined;
  /** Whether Lance's clients might write when the version was made: the manifest that they read says so. */
  readonly lanceWrites?: boolean | undefined;
  /** Lance's ids of fields by ours, where a writer of Lance gave them others than we have. */
  readonly lanceIds?: ReadonlyMap<number, number> | undefined;
  /** Ids of fragments that writers of Lance were given for a compaction: each from the first to before the second. */
  readonly lanceReserved?: readonly (readonly [first: number, end: number])[] | undefined;
  /** The changes of the version as a transaction of Lance, in base64; absent where Lance has none for them. */
  readonly lanceTransaction?: string | undefined;
  /** Set for a materialized view: what it is of. */
  readonly view?: ManifestView | undefined;
  /** What the publisher of a staged version wanted noted of it. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly totals: Totals;
  /** Undefined where there is none. */
  readonly indexes?: readonly IndexEntry[] | undefined;
  /** Fragments, in row order: first those rolled into chunks, then the rest. */
  readonly chunks: readonly ChunkEntry[];
  readonly fragments: readonly FragmentEntry[];
}

/** What stands in place of the first of a run of deleted versions: see table/history/delete-versions.ts. */
export interface Tombstone {
  readonly deletedThrough: number;
}

export type VersionDocument =
  | { readonly manifest: Manifest; readonly checksum: string; readonly bytes: number }
  | { readonly tombstone: Tombstone };

export function encodeTombstone(tombstone: Tombstone): Uint8Array {
  return encodeChecksummed({
    format: FORMAT_VERSION,
    deleted_through: tombstone.deletedThrough,
  }).bytes;
}

interface SchemaText {
  readonly text: string;
  readonly hasComputed: boolean;
}

const schemaTexts = new WeakMap<JsonArrowSchema, SchemaText>();

/** The schema as JSON text. Most versions take over the schema of their base, so it is kept. */
function schemaText(schema: JsonArrowSchema): SchemaText {
  let known = schemaTexts.get(schema);
  if (known === undefined) {
    // A damaged manifest may have anything there; the fields are checked when they are read.
    const isComputed = (field: JsonArrowField | null): boolean =>
      field?.metadata?.computed_column === 'true';
    const hasComputed = schema.fields.some(isComputed);
    known = { text: JSON.stringify(schema), hasComputed };
    schemaTexts.set(schema, known);
  }
  return known;
}

export function encodeManifest(manifest: Manifest): { bytes: Uint8Array; checksum: string } {
  const { parent, totals } = manifest;
  const { text: schema, hasComputed } = schemaText(manifest.schema);
  const head = JSON.stringify({
    format: FORMAT_VERSION,
    features: [
      ...(manifest.lance === true ? [LANCE_FEATURE] : []),
      ...(hasComputed ? [COMPUTED_FEATURE] : []),
      ...(manifest.view === undefined ? [] : [VIEW_FEATURE]),
      ...Object.keys(totals.features ?? {}),
      ...(manifest.indexes === undefined ? [] : [INDEXES_FEATURE]),
    ],
    lance: manifest.lance === false ? false : undefined,
    table: manifest.table,
    branch: manifest.branch,
    version: manifest.version,
    parent: parent ?? null,
    timestamp: manifest.timestamp,
    transaction: manifest.transaction,
    // JSON leaves out what is undefined.
    batch: manifest.batch,
    operation: manifest.operation,
  });
  const tail = JSON.stringify({
    field_ids: manifest.fieldIds,
    next_field_id: manifest.nextFieldId,
    next_fragment_id: manifest.nextFragmentId,
    metadata: manifest.metadata,
    properties: manifest.properties,
    lance_writes: manifest.lanceWrites === true ? true : undefined,
    lance_ids: manifest.lanceIds === undefined ? undefined : [...manifest.lanceIds],
    lance_reserved: manifest.lanceReserved,
    lance_transaction: manifest.lanceTransaction,
    view: manifest.view,
    annotations: manifest.annotations,
    totals: {
      rows: totals.rows,
      deleted_rows: totals.deletedRows,
      bytes: totals.bytes,
      fragments: totals.fragments,
      lance_fragments: totals.lanceFragments,
      features: totals.features,
    },
    chunks: manifest.chunks.map(encodeChunkEntry),
  });
  const fragments = manifest.fragments.map(fragmentText).join();
  const indexes =
    manifest.indexes === undefined ? '' : `"indexes":${indexesText(manifest.indexes)},`;
  return encodeChecksummedText(
    `${head.slice(0, -1)},"schema":${schema},${tail.slice(1, -1)},${indexes}"fragments":[${fragments}]}`,
  );
}

/**
 * @throws Corrupt when the bytes are damaged, UnsupportedFormat when a newer release wrote them
 */
export function decodeVersion(bytes: Uint8Array, file: string): VersionDocument {
  const schemas = new SchemaReader();
  const { document, checksum } = parseChecksummed(bytes, file, (text) => schemas.parse(text));
  refuseNewer(document, file);
  if (Object.hasOwn(document, 'deleted_through')) {
    return { tombstone: { deletedThrough: integerMember(document, 'deleted_through', file) } };
  }
  const manifest: Manifest = {
    table: stringMember(document, 'table', file),
    branch: stringMember(document, 'branch', file),
    version: integerMember(document, 'version', file),
    parent: decodeParent(member(document, 'parent'), file),
    timestamp: integerMember(document, 'timestamp', file),
    transaction: stringMember(document, 'transaction', file),
    batch: Object.hasOwn(document, 'batch') ? stringMember(document, 'batch', file) : undefined,
    operation: decodeOperation(objectMember(document, 'operation', file), file),
    ...schemas.shared(document, () => ({
      schema: decodeSchemaShape(objectMember(document, 'schema', file), file),
      fieldIds: arrayMember(document, 'field_ids', file).map((id) => fieldId(id, file)),
    })),
    nextFieldId: integerMember(document, 'next_field_id', file),
    nextFragmentId: integerMember(document, 'next_fragment_id', file),
    metadata: stringMapMember(document, 'metadata', file),
    properties: Object.hasOwn(document, 'properties')
      ? decodeProperties(objectMember(document, 'properties', file), file)
      : undefined,
    ...decodeLance(document, file),
    ...(member(document, 'lance_writes') === true ? { lanceWrites: true } : {}),
    ...(Object.hasOwn(document, 'lance_ids') ? { lanceIds: decodeLanceIds(document, file) } : {}),
    ...(Object.hasOwn(document, 'lance_reserved')
      ? { lanceReserved: decodePairs(document, 'lance_reserved', file) }
      : {}),
    ...(Object.hasOwn(document, 'lance_transaction')
      ? { lanceTransaction: stringMember(document, 'lance_transaction', file) }
      : {}),
    ...(Object.hasOwn(document, 'view')
      ? { view: decodeView(objectMember(document, 'view', file), file) }
      : {}),
    annotations: Object.hasOwn(document, 'annotations')
      ? stringMapMember(document, 'annotations', file)
      : undefined,
    totals: decodeTotals(objectMember(document, 'totals', file), file),
    ...(Object.hasOwn(document, 'indexes') ? { indexes: decodeIndexes(document, file) } : {}),
    chunks: arrayMember(document, 'chunks', file).map((entry) => decodeChunkEntry(entry, file)),
    fragments: arrayMember(document, 'fragments', file).map((entry) => decodeFragment(entry, file)),
  };
  const listed =
    manifest.fragments.length + manifest.chunks.reduce((sum, chunk) => sum + chunk.fragments, 0);
  if (listed !== manifest.totals.fragments) {
    throw corrupt(file, `it lists ${listed} fragments and counts ${manifest.totals.fragments}`);
  }
  return { manifest, checksum, bytes: bytes.length };
}

/** @throws UnsupportedFormat naming what this release does not know */
export function refuseNewer(document: JsonObject, file: string): void {
  const format = integerMember(document, 'format', file);
  const features = Object.hasOwn(document, 'features')
    ? arrayMember(document, 'features', file)
    : [];
  const unknown = features.filter((feature) => !KNOWN_FEATURES.includes(feature as string));
  if (format <= FORMAT_VERSION && unknown.length === 0) return;
  const what = format > FORMAT_VERSION ? `format ${format}` : `the feature ${unknown.join(', ')}`;
  throw new DirspaceError(
    'UnsupportedFormat',
    `The file ${file} uses ${what}; this release reads format ${FORMAT_VERSION}. Open it with a newer release of dirspace.`,
  );
}

function decodeLance(document: JsonObject, file: string): Pick<Manifest, 'lance'> {
  const features = Object.hasOwn(document, 'features')
    ? arrayMember(document, 'features', file)
    : [];
  if (features.includes(LANCE_FEATURE)) return { lance: true };
  if (!Object.hasOwn(document, 'lance')) return {};
  if (document.lance !== false) throw corrupt(file, 'lance is something else than false');
  return { lance: false };
}

function decodeLanceIds(document: JsonObject, file: string): ReadonlyMap<number, number> {
  const pairs = decodePairs(document, 'lance_ids', file);
  const ids = new Map(pairs);
  const lances = new Set(ids.values());
  if (ids.size < pairs.length || lances.size < pairs.length)
    throw corrupt(file, 'lance_ids names a field twice');
  return ids;
}

function decodePairs(document: JsonObject, name: string, file: string): [number, number][] {
  return arrayMember(document, name, file).map((pair) => {
    const [one, other, ...more] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (isWholeNumber(one) && isWholeNumber(other) && more.length === 0) return [one, other];
    throw corrupt(file, `${name} holds something else than pairs of whole numbers`);
  });
}

function decodeParent(value: unknown, file: string): ParentVersion | undefined {
  if (value === null) return undefined;
  const parent = asObject(value, file, 'parent');
  return {
    version: integerMember(parent, 'version', file),
    branch: stringMember(parent, 'branch', file),
    checksum: stringMember(parent, 'checksum', file),
  };
}

function decodeProperties(value: JsonObject, file: string): VersionedProperties {
  return {
    since: integerMember(value, 'since', file),
    values: stringMapMember(value, 'values', file),
  };
}

export function decodeOperation(value: JsonObject, file: string): Operation {
  const kind = stringMember(value, 'kind', file);
  if (!OPERATION_KINDS.includes(kind)) throw corrupt(file, `operation.kind is ${kind}`);
  const counts = objectMember(value, 'summary', file);
  const summary = Object.fromEntries(
    Object.keys(counts).map((name) => [name, integerMember(counts, name, file)]),
  );
  return { kind: kind as OperationKind, summary };
}

function decodeTotals(value: JsonObject, file: string): Totals {
  const totals = {
    rows: integerMember(value, 'rows', file),
    deletedRows: integerMember(value, 'deleted_rows', file),
    bytes: integerMember(value, 'bytes', file),
    fragments: integerMember(value, 'fragments', file),
    ...(Object.hasOwn(value, 'lance_fragments')
      ? { lanceFragments: integerMember(value, 'lance_fragments', file) }
      : {}),
    ...(Object.hasOwn(value, 'features')
      ? { features: decodeFeatureCounts(objectMember(value, 'features', file), file) }
      : {}),
  };
  if (totals.deletedRows > totals.rows) throw corrupt(file, 'more rows are deleted than there are');
  if ((totals.lanceFragments ?? 0) > totals.fragments) {
    throw corrupt(file, 'Lance reads more fragments than there are');
  }
  for (const [name, count] of Object.entries(totals.features ?? {})) {
    if (count > totals.fragments) throw corrupt(file, `more fragments need ${name} than there are`);
  }
  return totals;
}

function decodeFeatureCounts(value: JsonObject, file: string): Record<string, number> {
  const names = Object.keys(value);
  const unknown = names.find((name) => !FRAGMENT_FEATURE_NAMES.includes(name));
  if (unknown !== undefined) throw corrupt(file, `its totals count the feature ${unknown}`);
  return Object.fromEntries(names.map((name) => [name, integerMember(value, name, file)]));
}

/** Fields are checked in full when the schema is first turned into Arrow. */
function decodeSchemaShape(value: JsonObject, file: string): JsonArrowSchema {
  arrayMember(value, 'fields', file);
  return value as unknown as JsonArrowSchema;
}

function fieldId(value: unknown, file: string): number {
  if (!isWholeNumber(value)) {
    throw corrupt(file, 'field_ids holds something else than field ids');
  }
  return value;
}
