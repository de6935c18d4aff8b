/**
 * Wraps the Zstandard library that newer Node versions have. `nodeZstd` decodes synchronously,
 * `nodeZstdLater` decodes off the event loop, and `nodeZstdEncoder` compresses. Damaged frames go
 * to the caller's `refuse`, and other errors, such as a lack of memory, are thrown. On an older
 * Node all three are null, and zstd.ts and frames.ts use the decoder and the encoder of this
 * folder.
 */
import zlib from 'node:zlib';
import type { Refuse } from './flatbuffer.ts';

/**
 * Decodes one whole frame without a dictionary, verifying its checksum.
 * @param most bytes that the content has at most
 */
export type ZstdDecoder = (frame: Uint8Array, most: number, refuse: Refuse) => Uint8Array;

interface Options {
  readonly chunkSize: number;
  readonly maxOutputLength: number;
}

/** The same beside the event loop. */
export type LaterZstdDecoder = (...frame: Parameters<ZstdDecoder>) => Promise<Uint8Array>;

const { constants, zstdCompressSync, zstdDecompressSync, zstdDecompress } = zlib as unknown as {
  readonly constants: Readonly<Record<string, number>>;
  readonly zstdCompressSync?: (
    content: Uint8Array,
    options: { readonly params: Readonly<Record<number, number>>; readonly chunkSize: number },
  ) => Uint8Array;
  readonly zstdDecompressSync?: (frame: Uint8Array, options: Options) => Uint8Array;
  readonly zstdDecompress?: (
    frame: Uint8Array,
    options: Options,
    done: (error: Error | null, content: Uint8Array) => void,
  ) => void;
};

// Room for more than all of it, so that it is not put together from pieces.
const optionsFor = (most: number): Options => ({ chunkSize: most + 64, maxOutputLength: most + 1 });

/** Null where Node has none. */
export const nodeZstd: ZstdDecoder | null =
  zstdDecompressSync === undefined
    ? null
    : (frame, most, refuse) => {
        try {
          return zstdDecompressSync(frame, optionsFor(most));
        } catch (error) {
          return refuse(problemOf(error));
        }
      };

/** Null where Node has none. */
export const nodeZstdLater: LaterZstdDecoder | null =
  zstdDecompress === undefined
    ? null
    : async (frame, most, refuse) => {
        try {
          return await new Promise<Uint8Array>((resolve, reject) => {
            zstdDecompress(frame, optionsFor(most), (error, content) =>
              error === null ? resolve(content) : reject(error),
            );
          });
        } catch (error) {
          return refuse(problemOf(error));
        }
      };

/** Compresses at level 1, without a checksum. Null where Node cannot. */
export const nodeZstdEncoder: ((content: Uint8Array) => Uint8Array) | null =
  zstdCompressSync === undefined
    ? null
    : (content) =>
        zstdCompressSync(content, {
          params: { [constants.ZSTD_c_compressionLevel as number]: 1 },
          // Room for all of it, so that it is not put together from pieces.
          chunkSize: content.length + (content.length >> 7) + 512,
        });

/** What is wrong with the frame. Throws errors that have other causes, such as a lack of memory. */
function problemOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ERR_BUFFER_TOO_LARGE')
    return 'its Zstandard frame holds more bytes than are declared';
  if (code === 'ZSTD_error_checksum_wrong') {
    return 'the content of its Zstandard frame does not match its checksum';
  }
  if (typeof code === 'string' && /^(ZSTD_error_(?!memory)|Z_)/.test(code)) {
    return `its Zstandard frame cannot be decoded: ${(error as Error).message}`;
  }
  throw error;
}
