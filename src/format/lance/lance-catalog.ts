/**
 * Encodes and decodes `__manifest`, a table by which Lance's directory namespace lists a catalog.
 * The table has a row for each namespace and each table (`lanceCatalogRow`), in the order of their
 * keys (`byLanceCatalogKey`). `lanceCatalogFile` and `LanceCatalogRows` are for its data files,
 * `lanceCatalogManifest` and `readLanceCatalogManifest` for its manifests. Decoding throws Corrupt
 * for a data file that does not match the hash in its name, and for a manifest that differs from
 * what this release or an earlier one would write.
 *
 * Source: the directory namespace of the Lance repository.
 */
import { createHash } from 'node:crypto';
import {
  bytesColumn,
  Field,
  type RecordBatch,
  recordBatch,
  Schema,
  Utf8,
} from '../../arrow/index.ts';
import { joined } from '../../bytes.ts';
import { withFieldIds } from '../../ipc/index.ts';
import { corrupt } from '../../json.ts';
import { drained } from '../../steps.ts';
import { decodeLoneFragment, FragmentEncoder } from '../fragment/index.ts';
import { lanceFields } from './lance-fields.ts';
import {
  type LanceFragment,
  type LanceVersion,
  lanceManifest,
  lanceManifestForms,
} from './lance-manifest.ts';
import { LancePartWriter } from './lance-part.ts';
import { readLanceManifest } from './parsed-manifest.ts';

export interface LanceCatalogEntry {
  /** Names of the namespaces it is in, then its own. */
  readonly id: readonly string[];
  /** Of a table: its folder, relative to the root. */
  readonly location?: string | undefined;
  /** Of a namespace. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
}

/** A row of the table. */
export type LanceCatalogRow = readonly [
  id: string,
  type: 'table' | 'namespace',
  location: string | null,
  metadata: string | null,
];

const SEPARATOR = '$';
const TYPE = new Utf8();
const SCHEMA = new Schema([
  new Field('object_id', TYPE, false),
  new Field('object_type', TYPE, false),
  new Field('location', TYPE, true),
  new Field('metadata', TYPE, true),
]);

const FIELD_IDS = SCHEMA.fields.map((_, at) => at);
const MARKED = withFieldIds(SCHEMA, FIELD_IDS);
const FOUND = lanceFields(SCHEMA.fields, FIELD_IDS);
const FIELDS = 'fields' in FOUND ? FOUND.fields : [];

/** How the table names a namespace or table. */
export const lanceCatalogKey = (id: readonly string[]): string => id.join(SEPARATOR);

/** Whether the one names what is in the namespace that the other names. */
export const isLanceCatalogKeyBelow = (key: string, namespace: string): boolean =>
  key.startsWith(namespace + SEPARATOR);

export const lanceCatalogRow = ({
  id,
  location,
  properties = {},
}: LanceCatalogEntry): LanceCatalogRow =>
  location === undefined
    ? [lanceCatalogKey(id), 'namespace', null, JSON.stringify(properties)]
    : [lanceCatalogKey(id), 'table', location, null];

/** By their keys, in the order that data files have. */
export const byLanceCatalogKey = ([one]: LanceCatalogRow, [other]: LanceCatalogRow): number =>
  one < other ? -1 : one > other ? 1 : 0;

export const isSameLanceCatalogRow = (one: LanceCatalogRow, other: LanceCatalogRow): boolean =>
  one.every((text, at) => text === other[at]);

/** The hash of the bytes of a data file, which is part of its name. */
export const lanceCatalogDigest = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 32);

/** Rows of one batch, and of one step. */
const BATCH_ROWS = 2_048;

export interface LanceCatalogFile {
  readonly bytes: Uint8Array;
  /** Position behind Lance's footer. */
  readonly fileSize: number;
}

/** @param rows in order of their keys, one at least */
export function* lanceCatalogFile(
  rows: readonly LanceCatalogRow[],
): Generator<void, LanceCatalogFile> {
  let part: LancePartWriter | undefined;
  const encoder = new FragmentEncoder(MARKED, (fields) => {
    part = new LancePartWriter(fields);
    return part;
  });
  const pieces = encoder.begin();
  for (let at = 0; at < rows.length; at += BATCH_ROWS) {
    pieces.push(...encoder.batch(batchOf(rows.slice(at, at + BATCH_ROWS))));
    yield;
  }
  pieces.push(...encoder.end());
  const entry = part?.entry;
  return {
    bytes: joined(pieces),
    fileSize: entry !== undefined && 'fileSize' in entry ? entry.fileSize : 0,
  };
}

const batchOf = (rows: readonly LanceCatalogRow[]): RecordBatch =>
  recordBatch(
    SCHEMA,
    FIELD_IDS.map((column) => {
      const texts = rows.map((row) => row[column] as string | null);
      return bytesColumn(
        TYPE,
        texts.map((text) => (text === null ? null : Buffer.from(text))),
      );
    }),
    rows.length,
  );

/** The rows of a data file, which are decoded when they are asked for. */
export class LanceCatalogRows {
  readonly #batches: readonly RecordBatch[];
  readonly count: number;

