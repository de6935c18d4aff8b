/**
 * `btreeRows` computes the rows of a BTREE segment: the values of a column in order, nulls last,
 * each with the position of its row. The column is read once and held in memory while it is
 * sorted. Rows of equal values keep their order. `withoutDictionary` replaces the codes of a
 * dictionary column by the values.
 */
import {
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
import { quotedPath } from '../../sql-quotes.ts';
import { query, sortedColumn } from '../query/index.ts';
import { requestMemory } from '../read/index.ts';
import type { Engine, Snapshot } from '../versions/index.ts';
import { segmentSchema } from './write-segment.ts';

const VALUE = 'value';

/**
 * The values and the order of the rows count as memory of the request.
 * @param part fragments without deleted rows: positions are the places of rows in it
 * @param onRows is told how many rows were given out
 */
export async function btreeRows(
  engine: Engine,
  part: Snapshot,
  path: readonly string[],
  signal: AbortSignal | undefined,
  onRows: ((rows: number) => void) | undefined,
): Promise<RecordBatchStream> {
  const memory = requestMemory(engine);
  const stream = await query(engine, part, {
    columns: { [VALUE]: quotedPath(path) },
    keep: false,
    fresh: true,
    memory,
    signal,
  });
  const own = stream.schema.fields[0]?.type as DataType;
  const type = DataType.isDictionary(own) ? (own.dictionary as DataType) : own;
  const schema = segmentSchema([
    new Field(VALUE, type, true),
    new Field('position', new Uint32(), false),
  ]);
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    let given = 0;
    for await (const { values, rows } of sortedColumn(engine, part, stream, memory, signal)) {
      const columns = [
        withoutDictionary(values),
        dataOf(new Uint32(), rows.length, { values: rows }),
      ];
      yield recordBatch(schema, columns, rows.length);
      given += rows.length;
      onRows?.(given);
    }
  };
  return recordBatchStream(schema, batches());
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
