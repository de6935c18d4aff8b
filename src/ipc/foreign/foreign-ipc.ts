/**
 * Opens Arrow IPC streams and files of other programs as record batches. `openArrowBody` takes the
 * body of an operation: bytes, chunks of bytes, or record batches, which it passes on as they are.
 * `openArrowFile` reads a file by ranges, or piece by piece if it holds a stream. Bytes in memory
 * and files can be read again; a stream that arrives in chunks, or lies in a file, once. Invalid
 * bytes throw InvalidInput and sizes beyond the limits throw PayloadTooLarge, also while record
 * batches are read.
 *
 * The bytes are untrusted, so they are decoded in this folder. apache-arrow's parser loops for
 * minutes on some damaged inputs, and returns wrong rows for others.
 */
import {
  type ArrowBody,
  apart,
  internSchema,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import type { RequestMemory } from '../../request-memory.ts';
import { type Pause, plainPause, runSteps } from '../../steps.ts';
import { MAGIC } from '../encode/index.ts';
import { ByteReader } from './byte-reader.ts';
import { type BatchLimits, ForeignBatches } from './foreign-batches.ts';
import { bytesInMemory, type FileBytes, openForeignFile } from './foreign-file.ts';
import { type ForeignMessage, invalid, readMessage, tooLarge } from './foreign-messages.ts';
import type { ForeignSchema } from './foreign-schema.ts';

export interface OpenArrowOptions {
  /** Most bytes of the whole body. Not limited by default. */
  readonly maxBytes?: number;
  /**
   * Most bytes held at once: of one message, or of a whole file that arrives in chunks, since a
   * file can only be read from its end. 1 GiB by default.
   */
  readonly maxHeldBytes?: number;
  /**
   * Most bytes of one message, and of all dictionaries, once they are decompressed and their list
   * views and runs expanded; and most that the expanded ones of all messages may take beyond what
   * compression could pack into as many bytes. 1 GiB by default.
   */
  readonly maxDecompressedBytes?: number;
  /** Most bytes of all messages, each counted once it is decompressed. Not limited by default. */
  readonly maxContentBytes?: number;
  /** Counts what is held of the data at once; not counted by default. */
  readonly memory?: RequestMemory | undefined;
  /**
   * Whether a stream must end with Arrow's end-of-stream marker. True by default: without it, a
   * body that was cut off between two batches looks like a complete one.
   */
  readonly requireEos?: boolean;
  /**
   * Whether no batch shares memory with the bytes given or with another batch, dictionaries left
   * aside: such batches can be handed to a caller while others are still to be read. False by default.
   */
  readonly apart?: boolean;
  /**
   * Asked every few milliseconds while a message is decompressed and checked. By default the event
   * loop goes round then.
   */
  readonly pause?: Pause;
}

type Limits = Required<Omit<OpenArrowOptions, 'memory'>> & BatchLimits;

const GIB = 2 ** 30;
const DEFAULTS: Limits = {
  maxBytes: Number.POSITIVE_INFINITY,
  maxHeldBytes: GIB,
  maxDecompressedBytes: GIB,
  maxContentBytes: Number.POSITIVE_INFINITY,
  memory: undefined,
  requireEos: true,
  apart: false,
  pause: () => undefined,
  maxUnbackedValues: 2 ** 24,
};

/**
 * Opens the body of an operation: batches in memory are returned as they are, with a schema that
 * whoever gave them cannot change; bytes are read up to their schema. Batches come one message at
 * a time as they are pulled, may share the memory of the bytes given, and have dictionaries with
 * ids of this process. Bytes in memory can be read more than once, chunks only once.
 * @throws InvalidInput naming the part that is not valid; PayloadTooLarge; both also while reading
 */
export async function openArrowBody(
  body: ArrowBody,
  options: OpenArrowOptions = {},
): Promise<RecordBatchStream> {
  if (isBatchStream(body)) return withOwnSchema(body);
  const limits: Limits = { ...DEFAULTS, pause: plainPause(), ...options };
  if (body instanceof Uint8Array) return openBytes(body, limits);
  if (typeof body?.[Symbol.asyncIterator] !== 'function') {
    throw new DirspaceError(
      'InvalidInput',
      'Expected Arrow data: record batches with a schema, or the bytes of an Arrow stream or file.',
    );
  }
  const source = new ByteReader(body, limits.maxBytes, limits.memory);
  try {
    if (await isFile(source)) {
      return await openForeignFile(bytesInMemory(await source.rest(limits.maxHeldBytes)), limits);
    }
    const schema = await readSchema(source, limits);
    return recordBatchStream(
      schema.schema,
      once(() => batchesOf(source, schema, limits)),
    );
  } catch (error) {
    await closeQuietly(source);
    throw error;
  }
}

/** After an error, which tells more than whatever the source says of its end. */
const closeQuietly = (source: ByteReader): Promise<void> => source.close().catch(() => {});

/**
 * Opens a file, or a stream that lies in one, by reading ranges of it: memory holds a message at a
 * time, and the dictionaries. Batches of a file may be read again, those of a stream once.
 * @throws as openArrowBody
 */
export async function openArrowFile(
  file: FileBytes,
  options: OpenArrowOptions = {},
): Promise<RecordBatchStream> {
  const limits: Limits = { ...DEFAULTS, pause: plainPause(), ...options };
  const head = new ByteReader([await file.read(0, Math.min(file.size, MAGIC.length))]);
  return (await isFile(head))
    ? openForeignFile(file, limits)
    : openArrowBody(piecesOf(file), options);
}

async function* piecesOf(file: FileBytes): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.size; at += file.piece) {
    yield await file.read(at, Math.min(file.size, at + file.piece));
  }
}

