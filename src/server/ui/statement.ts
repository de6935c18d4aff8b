/**
 * `statementRows` runs a SELECT for the browser page. It returns the first 1,000 rows as JSON, with
 * cells of up to 160 characters; `is_cut` tells that there are more. `statementAnswer` returns all
 * rows as a stream.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { PageFacts } from './facts.ts';
import type { Body, PageCaller } from './page-caller.ts';
import { textList, textOf } from './page-request.ts';
import { type JsonRows, jsonRows } from './rows.ts';

/** Rows of an answer that are shown. */
const MOST_ROWS = 1_000;
/** Characters of a cell. */
const CELL = 160;

export interface StatementRows extends JsonRows {
  /** There are more rows. */
  readonly is_cut?: boolean;
}

/** `{sql, id}` */
export function statementAnswer(caller: PageCaller, body: Body): Promise<RecordBatchStream> {
  const sql = textOf(body.sql, 'sql');
  const id = body.id === undefined ? {} : { id: textList(body.id, 'id') };
  return caller.call('RunSql', { sql, ...id });
}

/** `{sql, id}` */
export async function statementRows(
  _: PageFacts,
  caller: PageCaller,
  body: Body,
): Promise<StatementRows> {
  const answer = await statementAnswer(caller, body);
  const { columns, rows } = await jsonRows(answer, CELL, MOST_ROWS + 1);
  if (rows.length <= MOST_ROWS) return { columns, rows };
  return { columns, rows: rows.slice(0, MOST_ROWS), is_cut: true };
}
