/**
 * Texts passed through automata: whether there is a match, where the first one lies, and where its
 * groups do. Matches are the leftmost ones, and of these the one that comes first by the order of
 * branches and repeats. UTF-8 is read as it lies, strings by their code points.
 */
import { DirspaceError } from '../../errors.ts';
import { Automaton, DEAD } from './automaton.ts';
import { ASSERT, CHAR, EDGE, holds, MATCH, type Program, type Programs, SPLIT } from './program.ts';
import { refusePattern } from './syntax.ts';

/** Whether `data[start..end)` has a match. What is no UTF-8 counts as one character a byte. */
export function matchesUtf8(
  automaton: Automaton,
  data: Uint8Array,
  start: number,
  end: number,
): boolean {
  const { alphabet } = automaton.program;
  const { ascii } = alphabet;
  let { table } = automaton;
  let row = automaton.start(EDGE);
  for (let at = start; at < end; ) {
    const byte = data[at] as number;
    let symbol: number;
    if (byte < 0x80) {
      symbol = ascii[byte] as number;
      at++;
    } else {
      const size = sizeAt(data, at, end);
      symbol = alphabet.classOf(pointAt(data, at, size));
      at += size;
    }
    let transition = table[row + symbol] as number;
    if (transition < 0) {
      transition = automaton.step(row, symbol);
      table = automaton.table;
    }
    if ((transition & 1) === 1) return true;
    row = transition >> 1;
    if (row === DEAD) return false;
  }
  return (automaton.next(row, alphabet.size) & 1) === 1;
}

/** Bytes that are read between two steps. */
const STEP_BYTES = 1 << 18;

/** The same in steps, for a long text. No one else may use the automaton until it has ended. */
export function* matchesInSteps(
  automaton: Automaton,
  data: Uint8Array,
  start: number,
  end: number,
): Generator<void, boolean> {
  const { alphabet } = automaton.program;
  let row = automaton.start(EDGE);
  for (let at = start; at < end; ) {
    const stop = Math.min(end, at + STEP_BYTES);
    while (at < stop) {
      const size = sizeAt(data, at, end);
      const byte = data[at] as number;
      const symbol = alphabet.classOf(byte < 0x80 ? byte : pointAt(data, at, size));
      at += size;
      const transition = automaton.next(row, symbol);
      if ((transition & 1) === 1) return true;
      row = transition >> 1;
      if (row === DEAD) return false;
    }
    yield;
  }
  return (automaton.next(row, alphabet.size) & 1) === 1;
}

/** Bytes of the character at `at`, 1 where it is none. */
function sizeAt(data: Uint8Array, at: number, end: number): number {
  const lead = data[at] as number;
  const size = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (at + size > end) return 1;
  for (let k = 1; k < size; k++) if (((data[at + k] as number) & 0xc0) !== 0x80) return 1;
  return size;
}

const REPLACEMENT = 0xfffd;

function pointAt(data: Uint8Array, at: number, size: number): number {
  const lead = data[at] as number;
  if (size === 1) return REPLACEMENT;
  let point = lead & (0xff >> (size + 1));
  for (let k = 1; k < size; k++) point = (point << 6) | ((data[at + k] as number) & 0x3f);
  return point;
}

/** Where a match lies: two positions for the whole and for each group, -1 for one that took no part. */
export type Found = readonly number[];

/** Characters that searches of one text may pass in all: so much, and so often its length. */
const STEPS = 1 << 20;
const PASSES = 64;

/** Bits of instructions at positions that the search for groups may note. */
const MAX_VISITED = 1 << 26;

/** The automata of one pattern for strings, made when they are first needed. */
export class Searcher {
  readonly #programs: Programs;
  readonly #pattern: string;
  #ends: Automaton | undefined;
  #starts: Automaton | undefined;
  #visited = new Uint32Array(0);
  readonly #stack: number[] = [];
  /** Characters that the last search passed. */
  #passed = 0;

  constructor(programs: Programs, pattern: string) {
    this.#programs = programs;
    this.#pattern = pattern;
  }

  /** The first match. @throws InvalidInput for one that is too long for the search for its groups */
  find(text: string, groups: boolean): Found | null {
    const span = this.#span(text, 0);
    return span && this.#found(text, span, groups);
  }

