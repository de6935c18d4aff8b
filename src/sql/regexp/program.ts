/**
 * `programsOf` compiles a parsed pattern to two programs of a nondeterministic automaton, one that
 * reads forward and one that reads backward. The backward program records no positions of groups.
 * Characters that the pattern does not tell apart form one class (`Alphabet`). A pattern that needs
 * more than 4,096 instructions or 1,024 classes throws InvalidInput. `holds` evaluates an assertion
 * between two kinds of characters.
 */
import { type PointSet, words } from './code-points.ts';
import { type Assertion, type Node, type ParsedPattern, refusePattern } from './syntax.ts';

export const CHAR = 0;
/** Goes on at `x` and at `y`, `x` first. */
export const SPLIT = 1;
/** Notes the position in slot `y`, and goes on at `x`. */
const SAVE = 2;
/** Goes on at `x` where the assertion `y` holds. */
export const ASSERT = 3;
export const MATCH = 4;

export interface Program {
  readonly ops: Uint8Array;
  readonly x: Int32Array;
  readonly y: Int32Array;
  readonly start: number;
  /** Where it starts if a match may begin anywhere from there on; `start` where none could. */
  readonly search: number;
  /** Whether it reads a text from its end to its start. */
  readonly backward: boolean;
  /** Of each CHAR, whether a class belongs to it, by `y` of the instruction. */
  readonly members: readonly Uint8Array[];
  readonly alphabet: Alphabet;
  /** Slots of positions: two for each group, those of the whole match first. */
  readonly slots: number;
  readonly asserts: boolean;
}

const MAX_STATES = 4096;
const MAX_CLASSES = 1024;

const ASSERTIONS: readonly Assertion[] = [
  'text start',
  'text end',
  'line start',
  'line end',
  'word boundary',
  'no word boundary',
  'word start',
  'word end',
  'word start half',
  'word end half',
];

/** Kinds of neighbours that assertions tell apart. */
export const EDGE = 0;
const LINE = 1;
const WORD = 2;
const OTHER = 3;

/** Whether an assertion holds between neighbours of these kinds, in the order of the text. */
export function holds(assertion: number, before: number, after: number): boolean {
  const [left, right] = [before === WORD, after === WORD];
  switch (assertion) {
    case 0:
      return before === EDGE;
    case 1:
      return after === EDGE;
    case 2:
      return before === EDGE || before === LINE;
    case 3:
      return after === EDGE || after === LINE;
    case 4:
      return left !== right;
    case 5:
      return left === right;
    case 6:
      return !left && right;
    case 7:
      return left && !right;
    case 8:
      return !left;
    default:
      return !right;
  }
}

/** Which class a character belongs to. */
class Alphabet {
  /** Number of the classes; the end of a text is one more, with this number. */
  readonly size: number;
  /** By code point, of ASCII. */
  readonly ascii: Uint16Array;
  /** The kind of neighbour that a class is, by its number; that of the end too. */
  readonly kinds: Uint8Array;
  readonly #starts: Int32Array;
  readonly #classes: Uint16Array;
  readonly #pages = new Map<number, Uint16Array>();

  constructor(starts: Int32Array, classes: Uint16Array, size: number, kinds: Uint8Array) {
    this.#starts = starts;
    this.#classes = classes;
    this.size = size;
    this.kinds = kinds;
    this.ascii = Uint16Array.from({ length: 128 }, (_, point) => this.#find(point));
  }

  classOf(point: number): number {
    if (point < 128) return this.ascii[point] as number;
    const page = this.#pages.get(point >> 8) ?? this.#page(point >> 8);
    return page[point & 255] as number;
  }

  #page(number: number): Uint16Array {
    const page = Uint16Array.from({ length: 256 }, (_, at) => this.#find((number << 8) | at));
    this.#pages.set(number, page);
    return page;
  }

  #find(point: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= point) low = middle;
      else high = middle - 1;
    }
    return this.#classes[low] as number;
  }
}

