/**
 * `readLanceManifest` parses a Lance manifest file of any writer (`lanceManifestSteps` in short
 * steps): its trailer, the manifest, the inline transaction and the list of indexes. The file is
 * untrusted: a position or length that does not lie within it throws Corrupt. A newer format and a
 * file of more than 64 MiB throw UnsupportedFormat. Members that it does not know are listed in
 * `unknown`; `strangeToReaders` names one, or a feature flag, without which the rows cannot be
 * read.
 *
 * Source: table.proto of the Lance repository.
 */
import { DirspaceError } from '../../errors.ts';
import { drained } from '../../steps.ts';
import {
  type ParsedBase,
  type ParsedField,
  type ParsedFragment,
  type ParsedIndex,
  parseBase,
  parseField,
  parseFragment,
  parseIndex,
} from './parsed-fragment.ts';
import { type ParsedTransaction, transactionSteps } from './parsed-transaction.ts';
import { ProtoFile, type ProtoReader } from './proto-reader.ts';

/** Largest manifest read, in bytes. */
export const MAX_LANCE_MANIFEST_BYTES = 64 * 1024 * 1024;
/** Feature flags for readers that are understood: deletions, stable row ids, version 2, configuration, base paths, no transaction files. */
const READER_FLAGS = 0b11_1111n;
/** Members that could say that rows lie elsewhere than where they are looked for. */
const DECISIVE = /^(DataFragment|DataFile|DeletionFile|BasePath)\./;
const TRAILER_BYTES = 16;
const LENGTH_BYTES = 4;
const MAX_MAJOR = 0;
const MAX_MINOR = 2;

export interface ParsedManifest {
  readonly version: number;
  /** All fields of the schema, nested ones too, in the order of the file. */
  readonly fields: readonly ParsedField[];
  readonly schemaMetadata: ReadonlyMap<string, string>;
  readonly fragments: readonly ParsedFragment[];
  readonly maxFragmentId: number | undefined;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly tag: string;
  readonly branch: string | undefined;
  readonly readerFlags: bigint;
  readonly writerFlags: bigint;
  readonly writer: { readonly library: string; readonly version: string } | undefined;
  readonly dataFormat: { readonly format: string; readonly version: string } | undefined;
  readonly config: ReadonlyMap<string, string>;
  readonly tableMetadata: ReadonlyMap<string, string>;
  readonly bases: readonly ParsedBase[];
  readonly nextRowId: bigint;
  readonly maxAllocatedFieldId: number | undefined;
  /** Name of the file that holds the transaction once more; empty where there is none. */
  readonly transactionFile: string;
  /** What the writer did; undefined where the manifest does not hold it. */
  readonly transaction: ParsedTransaction | undefined;
  /** The index section as it stands in the file, without its length, in the memory of the file. */
  readonly indexSection: Uint8Array | undefined;
  readonly indexes: readonly ParsedIndex[];
  /** Members that are not understood, such as `Manifest.25`, and how often each stands there. */
  readonly unknown: ReadonlyMap<string, number>;
}

/**
 * Reads a whole manifest file. What it answers refers to the memory of `bytes`.
 * @param file how errors name it
 * @throws Corrupt, UnsupportedFormat for a newer file or one that is too large
 */
export const readLanceManifest = (bytes: Uint8Array, file: string): ParsedManifest =>
  drained(lanceManifestSteps(bytes, file));

/**
 * What a manifest names that readers must know and this release does not, such as `the feature
 * flags 64`. Its rows cannot be read or counted then.
 */
export function strangeToReaders({
  readerFlags,
  unknown,
}: Pick<ParsedManifest, 'readerFlags' | 'unknown'>): string | undefined {
  const flags = readerFlags & ~READER_FLAGS;
  if (flags !== 0n) return `the feature flags ${flags}`;
  const member = [...unknown.keys()].find((key) => DECISIVE.test(key));
  return member === undefined ? undefined : `the member ${member}`;
}

/** As readLanceManifest, in short steps. */
export function* lanceManifestSteps(
  bytes: Uint8Array,
  file: string,
): Generator<undefined, ParsedManifest> {
  const source = new ProtoFile(bytes, file);
  const at = manifestPosition(source);
  const end = bytes.length - TRAILER_BYTES;
  const length = lengthAt(source, at, end, 'Manifest');
  if (at + LENGTH_BYTES + length !== end) {
    const found = end - at - LENGTH_BYTES;
    throw source.fault(`its length is said to be ${length}, and it is ${found}`, at, 'Manifest');
  }
  const found = yield* members(source.message('Manifest', at + LENGTH_BYTES, length));
  const { transactionAt, indexesAt, ...manifest } = found;
  let transaction: ParsedTransaction | undefined;
  if (transactionAt !== undefined) {
    transaction = yield* transactionSteps(section(source, transactionAt, at, 'Transaction'));
  }
  const indexes: ParsedIndex[] = [];
  let indexSection: Uint8Array | undefined;
  if (indexesAt !== undefined) {
    const list = section(source, indexesAt, at, 'IndexSection');
    indexSection = list.content;
    while (list.next()) {
      if (list.member === 1) indexes.push(parseIndex(list.item('IndexMetadata')));
      else list.skip();
      yield;
    }
  }
  return { ...manifest, transaction, indexSection, indexes, unknown: source.unknown };
}

interface Members
  extends Omit<ParsedManifest, 'transaction' | 'indexSection' | 'indexes' | 'unknown'> {
  readonly transactionAt: number | undefined;
  readonly indexesAt: number | undefined;
}

