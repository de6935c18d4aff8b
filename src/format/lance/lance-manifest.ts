/**
 * Encodes the manifests by which Lance reads versions of a table (`lance.table.Manifest`):
 * `lanceManifest` at once, `lanceManifestBytes` in steps, `lanceManifestForms` also as earlier
 * releases did. All fragments must have a Lance part. `closedLanceManifest` encodes one that Lance
 * refuses to open, for a version that it cannot read, and `lanceFence` one for tables that it must
 * not open by path. `isOwnLanceManifest` tells manifests of this engine from those of others.
 *
 * Source: table.proto and transaction.proto of the Lance repository.
 */
import { createHash } from 'node:crypto';
import { drained } from '../../steps.ts';
import { type FragmentEntry, fragmentName, type LanceEntry } from '../catalog/index.ts';
import {
  earlierFieldMembers,
  type LanceField,
  type LanceIds,
  lanceFiles,
  lanceIdsOf,
  manifestFieldMembers,
} from './lance-fields.ts';
import { readLanceManifest } from './parsed-manifest.ts';
import {
  message,
  noMembers,
  type ProtoMembers,
  ProtoMessage,
  varintBytes,
  varintText,
} from './protobuf.ts';

/** One version of a table. All its fragments have a Lance part. */
export interface LanceVersion<Fragment extends LanceFragment = FragmentEntry> {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly fields: readonly LanceField[];
  readonly schemaMetadata: ReadonlyMap<string, string>;
  readonly tableMetadata: Readonly<Record<string, string>>;
  /** In runs: one that several versions share as the same list is encoded once. */
  readonly fragments: readonly (readonly Fragment[])[];
  /** The name in the folder `data` of a fragment's file; that of a table's own if absent. */
  readonly fileName?: ((file: string) => string) | undefined;
  readonly nextFragmentId: number;
  readonly transaction: string;
  /** The table's incarnation: where Lance may write, its writers copy it into what they stage. */
  readonly table?: string | undefined;
  /** False sets a flag that no writer of Lance knows, so that all of them refuse to write. */
  readonly writable: boolean;
  /** Lance's ids of the fields. */
  readonly ids?: LanceIds | undefined;
  /**
   * What a client that is a version behind is told of this one: its transaction; or that rows were added,
   * which it may pass over; or something else, which it may not.
   */
  readonly done?: 'append' | 'other' | Uint8Array;
  /** Of a branch other than main: Lance looks for its files in another folder, unless told where they are. */
  readonly branch?: LanceBranch | undefined;
}

/** What Lance is told of a fragment. */
export type LanceFragment = Pick<FragmentEntry, 'id' | 'file' | 'rows' | 'lance' | 'overlays'> & {
  readonly deletion: LanceDeletionFile | undefined;
};

/** The number in Lance's name of the file, or the engine's own name, which gives that number. */
type LanceDeletionFile = { readonly rows: number } & (
  | { readonly id: bigint }
  | { readonly file: string }
);

export interface LanceBranch {
  readonly name: string;
  /** Absolute path of the table's folder. */
  readonly tablePath: string;
}

/** A version that Lance cannot read. */
export type ClosedLanceVersion = Pick<LanceVersion, 'version' | 'timestamp' | 'transaction'> &
  Partial<Pick<LanceVersion, 'done'>>;

/** Some fragment has a deletion file: readers and writers must know of them. */
const FLAG_DELETIONS = 1;
/** Files of the dataset lie below base paths. */
const FLAG_BASE_PATHS = 16;
/** A feature that no release of Lance has, of readers or of writers: 1 << 40. */
const FLAG_UNKNOWN = 2 ** 40;
/** The one base path that manifests of branches have: the folder of the table. */
export const TABLE_BASE = 0;
const MINOR = 2;
const TRAILER_BYTES = 16;

/** Lance wants a writer to name itself: without it, it takes the writer for one of its first releases. */
const WRITER = message().text(1, 'dirspace').text(2, '1.0.0');

