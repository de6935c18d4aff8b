/**
 * `parsePattern` parses regular expressions in the syntax of DataFusion's engine (Rust's regex
 * crate), which is like that of Perl without back-references and look-around. Classes such as \d
 * cover all of Unicode, and `$` is the end of the text unless the flag m is set. A pattern has at
 * most 1,000 UTF-16 units, 100 groups, 100 levels, 10 named properties and counts of 1,000, so that
 * compiling it is fast. `refusePattern` throws InvalidInput with the reason for a pattern that is
 * refused.
 */
import { DirspaceError } from '../../errors.ts';
import {
  ANY,
  digits,
  foldedCase,
  intersect,
  negate,
  type PointSet,
  posixClass,
  property,
  setOf,
  single,
  spaces,
  subtract,
  union,
  words,
} from './code-points.ts';

export type Assertion =
  | 'text start'
  | 'text end'
  | 'line start'
  | 'line end'
  | 'word boundary'
  | 'no word boundary'
  | 'word start'
  | 'word end'
  | 'word start half'
  | 'word end half';

export type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: PointSet }
  | { readonly kind: 'assert'; readonly what: Assertion }
  | { readonly kind: 'group'; readonly index: number; readonly body: Node }
  | { readonly kind: 'join'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly branches: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly least: number;
      /** Infinity for no end. */
      readonly most: number;
      readonly greedy: boolean;
    };

export interface ParsedPattern {
  readonly root: Node;
  /** Names of the groups from 1 on; undefined for one without. */
  readonly groups: readonly (string | undefined)[];
}

const MAX_PATTERN = 1000;
const MAX_REPEAT = 1000;
const MAX_DEPTH = 100;
const MAX_GROUPS = 100;
/** Each is looked up among all characters when it is first asked for. */
const MAX_PROPERTIES = 10;

interface Flags {
  /** i: letters match in either case. */
  readonly folds: boolean;
  /** m: ^ and $ match at the lines of the text. */
  readonly lines: boolean;
  /** s: the period matches the end of a line too. */
  readonly all: boolean;
  /** U: repeats are short, and long with ? behind them. */
  readonly swapped: boolean;
  /** x: white space and comments mean nothing. */
  readonly spaced: boolean;
}

const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = {
  i: 'folds',
  m: 'lines',
  s: 'all',
  U: 'swapped',
  x: 'spaced',
};

/** @throws InvalidInput that quotes the pattern and says why it is refused */
export function refusePattern(pattern: string, why: string): never {
  throw new DirspaceError(
    'InvalidInput',
    `The regular expression '${pattern.slice(0, 60)}' is refused: ${why}`,
  );
}

/** `flags` are letters of i, m, s, U and x; g and u change nothing here. @throws InvalidInput */
export function parsePattern(pattern: string, flags: string): ParsedPattern {
  if (pattern.length > MAX_PATTERN) {
    refusePattern(pattern, `it is longer than ${MAX_PATTERN} characters`);
  }
  return new PatternParser(pattern, flags).whole();
}

