/**
 * `sortedRows` sorts row numbers by their ranks, which are doubles made from the sort key. If rows
 * have the same rank, it asks for finer ranks, where there are any: again and again for more than
 * 64 rows, once for fewer. It sorts the rest by the given comparison. Rows that are equal in all
 * keys keep their order. It yields after short pieces of work. No rank may be NaN or -0.
 */
import { inSlices } from '../../steps.ts';
import {
  COMPARISONS,
  FEW_TIES,
  FewTies,
  FIRST_LEVEL,
  type FinerRanks,
  type RankLevel,
  type TieOrder,
} from './key-ranks.ts';

/** Rows handled between two yields. */
const STEP_ROWS = 32_768;
const DIGIT_BITS = 11;
const DIGITS = 2 ** DIGIT_BITS;
/** Digits of 32 bits. */
const PASSES = 3;
/** Below this many rows, counting digits takes longer than comparing. */
const FEW_ROWS = 512;

export interface RowOrder extends TieOrder {
  /**
   * Negative where row `a` comes before row `b`; never 0, as rows of equal keys keep their order.
   */
  compare(a: number, b: number): number;
  /** Whether `isFinal` is true for every rank. */
  readonly areAllFinal?: boolean;
}

/** The rows 0 to `count` - 1, rising by rank, then as `order` has them. */
export function* sortedRows(
  ranks: Float64Array,
  count: number,
  order: RowOrder,
): Generator<void, Uint32Array> {
  if (order.areAllFinal === true) return yield* byRank(ranks, count);
  return yield* byRank(ranks, count, order);
}

/** Sorts tied rows by ranks of what follows, those tied in these too, and so on. */
function* byFinerRanks(tied: Uint32Array, level: RankLevel, order: RowOrder): Generator<void> {
  const finer = order.finer as FinerRanks;
  const pending = [{ rows: tied, level }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { rows } = next;
    const count = rows.length;
    const ranks = new Float64Array(count);
    const reached = yield* finer.fill(rows, next.level, ranks);
    const before = rows.slice();
    const places = yield* byRank(ranks, count);
    yield* inSlices(count, STEP_ROWS, (from, to) => {
      for (let at = from; at < to; at++) rows[at] = before[places[at] as number] as number;
    });
    yield;
    const few = fewTies(rows, order);
    yield* eachTie(ranks, places, 0, count, function* (from, to, rank) {
      if (finer.isLast(reached, rank)) return;
      const after = finer.after(reached, rank);
      if (after === undefined) yield* mergeSorted(rows.subarray(from, to), order);
      else if (to - from > FEW_TIES) pending.push({ rows: rows.subarray(from, to), level: after });
      else {
        if (few.isFull) yield* few.sort();
        few.add(from, to, after);
      }
    });
    yield* few.sort();
  }
}

const fewTies = (rows: Uint32Array, order: RowOrder): FewTies =>
  new FewTies(rows, order, (some) => mergeSorted(some, order));

/** Calls `use` with each run of several rows of one rank. */
function* eachTie(
  ranks: Float64Array,
  rows: Uint32Array,
  begin: number,
  end: number,
  use: (from: number, to: number, rank: number) => Generator<void>,
): Generator<void> {
  for (let from = begin; from < end; ) {
    let to = endOfTie(ranks, rows, from, from + 1, end);
    for (; to - from >= STEP_ROWS && isTied(ranks, rows, from, to, end); yield) {
      to = endOfTie(ranks, rows, from, to, end);
    }
    if (to - from > 1) yield* use(from, to, ranks[rows[from] as number] as number);
    if (from % STEP_ROWS > to % STEP_ROWS) yield;
    from = to;
  }
}

const isTied = (
  ranks: Float64Array,
  rows: Uint32Array,
  from: number,
  to: number,
  end: number,
): boolean => to < end && ranks[rows[from] as number] === ranks[rows[to] as number];

/**
 * Finds where the rows with the rank of row `from` end, before `end`, looking from `to` on; that is
 * not far.
 */
