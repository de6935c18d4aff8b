/** What a bound tree reads: top-level columns, nested paths, row numbers. It knows trees only. */
import { type Bound, childrenOf } from './bound.ts';

export interface Requirements {
  /** Names of top-level columns, each once, in order of appearance. */
  readonly columns: readonly string[];
  /** Full paths of what is read, each once. */
  readonly paths: readonly (readonly string[])[];
  readonly usesRowId: boolean;
  readonly usesRowOffset: boolean;
  /** About how long a row takes, in comparisons of two numbers. */
  readonly weight: number;
}

/** Where it is more than one comparison. Text and patterns are gone through byte by byte. */
const WEIGHTS: { readonly [kind in Bound['kind']]?: number } = {
  call: 64,
  like: 64,
  cast: 16,
  rescale: 16,
  in: 8,
};

export function requirementsOf(bound: Bound): Requirements {
  const columns = new Set<string>();
  const paths = new Map<string, readonly string[]>();
  const virtual = new Set<string>();
  let weight = 0;
  const visit = (node: Bound): void => {
    weight += WEIGHTS[node.kind] ?? 1;
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
  };
}
