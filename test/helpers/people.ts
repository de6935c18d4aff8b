/** Tables whose rows are told apart by their `id`, for whoever counts what became of each. */
import {
  type RecordBatchStream,
  recordBatchStream,
  tableFromArrays,
} from '../../src/arrow/apache.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';

/** Rows with ids `from` to `from + count - 1`. */
export function people(count: number, from = 0): RecordBatchStream {
  const table = tableFromArrays({
    id: Int32Array.from({ length: count }, (_, row) => from + row),
    name: Array.from({ length: count }, (_, row) => `name ${from + row}`),
  });
  return recordBatchStream(table.schema, table.batches);
}

export interface Selection {
  readonly version?: number;
  readonly branch?: string;
}

/** The `id` column of a table, in row order. */
export async function idsOf(
  namespace: Namespace,
  id: string[],
  selection: Selection = {},
): Promise<number[]> {
  const found: number[] = [];
  const stream = await namespace.queryTable({ id, k: Number.MAX_SAFE_INTEGER, ...selection });
  for await (const batch of stream) {
    for (const value of batch.getChild('id') ?? []) found.push(Number(value));
  }
  return found;
}

/** Row ids by `id` value. */
export async function rowIdsOf(
  namespace: Namespace,
  id: string[],
  selection: Selection = {},
): Promise<ReadonlyMap<number, bigint>> {
  const found = new Map<number, bigint>();
  const stream = await namespace.queryTable({
    id,
    k: Number.MAX_SAFE_INTEGER,
    with_row_id: true,
    ...selection,
  });
  for await (const batch of stream) {
    const ids = batch.getChild('id');
    const rowIds = batch.getChild('_rowid');
    for (let row = 0; row < batch.numRows; row++) {
      found.set(Number(ids?.get(row)), BigInt(rowIds?.get(row)));
    }
  }
  return found;
}

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);
