/**
 * Converts record batches to JavaScript objects, one for each row, for `toArray()` and similar
 * methods. `batchRows` converts one record batch without a break. `collectRows` converts many and
 * lets the event loop go on meanwhile. The keys of an object are the names of the columns;
 * read-column.ts describes the values. The objects share no memory with the record batches.
 */
import {
  childFields,
  type DataType,
  type RecordBatch,
  sliceData,
  Type,
} from '../../arrow/index.ts';
import { plainPause } from '../../steps.ts';
import { readRecords } from './read-column.ts';

/**
 * Values by column name: numbers, bigints for 64-bit integers and fine timestamps, Dates, strings
 * for text and decimals, Uint8Arrays for bytes, arrays and typed arrays for lists, objects for
 * structs, Maps for maps, null.
 */
export type Row = Record<string, unknown>;

// biome-ignore lint/suspicious/noExplicitAny: programs read the members that they know are there
type Unchecked = any;

/** What queries answer where the program does not say its type of row: values are not checked. */
export type AnyRow = Unchecked;

/** The rows of one batch. They share no memory with it. */
export function batchRows(batch: RecordBatch): Row[] {
  return readRecords(batch.schema.fields, batch.data.children, batch.numRows);
}

const hasUnion = (type: DataType): boolean =>
  type.typeId === Type.Union || childFields(type).some((field) => hasUnion(field.type));

/** Rows that are made at once. */
const STEP_ROWS = 4_096;

/** All rows of some batches. Lets the event loop go on while it makes them. */
export async function collectRows(
  batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
): Promise<Row[]> {
  const rows: Row[] = [];
  const pause = plainPause();
  for await (const { schema, data, numRows } of batches) {
    // Slices of unions have all values of their children.
    const step = schema.fields.some(({ type }) => hasUnion(type)) ? numRows : STEP_ROWS;
    for (let from = 0; from < numRows; from += step) {
      const count = Math.min(step, numRows - from);
      const columns =
        count === numRows
          ? data.children
          : data.children.map((column) => sliceData(column, from, count));
      const more = readRecords(schema.fields, columns, count);
      for (let i = 0; i < more.length; i++) rows.push(more[i] as Row);
      const waiting = pause();
      if (waiting !== undefined) await waiting;
    }
  }
  return rows;
}
