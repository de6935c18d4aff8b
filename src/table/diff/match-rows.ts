/**
 * `matchRows` compares the rows that two versions do not share, by 64-bit hashes. It first finds
 * rows that are equal in all compared columns. Among the rest it then finds rows with the same key.
 * So a row that was only moved is no difference. The hashes count as memory of the request; too
 * many throw InvalidInput. `columnHashes` computes the hashes of one column.
 */
import type { Data } from '../../arrow/index.ts';
import { hashValues, joinHashes, loadColumn, type ValueHashes } from '../../sql/index.ts';
import type { Adapter } from '../fields/index.ts';
import type { ScanPlan } from '../read/index.ts';
import { inTurns, type Turn } from '../work/index.ts';
import type { FragmentDifferences } from './fragment-differences.ts';
import { Buckets, RowList, STEP_ROWS } from './row-lists.ts';
import { type SideRows, sideRows } from './side-rows.ts';

/** How the rows of a version are compared: the columns of its plan, in the order of the other's. */
export interface Side {
  readonly plan: ScanPlan;
  /**
   * The conversion that makes each column comparable with the other side's; null if it is already.
   */
  readonly adapters: readonly (Adapter | null)[];
}

export interface MatchedRows {
  /** Rows that only one version has. */
  readonly added: RowList;
  readonly removed: RowList;
  /** Rows of the same key with other values: row for row. */
  readonly before: RowList;
  readonly after: RowList;
}

/**
 * @param keys positions of the key columns; all columns where there is no key
 * @throws InvalidInput where the rows take more than the memory of a request
 */
export async function matchRows(
  from: Side,
  to: Side,
  fragments: FragmentDifferences,
  keys: readonly number[],
  turn: Turn,
): Promise<MatchedRows> {
  const { plan } = from;
  const { signal } = plan;
  const held = plan.memory.hold(
    'The rows that one version has and the other has not, by key, which are compared',
  );
  try {
    const old = new RowList();
    for await (const rows of sideRows(plan, to.plan.snapshot, fragments, 'from', turn)) {
      addRows(old, from, rows, keys);
      held.set(old.bytes);
    }
    const fresh = new RowList();
    held.set(old.bytes + Buckets.bytesFor(old.length));
    const same = await inTurns(turn, Buckets.of(old, 'row'), signal);
    for await (const rows of sideRows(to.plan, plan.snapshot, fragments, 'to', turn)) {
      const { values, keys: keyHashes } = hashesOf(to, rows, keys);
      for (let row = 0; row < rows.rows; row++) {
        if (same.take(values.low[row] as number, values.high[row] as number) >= 0) continue;
        fresh.push(values, keyHashes, row, rows.fragment, rows.offsetOf(row));
      }
      held.set(old.bytes + Buckets.bytesFor(old.length) + fresh.bytes);
    }
    const left = await inTurns(turn, untaken(old, same), signal);
    const rest = left.length + fresh.length;
    held.set(old.bytes + left.bytes + fresh.bytes + Buckets.bytesFor(left.length) + rest * 24);
    const byKey = await inTurns(turn, Buckets.of(left, 'key'), signal);
    return await inTurns(turn, paired(left, fresh, byKey), signal);
  } finally {
    held.end();
  }
}

function addRows(list: RowList, side: Side, rows: SideRows, keys: readonly number[]): void {
  const hashes = hashesOf(side, rows, keys);
  for (let row = 0; row < rows.rows; row++) {
    list.push(hashes.values, hashes.keys, row, rows.fragment, rows.offsetOf(row));
  }
}

function hashesOf(
  { adapters }: Side,
  { columns, rows }: Pick<SideRows, 'columns' | 'rows'>,
  keys: readonly number[],
): { readonly values: ValueHashes; readonly keys: ValueHashes } {
  const each = columns.map((data, at) => columnHashes(data, adapters[at] ?? null));
  const values = emptyHashes(rows);
  for (const hashes of each) joinHashes(values, hashes);
  if (keys.length === 0) return { values, keys: values };
  const keyHashes = emptyHashes(rows);
  for (const at of keys) joinHashes(keyHashes, each[at] as ValueHashes);
  return { values, keys: keyHashes };
}

export const columnHashes = (data: Data, adapter: Adapter | null): ValueHashes =>
  hashValues(loadColumn(adapter === null ? data : adapter(data)));

const emptyHashes = (rows: number): ValueHashes => ({
  low: new Int32Array(rows),
  high: new Int32Array(rows),
});

function* untaken(list: RowList, buckets: Buckets): Generator<void, RowList> {
  const left = new RowList();
  for (let row = 0; row < list.length; row++) {
    if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    if (!buckets.isTaken(row)) left.pushFrom(list, row);
  }
  return left;
}

function* paired(old: RowList, fresh: RowList, byKey: Buckets): Generator<void, MatchedRows> {
  const [added, before, after] = [new RowList(), new RowList(), new RowList()];
  for (let row = 0; row < fresh.length; row++) {
    if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    const other = byKey.take(fresh.low(row, 'key'), fresh.high(row, 'key'));
    if (other < 0) {
      added.pushFrom(fresh, row);
      continue;
    }
    before.pushFrom(old, other);
    after.pushFrom(fresh, row);
  }
  return { added, removed: yield* untaken(old, byKey), before, after };
}
