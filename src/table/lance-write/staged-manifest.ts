/**
 * `readStagedManifest`: reads the manifest that a writer of Lance has staged, and refuses what no
 * table can accept, whatever version it builds on. Its path (`stagedLancePath`) and its bytes are
 * untrusted.
 */
import {
  lanceManifestSteps,
  lanceVersionsFolder,
  MAX_LANCE_MANIFEST_BYTES,
  type ParsedManifest,
  type ParsedTransaction,
  parseStagedLanceManifest,
} from '../../format/index.ts';
import type { CreateTableVersionRequest } from '../../protocol/index.ts';
import type { HeldMemory } from '../../request-memory.ts';
import { plainPause, runSteps } from '../../steps.ts';
import { datasetOf } from '../lance/index.ts';
import type { Engine, TableBranch } from '../versions/index.ts';
import { blamed, invalid, shown, unsupported } from './refusals.ts';

export type LanceVersionRequest = Pick<
  CreateTableVersionRequest,
  'version' | 'manifest_path' | 'manifest_size' | 'naming_scheme'
>;

export interface StagedLanceManifest {
  /** Relative to the root. */
  readonly path: string;
  readonly manifest: ParsedManifest;
  readonly transaction: ParsedTransaction;
}

/** What a parsed manifest takes beside its bytes, as objects. */
const PARSED_COPIES = 6;
/** Fragments with deleted rows, of readers and writers; a configuration, of writers. */
const FLAG_DELETIONS = 1n;
const FLAG_CONFIG = 8n;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Where the staged manifest lies if the path is one of Lance's in this table: below `_versions`, with the
 * number of the version in its name.
 */
export function stagedLancePath(
  engine: Engine,
  branch: TableBranch,
  { manifest_path, version }: LanceVersionRequest,
): string | undefined {
  const folder = lanceVersionsFolder(datasetOf(branch));
  // Lance leaves out the slash that absolute paths begin with.
  const absolute = `${engine.locate(folder)}/`.replace(/^\/+/, '');
  const given = manifest_path.replace(/^\/+/, '');
  if (!given.startsWith(absolute)) return undefined;
  const name = given.slice(absolute.length);
  return parseStagedLanceManifest(name) === version ? `${folder}/${name}` : undefined;
}

/**
 * @param held counts what is read
 * @throws InvalidInput, Unsupported naming the member
 */
export async function readStagedManifest(
  engine: Engine,
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
  return { path, manifest, transaction: checked(manifest, request.version) };
}

/** What is refused whatever the version before says; its transaction. */
function checked(manifest: ParsedManifest, version: number): ParsedTransaction {
  const { transaction, dataFormat, readerFlags, writerFlags, config, indexes } = manifest;
  const [unknown] = manifest.unknown.keys();
  if (unknown !== undefined) throw unsupported(`the member ${unknown}`);
  if (manifest.version !== version) throw invalid(`it is version ${manifest.version}`);
  if (manifest.branch !== undefined || manifest.bases.length > 0)
    throw unsupported('a branch', "Change branches through this catalog's own operations.");
  if (manifest.tag !== '') throw unsupported('the member tag');
  if (dataFormat?.format !== 'lance' || dataFormat.version !== '2.0') {
    throw unsupported(
      `the data format ${shown(`${dataFormat?.format} ${dataFormat?.version}`)}`,
      'Write with the data storage version of the table, 2.0.',
    );
  }
  const [key] = config.keys();
  if (key !== undefined) throw unsupported(`the configuration ${shown(key)} of a table`);
  if (
    (readerFlags & ~FLAG_DELETIONS) !== 0n ||
    (writerFlags & ~(FLAG_DELETIONS | FLAG_CONFIG)) !== 0n
  )
    throw unsupported(`what the feature flags ${readerFlags} and ${writerFlags} stand for`);
  if (manifest.nextRowId !== 0n) throw unsupported('a stable row id (next_row_id)');
  if (manifest.maxAllocatedFieldId !== undefined) throw unsupported('max_allocated_field_id');
  if (indexes.length > 0) throw unsupported(`the index ${shown(indexes[0]?.name ?? '')}`);
  if (transaction === undefined) throw invalid('it holds no transaction');
  if (transaction.readVersion >= version)
    throw invalid(`its transaction has read version ${transaction.readVersion}`);
  if (!UUID.test(transaction.uuid)) throw invalid('its transaction has no UUID');
  return transaction;
}
