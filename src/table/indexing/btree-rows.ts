/**
 * `btreeRows` computes the rows of a BTREE segment: the values of a column in order, nulls last,
 * each with the position of its row. They come from a query that orders the rows in memory. Rows of
 * equal values keep their order. `withoutDictionary` replaces the codes of a dictionary column by
 * the values.
 */
import {
  columnsOf,
  concatData,
  type Data,
  DataType,
  type Dictionary,
  dataOf,
  Field,
  gather,
  nullColumn,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Uint32,
} from '../../arrow/index.ts';
import type { IndexRun } from '../../format/index.ts';
import { quotedPath } from '../../sql-quotes.ts';
import { query } from '../query/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { startsOf } from './segment-plan.ts';
import { segmentSchema } from './write-segment.ts';

const VALUE = 'value';

/**
 * @param part the fragments of the runs alone
 * @param onRows is told how many rows were given out
 */
export async function btreeRows(
  engine: Engine,
  part: Snapshot,
  runs: readonly IndexRun[],
  path: readonly string[],
  signal: AbortSignal | undefined,
  onRows: ((rows: number) => void) | undefined,
): Promise<RecordBatchStream> {
  const sorted = await query(engine, part, {
    columns: { [VALUE]: quotedPath(path), _rowid: '_rowid' },
    orderBy: [{ column: path.join('.'), ascending: true, nullsFirst: false }],
    keep: false,
    fresh: true,
    signal,
  });
  const own = sorted.schema.fields[0]?.type as DataType;
  const type = DataType.isDictionary(own) ? (own.dictionary as DataType) : own;
  const schema = segmentSchema([
    new Field(VALUE, type, true),
    new Field('position', new Uint32(), false),
  ]);
  const starts = startsOf(runs);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    let given = 0;
    for await (const batch of sorted) {
      const [values, ids] = columnsOf(batch) as [Data, Data];
      const rows = batch.numRows;
      const columns = [withoutDictionary(values), positionsOf(ids, rows, starts)];
      yield recordBatch(schema, columns, rows);
      given += rows;
      onRows?.(given);
    }
  };
  return recordBatchStream(schema, batches());
}

/** Positions of rows by their ids. */
function positionsOf(ids: Data, rows: number, starts: ReadonlyMap<number, number>): Data {
  const { buffer, byteOffset } = ids.values as unknown as BigUint64Array;
  const words = new Uint32Array(buffer, byteOffset, rows * 2);
  const positions = new Uint32Array(rows);
  let fragment = -1;
  let start = 0;
  for (let row = 0; row < rows; row++) {
    const own = words[2 * row + 1] as number;
    if (own !== fragment) {
      fragment = own;
      start = starts.get(own) as number;
    }
    positions[row] = start + (words[2 * row] as number);
  }
  return dataOf(new Uint32(), rows, { values: positions });
}

/** The values themselves, where a column holds codes. */
export function withoutDictionary(data: Data): Data {
  if (!DataType.isDictionary(data.type)) return data;
  const type = (data.type as Dictionary).dictionary as DataType;
  const chunks = (data.dictionary?.data ?? []) as readonly Data[];
  const entries = concatData([...chunks, nullColumn(type, 1)]);
  const codes = data.values as unknown as ArrayLike<number | bigint>;
  const none = entries.length - 1;
  const rows = Uint32Array.from({ length: data.length }, (_, row) =>
    data.getValid(row) ? Number(codes[row]) : none,
  );
  return gather(entries, rows);
}
