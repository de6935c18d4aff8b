/**
 * `versionsInOrder`: selects versions whose timestamps ascend, for the option `asOf`. Versions
 * whose timestamps contradict the others, because a writer's clock was off, are left out; as few as
 * possible are.
 */

export interface TimedVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/**
 * Of versions in ascending order those whose times ascend too. What is dated after the newest one
 * was made by a clock that ran ahead. Of the others as many as possible are kept, so that one commit
 * by a wrong clock costs that commit its time and nothing else; of equal choices the later one.
 */
export function versionsInOrder(versions: readonly TimedVersion[]): TimedVersion[] {
  const newest = versions.at(-1)?.timestamp ?? 0;
  const known = versions.filter(({ timestamp }) => timestamp <= newest);
  // The longest run without a step back: of each length the one that ends earliest.
  const ends: number[] = [];
  const before: number[] = [];
  for (const [at, { timestamp }] of known.entries()) {
    let length = ends.length;
    let low = 0;
    while (low < length) {
      const middle = (low + length) >> 1;
      if ((known[ends[middle] as number] as TimedVersion).timestamp <= timestamp) low = middle + 1;
      else length = middle;
    }
    before[at] = low === 0 ? -1 : (ends[low - 1] as number);
    ends[low] = at;
  }
  const kept: TimedVersion[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] as number) {
    kept.push(known[at] as TimedVersion);
  }
  return kept.reverse();
}
