/**
 * Computes the checksums of a range of bytes, one crc32 for each page of 8 KiB (`checksumPages`). A
 * single checksum is stored as a number, and several as base64; `isPageChecksums` checks that form,
 * and `pageChecksums` unpacks it. `matchesChecksums` verifies a whole range. `damagedPage` verifies
 * a run of pages and returns the first damaged one, or -1, so that a reader of a few values checks
 * only the pages that it reads.
 */
import { crc32 } from 'node:zlib';

/** Bytes per page. Smaller pages cost noticeably more time per byte, larger ones more reading. */
export const PAGE_BYTES = 8192;

/** The checksum of a range of one page; of longer ranges base64 of little-endian 32-bit words. */
export type PageChecksums = number | string;

const pageCount = (bytes: number): number => Math.ceil(bytes / PAGE_BYTES);

/** Checksums of the concatenation of `pieces`. */
export function checksumPages(pieces: readonly Uint8Array[], bytes: number): PageChecksums {
  const pages = pageCount(bytes);
  if (pages <= 1) return pieces.reduce((crc, piece) => crc32(piece, crc), 0);
  const checksums = Buffer.alloc(pages * 4);
  let page = 0;
  let filled = 0;
  let crc = 0;
  for (const piece of pieces) {
    let at = 0;
    while (at < piece.length) {
      const take = Math.min(PAGE_BYTES - filled, piece.length - at);
      crc = crc32(piece.subarray(at, at + take), crc);
      at += take;
      filled += take;
      if (filled === PAGE_BYTES) {
        checksums.writeUInt32LE(crc, page * 4);
        page += 1;
        filled = 0;
        crc = 0;
      }
    }
  }
  if (filled > 0) checksums.writeUInt32LE(crc, page * 4);
  return checksums.toString('base64');
}

/** True when the stored form holds exactly the checksums that `bytes` bytes have. */
export function isPageChecksums(value: unknown, bytes: number): value is PageChecksums {
  const pages = pageCount(bytes);
  if (pages <= 1) {
    return typeof value === 'number' && value >>> 0 === value;
  }
  return typeof value === 'string' && value.length === Math.ceil((pages * 4) / 3) * 4;
}

/** The checksums of the pages one by one. */
export function pageChecksums(stored: PageChecksums): Uint32Array {
  if (typeof stored === 'number') return Uint32Array.of(stored);
  const bytes = Buffer.from(stored, 'base64');
  const plain = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Uint32Array(plain.buffer, plain.byteOffset, plain.length >> 2);
}

/**
 * The first page of `range` that does not match, or -1. `first` is the number of its first page.
 * @param checksums of all pages, as pageChecksums gives them
 */
export function damagedPage(range: Uint8Array, first: number, checksums: Uint32Array): number {
  for (let at = 0, page = first; at < range.length || page === first; page += 1) {
    const end = Math.min(at + PAGE_BYTES, range.length);
    if (crc32(range.subarray(at, end)) !== checksums[page]) return page;
    at = end;
  }
  return -1;
}

/** Whether all pages of a whole range match. */
export const matchesChecksums = (range: Uint8Array, stored: PageChecksums): boolean =>
  typeof stored === 'number'
    ? crc32(range) === stored
    : damagedPage(range, 0, pageChecksums(stored)) < 0;
