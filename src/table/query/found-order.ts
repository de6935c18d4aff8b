/**
 * `orderedFound` sorts the rows that a search found, and then skips as many rows as the query's
 * offset says. A sort key is a column of the table, `_rowid`, or the distance or score that the
 * search adds. Rows of equal keys stay in the order in which they were found. Other keys throw
 * TableColumnNotFound, and those of a type without an order InvalidInput.
 */
import { columnsOf, type Data, dataOf, Float32 } from '../../arrow/index.ts';
import { type ScanPlan, takenInParts } from '../read/index.ts';
import { inTurns } from '../work/index.ts';
import type { Found } from './found-rows.ts';
import { type OrderKey, planKeys } from './order.ts';
import { RowSorter } from './row-sorter.ts';

/** The order of rows found, and how many of the first are then passed over. */
export interface FoundOrder {
  readonly keys: readonly OrderKey[];
  readonly offset: number;
}

/**
 * @param value what the search adds, by which rows can be ordered too
 * @throws InvalidInput, TableColumnNotFound for what is no key
 */
export async function orderedFound(
  { engine, snapshot, counters, signal, memory, turn }: ScanPlan,
  found: Found,
  value: string,
  { keys, offset }: FoundOrder,
): Promise<Found> {
  const count = found.rowIds.length;
  const stored = keys.filter(({ column }) => column !== value);
  const plan = await planKeys(engine, snapshot, { counters, signal, memory }, stored);
  const held = memory.hold('The rows found, to be put in order');
  try {
    const sorter = new RowSorter({
      directions: keys,
      limit: count,
      most: count,
      holding: (bytes) => held.set(bytes),
    });
    const added = (first: number, rows: number): Data =>
      dataOf(new Float32(), rows, { values: found.values.subarray(first, first + rows) });
    if (stored.length === 0 && count > 0) {
      const own = keys.map(() => added(0, count));
      const rows = { keys: own, rows: count, fragment: 0, first: 0, selection: undefined };
      await inTurns(turn, sorter.add(rows), signal);
    }
    const idsOf = (from: number, to: number): BigUint64Array => found.rowIds.subarray(from, to);
    for await (const { batch, found: places, from } of takenInParts(
      plan,
      0,
      stored.length === 0 ? 0 : count,
      idsOf,
    )) {
      const read = new Map(batch.schema.fields.map(({ name }, at) => [name, columnsOf(batch)[at]]));
      const first = from + (places[0] ?? 0);
      const columns = keys.map(({ column }) =>
        column === value ? added(first, batch.numRows) : (read.get(column) as Data),
      );
      const rows = { keys: columns, rows: batch.numRows, fragment: 0, first, selection: undefined };
      await inTurns(turn, sorter.add(rows), signal);
    }
    const sorted = await inTurns(turn, sorter.finish(), signal);
    // The number of a row is its place among those found.
    const places = sorted.rowIds(Math.min(offset, sorted.count), sorted.count);
    return {
      rowIds: BigUint64Array.from(places, (place) => found.rowIds[Number(place)] as bigint),
      values: Float32Array.from(places, (place) => found.values[Number(place)] as number),
      queries:
        found.queries &&
        Int32Array.from(places, (place) => found.queries?.[Number(place)] as number),
    };
  } finally {
    held.end();
  }
}
