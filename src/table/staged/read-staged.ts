/**
 * Reads and validates staged manifests, which lie beside the published ones until publish-staged.ts
 * publishes them. `readStagedVersion` reads one that this engine staged; `readOfferedVersion` reads
 * one that a caller staged, and dates it anew if its time is more than five minutes off. Both
 * settle undecided multi-table commits that are in the way. A manifest that does not follow the
 * newest version throws ConcurrentModification. Another path, size, checksum, table, branch or
 * number than due, and a missing data file, throw InvalidInput.
 *
 * `readOfferedVersion` also throws InvalidInput for a damaged manifest, chunk or schema, and for
 * any other missing file. `readStagedVersion` throws Corrupt for a damaged manifest and does not
 * look at the rest.
 */
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  checkChunk,
  chunkFile,
  columnFiles,
  decodeVersion,
  deletionFile,
  type FragmentEntry,
  fragmentFile,
  indexFile,
  isStagedManifest,
  type Manifest,
  parentFolder,
  stagedManifestFile,
  type VersionDocument,
} from '../../format/index.ts';
import { MAX_DOCUMENT_BYTES } from '../../json.ts';
import type { CreateTableVersionRequest } from '../../protocol/index.ts';
import type { Awaitable } from '../../store/index.ts';
import {
  type Engine,
  type Head,
  highestListed,
  MAX_CLOCK_SKEW,
  nextTimestamp,
  readChunk,
  resolveHead,
  Snapshot,
  settleUndecided,
  type TableBranch,
} from '../versions/index.ts';
import { versionTaken } from './publish-staged.ts';

export interface StagedVersion {
  readonly path: string;
  readonly manifest: Manifest;
  /** The version it builds on. */
  readonly base: Snapshot | undefined;
}

/**
 * The members of a request that describe the staged manifest to publish. Its path is relative to
 * the root.
 */
export type StagedRequest = Pick<
  CreateTableVersionRequest,
  'version' | 'manifest_path' | 'manifest_size' | 'e_tag' | 'metadata' | 'naming_scheme'
>;

/**
 * Reads and checks what a caller wants published: its bytes are the caller's, so damage in them, or
 * in what they refer to, is the request's fault. @throws InvalidInput, ConcurrentModification
 */
export async function readOfferedVersion(
  engine: Engine,
  branch: TableBranch,
  request: StagedRequest,
): Promise<StagedVersion> {
  const path = stagedPath(branch, request.manifest_path);
  const size = (await engine.store.head(path))?.size ?? 0;
  if (size > MAX_DOCUMENT_BYTES) {
    throw unpublishable(path, `it has ${size} bytes; ${MAX_DOCUMENT_BYTES} are allowed`);
  }
  const staged = await readStagedVersion(engine, branch, request, (bytes) =>
    blamed(path, () => decodeVersion(bytes, path)),
  );
  await blamed(path, () => checkReferences(engine, branch, staged));
  return stampedNow(engine, staged);
}

/**
 * With a time that says when it was published, not when a caller staged it or by what clock: ages
 * of versions count from it.
 */
function stampedNow({ env }: Engine, staged: StagedVersion): StagedVersion {
  const { manifest, base } = staged;
  const now = env.now();
  if (Math.abs(now - manifest.timestamp) <= MAX_CLOCK_SKEW) return staged;
  const timestamp = nextTimestamp(now, base?.manifest.timestamp);
  return { ...staged, manifest: { ...manifest, timestamp } };
}

/** Damage that `read` meets becomes a refusal of the staged manifest. @throws InvalidInput */
async function blamed<Value>(path: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (!isDirspaceError(error, 'Corrupt', 'UnsupportedFormat', 'InvalidInput')) throw error;
    // Only the first sentence: the rest is advice for the catalog's own files.
    const [reason = ''] = error.message.split(/\.(?: |$)/);
    throw unpublishable(path, reason, error);
  }
}

const unpublishable = (path: string, what: string, cause?: unknown): DirspaceError =>
  new DirspaceError('InvalidInput', `The staged manifest ${path} cannot be published: ${what}.`, {
    details: { member: 'manifest_path' },
    cause,
  });

/**
 * Checks all that the manifest refers to but the files of columns that its own list names, which
 * `readStagedVersion` looks at, and those that chunks of its base name.
 * @throws Corrupt, InvalidInput for what readers would fail on
 */
