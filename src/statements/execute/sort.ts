/**
 * `sortedRows` sorts rows by keys, in memory. With a limit it drops the rows beyond it from time
 * to time. Rows that take more than the memory of the request throw InvalidInput. `placeSorter`
 * makes a function that returns the places of the first rows of batches in order, or undefined if
 * there are no rows or no key orders them. Both throw InvalidInput for keys whose type has no
 * order.
 */
import {
  batchBytes,
  type Data,
  describeType,
  type RecordBatch,
  sliceBatch,
} from '../../arrow/index.ts';
import { DirspaceError } from '../../errors.ts';
import { compileTree, familyOf } from '../../sql/index.ts';
import { hasOrder, RowSorter } from '../../table/index.ts';
import { placedRows, placesOf, type RowPlaces } from '../aggregates/index.ts';
import { type SortKey, textOf } from '../steps/index.ts';
import { collected, type Relation, run, type Work } from './relation.ts';

/** Rows that are collected before the first of them are picked, at least, unless they are wide. */
const SPARE_ROWS = 1 << 18;
/** Bytes of wide rows that are collected before that. */
const SPARE_BYTES = 1 << 26;

export function sortedRows(
  input: Relation,
  keys: readonly SortKey[],
  limit: number | undefined,
  work: Work,
): Relation {
  const sort = rowSorter(input, keys, work);
  return {
    schema: input.schema,
    async *batches(): AsyncGenerator<RecordBatch> {
      const held = work.memory.hold('The rows that ORDER BY puts in order');
      try {
        const most = limit ?? Number.MAX_SAFE_INTEGER;
        if (most === 0) return;
        const batches: RecordBatch[] = [];
        let kept = 0;
        await collected(
          input,
          held,
          (rows, bytes) => {
            const isWide = bytes >= 2 * kept + SPARE_BYTES;
            if (rows < most * 2 || (rows < most + SPARE_ROWS && !isWide)) return undefined;
            return sort(batches, most).then((first) => {
              batches.splice(0, batches.length, ...first);
              kept = first.reduce((sum, batch) => sum + batchBytes(batch), 0);
            });
          },
          batches,
        );
        yield* await sort(batches, most);
      } finally {
        held.end();
      }
    },
  };
}

/** Orders batches by keys, and gives the first rows. @throws InvalidInput for keys without an order */
function rowSorter(
  input: Relation,
  keys: readonly SortKey[],
  work: Work,
): (batches: readonly RecordBatch[], limit: number) => Promise<RecordBatch[]> {
  const sort = placeSorter(input, keys, work);
  return async (batches, limit) => {
    const places = await sort(batches, limit);
    if (places === undefined) return firstRows(batches, limit);
    return run(work, placedRows(input.schema, batches, places));
  };
}

/**
 * The places of the first rows in order; undefined where no key orders them.
 * @throws InvalidInput for keys without an order
 */
export function placeSorter(
  { schema }: Pick<Relation, 'schema'>,
  keys: readonly SortKey[],
  work: Work,
): (batches: readonly RecordBatch[], limit: number) => Promise<RowPlaces | undefined> {
  // A key that is null in every row orders nothing.
  const compiled = keys
    .map((key) => ({ key, value: compileTree(key.value, schema) }))
    .filter(({ value }) => familyOf(value.type) !== 'null');
  for (const { key, value } of compiled) {
    if (hasOrder(value.type)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `Rows cannot be ordered by ${textOf(key.value)}: values of ${describeType(value.type)} have no order here.`,
    );
  }
  return async (batches, limit) => {
    const rows = batches.reduce((sum, { numRows }) => sum + numRows, 0);
    if (rows === 0 || compiled.length === 0) return undefined;
    const held = work.memory.hold('The keys that rows are put in order by');
    try {
      const sorter = new RowSorter({
        directions: compiled.map(({ key }) => key),
        limit: Math.min(limit, rows),
        most: rows,
        holding: (bytes) => held.set(bytes),
      });
      for (const [index, batch] of batches.entries()) {
        const columns: Data[] = [];
        for (const { value } of compiled) {
          const vector = await run(work, value.evaluateInSteps(batch, { memory: work.memory }));
          columns.push(vector.data[0] as Data);
        }
        const { numRows } = batch;
        const add = { keys: columns, rows: numRows, fragment: index, first: 0 };
        await run(work, sorter.add({ ...add, selection: undefined }));
      }
      const sorted = await run(work, sorter.finish());
      return placesOf(sorted.rowIds(0, sorted.count));
    } finally {
      held.end();
    }
  };
}

function firstRows(batches: readonly RecordBatch[], limit: number): RecordBatch[] {
  const kept: RecordBatch[] = [];
  let wanted = limit;
  for (const batch of batches) {
    const rows = Math.min(wanted, batch.numRows);
    if (rows === 0) break;
    kept.push(sliceBatch(batch, 0, rows));
    wanted -= rows;
  }
  return kept;
}
