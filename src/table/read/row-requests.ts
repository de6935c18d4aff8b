/**
 * Sorts requests for rows into the order of the table, in steps. `groupedByFragment` lists for each
 * fragment the positions of its row ids in the request. `byOffset` sorts such a list by the offsets
 * of the rows, and overwrites it. Ids may repeat. The results may lie in `SpareMemory`; they are
 * valid until the next requests use that memory.
 */
import { newArray } from '../../arrow/index.ts';

/** Up to so many rows are taken in one batch, and collected without turns but between batches. */
export const FEW_ROWS = 1024;

/** The low half of each number, then its high half. */
export const wordsOf = (numbers: BigUint64Array): Uint32Array =>
  new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);

type Slot = 'zeros' | 'requests' | 'ordered' | 'offsets';

/** Memory that is used again for the next rows of the same read. */
export class SpareMemory {
  readonly #arrays = new Map<Slot, Uint32Array>();
  /** Numbers of `ordered` and `offsets` that are in use. */
  #used = 0;

  /** An array of zeros. */
  zeros(length: number): Uint32Array {
    return this.#array('zeros', length).fill(0);
  }

  /** Room for `length` requests; ends the use of all groups before. */
  requests(length: number): Uint32Array {
    this.#used = 0;
    return this.#array('requests', length);
  }

  /** Room for one group more of the last `requests`. */
  group(length: number): Group {
    const whole = this.#arrays.get('requests')?.length ?? length;
    const from = this.#used;
    this.#used += length;
    return {
      requests: this.#array('ordered', whole).subarray(from, from + length),
      offsets: this.#array('offsets', whole).subarray(from, from + length),
    };
  }

  /** Lengths grow a little from lot to lot, so that some room is added. */
  #array(slot: Slot, length: number): Uint32Array {
    let array = this.#arrays.get(slot);
    if (array === undefined || array.length < length) {
      array = newArray(Uint32Array, length > FEW_ROWS ? Math.ceil(length * ROOM) : length);
      this.#arrays.set(slot, array);
    }
    return array.length === length ? array : array.subarray(0, length);
  }
}

/** Room that is taken, in parts of what is needed. */
const ROOM = 9 / 8;

/** Requests of rows of one fragment, and the offsets of these, ascending. */
export interface Group {
  readonly requests: Uint32Array;
  readonly offsets: Uint32Array;
}

/** Ids gone through between two yields. */
const STEP_IDS = 1 << 16;

function* overIds(count: number, loop: (from: number, to: number) => void): Generator<void> {
  for (let from = 0; from < count; from += STEP_IDS) {
    if (from > 0) yield;
    loop(from, Math.min(count, from + STEP_IDS));
  }
}

/** Requests of one fragment while they are listed. */
interface Listed {
  count: number;
  requests: Uint32Array;
}

/** Positions in the request by fragment id. */
export function* groupedByFragment(
  rowIds: BigUint64Array,
  spare: SpareMemory,
): Generator<void, Map<number, Uint32Array>> {
  const words = wordsOf(rowIds);
  const groups = new Map<number, Listed>();
  yield* overIds(rowIds.length, (from, to) => countByFragment(words, from, to, groups));
  const all = spare.requests(rowIds.length);
  let next = 0;
  for (const group of groups.values()) {
    group.requests = all.subarray(next, next + group.count);
    next += group.count;
    group.count = 0;
  }
  yield* overIds(rowIds.length, (from, to) => listByFragment(words, from, to, groups));
  return new Map(Array.from(groups, ([fragment, { requests }]) => [fragment, requests]));
}

function countByFragment(
  words: Uint32Array,
  from: number,
  to: number,
  groups: Map<number, Listed>,
): void {
  for (let at = from; at < to; ) {
    const fragment = words[2 * at + 1] as number;
    const end = endOfFragment(words, at, to);
    const group = groups.get(fragment);
    if (group === undefined) groups.set(fragment, { count: end - at, requests: NONE });
    else group.count += end - at;
    at = end;
  }
}

