/**
 * `Automaton` runs a compiled pattern as a deterministic automaton, whose states are sets of live
 * instructions. `begin` has to be called before each text; `start` gives the first state, and
 * `next` a successor. It computes a state when search.ts first needs it, and caches states in a
 * bounded table, which is emptied when it is full. The time is at worst the length of the text
 * times the size of the program. If new states of one text take more than 2^24 visited
 * instructions, it throws InvalidInput.
 */

import { ASSERT, CHAR, EDGE, holds, MATCH, type Program, SPLIT } from './program.ts';
import { refusePattern } from './syntax.ts';

/** Entries of the table of successors, and instructions that all states together have alive. */
const MAX_ENTRIES = 1 << 16;
const MAX_ALIVE = 1 << 16;
const MAX_STATES = 4096;

/**
 * Instructions that may be passed to find out successors for one text: where nearly each character
 * leads to a state of its own, so that none is found out twice, a long text would hold everything up.
 */
const MAX_WORK = 1 << 24;

const UNKNOWN = -1;
/** No match can come any more. */
export const DEAD = 0;

interface State {
  /** Instructions of characters passed, before what comes behind them is followed; by priority. */
  readonly alive: Int32Array;
  /** The kind of the character before. */
  readonly before: number;
}

/**
 * A transition is the row of the next state in the table, times two, plus one where a match ends
 * before the character: so the end of the text, which has a class of its own, tells of the last one.
 */
export class Automaton {
  readonly program: Program;
  /** Rows of `stride` transitions; reads while a text is passed go here directly. */
  table: Int32Array;
  readonly stride: number;
  readonly #entry: number;
  readonly #ordered: boolean;
  readonly #most: number;
  /** The last state of those whose instructions have a hash, and for each state the one before it. */
  readonly #ids = new Map<number, number>();
  readonly #others: number[] = [];
  /** Rows of the states at the start of a search, by the kind of the character before. */
  readonly #starts = new Int32Array(4);
  #states: State[] = [];
  #alive = 0;
  /** Scratch of the walk behind an instruction. */
  readonly #seen: Uint32Array;
  readonly #stack: Int32Array;
  readonly #chars: Int32Array;
  readonly #taken: Uint32Array;
  #walk = 0;
  readonly #pattern: string;
  #work = 0;
  #length = 0;
  /** Instructions passed to find out successors since its reader set it back, for steps to end by. */
  spent = 0;

  /**
   * Starts at instruction `entry`. `ordered`: by priority, cut off at the first match, as a search
   * for its end needs; else all there are.
   */
  constructor(program: Program, entry: number, ordered: boolean, pattern: string) {
    this.program = program;
    this.#pattern = pattern;
    this.#entry = entry;
    this.#ordered = ordered;
    this.stride = program.alphabet.size + 1;
    this.#most = Math.max(16, Math.min(MAX_STATES, Math.floor(MAX_ENTRIES / this.stride)));
    this.table = new Int32Array(this.stride * 16);
    const size = program.ops.length;
    this.#seen = new Uint32Array(size);
    this.#stack = new Int32Array(2 * size + 2);
    this.#chars = new Int32Array(size);
    this.#taken = new Uint32Array(size);
    this.#reset();
  }

  /** Told before a text of `length` is read, for which the work is counted anew. */
  begin(length: number): void {
    this.#work = 0;
    this.#length = length;
  }

  /** The row of the state at the start of a search; `before` is the kind of the character before it. */
  start(before: number): number {
    const kind = this.program.asserts ? before : EDGE;
    const known = this.#starts[kind] as number;
    if (known !== UNKNOWN) return known;
    const row = this.#row(Int32Array.of(this.#entry), kind);
    this.#starts[kind] = row;
    return row;
  }

  next(row: number, symbol: number): number {
    const known = this.table[row + symbol] as number;
    return known < 0 ? this.step(row, symbol) : known;
  }

