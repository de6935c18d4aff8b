/** A document of every kind of metadata file, and what reads it. */
import { decodeIntent } from '../../src/directory/catalog/intents.ts';
import { decodeJournal } from '../../src/directory/catalog/journal.ts';
import type { FragmentEntry } from '../../src/format/catalog/fragment-entry.ts';
import {
  decodeVersion,
  encodeManifest,
  encodeTombstone,
  type Manifest,
  type VersionDocument,
} from '../../src/format/catalog/manifest.ts';
import {
  decodeBranch,
  decodeFormat,
  decodeKey,
  decodeNamespace,
  decodeTable,
  decodeTag,
  decodeTrash,
  encodeBranch,
  encodeFormat,
  encodeKey,
  encodeNamespace,
  encodeTable,
  encodeTag,
  encodeTrash,
} from '../../src/format/catalog/records.ts';
import { encodeChecksummed } from '../../src/json.ts';
import {
  decodeDecision,
  decodeDecisionTables,
} from '../../src/table/versions/multi-table-commit.ts';
import { decodeChunk, encodeChunk } from './chunks.ts';

export const fragmentEntry = (id: number): FragmentEntry => ({
  id,
  file: `0000000${id % 10}-aaaa`,
  rows: 10,
  bytes: 1000,
  footerBytes: 100,
  footerChecksum: 77,
  fields: [0, 1],
  statistics: [[0, 1, 2], null],
  deletion: id === 2 ? { file: '22222222', rows: 3, bytes: 50, checksum: 5 } : undefined,
});

/** Names that objects inherit, as plain keys. */
export const oddProperties = JSON.parse('{"__proto__":"p","constructor":"c","a":"b"}') as Record<
  string,
  string
>;

export const sampleManifest: Manifest = {
  table: '11111111-2222',
  branch: 'main',
  version: 3,
  parent: { version: 2, branch: 'main', checksum: '0a0b0c0d' },
  timestamp: 1_700_000_000_000,
  transaction: '11111111-2222.33333333',
  batch: '44444444-5555',
  operation: { kind: 'append', summary: { added_rows: 10 } },
  schema: {
    fields: [{ name: 'id', nullable: false, type: { type: 'int32' } }],
    metadata: oddProperties,
  },
  fieldIds: [0, 1],
  nextFieldId: 2,
  nextFragmentId: 3,
  metadata: oddProperties,
  annotations: { by: 'me' },
  totals: { rows: 40, deletedRows: 3, bytes: 4050, fragments: 4 },
  chunks: [encodeChunk('66666666-7777', [fragmentEntry(0), fragmentEntry(1)]).entry],
  fragments: [fragmentEntry(2), fragmentEntry(3)],
};

/** A manifest of about two KiB. */
const largeManifest: Manifest = {
  ...sampleManifest,
  totals: { rows: 100, deletedRows: 3, bytes: 10_050, fragments: 10 },
  fragments: Array.from({ length: 8 }, (_, at) => fragmentEntry(at + 2)),
};

export interface MetadataSample {
  readonly kind: string;
  readonly bytes: Uint8Array;
  decode(bytes: Uint8Array): unknown;
  /** The bytes of what `decode` returned. */
  encode(value: unknown): Uint8Array;
  /** Whether every changed byte is noticed. `format.json` is read by releases to come. */
  readonly checksummed: boolean;
}

function sample<Value>(
  kind: string,
  value: Value,
  encode: (value: Value) => Uint8Array,
  decode: (bytes: Uint8Array, file: string) => Value,
  checksummed = true,
): MetadataSample {
  return {
    kind,
    // A copy: slices of a Buffer share its memory.
    bytes: new Uint8Array(encode(value)),
    decode: (bytes) => decode(bytes, kind),
    encode: (decoded) => encode(decoded as Value),
    checksummed,
  };
}

const chunked = encodeChunk('66666666-7777', [fragmentEntry(2), fragmentEntry(4)]);

const journal = {
  batch: '44444444-5555',
  declares: [{ folder: 'data/t.table', incarnation: '11111111-2222' }],
  deletions: [
    {
      branch: {
        tableFolder: 'ns/u.table',
        incarnation: '33333333-4444',
        branch: 'main',
        folder: 'ns/u.table/versions-33333333-4444',
      },
      versions: [1, 2, 5],
    },
  ],
  deregisters: [
    {
      folder: 'data/v.table',
      incarnation: '55555555-6666',
      place: '.dirspace/detached/77777777-8888.table',
    },
  ],
};

const encodeDocument = (document: object): Uint8Array => encodeChecksummed({ ...document }).bytes;
const encodeVersion = (found: VersionDocument): Uint8Array =>
  'manifest' in found ? encodeManifest(found.manifest).bytes : encodeTombstone(found.tombstone);

export const METADATA_SAMPLES: readonly MetadataSample[] = [
  sample<VersionDocument>(
    'manifest',
    { manifest: largeManifest, checksum: '', bytes: 0 },
    encodeVersion,
    decodeVersion,
  ),
  sample<VersionDocument>(
    'tombstone',
    { tombstone: { deletedThrough: 9 } },
    encodeVersion,
    decodeVersion,
  ),
  {
    kind: 'chunk',
    bytes: new Uint8Array(chunked.bytes),
    // What the manifest says of a forged chunk would be forged to fit it.
    decode: (bytes) => {
      const checksum = Buffer.from(bytes).toString('latin1', 19, 27);
      return decodeChunk(bytes, { ...chunked.entry, size: bytes.length, checksum }, 'chunk');
    },
    encode: (value) => encodeChunk('66666666-7777', value as FragmentEntry[]).bytes,
    checksummed: true,
  },
  sample('tag', { table: '11111111', branch: 'main', version: 4 }, encodeTag, decodeTag),
  sample(
    'branch',
    { id: '11111111', table: '22222222', parentBranch: 'main', parentVersion: 4, createdAt: 5 },
    encodeBranch,
    decodeBranch,
  ),
  sample(
    'table',
    { id: '11111111', createdAt: 5, properties: oddProperties },
    encodeTable,
    decodeTable,
  ),
  sample('namespace', { id: 'n', properties: oddProperties }, encodeNamespace, decodeNamespace),
  sample(
    'key',
    {
      stamp: 'a1b2c3d4e5f6',
      operation: 'CreateTable',
      answer: { version: 1, properties: oddProperties },
    },
    encodeKey,
    decodeKey,
  ),
  sample(
    'key without an answer',
    { stamp: 'a1b2c3d4e5f6', operation: 'DropTable', answer: undefined },
    encodeKey,
    decodeKey,
  ),
  sample('trash', { kind: 'table', id: ['a', 'b'], droppedAt: 5 }, encodeTrash, decodeTrash),
  sample(
    'format',
    { foldsCase: true, properties: { managed_versioning: 'true' } },
    encodeFormat,
    decodeFormat,
  ),
  sample(
    'intent',
    {
      kind: 'replace',
      place: 'ns/inner',
      trash: '.dirspace/trash/11111111-2222',
      staging: '.dirspace/staging/33333333-4444',
    },
    encodeDocument,
    decodeIntent,
  ),
  sample(
    'journal',
    journal,
    (value) => encodeDocument({ format: 1, journal: value }),
    decodeJournal,
  ),
  sample(
    'decision',
    'committed',
    (outcome) => encodeDocument({ format: 1, outcome }),
    decodeDecision,
  ),
  sample(
    'decision with tables',
    ['prod$a', 'b'],
    (tables) => encodeDocument({ format: 1, outcome: 'committed', tables }),
    decodeDecisionTables,
  ),
];
