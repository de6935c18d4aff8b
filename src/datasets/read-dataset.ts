/**
 * `openLanceDataset` opens a version of a Lance dataset as a stream of record batches without
 * deleted rows, and `openLanceDataFile` opens a single data file. Each reading of the stream opens
 * the files anew. dataset-versions.ts finds the version, and its errors pass through. Damage throws
 * Corrupt. Data files of other formats than 2.0, and features that could change the rows, throw
 * UnsupportedFormat; columns that tables here cannot hold, and a dataset with files in other
 * datasets, throw Unsupported. Memory holds the manifest, one batch, and the metadata and deleted
 * rows of one fragment.
 */
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import {
  gatherBatch,
  type RecordBatch,
  type RecordBatchStream,
  recordBatchStream,
} from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import {
  damaged,
  decodeLanceDeletions,
  type FieldPlace,
  FragmentColumns,
  HOW_TO_REWRITE,
  LanceDataFile,
  type LanceSchema,
  lanceSchema,
  type ParsedBase,
  type ParsedDataFile,
  type ParsedFragment,
  type ParsedManifest,
  placesOfFile,
  readInBatches,
  strangeToReaders,
} from '../format/index.ts';
import { lanceDeletionName } from '../lance-paths.ts';
import { findManifest, isPlainName, type LanceVersionChoice } from './dataset-versions.ts';
import { type OpenLanceFile, openLanceBytes, wholeFile } from './file-bytes.ts';

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of bytes that were read. */
  readonly onRead?: ((bytes: number) => void) | undefined;
}

export interface LanceRows extends RecordBatchStream {
  /** The version of the dataset; undefined for a single file. */
  readonly version: number | undefined;
  /** Rows that the stream gives. */
  readonly rows: number;
  /** Bytes of all data files, as far as they are known. */
  readonly bytes: number;
}

const MAX_DELETION_BYTES = 1 << 30;

/**
 * Opens a version of a dataset.
 * @throws TableVersionNotFound, TableTagNotFound, TableBranchNotFound, InvalidInput for a folder
 * that is no dataset, Corrupt, Unsupported, UnsupportedFormat; reading the stream throws the last
 * three too
 */
export async function openLanceDataset(
  folder: string,
  choice: LanceVersionChoice = {},
  options: ReadOptions = {},
): Promise<LanceRows> {
  const { manifest, home } = await findManifest(folder, choice);
  const name = `${folder} version ${manifest.version}`;
  checkManifest(manifest, name);
  const schema = lanceSchema(manifest.fields, manifest.schemaMetadata, name);
  const homes = await homesOf(manifest, folder, home, choice.branch);
  const { fragments } = manifest;
  let rows = 0;
  let bytes = 0;
  for (const fragment of fragments) {
    checkFragment(fragment, name);
    rows += fragment.physicalRows - (fragment.deletion?.rows ?? 0);
    for (const file of fragment.files) bytes += file.fileSize;
  }
  async function* batches(): AsyncGenerator<RecordBatch> {
    for (const fragment of fragments) {
      yield* fragmentRows(fragment, schema, homes, name, options);
    }
  }
  const stream = recordBatchStream(schema.schema, { [Symbol.asyncIterator]: batches });
  return Object.assign(stream, { version: manifest.version, rows, bytes });
}

/** Opens a single data file. @throws Corrupt, Unsupported, UnsupportedFormat */
export async function openLanceDataFile(
  path: string,
  { signal, onRead }: ReadOptions = {},
): Promise<LanceRows> {
  const opened = await openLanceBytes(path);
  const { rows, fields, metadata } = await closing([opened], () =>
    LanceDataFile.open(opened, path),
  );
  const schema = lanceSchema(fields, metadata, path);
  async function* batches(): AsyncGenerator<RecordBatch> {
    const again = await openLanceBytes(path, onRead);
    try {
      const places = placesOfFile(schema, await LanceDataFile.open(again, path));
      const columns = new FragmentColumns(schema, places, rows, path);
      for await (const { batch } of batchesOf(columns, signal)) yield batch;
    } finally {
      await again.close();
    }
  }
  const stream = recordBatchStream(schema.schema, { [Symbol.asyncIterator]: batches });
  return Object.assign(stream, { version: undefined, rows, bytes: opened.size });
}

async function closing<Result>(
  files: readonly OpenLanceFile[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    for (const file of files) await file.close();
  }
}

