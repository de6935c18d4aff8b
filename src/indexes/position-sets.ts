/**
 * `encodePositions` encodes an ascending list of positions as bytes, and `decodePositions` decodes
 * it. The segments of BITMAP indexes store such a list for each value, and those of LABEL_LIST
 * indexes for each item. Positions with the same upper 16 bits are stored together, as a list, a
 * bitmap or runs, whichever is shortest. `decodePositions` throws Corrupt for bytes with wrong
 * lengths or a wrong order, or with another number of positions than given.
 */
import { corrupt } from '../json.ts';

const ARRAY = 0;
const BITMAP = 1;
const RUNS = 2;
const HEAD_BYTES = 8;
const BITMAP_BYTES = 8_192;
const CONTAINER = 65_536;

/**
 * All numbers are little-endian. A container is its upper bits (uint16), its form (uint16), how
 * many values or runs it has (uint32) and these; a run is its first value and its length less one.
 * @param positions ascending, each once
 */
export function encodePositions(positions: Uint32Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (let from = 0; from < positions.length; ) {
    const high = (positions[from] as number) >>> 16;
    let to = from + 1;
    let runs = 1;
    while (to < positions.length && (positions[to] as number) >>> 16 === high) {
      if ((positions[to] as number) !== (positions[to - 1] as number) + 1) runs++;
      to++;
    }
    const part = containerOf(positions.subarray(from, to), high, runs);
    parts.push(part);
    bytes += part.length;
    from = to;
  }
  const encoded = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    encoded.set(part, at);
    at += part.length;
  }
  return encoded;
}

function containerOf(positions: Uint32Array, high: number, runs: number): Uint8Array {
  const count = positions.length;
  const smallest = Math.min(count * 2, runs * 4, BITMAP_BYTES);
  const form = smallest === runs * 4 ? RUNS : smallest === count * 2 ? ARRAY : BITMAP;
  const bytes = new Uint8Array(HEAD_BYTES + smallest);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, high, true);
  view.setUint16(2, form, true);
  view.setUint32(4, form === RUNS ? runs : count, true);
  if (form === BITMAP) {
    for (const position of positions) {
      const low = position & 0xffff;
      const at = HEAD_BYTES + (low >>> 3);
      bytes[at] = (bytes[at] as number) | (1 << (low & 7));
    }
    return bytes;
  }
  let at = HEAD_BYTES;
  for (let row = 0; row < count; row++) {
    const low = (positions[row] as number) & 0xffff;
    view.setUint16(at, low, true);
    at += 2;
    if (form === ARRAY) continue;
    const first = row;
    while (row + 1 < count && positions[row + 1] === (positions[row] as number) + 1) row++;
    view.setUint16(at, row - first, true);
    at += 2;
  }
  return bytes;
}

/**
 * @param count how many positions there are
 * @param file that the bytes are from, for errors
 * @throws Corrupt
 */
export function decodePositions(bytes: Uint8Array, count: number, file: string): Uint32Array {
  // The bytes hold a position for each bit of theirs at most, or a run of a container.
  if (count > (bytes.length / 4) * CONTAINER) throw damaged(file);
  const positions = new Uint32Array(count);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let filled = 0;
  let before = -1;
  for (let at = 0; at < bytes.length; ) {
    if (at + HEAD_BYTES > bytes.length) throw damaged(file);
    const high = view.getUint16(at, true);
    const form = view.getUint16(at + 2, true);
    const items = view.getUint32(at + 4, true);
    if (high <= before || items === 0 || items > CONTAINER || form > RUNS) throw damaged(file);
    before = high;
    at += HEAD_BYTES;
    const size = form === BITMAP ? BITMAP_BYTES : items * (form === ARRAY ? 2 : 4);
    if (at + size > bytes.length) throw damaged(file);
    const base = high * CONTAINER;
    const added =
      form === ARRAY
        ? decodeArray(view, at, items, base, positions, filled)
        : form === BITMAP
          ? decodeBitmap(bytes, at, items, base, positions, filled)
          : decodeRuns(view, at, items, base, positions, filled);
    if (added < 0) throw damaged(file);
    filled += added;
    at += size;
  }
  if (filled !== count) throw damaged(file);
  return positions;
}

const damaged = (file: string): Error =>
  corrupt(file, 'the positions of one of its values cannot be');

/** How many positions were added; below 0 where they are not in order, or too many. */
function decodeArray(
  view: DataView,
  at: number,
  items: number,
  base: number,
  into: Uint32Array,
  filled: number,
): number {
  if (filled + items > into.length) return -1;
  let before = -1;
  for (let item = 0; item < items; item++) {
    const low = view.getUint16(at + item * 2, true);
    if (low <= before) return -1;
    before = low;
    into[filled + item] = base + low;
  }
  return items;
}

function decodeBitmap(
  bytes: Uint8Array,
  at: number,
  items: number,
  base: number,
  into: Uint32Array,
  filled: number,
): number {
  if (filled + items > into.length) return -1;
  let added = 0;
  for (let byte = 0; byte < BITMAP_BYTES; byte++) {
    let bits = bytes[at + byte] as number;
    while (bits !== 0) {
      if (added === items) return -1;
      const low = bits & -bits;
      into[filled + added] = base + byte * 8 + (31 - Math.clz32(low));
      added++;
      bits ^= low;
    }
  }
  return added === items ? added : -1;
}

function decodeRuns(
  view: DataView,
  at: number,
  items: number,
  base: number,
  into: Uint32Array,
  filled: number,
): number {
  let added = 0;
  let before = -1;
  for (let item = 0; item < items; item++) {
    const first = view.getUint16(at + item * 4, true);
    const last = first + view.getUint16(at + item * 4 + 2, true);
    if (first <= before || last >= CONTAINER || filled + added + last - first + 1 > into.length)
      return -1;
    before = last;
    for (let low = first; low <= last; low++) into[filled + added++] = base + low;
  }
  return added;
}