  /**
   * Calls `each` with all matches from left to right. One without characters right behind another is
   * none. The time is bounded by the length of the text, as each search could read to its end.
   * @throws InvalidInput
   */
  findAll(text: string, groups: boolean, each: (found: Found) => void): void {
    const { length } = text;
    let last = -1;
    let steps = STEPS + PASSES * length;
    for (let from = 0; from <= length; ) {
      const span = this.#span(text, from);
      if (span === null) return;
      const [start, end] = span as [number, number];
      steps -= this.#passed;
      if (steps < 0) {
        this.#refuse(`to search a text of ${length} characters anew for each match takes too long`);
      }
      if (start === end && end === last) {
        from = end + widthAt(text, end);
        continue;
      }
      last = end;
      from = end;
      each(this.#found(text, span, groups));
    }
  }

  #found(text: string, span: Found, groups: boolean): Found {
    if (!groups || this.#programs.forward.slots === 2) return span;
    return this.#groups(text, span[0] as number, span[1] as number);
  }

  #refuse(why: string): never {
    return refusePattern(this.#pattern, why);
  }

  #span(text: string, from: number): Found | null {
    const { forward, backward } = this.#programs;
    this.#ends ??= new Automaton(forward, forward.search, true, this.#pattern);
    if (from === 0) this.#ends.begin(text.length);
    const end = this.#endOf(this.#ends, text, from);
    if (end < 0) return null;
    this.#starts ??= new Automaton(backward, backward.start, false, this.#pattern);
    if (from === 0) this.#starts.begin(text.length);
    this.#passed += end - from;
    return [startOf(this.#starts, text, from, end), end];
  }

  /** Where the first match at `from` or after it ends, -1 where there is none. */
  #endOf(automaton: Automaton, text: string, from: number): number {
    const { alphabet } = automaton.program;
    const { ascii } = alphabet;
    const { length } = text;
    let { table } = automaton;
    let row = automaton.start(kindBefore(automaton.program, text, from));
    let end = -1;
    let at = from;
    while (at < length) {
      const unit = text.charCodeAt(at);
      let size = 1;
      let symbol: number;
      if (unit < 0x80) symbol = ascii[unit] as number;
      else {
        const point = text.codePointAt(at) as number;
        if (point > 0xffff) size = 2;
        symbol = alphabet.classOf(point);
      }
      let transition = table[row + symbol] as number;
      if (transition < 0) {
        transition = automaton.step(row, symbol);
        table = automaton.table;
      }
      if ((transition & 1) === 1) end = at;
      row = transition >> 1;
      if (row === DEAD) break;
      at += size;
    }
    if (row !== DEAD && (automaton.next(row, alphabet.size) & 1) === 1) end = at;
    this.#passed = at - from;
    return end;
  }

  /** Where the groups of the match between two positions lie: its paths by priority, each step once. */
  #groups(text: string, start: number, end: number): Found {
    const program = this.#programs.forward;
    const { ops, x, y, members, alphabet, slots } = program;
    const length = end - start + 1;
    const bits = length * ops.length;
    if (bits > MAX_VISITED) {
      this.#refuse(
        `its match of ${length - 1} characters is too long for the groups of an automaton of ${ops.length} states (at most ${Math.floor(MAX_VISITED / ops.length)})`,
      );
    }
    const words = (bits >> 5) + 1;
    if (this.#visited.length < words) this.#visited = new Uint32Array(words);
    else this.#visited.fill(0, 0, words);
    const visited = this.#visited;
    const found = new Array<number>(slots).fill(-1);
    // Pairs: an instruction and a position to go on at, or a slot and what it was before.
    const stack = this.#stack;
    stack[0] = program.start;
    stack[1] = start;
    for (let top = 2; top > 0; ) {
      let position = stack[--top] as number;
      let at = stack[--top] as number;
      if (at < 0) {
        found[~at] = position;
        continue;
      }
      for (;;) {
        const bit = at * length + position - start;
        const mask = 1 << (bit & 31);
        if (((visited[bit >> 5] as number) & mask) !== 0) break;
        visited[bit >> 5] = (visited[bit >> 5] as number) | mask;
        const op = ops[at];
        if (op === CHAR) {
          if (position >= end) break;
          const point = text.codePointAt(position) as number;
          if ((members[y[at] as number] as Uint8Array)[alphabet.classOf(point)] === 0) break;
          position += point > 0xffff ? 2 : 1;
        } else if (op === SPLIT) {
          stack[top++] = y[at] as number;
          stack[top++] = position;
        } else if (op === ASSERT) {
          const [before, after] = [
            kindBefore(program, text, position),
            kindAt(program, text, position),
          ];
          if (!holds(y[at] as number, before, after)) break;
        } else if (op === MATCH) return found;
        else {
          const slot = y[at] as number;
          stack[top++] = ~slot;
          stack[top++] = found[slot] as number;
          found[slot] = position;
        }
        at = x[at] as number;
      }
    }
    throw new DirspaceError('Internal', `A match of '${this.#pattern}' was lost`);
  }
}

const widthAt = (text: string, at: number): number =>
  (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;

/** The code point before `at`, which is not 0. */
function pointBefore(text: string, at: number): number {
  const pair = at > 1 ? (text.codePointAt(at - 2) as number) : 0;
  return pair > 0xffff ? pair : text.charCodeAt(at - 1);
}

function kindBefore({ alphabet }: Program, text: string, at: number): number {
  return at === 0 ? EDGE : (alphabet.kinds[alphabet.classOf(pointBefore(text, at))] as number);
}

function kindAt({ alphabet }: Program, text: string, at: number): number {
  const point = text.codePointAt(at);
  return point === undefined ? EDGE : (alphabet.kinds[alphabet.classOf(point)] as number);
}

/** Where the longest match begins that ends at `end`, not before `from`. */
function startOf(automaton: Automaton, text: string, from: number, end: number): number {
  const { alphabet } = automaton.program;
  let row = automaton.start(kindAt(automaton.program, text, end));
  let start = end;
  for (let at = end; row !== DEAD; ) {
    const point = at === 0 ? -1 : pointBefore(text, at);
    const transition = automaton.next(row, point < 0 ? alphabet.size : alphabet.classOf(point));
    if ((transition & 1) === 1) start = at;
    if (at <= from) break;
    row = transition >> 1;
    at -= point > 0xffff ? 2 : 1;
  }
  return start;
}
