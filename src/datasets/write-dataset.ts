/**
 * `writeLanceDataset` writes rows as a new Lance dataset. It writes into a folder beside the target
 * and commits by renaming that folder, so a killed process leaves nothing under the target's name.
 * It throws InvalidInput if the target exists, lies in a catalog or has no parent folder, and
 * Unsupported for a column without a form in Lance 2.0. Memory holds one batch and the lists of
 * pages and fragments.
 */
import { type FileHandle, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { RecordBatch, Schema } from '../arrow/index.ts';
import { systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import {
  type LanceExportSchema,
  LanceFileEncoder,
  type LanceFragment,
  lanceExportManifest,
  lanceExportSchema,
} from '../format/index.ts';
import { tellsMissing } from '../store/index.ts';
import { lostOr, refuseInCatalog, removeAbandoned, stagingPath, syncFolder } from './staging.ts';

export interface LanceCopy {
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of rows that were written. */
  readonly onRows?: ((rows: number) => void) | undefined;
  /** A new data file is begun when one has as many rows or bytes. */
  readonly maxFileRows?: number | undefined;
  readonly maxFileBytes?: number | undefined;
}

const MAX_FILE_ROWS = 1 << 20;
const MAX_FILE_BYTES = 1 << 30;
/** Version 1 under Lance's newer names, which count down from the last number. */
const MANIFEST = `${2n ** 64n - 2n}.manifest`;

/**
 * @param folder which there must not be yet
 * @throws InvalidInput where the folder is there, its parent is not, or it lies in a catalog;
 * Unsupported naming a column without a form in Lance 2.0
 */
export async function writeLanceDataset(
  folder: string,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  options: WriteOptions = {},
): Promise<LanceCopy> {
  const target = resolve(folder);
  const marked = lanceExportSchema(schema);
  await refuseTaken(target, folder);
  await refuseInCatalog(target, folder, 'folder');
  const staging = stagingPath(target);
  await makeStaging(staging, folder);
  let copy: LanceCopy;
  try {
    await removeAbandoned(target, staging);
    copy = await writeInto(staging, marked, batches, options);
    options.signal?.throwIfAborted();
    await refuseTaken(target, folder);
    await rename(staging, target).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR'].includes(error.code ?? '')) throw error;
      throw taken(folder, error);
    });
  } catch (error) {
    const told = await lostOr(error, staging, folder);
    await rm(staging, { recursive: true, force: true });
    throw told;
  }
  await syncFolder(dirname(target));
  return copy;
}

const taken = (folder: string, cause?: unknown): DirspaceError =>
  new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(folder)} is there already. Name a folder that is not: a dataset is written anew.`,
    { cause },
  );

async function refuseTaken(target: string, folder: string): Promise<void> {
  const found = await lstat(target).catch((error: NodeJS.ErrnoException) => {
    if (tellsMissing(error)) return undefined;
    throw error;
  });
  if (found !== undefined) throw taken(folder);
}

async function makeStaging(staging: string, folder: string): Promise<void> {
  try {
    await mkdir(staging);
  } catch (cause) {
    if (!tellsMissing(cause)) throw cause;
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(folder)} cannot be made: there is no folder ${JSON.stringify(dirname(folder))}.`,
      { cause },
    );
  }
}

async function writeInto(
  staging: string,
  schema: LanceExportSchema,
  batches: AsyncIterable<RecordBatch>,
  options: WriteOptions,
): Promise<LanceCopy> {
  const { maxFileRows = MAX_FILE_ROWS, maxFileBytes = MAX_FILE_BYTES, onRows, signal } = options;
  const data = join(staging, 'data');
  await mkdir(data);
  const fragments: LanceFragment[] = [];
  let rows = 0;
  let bytes = 0;
  let current: DataFile | undefined;
  const finish = async (file: DataFile): Promise<void> => {
    fragments.push(await file.end(fragments.length));
    bytes += file.bytes;
    current = undefined;
  };
  try {
    for await (const batch of batches) {
      signal?.throwIfAborted();
      if (batch.numRows === 0) continue;
      current ??= await DataFile.create(data, schema);
      await current.batch(batch);
      rows += batch.numRows;
      onRows?.(batch.numRows);
      if (current.rows >= maxFileRows || current.bytes >= maxFileBytes) await finish(current);
    }
    if (current !== undefined) await finish(current);
  } finally {
    await current?.close();
  }
  await syncFolder(data);
  const facts = { timestamp: systemEnv.now(), transaction: systemEnv.uuid() };
  const manifest = lanceExportManifest(schema, fragments, facts);
  const versions = join(staging, '_versions');
  await mkdir(versions);
  const file = await open(join(versions, MANIFEST), 'wx');
  try {
    await file.writeFile(manifest);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(versions);
  await syncFolder(staging);
  return { rows, files: fragments.length, bytes: bytes + manifest.length };
}

class DataFile {
  readonly #handle: FileHandle;
  readonly #name: string;
  readonly #encoder: LanceFileEncoder;

  static async create(folder: string, schema: LanceExportSchema): Promise<DataFile> {
    // Before the file is opened: one that refuses the schema would leave it open.
    const encoder = new LanceFileEncoder(schema);
    const name = `${systemEnv.uuid()}.lance`;
    return new DataFile(await open(join(folder, name), 'wx'), name, encoder);
  }

  private constructor(handle: FileHandle, name: string, encoder: LanceFileEncoder) {
    this.#handle = handle;
    this.#name = name;
    this.#encoder = encoder;
  }

  get rows(): number {
    return this.#encoder.rows;
  }

  get bytes(): number {
    return this.#encoder.position;
  }

  async batch(batch: RecordBatch): Promise<void> {
    await this.#write(this.#encoder.batch(batch));
  }

  async end(id: number): Promise<LanceFragment> {
    await this.#write(this.#encoder.end());
    await this.#handle.sync();
    await this.close();
    return this.#encoder.fragment(id, this.#name);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  async #write(pieces: readonly Uint8Array[]): Promise<void> {
    for (const piece of pieces) await this.#handle.writeFile(piece);
  }
}
