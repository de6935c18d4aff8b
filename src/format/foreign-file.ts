/**
 * Arrow IPC files from outside, held whole in memory: the footer says where messages lie, and is
 * not believed. Knows nothing of where the bytes come from.
 */
import { type RecordBatch, type RecordBatchStream, recordBatchStream } from '../arrow.ts';
import { type BatchLimits, ForeignBatches } from './foreign-batches.ts';
import {
  type ForeignBlock,
  type ForeignMessage,
  invalid,
  readFooter,
  readMessage,
} from './foreign-messages.ts';
import { MAGIC } from './ipc-messages.ts';

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
  checkBlocks([...footer.dictionaries, ...footer.batches], footerAt);
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

/** Blocks lie before the footer and, taken together, are no longer than that. */
function checkBlocks(blocks: readonly ForeignBlock[], end: number): void {
  let total = HEAD_BYTES;
  for (const [at, { offset, metadataBytes, bodyBytes }] of blocks.entries()) {
    const bytes = metadataBytes + bodyBytes;
    total += bytes;
    if (offset < HEAD_BYTES || metadataBytes < 4 || bodyBytes < 0 || offset + bytes > end) {
      throw invalid('footer', `its block ${at} lies outside of the file`);
    }
  }
  if (total > end) throw invalid('footer', 'its blocks overlap');
}

function messageAt(
  bytes: Uint8Array,
  block: ForeignBlock,
  what: string,
): { message: ForeignMessage; body: Uint8Array } {
  const bodyAt = block.offset + block.metadataBytes;
  const metadata = bytes.subarray(block.offset, bodyAt);
  const view = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const continued = view.getInt32(0, true) === CONTINUATION && metadata.length >= 8;
  const prefix = continued ? 8 : 4;
  const length = view.getInt32(prefix - 4, true);
  if (length <= 0 || prefix + length > metadata.length) {
    throw invalid(what, `its length is ${length} in a block of ${metadata.length} bytes`);
  }
  const message = readMessage(metadata.subarray(prefix, prefix + length), what);
  if (message.bodyBytes > block.bodyBytes) {
    throw invalid(what, `its body has ${message.bodyBytes} bytes, its block ${block.bodyBytes}`);
  }
  return { message, body: bytes.subarray(bodyAt, bodyAt + message.bodyBytes) };
}

const wrongKind = (what: string, kind: string): Error => invalid(what, `it is a ${kind} message`);
