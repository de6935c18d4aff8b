/**
 * Lists, describes, creates and deletes versions of tables that other programs write in Lance's
 * format (`isOfLance`). The versions are the manifests in the table's dataset, so programs that
 * commit directly see the same versions (`listedLanceVersions`, `lanceRecord`).
 * `createLanceVersion` publishes a client's staged manifest (`stagedForLance`) by one exclusive
 * link, so only one of several writers gets the number; the others get ConcurrentModification, and
 * an unusable manifest throws InvalidInput. `deleteLanceVersions` removes manifests; if the newest
 * is among them, it throws InvalidTableState and removes none. For tables outside the root, listing
 * and deleting throw Unsupported.
 */
import { DirspaceError, isDirspaceError } from '../../../errors.ts';
import {
  isOutside,
  joinPath,
  lanceVersionFiles,
  lanceVersionsFolder,
  lastName,
  parentFolder,
  parseLanceVersionName,
} from '../../../format/index.ts';
import type {
  BatchDeleteTableVersionsRequest,
  CreateTableVersionRequest,
  CreateTableVersionResponse,
  TableVersion,
} from '../../../protocol/index.ts';
import {
  type Catalog,
  type LanceVersion,
  lanceHome,
  lanceVersions,
  locationOf,
  newestOfMain,
  rowsElsewhere,
  showId,
  type Table,
} from '../../catalog/index.ts';
import { LARGEST_MANIFEST_READ, manifestIn } from './lance-details.ts';

/** Whether a table that was found has its versions in a dataset of Lance, as far as it has any. */
export async function isOfLance(
  catalog: Catalog,
  table: Table,
  branch: string | undefined,
): Promise<boolean> {
  if (branch !== undefined && branch !== 'main') return false;
  if ((await newestOfMain(catalog, table)) !== undefined) return false;
  return isAway(table) || (await lanceVersions(catalog, table)).length > 0;
}

/** Outside the root nothing is looked at. */
const isAway = ({ record }: Table): boolean =>
  record.location !== undefined && isOutside(record.location);

/** The versions in the order of their numbers. @throws Unsupported outside the root */
export async function listedLanceVersions(catalog: Catalog, table: Table): Promise<LanceVersion[]> {
  if (isAway(table)) throw rowsElsewhere(catalog, table);
  return lanceVersions(catalog, table);
}

/** What is told of a version, from its file alone; undefined where it went meanwhile. */
export async function lanceRecord(
  catalog: Catalog,
  { version, file }: LanceVersion,
): Promise<TableVersion | undefined> {
  const facts = await catalog.store.head(file);
  if (facts === undefined) return undefined;
  return {
    version,
    manifest_path: clientPath(catalog, file),
    manifest_size: facts.size,
    timestamp_millis: Math.trunc(facts.modified),
  };
}

