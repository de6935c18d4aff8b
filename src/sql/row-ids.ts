/**
 * `rowNumbersOf` returns the row ids that a condition names, as in `_rowid = 7` or `_rowid IN
 * (..)`, or the row offsets (`_rowoffset`), so that a scan can read only those rows. AND may join
 * such tests to other conditions; `complete` tells whether there are none. It returns null if the
 * condition has no such test.
 */
import type { Bound } from './typed/index.ts';

export interface RowNumberSet {
  /** Ascending, each once. No row outside it can match. */
  readonly values: readonly bigint[];
  /** True where the condition says nothing else: every row in it matches. */
  readonly complete: boolean;
}

export function rowNumbersOf(bound: Bound, name: '_rowid' | '_rowoffset'): RowNumberSet | null {
  const conjuncts = bound.kind === 'and' ? bound.args : [bound];
  let found: ReadonlySet<bigint> | null = null;
  let complete = true;
  for (const conjunct of conjuncts) {
    const values = valuesOf(conjunct, name);
    if (values === null) complete = false;
    else found = found === null ? values : intersection(found, values);
  }
  if (found === null) return null;
  const values = new BigUint64Array(found.size);
  let at = 0;
  for (const value of found) values[at++] = value;
  return { values: Array.from(values.sort()), complete };
}

function intersection(a: ReadonlySet<bigint>, b: ReadonlySet<bigint>): Set<bigint> {
  return new Set([...a].filter((value) => b.has(value)));
}

function valuesOf(bound: Bound, name: string): ReadonlySet<bigint> | null {
  if (bound.kind !== 'compareConstant' && bound.kind !== 'in' && bound.kind !== 'known')
    return null;
  if (bound.arg.kind !== 'virtual' || bound.arg.name !== name) return null;
  if (bound.kind === 'known') return bound.value ? null : new Set();
  if (bound.kind === 'compareConstant') {
    return bound.op === '=' ? new Set([bound.value as bigint]) : null;
  }
  return bound.values as ReadonlySet<bigint>;
}
