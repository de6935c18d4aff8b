/**
 * Carries out the operations on table versions: list, describe, publish a staged manifest, and
 * delete ranges of versions (`listTableVersions`, `describeTableVersion`, `createTableVersion`,
 * `batchDeleteTableVersions`). A taken number throws ConcurrentModification. Clients of Lance may
 * publish versions and branches of a table of this engine if its Lance mode is `write`; otherwise
 * PermissionDenied is thrown. lance-versions.ts handles tables that other programs write.
 * commit-tables.ts publishes versions of several tables at once; it shares `offeredVersion` and
 * `versionRecord`.
 */
import { DirspaceError, isDirspaceError } from '../../../errors.ts';
import { digestOf, MAIN_BRANCH, type VersionDigest, versionFile } from '../../../format/index.ts';
import type {
  BatchDeleteTableVersionsRequest,
  BatchDeleteTableVersionsResponse,
  CallOptions,
  CreateTableVersionRequest,
  CreateTableVersionResponse,
  DescribeTableVersionRequest,
  DescribeTableVersionResponse,
  ListTableVersionsRequest,
  ListTableVersionsResponse,
  TableVersion,
} from '../../../protocol/index.ts';
import type { Branch, Snapshot, StagedVersion } from '../../../table/index.ts';
import {
  beginWrite,
  type Catalog,
  closeToOthers,
  lanceTarget,
  locationOf,
  newestOfMain,
  pageOf,
  requireTable,
  resolveTarget,
  storedTable,
  strangeToken,
} from '../../catalog/index.ts';
import {
  createLanceVersion,
  deleteLanceVersions,
  isOfLance,
  lanceRecord,
  listedLanceVersions,
  stagedForLance,
} from './lance-versions.ts';

/** Most versions of a page with manifests for Lance, each of which may be a new file. */
const MOST_FOR_LANCE = 100;

export async function listTableVersions(
  catalog: Catalog,
  request: ListTableVersionsRequest,
  options: CallOptions = {},
): Promise<ListTableVersionsResponse> {
  const { table, branch } = await resolveTarget(catalog, request, 'branch');
  const own = await branch.numbers();
  const ofLance =
    own.length === 0 && (await isOfLance(catalog, table, request.branch))
      ? new Map((await listedLanceVersions(catalog, table)).map((found) => [found.version, found]))
      : undefined;
  const ascending = ofLance === undefined ? own : [...ofLance.keys()];
  const descending = request.descending === true;
  const numbers = descending ? ascending.toReversed() : ascending;
  const keyOf = (version: number): string => `${version}@${branch.incarnation}`;
  const after = (key: string, start: string): boolean => {
    const [last = '', incarnation = branch.incarnation] = start.split('@');
    if (!/^\d+$/.test(last)) throw strangeToken();
    if (incarnation !== branch.incarnation) throw otherTable();
    return descending
      ? Number.parseInt(key, 10) < Number(last)
      : Number.parseInt(key, 10) > Number(last);
  };
  const { items, page_token } = pageOf(numbers, request, keyOf, after);
  let versions: TableVersion[];
  if (ofLance !== undefined) {
    versions = [];
    for (const number of items) {
      const foreign = ofLance.get(number);
      const record = foreign && (await lanceRecord(catalog, foreign));
      if (record !== undefined) versions.push(record);
    }
  } else if (options.forLance === true) versions = await recordsForLance(catalog, branch, items);
  else {
    const place = locationOf(catalog, branch.folder);
    versions = (await branch.digests(items)).map((digest) =>
      digestRecord(versionFile(place, digest.version), digest),
    );
  }
  // Of this table and this branch still: neither left while the pages were read.
  await resolveTarget(catalog, { ...request, incarnation: table.record.id }, 'branch');
  return { versions, ...(page_token === undefined ? {} : { page_token }) };
}

/**
 * With the manifests of Lance of the first ones. A read-only catalog makes none, and leaves out
 * later versions among these that have none yet.
 */
async function recordsForLance(
  catalog: Catalog,
  branch: Branch,
  numbers: readonly number[],
): Promise<TableVersion[]> {
  const versions: TableVersion[] = [];
  for (const number of numbers) {
    // Cleanup may go by while the page is read.
    const snapshot = await branch.snapshotIfThere(number);
    if (snapshot === undefined) continue;
    const forLance = versions.length < MOST_FOR_LANCE;
    // A catalog that is only read names what was made before, and the first in any case.
    const isLeftOut = forLance && catalog.readOnly && versions.length > 0;
    if (isLeftOut && (await branch.madeLanceManifest(snapshot)) === undefined) continue;
    versions.push(await readableRecord(catalog, branch, snapshot, forLance));
  }
  return versions;
}

