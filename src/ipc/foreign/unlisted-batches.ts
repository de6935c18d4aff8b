/**
 * `findMessage` searches a range of another program's Arrow file for a message with a record batch
 * or a dictionary. It returns the position of the first one, or undefined. foreign-file.ts searches
 * the bytes outside the blocks that the footer lists, because rows there would be lost silently.
 */
import { nextRound } from '../../event-loop.ts';

/** Bytes looked through between two turns of the event loop. */
const SLICE_BYTES = 2 ** 22;
const CONTINUATION = -1;
/** Messages begin at multiples of this, which pyarrow demands. */
const ALIGNMENT = 8;

/**
 * Where the first message of rows or of a dictionary begins that lies between two places.
 * @param from a multiple of 8 or not
 */
export async function findMessage(
  bytes: Uint8Array,
  from: number,
  to: number,
): Promise<number | undefined> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const first = Math.ceil(from / ALIGNMENT) * ALIGNMENT;
  for (let slice = first; slice < to; slice += SLICE_BYTES) {
    if (slice > first) await nextRound();
    const end = Math.min(to, slice + SLICE_BYTES);
    for (let at = slice; at + 8 <= end; at += ALIGNMENT) {
      const word = view.getInt32(at, true);
      if (word === 0) continue;
      const prefix = word === CONTINUATION ? 8 : 4;
      const length = word === CONTINUATION ? view.getInt32(at + 4, true) : word;
      if (length > 0 && at + prefix + length <= to && holdsRows(view, at + prefix, length))
        return at;
    }
  }
  return undefined;
}

/** The metadata versions V4 and V5, and the kinds of messages, as the format numbers them. */
const VERSIONS: ReadonlySet<number> = new Set([3, 4]);
const KINDS: ReadonlySet<number> = new Set([2, 3]);

/**
 * Whether a flatbuffer is the message of a record batch or dictionary, by its first members. Looks
 * at a few bytes only and throws nothing, since it is asked about any place in a file.
 */
function holdsRows(view: DataView, start: number, length: number): boolean {
  const end = start + length;
  if (length < 24) return false;
  const root = start + view.getUint32(start, true);
  if (root + 4 > end) return false;
  const vtable = root - view.getInt32(root, true);
  // The size of the table and of the vtable, then the places of the version, kind and header.
  if (vtable < start || vtable + 10 > end || view.getUint16(vtable, true) < 10) return false;
  const [version, kind, header] = [4, 6, 8].map((entry) => {
    const member = view.getUint16(vtable + entry, true);
    return member === 0 || root + member + 4 > end ? 0 : root + member;
  }) as [number, number, number];
  if (version === 0 || kind === 0 || header === 0) return false;
  return VERSIONS.has(view.getInt16(version, true)) && KINDS.has(view.getUint8(kind));
}
