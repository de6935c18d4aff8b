/**
 * `onlyDictionary` returns the dictionary column that a bound tree depends on. It returns null if
 * the tree reads anything else. evaluate.ts then evaluates the tree once for each entry of the
 * dictionary, not once for each row.
 */
import { DataType } from '../../arrow/index.ts';
import { type Bound, type BoundColumn, childrenOf, familyOf } from '../typed/index.ts';

const onlyColumns = new WeakMap<Bound, BoundColumn | null>();

/** The one column below `bound`, where there is only one and it is a dictionary. */
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