/** The alphabet that tells apart what `sets` do, and which classes each of them has. */
function alphabetOf(
  sets: readonly PointSet[],
  asserts: boolean,
  pattern: string,
): { alphabet: Alphabet; members: Uint8Array[] } {
  const told: PointSet[] = asserts ? [...sets, [10, 10], words()] : [...sets];
  const edges = new Set<number>([0]);
  for (const set of told) {
    for (let i = 0; i < set.length; i += 2) {
      edges.add(set[i] as number);
      edges.add((set[i + 1] as number) + 1);
    }
  }
  const starts = Int32Array.from(edges).sort();
  const cursors = new Int32Array(told.length);
  const byKey = new Map<string, number>();
  const inside: number[][] = [];
  const classes = Uint16Array.from(starts, (start) => {
    const here: number[] = [];
    for (const [number, set] of told.entries()) {
      let at = cursors[number] as number;
      while (at < set.length && (set[at + 1] as number) < start) at += 2;
      cursors[number] = at;
      if (at < set.length && (set[at] as number) <= start) here.push(number);
    }
    const key = here.join();
    let found = byKey.get(key);
    if (found === undefined) {
      found = byKey.size;
      if (found >= MAX_CLASSES) {
        refusePattern(pattern, `it tells more than ${MAX_CLASSES} classes of characters apart`);
      }
      byKey.set(key, found);
      inside.push(here);
    }
    return found;
  });
  const size = byKey.size;
  const kinds = new Uint8Array(size + 1).fill(OTHER);
  kinds[size] = EDGE;
  const members = sets.map(() => new Uint8Array(size + 1));
  for (const [number, here] of inside.entries()) {
    for (const set of here) {
      if (set < sets.length) (members[set] as Uint8Array)[number] = 1;
      else kinds[number] = set === sets.length ? LINE : WORD;
    }
  }
  return { alphabet: new Alphabet(starts, classes, size, kinds), members };
}

/** Whether it can match without a character. */
function canBeEmpty(node: Node): boolean {
  switch (node.kind) {
    case 'empty':
    case 'assert':
      return true;
    case 'set':
      return false;
    case 'group':
      return canBeEmpty(node.body);
    case 'join':
      return node.parts.every(canBeEmpty);
    case 'choice':
      return node.branches.some(canBeEmpty);
    case 'repeat':
      return node.least === 0 || canBeEmpty(node.body);
  }
}

/** Whether a match can begin at the start of the text alone. */
function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'assert':
      return node.what === 'text start';
    case 'group':
      return isAnchored(node.body);
    case 'join':
      return node.parts.some(
        (part, at) => isAnchored(part) && node.parts.slice(0, at).every(isEmpty),
      );
    case 'choice':
      return node.branches.every(isAnchored);
    default:
      return false;
  }
}

const isEmpty = (node: Node): boolean => node.kind === 'empty' || node.kind === 'assert';

/** Both directions of one pattern read the same classes. */
export interface Programs {
  readonly forward: Program;
  /** Matches the text from its end to its start, without positions of groups. */
  readonly backward: Program;
}

/** @throws InvalidInput for an automaton that is too large */
export function programsOf({ root, groups }: ParsedPattern, pattern: string): Programs {
  const sets: PointSet[] = [];
  const numbers = new Map<string, number>();
  const bySet = new Map<PointSet, number>();
  const numberOf = (set: PointSet): number => {
    let number = bySet.get(set);
    if (number !== undefined) return number;
    const key = set.join();
    number = numbers.get(key) ?? sets.push(set) - 1;
    numbers.set(key, number);
    bySet.set(set, number);
    return number;
  };
  const forward = new Assembler(pattern, numberOf, false).whole(root);
  const backward = new Assembler(pattern, numberOf, true).whole(root);
  const asserts = forward.ops.includes(ASSERT);
  const { alphabet, members } = alphabetOf(sets, asserts, pattern);
  const common = { alphabet, members, asserts, slots: 2 * (groups.length + 1) };
  return { forward: { ...forward, ...common }, backward: { ...backward, ...common } };
}

