/**
 * Estimates how long a bound tree takes to evaluate, in comparisons of two numbers: `weightOf` for
 * one row, and `workOf` for all rows of a frame. `isLight` tells whether a tree may be evaluated
 * without a pause; a tree with a regular expression, with a function whose text may grow, or with
 * one whose time for a row is not bounded, such as a registered function, never may. Scans choose
 * the sizes of their slices by these estimates, and evaluation its pauses.
 */

import { compileRegexp } from '../regexp/index.ts';
import { type Bound, childrenOf, familyOf, flagsOf } from '../typed/index.ts';

/** Kinds of nodes that take longer per row than one comparison. */
const WEIGHTS: { readonly [kind in Bound['kind']]?: number } = {
  call: 64,
  like: 128,
  case: 128,
  coalesce: 64,
  list: 32,
  arithmetic: 16,
  cast: 16,
  rescale: 16,
  member: 16,
  in: 8,
  distinct: 4,
};

/** The weight of a cast from or to text, which parses or makes a text for each row. */
const TEXT_CAST_WEIGHT = 512;

/** The weight of LIKE whose pattern comes from a column, and is compiled for each row. */
const ROW_LIKE_WEIGHT = 1024;

function ownWeight(node: Bound): number {
  if (node.kind === 'cast') {
    const families = [familyOf(node.arg.type), familyOf(node.type)];
    if (families.includes('text')) return TEXT_CAST_WEIGHT;
  }
  if (node.kind === 'like' && node.pattern.kind !== 'literal') return ROW_LIKE_WEIGHT;
  return WEIGHTS[node.kind] ?? 1;
}

/** The weight of each state of a pattern's automaton, because computing a successor visits each one once. */
const STATE_WEIGHT = 16;
/** The weight of a regular expression that comes from a column, and is compiled for each row. */
const ROW_PATTERN_WEIGHT = 4096;

function patternWeight(node: Bound): number {
  if (node.kind !== 'call' || !node.run.name.startsWith('regexp_')) return 0;
  const [, pattern] = node.args;
  const flags = flagsOf(node.run.name, node.args);
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return ROW_PATTERN_WEIGHT;
  if (flags !== undefined && flags.kind !== 'literal') return ROW_PATTERN_WEIGHT;
  return STATE_WEIGHT * compileRegexp(pattern.value, String(flags?.value ?? '')).states;
}

/** What visiting a node takes beside the rows, in comparisons. */
const VISIT_WORK = 256;
/** Values of a list that take as long as a visit, when it is looked up in for the first time. */
const KEYS_OF_VISIT = 8;
/** Trees of less work than this are evaluated without a break. */
const LIGHT_WORK = 1 << 16;

/** Functions whose text may be many times as long as what they are given. */
const GROWING: ReadonlySet<string> = new Set([
  ...['repeat', 'lpad', 'rpad', 'replace', 'strftime', 'string_split'],
]);

export interface Weight {
  readonly nodes: number;
  /** Comparisons for a row. */
  readonly weight: number;
  /** Whether a row may take many times as long as others, by its text. */
  readonly uneven: boolean;
  /** Whether it makes texts whose length the columns do not tell, or takes any time for a row. */
  readonly grows: boolean;
}

const known = new WeakMap<Bound, Weight>();

/** The weights of trees by their root, computed once. */
export function weightOf(bound: Bound): Weight {
  const found = known.get(bound);
  if (found !== undefined) return found;
  const ofPattern = patternWeight(bound);
  // A long list is made into a table first.
  let nodes = bound.kind === 'in' ? 1 + bound.values.size / KEYS_OF_VISIT : 1;
  let weight = ownWeight(bound) + ofPattern;
  let uneven = ofPattern > 0;
  const run = bound.kind === 'call' ? bound.run : undefined;
  let grows = run !== undefined && (GROWING.has(run.name) || run.takesAnyTime === true);
  for (const child of childrenOf(bound)) {
    const below = weightOf(child);
    nodes += below.nodes;
    weight += below.weight;
    uneven ||= below.uneven;
    grows ||= below.grows;
  }
  const made = { nodes, weight, uneven, grows };
  known.set(bound, made);
  return made;
}

interface Rows {
  readonly length: number;
  readonly scale: number;
}

/** Comparisons that evaluating the tree for the rows of a frame takes, about. */
export function workOf(bound: Bound, { length, scale }: Rows): number {
  const { nodes, weight } = weightOf(bound);
  return nodes * VISIT_WORK + length * scale * weight;
}

/**
 * Whether a tree is evaluated without a break. Patterns never are, nor what makes texts of any
 * length, as a text may be computed, and long.
 */
export function isLight(bound: Bound, rows: Rows): boolean {
  const { uneven, grows } = weightOf(bound);
  return !uneven && !grows && workOf(bound, rows) < LIGHT_WORK;
}
