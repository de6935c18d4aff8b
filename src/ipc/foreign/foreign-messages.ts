/**
 * Parses the message headers (`readMessage`) and the file footer (`readFooter`) of Arrow data from
 * other programs out of their flatbuffers. It throws InvalidInput for bad ones, for big-endian data
 * and for metadata of other versions than 4 and 5; a footer may lack its version. It also makes the
 * errors for Arrow data that is invalid (`invalid`, `refuser`) or too large (`tooLarge`).
 * foreign-schema.ts parses schemas, and foreign-buffers.ts and foreign-columns.ts decode bodies.
 */
import { DirspaceError } from '../../errors.ts';
import { type FlatTable, type Refuse, rootTable } from '../codecs/index.ts';
import type { Block } from '../encode/index.ts';
import { type ForeignSchema, readForeignSchema } from './foreign-schema.ts';

/** Versions of Arrow's metadata, as the format numbers them. */
const VERSION_4 = 3;
const VERSION_5 = 4;

export type Codec = 'lz4' | 'zstd';

/** What a message says of the columns in its body. */
export interface BatchHeader {
  readonly rows: number;
  /** Length and null count in turn. */
  readonly nodes: readonly number[];
  /** Offset in the body and bytes in turn. */
  readonly buffers: readonly number[];
  readonly codec: Codec | undefined;
  /** How many data buffers each view column has. */
  readonly views: readonly number[];
  /** Set for metadata of version 4, whose unions have a validity bitmap. */
  readonly unionValidity: boolean;
}

export type ForeignMessage =
  | { readonly kind: 'schema'; readonly bodyBytes: number; readonly schema: ForeignSchema }
  | { readonly kind: 'batch'; readonly bodyBytes: number; readonly batch: BatchHeader }
  | {
      readonly kind: 'dictionary';
      readonly bodyBytes: number;
      readonly batch: BatchHeader;
      readonly number: number;
      readonly isDelta: boolean;
    };

export interface ForeignFooter {
  readonly schema: ForeignSchema;
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
}

/** The error for bytes that are not what they should be. `what` names the part. */
export const invalid = (what: string, problem: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The Arrow data is not valid: ${what}: ${problem}.`, {
    details: { part: what },
  });

/** @param limit the name of the bound */
export const tooLarge = (problem: string, limit?: string): DirspaceError =>
  new DirspaceError(
    'PayloadTooLarge',
    `The Arrow data is too large: ${problem}.`,
    limit === undefined ? {} : { details: { limit } },
  );

export const refuser =
  (what: string): Refuse =>
  (problem) => {
    throw invalid(what, problem);
  };

/** @throws InvalidInput naming `what` */
export function readMessage(bytes: Uint8Array, what: string): ForeignMessage {
  const refuse = refuser(what);
  const message = rootTable(bytes, refuse);
  versionOf(message, refuse);
  const bodyBytes = message.long(3);
  if (bodyBytes < 0) refuse(`its body has ${bodyBytes} bytes`);
  const header = message.table(2) ?? refuse('its header is missing');
  switch (message.byte(1)) {
    case 1:
      if (bodyBytes !== 0) refuse('a schema has no body');
      return { kind: 'schema', bodyBytes, schema: readForeignSchema(header, refuse) };
    case 2:
      return {
        kind: 'dictionary',
        bodyBytes,
        batch: batchHeader(header.table(1) ?? refuse('its values are missing'), message, refuse),
        number: header.long(0),
        isDelta: header.boolean(2),
      };
    case 3:
      return { kind: 'batch', bodyBytes, batch: batchHeader(header, message, refuse) };
    default:
      return refuse(`it is a message of kind ${message.byte(1)}, which tables do not have`);
  }
}

/** @throws InvalidInput */
export function readFooter(bytes: Uint8Array): ForeignFooter {
  const refuse = refuser('footer');
  const footer = rootTable(bytes, refuse);
  // Writers up to Arrow 0.14 left it out; the messages say what is so.
  if (footer.short(0) !== 0) versionOf(footer, refuse);
  const schema = footer.table(1) ?? refuse('its schema is missing');
  return {
    schema: readForeignSchema(schema, refuse),
    dictionaries: blocksOf(footer, 2),
    batches: blocksOf(footer, 3),
  };
}

function versionOf(table: FlatTable, refuse: Refuse): number {
  const version = table.short(0);
  if (version < VERSION_4 || version > VERSION_5) {
    refuse(`its metadata has version V${version + 1}; only V4 and V5 are supported`);
  }
  return version;
}

const CODECS: readonly Codec[] = ['lz4', 'zstd'];

function batchHeader(table: FlatTable, message: FlatTable, refuse: Refuse): BatchHeader {
  const compression = table.table(3);
  const version = versionOf(message, refuse);
  let codec: Codec | undefined;
  if (compression !== undefined) {
    const [number, method] = [compression.byte(0), compression.byte(1)];
    codec = CODECS[number] ?? refuse(`its compression ${number} is not supported`);
    if (method !== 0) refuse(`its way of compression ${method} is not supported`);
  } else if (version === VERSION_4) codec = namedCodec(message, refuse);
  return {
    rows: table.long(0),
    nodes: table.longs(1, 2),
    buffers: table.longs(2, 2),
    codec,
    views: table.longs(4, 1),
    unionValidity: version < VERSION_5,
  };
}

/** Arrow 0.17 named the codec in the metadata of the message. */
function namedCodec(message: FlatTable, refuse: Refuse): Codec | undefined {
  for (const pair of message.tables(4)) {
    if (pair.text(0) !== 'ARROW:experimental_compression') continue;
    const name = (pair.text(1) ?? '').toLowerCase();
    if (name === 'uncompressed') return undefined;
    return (
      CODECS.find((codec) => codec === name) ??
      refuse(`its compression ${JSON.stringify(name)} is not supported`)
    );
  }
  return undefined;
}

const blocksOf = (footer: FlatTable, index: number): Block[] =>
  footer
    .blocks(index)
    .map(([offset, metadataBytes, bodyBytes]) => ({ offset, metadataBytes, bodyBytes }));
