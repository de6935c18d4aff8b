/**
 * `fragmentStatistics` computes the statistics of a table's fragments for GetTableStats: their
 * number, the number of small ones with fewer than 100,000 rows, and the least, greatest and mean
 * number of rows, with percentiles. Deleted rows count too. Without fragments all numbers are 0.
 */
import type { FragmentStats, FragmentSummary } from '../../../protocol/index.ts';

/** A fragment with fewer rows, deleted ones included, counts as small, as LanceDB tells it. */
const SMALL_FRAGMENT_ROWS = 100_000;

/** @param lengths rows of each fragment, in any order */
export function fragmentStatistics(lengths: readonly number[]): FragmentStats {
  return {
    num_fragments: lengths.length,
    num_small_fragments: lengths.filter((rows) => rows < SMALL_FRAGMENT_ROWS).length,
    lengths: summaryOf([...lengths].sort((left, right) => left - right)),
  };
}

/** The least length that is above the given share of all, as LanceDB tells it; zeros for none. */
function summaryOf(sorted: readonly number[]): FragmentSummary {
  const at = (percent: number): number => sorted[Math.floor((percent * sorted.length) / 100)] ?? 0;
  const sum = sorted.reduce((total, rows) => total + rows, 0);
  return {
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    mean: sorted.length === 0 ? 0 : Math.floor(sum / sorted.length),
    p25: at(25),
    p50: at(50),
    p75: at(75),
    p99: at(99),
  };
}
