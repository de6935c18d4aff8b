/**
 * `readStagedManifest` reads the manifest that a writer of Lance has staged, and refuses content
 * that no version of a table can accept (InvalidInput, Unsupported). The path of the manifest and
 * its bytes are untrusted: `stagedLancePath` returns undefined unless the path is one of Lance's
 * for the branch, and the size is bounded and counted as memory. `requireSameTable` and
 * `stagedLancePath` throw TableNotFound if the writer has read or opened another table, such as one
 * that was dropped since. `requireNamedTable` and `requirePlace` throw InvalidInput if it is not
 * known which table the writer has read. `keptTransaction` gives the transaction as the version
 * keeps it, or undefined if it has more than 4 MiB.
 */
import {
  joinPath,
  LANCE_TABLE_KEY,
  lanceBranchesTree,
  lanceManifestSteps,
  lanceVersionsFolder,
  MAIN_BRANCH,
  MAX_LANCE_MANIFEST_BYTES,
  openedFolder,
  type ParsedManifest,
  type ParsedTransaction,
  parseStagedLanceManifest,
} from '../../format/index.ts';
import type { CreateTableVersionRequest } from '../../protocol/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { clientPath, clientPlace, datasetOf } from '../lance/index.ts';
import {
  type Engine,
  MOST_LANCE_TRANSACTION_BYTES,
  type Snapshot,
  type TableBranch,
  tableLeft,
} from '../versions/index.ts';
import { blamed, invalid, shown, unsupported } from './refusals.ts';

export type LanceVersionRequest = Pick<
  CreateTableVersionRequest,
  'version' | 'manifest_path' | 'manifest_size' | 'naming_scheme'
>;

export interface StagedLanceManifest {
  /** Relative to the root. */
  readonly path: string;
  /** Its table metadata is the user's alone. */
  readonly manifest: ParsedManifest;
  /** The incarnation of the table that its writer has read, if it says so. */
  readonly table: string | undefined;
  readonly transaction: ParsedTransaction;
  /** Whether the path tells which table its writer has opened. */
  readonly isOfPlace: boolean;
}

/** A parsed manifest takes this many times its bytes as objects. */
const PARSED_COPIES = 6;
/**
 * Fragments with deleted rows, of readers and writers; a configuration, of writers; base paths, of
 * both.
 */
const FLAG_DELETIONS = 1n;
const FLAG_CONFIG = 8n;
const FLAG_BASE_PATHS = 16n;
/** Characters of metadata, names and values together. */
const MOST_METADATA = 8 * 1024 * 1024;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Where the staged manifest lies if the path is one of Lance's for this branch: below `_versions`
 * of the table, or of `tree/<branch>`, with the number of the version in its name.
 * @throws TableNotFound where it lies at the place of another table, which its client has opened
 */
