/**
 * `decompressPage` decompresses a page of Parquet with Snappy, gzip, Brotli, LZ4 or Zstandard. The
 * size in the page's header is untrusted: it may be `MOST_PAGE_BYTES` at most, and the content must
 * have exactly this size. For Snappy, LZ4 and Zstandard, a size that the bytes cannot expand to is
 * found before memory is taken. All faults go to the caller's `refuse`.
 */
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { decodeLz4Block, decodeZstdInSteps, maxZstdSize } from '../../ipc/index.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { snappyInSteps } from './snappy.ts';
import type { Refuse } from './thrift.ts';

const CODECS = ['none', 'snappy', 'gzip', 'LZO', 'brotli', 'lz4', 'zstd', 'lz4-raw'] as const;
/** Most bytes of a page: writers make them of one megabyte, but one value may be larger. */
export const MOST_PAGE_BYTES = 1 << 28;

const gunzip = promisify(zlib.gunzip) as (b: Uint8Array, o: zlib.ZlibOptions) => Promise<Buffer>;
const brotli = promisify(zlib.brotliDecompress) as (
  b: Uint8Array,
  o: zlib.BrotliOptions,
) => Promise<Buffer>;

/** @param size bytes that the content must have */
export async function decompressPage(
  codec: number,
  bytes: Uint8Array,
  size: number,
  refuse: Refuse,
): Promise<Uint8Array> {
  if (size > MOST_PAGE_BYTES) {
    refuse(`a page says that it has ${size} bytes; at most ${MOST_PAGE_BYTES} are read`);
  }
  const name = CODECS[codec];
  const of = (content: Uint8Array): Uint8Array =>
    content.length === size
      ? content
      : refuse(`a page has ${content.length} bytes, and its header says ${size}`);
  switch (name) {
    case 'none':
      return of(bytes);
    case 'snappy':
      return runSteps(snappyInSteps(bytes, size, refuse), plainPause());
    case 'zstd':
      if (size > maxZstdSize(bytes.length)) refuse('a page says that it is larger than it can be');
      if (size === 0) return new Uint8Array(0);
      return runSteps(decodeZstdInSteps(bytes, size, refuse), plainPause());
    case 'gzip':
    case 'brotli':
      try {
        const options = { maxOutputLength: Math.max(1, size) };
        return of(await (name === 'gzip' ? gunzip(bytes, options) : brotli(bytes, options)));
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (code === 'ERR_BUFFER_TOO_LARGE') return refuse('a page is larger than its header says');
        if (typeof code !== 'string' || !/^(?:Z_|ERR_?_?BROTLI|ERR__ERROR)/.test(code)) throw error;
        return refuse(`a page cannot be decompressed: ${(error as Error).message}`);
      }
    case 'lz4':
      return hadoopLz4(bytes, size, refuse) ?? rawLz4(bytes, size, refuse);
    case 'lz4-raw':
      return rawLz4(bytes, size, refuse);
    default:
      return refuse(
        `it is compressed with ${name ?? `the unknown codec ${codec}`}, which is not read`,
      );
  }
}

function rawLz4(bytes: Uint8Array, size: number, refuse: Refuse): Uint8Array {
  if (size > 255 * bytes.length + 64) refuse('a page says that it is larger than it can be');
  const content = new Uint8Array(size);
  if (decodeLz4Block(bytes, content, refuse) !== size)
    refuse('a page is shorter than its header says');
  return content;
}

/** The older form of Hadoop: each block has its two sizes before it. Undefined where it is not that. */
function hadoopLz4(bytes: Uint8Array, size: number, refuse: Refuse): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: [from: number, to: number, plain: number][] = [];
  let plain = 0;
  for (let at = 0; at < bytes.length; ) {
    if (at + 8 > bytes.length) return undefined;
    const [content, coded] = [view.getUint32(at), view.getUint32(at + 4)];
    at += 8;
    if (coded > bytes.length - at || content > size - plain) return undefined;
    blocks.push([at, at + coded, content]);
    plain += content;
    at += coded;
  }
  if (plain !== size) return undefined;
  const parts = blocks.map(([from, to, length]) =>
    rawLz4(bytes.subarray(from, to), length, refuse),
  );
  return Buffer.concat(parts);
}
