/**
 * Answers DescribeTable: decides which members the answer has. catalog/target.ts finds the version.
 */
import { pathToFileURL } from 'node:url';
import type { DescribeTableRequest, DescribeTableResponse } from '../../protocol/index.ts';
import { prepareReads, type Snapshot } from '../../table/index.ts';
import { type Catalog, describedTarget, isOnlyDeclared, locationOf } from '../catalog/index.ts';
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
  const detailed = request.load_detailed_metadata === true;
  // The newest version of a branch is looked up only where something of it is asked for.
  const depth = detailed || request.check_declared === true ? 'version' : 'named';
  const { table, snapshot, newest } = await describedTarget(catalog, request, depth);
  const location = locationOf(catalog, table.folder);
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
