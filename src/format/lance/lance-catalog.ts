/**
 * Encodes `__manifest`, the table with a row for each namespace and table by which Lance's
 * directory namespace lists a catalog: its data file (`lanceCatalogFile`) and its manifest
 * (`lanceCatalogManifest`). The data file is a fragment of this engine that is a Lance file too.
 * Source: the directory namespace of the Lance repository.
 */
import { createHash } from 'node:crypto';
import {
  type Data,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Utf8,
  vectorFromArray,
} from '../../arrow/index.ts';
import { joined } from '../../bytes.ts';
import { withFieldIds } from '../../ipc/index.ts';
import type { FragmentEntry } from '../catalog/index.ts';
import { FragmentEncoder } from '../fragment/index.ts';
import { lanceFields } from './lance-fields.ts';
import { lanceManifest } from './lance-manifest.ts';
import { LancePartWriter } from './lance-part.ts';

export interface LanceCatalogEntry {
  /** Names of the namespaces it is in, then its own. */
  readonly id: readonly string[];
  /** Of a table: its folder, relative to the root. */
  readonly location?: string | undefined;
  /** Of a namespace. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

export interface LanceCatalogFile {
  readonly bytes: Uint8Array;
  readonly entry: FragmentEntry;
}

const SEPARATOR = '$';
const SCHEMA = new Schema([
  new Field('object_id', new Utf8(), false),
  new Field('object_type', new Utf8(), false),
  new Field('location', new Utf8(), true),
  new Field('metadata', new Utf8(), true),
]);

const FIELD_IDS = SCHEMA.fields.map((_, at) => at);
const MARKED = withFieldIds(SCHEMA, FIELD_IDS);
const FOUND = lanceFields(SCHEMA.fields, FIELD_IDS);
const FIELDS = 'fields' in FOUND ? FOUND.fields : [];

const rowOf = ({ id, location, properties = {} }: LanceCatalogEntry): (string | null)[] => [
  id.join(SEPARATOR),
  location === undefined ? 'namespace' : 'table',
  location === undefined ? null : location,
  location === undefined ? JSON.stringify(properties) : null,
];

/** Tells catalogs of other entries apart. */
export function lanceCatalogDigest(entries: readonly LanceCatalogEntry[]): string {
  const hash = createHash('sha256');
  for (const entry of entries) hash.update(`${JSON.stringify(rowOf(entry))}\n`);
  return hash.digest('hex').slice(0, 32);
}

/** Rows of one batch, and of one step. */
const BATCH_ROWS = 2_048;

/** @param file its name, without what it ends with */
export function* lanceCatalogFile(
  entries: readonly LanceCatalogEntry[],
  file: string,
): Generator<void, LanceCatalogFile> {
  let part: LancePartWriter | undefined;
  const encoder = new FragmentEncoder(MARKED, (fields) => {
    part = new LancePartWriter(fields);
    return part;
  });
  const pieces = encoder.begin();
  for (let at = 0; at < entries.length; at += BATCH_ROWS) {
    pieces.push(...encoder.batch(batchOf(entries.slice(at, at + BATCH_ROWS).map(rowOf))));
    yield;
  }
  pieces.push(...encoder.end());
  const { bytes, rows, footerBytes, footerChecksum } = encoder.summary();
  const entry: FragmentEntry = {
    id: 0,
    file,
    rows,
    bytes,
    footerBytes,
    footerChecksum,
    fields: FIELD_IDS,
    statistics: [],
    deletion: undefined,
    lance: part?.entry,
  };
  return { bytes: joined(pieces), entry };
}

function batchOf(rows: readonly (readonly (string | null)[])[]): RecordBatch {
  const children = SCHEMA.fields.map(({ type }, at) => {
    const column = vectorFromArray(
      rows.map((row) => row[at] as string | null),
      type,
    );
    return column.data[0] as Data;
  });
  const type = new Struct(SCHEMA.fields);
  return new RecordBatch(SCHEMA, makeData({ type, length: rows.length, nullCount: 0, children }));
}

export interface LanceCatalogVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Names this version among all that were ever written. */
  readonly transaction: string;
  readonly entry: FragmentEntry;
}

/** The manifest of the catalog's table; no program of Lance's may write it. */
export const lanceCatalogManifest = (of: LanceCatalogVersion): Uint8Array =>
  lanceManifest({
    ...of,
    fields: FIELDS,
    schemaMetadata: new Map(),
    tableMetadata: {},
    fragments: of.entry.rows === 0 ? [] : [of.entry],
    nextFragmentId: 1,
    writable: false,
  });
