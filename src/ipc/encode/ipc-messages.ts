/**
 * Writes the flatbuffers of Arrow IPC: schema messages (`schemaMessage`), record batch and
 * dictionary messages (`batchMessage`), and the file footer (`footerTable`). `framed` adds the
 * prefix and padding of a message. apache-arrow encodes only the schema messages; with its encoder
 * the other messages would take most of the time of writing a small fragment.
 */

import { Message, MessageHeader, type Schema } from '../../arrow/index.ts';
import { aligned } from './alignment.ts';

/** `ARROW1`, padded to 8 bytes at the head of a file, bare at its end. */
export const MAGIC: Uint8Array = Uint8Array.of(0x41, 0x52, 0x52, 0x4f, 0x57, 0x31);

const VERSION_5 = 4;
/** Of the codecs of a body. */
const ZSTD = 1;
const CONTINUATION = 0xffffffff;

const align8 = (position: number): number => (position + 7) & ~7;

/** The flatbuffer of a schema message. */
export const schemaMessage = (schema: Schema): Uint8Array => Message.encode(Message.from(schema));

export interface BatchMessage {
  readonly rows: number;
  readonly bodyBytes: number;
  /** Length and null count in turn. */
  readonly nodes: readonly number[];
  /** Offset in the body and bytes in turn. */
  readonly buffers: readonly number[];
  readonly views: readonly number[];
  /** Whether each buffer begins with its size before Zstandard compressed it, or with -1. */
  readonly compressed?: boolean | undefined;
  /** Makes it a dictionary batch. */
  readonly dictionary?: number;
}

/** The flatbuffer of a record batch or dictionary batch message. */
export function batchMessage(message: BatchMessage): Uint8Array {
  const { nodes, buffers, views, dictionary, compressed = false } = message;
  const isDictionary = dictionary !== undefined;
  const batch = isDictionary ? 72 : 40;
  const nodesAt = batch + 44;
  const buffersAt = nodesAt + 4 + nodes.length * 8 + 4;
  const viewsAt = buffersAt + 4 + buffers.length * 8 + 4;
  const viewsEnd = views.length === 0 ? viewsAt - 4 : viewsAt + 4 + views.length * 8;
  const compressionAt = align8(viewsEnd);
  const end = compressed ? compressionAt + 16 : viewsEnd;
  const bytes = new Uint8Array(align8(end));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 16, true);
  // Message: version, header type, header, body length.
  vtable(view, 4, 20, [16, 18, 4, 8]);
  table(view, 16, 4);
  view.setUint32(20, (isDictionary ? 52 : batch + 16) - 20, true);
  setLong(view, 24, message.bodyBytes);
  view.setInt16(32, VERSION_5, true);
  view.setUint8(34, isDictionary ? MessageHeader.DictionaryBatch : MessageHeader.RecordBatch);
  if (isDictionary) {
    // DictionaryBatch: id, data. Its table stands 4 bytes past a multiple of 8 to align the id.
    vtable(view, 40, 16, [4, 12]);
    table(view, 52, 40);
    setLong(view, 56, dictionary);
    view.setUint32(64, batch + 16 - 64, true);
  }
  // RecordBatch: length, nodes, buffers, compression, variadic buffer counts.
  const viewsField = views.length === 0 ? 0 : 20;
  if (compressed) vtable(view, batch, 28, [8, 4, 16, 24, viewsField]);
  else vtable(view, batch, 24, views.length === 0 ? [8, 4, 16] : [8, 4, 16, 0, viewsField]);
  table(view, batch + 16, batch);
  view.setUint32(batch + 20, nodesAt - (batch + 20), true);
  setLong(view, batch + 24, message.rows);
  view.setUint32(batch + 32, buffersAt - (batch + 32), true);
  if (views.length > 0) view.setUint32(batch + 36, viewsAt - (batch + 36), true);
  longs(view, nodesAt, nodes, 2);
  longs(view, buffersAt, buffers, 2);
  if (views.length > 0) longs(view, viewsAt, views, 1);
  if (compressed) {
    // BodyCompression: codec, method (absent: each buffer by itself).
    view.setUint32(batch + 40, compressionAt + 8 - (batch + 40), true);
    vtable(view, compressionAt, 8, [4]);
    table(view, compressionAt + 8, compressionAt);
    view.setUint8(compressionAt + 12, ZSTD);
  }
  return bytes;
}

