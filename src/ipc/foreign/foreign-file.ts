/**
 * `openForeignFile` opens an Arrow IPC file of another program, in memory (`bytesInMemory`) or by
 * ranges (`FileBytes`), as a stream of record batches that can be read again. Faults throw
 * InvalidInput and sizes beyond the limits throw PayloadTooLarge, also while record batches are
 * read. A file with a record batch or dictionary that its footer does not list is refused with
 * InvalidInput (unlisted-batches.ts).
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
  tooLarge,
} from './foreign-messages.ts';
import { dictionaryDepths } from './foreign-schema.ts';
import { findMessage } from './unlisted-batches.ts';

/** The magic at the head with the least padding, and the length and magic at the end. */
const HEAD_BYTES = 8;
const TAIL_BYTES = 4 + MAGIC.length;
const CONTINUATION = -1;

/** The bytes of a file, of which any range can be read; they must stay the same. */
export interface FileBytes {
  readonly size: number;
  /** Those from `from` to before `to`; fewer where the file has become shorter. */
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>;
  /** Most bytes to read at once where nothing else bounds it. */
  readonly piece: number;
}

export const bytesInMemory = (bytes: Uint8Array): FileBytes => ({
  size: bytes.length,
  read: (from, to) => bytes.subarray(from, to),
  piece: Number.POSITIVE_INFINITY,
});

type FileLimits = BatchLimits & { readonly pause: Pause; readonly maxHeldBytes: number };

/**
 * Opens a file; its batches are read as they are pulled, and may be read again.
 * @throws InvalidInput naming the part, PayloadTooLarge; the batches throw both too
 */
export async function openForeignFile(
  file: FileBytes,
  limits: FileLimits,
): Promise<RecordBatchStream> {
  const tailAt = file.size - TAIL_BYTES;
  const tail = tailAt < HEAD_BYTES ? undefined : await rangeOf(file, tailAt, file.size, 'footer');
  if (tail === undefined || Buffer.compare(tail.subarray(4), MAGIC) !== 0) {
    throw invalid('footer', 'the file does not end as Arrow files do, so it may be cut off');
  }
  const length = new DataView(tail.buffer, tail.byteOffset, 4).getInt32(0, true);
  const footerAt = tailAt - length;
  if (length <= 0 || footerAt < HEAD_BYTES) throw invalid('footer', `its length is ${length}`);
  const footer = readFooter(await rangeOf(file, footerAt, tailAt, 'footer', limits));
  await checkBlocks(file, [...footer.dictionaries, ...footer.batches], footerAt);
  const { schema } = footer.schema;
  return recordBatchStream(schema, {
    async *[Symbol.asyncIterator](): AsyncGenerator<RecordBatch> {
      const batches = new ForeignBatches(footer.schema, limits);
      const { pause } = limits;
      try {
        await readDictionaries(file, footer, batches, limits);
        for (const [at, block] of footer.batches.entries()) {
          const { message, body } = await messageAt(file, block, `record batch ${at}`, limits);
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
  file: FileBytes,
  footer: ForeignFooter,
  batches: ForeignBatches,
  limits: FileLimits,
): Promise<void> {
  const depths = dictionaryDepths(footer.schema);
  const known = new Set<number>();
  const found: { message: DictionaryMessage; body: Uint8Array; depth: number }[] = [];
  for (const [at, block] of footer.dictionaries.entries()) {
    const what = `dictionary batch ${at}`;
    const { message, body } = await messageAt(file, block, what, limits);
    if (message.kind !== 'dictionary') throw wrongKind(what, message.kind);
    // Batches would be read with the last one, and those written before it would change.
    if (!message.isDelta && known.has(message.number)) {
      throw invalid(what, `it replaces dictionary ${message.number}, which a file cannot do`);
    }
    known.add(message.number);
    found.push({ message, body, depth: depths.get(message.number) ?? 0 });
  }
  for (const { message, body } of found.sort((a, b) => a.depth - b.depth)) {
    await runSteps(batches.dictionary(message, body), limits.pause);
  }
}

type DictionaryMessage = Extract<ForeignMessage, { kind: 'dictionary' }>;

/**
 * Blocks lie between the head of the file and the footer and share no byte: blocks that overlap
 * could multiply the work. No message of rows lies outside them: it would be rows lost that
 * nothing else tells of.
 */
async function checkBlocks(
  file: FileBytes,
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
    await checkGap(file, end, offset);
    end = next;
  }
  await checkGap(file, end, footerAt);
}

/** Messages begin at multiples of this. */
const ALIGNMENT = 8;
/** What is looked at again of a piece's end: more than the metadata of any writer's batch takes. */
const OVERLAP_BYTES = 2 ** 20;

async function checkGap(file: FileBytes, from: number, to: number): Promise<void> {
  const first = Math.ceil(from / ALIGNMENT) * ALIGNMENT;
  for (let at = first; at < to; at += file.piece) {
    const end = Math.min(to, at + file.piece + OVERLAP_BYTES);
    const bytes = await rangeOf(file, at, end, 'footer');
    const found = await findMessage(bytes, 0, bytes.length);
    if (found !== undefined) {
      throw invalid('footer', `it does not list the rows or dictionary at byte ${at + found}`);
    }
  }
}

async function rangeOf(
  file: FileBytes,
  from: number,
  to: number,
  what: string,
  limits?: FileLimits,
): Promise<Uint8Array> {
  const most = limits?.maxHeldBytes ?? Number.POSITIVE_INFINITY;
  if (to - from > most) {
    throw tooLarge(`${what} has ${to - from} bytes, more than the ${most} allowed`);
  }
  const bytes = await file.read(from, to);
  if (bytes.length === to - from) return bytes;
  throw invalid(what, `the file has no bytes from ${from + bytes.length} to ${to} any more`);
}

/** Where a message begins after its prefix, and its length, as they stand in its block. */
function prefixOf(block: Uint8Array): { at: number; length: number } {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  const first = view.getInt32(0, true);
  if (first !== CONTINUATION || block.length < 8) return { at: 4, length: first };
  return { at: 8, length: view.getInt32(4, true) };
}

async function messageAt(
  file: FileBytes,
  { offset, metadataBytes, bodyBytes }: Block,
  what: string,
  limits: FileLimits,
): Promise<{ message: ForeignMessage; body: Uint8Array }> {
  const bytes = await rangeOf(file, offset, offset + metadataBytes + bodyBytes, what, limits);
  const { at, length } = prefixOf(bytes);
  if (length <= 0 || at + length > metadataBytes) {
    throw invalid(what, `its length is ${length} in a block of ${metadataBytes} bytes`);
  }
  const message = readMessage(bytes.subarray(at, at + length), what);
  if (message.bodyBytes > bodyBytes) {
    throw invalid(what, `its body has ${message.bodyBytes} bytes, its block ${bodyBytes}`);
  }
  return { message, body: bytes.subarray(metadataBytes, metadataBytes + message.bodyBytes) };
}

const wrongKind = (what: string, kind: string): Error => invalid(what, `it is a ${kind} message`);
