/** DescribeTable: every member of the answer, and the rules of when it is there. */
import { pathToFileURL } from 'node:url';
import { DirspaceError } from '../errors.ts';
import type { DescribeTableRequest, DescribeTableResponse } from '../protocol/models.ts';
import { resolveHead, snapshotAt } from '../table/head.ts';
import { prepareReads } from '../table/prepare.ts';
import type { Snapshot } from '../table/snapshot.ts';
import { findTag } from '../table/tags.ts';
import {
  type Catalog,
  locationOf,
  requireBranch,
  requireTable,
  showId,
  type Table,
} from './catalog.ts';
import { vendedOptions } from './credentials.ts';
import { propertiesOf } from './table-properties.ts';

/**
 * A table without a version is only declared: data files alone are what a crash left behind.
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
  const table = await requireTable(catalog, request.id);
  const location = locationOf(catalog, table.folder);
  const snapshot = await describedSnapshot(catalog, table, request);
  const detailed = request.load_detailed_metadata === true;
  return {
    location,
    properties: await propertiesOf(catalog, table),
    managed_versioning: catalog.managedVersioning,
    ...(request.with_table_uri === true ? { table_uri: pathToFileURL(location).href } : {}),
    ...(request.check_declared === true || detailed
      ? { is_only_declared: snapshot === undefined }
      : {}),
    ...(detailed ? { table: table.id.at(-1) ?? '', namespace: table.id.slice(0, -1) } : {}),
    ...(detailed && snapshot !== undefined ? detailsOf(snapshot) : {}),
    ...(await vendedOptions(catalog, table.id, table.folder, request.vend_credentials)),
  };
}

function detailsOf(snapshot: Snapshot): Partial<DescribeTableResponse> {
  const { manifest } = snapshot;
  return {
    version: manifest.version,
    schema: manifest.schema,
    metadata: { ...manifest.metadata },
    stats: {
      num_deleted_rows: manifest.totals.deletedRows,
      num_fragments: manifest.totals.fragments,
    },
  };
}

/** The version asked for; undefined for the latest of a table that has none. */
async function describedSnapshot(
  catalog: Catalog,
  table: Table,
  request: DescribeTableRequest,
): Promise<Snapshot | undefined> {
  if (request.tag !== undefined) return taggedSnapshot(catalog, table, request.tag);
  const branch = await requireBranch(catalog, table, request.branch);
  if (request.version !== undefined) return snapshotAt(catalog.engine, branch, request.version);
  // The newest version is looked up only where something of it is asked for.
  if (request.load_detailed_metadata !== true && request.check_declared !== true) return undefined;
  const newest = (await resolveHead(catalog.engine, branch))?.snapshot;
  // What a table is opened with.
  if (newest !== undefined && request.load_detailed_metadata === true) {
    await prepareReads(catalog.engine, newest);
  }
  return newest;
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
