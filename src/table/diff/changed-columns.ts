/**
 * `changedColumns` takes pairs of rows, one from each of two versions, and counts for each column
 * in how many pairs it differs. It reads the rows and compares hashes of their values. For the
 * first pairs it also lists which columns differ. `shownRows` reads the first rows of a list with
 * all their columns, to be shown as examples.
 */
import { columnsOf, type RecordBatch } from '../../arrow/index.ts';
import type { DiffRow } from '../../protocol/index.ts';
import { loadColumn, reader, shownValue, type ValueHashes } from '../../sql/index.ts';
import { planScan, takenInParts } from '../read/index.ts';
import type { Turn } from '../work/index.ts';
import { columnHashes, type Side } from './match-rows.ts';
import type { RowList } from './row-lists.ts';

export interface ChangedColumns {
  /** For each column the pairs that differ in it. */
  readonly counts: readonly number[];
  /** The columns that differ in each of the first pairs. */
  readonly first: readonly (readonly number[])[];
}

/** @param most first pairs whose columns are told one by one */
export async function changedColumns(
  from: Side,
  to: Side,
  before: RowList,
  after: RowList,
  most: number,
  turn: Turn,
): Promise<ChangedColumns> {
  const counts = from.adapters.map(() => 0);
  const first: number[][] = [];
  const old = new HashedRows(from, before);
  const fresh = new HashedRows(to, after);
  try {
    for (let row = 0; row < before.length; ) {
      const one = await old.at(row);
      const other = await fresh.at(row);
      const end = Math.min(one.end, other.end);
      for (let pair = row; pair < end; pair++) {
        const differing = first.length < most ? [] : undefined;
        compareRow(one, other, pair, counts, differing);
        if (differing !== undefined) first.push(differing);
      }
      row = end;
      if (turn.isOver()) await turn.pass();
    }
  } finally {
    await Promise.all([old.close(), fresh.close()]);
  }
  return { counts, first };
}

interface HashedPart {
  readonly columns: readonly ValueHashes[];
  readonly start: number;
  readonly end: number;
}

function compareRow(
  one: HashedPart,
  other: HashedPart,
  pair: number,
  counts: number[],
  differing: number[] | undefined,
): void {
  const [a, b] = [pair - one.start, pair - other.start];
  for (let column = 0; column < counts.length; column++) {
    const [left, right] = [one.columns[column], other.columns[column]];
    if (left?.low[a] === right?.low[b] && left?.high[a] === right?.high[b]) continue;
    (counts[column] as number) += 1;
    differing?.push(column);
  }
}

/** The hashes of the columns of rows in the order of a list, part by part. */
class HashedRows {
  readonly #side: Side;
  readonly #parts: AsyncGenerator<{ readonly batch: RecordBatch }>;
  #part: HashedPart = { columns: [], start: 0, end: 0 };

  constructor(side: Side, rows: RowList) {
    this.#side = side;
    this.#parts = takenInParts(side.plan, 0, rows.length, (from, to) => rowIdsOf(rows, from, to));
  }

  /** The part with this row, which is in the last one or in the next. */
  async at(row: number): Promise<HashedPart> {
    while (row >= this.#part.end) {
      const { value } = await this.#parts.next();
      const { batch } = value as { readonly batch: RecordBatch };
      const { adapters } = this.#side;
      const columns = columnsOf(batch).map((data, at) => columnHashes(data, adapters[at] ?? null));
      this.#part = { columns, start: this.#part.end, end: this.#part.end + batch.numRows };
    }
    return this.#part;
  }

  close(): Promise<unknown> {
    return this.#parts.return(undefined);
  }
}

function rowIdsOf(rows: RowList, from: number, to: number): BigUint64Array {
  const ids = new BigUint64Array(to - from);
  for (let at = 0; at < ids.length; at++) ids[at] = rows.rowId(from + at);
  return ids;
}

/** The first rows of a list, with all columns of their version. */
export async function shownRows(
  { plan: { engine, snapshot, signal, memory } }: Side,
  rows: RowList,
  most: number,
): Promise<DiffRow[]> {
  const plan = await planScan(engine, snapshot, { signal, memory });
  const shown: DiffRow[] = [];
  const count = Math.min(rows.length, most);
  const parts = takenInParts(plan, 0, count, (from, to) => rowIdsOf(rows, from, to));
  for await (const { batch } of parts) {
    const readers = columnsOf(batch).map((data) => reader(loadColumn(data)));
    for (let row = 0; row < batch.numRows; row++) {
      const values = plan.schema.fields.map(({ name, type }, at) => [
        name,
        shownValue(readers[at]?.(row), type),
      ]);
      shown.push(Object.fromEntries(values));
    }
  }
  return shown;
}
