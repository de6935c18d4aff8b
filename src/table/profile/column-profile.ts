/**
 * `columnProfile` turns the counts of a tally into the profile of a column, with values formatted
 * for display. The number of distinct values is an estimate if only a sample of the rows was read,
 * or if there were too many to count. The most frequent values are read from the table by their
 * rows.
 */
import { columnsOf, type Data, describeType, type Field } from '../../arrow/index.ts';
import type { ColumnStatistics } from '../../format/index.ts';
import type { ProfiledHistogram, ShownValue } from '../../protocol/index.ts';
import { familyOf, loadColumn, reader, shownNumber, shownValue } from '../../sql/index.ts';
import { type ScanPlan, take } from '../read/index.ts';
import type { ColumnKind, ColumnTally, SeenBounds } from './column-tally.ts';

export interface ColumnProfile {
  readonly name: string;
  readonly type: string;
  readonly kind: ColumnKind;
  /** The rows that the counts are of. */
  readonly rows: number;
  readonly nulls: number;
  readonly nans: number;
  /** Nulls of all rows, where they are known though not all rows were looked at. */
  readonly allNulls: number | undefined;
  readonly min: ShownValue;
  readonly max: ShownValue;
  /** Whether they are the least and the greatest of all rows. */
  readonly boundsExact: boolean;
  readonly mean: string | number | undefined;
  /** How many distinct values all rows have, without null. */
  readonly distinct: number;
  readonly distinctExact: boolean;
  readonly top: readonly { readonly value: ShownValue; readonly count: number }[];
  /** Whether no other value is as frequent. */
  readonly topExact: boolean;
  readonly histogram: ProfiledHistogram | undefined;
}

export interface Sample {
  readonly sampled: boolean;
  /** By which counts are multiplied to be those of all rows. */
  readonly share: number;
  /** Statistics of all rows, where there are any. */
  readonly known: ColumnStatistics | undefined;
}

export async function columnProfile(
  plan: ScanPlan,
  { name, type }: Field,
  tally: ColumnTally,
  { sampled, share, known }: Sample,
  { buckets }: { readonly buckets: number },
): Promise<ColumnProfile> {
  const isExact = !sampled && tally.values.isExact;
  const all = boundsOf(known);
  const { min, max, exact } = all ?? tally.bounds ?? NO_BOUNDS;
  return {
    name,
    type: describeType(type),
    kind: tally.kind,
    rows: tally.rows,
    nulls: tally.nulls,
    nans: tally.nans,
    allNulls: sampled ? known?.nulls : undefined,
    min: shownValue(min, tally.type),
    max: shownValue(max, tally.type),
    boundsExact: exact && (all !== undefined || !sampled),
    mean: meanOf(tally),
    distinct: isExact ? tally.values.distinct.values : distinctOf(tally, share),
    distinctExact: isExact,
    top: await topValues(plan, name, tally),
    topExact: isExact,
    histogram: histogramOf(tally, buckets),
  };
}

const NO_BOUNDS = { min: null, max: null, exact: false };

/** The bounds of all rows, if statistics tell them exactly. */
function boundsOf(known: ColumnStatistics | undefined): SeenBounds | undefined {
  if (known?.min === undefined || known.max === undefined) return undefined;
  const { min, max, minExact, maxExact } = known;
  return minExact && maxExact ? { min, max, exact: true } : undefined;
}

function meanOf({ mean, type }: ColumnTally): string | number | undefined {
  if (mean === undefined) return undefined;
  const { scale = 0 } = familyOf(type) === 'decimal' ? (type as unknown as { scale: number }) : {};
  return shownNumber(scale === 0 ? mean : mean / 10 ** scale);
}

/**
 * How many distinct values all rows have, where a share of them was looked at: more, the more of
 * the values were met once (the estimator "Duj1" of Haas and Stokes, 1998, which PostgreSQL uses
 * too).
 */
function distinctOf({ values, rows, nulls }: ColumnTally, share: number): number {
  const seen = rows - nulls;
  if (seen === 0) return 0;
  const { values: distinct, single } = values.distinct;
  const met = Math.min(distinct, seen);
  const once = Math.min(single, met);
  const all = Math.max(seen, Math.round(seen * share));
  const estimate = (seen * met) / (seen - once + (once * seen) / all);
  return Math.round(Math.min(all, Math.max(met, estimate)));
}

async function topValues(
  { engine, snapshot, signal }: ScanPlan,
  name: string,
  tally: ColumnTally,
): Promise<ColumnProfile['top']> {
  const { top } = tally;
  if (top.length === 0) return [];
  const rowIds = top.map(({ fragment, offset }) => (BigInt(fragment) << 32n) | BigInt(offset));
  const found: { value: ShownValue; count: number }[] = [];
  for await (const batch of await take(engine, snapshot, { columns: [name], rowIds, signal })) {
    const read = reader(loadColumn(columnsOf(batch)[0] as Data));
    for (let row = 0; row < batch.numRows; row++) {
      const { count } = top[found.length] as (typeof top)[number];
      found.push({ value: shownValue(read(row), tally.type), count });
    }
  }
  return found;
}

function histogramOf(tally: ColumnTally, most: number): ProfiledHistogram | undefined {
  if (tally.kind === 'boolean') {
    const known = tally.rows - tally.nulls;
    if (known === 0) return undefined;
    return { of: 'booleans', edges: [false, true], counts: [known - tally.trues, tally.trues] };
  }
  const { measure } = tally;
  const found = measure === undefined ? undefined : tally.buckets(most);
  if (measure === undefined || found === undefined) return undefined;
  const shown = (edge: number): ShownValue =>
    measure === 'values' ? shownValue(tally.valueOf(edge), tally.type) : edge;
  return { of: measure, edges: found.edges.map(shown), counts: found.counts };
}
