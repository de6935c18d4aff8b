/**
 * Finds places in ascending values by halving: where the first is that is not below a value
 * (`firstAtLeast`), or above it (`firstAbove`). The place behind the last where there is none.
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