/** Pages that were read before are of a table that is gone, whose versions have the same numbers. */
const otherTable = (): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    'The page token is of another table, or of one that was dropped and made anew since. List the versions from the start.',
  );

/** The newest version if none is named. @throws TableVersionNotFound */
export async function describeTableVersion(
  catalog: Catalog,
  request: DescribeTableVersionRequest,
  options: CallOptions = {},
): Promise<DescribeTableVersionResponse> {
  const target = await resolveTarget(catalog, request, 'version').catch(async (error: unknown) => {
    const { table } = await lanceTarget(catalog, request, error);
    return { table, branch: storedTable(catalog, table).main, snapshot: undefined };
  });
  const { table, branch, snapshot: found } = target;
  if (found === undefined && (await isOfLance(catalog, table, request.branch))) {
    const { version } = request;
    const foreign = (await listedLanceVersions(catalog, table)).findLast(
      (one) => version === undefined || one.version === version,
    );
    const record = foreign && (await lanceRecord(catalog, foreign));
    if (record !== undefined) return { version: record };
  }
  // There is no version 0, which is what is told of a branch without any.
  const snapshot = found ?? (await branch.snapshot(0));
  const forLance = options.forLance === true;
  return { version: await readableRecord(catalog, branch, snapshot, forLance) };
}

/** Publishes a staged manifest as the next version. @throws ConcurrentModification when it is taken */
export async function createTableVersion(
  catalog: Catalog,
  request: CreateTableVersionRequest,
  { signal }: CallOptions = {},
): Promise<CreateTableVersionResponse> {
  await beginWrite(catalog);
  const target = await resolveTarget(catalog, request, 'branch').catch((error: unknown) =>
    branchFromLance(catalog, request, error),
  );
  if ('version' in target) return target;
  const { table, branch } = target;
  const isMain = request.branch === undefined || request.branch === MAIN_BRANCH;
  const newest = isMain ? await newestOfMain(catalog, table) : undefined;
  const foreign =
    newest === undefined && isMain ? stagedForLance(catalog, table, request) : undefined;
  if (foreign !== undefined) return createLanceVersion(catalog, table, request, foreign);
  const path = await branch.stagedByLance(request);
  if (path !== undefined && (newest !== undefined || !isMain))
    return createFromLance(catalog, branch, request, path, signal);
  const staged = await offeredVersion(catalog, branch, request);
  if (newest === undefined && isMain) await closeToOthers(catalog, table);
  const snapshot = await branch.publish(staged);
  catalog.engine.counters.commits++;
  return { transaction_id: staged.manifest.transaction, version: versionRecord(catalog, snapshot) };
}

/** Publishes what a client of Lance has staged, where the table's clients of Lance may write. */
async function createFromLance(
  catalog: Catalog,
  branch: Branch,
  request: CreateTableVersionRequest,
  path: string,
  signal: AbortSignal | undefined,
): Promise<CreateTableVersionResponse> {
  await requireLanceWrites(branch);
  const snapshot = await branch.createFromLance(request, path, signal);
  catalog.engine.counters.commits++;
  return recordForLance(catalog, branch, snapshot);
}

/** @throws PermissionDenied where clients of Lance may not write */
async function requireLanceWrites(branch: Branch): Promise<void> {
  const newest = await branch.newest();
  const mode = newest === undefined ? 'off' : await branch.lanceMode(newest);
  if (newest?.manifest.lance === true && mode === 'write') return;
  throw new DirspaceError(
    'PermissionDenied',
    `Clients of Lance may not write this table: its property lance is "${mode}". Write it over this catalog's own operations, or create it with lance: "write".`,
    { details: { property: 'lance' } },
  );
}

/**
 * Makes the branch that a client of Lance has staged under the name of one that was missed.
 * @throws `error` where it is no such request
 */