type Assembled = Pick<Program, 'ops' | 'x' | 'y' | 'start' | 'search' | 'backward'>;

/** Instructions from the last to the first: each knows what comes behind it. */
class Assembler {
  readonly #pattern: string;
  readonly #numberOf: (set: PointSet) => number;
  readonly #backward: boolean;
  readonly #ops: number[] = [];
  readonly #x: number[] = [];
  readonly #y: number[] = [];

  constructor(pattern: string, numberOf: (set: PointSet) => number, backward: boolean) {
    this.#pattern = pattern;
    this.#numberOf = numberOf;
    this.#backward = backward;
  }

  whole(root: Node): Assembled {
    const match = this.#emit(MATCH, 0, 0);
    const body = this.#backward
      ? this.#node(root, match)
      : this.#emit(SAVE, this.#node(root, this.#emit(SAVE, match, 1)), 0);
    let search = body;
    if (!this.#backward && !isAnchored(root)) {
      search = this.#emit(SPLIT, body, -1);
      this.#y[search] = this.#emit(CHAR, search, this.#numberOf([0, 0x10ffff]));
    }
    return {
      ops: Uint8Array.from(this.#ops),
      x: Int32Array.from(this.#x),
      y: Int32Array.from(this.#y),
      start: body,
      search,
      backward: this.#backward,
    };
  }

  #emit(op: number, x: number, y: number): number {
    if (this.#ops.length >= MAX_STATES) {
      refusePattern(this.#pattern, `its automaton has more than ${MAX_STATES} states`);
    }
    this.#x.push(x);
    this.#y.push(y);
    return this.#ops.push(op) - 1;
  }

  #split(first: number, second: number, greedy: boolean): number {
    return greedy ? this.#emit(SPLIT, first, second) : this.#emit(SPLIT, second, first);
  }

  /** The first instruction of `node`, which goes on at `next`. */
  #node(node: Node, next: number): number {
    switch (node.kind) {
      case 'empty':
        return next;
      case 'set':
        return this.#emit(CHAR, next, this.#numberOf(node.set));
      case 'assert':
        return this.#emit(ASSERT, next, ASSERTIONS.indexOf(node.what));
      case 'group': {
        if (this.#backward) return this.#node(node.body, next);
        const end = this.#emit(SAVE, next, 2 * node.index + 1);
        return this.#emit(SAVE, this.#node(node.body, end), 2 * node.index);
      }
      case 'join': {
        const parts = this.#backward ? node.parts : [...node.parts].reverse();
        let at = next;
        for (const part of parts) at = this.#node(part, at);
        return at;
      }
      case 'choice': {
        let at = -1;
        for (const branch of [...node.branches].reverse()) {
          const here = this.#node(branch, next);
          at = at < 0 ? here : this.#emit(SPLIT, here, at);
        }
        return at;
      }
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat(node: Extract<Node, { kind: 'repeat' }>, next: number): number {
    const { body, least, most, greedy } = node;
    let at = next;
    let copies = least;
    if (most === Number.POSITIVE_INFINITY) {
      // What can be empty is tried once more before it is given up: (a*)* is ((a*)+)?.
      const once = least > 0 || canBeEmpty(body);
      const loop = this.#emit(SPLIT, -1, -1);
      const again = this.#node(body, loop);
      this.#x[loop] = greedy ? again : next;
      this.#y[loop] = greedy ? next : again;
      at = once ? again : loop;
      if (least === 0 && once) at = this.#split(again, next, greedy);
      if (least > 0) copies--;
    } else {
      for (let k = least; k < most; k++) at = this.#split(this.#node(body, at), next, greedy);
    }
    for (let k = 0; k < copies; k++) {
      const behind = at;
      at = this.#node(body, at);
      // Nothing stays nothing, however often it is repeated.
      if (at === behind) break;
    }
    return at;
  }
}
