/**
 * `onlyDictionary` returns the column that a bound tree reads, if this is the only one, and a
 * top-level column of texts or of a dictionary type. Otherwise it returns null. If the data of the
 * column has a dictionary, evaluate.ts can then evaluate the tree once for each entry, not once for
 * each row.
 */
import { DataType } from '../../arrow/index.ts';
import { type Bound, type BoundColumn, childrenOf, familyOf } from '../typed/index.ts';

const onlyColumns = new WeakMap<Bound, BoundColumn | null>();

/** The one column below `bound`, if there is only one and it may have a dictionary; else null. */
export function onlyDictionary(bound: Bound): BoundColumn | null {
  let found = onlyColumns.get(bound);
  if (found === undefined) {
    const columns = leavesOf(bound);
    const [first] = columns;
    const same = columns.every(
      (leaf) => leaf.kind === 'column' && first?.kind === 'column' && leaf.index === first.index,
    );
    found =
      same &&
      first?.kind === 'column' &&
      first.path.length === 0 &&
      (DataType.isDictionary(first.type) || familyOf(first.type) === 'text')
        ? first
        : null;
    onlyColumns.set(bound, found);
  }
  return found;
}

function leavesOf(bound: Bound): Bound[] {
  if (bound.kind === 'column' || bound.kind === 'virtual') return [bound];
  return childrenOf(bound).flatMap(leavesOf);
}
