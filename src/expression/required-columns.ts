/** What a bound tree reads: top-level columns, nested paths, row numbers. It knows trees only. */
import { type Bound, childrenOf } from './bound.ts';
import { compileRegexp } from './regexp/regexp.ts';

export interface Requirements {
  /** Names of top-level columns, each once, in order of appearance. */
  readonly columns: readonly string[];
  /** Full paths of what is read, each once. */
  readonly paths: readonly (readonly string[])[];
  readonly usesRowId: boolean;
  readonly usesRowOffset: boolean;
  /** About how long a row takes, in comparisons of two numbers. */
  readonly weight: number;
  /** Whether a row may take many times as long as others, by its text. */
  readonly uneven: boolean;
}

/** Where it is more than one comparison. Text and patterns are gone through byte by byte. */
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

/** Of each state of a pattern's automaton, as finding out a successor takes each one once. */
const STATE_WEIGHT = 16;
/** Of one whose pattern is that of the row, and compiled for it. */
const ROW_PATTERN_WEIGHT = 4096;

function patternWeight(node: Bound): number {
  if (node.kind !== 'call' || !node.run.name.startsWith('regexp_')) return 0;
  const [, pattern, third, fourth] = node.args;
  const flags = node.run.name === 'regexp_replace' ? fourth : third;
  if (pattern?.kind !== 'literal' || typeof pattern.value !== 'string') return ROW_PATTERN_WEIGHT;
  if (flags !== undefined && flags.kind !== 'literal') return ROW_PATTERN_WEIGHT;
  return STATE_WEIGHT * compileRegexp(pattern.value, String(flags?.value ?? '')).states;
}

export function requirementsOf(bound: Bound): Requirements {
  const columns = new Set<string>();
  const paths = new Map<string, readonly string[]>();
  const virtual = new Set<string>();
  let weight = 0;
  let uneven = false;
  const visit = (node: Bound): void => {
    const ofPattern = patternWeight(node);
    if (ofPattern > 0) uneven = true;
    weight += (WEIGHTS[node.kind] ?? 1) + ofPattern;
    if (node.kind === 'column') {
      columns.add(node.names[0] ?? '');
      paths.set(JSON.stringify(node.names), node.names);
    } else if (node.kind === 'virtual') virtual.add(node.name);
    else childrenOf(node).forEach(visit);
  };
  visit(bound);
  return {
    columns: [...columns],
    paths: [...paths.values()],
    usesRowId: virtual.has('_rowid'),
    usesRowOffset: virtual.has('_rowoffset'),
    weight,
    uneven,
  };
}
