/**
 * Converts record batches to plain JavaScript objects, for `toArray()` and similar methods
 * (`batchRows`, `collectRows`). Keys are column names in the order of the schema; read-column.ts
 * documents the values.
 */
import type { RecordBatch } from '../../arrow/index.ts';
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

/** All rows of some batches. */
export async function collectRows(
  batches: Iterable<RecordBatch> | AsyncIterable<RecordBatch>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of batches) {
    const more = batchRows(batch);
    for (let i = 0; i < more.length; i++) rows.push(more[i] as Row);
  }
  return rows;
}