class PatternParser {
  readonly #pattern: string;
  readonly #points: readonly string[];
  readonly #groups: (string | undefined)[] = [];
  readonly #properties = new Set<string>();
  #flags: Flags;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#points = [...pattern];
    let read: Flags = { folds: false, lines: false, all: false, swapped: false, spaced: false };
    for (const flag of flags) {
      const name = Object.hasOwn(FLAG_NAMES, flag) ? FLAG_NAMES[flag] : undefined;
      if (name !== undefined) read = { ...read, [name]: true };
      else if (flag !== 'g' && flag !== 'u') {
        this.#refuse(`the flag ${flag} is not known; i, m, s, x, U and g are`);
      }
    }
    this.#flags = read;
  }

  whole(): ParsedPattern {
    const root = this.#choice();
    if (this.#at < this.#points.length) this.#refuse('a parenthesis closes nothing');
    return { root, groups: this.#groups };
  }

  #refuse(why: string): never {
    return refusePattern(this.#pattern, why);
  }

  #peek(): string | undefined {
    return this.#points[this.#at];
  }

  #next(what: string): string {
    return this.#points[this.#at++] ?? this.#refuse(`it ends within ${what}`);
  }

  #took(text: string): boolean {
    const size = text.length;
    for (let k = 0; k < size; k++) if (this.#points[this.#at + k] !== text[k]) return false;
    this.#at += size;
    return true;
  }

  /** Passes over what means nothing with the flag x. */
  #skip(): void {
    while (this.#flags.spaced) {
      const next = this.#peek();
      if (next === '#') {
        while (this.#peek() !== undefined && this.#peek() !== '\n') this.#at++;
      } else if (next !== undefined && /\p{White_Space}/u.test(next)) this.#at++;
      else return;
    }
  }

  #choice(): Node {
    if (++this.#depth > MAX_DEPTH) this.#refuse(`its groups nest more than ${MAX_DEPTH} deep`);
    const outer = this.#flags;
    const branches = [this.#sequence()];
    while (this.#took('|')) branches.push(this.#sequence());
    // Flags that are set within a group end with it.
    this.#flags = outer;
    this.#depth--;
    const [only] = branches;
    return branches.length === 1 && only !== undefined ? only : { kind: 'choice', branches };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    for (;;) {
      this.#skip();
      const next = this.#peek();
      if (next === undefined || next === '|' || next === ')') break;
      const atom = this.#atom();
      if (atom === undefined) {
        this.#skip();
        const after = this.#peek();
        if (after !== undefined && '*+?{'.includes(after))
          this.#refuse(`the ${after} repeats nothing`);
        continue;
      }
      parts.push(this.#repeats(atom));
    }
    const [only] = parts;
    if (only === undefined) return { kind: 'empty' };
    return parts.length === 1 ? only : { kind: 'join', parts };
  }

  /** Undefined for flags, which are nothing to repeat. */
  #atom(): Node | undefined {
    const next = this.#next('itself');
    switch (next) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'set', set: this.#class() };
      case '.':
        return { kind: 'set', set: this.#flags.all ? ANY : negate(single(10)) };
      case '^':
        return { kind: 'assert', what: this.#flags.lines ? 'line start' : 'text start' };
      case '$':
        return { kind: 'assert', what: this.#flags.lines ? 'line end' : 'text end' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
      case '{':
        return this.#refuse(`the ${next} repeats nothing`);
      default:
        return this.#literal(next.codePointAt(0) as number);
    }
  }

  #literal(point: number): Node {
    return { kind: 'set', set: this.#cased(single(point)) };
  }

  #cased(set: PointSet): PointSet {
    return this.#flags.folds ? foldedCase(set) : set;
  }

  #repeats(atom: Node): Node {
    let body = atom;
    for (let depth = this.#depth; ; depth++) {
      this.#skip();
      const next = this.#peek();
      let least = 0;
      let most = Number.POSITIVE_INFINITY;
      if (next === '+') least = 1;
      else if (next === '?') most = 1;
      else if (next !== '*' && next !== '{') return body;
      this.#at++;
      if (next === '{') [least, most] = this.#counts();
      if (depth > MAX_DEPTH) this.#refuse(`its repeats nest more than ${MAX_DEPTH} deep`);
      this.#skip();
      const greedy = this.#took('?') === this.#flags.swapped;
      body = { kind: 'repeat', body, least, most, greedy };
    }
  }

  #counts(): [least: number, most: number] {
    const least = this.#count();
    let most = least;
    if (this.#took(',')) most = this.#peek() === '}' ? Number.POSITIVE_INFINITY : this.#count();
    if (!this.#took('}')) this.#refuse('a { is no count of repeats; write \\{ for the character');
    if (most < least) this.#refuse(`it repeats from ${least} to ${most} times`);
    return [least, most];
  }

  #count(): number {
    let text = '';
    while (this.#took(' '));
    while (/^[0-9]$/.test(this.#peek() ?? '')) text += this.#next('a count');
    if (text === '') this.#refuse('a { is no count of repeats; write \\{ for the character');
    if (text.length > 8 || Number(text) > MAX_REPEAT) {
      this.#refuse(`it repeats more than ${MAX_REPEAT} times`);
    }
    while (this.#took(' '));
    return Number(text);
  }

  #group(): Node | undefined {
    if (!this.#took('?')) return this.#captured(undefined);
    if (/^<?[=!]/.test(this.#points.slice(this.#at, this.#at + 2).join(''))) {
      this.#refuse('look-around is not supported');
    }
    if (this.#took('P<') || this.#took('<')) {
      let name = '';
      for (let next = this.#next('a name'); next !== '>'; next = this.#next('a name')) name += next;
      if (!/^[\p{Alphabetic}_][\p{Alphabetic}\p{Nd}_.[\]]*$/u.test(name)) {
        this.#refuse(`'${name}' is no name of a group`);
      }
      if (this.#groups.includes(name)) this.#refuse(`two groups have the name ${name}`);
      return this.#captured(name);
    }
    return this.#flagged();
  }

  #captured(name: string | undefined): Node {
    if (this.#groups.length >= MAX_GROUPS) this.#refuse(`it has more than ${MAX_GROUPS} groups`);
    this.#groups.push(name);
    const index = this.#groups.length;
    const body = this.#choice();
    this.#closed();
    return { kind: 'group', index, body };
  }

  #closed(): void {
    if (!this.#took(')')) this.#refuse('a parenthesis is never closed');
  }

  /** `(?i)` for the rest of the group it stands in, `(?i:..)` for its own. */
  #flagged(): Node | undefined {
    let flags = this.#flags;
    let on = true;
    let last = '';
    for (let next = this.#next('flags'); ; next = this.#next('flags')) {
      if (next === ')' || next === ':') {
        if (last === '-' || (next === ')' && last === ''))
          this.#refuse('a group of flags has none');
        if (next === ')') {
          this.#flags = flags;
          return undefined;
        }
        const outer = this.#flags;
        this.#flags = flags;
        const body = this.#choice();
        this.#flags = outer;
        this.#closed();
        return body;
      }
      last = next;
      const name = Object.hasOwn(FLAG_NAMES, next) ? FLAG_NAMES[next] : undefined;
      if (next === '-' && on) on = false;
      else if (name !== undefined) flags = { ...flags, [name]: on };
      else if (next !== 'u' || !on) this.#refuse(`the flag ${next} is not supported here`);
    }
  }

  #escape(): Node {
    const next = this.#next('an escape');
    if (/^[1-9]$/.test(next) || next === 'k') this.#refuse('back-references are not supported');
    switch (next) {
      case 'A':
        return { kind: 'assert', what: 'text start' };
      case 'z':
        return { kind: 'assert', what: 'text end' };
      case 'B':
        return { kind: 'assert', what: 'no word boundary' };
      case 'b':
        return { kind: 'assert', what: this.#boundary() };
      case '<':
        return { kind: 'assert', what: 'word start' };
      case '>':
        return { kind: 'assert', what: 'word end' };
      default: {
        const set = this.#escapedClass(next);
        if (set !== undefined) return { kind: 'set', set };
        return this.#literal(this.#escapedPoint(next));
      }
    }
  }

  #boundary(): Assertion {
    for (const side of ['start', 'end', 'start-half', 'end-half'] as const) {
      if (this.#took(`{${side}}`)) return `word ${side.replace('-', ' ')}` as Assertion;
    }
    return 'word boundary';
  }

  /** `\d` and its like, and properties; undefined for what is one character. */
  #escapedClass(letter: string): PointSet | undefined {
    switch (letter) {
      case 'd':
        return digits();
      case 'D':
        return negate(digits());
      case 's':
        return spaces();
      case 'S':
        return negate(spaces());
      case 'w':
        return words();
      case 'W':
        return negate(words());
      case 'p':
      case 'P': {
        let name = this.#next('a property');
        if (name === '{') {
          name = '';
          for (let next = this.#next('a property'); next !== '}'; ) {
            name += next;
            next = this.#next('a property');
          }
        }
        this.#properties.add(name);
        if (this.#properties.size > MAX_PROPERTIES) {
          this.#refuse(`it names more than ${MAX_PROPERTIES} properties`);
        }
        const found = property(name);
        if (found === null) this.#refuse(`there is no property ${name}`);
        const set = this.#cased(found);
        return letter === 'p' ? set : negate(set);
      }
      default:
        return undefined;
    }
  }

  #escapedPoint(letter: string): number {
    const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
    if (Object.hasOwn(controls, letter)) return controls[letter] as number;
    const sizes: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };
    if (Object.hasOwn(sizes, letter)) return this.#hexadecimal(sizes[letter] as number);
    if (/^[\p{P}\p{S} ]$/u.test(letter) && letter <= '~') return letter.codePointAt(0) as number;
    if (this.#flags.spaced && /^\s$/u.test(letter)) return letter.codePointAt(0) as number;
    return this.#refuse(`the escape \\${letter} is not known`);
  }

  #hexadecimal(size: number): number {
    let text = '';
    if (this.#took('{')) {
      for (let next = this.#next('a code'); next !== '}'; next = this.#next('a code')) text += next;
    } else while (text.length < size) text += this.#next('a code');
    const point = /^[0-9a-fA-F]{1,8}$/.test(text) ? Number.parseInt(text, 16) : -1;
    const isSurrogate = point >= 0xd800 && point <= 0xdfff;
    if (point < 0 || point > 0x10ffff || isSurrogate)
      this.#refuse(`'${text}' is no code of a character`);
    return point;
  }

  /** What is between brackets; the first one is taken. Inner brackets are classes of their own. */
  #class(): PointSet {
    if (++this.#depth > MAX_DEPTH) this.#refuse(`its classes nest more than ${MAX_DEPTH} deep`);
    const negated = this.#took('^');
    let set: PointSet | undefined;
    let items: PointSet[] = [];
    let pending: '&&' | '--' | '~~' | undefined;
    const settle = (): PointSet => {
      const right = union(...items);
      if (set === undefined || pending === undefined) return right;
      if (pending === '&&') return intersect(set, right);
      if (pending === '--') return subtract(set, right);
      return subtract(union(set, right), intersect(set, right));
    };
    for (let first = true; ; first = false) {
      this.#skip();
      // Right after the opening, a closing bracket and hyphens are characters.
      if (this.#peek() === ']' && !first) break;
      const operator = (['&&', '--', '~~'] as const).find((text) => !first && this.#took(text));
      if (operator !== undefined) {
        set = settle();
        pending = operator;
        items = [];
        continue;
      }
      items.push(this.#classItem());
    }
    this.#at++;
    this.#depth--;
    const all = settle();
    return negated ? negate(all) : all;
  }

  #classItem(): PointSet {
    if (this.#took('[')) {
      const posix = /^:(\^?)(\w+):\]/.exec(this.#points.slice(this.#at, this.#at + 12).join(''));
      const set = posix === null ? null : posixClass(posix[2] as string);
      if (posix === null || set === null) return this.#class();
      this.#at += posix[0].length;
      return this.#cased(posix[1] === '' ? set : negate(set));
    }
    const from = this.#classPoint();
    if (typeof from !== 'number') return from;
    const after = this.#points.slice(this.#at, this.#at + 2);
    if (after[0] !== '-' || after[1] === ']' || after[1] === '-') return this.#cased(single(from));
    this.#at++;
    this.#skip();
    const to = this.#classPoint();
    if (typeof to !== 'number') return this.#refuse('a range of a class ends in a class');
    if (to < from) this.#refuse('a range of a class is upside down');
    return this.#cased(intersect(setOf([[from, to]]), ANY));
  }

  #classPoint(): number | PointSet {
    const next = this.#next('a class');
    if (next !== '\\') return next.codePointAt(0) as number;
    const letter = this.#next('an escape');
    return this.#escapedClass(letter) ?? this.#escapedPoint(letter);
  }
}
