/**
 * Defines `ByteSource`, the bytes of one file, which may be on disk, in memory, in a stream or at a
 * URL. Readers take them from the beginning (`pieces`), or by ranges if the source allows it.
 * `memorySource` wraps bytes and `streamSource` wraps a stream of the program, which throws
 * InvalidInput when it is read twice; file-source.ts opens files and pipes, and url-source.ts URLs.
 * `withHead` reads the first bytes, and returns a source that yields them again; `firstPieces` and
 * `goingOn` are its parts.
 */
import { DirspaceError } from '../../errors.ts';
import type { FileBytes } from '../../ipc/index.ts';

/** One file to read. Nothing is read before a reader asks. */
export interface ByteSource {
  /** For messages. */
  readonly name: string;
  /** Bytes of it as stored; undefined of pipes and streams. */
  readonly size: number | undefined;
  /** Whether `pieces` may be called again: the same bytes come again. */
  readonly isRepeatable: boolean;
  /** Pieces of any length, read as they are pulled. Leaving the loop closes the file. */
  pieces(): AsyncIterable<Uint8Array>;
  /** Undefined where bytes come in their order only. */
  readonly ranges: FileBytes | undefined;
  /** The same of addresses, where each range takes a request; for formats that are read by ranges alone. */
  readonly remoteRanges?: FileBytes | undefined;
  /**
   * Closes what finding out the format left open and gives up the bytes that it read. What
   * `isRepeatable` says may be read from its beginning afterwards.
   */
  release?(): Promise<void>;
  /** Bytes that were read so far, those of a second pass counted from 0. */
  bytesRead(): number;
}

/** Most bytes that are given as one piece. */
export const PIECE_BYTES = 1 << 20;

/** Bytes in memory. They must not change while they are read. */
export function memorySource(bytes: Uint8Array, name = 'The data'): ByteSource {
  let read = 0;
  return {
    name,
    size: bytes.length,
    isRepeatable: true,
    async *pieces() {
      // Several passes may be under way.
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        read = at + piece.length;
        yield piece;
      }
    },
    ranges: {
      size: bytes.length,
      read: (from, to) => bytes.subarray(from, to),
      piece: PIECE_BYTES,
    },
    bytesRead: () => read,
  };
}

/** Chunks that come once, such as those of a stream or of standard input. */
export function streamSource(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  name = 'The data',
): ByteSource {
  let read = 0;
  let isUsed = false;
  return {
    name,
    size: undefined,
    isRepeatable: false,
    async *pieces() {
      if (isUsed) {
        throw new DirspaceError('InvalidInput', `${name} is a stream, which can be read once.`);
      }
      isUsed = true;
      for await (const chunk of chunks) {
        if (!(chunk instanceof Uint8Array)) {
          throw new DirspaceError(
            'InvalidInput',
            `${name} gave ${typeof chunk}, where bytes (Uint8Array) are expected.`,
          );
        }
        read += chunk.length;
        yield chunk;
      }
    },
    ranges: undefined,
    bytesRead: () => read,
  };
}

/** Bytes that tell what a file is. */
const HEAD_BYTES = 512;

/** The first pieces, of so many bytes or more, and whether there are no others. */
export async function firstPieces(
  pieces: AsyncIterator<Uint8Array>,
  least: number,
): Promise<{ readonly first: Uint8Array[]; readonly isWhole: boolean }> {
  const first: Uint8Array[] = [];
  for (let size = 0; size < least; ) {
    const { done, value } = await pieces.next();
    if (done === true) return { first, isWhole: true };
    first.push(value);
    size += value.length;
  }
  return { first, isWhole: false };
}

/** The first pieces again, and those behind them. Leaving the loop closes the file. */
export async function* goingOn(
  first: readonly Uint8Array[],
  pieces: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return?.();
  }
}

/** The first bytes, and a source that gives them again. */
export async function withHead(
  source: ByteSource,
): Promise<{ readonly head: Uint8Array; readonly source: ByteSource }> {
  const ranges = source.ranges ?? source.remoteRanges;
  if (ranges !== undefined) {
    return { head: await ranges.read(0, Math.min(ranges.size, HEAD_BYTES)), source };
  }
  const pieces = source.pieces()[Symbol.asyncIterator]();
  const { first } = await firstPieces(pieces, HEAD_BYTES);
  const head = Buffer.concat(first).subarray(0, HEAD_BYTES);
  let isUsed = false;
  async function* again(): AsyncGenerator<Uint8Array> {
    isUsed = true;
    yield* goingOn(first.splice(0), pieces);
  }
  const { name, size, isRepeatable } = source;
  const replayed: ByteSource = {
    name,
    size,
    isRepeatable,
    pieces: () => (isUsed ? source.pieces() : again()),
    ranges: undefined,
    release: async () => {
      if (isUsed) return;
      isUsed = true;
      first.length = 0;
      await pieces.return?.();
    },
    bytesRead: () => source.bytesRead(),
  };
  return { head, source: replayed };
}