function endOfTie(
  ranks: Float64Array,
  rows: Uint32Array,
  from: number,
  to: number,
  end: number,
): number {
  const rank = ranks[rows[from] as number];
  const most = Math.min(end, to + STEP_ROWS);
  let at = to;
  while (at < most && ranks[rows[at] as number] === rank) at++;
  return at;
}

/**
 * The rows 0 to `count` - 1, rising by rank.
 * @param order of rows of one rank; they stay as they are if it is absent
 */
function* byRank(
  ranks: Float64Array,
  count: number,
  order?: RowOrder,
): Generator<void, Uint32Array> {
  const rows = new Uint32Array(count);
  yield* inSlices(count, STEP_ROWS, (from, to) => numberRows(rows, from, to));
  if (count <= FEW_ROWS) {
    byComparing(ranks, rows);
    if (order !== undefined) {
      const few = fewTies(rows, order);
      yield* orderTies(ranks, rows, 0, count, order, few);
      yield* few.sort();
    }
    return rows;
  }
  const digits = yield* leadingDigits(ranks, count);
  const { keys } = digits;
  const spare = { keys: new Uint32Array(count), rows: new Uint32Array(count) };
  yield* byDigits(keys, rows, spare);
  const { rest } = digits;
  if (rest === 0 && order === undefined) return rows;
  const few = order && fewTies(rows, order);
  for (let at = 0; at < count; ) {
    const from = passShortRuns(ranks, rows, keys, rest > 0, few, at);
    if (few?.isFull === true) yield* few.sort();
    if (from - at >= STEP_ROWS) yield;
    at = from;
    while (at < count && keys[at] === keys[from]) {
      at = endOfRun(keys, from, at);
      if (at - from >= STEP_ROWS) yield;
    }
    if (at - from < 2) continue;
    if (rest > 0) {
      if (at - from <= SHORT_RUN) insertByRank(ranks, rows, from, at);
      else {
        yield* byRest(ranks, rows.subarray(from, at), keys.subarray(from, at), digits, spare);
      }
    }
    if (few !== undefined) yield* orderTies(ranks, rows, from, at, order as RowOrder, few);
  }
  if (few !== undefined) yield* few.sort();
  return rows;
}
/** Orders the rows `from` to `to`, which rise by rank, by what ranks do not tell; `few` gets short runs. */
function* orderTies(
  ranks: Float64Array,
  rows: Uint32Array,
  from: number,
  to: number,
  order: RowOrder,
  few: FewTies,
): Generator<void> {
  yield* eachTie(ranks, rows, from, to, function* (begin, end, rank) {
    if (order.isFinal(rank)) return;
    const level = order.finer?.after(FIRST_LEVEL, rank);
    if (level === undefined) yield* mergeSorted(rows.subarray(begin, end), order);
    else if (end - begin > FEW_TIES) {
      yield* byFinerRanks(rows.subarray(begin, end), level, order);
    } else {
      if (few.isFull) yield* few.sort();
      few.add(begin, end, level);
    }
  });
}

/**
 * Puts short runs of equal keys in order, from the one that begins at `begin` on. There may be as
 * many as rows, too many for a generator each. Ends at a run that is long, or has equal ranks that
 * are not for `few`, or where that is full, or else not far; returns where.
 * @param hasRest whether the keys are not all of the ranks
 * @param few gets rows of equal ranks; they stay as they are if it is absent
 */
function passShortRuns(
  ranks: Float64Array,
  rows: Uint32Array,
  keys: Uint32Array,
  hasRest: boolean,
  few: FewTies | undefined,
  begin: number,
): number {
  const most = Math.min(keys.length, begin + STEP_ROWS);
  let at = begin;
  while (at < most) {
    const from = at;
    const key = keys[from];
    const last = Math.min(keys.length, from + SHORT_RUN + 1);
    do at++;
    while (at < last && keys[at] === key);
    if (at - from === 1) continue;
    if (at - from > SHORT_RUN || (!hasRest && few === undefined)) return from;
    if (hasRest) insertByRank(ranks, rows, from, at);
    if (few !== undefined && !few.addTies(ranks, from, at)) return from;
  }
  return at;
}

