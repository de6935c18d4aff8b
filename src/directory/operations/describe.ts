/** DescribeTable: every member of the answer, and the rules of when it is there. */
import { pathToFileURL } from 'node:url';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { DescribeTableRequest, DescribeTableResponse } from '../../protocol/index.ts';
import {
  findTag,
  prepareReads,
  resolveHead,
  type Snapshot,
  snapshotAt,
} from '../../table/index.ts';
import {
  type Catalog,
  isMissed,
  isOnlyDeclared,
  locationOf,
  newestVersion,
  requireBranch,
  requireTable,
  showId,
  type Table,
  tableToRead,
} from '../catalog/index.ts';
import { vendedOptions } from './credentials.ts';
import { propertiesAt } from './table-properties.ts';

/**
 * A table without a version is only declared where no files of a table are in its folder either.
 * Without `load_detailed_metadata` (left out or false) the answer has location, properties and
 * managed_versioning; with it also what the version described holds. A table that is only declared
 * answers what it has.
 * @throws InvalidInput when tag comes with version or branch
 */
export async function describeTable(
  catalog: Catalog,
  request: DescribeTableRequest,
): Promise<DescribeTableResponse> {
  if (
    request.tag !== undefined &&
    (request.version !== undefined || request.branch !== undefined)
  ) {
    throw new DirspaceError(
      'InvalidInput',
      `tag ${JSON.stringify(request.tag)} cannot be combined with ${request.version === undefined ? 'branch' : 'version'}: a tag names one version of one branch by itself.`,
    );
  }
  const table = await tableToRead(catalog, request);
  const location = locationOf(catalog, table.folder);
  const detailed = request.load_detailed_metadata === true;
  const isNamed = [request.tag, request.branch, request.version].some((name) => name !== undefined);
  const named = isNamed ? await soughtSnapshot(catalog, table, request) : undefined;
  const newest = isNamed
    ? await newestUnlessDamaged(catalog, table, named)
    : await newestVersion(catalog, table);
  const snapshot = isNamed ? named : newest;
  // What a table is opened with.
  const isHead = request.tag === undefined && request.version === undefined;
  if (detailed && isHead && snapshot !== undefined) await prepareReads(catalog.engine, snapshot);
  return {
    location,
    properties: propertiesAt(table, newest),
    managed_versioning: catalog.managedVersioning,
    ...(request.with_table_uri === true ? { table_uri: pathToFileURL(location).href } : {}),
    ...(request.check_declared === true || detailed
      ? { is_only_declared: snapshot === undefined && (await isOnlyDeclared(catalog, table)) }
      : {}),
    ...(detailed
      ? {
          table: table.id.at(-1) ?? '',
          namespace: table.id.slice(0, -1),
          incarnation: table.record.id,
        }
      : {}),
    ...(detailed && snapshot !== undefined ? detailsOf(snapshot) : {}),
    ...(await vendedOptions(catalog, table.id, table.folder, request.vend_credentials)),
  };
}

/**
 * The newest version of main. Where it is damaged or lost, the version asked for in its place: the
 * properties are then those that the table had by then, and what is sound can still be opened.
 */
async function newestUnlessDamaged(
  catalog: Catalog,
  table: Table,
  named: Snapshot | undefined,
): Promise<Snapshot | undefined> {
  try {
    return await newestVersion(catalog, table);
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) return named;
    throw error;
  }
}

function detailsOf(snapshot: Snapshot): Partial<DescribeTableResponse> {
  const { manifest } = snapshot;
  return {
    version: manifest.version,
    schema: frozen(manifest.schema),
    metadata: { ...manifest.metadata },
    stats: {
      num_deleted_rows: manifest.totals.deletedRows,
      num_fragments: manifest.totals.fragments,
    },
  };
}

/** It is the version's own, and later commits are built from it: no caller may change it. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

async function soughtSnapshot(
  catalog: Catalog,
  table: Table,
  request: DescribeTableRequest,
): Promise<Snapshot | undefined> {
  try {
    return await namedSnapshot(catalog, table, request);
  } catch (error) {
    if (isMissed(error)) await requireTable(catalog, request);
    throw error;
  }
}

/** The version that a tag, a number or a branch stands for; undefined where a branch has none. */
async function namedSnapshot(
  catalog: Catalog,
  table: Table,
  request: DescribeTableRequest,
): Promise<Snapshot | undefined> {
  if (request.tag !== undefined) return taggedSnapshot(catalog, table, request.tag);
  const branch = await requireBranch(catalog, table, request.branch);
  if (request.version !== undefined) return snapshotAt(catalog.engine, branch, request.version);
  // Its newest version is looked up only where something of it is asked for.
  if (request.load_detailed_metadata !== true && request.check_declared !== true) return undefined;
  return (await resolveHead(catalog.engine, branch))?.snapshot;
}

/** @throws TableTagNotFound */
export async function taggedSnapshot(
  catalog: Catalog,
  table: Table,
  tag: string,
): Promise<Snapshot> {
  const record = await findTag(catalog.engine, table.folder, table.record.id, tag);
  if (record === undefined) throw missingTag(table, tag);
  const branch = await requireBranch(catalog, table, record.branch);
  return snapshotAt(catalog.engine, branch, record.version);
}

export const missingTag = (table: Table, tag: string): DirspaceError =>
  new DirspaceError(
    'TableTagNotFound',
    `The table ${showId(table.id)} has no tag ${tag}. List its tags, or create it first.`,
    { details: { id: table.id, tag } },
  );
