/**
 * Searches texts with the automata of a pattern. `Matcher` tells whether UTF-8 text has a match.
 * `Searcher` finds the positions of the first match or of all matches in a string, and of their
 * groups. A match begins as far left as possible; of those with the same start, earlier branches
 * win. Both work in steps (`inSteps`) and yield the work of each step; who calls `begin` and `goOn`
 * instead calls `rest` after each step. A search that takes too much work throws InvalidInput.
 */
import { Automaton, DEAD } from './automaton.ts';
import { GroupSearch } from './groups.ts';
import { EDGE, type Programs } from './program.ts';
import { refusePattern } from './syntax.ts';
import { type Found, kindAt, kindBefore, pointAt, pointBefore, sizeAt, widthAt } from './text.ts';

/** Characters passed and instructions looked at in one step: a few milliseconds. */
const STEP_WORK = 1 << 18;

/** Says whether UTF-8 texts have a match, one text after another, each in as many steps as it takes. */
export class Matcher {
  readonly #automaton: Automaton;
  #data: Uint8Array = NOTHING;
  #at = 0;
  #end = 0;
  #row = DEAD;
  /** Characters passed since the last step ended. */
  #passed = 0;

  constructor({ forward }: Programs, pattern: string) {
    this.#automaton = new Automaton(forward, forward.search, false, pattern);
  }

  /**
   * Whether `data[start..end)` has a match. What is no UTF-8 counts as one character a byte. Yields the
   * work of each step.
   */
  *inSteps(data: Uint8Array, start: number, end: number): Generator<number, boolean> {
    for (let found = this.begin(data, start, end); ; found = this.goOn()) {
      if (found !== undefined) return found;
      yield this.rest();
    }
  }

  /** The same without a break where it takes one step; undefined where it has to `rest` and `goOn`. */
  begin(data: Uint8Array, start: number, end: number): boolean | undefined {
    this.#automaton.begin(end - start);
    this.#data = data;
    this.#at = start;
    this.#end = end;
    this.#row = this.#automaton.start(EDGE);
    return this.#read();
  }

  goOn(): boolean | undefined {
    return this.#read();
  }

  /** Whether a step should end before the next text. */
  get isTired(): boolean {
    return this.#passed + this.#automaton.spent >= STEP_WORK;
  }

  /** Ends a step; returns its work. */
  rest(): number {
    const work = this.#passed + this.#automaton.spent;
    this.#passed = 0;
    this.#automaton.spent = 0;
    return work;
  }

  #read(): boolean | undefined {
    const automaton = this.#automaton;
    const { alphabet } = automaton.program;
    const { ascii } = alphabet;
    const [data, end, from] = [this.#data, this.#end, this.#at];
    let { table } = automaton;
    let row = this.#row;
    let at = from;
    for (let stop = Math.min(end, from + STEP_WORK); at < stop; ) {
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
        if (automaton.spent >= STEP_WORK) stop = at;
      }
      row = (transition & 1) === 1 ? MATCHED : transition >> 1;
      if (row <= DEAD) break;
    }
    this.#passed += at - from;
    if (row > DEAD && at < end) {
      this.#at = at;
      this.#row = row;
      return undefined;
    }
    this.#data = NOTHING;
    return row === MATCHED || (row !== DEAD && (automaton.next(row, alphabet.size) & 1) === 1);
  }
}

const NOTHING = new Uint8Array(0);
/** In place of a row of the table. */
const MATCHED = -1;

/** Characters that searches of one text may pass in all: so much, and so often its length. */
const STEPS = 1 << 20;
const PASSES = 64;

/** Work of telling of a match, in characters passed. */
const FOUND_WORK = 32;

export interface Search {
  /** Whether positions of groups are asked for. */
  readonly groups: boolean;
  /**
   * All matches from left to right, or the first one. One without characters right behind another
   * is none.
   */
  readonly all: boolean;
  /** The work of `each`, counted in characters that take as long. */
  readonly work?: number;
  each(found: Found): void;
}

/** The automata of one pattern for strings, for one search at a time. */
export class Searcher {
  readonly #programs: Programs;
  readonly #pattern: string;
  readonly #ends: Automaton;
  #starts: Automaton | undefined;
  #groups: GroupSearch | undefined;
  /** Characters that the search for an end passed. */
  #passed = 0;
  /** Work done since the last step ended, without that of the automata. */
  #spent = 0;
  // Where the search for an end, then the one for its start, goes on.
  #at = 0;
  #row = DEAD;
  #found = -1;