/**
 * The key of table metadata that holds the incarnation of a table that Lance writes. Each operation of
 * Lance's writers keeps table metadata, so a staged manifest tells which table its writer has read.
 */
export const LANCE_TABLE_KEY = 'dirspace.incarnation';

/** The same bytes for the same version in one release. */
export const lanceManifest = (of: LanceVersion<LanceFragment>): Uint8Array =>
  drained(lanceManifestBytes(of));

/** The same in steps: a table may have many fragments. */
export function* lanceManifestBytes(
  of: LanceVersion<LanceFragment>,
): Generator<undefined, Uint8Array> {
  return file(of, encodedFields(of), ...(yield* membersBehindFields(of)));
}

/**
 * The manifest as this release and then as earlier ones write it, which named neither the encodings of
 * fields nor primary keys.
 */
export function* lanceManifestForms(
  of: LanceVersion<LanceFragment>,
): Generator<undefined, readonly [current: Uint8Array, earlier: Uint8Array]> {
  const others = yield* membersBehindFields(of);
  const earlier = fieldsWith(earlierFieldMembers, of.fields);
  return [file(of, encodedFields(of), ...others), file(of, earlier, ...others)];
}

/**
 * What Lance finds of a version that it cannot read: every reader and writer refuses it and says that the
 * release of Lance is too old for it. Without it they would take the version before it for the newest.
 */
export const closedLanceManifest = (
  of: ClosedLanceVersion,
  tableMetadata: Readonly<Record<string, string>> = {},
): Uint8Array =>
  file(
    of,
    ended(
      message()
        .integer(3, of.version)
        .message(7, timestampMembers(of.timestamp))
        .integer(9, FLAG_UNKNOWN)
        .integer(10, FLAG_UNKNOWN),
      tableMetadata,
    ).finish(),
  );

/**
 * What Lance finds by the path of a table that it does not read by path: every reader and writer refuses
 * it. It is the same for all tables, so that one which is moved or copied keeps it.
 */
export function lanceFence(): Uint8Array {
  fence ??= closedLanceManifest(
    { version: 0, timestamp: FENCE_TIME, transaction: '', done: new Uint8Array() },
    { dirspace: FENCE_NOTE },
  );
  return fence;
}

let fence: Uint8Array | undefined;
/** Cleanup by Lance removes old manifests, also those that it refuses to read rows by: LanceDB's optimize does. */
const FENCE_TIME = Date.UTC(2200, 0, 1);
/** A text for people who open the file. */
const FENCE_NOTE =
  'Lance reads this table over `dirspace serve`, and by its path after `dirspace lance sync`.';

/**
 * Whether an engine of this kind made the manifest, and no program of Lance's. A restore by Lance keeps the name
 * of the writer of what it restores, and names a file of its transaction, which this engine never does.
 */
export function isOwnLanceManifest(bytes: Uint8Array): boolean {
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!found.includes(Buffer.from(WRITER.finish()))) return false;
  if (!found.includes('.txn')) return true;
  try {
    return readLanceManifest(bytes, 'A manifest').transactionFile === '';
  } catch {
    // One of this engine, damaged.
    return true;
  }
}

/** @param members of the manifest, one behind the other */
function file(of: ClosedLanceVersion, ...members: readonly Uint8Array[]): Uint8Array {
  const transaction = of.done instanceof Uint8Array ? of.done : transactionMessage(of).finish();
  const size = members.reduce((sum, { length }) => sum + length, 0);
  // Every byte is written below.
  const bytes = Buffer.allocUnsafeSlow(4 + transaction.length + 4 + size + TRAILER_BYTES);
  bytes.writeUInt32LE(transaction.length, 0);
  bytes.set(transaction, 4);
  const at = 4 + transaction.length;
  let end = bytes.writeUInt32LE(size, at);
  for (const part of members) {
    bytes.set(part, end);
    end += part.length;
  }
  bytes.writeBigUInt64LE(BigInt(at), end);
  bytes.writeUInt16LE(0, end + 8);
  bytes.writeUInt16LE(MINOR, end + 10);
  bytes.set([0x4c, 0x41, 0x4e, 0x43], end + 12);
  return bytes;
}