/** Finds where keys equal to that of `from` end, looking from `at` on; that is not far. */
function endOfRun(keys: Uint32Array, from: number, at: number): number {
  const key = keys[from];
  const most = Math.min(keys.length, at + STEP_ROWS);
  let end = at;
  while (end < most && keys[end] === key) end++;
  return end;
}

/** Few rows, stable. */
function byComparing(ranks: Float64Array, rows: Uint32Array): void {
  rows.sort((a, b) => {
    const [x, y] = [ranks[a] as number, ranks[b] as number];
    return x < y ? -1 : x > y ? 1 : a - b;
  });
}

/**
 * The 32 bits of each rank, below those that all ranks share, as numbers that rise with the ranks.
 */
interface Digits {
  readonly keys: Uint32Array;
  /** How many bits of a rank follow these and differ. */
  readonly rest: number;
}

function* leadingDigits(ranks: Float64Array, count: number): Generator<void, Digits> {
  const words = new Uint32Array(ranks.buffer, ranks.byteOffset, count * 2);
  const differing = new Uint32Array(2);
  yield* inSlices(count, STEP_ROWS, (from, to) => compareBits(words, from, to, differing));
  const [highs, lows] = differing as unknown as [number, number];
  const shared = highs === 0 ? 32 + Math.clz32(lows) : Math.clz32(highs);
  const keys = new Uint32Array(count);
  yield* inSlices(count, STEP_ROWS, (from, to) => fillKeys(words, shared, from, to, keys));
  const rest = 32 - shared;
  return { keys, rest: rest > 0 && lows << shared !== 0 ? rest : 0 };
}

function numberRows(rows: Uint32Array, from: number, to: number): void {
  for (let row = from; row < to; row++) rows[row] = row;
}

/** Adds the bits in which ranks differ from the first one: of the high halves, of the low ones. */
function compareBits(words: Uint32Array, from: number, to: number, differing: Uint32Array): void {
  const firstHigh = risingHigh(words[1] as number);
  const firstLow = risingLow(words[0] as number, words[1] as number);
  let highs = 0;
  let lows = 0;
  for (let row = from; row < to; row++) {
    const word = words[2 * row + 1] as number;
    highs |= risingHigh(word) ^ firstHigh;
    lows |= risingLow(words[2 * row] as number, word) ^ firstLow;
  }
  differing[0] = (differing[0] as number) | highs;
  differing[1] = (differing[1] as number) | lows;
}

function fillKeys(
  words: Uint32Array,
  shared: number,
  from: number,
  to: number,
  keys: Uint32Array,
): void {
  for (let row = from; row < to; row++) {
    const word = words[2 * row + 1] as number;
    keys[row] = bitsFrom(risingHigh(word), risingLow(words[2 * row] as number, word), shared);
  }
}

// Bits of a double, made to rise as an unsigned number where the double rises.
const risingHigh = (high: number): number => high ^ ((high >> 31) | 0x8000_0000);
const risingLow = (low: number, high: number): number => low ^ (high >> 31);

/** 32 bits of 64 from bit `from` on, counted from the highest. */
function bitsFrom(high: number, low: number, from: number): number {
  if (from === 0) return high;
  if (from >= 32) return low << (from - 32);
  return (high << from) | (low >>> (32 - from));
}

interface Spare {
  readonly keys: Uint32Array;
  readonly rows: Uint32Array;
}

/** Runs up to this length are put in order by inserting. */
const SHORT_RUN = 96;

function insertByRank(ranks: Float64Array, rows: Uint32Array, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    const row = rows[at] as number;
    const rank = ranks[row] as number;
    let place = at;
    while (place > from && (ranks[rows[place - 1] as number] as number) > rank) {
      rows[place] = rows[place - 1] as number;
      place--;
    }
    rows[place] = row;
  }
}

/** Sorts more rows, whose leading digits are the same, by what follows these. */
function* byRest(
  ranks: Float64Array,
  rows: Uint32Array,
  keys: Uint32Array,
  { rest }: Digits,
  spare: Spare,
): Generator<void> {
  const words = new Uint32Array(ranks.buffer, ranks.byteOffset, ranks.length * 2);
  yield* inSlices(rows.length, STEP_ROWS, (from, to) =>
    fillRest(words, rows, rest, from, to, keys),
  );
  yield* byDigits(keys, rows, spare);
}

