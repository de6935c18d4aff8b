/**
 * Searches ascending values by halving. `firstAtLeast` returns the place of the first value that is
 * not below a given one, and `firstAbove` returns the place of the first value above it. Both
 * return the length if there is no such value.
 */

interface Ascending<Value> {
  readonly length: number;
  readonly [place: number]: Value;
}

export function firstAtLeast<Value extends number | bigint>(
  sorted: Ascending<Value>,
  value: Value,
): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as Value) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function firstAbove(sorted: Ascending<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