  constructor(programs: Programs, pattern: string) {
    const { forward } = programs;
    this.#programs = programs;
    this.#pattern = pattern;
    this.#ends = new Automaton(forward, forward.search, true, pattern);
  }

  /**
   * Searches one text, in steps whose work it yields. The time is bounded by the length of the
   * text, as the search for each match could read to its end. @throws InvalidInput
   */
  *inSteps(text: string, { groups, all, work = 0, each }: Search): Generator<number> {
    const { length } = text;
    const { forward, backward } = this.#programs;
    this.#ends.begin(length);
    this.#starts?.begin(length);
    let last = -1;
    let steps = STEPS + PASSES * length;
    for (let from = 0; from <= length; ) {
      this.#row = this.#ends.start(kindBefore(forward, text, from));
      this.#at = from;
      this.#found = -1;
      while (!this.#readForward(text)) yield this.rest();
      const end = this.#found;
      this.#passed = this.#at - from;
      if (end < 0) return;
      if (this.#starts === undefined) {
        this.#starts = new Automaton(backward, backward.start, false, this.#pattern);
        this.#starts.begin(length);
      }
      this.#passed += end - from;
      steps -= this.#passed;
      if (all && steps < 0) {
        refusePattern(
          this.#pattern,
          `to search a text of ${length} characters anew for each match takes too long`,
        );
      }
      this.#row = this.#starts.start(kindAt(backward, text, end));
      this.#at = end;
      this.#found = end;
      while (!this.#readBackward(this.#starts, text, from)) yield this.rest();
      const start = this.#found;
      this.#spent += FOUND_WORK;
      if (start === end && end === last) {
        from = end + widthAt(text, end);
        continue;
      }
      if (groups && forward.slots > 2) {
        this.#groups ??= new GroupSearch(forward, this.#pattern);
        this.#spent += this.#groups.begin(text, start, end);
        let found = this.#groups.goOn(STEP_WORK);
        for (; found === null; found = this.#groups.goOn(STEP_WORK)) yield this.rest();
        this.#spent += this.#groups.passed;
        each(found);
      } else each([start, end]);
      if (!all) return;
      this.#spent += work;
      if (this.isTired) yield this.rest();
      last = end;
      from = end;
    }
  }

  /** Whether a step should end before the next text. */
  get isTired(): boolean {
    return this.#spent + this.#ends.spent + (this.#starts?.spent ?? 0) >= STEP_WORK;
  }

  /** Ends a step; returns its work. */
  rest(): number {
    const work = this.#spent + this.#ends.spent + (this.#starts?.spent ?? 0);
    this.#spent = 0;
    this.#ends.spent = 0;
    if (this.#starts !== undefined) this.#starts.spent = 0;
    return work;
  }

  /** Goes on to where the first match ends; false where the step ends before. */
  #readForward(text: string): boolean {
    const automaton = this.#ends;
    const { alphabet } = automaton.program;
    const { ascii } = alphabet;
    const { length } = text;
    let { table } = automaton;
    let row = this.#row;
    let end = this.#found;
    let at = this.#at;
    const from = at;
    for (let stop = Math.min(length, at + STEP_WORK); at < stop; ) {
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
        if (automaton.spent >= STEP_WORK) stop = at;
      }
      if ((transition & 1) === 1) end = at;
      row = transition >> 1;
      if (row === DEAD) break;
      at += size;
    }
    this.#spent += at - from;
    if (row !== DEAD && at >= length && (automaton.next(row, alphabet.size) & 1) === 1) end = at;
    this.#row = row;
    this.#at = at;
    this.#found = end;
    return row === DEAD || at >= length;
  }

  /**
   * Goes on, from where a match ends, to where the longest one begins, not before `from`; false where
   * the step ends before.
   */
  #readBackward(automaton: Automaton, text: string, from: number): boolean {
    const { alphabet } = automaton.program;
    const began = this.#at;
    for (let at = began; this.#row !== DEAD; ) {
      const point = at === 0 ? -1 : pointBefore(text, at);
      const symbol = point < 0 ? alphabet.size : alphabet.classOf(point);
      const transition = automaton.next(this.#row, symbol);
      if ((transition & 1) === 1) this.#found = at;
      if (at <= from) break;
      this.#row = transition >> 1;
      at -= point > 0xffff ? 2 : 1;
      this.#at = at;
      this.#spent++;
      if (this.#spent >= 2 * STEP_WORK || automaton.spent >= STEP_WORK) return false;
    }
    return true;
  }
}
