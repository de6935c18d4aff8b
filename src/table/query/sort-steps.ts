/**
 * `sortedRows`: sorts row numbers by rank, and rows of equal rank by the given comparison. It is a
 * generator that yields after a few milliseconds of work, so that the event loop can go on.
 */
import type { WorkMeter } from './sort-keys.ts';

/** Rows handled between two yields. */
const STEP_ROWS = 32_768;
const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;
/** And comparisons of short values. */
const COMPARISONS = 16_384;
/** Below this many rows, counting digits takes longer than comparing. */
const FEW_ROWS = 512;

export interface RowOrder {
  /** Negative where row `a` comes before row `b`; never 0, as rows of equal keys keep their order. */
  compare(a: number, b: number): number;
  /** Grows with what comparisons take beyond one step of a loop each. */
  readonly meter: WorkMeter;
  /** Whether rows of this rank are equal, so that they stay in the order of their numbers. */
  isFinal(rank: number): boolean;
}

/** The rows 0 to `count` - 1, rising by rank, then as `order` has them. */
export function* sortedRows(
  ranks: Float64Array,
  count: number,
  order: RowOrder,
): Generator<void, Uint32Array> {
  const rows = yield* byRank(ranks, count);
  for (let from = 0; from < count; ) {
    const rank = ranks[rows[from] as number] as number;
    let to = from + 1;
    while (to < count && ranks[rows[to] as number] === rank) {
      to++;
      if (to % STEP_ROWS === 0) yield;
    }
    if (to - from > 1 && !order.isFinal(rank)) yield* mergeSorted(rows.subarray(from, to), order);
    if (from % STEP_ROWS > to % STEP_ROWS) yield;
    from = to;
  }
  return rows;
}

function* byRank(ranks: Float64Array, count: number): Generator<void, Uint32Array> {
  let rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  if (count <= FEW_ROWS) {
    return rows.sort((a, b) => {
      const [x, y] = [ranks[a] as number, ranks[b] as number];
      return x < y ? -1 : x > y ? 1 : a - b;
    });
  }
  const words = new Uint32Array(ranks.buffer, ranks.byteOffset, count * 2);
  let other = new Uint32Array(count);
  for (let shift = 0; shift < 64; shift += DIGIT_BITS) {
    const starts = yield* digitStarts(words, count, shift);
    if (starts === undefined) continue;
    for (let from = 0; from < count; from += STEP_ROWS) {
      const end = Math.min(count, from + STEP_ROWS);
      for (let at = from; at < end; at++) {
        const row = rows[at] as number;
        const digit = digitOf(words, row, shift);
        const place = starts[digit] as number;
        starts[digit] = place + 1;
        other[place] = row;
      }
      yield;
    }
    [rows, other] = [other, rows];
  }
  return rows;
}

/** Where the rows of each digit begin; undefined where all have the same one. */
function* digitStarts(
  words: Uint32Array,
  count: number,
  shift: number,
): Generator<void, Uint32Array | undefined> {
  const counts = new Uint32Array(DIGITS);
  for (let from = 0; from < count; from += STEP_ROWS) {
    const end = Math.min(count, from + STEP_ROWS);
    for (let row = from; row < end; row++) {
      const digit = digitOf(words, row, shift);
      counts[digit] = (counts[digit] as number) + 1;
    }
    yield;
  }
  let next = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const size = counts[digit] as number;
    if (size === count) return undefined;
    counts[digit] = next;
    next += size;
  }
  return counts;
}

/** Bits of a double, made to rise as an unsigned number where the double rises. */
function digitOf(words: Uint32Array, row: number, shift: number): number {
  const high = words[2 * row + 1] as number;
  const flip = (high as number) >>> 31 === 1 ? 0xffff_ffff : 0;
  const upper = high ^ (flip | 0x8000_0000);
  if (shift >= 32) return (upper >>> (shift - 32)) & (DIGITS - 1);
  const lower = (words[2 * row] as number) ^ flip;
  if (shift + DIGIT_BITS <= 32) return (lower >>> shift) & (DIGITS - 1);
  return ((lower >>> shift) | (upper << (32 - shift))) & (DIGITS - 1);
}

/** Rows of a run that are put in order by inserting. */
const RUN = 16;

function* mergeSorted(rows: Uint32Array, { compare, meter }: RowOrder): Generator<void> {
  const count = rows.length;
  /** Steps since the last yield, but for those that the meter counts. */
  let steps = 0;
  meter.work = 0;
  for (let from = 0; from < count; from += RUN) {
    const end = Math.min(count, from + RUN);
    for (let at = from + 1; at < end; at++) {
      const row = rows[at] as number;
      let place = at;
      while (place > from && compare(rows[place - 1] as number, row) > 0) {
        rows[place] = rows[place - 1] as number;
        place--;
        steps++;
      }
      rows[place] = row;
      steps++;
    }
    if (steps + meter.work <= COMPARISONS) continue;
    yield;
    steps = 0;
    meter.work = 0;
  }
  let source = rows;
  let target: Uint32Array = new Uint32Array(count > RUN ? count : 0);
  for (let width = RUN; width < count; width *= 2) {
    for (let from = 0; from < count; from += 2 * width) {
      const middle = Math.min(count, from + width);
      const end = Math.min(count, from + 2 * width);
      let left = from;
      let right = middle;
      for (let at = from; at < end; at++) {
        const fromLeft =
          left < middle &&
          (right >= end || compare(source[left] as number, source[right] as number) < 0);
        target[at] = source[fromLeft ? left++ : right++] as number;
        steps++;
        if (steps + meter.work <= COMPARISONS) continue;
        yield;
        steps = 0;
        meter.work = 0;
      }
    }
    [source, target] = [target, source];
  }
  if (source !== rows) rows.set(source);
}