function withOwnSchema(body: RecordBatchStream): RecordBatchStream {
  const schema = internSchema(body.schema);
  return { schema, [Symbol.asyncIterator]: () => body[Symbol.asyncIterator]() };
}

const isBatchStream = (body: ArrowBody): body is RecordBatchStream =>
  typeof body === 'object' && body !== null && 'schema' in body;

async function openBytes(bytes: Uint8Array, limits: Limits): Promise<RecordBatchStream> {
  const source = new ByteReader([bytes], limits.maxBytes);
  if (await isFile(source)) return openForeignFile(bytesInMemory(bytes), limits);
  const schema = await readSchema(source, limits);
  const rest = bytes.subarray(source.position);
  return recordBatchStream(schema.schema, {
    [Symbol.asyncIterator]: () => batchesOf(new ByteReader([rest]), schema, limits),
  });
}

async function isFile(source: ByteReader): Promise<boolean> {
  const head = await source.peek(MAGIC.length);
  if (head.length === 0) {
    throw new DirspaceError(
      'InvalidInput',
      'The body is empty. Send an Arrow stream or file; one without rows still has a schema.',
    );
  }
  for (const [name, magic, advice] of OTHERS) {
    if (magic === Buffer.from(head.subarray(0, magic.length)).toString('latin1')) {
      throw new DirspaceError('InvalidInput', `The data is ${name}, not Arrow IPC. ${advice}`);
    }
  }
  return Buffer.compare(head, MAGIC) === 0;
}

/** Files that are taken for Arrow IPC, by the bytes they begin with. */
const OTHERS = [
  ['a file of Feather version 1', 'FEA1', 'Write it as version 2, which is Arrow IPC.'],
  ['a Parquet file', 'PAR1', 'Read it with a reader of Parquet, and send the rows.'],
] as const;

/** An iterable that can be iterated once. */
function once(start: () => AsyncGenerator<RecordBatch>): AsyncIterable<RecordBatch> {
  let started = false;
  return {
    [Symbol.asyncIterator]: () => {
      if (started) {
        throw new DirspaceError(
          'InvalidInput',
          'These record batches were read already: a body that arrives in chunks is read once.',
        );
      }
      started = true;
      return start();
    },
  };
}

