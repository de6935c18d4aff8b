/**
 * Implements the methods of a connection that declare, register, clone and rename tables
 * (`declareTable`, `registerTable`, `cloneTable`, `renameTable`). They check the options and call
 * the catalog. `cloneTable` takes a source with a slash or backslash as a location, and any other
 * source as a name. It rejects with Unsupported if the catalog cannot clone.
 */
import type {
  CloneTableResponse,
  DeclareTableResponse,
  RegisterTableResponse,
} from '../protocol/index.ts';
import {
  type CloneTableOptions,
  copy,
  type DeclareTableOptions,
  type RegisterTableOptions,
  type RenameTableOptions,
} from './connection-options.ts';
import {
  CONNECTION_OPTIONS,
  checkChangeOptions,
  defined,
  type Home,
  offered,
  pathOf,
  tableId,
} from './handles/index.ts';

export async function declareTable(
  { catalog }: Home,
  id: string[],
  options: DeclareTableOptions,
): Promise<DeclareTableResponse> {
  checkChangeOptions(options, CONNECTION_OPTIONS.declareTable);
  const { location, properties, vendCredentials: vend_credentials } = options;
  const request = defined({ id, location, properties: copy(properties), vend_credentials });
  return catalog.declareTable(request, options);
}

export async function registerTable(
  { catalog }: Home,
  id: string[],
  location: string,
  options: RegisterTableOptions,
): Promise<RegisterTableResponse> {
  checkChangeOptions(options, CONNECTION_OPTIONS.registerTable);
  const { mode, properties } = options;
  const request = defined({ id, location, mode, properties: copy(properties) });
  return catalog.registerTable(request, options);
}

/** @param source a name in this catalog, or a location, which has a slash */
export async function cloneTable(
  { catalog }: Home,
  id: string[],
  source: string,
  options: CloneTableOptions,
): Promise<CloneTableResponse> {
  checkChangeOptions(options, CONNECTION_OPTIONS.cloneTable);
  const { sourceNamespacePath, sourceBranch, sourceVersion, sourceTag, isShallow } = options;
  const isLocation = typeof source === 'string' && /[/\\]/.test(source);
  const request = defined({
    id,
    source_id: isLocation ? undefined : tableId(source, sourceNamespacePath),
    source_location: isLocation ? source : undefined,
    source_branch: sourceBranch,
    source_version: sourceVersion,
    source_tag: sourceTag,
    is_shallow: isShallow,
    properties: copy(options.properties),
  });
  return offered(catalog, 'cloneTable')(request, options);
}

export async function renameTable(
  { catalog }: Home,
  id: string[],
  newName: string,
  options: RenameTableOptions,
): Promise<void> {
  checkChangeOptions(options, CONNECTION_OPTIONS.renameTable);
  const { newNamespacePath } = options;
  const moved = newNamespacePath && pathOf(newNamespacePath, 'newNamespacePath');
  const request = defined({ id, new_table_name: newName, new_namespace_id: moved });
  await catalog.renameTable(request, options);
}
