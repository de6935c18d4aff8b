/**
 * Parses messages in Lance's manifests, transactions and data files. There is one function for each
 * kind of message, such as `parseFragment`, `parseField` and `parseIndex`. A malformed message
 * throws Corrupt. The results hold the values as the file states them; callers check whether they
 * fit together.
 *
 * Source: table.proto and file.proto of the Lance repository.
 */
import type { LanceField } from './lance-fields.ts';
import type { ProtoReader } from './proto-reader.ts';

/** A part that is read in one go. */
const MAX_PART_BYTES = 4 * 1024 * 1024;

export interface ParsedField extends LanceField {
  /** Said to be part of a key that nothing enforces. */
  readonly primaryKey: boolean;
}

export interface ParsedDataFile {
  /** Below the `data` folder of the table or of its base. */
  readonly path: string;
  /** Ids of the fields that it holds; -2 where the field has gone to another file. */
  readonly fields: readonly number[];
  /** The column of each of them in the file; -1 where it has none of its own. */
  readonly columns: readonly number[];
  readonly majorVersion: number;
  readonly minorVersion: number;
  /** 0 where it is not known. */
  readonly fileSize: number;
  /** Which of the base paths it lies under; undefined for the table's own folder. */
  readonly base: number | undefined;
}

export interface ParsedDeletion {
  readonly kind: 'arrow' | 'bitmap';
  readonly readVersion: bigint;
  readonly id: bigint;
  readonly rows: number;
  readonly base: number | undefined;
}

/** A sequence of numbers, one for each row, in the manifest or in a file of its own. */
export type ParsedSequence =
  | { readonly inline: Uint8Array }
  | { readonly path: string; readonly offset: number; readonly size: number };

export interface ParsedFragment {
  readonly id: number;
  readonly files: readonly ParsedDataFile[];
  readonly deletion: ParsedDeletion | undefined;
  /** Rows of its files, deleted ones too. */
  readonly physicalRows: number;
  readonly rowIds: ParsedSequence | undefined;
  readonly lastUpdatedVersions: ParsedSequence | undefined;
  readonly createdVersions: ParsedSequence | undefined;
  /** Files that replace single values. */
  readonly overlays: number;
  /** The message as it stands in the file, in the memory of the file. */
  readonly message: Uint8Array;
}

export interface ParsedIndex {
  /** 32 hexadecimal digits. */
  readonly uuid: string;
  readonly fields: readonly number[];
  readonly name: string;
  readonly datasetVersion: number;
  /** Which fragments it covers: a roaring bitmap, in the memory of the file. */
  readonly fragmentBitmap: Uint8Array | undefined;
  /** The message as it stands in the file, in the memory of the file. */
  readonly message: Uint8Array;
}

export interface ParsedBase {
  readonly id: number;
  readonly name: string | undefined;
  readonly isDatasetRoot: boolean;
  readonly path: string;
}

export function parseField(message: ProtoReader): ParsedField {
  const metadata = new Map<string, string>();
  let id = 0;
  let parent = 0;
  let name = '';
  let logicalType = '';
  let nullable = false;
  let dictionary = false;
  let primaryKey = false;
  message.atMost(MAX_PART_BYTES);
  while (message.next()) {
    switch (message.member) {
      case 1:
        // Always 0 in what newer writers write: nesting comes from `parent`.
        message.uint();
        break;
      case 2:
        name = message.text();
        break;
      case 3:
        id = message.int32();
        break;
      case 4:
        parent = message.int32();
        break;
      case 5:
        logicalType = message.text();
        break;
      case 6:
        nullable = message.bool();
        break;
      case 7:
        // The encoding of legacy files.
        message.uint();
        break;
      case 8:
        message.raw();
        dictionary = true;
        break;
      case 9:
        message.text();
        break;
      case 10:
        message.entry(metadata);
        break;
      case 11:
        // Where releases before 0.39 kept the values: `blob` is a data set of its own.
        if (!/^(default)?$/.test(message.text())) message.skip();
        break;
      case 12:
        primaryKey = message.bool();
        break;
      case 13:
        message.uint();
        break;
      default:
        message.skip();
    }
  }
  return { id, parent, name, logicalType, nullable, metadata, dictionary, primaryKey };
}

