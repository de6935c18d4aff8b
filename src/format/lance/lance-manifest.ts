/**
 * The manifest of one version as Lance reads it: `lance.table.Manifest` with the transaction that made it,
 * in a file of its own. Source: table.proto and transaction.proto of the Lance repository.
 */
import { createHash } from 'node:crypto';
import { type FragmentEntry, fragmentName, type LanceEntry } from '../catalog/index.ts';
import { fieldMessage, type LanceField } from './lance-fields.ts';
import { message, type ProtoMessage } from './protobuf.ts';

/** One version of a table. All its fragments have a Lance part. */
export interface LanceVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly fields: readonly LanceField[];
  readonly schemaMetadata: ReadonlyMap<string, string>;
  readonly tableMetadata: Readonly<Record<string, string>>;
  readonly fragments: readonly FragmentEntry[];
  readonly nextFragmentId: number;
  readonly transaction: string;
  /** False sets a flag that no writer of Lance knows, so that all of them refuse to write. */
  readonly writable: boolean;
}

/** Some fragment has a deletion file: readers and writers must know of them. */
const FLAG_DELETIONS = 1;
/** A writer's feature that no release of Lance has: 1 << 40. */
const FLAG_READ_ONLY = 2 ** 40;
const MINOR = 2;
const TRAILER_BYTES = 16;

/** Lance wants a writer to name itself: without it, it takes the writer for one of its first releases. */
const WRITER_VERSION = '1.0.0';

/** The same bytes for the same version, whatever release makes them. */
export function lanceManifest(of: LanceVersion): Uint8Array {
  const transaction = transactionMessage(of).finish();
  const manifest = manifestMessage(of).finish();
  const bytes = new Uint8Array(4 + transaction.length + 4 + manifest.length + TRAILER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, transaction.length, true);
  bytes.set(transaction, 4);
  const at = 4 + transaction.length;
  view.setUint32(at, manifest.length, true);
  bytes.set(manifest, at + 4);
  const end = at + 4 + manifest.length;
  view.setBigUint64(end, BigInt(at), true);
  view.setUint16(end + 8, 0, true);
  view.setUint16(end + 10, MINOR, true);
  bytes.set([0x4c, 0x41, 0x4e, 0x43], end + 12);
  return bytes;
}

/** An append without fragments: what a writer one version behind may pass over, whatever it does. */
const transactionMessage = (of: LanceVersion): ProtoMessage =>
  message()
    .integer(1, of.version - 1)
    .text(2, of.transaction)
    .message(100, message());

function manifestMessage(of: LanceVersion): ProtoMessage {
  const manifest = message();
  for (const field of of.fields) manifest.message(1, fieldMessage(field));
  let flags = 0;
  for (const fragment of of.fragments) {
    manifest.bytes(2, fragmentBytes(fragment));
    if (fragment.deletion !== undefined) flags = FLAG_DELETIONS;
  }
  manifest.integer(3, of.version);
  for (const [key, value] of of.schemaMetadata) manifest.message(5, pair(key, value));
  manifest.message(7, timestampMessage(of.timestamp));
  if (flags > 0) manifest.integer(9, flags);
  const writerFlags = of.writable ? flags : flags + FLAG_READ_ONLY;
  if (writerFlags > 0) manifest.integer(10, writerFlags);
  if (of.nextFragmentId > 0) manifest.integer(11, of.nextFragmentId - 1);
  manifest.message(13, message().text(1, 'dirspace').text(2, WRITER_VERSION));
  manifest.message(15, message().text(1, 'lance').text(2, '2.0'));
  for (const [key, value] of Object.entries(of.tableMetadata)) {
    manifest.message(19, pair(key, value));
  }
  // Where the transaction stands: newer clients read the one member, older ones the other.
  return manifest.integer(21, 0).integer(23, 0);
}

const pair = (key: string, value: string): ProtoMessage => message().text(1, key).text(2, value);

const timestampMessage = (milliseconds: number): ProtoMessage =>
  message()
    .integer(1, Math.floor(milliseconds / 1000))
    .integer(2, (milliseconds % 1000) * 1_000_000);

/** The number that Lance's name of a deletion file has, beside that of the fragment: from our name. */
export const lanceDeletionId = (file: string): bigint =>
  createHash('sha256').update(file).digest().readBigUInt64LE() >> 1n;

/** Fragments stand in every later version, so that their bytes are kept. */
const known = new WeakMap<FragmentEntry, Uint8Array>();

function fragmentBytes(fragment: FragmentEntry): Uint8Array {
  let bytes = known.get(fragment);
  if (bytes === undefined) {
    bytes = fragmentMessage(fragment).finish();
    known.set(fragment, bytes);
  }
  return bytes;
}

function fragmentMessage(fragment: FragmentEntry): ProtoMessage {
  const { lance, deletion } = fragment;
  const { fields, fileSize } = lance as Extract<LanceEntry, { fileSize: number }>;
  const file = message()
    .text(1, fragmentName(fragment.file))
    .packed(2, fields)
    .packed(
      3,
      fields.map((_, at) => at),
    )
    .integer(4, 2)
    .integer(5, 0)
    .integer(6, fileSize);
  const written = message().integer(1, fragment.id).message(2, file);
  if (deletion !== undefined) {
    const id = lanceDeletionId(deletion.file);
    written.message(3, message().integer(2, 0).integer(3, id).integer(4, deletion.rows));
  }
  return written.integer(4, fragment.rows);
}
