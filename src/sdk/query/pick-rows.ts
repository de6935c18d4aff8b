/**
 * `pickRows` puts the rows of a query into the order in which their row ids or offsets were asked
 * for, repeats included, and joins them in one record batch. Ids without a row are left out. The
 * column of ids is left out too, unless the caller keeps it. It is for catalogs that can only be
 * queried by a predicate: they return rows in their own order, and each row once.
 */
import {
  columnsOf,
  concatBatches,
  gather,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../../arrow/index.ts';

/** `numbers` is the uint64 column that names the rows; it is left out unless `keep`. */
export function pickRows(
  schema: Schema,
  batches: readonly RecordBatch[],
  numbers: string,
  wanted: readonly bigint[],
  keep: boolean,
): RecordBatchStream {
  const at = schema.fields.findIndex(({ name }) => name === numbers);
  const kept = schema.fields.map((_, index) => index).filter((index) => keep || index !== at);
  const picked = new Schema(
    kept.map((index) => schema.fields[index] as Schema['fields'][number]),
    schema.metadata,
  );
  if (batches.length === 0) return recordBatchStream(picked, []);
  const all = concatBatches(batches);
  const columns = columnsOf(all);
  const rowOf = new Map<bigint, number>();
  for (const [row, number] of [...(all.getChildAt<never>(at) ?? [])].entries()) {
    rowOf.set(BigInt(number as unknown as bigint), row);
  }
  const rows = Uint32Array.from(wanted.flatMap((number) => rowOf.get(number) ?? []));
  const data = kept.map((index) => gather(columns[index] as (typeof columns)[number], rows));
  return recordBatchStream(picked, [recordBatch(picked, data, rows.length)]);
}