function fillRest(
  words: Uint32Array,
  rows: Uint32Array,
  rest: number,
  from: number,
  to: number,
  keys: Uint32Array,
): void {
  for (let at = from; at < to; at++) {
    const row = rows[at] as number;
    keys[at] = risingLow(words[2 * row] as number, words[2 * row + 1] as number) << (32 - rest);
  }
}

/** Sorts rows by their keys, those of equal keys as they are; the keys as well. */
function* byDigits(keys: Uint32Array, rows: Uint32Array, spare: Spare): Generator<void> {
  const count = rows.length;
  let from = { keys, rows };
  let to = { keys: spare.keys.subarray(0, count), rows: spare.rows.subarray(0, count) };
  // How often each digit is there does not depend on the order: one look at the keys counts all.
  const counts = new Uint32Array(PASSES * DIGITS);
  yield* inSlices(count, STEP_ROWS, (begin, end) => countDigits(keys, begin, end, counts));
  for (let pass = 0; pass < PASSES; pass++) {
    const starts = counts.subarray(pass * DIGITS, (pass + 1) * DIGITS);
    if (!makeStarts(starts, count)) continue;
    const [source, target] = [from, to];
    yield* inSlices(count, STEP_ROWS, (begin, end) => {
      distribute(source, target, starts, pass * DIGIT_BITS, begin, end);
    });
    yield;
    [from, to] = [to, from];
  }
  if (from.rows === rows) return;
  keys.set(from.keys);
  rows.set(from.rows);
}

function countDigits(keys: Uint32Array, from: number, to: number, counts: Uint32Array): void {
  const seconds = counts.subarray(DIGITS, 2 * DIGITS);
  const thirds = counts.subarray(2 * DIGITS);
  for (let at = from; at < to; at++) {
    const key = keys[at] as number;
    const first = key & (DIGITS - 1);
    const second = (key >>> DIGIT_BITS) & (DIGITS - 1);
    const third = key >>> (2 * DIGIT_BITS);
    counts[first] = (counts[first] as number) + 1;
    seconds[second] = (seconds[second] as number) + 1;
    thirds[third] = (thirds[third] as number) + 1;
  }
}

/**
 * Turns the number of rows of each digit into where they begin; false if all rows have the same
 * digit.
 */
function makeStarts(counts: Uint32Array, count: number): boolean {
  let next = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const size = counts[digit] as number;
    if (size === count) return false;
    counts[digit] = next;
    next += size;
  }
  return true;
}

function distribute(
  { keys, rows }: Spare,
  to: Spare,
  starts: Uint32Array,
  shift: number,
  begin: number,
  end: number,
): void {
  const { keys: toKeys, rows: toRows } = to;
  for (let at = begin; at < end; at++) {
    const key = keys[at] as number;
    const digit = (key >>> shift) & (DIGITS - 1);
    const place = starts[digit] as number;
    starts[digit] = place + 1;
    toKeys[place] = key;
    toRows[place] = rows[at] as number;
  }
}

/** Rows of a run that are put in order by inserting. */
const RUN = 16;

/** The meter goes on from one run to the next: there may be as many short ones as rows. */
function* mergeSorted(rows: Uint32Array, { compare, meter }: RowOrder): Generator<void> {
  const count = rows.length;
  meter.work += RUN;
  for (let from = 0; from < count; from += RUN) {
    const end = Math.min(count, from + RUN);
    for (let at = from + 1; at < end; at++) {
      const row = rows[at] as number;
      let place = at;
      while (place > from && compare(rows[place - 1] as number, row) > 0) {
        rows[place] = rows[place - 1] as number;
        place--;
        meter.work++;
      }
      rows[place] = row;
      meter.work++;
    }
    if (meter.work <= COMPARISONS) continue;
    yield;
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
        meter.work++;
        if (meter.work <= COMPARISONS) continue;
        yield;
        meter.work = 0;
      }
    }
    [source, target] = [target, source];
  }
  if (source !== rows) rows.set(source);
}
