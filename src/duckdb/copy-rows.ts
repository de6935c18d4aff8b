/**
 * `copyRows` creates a temporary table of DuckDB and fills it with the rows of a query on a table
 * handle, which has to be pinned to a version. It works in chunks and lets other work run in
 * between. Types and values that DuckDB does not hold throw Unsupported, and a query without
 * columns throws InvalidInput. If it fails, the caller drops the table.
 */

import { columnsOf, type RecordBatch, type Schema, sliceData } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { nextRound } from '../event-loop.ts';
import type { Table } from '../sdk/index.ts';
import { quotedName } from '../sql-quotes.ts';
import { refuseTwins, sqlType } from './column-types.ts';
import { columnValues } from './column-values.ts';
import type { DataChunk, DuckDBAppenderLike, DuckDBConnectionLike, Peer } from './peer.ts';

/** Rows of a chunk of DuckDB. */
const CHUNK_ROWS = 2_048;
/** Values after which others have their turn: some milliseconds. */
const TURN_VALUES = 8_192;

/**
 * Values after which DuckDB takes what was appended into its table. By itself it does so after
 * 204,800 rows, which takes 30 ms and more at once, and no less time in all.
 */
const FLUSH_VALUES = 65_536;

/** The rows and columns to copy, and the name of the table. */
export interface CopyRequest {
  readonly name: string;
  readonly where?: string;
  readonly columns?: readonly string[] | Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** @param table pinned to a version @throws Unsupported */
export async function copyRows(
  connection: DuckDBConnectionLike,
  peer: Peer,
  table: Table,
  { name, where, columns, signal }: CopyRequest,
): Promise<{ readonly name: string; readonly version: number; readonly rows: number }> {
  const call = signal === undefined ? {} : { signal };
  const query = table.query();
  if (columns !== undefined) query.select(columns as string[]);
  if (where !== undefined) query.where(where);
  const schema: Schema = await query.outputSchema(call);
  if (schema.fields.length === 0) {
    throw new DirspaceError(
      'InvalidInput',
      `No column is left for ${JSON.stringify(name)}, and DuckDB has no table without columns. Name one in columns, or leave columns out.`,
    );
  }
  refuseTwins(schema.fields);
  const defined = schema.fields.map(
    (field) => `${quotedName(field.name)} ${sqlType(field.type, field.name)}`,
  );
  await connection.run(`CREATE TEMP TABLE ${quotedName(name)} (${defined.join(', ')})`);
  const appender = await connection.createAppender(name, 'main', 'temp');
  let rows = 0;
  try {
    const writer = new ChunkWriter(peer, schema, appender);
    for await (const batch of await query.execute(call)) {
      await writer.write(batch, signal);
      rows += batch.numRows;
    }
  } catch (error) {
    close(appender);
    throw error;
  }
  appender.closeSync();
  return { name, version: await table.version(call), rows };
}

/** Closes the appender of a table that is dropped: rows that it still holds may not fit. */
function close(appender: DuckDBAppenderLike): void {
  try {
    appender.closeSync();
  } catch {
    // The error that came before is thrown.
  }
}

class ChunkWriter {
  readonly #peer: Peer;
  readonly #schema: Schema;
  readonly #appender: DuckDBAppenderLike;
  readonly #chunk: DataChunk;
  #values = 0;
  #unflushed = 0;

  constructor(peer: Peer, schema: Schema, appender: DuckDBAppenderLike) {
    this.#peer = peer;
    this.#schema = schema;
    this.#appender = appender;
    const types = schema.fields.map((_, column) => appender.columnType(column));
    this.#chunk = peer.DuckDBDataChunk.create(types, 0);
  }

  async write(batch: RecordBatch, signal: AbortSignal | undefined): Promise<void> {
    for (let from = 0; from < batch.numRows; from += CHUNK_ROWS) {
      const rows = Math.min(CHUNK_ROWS, batch.numRows - from);
      this.#chunk.reset();
      this.#chunk.rowCount = rows;
      for (const [at, column] of columnsOf(batch).entries()) {
        const path = this.#schema.fields[at]?.name ?? '';
        const data = sliceData(column, from, rows);
        this.#chunk.setColumnValues(at, columnValues(data, { peer: this.#peer, path }));
        this.#values += rows;
        if (this.#values < TURN_VALUES) continue;
        this.#values = 0;
        await nextRound();
        signal?.throwIfAborted();
      }
      this.#appender.appendDataChunk(this.#chunk);
      this.#unflushed += rows * this.#schema.fields.length;
      if (this.#unflushed < FLUSH_VALUES) continue;
      this.#unflushed = 0;
      this.#appender.flushSync();
      await nextRound();
    }
  }
}