export function stagedLancePath(
  engine: Engine,
  branch: TableBranch,
  { manifest_path, version }: LanceVersionRequest,
): string | undefined {
  const folder = lanceVersionsFolder(datasetOf(branch));
  const opened = clientPath(engine, manifest_path);
  if (opened !== undefined && opened.incarnation !== branch.incarnation)
    throw tableLeft(opened.incarnation, branch.incarnation);
  const absolute =
    opened === undefined
      ? // Lance leaves out the slash that absolute paths begin with.
        manifest_path.replace(/^\/*/, '/')
      : engine.locate(joinPath(branch.tableFolder, opened.rest));
  const begin = `${engine.locate(folder)}/`;
  if (!absolute.startsWith(begin)) return undefined;
  const name = absolute.slice(begin.length);
  return parseStagedLanceManifest(name) === version ? `${folder}/${name}` : undefined;
}

/**
 * @param held counts what is read
 * @throws InvalidInput, Unsupported naming the member
 */
export async function readStagedManifest(
  engine: Engine,
  branch: TableBranch,
  request: LanceVersionRequest,
  path: string,
  held: HeldMemory,
): Promise<StagedLanceManifest> {
  if (request.naming_scheme !== undefined && request.naming_scheme !== 'V2') {
    throw invalid(
      `naming_scheme is ${shown(request.naming_scheme)}, and manifests here are named by V2`,
    );
  }
  const size = (await engine.store.head(path))?.size;
  if (size === undefined) throw invalid(`there is no file ${path}`);
  if (size > MAX_LANCE_MANIFEST_BYTES)
    throw invalid(`it has ${size} bytes, and ${MAX_LANCE_MANIFEST_BYTES} are read`);
  held.set(size * PARSED_COPIES);
  const bytes = await engine.store.get(path);
  if (bytes === undefined) throw invalid(`there is no file ${path}`);
  const { manifest_size = bytes.length } = request;
  if (bytes.length !== manifest_size || bytes.length !== size)
    throw invalid(`it has ${bytes.length} bytes, and ${manifest_size} are due`);
  const manifest = await blamed(() => runSteps(lanceManifestSteps(bytes, path), plainPause()));
  const transaction = checked(manifest, request.version);
  const places = [branch.tableFolder, openedFolder(branch.incarnation)];
  checkBranch(
    manifest,
    branch,
    places.map((place) => engine.locate(place)),
  );
  const tableMetadata = new Map(manifest.tableMetadata);
  const table = tableMetadata.get(LANCE_TABLE_KEY);
  tableMetadata.delete(LANCE_TABLE_KEY);
  const isOfPlace = clientPath(engine, request.manifest_path) !== undefined;
  return { path, manifest: { ...manifest, tableMetadata }, table, transaction, isOfPlace };
}

/**
 * Refuses what a writer that has read a dropped table stages in the next one of that name. This is
 * no conflict: its writer would build the same change on the table that is there now.
 * @throws TableNotFound
 */
export function requireSameTable(
  { incarnation }: TableBranch,
  { table }: StagedLanceManifest,
): void {
  if (table !== undefined && table !== incarnation) throw tableLeft(table, incarnation);
}

/**
 * Refuses what a writer that is behind has staged in the table's folder itself. The writer built it
 * on a manifest of this table, whichever table it had read; the place that clients are given would
 * tell.
 * @throws InvalidInput
 */
export async function requirePlace(
  engine: Engine,
  branch: TableBranch,
  { isOfPlace, manifest, transaction }: StagedLanceManifest,
): Promise<void> {
  if (isOfPlace || transaction.readVersion >= manifest.version - 1) return;
  // Without links, clients are given the folder itself.
  if ((await clientPlace(engine, branch)) === undefined) return;
  throw invalid(
    `its writer has read version ${transaction.readVersion} in the folder of the table, which does not tell whether it was this table. Open the table again over the catalog, and repeat the change`,
  );
}

/**
 * Refuses what does not say which table its writer has read, where the rest cannot tell: a user may
 * take all table metadata away, and a version of before Lance's clients wrote names no table.
 * @param source what the version builds on: the restored one, or the newest
 * @throws InvalidInput
 */
export function requireNamedTable(
  { table, manifest, transaction }: StagedLanceManifest,
  source: Snapshot,
): void {
  const { operation } = transaction;
  const isTakenAway = operation?.kind === 'update_config' && operation.tableMetadata !== undefined;
  const isOlder =
    (operation?.kind === 'restore' || operation?.kind === 'clone') &&
    source.manifest.lanceWrites !== true &&
    manifest.fragments.length > 0;
  if (table !== undefined || isTakenAway || isOlder) return;
  throw invalid(
    `its table metadata has no ${LANCE_TABLE_KEY}, which says what table its writer has read. Open the table again, and change that`,
  );
}

/** Their bytes are the client's memory of what it did: it looks for them after a lost answer. */
export function keptTransaction({ transaction }: StagedLanceManifest): string | undefined {
  const { message } = transaction;
  return message.length > MOST_LANCE_TRANSACTION_BYTES
    ? undefined
    : Buffer.from(message).toString('base64');
}

/** Refuses what is wrong whatever the version before holds, and gives the transaction. */
function checked(manifest: ParsedManifest, version: number): ParsedTransaction {
  const { transaction, dataFormat, readerFlags, writerFlags, config, indexes } = manifest;
  const [unknown] = manifest.unknown.keys();
  if (unknown !== undefined) throw unsupported(`the member ${unknown}`);
  if (manifest.version !== version) throw invalid(`it is version ${manifest.version}`);
  if (manifest.tag !== '') throw unsupported('the member tag');
  if (dataFormat?.format !== 'lance' || dataFormat.version !== '2.0') {
    throw unsupported(
      `the data format ${shown(`${dataFormat?.format} ${dataFormat?.version}`)}`,
      'Write with the data storage version of the table, 2.0.',
    );
  }
  const [key] = config.keys();
  if (key !== undefined) throw unsupported(`the configuration ${shown(key)} of a table`);
  const flags = FLAG_DELETIONS | FLAG_BASE_PATHS;
  if ((readerFlags & ~flags) !== 0n || (writerFlags & ~(flags | FLAG_CONFIG)) !== 0n)
    throw unsupported(`what the feature flags ${readerFlags} and ${writerFlags} stand for`);
  const metadata = metadataLength(manifest);
  if (metadata > MOST_METADATA)
    throw invalid(
      `its metadata of schema, fields and table has ${metadata} characters, and every version would hold it: at most ${MOST_METADATA} are taken`,
    );
  if (manifest.nextRowId !== 0n) throw unsupported('a stable row id (next_row_id)');
  if (manifest.maxAllocatedFieldId !== undefined) throw unsupported('max_allocated_field_id');
  if (indexes.length > 0) throw unsupported(`the index ${shown(indexes[0]?.name ?? '')}`);
  if (transaction === undefined) throw invalid('it holds no transaction');
  // A branch begins with the number of the version that it is made from.
  const mostRead = transaction.operation?.kind === 'clone' ? version : version - 1;
  if (transaction.readVersion > mostRead)
    throw invalid(`its transaction has read version ${transaction.readVersion}`);
  if (!UUID.test(transaction.uuid)) throw invalid('its transaction has no UUID');
  return transaction;
}

function metadataLength({ schemaMetadata, tableMetadata, fields }: ParsedManifest): number {
  let length = 0;
  for (const each of [schemaMetadata, tableMetadata, ...fields.map(({ metadata }) => metadata)])
    for (const [key, value] of each) length += key.length + value.length;
  return length;
}

/**
 * The manifest of a branch says so, and its base paths are the folders of the table and of its
 * branches: there the files lie that it does not have itself. Main has none.
 * @param places absolute paths of the table's folder
 */
function checkBranch(
  { branch: staged, bases }: ParsedManifest,
  { branch }: TableBranch,
  places: readonly string[],
): void {
  const isMain = branch === MAIN_BRANCH;
  if (staged !== (isMain ? undefined : branch))
    throw invalid(`it is of the branch ${shown(staged ?? MAIN_BRANCH)}, not of ${shown(branch)}`);
  for (const { path, isDatasetRoot } of bases) {
    const isInTable = places.some(
      (place) => path === place || path.startsWith(`${lanceBranchesTree(place)}/`),
    );
    if (isMain || !isDatasetRoot || !isInTable) throw unsupported(`the base path ${shown(path)}`);
  }
}
