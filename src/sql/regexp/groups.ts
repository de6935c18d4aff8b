/**
 * `GroupSearch` finds the positions of a match's groups, once the start and end of the match are
 * known. It tries the program's paths in order of priority, each instruction at most once per
 * position. It works in steps: `goOn` returns null if it is not done. If the instructions times the
 * positions of the match exceed 2^26, `begin` throws InvalidInput.
 */
import { DirspaceError } from '../../errors.ts';
import { ASSERT, CHAR, holds, MATCH, type Program, SPLIT } from './program.ts';
import { refusePattern } from './syntax.ts';
import { type Found, kindAt, kindBefore } from './text.ts';

/** Bits of instructions at positions that one search may note. */
const MAX_VISITED = 1 << 26;
/** Bits that are cleared in the time that an instruction takes. */
const CLEARED_AT_ONCE = 1 << 10;

export class GroupSearch {
  readonly #program: Program;
  readonly #pattern: string;
  #visited = new Uint32Array(0);
  /** Pairs: an instruction and a position to go on at, or a slot and what it was before. */
  readonly #stack: number[] = [];
  #top = 0;
  #text = '';
  #start = 0;
  #end = 0;
  #found: number[] = [];
  /** Instructions tried in the last step. */
  passed = 0;

  constructor(program: Program, pattern: string) {
    this.#program = program;
    this.#pattern = pattern;
  }

  /** Returns its own work, in instructions. @throws InvalidInput for a match that is too long */
  begin(text: string, start: number, end: number): number {
    const { ops, slots } = this.#program;
    const bits = (end - start + 1) * ops.length;
    if (bits > MAX_VISITED) {
      refusePattern(
        this.#pattern,
        `its match of ${end - start} characters is too long for the groups of an automaton of ${ops.length} states (at most ${Math.floor(MAX_VISITED / ops.length)})`,
      );
    }
    const words = (bits >> 5) + 1;
    if (this.#visited.length < words) this.#visited = new Uint32Array(words);
    else this.#visited.fill(0, 0, words);
    this.#text = text;
    this.#start = start;
    this.#end = end;
    this.#found = new Array<number>(slots).fill(-1);
    this.#stack[0] = this.#program.start;
    this.#stack[1] = start;
    this.#top = 2;
    return Math.ceil(bits / CLEARED_AT_ONCE);
  }

  /** The groups; null where more than `most` instructions had to be tried, and it has to go on. */
  goOn(most: number): Found | null {
    const program = this.#program;
    const { ops, x, y, members, alphabet } = program;
    const [text, start, end, found] = [this.#text, this.#start, this.#end, this.#found];
    const length = end - start + 1;
    const [visited, stack] = [this.#visited, this.#stack];
    let passed = 0;
    for (let top = this.#top; top > 0; ) {
      let position = stack[--top] as number;
      let at = stack[--top] as number;
      if (at < 0) {
        found[~at] = position;
        continue;
      }
      for (;;) {
        if (++passed > most) {
          stack[top++] = at;
          stack[top++] = position;
          this.#top = top;
          return null;
        }
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
          const before = kindBefore(program, text, position);
          if (!holds(y[at] as number, before, kindAt(program, text, position))) break;
        } else if (op === MATCH) {
          this.passed = passed;
          this.#text = '';
          return found;
        } else {
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
