/**
 * Searches and trims texts that may be very long, in steps that let other work run in between
 * (`eachPlace`, `trimInSteps`), and joins many pieces to one text (`Joining`). `eachPlace` takes a
 * part that is not empty, and calls back for places without overlaps until told to stop. `trim`
 * trims at once. strings.ts uses these to trim, replace, split and search long texts, and
 * text-parts.ts for translate and string_split.
 */
import { finderInSteps } from '../texts/index.ts';
import { STEP_UNITS } from './rows.ts';

/** Calls `visit` for each place of `part`, which is not empty, without overlaps, until it answers false. */
export function* eachPlace(
  value: string,
  part: string,
  visit: (at: number) => boolean,
): Generator<void> {
  const finder = yield* finderInSteps(part);
  const size = Math.max(STEP_UNITS, part.length);
  for (let from = 0; from + part.length <= value.length; ) {
    yield;
    const window = value.slice(from, from + size + part.length - 1);
    let next = size;
    for (let at = finder.find(window, 0); at >= 0; at = finder.find(window, at + part.length)) {
      if (!visit(from + at)) return;
      next = Math.max(size, at + part.length);
    }
    from += next;
  }
}

const PIECES = 4096;

/** A text of many pieces, which are joined a few thousand at a time. */
export class Joining {
  readonly #pieces: string[] = [];
  #made = '';

  add(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    if (this.#pieces.length >= PIECES) this.#join();
  }

  text(): string {
    this.#join();
    return this.#made;
  }

  #join(): void {
    this.#made += this.#pieces.join('');
    this.#pieces.length = 0;
  }
}

/** Removes characters of `set` from the ends asked for. */
export function trim(text: string, set: string, left: boolean, right: boolean): string {
  const drop = new Set<number>();
  addPoints(drop, set, 0, set.length);
  const from = left ? skipStart(text, drop, 0, text.length) : 0;
  return text.slice(from, right ? skipEnd(text, drop, from, text.length, from) : text.length);
}

/** The same, in steps. */
export function* trimInSteps(
  text: string,
  set: string,
  left: boolean,
  right: boolean,
): Generator<void, string> {
  const drop = new Set<number>();
  for (let at = 0; at < set.length; ) {
    at = addPoints(drop, set, at, Math.min(set.length, at + STEP_UNITS));
    yield;
  }
  let [from, to] = [0, text.length];
  while (left && from < to) {
    const until = Math.min(to, from + STEP_UNITS);
    from = skipStart(text, drop, from, until);
    if (from < until) break;
    yield;
  }
  while (right && to > from) {
    const until = Math.max(from, to - STEP_UNITS);
    to = skipEnd(text, drop, from, to, until);
    if (to > until) break;
    yield;
  }
  return text.slice(from, to);
}

/** Adds the code points that begin before `until`; where the next one begins. */
function addPoints(drop: Set<number>, set: string, from: number, until: number): number {
  let at = from;
  while (at < until) {
    const point = set.codePointAt(at) as number;
    drop.add(point);
    at += point > 0xffff ? 2 : 1;
  }
  return at;
}

function skipStart(text: string, drop: Set<number>, start: number, until: number): number {
  let from = start;
  while (from < until) {
    const point = text.codePointAt(from) as number;
    if (!drop.has(point)) break;
    from += point > 0xffff ? 2 : 1;
  }
  return from;
}

/** Goes backwards from `end` to `until`, in a text that begins at `from`. */
function skipEnd(
  text: string,
  drop: Set<number>,
  from: number,
  end: number,
  until: number,
): number {
  let to = end;
  while (to > until) {
    // The second half of a pair is a code point of its own only where it stands alone.
    const pair = to - from > 1 ? (text.codePointAt(to - 2) as number) : 0;
    const point = pair > 0xffff ? pair : text.charCodeAt(to - 1);
    if (!drop.has(point)) break;
    to -= pair > 0xffff ? 2 : 1;
  }
  return to;
}