/**
 * An append without fragments is what a writer one version behind may pass over, whatever it does. At a
 * restore it gives up.
 */
function transactionMessage({ version, transaction, done }: ClosedLanceVersion): ProtoMessage {
  const written = message()
    .integer(1, version - 1)
    .text(2, transaction);
  return done === 'other'
    ? written.message(106, (into) => into.integer(1, version - 1))
    : written.message(100, noMembers);
}

/** Fragments between two steps. */
const FRAGMENTS_A_STEP = 256;

function* membersBehindFields(of: LanceVersion<LanceFragment>): Generator<undefined, Uint8Array[]> {
  const base = of.branch === undefined ? undefined : TABLE_BASE;
  const runs = yield* encodedRuns(of, base);
  const manifest = message();
  let flags = runs.some(({ deletes }) => deletes) ? FLAG_DELETIONS : 0;
  manifest.integer(3, of.version);
  for (const [key, value] of of.schemaMetadata) manifest.message(5, pair(key, value));
  manifest.message(7, timestampMembers(of.timestamp));
  if (of.branch !== undefined) flags += FLAG_BASE_PATHS;
  if (flags > 0) manifest.integer(9, flags);
  const writerFlags = of.writable ? flags : flags + FLAG_UNKNOWN;
  if (writerFlags > 0) manifest.integer(10, writerFlags);
  if (of.nextFragmentId > 0) manifest.integer(11, of.nextFragmentId - 1);
  const { [LANCE_TABLE_KEY]: own, ...others } = of.tableMetadata;
  const named = of.writable && of.table !== undefined;
  const metadata = named ? { ...others, [LANCE_TABLE_KEY]: of.table } : of.tableMetadata;
  const rest = ended(manifest, metadata, of.branch).finish();
  return [...runs.map(({ bytes }) => bytes), rest];
}

/** By the list, which versions that leave the schema alone share. */
const keptFields = new WeakMap<readonly LanceField[], Uint8Array>();

function encodedFields({ fields }: LanceVersion<LanceFragment>): Uint8Array {
  const bytes = keptFields.get(fields) ?? fieldsWith(manifestFieldMembers, fields);
  keptFields.set(fields, bytes);
  return bytes;
}

function fieldsWith(
  membersOf: (field: LanceField) => ProtoMembers,
  fields: readonly LanceField[],
): Uint8Array {
  const written = message();
  for (const field of fields) written.message(1, membersOf(field));
  return written.finish().slice();
}

/** Fragments as members of a manifest, by ascending ids. */
interface EncodedRun {
  readonly bytes: Uint8Array;
  readonly deletes: boolean;
  readonly first: number;
  readonly last: number;
}

/** Of main and of branches, whose fragments name the folder of the table too. */
const keptRuns = [0, 1].map(() => new WeakMap<readonly LanceFragment[], EncodedRun>());

/**
 * By their ids, as Lance lists them: it looks rows up by walking this list once, and misses those of a
 * fragment that stands behind one with a higher id.
 */
function* encodedRuns(
  of: LanceVersion<LanceFragment>,
  base: number | undefined,
): Generator<undefined, EncodedRun[]> {
  // Other names of files and other ids of fields are of one manifest alone.
  const isShared = of.fileName === undefined && of.ids?.lanceIds === undefined;
  const kept = isShared ? keptRuns[base === undefined ? 0 : 1] : undefined;
  const sorted = (): readonly LanceFragment[] =>
    of.fragments.flat().sort((one, other) => one.id - other.id);
  const runs: EncodedRun[] = [];
  for (const fragments of of.fragments) {
    if (fragments.length === 0) continue;
    let run = kept?.get(fragments);
    if (run === undefined) {
      if (!isAscending(fragments)) return [yield* encodedRun(sorted(), of, base)];
      run = yield* encodedRun(fragments, of, base);
      kept?.set(fragments, run);
    }
    if (run.first <= (runs.at(-1)?.last ?? -1)) return [yield* encodedRun(sorted(), of, base)];
    runs.push(run);
  }
  return runs;
}