async function checkReferences(
  engine: Engine,
  branch: TableBranch,
  { manifest, base }: StagedVersion,
): Promise<void> {
  void new Snapshot(engine, branch, manifest, '', 0).fields;
  const entries = [...manifest.fragments];
  const known = new Set(base?.manifest.chunks.map(({ file }) => file));
  for (const chunk of manifest.chunks) {
    const listed = await readChunk(engine, branch.tableFolder, chunk);
    const file = chunkFile(branch.tableFolder, chunk.file);
    // This manifest may describe the chunk otherwise than the one that the chunk was written for.
    const bytes = await engine.store.get(file);
    if (bytes !== undefined) checkChunk(bytes, chunk, listed, file);
    for (const entry of listed) entries.push(entry);
    const what = known.has(chunk.file) ? undefined : await unlikeColumnFile(engine, branch, listed);
    if (what !== undefined) throw new DirspaceError('InvalidInput', what);
  }
  for (const { file: id, bytes } of (manifest.indexes ?? []).flatMap(({ segments }) =>
    segments.flatMap(({ files }) => files),
  )) {
    const file = indexFile(branch.tableFolder, id);
    if ((await engine.store.head(file))?.size === bytes) continue;
    throw new DirspaceError('InvalidInput', missingOrOther(file, bytes));
  }
  for (const { deletion } of entries) {
    if (deletion === undefined) continue;
    const file = deletionFile(branch.tableFolder, deletion.file);
    const size = (await engine.store.head(file))?.size ?? -1;
    const { offset, bytes } = deletion;
    if (offset === undefined ? size === bytes : size >= offset + bytes) continue;
    throw new DirspaceError(
      'InvalidInput',
      offset === undefined
        ? missingOrOther(file, bytes)
        : `it refers to ${file}, which is missing or ends before byte ${offset + bytes}`,
    );
  }
}

/** Does the same as readOfferedVersion for a manifest that `decode` trusts. */
export async function readStagedVersion(
  engine: Engine,
  branch: TableBranch,
  request: StagedRequest,
  decode: (bytes: Uint8Array, path: string) => Awaitable<VersionDocument> = decodeVersion,
): Promise<StagedVersion> {
  const path = stagedPath(branch, request.manifest_path);
  if (request.naming_scheme !== undefined) {
    throw new DirspaceError(
      'InvalidInput',
      'naming_scheme: this catalog names version files itself; leave it out.',
    );
  }
  const bytes = await engine.store.get(path);
  if (bytes === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `manifest_path: there is no staged manifest at ${path}.`,
    );
  }
  const refuse = (what: string): never => {
    throw unpublishable(path, what);
  };
  if (request.manifest_size !== undefined && request.manifest_size !== bytes.length) {
    refuse(`it has ${bytes.length} bytes, not ${request.manifest_size}`);
  }
  const found = await decode(bytes, path);
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
  const head = await checkSuccession(engine, branch, manifest);
  const what = await unlikeColumnFile(engine, branch, manifest.fragments);
  if (what !== undefined) refuse(what);
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

/** Only staged files of this very branch. */
function stagedPath(branch: TableBranch, path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (parentFolder(path) === branch.folder && isStagedManifest(name)) return path;
  throw new DirspaceError(
    'InvalidInput',
    `manifest_path ${JSON.stringify(path.slice(0, 200))} is not a staged manifest of this table: write it as ${stagedManifestFile(branch.folder, '<name>')} first.`,
  );
}

async function checkSuccession(
  engine: Engine,
  branch: TableBranch,
  manifest: Manifest,
): Promise<Head | undefined> {
  let head = await resolveHead(engine, branch);
  let slot = head?.slot ?? (await highestListed(engine, branch)) ?? 0;
  while (await settleUndecided(engine, branch, head?.snapshot.version ?? 0, slot)) {
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
  return head;
}

/** The end of a sentence on the first file of columns that is not there as an entry says. */
async function unlikeColumnFile(
  engine: Engine,
  { tableFolder }: TableBranch,
  entries: readonly FragmentEntry[],
): Promise<string | undefined> {
  for (const { file: id, bytes } of entries.flatMap(columnFiles)) {
    const file = fragmentFile(tableFolder, id);
    if ((await engine.store.head(file))?.size !== bytes) return missingOrOther(file, bytes);
  }
  return undefined;
}

const missingOrOther = (file: string, bytes: number): string =>
  `it refers to ${file}, which is missing or has another size than ${bytes} bytes`;
