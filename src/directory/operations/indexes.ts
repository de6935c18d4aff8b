/**
 * Carries out the index operations for an engine without indexes: lists are empty, and a named
 * index is not found. directory/handlers.ts refuses to create one.
 */
import { DirspaceError } from '../../errors.ts';
import type {
  DescribeTableIndexStatsRequest,
  DescribeTableIndexStatsResponse,
  DropTableIndexRequest,
  DropTableIndexResponse,
  ListTableIndicesRequest,
  ListTableIndicesResponse,
} from '../../protocol/index.ts';
import {
  beginWrite,
  type Catalog,
  pageOf,
  resolveTarget,
  showId,
  type Table,
} from '../catalog/index.ts';

/** Empty for every table, a declared one too. @throws TableNotFound, TableVersionNotFound */
export async function listTableIndices(
  catalog: Catalog,
  request: ListTableIndicesRequest,
): Promise<ListTableIndicesResponse> {
  await resolveTarget(catalog, request, 'named');
  const { items } = pageOf<ListTableIndicesResponse['indexes'][number]>(
    [],
    request,
    ({ index_name }) => index_name,
  );
  return { indexes: [...items] };
}

/** @throws TableNotFound, TableVersionNotFound, TableIndexNotFound */
export async function describeTableIndexStats(
  catalog: Catalog,
  request: DescribeTableIndexStatsRequest,
): Promise<DescribeTableIndexStatsResponse> {
  const { table } = await resolveTarget(catalog, request, 'named');
  throw missingIndex(table, request.index_name);
}

/** @throws TableNotFound, TableBranchNotFound, TableIndexNotFound */
export async function dropTableIndex(
  catalog: Catalog,
  request: DropTableIndexRequest,
): Promise<DropTableIndexResponse> {
  await beginWrite(catalog);
  const { table } = await resolveTarget(catalog, request, 'named');
  throw missingIndex(table, request.index_name);
}

function missingIndex({ id }: Table, name: string | undefined): DirspaceError {
  if (name === undefined) {
    return new DirspaceError(
      'InvalidInput',
      'The request names no index: give the name of one as index_name.',
      { details: { member: 'index_name' } },
    );
  }
  return new DirspaceError(
    'TableIndexNotFound',
    `The table ${showId(id)} has no index ${JSON.stringify(name.slice(0, 80))}: this release builds none.`,
    { details: { id, index: name } },
  );
}
