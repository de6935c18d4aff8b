/**
 * The table-version operations: list, describe, publish a staged manifest, delete runs of versions.
 */
import { DirspaceError } from '../errors.ts';
import { decodeVersion, encodeManifest, type Manifest } from '../format/manifest.ts';
import { fragmentFile, isStagedManifest, parentFolder, versionFile } from '../format/paths.ts';
import type {
  BatchDeleteTableVersionsRequest,
  BatchDeleteTableVersionsResponse,
  CreateTableVersionRequest,
  CreateTableVersionResponse,
  DescribeTableVersionRequest,
  DescribeTableVersionResponse,
  ListTableVersionsRequest,
  ListTableVersionsResponse,
  TableVersion,
} from '../protocol/models.ts';
import { deleteVersions, planDeletion } from '../table/delete-versions.ts';
import {
  type Head,
  rememberHead,
  resolveHead,
  snapshotAt,
  type TableBranch,
  writeHint,
} from '../table/head.ts';
import { stands } from '../table/publish.ts';
import { settleBatches } from '../table/settle-batches.ts';
import { Snapshot } from '../table/snapshot.ts';
import {
  highestListed,
  readManifest,
  visibleSnapshot,
  visibleVersions,
} from '../table/version-files.ts';
import { beginWrite, type Catalog, locationOf, requireBranch, requireTable } from './catalog.ts';
import { pageOf } from './paging.ts';

export async function listTableVersions(
  catalog: Catalog,
  request: ListTableVersionsRequest,
): Promise<ListTableVersionsResponse> {
  const table = await requireTable(catalog, request.id);
  const branch = await requireBranch(catalog, table, request.branch);
  const numbers = await visibleVersions(catalog.engine, branch);
  const descending = request.descending === true;
  if (descending) numbers.reverse();
  const after = (key: string, start: string): boolean =>
    descending ? Number(key) < Number(start) : Number(key) > Number(start);
  const { items, page_token } = pageOf(numbers, request, String, after);
  const versions: TableVersion[] = [];
  for (const number of items) {
    // Cleanup may go by while the page is read.
    const snapshot = await visibleSnapshot(catalog.engine, branch, number);
    if (snapshot !== undefined) versions.push(versionRecord(catalog, snapshot));
  }
  return { versions, ...(page_token === undefined ? {} : { page_token }) };
}

/** The newest version if none is named. @throws TableVersionNotFound */
export async function describeTableVersion(
  catalog: Catalog,
  request: DescribeTableVersionRequest,
): Promise<DescribeTableVersionResponse> {
  const table = await requireTable(catalog, request.id);
  const branch = await requireBranch(catalog, table, request.branch);
  const head =
    request.version === undefined ? await resolveHead(catalog.engine, branch) : undefined;
  const snapshot =
    head?.snapshot ?? (await snapshotAt(catalog.engine, branch, request.version ?? 0));
  return { version: versionRecord(catalog, snapshot) };
}

/** Publishes a staged manifest as the next version. @throws ConcurrentModification when it is taken */
export async function createTableVersion(
  catalog: Catalog,
  request: CreateTableVersionRequest,
): Promise<CreateTableVersionResponse> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request.id);
  const branch = await requireBranch(catalog, table, request.branch);
  const staged = await readStagedVersion(catalog, branch, request);
  const snapshot = await publishStaged(catalog, branch, staged, undefined);
  return { transaction_id: staged.manifest.transaction, version: versionRecord(catalog, snapshot) };
}

/** All ranges or none. @throws InvalidInput, InvalidTableState for versions that must stay */
export async function batchDeleteTableVersions(
  catalog: Catalog,
  request: BatchDeleteTableVersionsRequest,
): Promise<BatchDeleteTableVersionsResponse> {
  await beginWrite(catalog);
  const table = await requireTable(catalog, request.id);
  const branch = await requireBranch(catalog, table, request.branch);
  const plan = await planDeletion(catalog.engine, branch, request.ranges);
  return { deleted_count: await deleteVersions(catalog.engine, branch, plan) };
}

export interface StagedVersion {
  readonly path: string;
  readonly manifest: Manifest;
  /** The version it builds on. */
  readonly base: Snapshot | undefined;
}

type StagedRequest = Pick<
  CreateTableVersionRequest,
  'version' | 'manifest_path' | 'manifest_size' | 'e_tag' | 'metadata' | 'naming_scheme'
>;