const isAscending = (fragments: readonly LanceFragment[]): boolean =>
  fragments.every(({ id }, at) => at === 0 || id > (fragments[at - 1] as LanceFragment).id);

function* encodedRun(
  fragments: readonly LanceFragment[],
  { ids, fileName = fragmentName }: LanceVersion<LanceFragment>,
  base: number | undefined,
): Generator<undefined, EncodedRun> {
  const writer = new FragmentWriter(ids, base, fileName);
  for (let at = 0; at < fragments.length; at += FRAGMENTS_A_STEP) {
    if (at > 0) yield;
    writer.add(fragments, at, Math.min(at + FRAGMENTS_A_STEP, fragments.length));
  }
  return {
    bytes: writer.written.finish().slice(),
    deletes: writer.deletes,
    first: fragments[0]?.id ?? 0,
    last: fragments.at(-1)?.id ?? 0,
  };
}

/**
 * Writes fragments as members of a manifest. Most code of a manifest runs here, and in a process that makes its first
 * one it runs before it is compiled: so fragments that differ from the one before in id and file
 * alone are its text with these two replaced, and the platform encodes all of that text at once.
 */
class FragmentWriter {
  readonly written = new ProtoMessage();
  /** Whether a fragment so far has deleted rows. */
  deletes = false;
  readonly #columns: ColumnLists;
  readonly #base: number | undefined;
  readonly #nameOf: (file: string) => string;

  constructor(
    ids: LanceIds | undefined,
    base: number | undefined,
    nameOf: (file: string) => string,
  ) {
    this.#columns = new ColumnLists(ids);
    this.#base = base;
    this.#nameOf = nameOf;
  }

