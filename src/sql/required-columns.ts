/**
 * `requirementsOf` tells what a bound tree reads: its columns, their nested paths, and whether it
 * reads row ids or row offsets. It also gives an estimate of the tree's cost per row.
 */

import { type Weight, weightOf } from './evaluate/index.ts';
import { type Bound, childrenOf } from './typed/index.ts';

export interface Requirements extends Weight {
  /** Names of top-level columns, each once, in order of appearance. */
  readonly columns: readonly string[];
  /** Full paths of what is read, each once. */
  readonly paths: readonly (readonly string[])[];
  readonly usesRowId: boolean;
  readonly usesRowOffset: boolean;
}

export function requirementsOf(bound: Bound): Requirements {
  const columns = new Set<string>();
  const paths = new Map<string, readonly string[]>();
  const virtual = new Set<string>();
  const visit = (node: Bound): void => {
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
    ...weightOf(bound),
  };
}