/** Clients of Lance write absolute paths without the slash that they begin with. */
const clientPath = (catalog: Catalog, file: string): string =>
  locationOf(catalog, file).replace(/^\//, '');

/** Names that a client may give what it stages: beside the manifests, and none of theirs. */
const STAGED_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** The file that a request offers as a manifest of this table's dataset; undefined for any other. */
export function stagedForLance(
  catalog: Catalog,
  table: Table,
  { manifest_path: path }: CreateTableVersionRequest,
): string | undefined {
  const home = lanceHome(table);
  if (home === undefined) return undefined;
  const folder = lanceVersionsFolder(home);
  const offered = path.replace(/^\//, '');
  return parentFolder(offered) === clientPath(catalog, folder)
    ? joinPath(folder, lastName(offered))
    : undefined;
}

const MAGIC = 'LANC';

/**
 * Publishes a staged manifest under the final name of its version.
 * @throws ConcurrentModification where the number is taken: the client rebases and tries again
 */
export async function createLanceVersion(
  catalog: Catalog,
  table: Table,
  request: CreateTableVersionRequest,
  staged: string,
): Promise<CreateTableVersionResponse> {
  const { store } = catalog;
  const { version, naming_scheme: scheme = 'V2' } = request;
  const name = lastName(staged);
  if (!STAGED_NAME.test(name) || parseLanceVersionName(name) !== undefined) {
    throw unusable(
      `manifest_path names ${JSON.stringify(name.slice(0, 80))}, which is no staged manifest`,
    );
  }
  if (scheme !== 'V1' && scheme !== 'V2') {
    throw unusable(`naming_scheme is ${JSON.stringify(scheme.slice(0, 20))}, not V1 or V2`);
  }
  const newest = (await lanceVersions(catalog, table)).at(-1)?.version ?? 0;
  if (version <= newest) throw taken(table, version, newest);
  if (version !== newest + 1) {
    throw unusable(`version ${version} does not follow ${newest}, the newest one`);
  }
  await checkManifest(catalog, staged, request);
  const [newer, older] = lanceVersionFiles(parentFolder(parentFolder(staged)), version);
  const file = (scheme === 'V1' ? older : newer) as string;
  if (!(await store.link(staged, file)) && !(await isSame(catalog, staged, file))) {
    throw taken(table, version, version);
  }
  const record = await lanceRecord(catalog, { version, scheme, file });
  try {
    await store.delete(staged);
  } catch {
    // The version is published; what is staged harms nobody.
  }
  catalog.engine.counters.commits++;
  if (record === undefined) return {};
  return {
    version: { ...record, ...(request.e_tag === undefined ? {} : { e_tag: request.e_tag }) },
  };
}

/** Whether a request that was published came once more, as its answer was lost. */
async function isSame({ store }: Catalog, staged: string, file: string): Promise<boolean> {
  const [one, other] = [await store.head(staged), await store.head(file)];
  return one !== undefined && one.inode === other?.inode && one.size === other.size;
}

async function checkManifest(
  { store }: Catalog,
  staged: string,
  { version, manifest_size: wanted }: CreateTableVersionRequest,
): Promise<void> {
  const reader = await store.open(staged);
  if (reader === undefined) throw unusable('manifest_path names a file that is not there');
  try {
    const { size } = reader;
    if (wanted !== undefined && wanted !== size) {
      throw unusable(`the manifest has ${size} bytes, not the ${wanted} of manifest_size`);
    }
    const end = size < MAGIC.length ? '' : await reader.read(size - MAGIC.length, MAGIC.length);
    if (Buffer.from(end as Uint8Array).toString('latin1') !== MAGIC) {
      throw unusable('the manifest does not end as one of Lance');
    }
    // Of larger ones the end alone is looked at: their clients checked them.
    if (size > LARGEST_MANIFEST_READ) return;
    const parsed = await manifestIn(reader, staged);
    if (parsed.version !== version) {
      throw unusable(`the manifest is of version ${parsed.version}, not of ${version}`);
    }
  } catch (error) {
    if (isDirspaceError(error, 'Corrupt')) throw unusable(error.message);
    // A newer release of Lance wrote it: what it means is not for this catalog to say.
    if (!isDirspaceError(error, 'UnsupportedFormat')) throw error;
  } finally {
    reader.close();
  }
}

const unusable = (why: string): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `The version cannot be published: ${why}. Stage the manifest in the folder _versions of the table's location, with a name of its own, and publish it as the version after the newest.`,
    { details: { member: 'manifest_path' } },
  );

const taken = ({ id }: Table, version: number, newest: number): DirspaceError =>
  new DirspaceError(
    'ConcurrentModification',
    `The table ${showId(id)} has a version ${newest} already, so version ${version} cannot be published. Read the newest version, build on it, and publish that.`,
    { details: { id, version, next: newest + 1 } },
  );

/** Removes the manifests of versions; what they refer to is left to the cleanup of Lance. */
export async function deleteLanceVersions(
  catalog: Catalog,
  table: Table,
  { ranges }: BatchDeleteTableVersionsRequest,
): Promise<number> {
  const found = await listedLanceVersions(catalog, table);
  const newest = found.at(-1)?.version ?? 0;
  const doomed = found.filter(({ version }) =>
    ranges.some(
      ({ start_version: first, end_version: end }) =>
        version >= first && (end === -1 || version < end),
    ),
  );
  if (doomed.some(({ version }) => version === newest)) {
    throw new DirspaceError(
      'InvalidTableState',
      `Version ${newest} is the newest of the table ${showId(table.id)} and must stay. Leave it out of the ranges; nothing was deleted.`,
      { details: { id: table.id, version: newest } },
    );
  }
  for (const { file } of doomed) await catalog.store.delete(file);
  return doomed.length;
}
