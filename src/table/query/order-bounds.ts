/**
 * `RankSpans` helps a sorted read with a limit to skip fragments and batches. From the statistics
 * of the first sort key it computes the lowest rank that their rows can have. `bound` is a rank
 * that none of the first `limit` rows exceeds, so what ranks higher can be skipped. It stays
 * Infinity if the plan has a predicate. `RankSpans.of` returns undefined if the key is no top-level
 * column, but a nested field or `_rowid`. A rank is a number made from the sort key (sort-keys.ts).
 * `rankSpan` computes the ranks that rows of given statistics can have.
 */
import type { DataType } from '../../arrow/index.ts';
import { type ColumnStatistics, type FragmentEntry, liveRows } from '../../format/index.ts';
import {
  type BatchPlace,
  batchStatistics,
  fragmentStatistics,
  type ReadColumn,
  type ScanPlan,
} from '../read/index.ts';
import type { Turn } from '../work/index.ts';
import { type Direction, rankOfBound } from './sort-keys.ts';

type KeyField = Extract<ReadColumn, { readonly kind: 'field' }>['field'];

/** The lowest and the highest rank that some rows may have. */
export interface RankSpan {
  /** No row ranks below. */
  readonly lowest: number;
  /** At least this many live rows rank up to `highest`. */
  readonly rows: number;
  readonly highest: number;
}

export class RankSpans {
  /** A rank that none of the first rows is above; Infinity while none is known. */
  bound = Infinity;
  readonly #plan: ScanPlan;
  readonly #field: KeyField;
  readonly #direction: Direction;
  readonly #limit: number;
  /** By the ids of fragments. */
  readonly #fragments = new Map<number, number>();
  /** The lowest ranks of the batches of the fragment that was looked at last. */
  #opened: { readonly footer: object; readonly lowest: readonly number[] } | undefined;

  private constructor(plan: ScanPlan, field: KeyField, direction: Direction, limit: number) {
    this.#plan = plan;
    this.#field = field;
    this.#direction = direction;
    this.#limit = limit;
  }

  /** Undefined where the key `column` of the plan is no column of the version. */
  static async of(
    plan: ScanPlan,
    column: number,
    direction: Direction,
    limit: number,
    turn: Turn,
  ): Promise<RankSpans | undefined> {
    const key = plan.columns[column];
    if (key?.kind !== 'field') return undefined;
    const made = new RankSpans(plan, key.field, direction, limit);
    const spans: RankSpan[] = [];
    for (const entry of await plan.snapshot.fragments()) {
      const known = fragmentStatistics(plan.snapshot, entry, key.field);
      spans.push(made.#span(known, entry.rows - liveRows(entry)));
      made.#fragments.set(entry.id, spans.at(-1)?.lowest ?? -Infinity);
      if (!turn.isOver()) continue;
      await turn.pass();
      plan.signal?.throwIfAborted();
    }
    made.#lower(spans);
    return made;
  }

  /** No row of the fragment ranks below. */
  lowestOf(entry: FragmentEntry): number {
    return this.#fragments.get(entry.id) ?? -Infinity;
  }

  /** No row of the batch ranks below. Of its fragment all batches are looked at, for the bound. */
  lowestOfBatch({ entry, reader, index, deleted }: BatchPlace): number {
    const { footer } = reader;
    if (this.#opened?.footer !== footer) {
      let first = 0;
      const spans = footer.batches.map(({ rows }, at) => {
        const known = batchStatistics(entry, footer, at, this.#field);
        const span = this.#span(known, deleted?.countBetween(first, rows) ?? 0);
        first += rows;
        return span;
      });
      this.#lower(spans);
      this.#opened = { footer, lowest: spans.map(({ lowest }) => lowest) };
    }
    return this.#opened?.lowest[index] ?? -Infinity;
  }

  #span(known: ColumnStatistics | undefined, deleted: number): RankSpan {
    const { type } = this.#field.field;
    return known === undefined ? UNKNOWN : rankSpan(known, deleted, this.#direction, type);
  }

  /** A predicate may leave out any of the rows that the spans count. */
  #lower(spans: readonly RankSpan[]): void {
    if (this.#plan.predicate !== undefined) return;
    this.bound = Math.min(this.bound, boundOf(spans, this.#limit));
  }
}

const UNKNOWN: RankSpan = { lowest: -Infinity, rows: 0, highest: Infinity };

/** @param deleted how many of the rows are deleted; which of them is not known */
export function rankSpan(
  { rows, nulls, nans, min, max }: ColumnStatistics,
  deleted: number,
  { ascending, nullsFirst }: Direction,
  type: DataType,
): RankSpan {
  const [near, far] = ascending ? [min, max] : [max, min];
  const ranked = (value: NonNullable<typeof near>): number =>
    ascending ? rankOfBound(value, type) : 0 - rankOfBound(value, type);
  const mayLead = (nulls > 0 && nullsFirst) || (nans > 0 && !ascending);
  const lowest = mayLead
    ? -Infinity
    : rows === nulls + nans
      ? Infinity
      : near === undefined
        ? -Infinity
        : ranked(near);
  if (far === undefined) return { lowest, rows: 0, highest: Infinity };
  return { lowest, rows: Math.max(0, rows - nulls - nans - deleted), highest: ranked(far) };
}

/** A rank that none of the first `limit` rows is above; Infinity where the spans do not tell. */
function boundOf(spans: readonly RankSpan[], limit: number): number {
  const rising = spans.toSorted((a, b) =>
    a.highest < b.highest ? -1 : a.highest > b.highest ? 1 : 0,
  );
  let rows = 0;
  for (const span of rising) {
    rows += span.rows;
    if (rows >= limit) return span.highest;
  }
  return Infinity;
}