function listByFragment(
  words: Uint32Array,
  from: number,
  to: number,
  groups: Map<number, Listed>,
): void {
  for (let at = from; at < to; ) {
    const group = groups.get(words[2 * at + 1] as number) as Listed;
    const end = endOfFragment(words, at, to);
    let { count } = group;
    for (; at < end; at++) group.requests[count++] = at;
    group.count = count;
  }
}

/** Where a run of ids of one fragment ends, at most `to`. */
function endOfFragment(words: Uint32Array, from: number, to: number): number {
  const fragment = words[2 * from + 1];
  let end = from + 1;
  while (end < to && words[2 * end + 1] === fragment) end++;
  return end;
}

const NONE: Uint32Array = new Uint32Array(0);

/** Requests that are more than this share of the rows between them are put in order by counting. */
const DENSE_SHARE = 1 / 16;

/** Uses up the memory of the requests. */
export function* byOffset(
  rowIds: BigUint64Array,
  requests: Uint32Array,
  spare: SpareMemory,
): Generator<void, Group> {
  const ids = wordsOf(rowIds);
  const { length } = requests;
  let last = 0;
  yield* overIds(length, (from, to) => {
    last = Math.max(last, lastOffset(ids, requests, from, to));
  });
  if (length > FEW_ROWS && length > last * DENSE_SHARE) {
    const group = spare.group(length);
    if (yield* byCounting(ids, requests, last, spare, group)) return group;
  }
  const pairs = newArray(BigUint64Array, length);
  const words = wordsOf(pairs);
  const offsets = newArray(Uint32Array, length);
  yield* overIds(length, (from, to) => fillPairs(ids, requests, from, to, words));
  if (length > 1) pairs.sort();
  yield* overIds(length, (from, to) => splitPairs(words, from, to, { requests, offsets }));
  return { requests, offsets };
}

function lastOffset(ids: Uint32Array, requests: Uint32Array, from: number, to: number): number {
  let last = 0;
  for (let at = from; at < to; at++) {
    const offset = ids[2 * (requests[at] as number)] as number;
    if (offset > last) last = offset;
  }
  return last;
}

/** The request below, the offset above, so that pairs are sorted by offset. */
function fillPairs(
  ids: Uint32Array,
  requests: Uint32Array,
  from: number,
  to: number,
  pairs: Uint32Array,
): void {
  for (let at = from; at < to; at++) {
    const request = requests[at] as number;
    pairs[2 * at] = request;
    pairs[2 * at + 1] = ids[2 * request] as number;
  }
}

function splitPairs(pairs: Uint32Array, from: number, to: number, group: Group): void {
  const { requests, offsets } = group;
  for (let at = from; at < to; at++) {
    requests[at] = pairs[2 * at] as number;
    offsets[at] = pairs[2 * at + 1] as number;
  }
}

/** Fills the group; false where a row is asked for twice. */
function* byCounting(
  ids: Uint32Array,
  requests: Uint32Array,
  last: number,
  spare: SpareMemory,
  group: Group,
): Generator<void, boolean> {
  /** One more than the request of each row. */
  const asked = spare.zeros(last + 1);
  for (let from = 0; from < requests.length; from += STEP_IDS) {
    const to = Math.min(requests.length, from + STEP_IDS);
    if (!countRequests(ids, requests, from, to, asked)) return false;
    yield;
  }
  let at = 0;
  yield* overIds(last + 1, (from, to) => {
    at = listRequests(asked, from, to, group, at);
  });
  return true;
}

/** False where a row is asked for twice. */
function countRequests(
  ids: Uint32Array,
  requests: Uint32Array,
  from: number,
  to: number,
  asked: Uint32Array,
): boolean {
  for (let at = from; at < to; at++) {
    const request = requests[at] as number;
    const offset = ids[2 * request] as number;
    if (asked[offset] !== 0) return false;
    asked[offset] = request + 1;
  }
  return true;
}

/** Adds the requests of the offsets to the group behind the first `at`; how many it has then. */
function listRequests(
  asked: Uint32Array,
  from: number,
  to: number,
  { requests, offsets }: Group,
  at: number,
): number {
  let next = at;
  for (let offset = from; offset < to; offset++) {
    const request = asked[offset] as number;
    if (request === 0) continue;
    requests[next] = request - 1;
    offsets[next++] = offset;
  }
  return next;
}