export function parseFragment(message: ProtoReader): ParsedFragment {
  const files: ParsedDataFile[] = [];
  let id = 0;
  let physicalRows = 0;
  let deletion: ParsedDeletion | undefined;
  let rowIds: ParsedSequence | undefined;
  let lastUpdatedVersions: ParsedSequence | undefined;
  let createdVersions: ParsedSequence | undefined;
  let overlays = 0;
  message.atMost(MAX_PART_BYTES);
  while (message.next()) {
    switch (message.member) {
      case 1:
        id = message.uint();
        break;
      case 2:
        files.push(parseDataFile(message.item('DataFile')));
        break;
      case 3:
        deletion = parseDeletion(message.part('DeletionFile'));
        break;
      case 4:
        physicalRows = message.uint();
        break;
      case 5:
      case 6:
        if (rowIds !== undefined) throw message.fault('row ids stand there twice');
        rowIds = sequence(message, message.member === 5);
        break;
      case 7:
      case 8:
        if (lastUpdatedVersions !== undefined) throw message.fault('versions stand there twice');
        lastUpdatedVersions = sequence(message, message.member === 7);
        break;
      case 9:
      case 10:
        if (createdVersions !== undefined) throw message.fault('versions stand there twice');
        createdVersions = sequence(message, message.member === 9);
        break;
      case 11:
        overlays += 1;
        break;
      default:
        message.skip();
    }
  }
  return {
    id,
    files,
    deletion,
    physicalRows,
    rowIds,
    lastUpdatedVersions,
    createdVersions,
    overlays,
    message: message.content,
  };
}

export function parseDataFile(message: ProtoReader): ParsedDataFile {
  let path = '';
  let fields: readonly number[] = [];
  let columns: readonly number[] = [];
  let majorVersion = 0;
  let minorVersion = 0;
  let fileSize = 0;
  let base: number | undefined;
  while (message.next()) {
    switch (message.member) {
      case 1:
        path = message.text();
        break;
      case 2:
        fields = message.int32s(fields);
        break;
      case 3:
        columns = message.int32s(columns);
        break;
      case 4:
        majorVersion = message.uint();
        break;
      case 5:
        minorVersion = message.uint();
        break;
      case 6:
        fileSize = message.uint();
        break;
      case 7:
        base = message.uint();
        break;
      default:
        message.skip();
    }
  }
  return { path, fields, columns, majorVersion, minorVersion, fileSize, base };
}

function parseDeletion(message: ProtoReader): ParsedDeletion {
  let kind: ParsedDeletion['kind'] = 'arrow';
  let readVersion = 0n;
  let id = 0n;
  let rows = 0;
  let base: number | undefined;
  while (message.next()) {
    switch (message.member) {
      case 1: {
        const value = message.uint();
        if (value > 1) message.skip(value);
        else kind = value === 1 ? 'bitmap' : 'arrow';
        break;
      }
      case 2:
        readVersion = message.uint64();
        break;
      case 3:
        id = message.uint64();
        break;
      case 4:
        rows = message.uint();
        break;
      case 7:
        base = message.uint();
        break;
      default:
        message.skip();
    }
  }
  return { kind, readVersion, id, rows, base };
}

function sequence(message: ProtoReader, isInline: boolean): ParsedSequence {
  if (isInline) return { inline: message.raw() };
  const file = message.part('ExternalFile');
  let path = '';
  let offset = 0;
  let size = 0;
  while (file.next()) {
    if (file.member === 1) path = file.text();
    else if (file.member === 2) offset = file.uint();
    else if (file.member === 3) size = file.uint();
    else file.skip();
  }
  return { path, offset, size };
}

export function parseIndex(message: ProtoReader): ParsedIndex {
  let uuid = '';
  let fields: readonly number[] = [];
  let name = '';
  let datasetVersion = 0;
  let fragmentBitmap: Uint8Array | undefined;
  message.atMost(MAX_PART_BYTES);
  while (message.next()) {
    switch (message.member) {
      case 1:
        uuid = parseUuid(message.part('UUID'));
        break;
      case 2:
        fields = message.int32s(fields);
        break;
      case 3:
        name = message.text();
        break;
      case 4:
        datasetVersion = message.uint();
        break;
      case 5:
        fragmentBitmap = message.raw();
        break;
      // What only the reader of the index needs: details, versions, dates, its base, its files.
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        break;
      default:
        message.skip();
    }
  }
  return { uuid, fields, name, datasetVersion, fragmentBitmap, message: message.content };
}

function parseUuid(message: ProtoReader): string {
  let uuid = '';
  while (message.next()) {
    if (message.member !== 1) message.skip();
    else {
      const bytes = message.raw();
      if (bytes.length !== 16) throw message.fault(`a UUID of ${bytes.length} bytes`);
      uuid = Buffer.from(bytes).toString('hex');
    }
  }
  return uuid;
}

export function parseBase(message: ProtoReader): ParsedBase {
  let id = 0;
  let name: string | undefined;
  let isDatasetRoot = false;
  let path = '';
  while (message.next()) {
    if (message.member === 1) id = message.uint();
    else if (message.member === 2) name = message.text();
    else if (message.member === 3) isDatasetRoot = message.bool();
    else if (message.member === 4) path = message.text();
    else message.skip();
  }
  return { id, name, isDatasetRoot, path };
}