/** Where a message lies in a file. */
export interface Block {
  readonly offset: number;
  /** Bytes of the message with its prefix and padding. */
  readonly metadataBytes: number;
  readonly bodyBytes: number;
}

export interface FooterParts {
  /** The flatbuffer of the schema message. */
  readonly schema: Uint8Array;
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
  /** One entry of custom metadata; its value may tell where the schema message begins. */
  readonly key: string;
  readonly value: (schemaAt: number) => string;
}

/** The footer's flatbuffer. */
export function footerTable(parts: FooterParts): Uint8Array {
  const { dictionaries, batches, schema } = parts;
  const dictionariesAt = 44;
  const batchesAt = dictionariesAt + 8 + dictionaries.length * 24;
  const schemaAt = align8(batchesAt + 4 + batches.length * 24);
  const key = Buffer.from(parts.key);
  const value = Buffer.from(parts.value(schemaAt));
  const metadataAt = align8(schemaAt + schema.length);
  const pairAt = metadataAt + 16;
  const keyAt = pairAt + 12;
  const valueAt = (keyAt + 4 + key.length + 4) & ~3;
  const bytes = new Uint8Array(align8(valueAt + 4 + value.length + 1));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 20, true);
  // Footer: version, schema, dictionaries, record batches, custom metadata.
  vtable(view, 4, 22, [20, 4, 8, 12, 16]);
  table(view, 20, 4);
  view.setUint32(24, schemaAt + schemaTable(schema) - 24, true);
  view.setUint32(28, dictionariesAt - 28, true);
  view.setUint32(32, batchesAt - 32, true);
  view.setUint32(36, metadataAt - 36, true);
  view.setInt16(40, VERSION_5, true);
  blocks(view, dictionariesAt, dictionaries);
  blocks(view, batchesAt, batches);
  bytes.set(schema, schemaAt);
  // One KeyValue, whose vtable stands before it.
  view.setUint32(metadataAt, 1, true);
  view.setUint32(metadataAt + 4, pairAt - (metadataAt + 4), true);
  vtable(view, metadataAt + 8, 12, [4, 8]);
  table(view, pairAt, metadataAt + 8);
  view.setUint32(pairAt + 4, keyAt - (pairAt + 4), true);
  view.setUint32(pairAt + 8, valueAt - (pairAt + 8), true);
  view.setUint32(keyAt, key.length, true);
  bytes.set(key, keyAt + 4);
  view.setUint32(valueAt, value.length, true);
  bytes.set(value, valueAt + 4);
  return bytes;
}

function vtable(view: DataView, at: number, tableBytes: number, fields: readonly number[]): void {
  view.setUint16(at, 4 + fields.length * 2, true);
  view.setUint16(at + 2, tableBytes, true);
  for (const [index, field] of fields.entries()) view.setUint16(at + 4 + index * 2, field, true);
}

const table = (view: DataView, at: number, vtableAt: number): void =>
  view.setInt32(at, at - vtableAt, true);

/** A vector of 64-bit integers, in elements of `each`. */
function longs(view: DataView, at: number, values: readonly number[], each: number): void {
  view.setUint32(at, values.length / each, true);
  for (let index = 0; index < values.length; index += 1) {
    setLong(view, at + 4 + index * 8, values[index] as number);
  }
}

function setLong(view: DataView, at: number, value: number): void {
  view.setUint32(at, value >>> 0, true);
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
}

function blocks(view: DataView, at: number, list: readonly Block[]): void {
  view.setUint32(at, list.length, true);
  for (const [index, block] of list.entries()) {
    const start = at + 4 + index * 24;
    setLong(view, start, block.offset);
    view.setInt32(start + 8, block.metadataBytes, true);
    setLong(view, start + 16, block.bodyBytes);
  }
}

/** A message with its prefix, padded so that what follows it in the file is aligned. */
export function framed(flatbuffer: Uint8Array, offset: number): Uint8Array {
  const end = aligned(offset + 8 + flatbuffer.length);
  const bytes = new Uint8Array(end - offset);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, CONTINUATION, true);
  view.setUint32(4, bytes.length - 8, true);
  bytes.set(flatbuffer, 8);
  return bytes;
}

/** The position of the schema table in a schema message that this process wrote. */
function schemaTable(message: Uint8Array): number {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const root = view.getUint32(0, true);
  const fields = root - view.getInt32(root, true);
  const header = root + view.getUint16(fields + 8, true);
  return header + view.getUint32(header, true);
}