interface Framed {
  readonly message: ForeignMessage;
  readonly body: Uint8Array;
}

async function readSchema(source: ByteReader, limits: Limits): Promise<ForeignSchema> {
  const first = await nextMessage(source, limits, 'schema');
  if (first?.message.kind !== 'schema') {
    throw invalid('schema', 'the stream does not begin with one');
  }
  return first.message.schema;
}

async function* batchesOf(
  source: ByteReader,
  schema: ForeignSchema,
  limits: Limits,
): AsyncGenerator<RecordBatch> {
  const batches = new ForeignBatches(schema, limits);
  try {
    for (let index = 1; ; index += 1) {
      const next = await nextMessage(source, limits, `message ${index}`);
      if (next === undefined) return;
      const { message, body } = next;
      if (message.kind === 'batch') {
        yield await runSteps(batches.batch(message.batch, body), limits.pause);
      } else if (message.kind === 'dictionary') {
        await runSteps(batches.dictionary(message, body), limits.pause);
      } else throw invalid(`message ${index}`, 'a second schema within a stream');
    }
  } catch (error) {
    await closeQuietly(source);
    throw error;
  } finally {
    batches.end();
    await source.close();
  }
}

const PREFIX_BYTES = 4;
const CONTINUATION = -1;
/** How much of the padding after a stream is looked at at once. */
const PADDING_BYTES = 65_536;
/** More than any schema has; text that is no Arrow data looks like a longer one. */
const MAX_SCHEMA_BYTES = 2 ** 26;

/** The next message with its body; undefined at the end of the stream. */
async function nextMessage(
  source: ByteReader,
  limits: Limits,
  what: string,
): Promise<Framed | undefined> {
  const prefix = await source.take(PREFIX_BYTES);
  if (prefix.length === 0) {
    if (!limits.requireEos) return undefined;
    throw invalid(what, 'the stream stops without its end-of-stream marker, so it may be cut off');
  }
  let bytes = int32(prefix, what);
  // Streams of before 2019 have no continuation marker before the length.
  if (bytes === CONTINUATION) bytes = int32(await source.take(PREFIX_BYTES), what);
  if (bytes === 0) {
    await refuseMore(source, what);
    return undefined;
  }
  if (what === 'schema' && (bytes < 0 || bytes > MAX_SCHEMA_BYTES)) {
    throw invalid(what, 'the data does not begin as an Arrow stream or file does');
  }
  if (bytes < 0) throw invalid(what, `its length is ${bytes}`);
  const message = readMessage(await exactly(source, bytes, limits, what), what);
  const body = await exactly(source, message.bodyBytes, limits, what);
  return { message, body: limits.apart ? apart(body) : body };
}

/** Padding may follow the end. Anything else may be rows: of a second stream, or after damage. */
async function refuseMore(source: ByteReader, what: string): Promise<void> {
  for (;;) {
    const more = await source.take(PADDING_BYTES);
    if (more.some((byte) => byte !== 0)) {
      throw invalid(what, 'bytes follow the end of the stream; send one stream, and nothing else');
    }
    if (more.length < PADDING_BYTES) return;
  }
}

function int32(bytes: Uint8Array, what: string): number {
  if (bytes.length < PREFIX_BYTES) throw invalid(what, 'the data is cut off within its length');
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getInt32(0, true);
}

async function exactly(
  source: ByteReader,
  bytes: number,
  limits: Limits,
  what: string,
): Promise<Uint8Array> {
  if (bytes > limits.maxHeldBytes) {
    throw tooLarge(`${what} has ${bytes} bytes, more than the ${limits.maxHeldBytes} allowed`);
  }
  const taken = await source.take(bytes);
  if (taken.length < bytes) {
    throw invalid(what, `the data is cut off: ${taken.length} of ${bytes} bytes are there`);
  }
  return taken;
}