  /**
   * @param digest in the name of the file
   * @throws Corrupt
   */
  constructor(bytes: Uint8Array, digest: string, file: string) {
    if (lanceCatalogDigest(bytes) !== digest)
      throw corrupt(file, 'its bytes are not those that it is named by');
    const { footer, batches } = decodeLoneFragment(bytes, file);
    if (String(footer.schema.fields.map(({ type }) => type)) !== TYPES)
      throw corrupt(file, 'it has other columns');
    this.#batches = batches;
    this.count = footer.rows;
  }

  row(at: number): LanceCatalogRow {
    const batch = this.#batches[Math.floor(at / BATCH_ROWS)];
    const texts = FIELD_IDS.map((column) => batch?.getChildAt(column)?.get(at % BATCH_ROWS));
    return texts as unknown as LanceCatalogRow;
  }

  /** The first row whose key is not below this one; `count` where all are. */
  place(key: string): number {
    let [from, to] = [0, this.count];
    while (from < to) {
      const middle = (from + to) >> 1;
      const batch = this.#batches[Math.floor(middle / BATCH_ROWS)];
      if ((batch?.getChildAt(0)?.get(middle % BATCH_ROWS) as string) < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Rows of this key, and with `below` of all that are in the namespace of that name. */
  *matches(key: string, below: boolean): Generator<number> {
    const first = this.place(key);
    if (first < this.count && this.row(first)[0] === key) yield first;
    if (!below) return;
    const end = this.place(key + AFTER_SEPARATOR);
    for (let at = this.place(key + SEPARATOR); at < end; at++) yield at;
  }
}

const TYPES = String(SCHEMA.fields.map(({ type }) => type));
/** What the keys of a namespace's content begin with is between the two. */
const AFTER_SEPARATOR = String.fromCharCode(SEPARATOR.charCodeAt(0) + 1);

/** A data file of a version. */
export interface LanceCatalogPart {
  /** Its name, without what it ends with. */
  readonly file: string;
  readonly rows: number;
  readonly fileSize: number;
  /** The deletion file: the number in its name, and how many rows it deletes. */
  readonly deletion?: { readonly id: bigint; readonly rows: number } | undefined;
}

/** Its rows are those of a base file without the deleted ones, and those of a small file of rows added later. */
export interface LanceCatalogVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Names this version among all that were ever written. */
  readonly transaction: string;
  /** The machine and boot that its writer ran on. */
  readonly scope: string;
  readonly base: LanceCatalogPart | undefined;
  readonly added: LanceCatalogPart | undefined;
}

const SCOPE_KEY = 'dirspace.scope';
/** The hash of all that the version says, because Lance's manifests have no checksum of their own. */
const DIGEST_KEY = 'dirspace.digest';
const ARROW = '.arrow';

/** The manifest of the catalog's table; no program of Lance's may write it. */
export const lanceCatalogManifest = (of: LanceCatalogVersion): Uint8Array =>
  lanceManifest(lanceVersionOf(of));

const lanceVersionOf = (of: LanceCatalogVersion): LanceVersion<LanceFragment> => ({
  version: of.version,
  timestamp: of.timestamp,
  transaction: of.transaction,
  fields: FIELDS,
  schemaMetadata: new Map(),
  tableMetadata: { [SCOPE_KEY]: of.scope, [DIGEST_KEY]: digestOf(of) },
  fragments: [
    [of.base, of.added].flatMap((part, id) =>
      part === undefined
        ? []
        : {
            id,
            file: part.file,
            rows: part.rows,
            deletion: part.deletion,
            lance: { fileSize: part.fileSize, fields: FIELD_IDS },
          },
    ),
  ],
  nextFragmentId: 2,
  writable: false,
});

const digestOf = ({ base, added, ...of }: LanceCatalogVersion): string => {
  const said = [of.version, of.timestamp, of.transaction, of.scope];
  for (const part of [base, added]) {
    const { id, rows } = part?.deletion ?? {};
    said.push(String([part?.file, part?.rows, part?.fileSize, id, rows]));
  }
  return lanceCatalogDigest(Buffer.from(said.join('\n')));
};

/**
 * @throws Corrupt where it is not, byte for byte, what this release or an earlier one makes of its
 * content
 */
export function readLanceCatalogManifest(bytes: Uint8Array, path: string): LanceCatalogVersion {
  const { version, timestamp, transaction, tableMetadata, fragments } = readLanceManifest(
    bytes,
    path,
  );
  const partOf = (id: number): LanceCatalogPart | undefined => {
    const fragment = fragments.find((found) => found.id === id);
    const file = fragment?.files[0];
    if (fragment === undefined || file === undefined) return undefined;
    const { deletion } = fragment;
    return {
      file: file.path.endsWith(ARROW) ? file.path.slice(0, -ARROW.length) : file.path,
      rows: fragment.physicalRows,
      fileSize: file.fileSize,
      deletion: deletion === undefined ? undefined : { id: deletion.id, rows: deletion.rows },
    };
  };
  const found: LanceCatalogVersion = {
    version,
    timestamp,
    transaction: transaction?.uuid ?? '',
    scope: tableMetadata.get(SCOPE_KEY) ?? '',
    base: partOf(0),
    added: partOf(1),
  };
  const forms = drained(lanceManifestForms(lanceVersionOf(found)));
  const isMade = forms.some((form) => Buffer.compare(form, bytes) === 0);
  if (!isMade) throw corrupt(path, 'it says more or other things than this engine writes there');
  return found;
}
