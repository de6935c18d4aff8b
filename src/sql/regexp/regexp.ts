/**
 * `compileRegexp` compiles a regular expression in the syntax of DataFusion's functions. The
 * result, a `LinearRegexp`, searches in time linear in the text: callers take a `Matcher` or
 * `Searcher` (search.ts) of it, and give it back by `giveBack`. Its `plain` returns the text of a
 * pattern that is plain text, and otherwise null; `required` returns a text without which nothing
 * matches, or null. An invalid or too large pattern throws InvalidInput with the reason. The 16
 * patterns used last stay compiled.
 */
import { type Programs, programsOf } from './program.ts';
import { Matcher, Searcher } from './search.ts';
import { type Node, type ParsedPattern, parsePattern } from './syntax.ts';

const MAX_KEPT = 16;
const kept = new Map<string, LinearRegexp>();

/** Compiling one character of a pattern takes as long as matching so many characters of a text. */
const COMPILE_STEPS = 1 << 12;

/**
 * Throws InvalidInput for what is no pattern, and for one beyond the bounds. `compiled` is told of the steps
 * that compiling it took, unless it was kept.
 */
export function compileRegexp(
  pattern: string,
  flags: string,
  compiled: (steps: number) => void = () => {},
): LinearRegexp {
  const key = `${flags.length}/${flags}/${pattern}`;
  const known = kept.get(key);
  if (known !== undefined) {
    if (kept.size > 1) {
      kept.delete(key);
      kept.set(key, known);
    }
    return known;
  }
  const made = new LinearRegexp(pattern, flags);
  compiled(COMPILE_STEPS * pattern.length);
  kept.set(key, made);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
  return made;
}

export class LinearRegexp {
  /** Names of the groups from 1 on; undefined for one without. */
  readonly groups: readonly (string | undefined)[];
  /** How many states its automaton has before it is made deterministic: what a step takes at worst. */
  readonly states: number;
  readonly #parsed: ParsedPattern;
  readonly #programs: Programs;
  readonly #pattern: string;
  // Those that no search has at the moment: one may be going on in steps while another begins.
  #searcher: Searcher | undefined;
  #matcher: Matcher | undefined;
  #required: string | undefined;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#parsed = parsePattern(pattern, flags);
    this.groups = this.#parsed.groups;
    this.#programs = programsOf(this.#parsed, pattern);
    this.states = this.#programs.forward.ops.length;
  }

  /** A Matcher for the caller alone, until `giveBack`. */
  takeMatcher(): Matcher {
    const matcher = this.#matcher ?? new Matcher(this.#programs, this.#pattern);
    this.#matcher = undefined;
    return matcher;
  }

  /** A Searcher for the caller alone, until `giveBack`. */
  takeSearcher(): Searcher {
    const searcher = this.#searcher ?? new Searcher(this.#programs, this.#pattern);
    this.#searcher = undefined;
    return searcher;
  }

  /** Returns a tool, whose computed states serve the next caller. */
  giveBack(tool: Matcher | Searcher): void {
    if (tool instanceof Matcher) this.#matcher = tool;
    else this.#searcher = tool;
  }

  /** A text that lies in every text that matches, the longest that is found; null for none. */
  required(): string | null {
    this.#required ??= requiredText(this.#parsed.root);
    return this.#required === '' ? null : this.#required;
  }

  /** The pattern as plain text between the edges it holds to; null where it is more than that. */
  plain(): { readonly text: string; readonly start: boolean; readonly end: boolean } | null {
    return plainText(this.#parsed.root);
  }
}

function plainText(
  root: Node,
): { readonly text: string; readonly start: boolean; readonly end: boolean } | null {
  const parts = root.kind === 'join' ? [...root.parts] : [root];
  const asserts = (node: Node | undefined, what: string): boolean =>
    node?.kind === 'assert' && node.what === what;
  const start = asserts(parts[0], 'text start');
  if (start) parts.shift();
  const end = asserts(parts.at(-1), 'text end');
  if (end) parts.pop();
  let text = '';
  for (const part of parts) {
    const letter = onlyLetter(part);
    if (letter === null) return null;
    text += letter;
  }
  return text === '' ? null : { text, start, end };
}

/** The one character that a set has; null for other nodes. */
function onlyLetter(node: Node): string | null {
  if (node.kind !== 'set' || node.set.length !== 2 || node.set[0] !== node.set[1]) return null;
  return String.fromCodePoint(node.set[0] as number);
}

/** The longest run of characters that each match has; empty where there is none. */
function requiredText(root: Node): string {
  let longest = '';
  let run = '';
  const ends = (): void => {
    if (run.length > longest.length) longest = run;
    run = '';
  };
  const visit = (node: Node): void => {
    const letter = onlyLetter(node);
    if (letter !== null) run += letter;
    else if (node.kind === 'join') node.parts.forEach(visit);
    else if (node.kind === 'group') visit(node.body);
    else if (node.kind === 'repeat' && node.least > 0) {
      ends();
      visit(node.body);
      ends();
    } else if (node.kind !== 'empty' && node.kind !== 'assert') ends();
  };
  visit(root);
  ends();
  return longest;
}