function* members(message: ProtoReader): Generator<undefined, Members> {
  const fields: ParsedField[] = [];
  const fragments: ParsedFragment[] = [];
  const schemaMetadata = new Map<string, string>();
  const config = new Map<string, string>();
  const tableMetadata = new Map<string, string>();
  const bases: ParsedBase[] = [];
  let version = 0;
  let indexesAt: number | undefined;
  let timestamp = 0;
  let tag = '';
  let readerFlags = 0n;
  let writerFlags = 0n;
  let maxFragmentId: number | undefined;
  let transactionFile = '';
  let writer: Members['writer'];
  let nextRowId = 0n;
  let dataFormat: Members['dataFormat'];
  let branch: string | undefined;
  let transactionAt: number | undefined;
  let maxAllocatedFieldId: number | undefined;
  while (message.next()) {
    switch (message.member) {
      case 1:
        fields.push(parseField(message.item('Field')));
        break;
      case 2:
        fragments.push(parseFragment(message.item('DataFragment')));
        break;
      case 3:
        version = message.uint();
        break;
      case 5:
        message.entry(schemaMetadata);
        break;
      case 6:
        indexesAt = message.uint();
        break;
      case 7:
        timestamp = parseTimestamp(message.part('Timestamp'));
        break;
      case 8:
        tag = message.text();
        break;
      case 9:
        readerFlags = message.uint64();
        break;
      case 10:
        writerFlags = message.uint64();
        break;
      case 11:
        maxFragmentId = message.uint();
        break;
      case 12:
        transactionFile = message.text();
        break;
      case 13: {
        const [library, number] = parseTexts(message.part('WriterVersion'), 4);
        writer = { library: library as string, version: number as string };
        break;
      }
      case 14:
        nextRowId = message.uint64();
        break;
      case 15: {
        const [format, number] = parseTexts(message.part('DataStorageFormat'), 2);
        dataFormat = { format: format as string, version: number as string };
        break;
      }
      case 16:
        message.entry(config);
        break;
      case 18:
        bases.push(parseBase(message.item('BasePath')));
        break;
      case 19:
        message.entry(tableMetadata);
        break;
      case 20:
        branch = message.text();
        break;
      // Older writers use the one member, newer ones the other, and some write both.
      case 21:
      case 23: {
        const position = message.uint();
        if (transactionAt !== undefined && transactionAt !== position) {
          throw message.fault(`two transactions, at ${transactionAt} and ${position}`);
        }
        transactionAt = position;
        break;
      }
      case 24:
        maxAllocatedFieldId = message.int32();
        break;
      default:
        message.skip();
    }
    yield;
  }
  return {
    version,
    fields,
    schemaMetadata,
    fragments,
    maxFragmentId,
    timestamp,
    tag,
    branch,
    readerFlags,
    writerFlags,
    writer,
    dataFormat,
    config,
    tableMetadata,
    bases,
    nextRowId,
    maxAllocatedFieldId,
    transactionFile,
    transactionAt,
    indexesAt,
  };
}

function manifestPosition(source: ProtoFile): number {
  const { bytes, name } = source;
  if (bytes.length > MAX_LANCE_MANIFEST_BYTES) {
    throw new DirspaceError(
      'UnsupportedFormat',
      `The Lance manifest ${name} has ${bytes.length} bytes; at most ${MAX_LANCE_MANIFEST_BYTES} are read. Compact the table with Lance, so that it has fewer fragments.`,
      { details: { file: name } },
    );
  }
  const end = bytes.length - TRAILER_BYTES;
  if (end < LENGTH_BYTES) {
    throw source.fault(`${bytes.length} bytes are no Lance manifest`, 0, 'trailer');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset + end, TRAILER_BYTES);
  if (view.getUint32(12, false) !== 0x4c414e43) {
    throw source.fault('it does not end with LANC', end + 12, 'trailer');
  }
  const major = view.getUint16(8, true);
  const minor = view.getUint16(10, true);
  if (major > MAX_MAJOR || minor > MAX_MINOR) {
    throw new DirspaceError(
      'UnsupportedFormat',
      `The Lance manifest ${name} has the format ${major}.${minor}; this release reads up to ${MAX_MAJOR}.${MAX_MINOR}.`,
      { details: { file: name } },
    );
  }
  const at = view.getBigUint64(0, true);
  if (at > BigInt(end - LENGTH_BYTES)) {
    throw source.fault(`the manifest is said to stand at ${at}`, end, 'trailer');
  }
  return Number(at);
}

/** A message with its length in front, which ends before the manifest. */
function section(source: ProtoFile, at: number, end: number, name: string): ProtoReader {
  if (at + LENGTH_BYTES > end) throw source.fault('it is outside of the file', at, name);
  const length = lengthAt(source, at, end, name);
  return source.message(name, at + LENGTH_BYTES, length);
}

function lengthAt(source: ProtoFile, at: number, end: number, member: string): number {
  const { bytes } = source;
  const length = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(at, true);
  if (length > end - at - LENGTH_BYTES) {
    throw source.fault(`${length} bytes, where ${end - at - LENGTH_BYTES} are left`, at, member);
  }
  return length;
}

/** Seconds and nanoseconds. */
function parseTimestamp(message: ProtoReader): number {
  let seconds = 0;
  let nanoseconds = 0;
  while (message.next()) {
    if (message.member === 1) seconds = message.uint();
    else if (message.member === 2) nanoseconds = message.int32();
    else message.skip();
  }
  return seconds * 1000 + Math.floor(nanoseconds / 1e6);
}

/** The texts of the members 1 to `count`. */
function parseTexts(message: ProtoReader, count: number): string[] {
  const texts = Array.from({ length: count }, () => '');
  while (message.next()) {
    if (message.member <= count) texts[message.member - 1] = message.text();
    else message.skip();
  }
  return texts;
}
