/**
 * Arrow IPC files from outside, held whole in memory: the footer says where messages lie, and is
 * not believed. What stands between messages is the writer's matter, as long as it is no message.
 * Knows nothing of where the bytes come from.
 */
import {
  apart,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
} from '../../arrow/index.ts';
import { type Pause, runSteps } from '../../steps.ts';
import { type Block, MAGIC } from '../encode/index.ts';
import { type BatchLimits, ForeignBatches } from './foreign-batches.ts';
import {
  type ForeignFooter,
  type ForeignMessage,
  invalid,
  readFooter,
  readMessage,
} from './foreign-messages.ts';
import { dictionaryDepths } from './foreign-schema.ts';
import { findMessage } from './unlisted-batches.ts';

/** The magic at the head with the least padding, and the length and magic at the end. */
const HEAD_BYTES = 8;
const TAIL_BYTES = 4 + MAGIC.length;
const CONTINUATION = -1;

/** @throws InvalidInput naming the part; the batches throw it too, as they are read */
export async function openForeignFile(
  bytes: Uint8Array,
  limits: BatchLimits & { readonly pause: Pause },
): Promise<RecordBatchStream> {
  const tailAt = bytes.length - TAIL_BYTES;
  if (tailAt < HEAD_BYTES || Buffer.compare(bytes.subarray(tailAt + 4), MAGIC) !== 0) {
    throw invalid('footer', 'the file does not end as Arrow files do, so it may be cut off');
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getInt32(tailAt, true);
  const footerAt = tailAt - length;
  if (length <= 0 || footerAt < HEAD_BYTES) throw invalid('footer', `its length is ${length}`);
  const footer = readFooter(bytes.subarray(footerAt, tailAt));
  await checkBlocks(bytes, [...footer.dictionaries, ...footer.batches], footerAt);
  const { schema } = footer.schema;
  return recordBatchStream(schema, {
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      const batches = new ForeignBatches(footer.schema, limits);
      const { pause } = limits;
      try {
        await readDictionaries(bytes, footer, batches, pause);
        for (const [at, block] of footer.batches.entries()) {
          const { message, body } = messageAt(bytes, block, `record batch ${at}`);
          if (message.kind !== 'batch') throw wrongKind(`record batch ${at}`, message.kind);
          const steps = batches.batch(message.batch, limits.apart ? apart(body) : body);
          yield await runSteps(steps, pause);
        }
      } finally {
        batches.end();
      }
    },
  });
}

/** All dictionaries, those within others first: the footer may list them in any order. */
async function readDictionaries(
  bytes: Uint8Array,
  footer: ForeignFooter,
  batches: ForeignBatches,
  pause: Pause,
): Promise<void> {
  const depths = dictionaryDepths(footer.schema);
  const known = new Set<number>();
  const found = footer.dictionaries.map((block, at) => {
    const what = `dictionary batch ${at}`;
    const { message, body } = messageAt(bytes, block, what);
    if (message.kind !== 'dictionary') throw wrongKind(what, message.kind);
    // Batches would be read with the last one, and those written before it would change.
    if (!message.isDelta && known.has(message.number)) {
      throw invalid(what, `it replaces dictionary ${message.number}, which a file cannot do`);
    }
    known.add(message.number);
    return { message, body, depth: depths.get(message.number) ?? 0 };
  });
  for (const { message, body } of found.sort((a, b) => a.depth - b.depth)) {
    await runSteps(batches.dictionary(message, body), pause);
  }
}

/**
 * Blocks lie between the head of the file and the footer and share no byte: blocks that overlap
 * could multiply the work. No message of rows lies outside of them: it would be rows lost that
 * nothing else tells of.
 */
async function checkBlocks(
  bytes: Uint8Array,
  blocks: readonly Block[],
  footerAt: number,
): Promise<void> {
  let end = HEAD_BYTES;
  for (const block of [...blocks].sort((a, b) => a.offset - b.offset)) {
    const { offset, metadataBytes, bodyBytes } = block;
    const next = offset + metadataBytes + bodyBytes;
    if (metadataBytes < 4 || bodyBytes < 0 || next > footerAt) {
      throw invalid('footer', `a block leads from byte ${offset} to ${next} of ${footerAt}`);
    }
    if (offset < end) throw invalid('footer', `its blocks overlap at byte ${offset}`);
    await checkGap(bytes, end, offset);
    end = next;
  }
  await checkGap(bytes, end, footerAt);
}

async function checkGap(bytes: Uint8Array, from: number, to: number): Promise<void> {
  const found = await findMessage(bytes, from, to);
  if (found !== undefined) {
    throw invalid('footer', `it does not list the rows or dictionary at byte ${found}`);
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
