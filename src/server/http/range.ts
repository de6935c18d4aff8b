/**
 * `parseRange` reads the `Range` header of a request as one range of bytes (RFC 9110). It returns
 * undefined if the header is missing or is not a single range of bytes, and if there is an
 * `If-Range` header; the caller then sends the whole body.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface Range {
  /** The first byte; below 0 it is counted from the end. */
  readonly from: number;
  /** The byte after the last one; the end if absent. */
  readonly to?: number;
}

export function parseRange(headers: IncomingHttpHeaders): Range | undefined {
  // A validator that is not known is one that does not match.
  if (headers['if-range'] !== undefined) return undefined;
  const found = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(headers.range ?? '');
  if (found === null) return undefined;
  const [, first = '', last = ''] = found;
  if (first === '') {
    if (last === '') return undefined;
    // The last 0 bytes are as little there as a byte past the end.
    return { from: safe(last) === 0 ? NOTHING : -safe(last) };
  }
  const from = safe(first);
  if (last === '') return { from };
  return safe(last) < from ? undefined : { from, to: safe(last) + 1 };
}

/** No byte has this number. */
const NOTHING = Number.MAX_SAFE_INTEGER - 1;

const safe = (digits: string): number => Math.min(Number(digits), NOTHING);
