/**
 * Implements a connection's methods for namespaces: `createNamespace`, `dropNamespace` and
 * `updateNamespaceProperties`. They check the options and call the catalog.
 * `updateNamespaceProperties` rejects with Unsupported if the catalog cannot change properties.
 * `dropTablesOf` drops the tables of one namespace, and skips a table that another program has
 * dropped meanwhile.
 */
import type { CallOptions } from '../protocol/index.ts';
import type { Connection } from './connection.ts';
import {
  type CreateNamespaceOptions,
  type CreateNamespaceResult,
  checkedChanges,
  copy,
  type DropNamespaceOptions,
  type DropNamespaceResult,
  type NamespacePropertyChanges,
} from './connection-options.ts';
import {
  CONNECTION_OPTIONS,
  checkChangeOptions,
  defined,
  type Home,
  isThere,
  offered,
} from './handles/index.ts';

export async function createNamespace(
  { catalog }: Home,
  id: string[],
  options: CreateNamespaceOptions,
): Promise<CreateNamespaceResult> {
  checkChangeOptions(options, CONNECTION_OPTIONS.createNamespace);
  const { mode, properties } = options;
  const request = defined({ id, mode, properties: copy(properties) });
  const answer = await catalog.createNamespace(request, options);
  return defined({ properties: answer.properties, transactionId: answer.transaction_id });
}

export async function dropNamespace(
  { catalog }: Home,
  id: string[],
  options: DropNamespaceOptions,
): Promise<DropNamespaceResult> {
  checkChangeOptions(options, CONNECTION_OPTIONS.dropNamespace);
  const { mode, behavior } = options;
  const answer = await catalog.dropNamespace(defined({ id, mode, behavior }), options);
  return defined({ properties: answer.properties, transactionId: answer.transaction_id });
}

export async function updateNamespaceProperties(
  { catalog }: Home,
  id: string[],
  changes: NamespacePropertyChanges,
  options: CallOptions | undefined,
): Promise<Readonly<Record<string, string>>> {
  checkChangeOptions(options);
  const update = offered(catalog, 'updateNamespaceProperties');
  const { properties, removals } = checkedChanges(changes);
  return (await update(defined({ id, properties, removals }), options)).properties;
}

/** Drops the tables of one namespace that are there now. */
export async function dropTablesOf(
  connection: Pick<Connection, 'tableNames' | 'dropTable'>,
  path: readonly string[] | undefined,
  options: CallOptions | undefined,
): Promise<void> {
  checkChangeOptions(options);
  for (const name of await connection.tableNames(path, options)) {
    // Another program may drop them at the same time.
    await isThere(connection.dropTable(name, path, options), 'TableNotFound');
  }
}
