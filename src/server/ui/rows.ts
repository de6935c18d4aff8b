/**
 * Answers the requests of the page's grid: a window of rows (`rowsWindow`, at most 1,000) or one
 * row with long values (`wholeRow`), as JSON, and the stream of all rows for downloads
 * (`everyRow`). A window of a version in row order is read by offsets, so that each window costs
 * the same. After a filter, an order or a search, a window is read by the row ids that `KeptRows`
 * keeps. `jsonRows` turns the columns and the first rows of any stream into JSON. Members of a
 * wrong type throw InvalidInput.
 */
import type { RecordBatchStream, Schema } from '../../arrow/index.ts';
import { describeType } from '../../arrow/index.ts';
import type { QueryTableRequest } from '../../protocol/index.ts';
import { type Cell, cellReader } from './cells.ts';
import type { PageFacts } from './facts.ts';
import type { Body, PageCaller } from './page-caller.ts';
import {
  countOf,
  optionalText,
  type PinnedTable,
  pinnedTable,
  rowIdOf,
  textList,
  textOf,
} from './page-request.ts';

/** Rows of a window, at most. */
const MOST_ROWS = 1_000;
/** Characters of a cell in a window, and where one row is looked at. */
const CELL = 160;
const WHOLE_CELL = 100_000;

export interface JsonRows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Window extends JsonRows {
  /** `_rowid` of each row. */
  readonly ids: readonly string[];
  /** Rows that the filter names; absent where there is none. */
  readonly total?: number;
  /** There are more than `total`, which cannot be scrolled to. */
  readonly is_cut?: boolean;
}

/**
 * `{id, version, branch, incarnation, columns, offset, limit, where, order, descending, text,
 * text_columns}`; 100 rows where no limit is given.
 */
export async function rowsWindow(
  { keptRows }: PageFacts,
  caller: PageCaller,
  body: Body,
): Promise<Window> {
  const table = pinnedTable(body);
  const offset = countOf(body.offset ?? 0, 'offset', Number.MAX_SAFE_INTEGER);
  const limit = countOf(body.limit ?? 100, 'limit', MOST_ROWS);
  const columns = columnsOf(body);
  const query = queryOf(table, body);
  if (query === undefined) {
    const offsets = Array.from({ length: limit }, (_, at) => BigInt(offset + at));
    return windowOf(
      await caller.call('TakeRows', { ...table, ...columns, offsets, with_row_id: true }),
      CELL,
    );
  }
  const { ids, isCut } = await keptRows.rows(caller, query);
  const row_ids = [...ids.subarray(offset, offset + limit)];
  const rows = await caller.call('TakeRows', { ...table, ...columns, row_ids, with_row_id: true });
  return {
    ...(await windowOf(rows, CELL)),
    total: ids.length,
    ...(isCut ? { is_cut: true } : {}),
  };
}

/** `{id, version, branch, row_id}`: all of one row, with long values. */
export async function wholeRow(caller: PageCaller, body: Body): Promise<Window> {
  const row_ids = [rowIdOf(body.row_id)];
  const rows = await caller.call('TakeRows', { ...pinnedTable(body), row_ids, with_row_id: true });
  return windowOf(rows, WHOLE_CELL);
}

/**
 * All rows that a window is of, with the columns that are shown: `{id, version, branch, columns,
 * where, order, descending, text, text_columns}`.
 */
export const everyRow = (caller: PageCaller, body: Body): Promise<RecordBatchStream> => {
  const table = pinnedTable(body);
  return caller.call('QueryTable', {
    ...(queryOf(table, body) ?? (table as QueryTableRequest)),
    ...columnsOf(body),
    k: Number.MAX_SAFE_INTEGER,
  });
};

const columnsOf = ({ columns }: Body): { columns?: { column_names: string[] } } =>
  columns === undefined ? {} : { columns: { column_names: textList(columns, 'columns') } };

/** What is searched for; undefined where it is the whole version in row order. */
function queryOf(table: PinnedTable, body: Body): QueryTableRequest | undefined {
  const filter = optionalText(body.where, 'where');
  const text = optionalText(body.text, 'text');
  const order = body.order === undefined ? undefined : textOf(body.order, 'order');
  if (filter === undefined && text === undefined && order === undefined) return undefined;
  return {
    ...table,
    ...(filter === undefined ? {} : { filter }),
    ...(text === undefined
      ? {}
      : {
          full_text_query: {
            string_query: {
              query: text,
              ...(body.text_columns === undefined
                ? {}
                : { columns: textList(body.text_columns, 'text_columns') }),
            },
          },
        }),
    ...(order === undefined
      ? {}
      : { order_by: [{ column_name: order, ascending: body.descending !== true }] }),
  } as QueryTableRequest;
}

async function windowOf(stream: RecordBatchStream, most: number): Promise<Window> {
  const { columns, rows } = await jsonRows(stream, most, MOST_ROWS);
  const at = columns.findIndex(({ name }) => name === '_rowid');
  if (at < 0) return { columns, rows, ids: [] };
  return {
    columns: columns.filter((_, column) => column !== at),
    rows: rows.map((row) => row.filter((_, column) => column !== at)),
    ids: rows.map((row) => String(row[at])),
  };
}

/** At most `mostRows` rows of a stream, and its columns; the rest of it is not read. */
export async function jsonRows(
  stream: RecordBatchStream,
  mostCharacters: number,
  mostRows: number,
): Promise<JsonRows> {
  const rows: Cell[][] = [];
  for await (const batch of stream) {
    const readers = batch.data.children.map((column) => cellReader(column, mostCharacters));
    const count = Math.min(batch.numRows, mostRows - rows.length);
    for (let row = 0; row < count; row++) rows.push(readers.map((read) => read(row)));
    if (rows.length >= mostRows) break;
  }
  return { columns: columnsIn(stream.schema), rows };
}

const columnsIn = ({ fields }: Schema): JsonRows['columns'] =>
  fields.map(({ name, type }) => ({ name, type: describeType(type) }));