/** Reads and checks what a caller wants published. @throws InvalidInput, ConcurrentModification */
export async function readStagedVersion(
  catalog: Catalog,
  branch: TableBranch,
  request: StagedRequest,
): Promise<StagedVersion> {
  const path = stagedPath(catalog, branch, request.manifest_path);
  if (request.naming_scheme !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'naming_scheme: this catalog names version files itself; leave it out.',
    );
  }
  const bytes = await catalog.store.get(path);
  if (bytes === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `manifest_path: there is no staged manifest at ${path}.`,
    );
  }
  const refuse = (what: string): never => {
    throw new DirspaceError(
      'InvalidInput',
      `The staged manifest ${path} cannot be published: ${what}.`,
    );
  };
  if (request.manifest_size !== undefined && request.manifest_size !== bytes.length) {
    refuse(`it has ${bytes.length} bytes, not ${request.manifest_size}`);
  }
  const found = decodeVersion(bytes, path);
  if (!('manifest' in found)) return refuse('it is not the manifest of a version');
  if (request.e_tag !== undefined && request.e_tag !== found.checksum) {
    refuse(`its checksum is ${found.checksum}, not ${request.e_tag}`);
  }
  const { manifest } = found;
  if (manifest.table !== branch.incarnation || manifest.branch !== branch.branch) {
    refuse('it belongs to another table or branch');
  }
  if (manifest.version !== request.version) {
    refuse(`it is version ${manifest.version}, and version ${request.version} was asked for`);
  }
  const head = await checkSuccession(catalog, branch, manifest);
  return {
    path,
    manifest: {
      ...manifest,
      properties: manifest.properties ?? head?.snapshot.manifest.properties,
      annotations: request.metadata ?? manifest.annotations,
    },
    base: head?.snapshot,
  };
}

/** Makes the version visible, or prepares it as part of a batch. @throws ConcurrentModification */
export async function publishStaged(
  catalog: Catalog,
  branch: TableBranch,
  staged: StagedVersion,
  batch: string | undefined,
): Promise<Snapshot> {
  const manifest = { ...staged.manifest, batch };
  const { bytes, checksum } = encodeManifest(manifest);
  const file = versionFile(branch.folder, manifest.version);
  if (!(await catalog.store.putIfAbsent(file, bytes))) {
    const winner = await readManifest(catalog.engine, branch, manifest.version);
    if (winner?.transaction !== manifest.transaction || winner.batch !== batch) {
      throw versionTaken(manifest.version);
    }
  }
  if (!(await stands(catalog.engine, file, manifest, staged.base))) {
    throw versionTaken(manifest.version);
  }
  await deleteQuietly(catalog, staged.path);
  const snapshot = new Snapshot(catalog.engine, branch, manifest, checksum, bytes.length);
  if (batch === undefined) {
    rememberHead(catalog.engine, branch, { slot: manifest.version, snapshot });
    await writeHint(catalog.engine, branch, manifest.version);
  }
  return snapshot;
}

/** What was published counts; a staged file that stays is cleanup's. */
export async function deleteQuietly(catalog: Catalog, path: string): Promise<void> {
  try {
    await catalog.store.delete(path);
  } catch {
    // Nothing refers to it.
  }
}

export function versionRecord(catalog: Catalog, snapshot: Snapshot): TableVersion {
  const { manifest } = snapshot;
  return {
    version: manifest.version,
    manifest_path: locationOf(catalog, snapshot.file),
    manifest_size: snapshot.manifestBytes,
    e_tag: snapshot.checksum,
    timestamp_millis: manifest.timestamp,
    metadata: {
      ...manifest.annotations,
      operation: manifest.operation.kind,
      transaction_id: manifest.transaction,
      ...Object.fromEntries(
        Object.entries(manifest.operation.summary).map(([name, count]) => [name, String(count)]),
      ),
    },
  };
}

/** Relative to the root, or absolute inside it; only staged files of this very branch. */
function stagedPath(catalog: Catalog, branch: TableBranch, given: string): string {
  const root = locationOf(catalog, '');
  const path = given.startsWith(root) ? given.slice(root.length) : given;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (parentFolder(path) === branch.folder && isStagedManifest(name)) return path;
  throw new DirspaceError(
    'InvalidInput',
    `manifest_path ${JSON.stringify(given.slice(0, 200))} is not a staged manifest of this table: write it as ${branch.folder}/staged-<name>.json first.`,
  );
}

async function checkSuccession(
  catalog: Catalog,
  branch: TableBranch,
  manifest: Manifest,
): Promise<Head | undefined> {
  const { engine } = catalog;
  let head = await resolveHead(engine, branch);
  let slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  while (await settleBatches(engine, branch, head?.snapshot.version ?? 0, slot)) {
    head = await resolveHead(engine, branch);
    slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  }
  const next = slot + 1;
  if (manifest.version < next) throw versionTaken(manifest.version, next);
  const parent = manifest.parent;
  const follows =
    manifest.version === next &&
    (head === undefined
      ? parent === undefined
      : parent?.version === head.snapshot.version && parent.checksum === head.snapshot.checksum);
  if (!follows) {
    throw new DirspaceError(
      'ConcurrentModification',
      `Version ${manifest.version} does not follow the newest version, ${head?.snapshot.version ?? 'none'}. Build it again on that one, as version ${next}.`,
      { details: { version: manifest.version, next } },
    );
  }
  for (const fragment of manifest.fragments) {
    const file = fragmentFile(branch.tableFolder, fragment.file);
    if ((await catalog.store.head(file))?.size === fragment.bytes) continue;
    throw new DirspaceError(
      'InvalidInput',
      `The staged manifest refers to ${file}, which is missing or has another size than ${fragment.bytes} bytes.`,
    );
  }
  return head;
}

/** `next` is not always the one after the newest: an aborted batch uses up its number. */
const versionTaken = (version: number, next?: number): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `The number ${version} is taken. Read the newest version, build on it, and publish ${next === undefined ? 'it under the next free number' : `it as version ${next}`}.`,
    { details: { version, ...(next === undefined ? {} : { next }) } },
  );
