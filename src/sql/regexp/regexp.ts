/**
 * The face of this folder: regular expressions whose time is linear in the text. Patterns are those
 * of DataFusion's functions; what is bounded is refused with its reason when a pattern is compiled.
 * Some of those compiled last are kept, with the states found out so far.
 */
import { Automaton } from './automaton.ts';
import { programsOf } from './program.ts';
import { type Found, matchesInSteps, matchesUtf8, Searcher } from './search.ts';
import { type Node, type ParsedPattern, parsePattern } from './syntax.ts';

export type { Found } from './search.ts';

const MAX_KEPT = 16;
const kept = new Map<string, LinearRegexp>();

/** Throws InvalidInput for what is no pattern, and for one beyond the bounds. */
export function compileRegexp(pattern: string, flags: string): LinearRegexp {
  const key = `${flags}/${pattern}`;
  const known = kept.get(key);
  if (known !== undefined) {
    if (kept.size > 1) {
      kept.delete(key);
      kept.set(key, known);
    }
    return known;
  }
  const made = new LinearRegexp(pattern, flags);
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
  readonly #searcher: Searcher;
  readonly #any: Automaton;
  readonly #pattern: string;

  constructor(pattern: string, flags: string) {
    this.#pattern = pattern;
    this.#parsed = parsePattern(pattern, flags);
    this.groups = this.#parsed.groups;
    const programs = programsOf(this.#parsed, pattern);
    this.states = programs.forward.ops.length;
    this.#searcher = new Searcher(programs, pattern);
    this.#any = new Automaton(programs.forward, programs.forward.search, false, pattern);
  }

  /** Whether UTF-8 text has a match. */
  matches(data: Uint8Array, start: number, end: number): boolean {
    this.#any.begin(end - start);
    return matchesUtf8(this.#any, data, start, end);
  }

  /** The same in steps, for a long text: with states of its own, as others may ask meanwhile. */
  matchesInSteps(data: Uint8Array, start: number, end: number): Generator<void, boolean> {
    const { program } = this.#any;
    const own = new Automaton(program, program.search, false, this.#pattern);
    own.begin(end - start);
    return matchesInSteps(own, data, start, end);
  }

  /** The first match; positions of groups only where `groups` asks for them. */
  find(text: string, groups: boolean): Found | null {
    return this.#searcher.find(text, groups);
  }

  /** Calls `each` with all matches from left to right. */
  findAll(text: string, groups: boolean, each: (found: Found) => void): void {
    this.#searcher.findAll(text, groups, each);
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
    if (part.kind !== 'set' || part.set.length !== 2 || part.set[0] !== part.set[1]) return null;
    text += String.fromCodePoint(part.set[0] as number);
  }
  return text === '' ? null : { text, start, end };
}
