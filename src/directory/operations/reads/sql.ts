/**
 * Carries out RunSql and ExplainSql (`runSql`, `explainSql`). Both open the tables that a SELECT
 * names, each at one version for the whole statement. statements/ then plans the SELECT, and runs
 * it for RunSql only. If a table cannot be opened, the error names it as the statement does, with
 * dots. A wrong statement, a name with $ or /, and an incarnation for a statement that does not
 * read exactly one table throw InvalidInput.
 */
import { handedOut, type RecordBatchStream } from '../../../arrow/index.ts';
import { DirspaceError } from '../../../errors.ts';
import {
  type CallOptions,
  type ExplainSqlRequest,
  type ExplainSqlResponse,
  namedBy,
  type RunSqlRequest,
} from '../../../protocol/index.ts';
import type { RequestMemory } from '../../../request-memory.ts';
import { formatTable } from '../../../sql/index.ts';
import {
  type OpenedStatement,
  openStatement,
  type StatementTable,
  statementText,
  type TableSource,
  tableRequest,
} from '../../../statements/index.ts';
import {
  countWhere,
  exactBounds,
  query,
  requestMemory,
  type Snapshot,
  Turn,
} from '../../../table/index.ts';
import { type Catalog, snapshotToRead } from '../../catalog/index.ts';

/** @throws TableNotFound, TableVersionNotFound, InvalidInput with the place in the text */
export async function runSql(
  catalog: Catalog,
  request: RunSqlRequest,
  { signal }: CallOptions = {},
): Promise<RecordBatchStream> {
  const { engine } = catalog;
  const memory = requestMemory(engine);
  const statement = openStatement(statementText(request), engine.env.now());
  const sources = await openedTables(catalog, request, statement, { memory, signal });
  const turn = new Turn(engine.env);
  return handedOut(statement.run(sources, { memory, turn, signal }));
}

export async function explainSql(
  catalog: Catalog,
  request: ExplainSqlRequest,
): Promise<ExplainSqlResponse> {
  const statement = openStatement(statementText(request), catalog.engine.env.now());
  const memory = requestMemory(catalog.engine);
  const sources = await openedTables(catalog, request, statement, { memory, signal: undefined });
  return { plan: statement.explain(sources) };
}

interface Reading {
  readonly memory: RequestMemory;
  readonly signal: AbortSignal | undefined;
}

function openedTables(
  catalog: Catalog,
  { id = [], incarnation }: RunSqlRequest,
  { tables }: OpenedStatement,
  reading: Reading,
): Promise<TableSource[]> {
  if (incarnation !== undefined && tables.length !== 1) {
    throw new DirspaceError(
      'InvalidInput',
      `The request names the incarnation of one table, and the statement reads ${tables.length}.`,
    );
  }
  const only = incarnation === undefined ? {} : { incarnation };
  const open = async (table: StatementTable): Promise<TableSource> => {
    const named = { ...tableRequest(id, table), ...only };
    refuseJoined(named.id);
    try {
      return sourceOf(catalog, await snapshotToRead(catalog, named), reading);
    } catch (error) {
      throw namedBy(error, formatTable);
    }
  };
  return Promise.all(tables.map(open));
}

/**
 * Statements join names by dots, and ids join them by `$` or `/`: whoever writes an id in quotes is
 * told so. @throws InvalidInput
 */
function refuseJoined(id: readonly string[]): void {
  const joined = id.find((name) => /[$/]/.test(name));
  if (joined === undefined) return;
  const names = id.flatMap((name) => name.split(/[$/]/));
  throw new DirspaceError(
    'InvalidInput',
    `No namespace or table can have the name ${JSON.stringify(joined.slice(0, 80))}. A statement joins namespaces and tables by dots: ${formatTable(names)}.`,
    { details: { component: joined.slice(0, 256) } },
  );
}

const sourceOf = (
  { engine }: Catalog,
  snapshot: Snapshot,
  { memory, signal }: Reading,
): TableSource => ({
  schema: snapshot.schema,
  rowCount: snapshot.rowCount,
  read: (request) => query(engine, snapshot, { ...request, memory, signal }),
  bounds: (columns) => exactBounds(engine, snapshot, columns),
  count: async (filter) =>
    filter === undefined ? snapshot.rowCount : countWhere(engine, snapshot, filter, signal),
});