async function* batchesOf(
  columns: FragmentColumns,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly from: number; readonly batch: RecordBatch }> {
  const most = columns.rows === 0 ? 1 : await columns.batchRows();
  yield* readInBatches(columns.rows, most, async (from, count) => {
    signal?.throwIfAborted();
    return { from, batch: await columns.batch(from, count) };
  });
}

async function* fragmentRows(
  fragment: ParsedFragment,
  schema: LanceSchema,
  homes: Homes,
  name: string,
  { signal, onRead }: ReadOptions,
): AsyncGenerator<RecordBatch> {
  const wanted = new Set(
    schema.columns.flatMap(function ids(one): number[] {
      return [one.id, ...one.children.flatMap(ids)];
    }),
  );
  const places = new Map<number, FieldPlace>();
  const open: OpenLanceFile[] = [];
  try {
    for (const file of fragment.files) {
      if (!file.fields.some((field) => wanted.has(field))) continue;
      const path = pathOf(file, homes, name);
      const bytes = await openLanceBytes(path, onRead);
      open.push(bytes);
      const found = await LanceDataFile.open(bytes, path, file.fileSize || bytes.size);
      for (const [at, field] of file.fields.entries()) {
        const column = file.columns[at] as number;
        if (field < 0 || column < 0) continue;
        if (places.has(field)) {
          throw damaged(name, `field ${field} lies in two files of fragment ${fragment.id}`);
        }
        places.set(field, { file: found, column });
      }
    }
    const deleted = await deletedRows(fragment, homes, name);
    const columns = new FragmentColumns(
      schema,
      places,
      fragment.physicalRows,
      `${name}, fragment ${fragment.id}`,
    );
    let next = 0;
    for await (const { from, batch } of batchesOf(columns, signal)) {
      const end = from + batch.numRows;
      const first = next;
      while (next < deleted.length && (deleted[next] as number) < end) next++;
      if (next === first) yield batch;
      else if (next - first < batch.numRows) {
        yield gatherBatch(batch, others(deleted.subarray(first, next), from, end));
      }
    }
  } finally {
    for (const file of open) await file.close();
  }
}

/** Positions in the batch that are not deleted. */
function others(deleted: Uint32Array, from: number, end: number): Uint32Array {
  const kept = new Uint32Array(end - from - deleted.length);
  let next = 0;
  let at = 0;
  for (let row = from; row < end; row++) {
    if (next < deleted.length && deleted[next] === row) next++;
    else kept[at++] = row - from;
  }
  return kept;
}

async function deletedRows(
  { id, deletion, physicalRows }: ParsedFragment,
  homes: Homes,
  name: string,
): Promise<Uint32Array> {
  if (deletion === undefined) return new Uint32Array(0);
  const { kind, base, rows } = deletion;
  const folder = homeOf(base, homes, name);
  const path = join(folder, '_deletions', lanceDeletionName(id, deletion));
  const bytes = await wholeFile(path, MAX_DELETION_BYTES);
  if (bytes === undefined) throw damaged(path, 'it is missing');
  const found = await decodeLanceDeletions(bytes, { kind, rows: physicalRows, file: path });
  if (found.length !== rows) {
    throw damaged(path, `it has ${found.length} rows, and the manifest says ${rows}`);
  }
  return found;
}

/** Folders of the files of a version: its own, and those of its bases. */
interface Homes {
  readonly own: string;
  readonly bases: ReadonlyMap<number, string>;
}

/**
 * A branch refers to the files of the dataset that it is in, and of branches that it comes from, by
 * the path at which the dataset was when the branch was made: relative to any folder, or before the
 * dataset was moved.
 */