  /** The transition of a row, which is not in the table yet. The row may be another one afterwards. */
  step(row: number, symbol: number): number {
    const state = this.#states[row / this.stride] as State;
    const found = this.#successor(state, symbol);
    const isFull = this.#states.length >= this.#most || this.#alive > MAX_ALIVE;
    if (isFull) {
      // Rows that others hold end here: what is known of this state is all that goes on.
      this.#reset();
      return 2 * this.#row(found.alive, found.before) + found.matched;
    }
    const transition = 2 * this.#row(found.alive, found.before) + found.matched;
    this.table[row + symbol] = transition;
    return transition;
  }

  #reset(): void {
    this.#ids.clear();
    this.#starts.fill(UNKNOWN);
    this.#alive = 0;
    this.#states = [{ alive: new Int32Array(0), before: EDGE }];
    this.table.fill(UNKNOWN);
    this.table.fill(2 * DEAD, 0, this.stride);
  }

  #row(alive: Int32Array, before: number): number {
    if (alive.length === 0) return DEAD;
    const hash = hashOf(alive, before);
    const last = this.#ids.get(hash) ?? -1;
    let id = last;
    while (id >= 0 && !isState(this.#states[id] as State, alive, before)) {
      id = this.#others[id] as number;
    }
    if (id < 0) {
      id = this.#states.push({ alive, before }) - 1;
      this.#alive += alive.length;
      this.#ids.set(hash, id);
      this.#others[id] = last;
      const needed = (id + 1) * this.stride;
      if (needed > this.table.length) {
        const table = new Int32Array(Math.min(this.#most + 1, 2 * (id + 1)) * this.stride);
        table.fill(UNKNOWN);
        table.set(this.table);
        this.table = table;
      }
    }
    return id * this.stride;
  }

  #successor(
    { alive, before }: State,
    symbol: number,
  ): { alive: Int32Array; before: number; matched: 0 | 1 } {
    const { ops, x, y, members, alphabet, asserts, backward } = this.program;
    const after = alphabet.kinds[symbol] as number;
    const [seen, stack, chars, taken] = [this.#seen, this.#stack, this.#chars, this.#taken];
    const walk = ++this.#walk;
    if (this.#work > MAX_WORK) {
      refusePattern(
        this.#pattern,
        `a text of ${this.#length} characters takes too many states of its automaton`,
      );
    }
    let count = 0;
    let visits = 0;
    let matched: 0 | 1 = 0;
    search: for (const first of alive) {
      let top = 0;
      stack[top++] = first;
      while (top > 0) {
        const at = stack[--top] as number;
        if (seen[at] === walk) continue;
        seen[at] = walk;
        visits++;
        const op = ops[at];
        if (op === SPLIT) {
          stack[top++] = y[at] as number;
          stack[top++] = x[at] as number;
        } else if (op === CHAR) {
          const next = x[at] as number;
          if ((members[y[at] as number] as Uint8Array)[symbol] === 1 && taken[next] !== walk) {
            taken[next] = walk;
            chars[count++] = next;
          }
        } else if (op === MATCH) {
          matched = 1;
          if (this.#ordered) break search;
        } else if (op === ASSERT) {
          const [left, right] = backward ? [after, before] : [before, after];
          if (holds(y[at] as number, left, right)) stack[top++] = x[at] as number;
        } else stack[top++] = x[at] as number;
      }
    }
    this.#work += visits;
    this.spent += visits;
    const next = chars.slice(0, count);
    return { alive: this.#ordered ? next : next.sort(), before: asserts ? after : EDGE, matched };
  }
}

/** The FNV-1a hash of the instructions of a state. */
function hashOf(alive: Int32Array, before: number): number {
  let hash = 0x811c9dc5 ^ before;
  for (let k = 0; k < alive.length; k++) hash = Math.imul(hash ^ (alive[k] as number), 0x01000193);
  return hash;
}

function isState(state: State, alive: Int32Array, before: number): boolean {
  if (state.before !== before || state.alive.length !== alive.length) return false;
  for (let k = 0; k < alive.length; k++) if (state.alive[k] !== alive[k]) return false;
  return true;
}
