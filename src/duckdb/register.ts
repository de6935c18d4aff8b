/**
 * `registerTable` copies the rows of one version of a table into a temporary table of a DuckDB
 * connection, because DuckDB's package for Node accepts no Arrow. The connection must not be used
 * for anything else meanwhile. `registerTables` copies several tables, which appear under their
 * names once all are complete. A name that is taken throws InvalidInput, unless it is that of a
 * temporary table and `replace` is set; so does one that two of the tables are to have. Values that
 * DuckDB cannot hold, and a missing package `@duckdb/node-api`, throw Unsupported; then nothing is
 * registered.
 */
import { DirspaceError } from '../errors.ts';
import type { CallOptions } from '../protocol/index.ts';
import { checkOptionNames, type Table } from '../sdk/index.ts';
import { quotedName, quotedText } from '../sql-quotes.ts';
import { copyRows } from './copy-rows.ts';
import { type DuckDBConnectionLike, loadPeer } from './peer.ts';

/** The version, rows and columns to copy, and their names in DuckDB. */
export interface RegisterTableOptions extends CallOptions {
  /** The name in DuckDB; the table's own if absent. */
  readonly name?: string;
  /** A version of the handle's branch; what the handle reads if absent. */
  readonly version?: number;
  /** A tag, in place of `version`. */
  readonly tag?: string;
  /** SQL of dirspace; the rows for which it is true. */
  readonly where?: string;
  /** Names of columns, or SQL by name, as `select` of a query takes them; all columns if absent. */
  readonly columns?: readonly string[] | Readonly<Record<string, string>>;
  /** Takes the place of a temporary table of that name, once all rows are there. */
  readonly replace?: boolean;
}

/** A table of DuckDB that was made. */
export interface RegisteredTable {
  readonly name: string;
  /** The version that its rows are of, and how many there are. */
  readonly version: number;
  readonly rows: number;
}

/** A table, and what is wanted of it. */
interface Wanted {
  readonly name: string;
  readonly table: Table;
  readonly options: RegisterTableOptions;
}

const OPTIONS = ['name', 'version', 'tag', 'where', 'columns', 'replace'];

/**
 * Copies rows into a temporary table of the connection, which is to be used for nothing else
 * meanwhile.
 * @throws Unsupported where `@duckdb/node-api` is not installed, and for values that DuckDB cannot
 * hold; InvalidInput for a name that is taken
 */
export async function registerTable(
  connection: DuckDBConnectionLike,
  table: Table,
  options: RegisterTableOptions = {},
): Promise<RegisteredTable> {
  const wanted = { name: options.name ?? table.name, table, options };
  return (await register(connection, [wanted]))[0] as RegisteredTable;
}

/**
 * Does the same for several tables, by their names in DuckDB. If one cannot be copied, none is
 * registered.
 */
export async function registerTables(
  connection: DuckDBConnectionLike,
  tables: Readonly<Record<string, Table | (RegisterTableOptions & { readonly table: Table })>>,
): Promise<RegisteredTable[]> {
  const wanted = Object.entries(tables).map(([name, given]): Wanted => {
    if (!('table' in given)) return { name, table: given, options: {} };
    const { table, ...options } = given;
    return { name: options.name ?? name, table, options };
  });
  return register(connection, wanted);
}

async function register(
  connection: DuckDBConnectionLike,
  wanted: readonly Wanted[],
): Promise<RegisteredTable[]> {
  for (const { options } of wanted) checkOptionNames(options, OPTIONS);
  checkNames(wanted);
  const peer = await loadPeer(connection);
  for (const { name, options } of wanted) {
    await requireFree(connection, name, options.replace === true);
  }
  const staged: RegisteredTable[] = [];
  try {
    for (const [at, { table, options }] of wanted.entries()) {
      options.signal?.throwIfAborted();
      const copied = await copyRows(connection, peer, await pinned(table, options), {
        ...options,
        name: stagingName(at),
      });
      staged.push(copied);
    }
    for (const [at, { name }] of wanted.entries()) {
      await connection.run(`DROP TABLE IF EXISTS ${temporary(name)}`);
      await connection.run(
        `ALTER TABLE ${temporary(stagingName(at))} RENAME TO ${quotedName(name)}`,
      );
    }
  } finally {
    for (const at of wanted.keys()) {
      await connection.run(`DROP TABLE IF EXISTS ${temporary(stagingName(at))}`);
    }
  }
  return staged.map(({ version, rows }, at) => ({
    name: (wanted[at] as Wanted).name,
    version,
    rows,
  }));
}

const temporary = (name: string): string => `temp.main.${quotedName(name)}`;

/**
 * The table that rows are copied to until all are there. A connection copies for one call at a
 * time.
 */
const stagingName = (at: number): string => `__dirspace_staging_${at}`;

/** A handle that stays at the version that is meant. */
async function pinned(
  table: Table,
  { version, tag, signal }: RegisterTableOptions,
): Promise<Table> {
  const call = signal === undefined ? {} : { signal };
  if (version !== undefined && tag !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `tag ${JSON.stringify(tag)} cannot be combined with version: a tag names one version by itself.`,
    );
  }
  const branches = await table.branches();
  const branch = table.currentBranch() ?? 'main';
  if (tag === undefined) {
    return branches.checkout(branch, version ?? (await table.version(call)), call);
  }
  const number = await (await table.tags()).getVersion(tag, call);
  const { branch: tagged } = (await (await table.tags()).list(call))[tag] ?? {};
  return branches.checkout(tagged ?? 'main', number, call);
}

/** @throws InvalidInput for what is no name, and for one that two of the tables are to have */
function checkNames(wanted: readonly Wanted[]): void {
  const names = new Set<string>();
  for (const { name } of wanted as readonly { readonly name: unknown }[]) {
    if (typeof name !== 'string' || name === '' || name.includes('\0')) {
      throw refused(
        `A table of DuckDB has a text as its name, and was given ${JSON.stringify(name)}.`,
      );
    }
    if (names.has(name.toLowerCase())) {
      throw refused(
        `Two of the tables are to be called ${JSON.stringify(name)}; DuckDB does not tell names apart by case. Give each a name of its own.`,
      );
    }
    names.add(name.toLowerCase());
  }
}

const refused = (message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { option: 'name' } });

/** @throws InvalidInput for a name that another table has, save a temporary one that is replaced */
async function requireFree(
  connection: DuckDBConnectionLike,
  name: string,
  replace: boolean,
): Promise<void> {
  const found = await connection.runAndReadAll(
    `SELECT database_name = 'temp' AND is_table FROM (
       SELECT database_name, schema_name, table_name AS name, true AS is_table FROM duckdb_tables()
       UNION ALL SELECT database_name, schema_name, view_name, false FROM duckdb_views() WHERE NOT internal
     ) WHERE lower(name) = lower(${quotedText(name)})
       AND (database_name = 'temp' OR (database_name = current_database() AND schema_name = current_schema()))`,
  );
  const rows = found.getRows();
  const isOwn = rows.length > 0 && rows.every(([isTemporary]) => isTemporary === true);
  if (rows.length === 0 || (isOwn && replace)) return;
  throw refused(
    `The connection has a table or view ${JSON.stringify(name)}. Give another name${isOwn ? ', or replace: true' : ''}.`,
  );
}