async function homesOf(
  manifest: ParsedManifest,
  folder: string,
  own: string,
  branch: string | undefined,
): Promise<Homes> {
  const bases = new Map<number, string>();
  const root = await realpath(folder);
  for (const base of manifest.bases) {
    // A clone whose files were all written anew still names what it was made of.
    if (fileIn(manifest, base.id) === undefined) continue;
    const { path } = base;
    const plain = path.replace(/^file:\/\//, '').replace(/^(?!\/)/, '/');
    const real = isAbsolute(plain) ? await realpath(plain).catch(() => plain) : plain;
    const isRoot = base.isDatasetRoot && real === root;
    const home = isRoot || own === folder ? undefined : baseOfBranch(base, folder);
    if (!isRoot && (home === undefined || !(await hasFilesOf(base.id, manifest, home)))) {
      const opened =
        branch === undefined ? '' : `.checkout_version((${JSON.stringify(branch)}, None))`;
      throw new DirspaceError(
        'Unsupported',
        `The Lance dataset ${folder} refers to files at ${JSON.stringify(path)}, outside of its folder data and those of its branches, as a shallow clone does. Copy it with pylance first: lance.write_dataset(lance.dataset("OLD")${opened}.scanner(), "NEW", data_storage_version="2.0").`,
        { details: { file: folder } },
      );
    }
    bases.set(base.id, home ?? folder);
  }
  return { own, bases };
}

/**
 * The folder that a base of a branch is in the dataset at `folder`, whatever path the dataset had.
 */
function baseOfBranch(
  { name, path, isDatasetRoot }: ParsedBase,
  folder: string,
): string | undefined {
  if (!isDatasetRoot) return undefined;
  if (name === undefined) return folder;
  const parts = name.split('/');
  const isBranch = parts.every(isPlainName) && path.endsWith(`/tree/${name}`);
  return isBranch ? join(folder, 'tree', ...parts) : undefined;
}

/** Names of files are random: the first of a base lies in no other dataset. */
async function hasFilesOf(base: number, manifest: ParsedManifest, home: string): Promise<boolean> {
  const found = fileIn(manifest, base) as string;
  return stat(join(home, ...plainParts(found, home))).then(
    () => true,
    () => false,
  );
}

/** The path of the first file that a version has in a base; undefined where it has none. */
function fileIn({ fragments }: ParsedManifest, base: number): string | undefined {
  for (const { id, files, deletion } of fragments) {
    const data = files.find((file) => file.base === base);
    if (data !== undefined) return `data/${data.path}`;
    if (deletion?.base === base) return `_deletions/${lanceDeletionName(id, deletion)}`;
  }
  return undefined;
}

function homeOf(base: number | undefined, { own, bases }: Homes, name: string): string {
  const found = base === undefined ? own : bases.get(base);
  if (found === undefined) throw damaged(name, `it has no base ${base}`);
  return found;
}

function pathOf({ path, base }: ParsedDataFile, homes: Homes, name: string): string {
  return join(homeOf(base, homes, name), 'data', ...plainParts(path, name));
}

/** @throws Corrupt where the path leads out of the folder */
function plainParts(path: string, name: string): string[] {
  const parts = path.split('/');
  if (parts.every(isPlainName)) return parts;
  throw damaged(name, `${JSON.stringify(path.slice(0, 200))} is no path of a data file`);
}

function checkManifest(manifest: ParsedManifest, name: string): void {
  const what = strangeToReaders(manifest);
  if (what === undefined) return;
  throw new DirspaceError(
    'UnsupportedFormat',
    `The Lance dataset ${name} has ${what}, which this release does not know. ${HOW_TO_REWRITE}.`,
    { details: { file: name } },
  );
}

function checkFragment(fragment: ParsedFragment, name: string): void {
  const { id, files, deletion, physicalRows, overlays } = fragment;
  if (overlays > 0) {
    throw new DirspaceError(
      'UnsupportedFormat',
      `The Lance dataset ${name} has overlays in fragment ${id}, which are not read. ${HOW_TO_REWRITE}.`,
      { details: { file: name } },
    );
  }
  for (const { majorVersion, minorVersion, fields, columns } of files) {
    const version = `${majorVersion}.${minorVersion}`;
    if (version !== '2.0' && version !== '0.3') {
      const shown = majorVersion === 0 ? 'the legacy version 0.1' : `version ${version}`;
      throw new DirspaceError(
        'UnsupportedFormat',
        `The Lance dataset ${name} has data files of ${shown}; 2.0 is read. ${HOW_TO_REWRITE}.`,
        { details: { file: name } },
      );
    }
    if (columns.length !== fields.length) {
      throw damaged(
        name,
        `fragment ${id} has ${fields.length} fields in ${columns.length} columns`,
      );
    }
  }
  if (physicalRows >= 2 ** 32 || (deletion?.rows ?? 0) > physicalRows) {
    throw damaged(name, `fragment ${id} has ${physicalRows} rows, ${deletion?.rows ?? 0} deleted`);
  }
}
