/**
 * Builds the rows that cases of the conformance suite send: `rows`, `rowsWithNull` and
 * `vectorRows`. `readRows` reads the rows of a query's result to their end, into memory.
 * `valuesIn`, `countOf` and `namesOf` give the values of a column, the number of rows and the names
 * of the columns.
 */
import {
  Field,
  FixedSizeList,
  Float32,
  Int32,
  type RecordBatchStream,
  recordBatchStream,
  Schema,
  Table,
  Utf8,
  type Vector,
  vectorFromArray,
} from '../../arrow/index.ts';
import type { Rows } from './target.ts';

/** Rows with an `id` (int32) from `from` on and a `name` (utf8) each. */
export function rows(count: number, from = 0): RecordBatchStream {
  const ids = Array.from({ length: count }, (_, at) => from + at);
  const names = ids.map((id) => `name ${id}`);
  return streamOf({
    id: vectorFromArray(ids, new Int32()),
    // Without its type the column would be a dictionary, which not every server has to take.
    name: vectorFromArray(names, new Utf8()),
  });
}

/** The columns of `rows`: an `id` that may not be null, and a `name` that is null in one of two rows. */
export function rowsWithNull(): RecordBatchStream {
  const fields = [new Field('id', new Int32(), false), new Field('name', new Utf8(), true)];
  const { schema, batches } = new Table(new Schema(fields), {
    id: vectorFromArray([0, 1], new Int32()),
    name: vectorFromArray(['name 0', null], new Utf8()),
  });
  return recordBatchStream(schema, batches);
}

/** The rows of `rows` with a `vector` of two float32 in each row: [id, 1]. */
export function vectorRows(count: number): RecordBatchStream {
  const ids = Array.from({ length: count }, (_, at) => at);
  const pair = new FixedSizeList(2, new Field('item', new Float32(), true));
  return streamOf({
    id: vectorFromArray(ids, new Int32()),
    vector: vectorFromArray(
      ids.map((id) => [id, 1]),
      pair,
    ),
  });
}

function streamOf(columns: Readonly<Record<string, Vector>>): RecordBatchStream {
  const { schema, batches } = new Table(columns);
  return recordBatchStream(schema, batches);
}

/** Reads a stream to its end. */
export async function readRows(stream: RecordBatchStream): Promise<Rows> {
  const batches = [];
  for await (const batch of stream) batches.push(batch);
  return { schema: stream.schema, batches };
}

/** The values of a column in order. */
export const valuesIn = ({ batches }: Rows, column: string): unknown[] =>
  batches.flatMap((batch) => [...(batch.getChild(column) ?? [])]);

export const countOf = ({ batches }: Rows): number =>
  batches.reduce((sum, { numRows }) => sum + numRows, 0);

export const namesOf = ({ schema }: Rows): string[] => schema.fields.map(({ name }) => name);
