/**
 * Arrow IPC files from outside, held whole in memory: the footer says where messages lie, and is
 * not believed. Knows nothing of where the bytes come from.
 */
import { type RecordBatch, type RecordBatchStream, recordBatchStream } from '../arrow.ts';
import { type BatchLimits, ForeignBatches } from './foreign-batches.ts';
import { type ForeignMessage, invalid, readFooter, readMessage } from './foreign-messages.ts';
import { type Block, MAGIC } from './ipc-messages.ts';

/** The magic at the head with its padding, and the length and magic at the end. */
const HEAD_BYTES = 8;
const TAIL_BYTES = 4 + MAGIC.length;
const CONTINUATION = -1;

/** @throws InvalidInput naming the part; the batches throw it too, as they are read */
export function openForeignFile(bytes: Uint8Array, limits: BatchLimits): RecordBatchStream {
  const tailAt = bytes.length - TAIL_BYTES;
  if (tailAt < HEAD_BYTES || Buffer.compare(bytes.subarray(tailAt + 4), MAGIC) !== 0) {
    throw invalid('footer', 'the file does not end as Arrow files do, so it may be cut off');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getInt32(tailAt, true);
  const footerAt = tailAt - length;
  if (length <= 0 || footerAt < HEAD_BYTES) throw invalid('footer', `its length is ${length}`);
  const footer = readFooter(bytes.subarray(footerAt, tailAt));
  checkBlocks(bytes, [...footer.dictionaries, ...footer.batches], footerAt);
  const { schema } = footer.schema;
  return recordBatchStream(schema, {
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      const batches = new ForeignBatches(footer.schema, limits);
      for (const [at, block] of footer.dictionaries.entries()) {
        const { message, body } = messageAt(bytes, block, `dictionary batch ${at}`);
        if (message.kind !== 'dictionary') throw wrongKind(`dictionary batch ${at}`, message.kind);
        batches.dictionary(message, body);
      }
      for (const [at, block] of footer.batches.entries()) {
        const { message, body } = messageAt(bytes, block, `record batch ${at}`);
        if (message.kind !== 'batch') throw wrongKind(`record batch ${at}`, message.kind);
        yield batches.batch(message.batch, body);
      }
    },
  });
}

/** Messages begin and end at multiples of this at most. */
const ALIGNMENT = 64;
const END_OF_STREAM_BYTES = 8;

/**
 * Blocks follow each other from the head of the file to the footer. One left out would be a loss
 * of rows that nothing else tells of, and blocks that overlap could multiply the work.
 */
function checkBlocks(bytes: Uint8Array, blocks: readonly Block[], footerAt: number): void {
  const inOrder = [...blocks].sort((a, b) => a.offset - b.offset);
  let end = HEAD_BYTES;
  // Most writers repeat the schema as the first message, which the footer does not list.
  if ((inOrder[0]?.offset ?? footerAt) > HEAD_BYTES) {
    const { at, length } = prefixAt(bytes, HEAD_BYTES);
    end = at + Math.max(0, length);
  }
  for (const { offset, metadataBytes, bodyBytes } of inOrder) {
    if (metadataBytes < 4 || bodyBytes < 0 || offset < end || offset - end >= ALIGNMENT) {
      throw invalid('footer', `its blocks do not cover the file from byte ${end} on`);
    }
    end = offset + metadataBytes + bodyBytes;
  }
  if (end > footerAt || footerAt - end >= ALIGNMENT + END_OF_STREAM_BYTES) {
    throw invalid('footer', `its blocks end at byte ${end}, itself begins at ${footerAt}`);
  }
}

/** Where a message begins after its prefix, and its length, as they stand in the bytes. */
function prefixAt(bytes: Uint8Array, offset: number): { at: number; length: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = view.getInt32(offset, true);
  if (first !== CONTINUATION || offset + 8 > bytes.length) return { at: offset + 4, length: first };
  return { at: offset + 8, length: view.getInt32(offset + 4, true) };
}

function messageAt(
  bytes: Uint8Array,
  block: Block,
  what: string,
): { message: ForeignMessage; body: Uint8Array } {
  const bodyAt = block.offset + block.metadataBytes;
  const { at, length } = prefixAt(bytes, block.offset);
  if (length <= 0 || at + length > bodyAt) {
    throw invalid(what, `its length is ${length} in a block of ${block.metadataBytes} bytes`);
  }
  const message = readMessage(bytes.subarray(at, at + length), what);
  if (message.bodyBytes > block.bodyBytes) {
    throw invalid(what, `its body has ${message.bodyBytes} bytes, its block ${block.bodyBytes}`);
  }
  return { message, body: bytes.subarray(bodyAt, bodyAt + message.bodyBytes) };
}

const wrongKind = (what: string, kind: string): Error => invalid(what, `it is a ${kind} message`);
