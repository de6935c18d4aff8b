/**
 * Checks and runs the query of a materialized view. `viewColumns` checks it against its source. It
 * throws TableColumnNotFound for an unknown column, and InvalidInput for a query without columns,
 * with two of one name, or that reads row ids or offsets, because these change. `viewRows` computes
 * the rows of the query in the order of the source, up to a limit, from all rows of the source or
 * without its first `after` rows. It reads them from the disk, verifies them, and makes every
 * column nullable.
 */
import {
  columnsOf,
  type Data,
  Field,
  type RecordBatch,
  type RecordBatchStream,
  recordBatch,
  recordBatchStream,
  Schema,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { liveRows, type ManifestView } from '../format/index.ts';
import { compileExpression, compilePredicate } from '../sql/index.ts';
import { plainMetadata } from './fields/index.ts';
import { query } from './run-query.ts';
import { type Engine, Snapshot } from './versions/index.ts';

export interface ViewQuery {
  /** Names and SQL of the columns; those of the source if absent. */
  readonly columns?: readonly (readonly [name: string, sql: string])[] | undefined;
  readonly filter?: string | undefined;
  readonly limit?: number | undefined;
}

export interface ViewColumns {
  /** The schema of the rows that the query gives. */
  readonly schema: Schema;
  readonly columns: ManifestView['columns'];
  /** Names of the columns that are read. */
  readonly inputs: readonly string[];
}

/** @throws TableColumnNotFound, InvalidInput for a query that does not fit the source */
export async function viewColumns(
  engine: Engine,
  source: Snapshot,
  { columns = everyColumn(source), filter, limit }: ViewQuery,
): Promise<ViewColumns> {
  if (columns.length === 0) throw refused('has no columns');
  const names = columns.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw refused(`has the column ${JSON.stringify(twice)} twice`);
  const inputs = new Set<string>();
  for (const [name, sql] of columns) {
    const compiled = await compileExpression(sql, source.schema);
    if (compiled.usesRowId || compiled.usesRowOffset)
      throw refused(`has a column ${JSON.stringify(name)} of ids or places of rows, which change`);
    for (const input of compiled.columns) inputs.add(input);
  }
  if (filter !== undefined) {
    const compiled = await compilePredicate(filter, source.schema);
    if (compiled.usesRowId || compiled.usesRowOffset)
      throw refused('filters by ids or places of rows, which change');
    for (const input of compiled.columns) inputs.add(input);
  }
  const view = { source: [], columns, filter, limit, inputs: [...inputs].sort() };
  const { schema } = await viewRows(engine, source, view, { limit: 0 });
  return { schema, columns, inputs: [...inputs].sort() };
}

const refused = (what: string): DirspaceError =>
  new DirspaceError('InvalidInput', `The query of the materialized view ${what}.`);

const everyColumn = ({ schema }: Snapshot): ManifestView['columns'] =>
  schema.fields.map(({ name }) => [name, `\`${name.replaceAll('`', '``')}\``]);

export interface Wanted {
  /** Rows of the source, in its order, that are left out at the beginning. */
  readonly after?: number | undefined;
  /** Rows at most, in place of the query's limit. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The rows of the query over a version of its source, read from the disk and verified. */
export async function viewRows(
  engine: Engine,
  source: Snapshot,
  view: ManifestView,
  { after = 0, limit = view.limit, signal }: Wanted = {},
): Promise<RecordBatchStream> {
  const tail = after === 0 ? { snapshot: source, skipped: 0 } : await tailOf(engine, source, after);
  const conditions = [
    ...(view.filter === undefined ? [] : [`(${view.filter}\n)`]),
    ...(tail.skipped === 0 ? [] : [`_rowoffset >= ${tail.skipped}`]),
  ];
  const found = await query(engine, tail.snapshot, {
    columns: Object.fromEntries(view.columns),
    filter: conditions.length === 0 ? undefined : conditions.join(' AND '),
    limit,
    fresh: true,
    signal,
  });
  // Members of an object are not always in the order given: names such as 2023 come first.
  const named = new Map(found.schema.fields.map((field, place) => [field.name, place]));
  const places = view.columns.map(([name]) => named.get(name) as number);
  const schema = new Schema(
    places.map((place) => {
      const { name, type, metadata } = found.schema.fields[place] as Field;
      return new Field(name, type, true, plainMetadata(metadata));
    }),
  );
  const batches = async function* (): AsyncGenerator<RecordBatch> {
    for await (const batch of found) {
      const columns = columnsOf(batch);
      const inOrder = places.map((place) => columns[place] as Data);
      yield recordBatch(schema, inOrder, batch.numRows);
    }
  };
  return recordBatchStream(schema, batches());
}

/**
 * The fragments that hold the rows after so many, and how many rows of the first of them come
 * before.
 */
async function tailOf(
  engine: Engine,
  source: Snapshot,
  after: number,
): Promise<{ snapshot: Snapshot; skipped: number }> {
  const fragments = await source.fragments();
  let before = 0;
  let first = 0;
  for (const entry of fragments) {
    const rows = liveRows(entry);
    if (before + rows > after) break;
    before += rows;
    first++;
  }
  const kept = fragments.slice(first);
  const totals = {
    ...source.manifest.totals,
    rows: kept.reduce((sum, { rows }) => sum + rows, 0),
    deletedRows: kept.reduce((sum, entry) => sum + entry.rows - liveRows(entry), 0),
    fragments: kept.length,
  };
  // A version that nobody publishes: it says what a part of the fragments holds.
  const manifest = { ...source.manifest, chunks: [], fragments: kept, totals };
  const snapshot = new Snapshot(engine, source.branch, manifest, source.checksum, 0);
  return { snapshot, skipped: after - before };
}