  add(fragments: readonly LanceFragment[], from: number, to: number): void {
    const { written } = this;
    for (let at = from; at < to; ) {
      const first = fragments[at++] as LanceFragment;
      const begin = written.length;
      const start = written.begin(2);
      writeFragment(written, first, this.#columns, this.#base, this.#nameOf);
      written.end(start);
      if (first.deletion !== undefined) this.deletes = true;
      if (at === to || !isLike(fragments[at] as LanceFragment, first)) continue;
      // Behind a member's number and length: the id; behind those of the file and of its name: the name.
      const idAt = written.behindVarint(begin + 1) + 1;
      const idEnd = written.behindVarint(idAt);
      const nameAt = written.behindVarint(written.behindVarint(idEnd + 1) + 1);
      const head = written.latin1(begin, idAt);
      const middle = written.latin1(idEnd, nameAt);
      const tail = written.latin1(nameAt + this.#nameOf(first.file).length, written.length);
      let text = '';
      for (; at < to; at++) {
        const fragment = fragments[at] as LanceFragment;
        if (!isLike(fragment, first)) break;
        text += head + varintText(fragment.id) + middle + this.#nameOf(fragment.file) + tail;
      }
      written.appendLatin1(text);
    }
  }
}

/** Whether two fragments are written with the same bytes but for the id and the file, which take as many. */
function isLike(one: LanceFragment, first: LanceFragment): boolean {
  const [lance, other] = [one.lance as LanceFile, first.lance as LanceFile];
  return (
    one.rows === first.rows &&
    one.overlays === undefined &&
    first.overlays === undefined &&
    one.deletion === undefined &&
    first.deletion === undefined &&
    one.file.length === first.file.length &&
    varintBytes(one.id) === varintBytes(first.id) &&
    lance.fileSize === other.fileSize &&
    (lance.fields === other.fields || areEqual(lance.fields, other.fields))
  );
}

type LanceFile = Extract<LanceEntry, { fileSize: number }>;

/** The members that every manifest ends with. */
function ended(
  manifest: ProtoMessage,
  tableMetadata: Readonly<Record<string, string>>,
  branch?: LanceBranch,
): ProtoMessage {
  manifest.bytes(13, WRITER.finish());
  manifest.message(15, pair('lance', '2.0'));
  if (branch !== undefined) {
    manifest.message(18, (path) => {
      path.integer(1, TABLE_BASE).integer(3, 1).text(4, branch.tablePath);
    });
  }
  for (const [key, value] of Object.entries(tableMetadata)) manifest.message(19, pair(key, value));
  if (branch !== undefined) manifest.text(20, branch.name);
  // Where the transaction stands: newer clients read the one member, older ones the other.
  return manifest.integer(21, 0).integer(23, 0);
}

/** Two texts: a key and a value, a library and its version, a format and its version. */
export const pair =
  (key: string, value: string): ProtoMembers =>
  (into) => {
    into.text(1, key).text(2, value);
  };

const timestampMembers =
  (milliseconds: number): ProtoMembers =>
  (into) => {
    into.integer(1, Math.floor(milliseconds / 1000)).integer(2, (milliseconds % 1000) * 1_000_000);
  };

/** The number that Lance's name of a deletion file has, beside that of the fragment: from our name. */
export const lanceDeletionId = (file: string): bigint =>
  createHash('sha256').update(file).digest().readBigUInt64LE() >> 1n;

/** Deletions stand in every later version, so that their numbers are kept. */
const deletionIds = new WeakMap<object, bigint>();

function deletionId(deletion: LanceDeletionFile): bigint {
  if ('id' in deletion) return deletion.id;
  let id = deletionIds.get(deletion);
  if (id === undefined) {
    id = lanceDeletionId(deletion.file);
    deletionIds.set(deletion, id);
  }
  return id;
}

/** Which field each column of a file is. Most fragments have the same, which is written once. */
export class ColumnLists {
  readonly #ids: LanceIds | undefined;
  #fields: readonly number[] | undefined;
  #members: Uint8Array = new Uint8Array();

  constructor(ids: LanceIds | undefined) {
    this.#ids = ids;
  }

  /** The members of a file that name its columns, with the version of its format behind them. */
  of(fields: readonly number[]): Uint8Array {
    if (this.#fields === undefined || !areEqual(this.#fields, fields)) {
      const ids = this.#ids;
      this.#members = message()
        .packed(2, ids === undefined ? fields : lanceIdsOf(fields, ids))
        .packed(
          3,
          fields.map((_, at) => at),
        )
        .integer(4, 2)
        .integer(5, 0)
        .finish();
      this.#fields = fields;
    }
    return this.#members;
  }
}

function areEqual(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return false;
  return true;
}

/**
 * Writes the members of a fragment: first its id, then its file, whose name comes first.
 * @param base whose data files they are; those of the dataset itself if absent
 */
function writeFragment(
  into: ProtoMessage,
  fragment: LanceFragment,
  columns: ColumnLists,
  base: number | undefined,
  nameOf: (file: string) => string,
): void {
  const { id, deletion, rows } = fragment;
  into.integer(1, id);
  for (const { name, fields, fileSize } of lanceFiles(fragment)) {
    const file = into.begin(2);
    into.text(1, nameOf(name)).append(columns.of(fields)).integer(6, fileSize);
    if (base !== undefined) into.integer(7, base);
    into.end(file);
  }
  if (deletion !== undefined) {
    const deleted = into.begin(3);
    // Below the dataset itself, also on a branch: cleanup by Lance takes deletion files of a table that
    // only its branches name for unused.
    into.integer(2, 0).integer(3, deletionId(deletion)).integer(4, deletion.rows);
    into.end(deleted);
  }
  into.integer(4, rows);
}

/** The same as members of any message. */
export const fragmentMembers =
  (fragment: LanceFragment, columns: ColumnLists, base: number | undefined): ProtoMembers =>
  (into) =>
    writeFragment(into, fragment, columns, base, fragmentName);
