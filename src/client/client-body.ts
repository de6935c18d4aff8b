/**
 * Sends and receives HTTP bodies for the client. `SendableBody` sends Arrow data, and can send it
 * again until more than 4 MiB of a stream were sent (`replayable`); its owner calls `close`, which
 * releases the source. `openAnswer` streams the rows of an answer, and throws Internal for rows
 * that cannot be read. `readText` returns a whole body as text, and throws Internal beyond 256 MiB.
 * The connection is released when a body ends or fails, or when its reader stops early. The timeout
 * is paused while the caller produces or processes data.
 */
import { ReadableStream } from 'node:stream/web';
import {
  type ArrowBody,
  handedOut,
  type RecordBatch,
  type RecordBatchStream,
} from '../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import { encodeIpcStream, openArrowBody } from '../ipc/index.ts';
import type { Progress } from '../progress.ts';
import { type Answer, MAX_TEXT_BYTES, tooLong } from './whole-answer.ts';

/** Bodies up to this are kept while they are sent, so that they can be sent again. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Arrow data that is sent once, or again for as long as all that was sent is still at hand. */
export class SendableBody {
  readonly #source: AsyncIterator<Uint8Array> | undefined;
  readonly #kept: Uint8Array[] = [];
  #bytes = 0;
  #dropped = false;
  #pending: Promise<Uint8Array | undefined> | undefined;
  /** What the source itself failed with; the transport would hide it. */
  failure: { readonly error: unknown } | undefined;

  constructor(data: ArrowBody) {
    if (data instanceof Uint8Array) this.#kept.push(data);
    else this.#source = ('schema' in data ? encodeIpcStream(data) : data)[Symbol.asyncIterator]();
  }

  /** Whether it can still be sent from its beginning. */
  get replayable(): boolean {
    return !this.#dropped && this.failure === undefined;
  }

  /** Sends the data from its beginning. Every piece that is taken restarts `progress`. */
  open(progress: Progress): ReadableStream<Uint8Array> {
    return ReadableStream.from(this.#pieces(progress));
  }

  async *#pieces(progress: Progress): AsyncGenerator<Uint8Array> {
    for (let at = 0; ; at++) {
      const kept = this.#kept[at];
      if (kept !== undefined) {
        progress.moved();
        yield kept;
        continue;
      }
      // The caller's data may take its time.
      progress.pause();
      this.#pending ??= this.#pull();
      const piece = await this.#pending;
      progress.resume();
      if (piece === undefined) return;
      yield piece;
    }
  }

  /** An earlier sending may still wait for a piece when the next one begins: they share it. */
  async #pull(): Promise<Uint8Array | undefined> {
    try {
      const { done = true, value } = (await this.#source?.next()) ?? {};
      if (done) return undefined;
      this.#bytes += value.byteLength;
      if (this.#bytes > KEPT_BYTES) {
        this.#dropped = true;
        this.#kept.length = 0;
      } else this.#kept.push(value);
      return value;
    } catch (error) {
      this.failure = { error };
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  /**
   * Lets the source go, whether or not it was read to its end. Waits until it is gone, except where it
   * still makes a piece: a generator ends after that alone, and it may never come.
   */
  async close(): Promise<void> {
    const gone = this.#source?.return?.().catch(() => {});
    if (this.#pending === undefined) await gone;
  }
}

/**
 * The rows of an answer, pulled as they are read. Resolves once the schema is there. The answer is
 * let go when the rows end, fail, or are left early.
 */
export async function openAnswer(
  response: Answer,
  progress: Progress,
  broken: (cause: unknown) => unknown,
): Promise<RecordBatchStream> {
  const bytes = receivedBytes(response, progress, broken);
  const stream = await openArrowBody(bytes, { apart: true }).catch((error: unknown) => {
    throw unreadable(error);
  });
  return handedOut({
    schema: stream.schema,
    // No generator: one that is left before its first step never lets the answer go.
    [Symbol.asyncIterator]: () => {
      const batches = stream[Symbol.asyncIterator]();
      const end = async (): Promise<IteratorResult<RecordBatch>> => {
        await batches.return?.();
        await bytes.return(undefined);
        return { done: true, value: undefined };
      };
      return {
        next: async () => {
          try {
            const step = await batches.next();
            return step.done ? await end() : step;
          } catch (error) {
            await bytes.return(undefined);
            throw unreadable(error);
          }
        },
        return: end,
      };
    },
  });
}

/** Rows that cannot be read are the server's fault, not the request's. */
function unreadable(cause: unknown): unknown {
  if (!isDirspaceError(cause, 'InvalidInput')) return cause;
  const message = `The rows of the answer cannot be read: ${cause.message}`;
  return new DirspaceError('Internal', message, { cause });
}

async function* receivedBytes(
  response: Answer,
  progress: Progress,
  broken: (cause: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  let finished = false;
  try {
    while (reader !== undefined) {
      progress.resume();
      const piece = await reader.read();
      // The reader of the rows may take its time.
      progress.pause();
      if (piece.done) break;
      yield piece.value;
    }
    finished = true;
  } catch (error) {
    throw progress.signal.aborted ? progress.signal.reason : broken(error);
  } finally {
    progress.end();
    // Not waited for: a body that is shared is let go when all have let go of it.
    if (!finished) reader?.cancel().catch(() => {});
  }
}

const utf8 = new TextDecoder();

/** The text of an answer. Throws Internal where it is longer than an answer may be. */
export async function readText(
  response: Answer,
  progress: Progress,
  broken: (cause: unknown) => unknown,
): Promise<string> {
  if (response.whole !== undefined) {
    progress.end();
    return utf8.decode(response.whole);
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of receivedBytes(response, progress, broken)) {
    bytes += piece.byteLength;
    if (bytes > MAX_TEXT_BYTES) throw tooLong();
    pieces.push(piece);
  }
  return utf8.decode(pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces));
}