async function branchFromLance(
  catalog: Catalog,
  request: CreateTableVersionRequest,
  error: unknown,
): Promise<CreateTableVersionResponse & { readonly version: TableVersion }> {
  const { branch: name } = request;
  if (name === undefined || !isDirspaceError(error, 'TableBranchNotFound')) throw error;
  const table = await requireTable(catalog, request);
  const stored = storedTable(catalog, table);
  const path = await stored.branchStagedByLance(name, request);
  if (path === undefined) throw error;
  await requireLanceWrites(stored.main);
  await stored.createBranchFromLance(name, request, path);
  const branch = await stored.branch(name);
  if (branch === undefined) throw error;
  const snapshot = await branch.snapshot(request.version);
  // The client itself writes what the branch is, and fails where that is there already.
  await branch.lanceManifest(snapshot);
  return recordForLance(catalog, branch, snapshot);
}

/** A client of Lance takes the size and the tag of a manifest from the file that it staged. */
function recordForLance(
  catalog: Catalog,
  branch: Branch,
  snapshot: Snapshot,
): CreateTableVersionResponse & { readonly version: TableVersion } {
  const { manifest_size: _, e_tag: __, ...record } = versionRecord(catalog, snapshot);
  const manifest_path = locationOf(catalog, branch.placeForLance(snapshot));
  return { transaction_id: snapshot.manifest.transaction, version: { ...record, manifest_path } };
}

/** The manifest that a request offers; its path may be relative to the root, or absolute inside it. */
export function offeredVersion(
  catalog: Catalog,
  branch: Branch,
  request: CreateTableVersionRequest,
): Promise<StagedVersion> {
  const root = locationOf(catalog, '');
  const given = request.manifest_path;
  const path = given.startsWith(root) ? given.slice(root.length) : given;
  return branch.readOffered({ ...request, manifest_path: path });
}

/** All ranges or none. @throws InvalidInput, InvalidTableState for versions that must stay */
export async function batchDeleteTableVersions(
  catalog: Catalog,
  request: BatchDeleteTableVersionsRequest,
): Promise<BatchDeleteTableVersionsResponse> {
  await beginWrite(catalog);
  const { table, branch } = await resolveTarget(catalog, request, 'branch');
  if (await isOfLance(catalog, table, request.branch)) {
    return { deleted_count: await deleteLanceVersions(catalog, table, request) };
  }
  const versions = await branch.planDeletion(request.ranges);
  return { deleted_count: await branch.deleteVersions(versions) };
}

/**
 * What is told of a version. For Lance the manifest is Lance's, also of a version that Lance cannot read:
 * a client takes any other for a staged one, which it puts into the table's folder under a name of Lance's.
 */
async function readableRecord(
  catalog: Catalog,
  branch: Branch,
  snapshot: Snapshot,
  forLance: boolean,
): Promise<TableVersion> {
  const record = versionRecord(catalog, snapshot);
  if (!forLance) return record;
  const made = catalog.readOnly
    ? await branch.madeLanceManifest(snapshot)
    : await branch.lanceManifest(snapshot);
  if (made === undefined) throw unmadeManifest(snapshot);
  const { path, bytes } = made;
  return { ...record, manifest_path: locationOf(catalog, path), manifest_size: bytes };
}

const unmadeManifest = ({ version }: Snapshot): DirspaceError =>
  new DirspaceError(
    'Unsupported',
    `Lance cannot open version ${version} here: this catalog is open read-only, and the manifest by which Lance reads the version was not made before. Run \`dirspace lance sync\` on the catalog, or open the version over a server that may write.`,
  );

export function versionRecord(catalog: Catalog, snapshot: Snapshot): TableVersion {
  const { manifest, checksum, manifestBytes } = snapshot;
  return digestRecord(
    locationOf(catalog, snapshot.file),
    digestOf(manifest, checksum, manifestBytes),
  );
}

function digestRecord(place: string, digest: VersionDigest): TableVersion {
  const { operation, transaction } = digest;
  return {
    version: digest.version,
    manifest_path: place,
    manifest_size: digest.bytes,
    e_tag: digest.checksum,
    timestamp_millis: digest.timestamp,
    metadata: {
      ...digest.annotations,
      operation: operation.kind,
      transaction_id: transaction,
      ...countsOf(operation.summary),
    },
  };
}

const countTexts = new WeakMap<object, Readonly<Record<string, string>>>();

/** As text; of neighbouring versions that did the same, once. */
function countsOf(summary: Readonly<Record<string, number>>): Readonly<Record<string, string>> {
  let texts = countTexts.get(summary);
  if (texts === undefined) {
    texts = Object.fromEntries(
      Object.entries(summary).map(([name, count]) => [name, String(count)]),
    );
    countTexts.set(summary, texts);
  }
  return texts;
}
