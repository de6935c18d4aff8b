/**
 * `decompressed` decompresses a file of gzip or Zstandard piece by piece, in bounded memory.
 * Damaged content throws InvalidInput. `compressionOf` finds the compression of a file from its
 * first bytes, and `compressionOfName` from the ending of its name; they return undefined if there
 * is none. `plainName` cuts that ending off.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type ByteSource, PIECE_BYTES } from './byte-source.ts';
import { fileProblem } from './file-problem.ts';

export type Compression = 'gzip' | 'zstd';

/** Endings of names, by what they say. */
const COMPRESSED_ENDINGS: Readonly<Record<string, Compression>> = {
  '.gz': 'gzip',
  '.zst': 'zstd',
  '.zstd': 'zstd',
};

const endingOf = (name: string): string | undefined => {
  const small = name.toLowerCase();
  return Object.keys(COMPRESSED_ENDINGS).find((each) => small.endsWith(each));
};

/** The name without an ending that tells of compression. */
export function plainName(name: string): string {
  const ending = endingOf(name);
  return ending === undefined ? name : name.slice(0, -ending.length);
}

/** What the ending of a name says; undefined where it says nothing. */
export function compressionOfName(name: string): Compression | undefined {
  const ending = endingOf(name);
  return ending === undefined ? undefined : COMPRESSED_ENDINGS[ending];
}

const MAGIC: readonly (readonly [Compression, readonly number[]])[] = [
  ['gzip', [0x1f, 0x8b, 0x08]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  // Frames that decoders pass over, with which parallel writers such as pzstd begin.
  ...Array.from({ length: 16 }, (_, at) => ['zstd', [0x50 + at, 0x2a, 0x4d, 0x18]] as const),
];

/** Undefined where the bytes at the beginning are those of neither. */
export const compressionOf = (head: Uint8Array): Compression | undefined =>
  MAGIC.find(([, magic]) => magic.every((byte, at) => head[at] === byte))?.[0];

/** The content of a compressed file. Its size is that of the file as stored, and so is what was read. */
export function decompressed(source: ByteSource, compression: Compression): ByteSource {
  return {
    name: source.name,
    size: source.size,
    isRepeatable: source.isRepeatable,
    pieces: () => (compression === 'gzip' ? gunzipped(source) : unzstd(source)),
    ranges: undefined,
    release: async () => source.release?.(),
    bytesRead: () => source.bytesRead(),
  };
}

async function* gunzipped(source: ByteSource): AsyncGenerator<Uint8Array> {
  const compressed = Readable.from(source.pieces());
  const content = createGunzip({ chunkSize: PIECE_BYTES >> 2 });
  // What fails in reading ends the content too.
  compressed.once('error', (error) => content.destroy(error));
  try {
    yield* compressed.pipe(content) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw cause;
    const why = code === 'Z_BUF_ERROR' ? 'it is cut short' : (cause as Error).message;
    throw damaged(source.name, `its gzip content cannot be decoded: ${why}`, cause);
  } finally {
    content.destroy();
    compressed.destroy();
  }
}

async function* unzstd(source: ByteSource): AsyncGenerator<Uint8Array> {
  const { decodeZstdPieces } = await import('../../ipc/index.ts');
  yield* decodeZstdPieces(source.pieces(), (what) => {
    throw damaged(source.name, what);
  });
}

const damaged = (file: string, what: string, cause?: unknown): Error =>
  fileProblem(`${file} is damaged: ${what}.`, { file }, cause);
