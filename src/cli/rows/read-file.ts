/**
 * `openFile`: opens one file of rows for an import. The ending of the name selects Arrow, JSON,
 * NDJSON or a Lance data file; a folder must be a Lance dataset. Rows are read on demand: memory
 * holds a piece of the file and a batch. `isKnownKind`, `isArrowKind` and `isDataset` tell the kind
 * of a file beforehand.
 */
import { createReadStream, open, type Stats, statSync } from 'node:fs';
import { open as openHandle } from 'node:fs/promises';
import { Socket } from 'node:net';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { LanceVersionChoice } from '../../datasets/index.ts';
import type { BlobLike, DataInput } from '../../sdk/index.ts';
import { UsageError } from '../terminal/index.ts';
import { type JsonRow, jsonArray, jsonLines } from './json-rows.ts';

/** A dataset of Lance, which is a folder, or one of its data files. */
const LANCE = '.lance';
const ARROW = ['.arrow', '.arrows', '.feather', '.ipc'];
const LINES = ['.ndjson', '.jsonl'];
const PIECE_BYTES = 1 << 20;

/** Whether the name of a file says how to read it. */
export const isKnownKind = (file: string): boolean =>
  [...ARROW, '.json', ...LINES, LANCE].includes(extname(file).toLowerCase());

/** Whether it holds Arrow's columns; rows of JSON otherwise. */
export const isArrowKind = (file: string): boolean =>
  [...ARROW, LANCE].includes(extname(file).toLowerCase()) || isDataset(file);

/** Whether it is the folder of a Lance dataset, whatever its name ends with. */
export const isDataset = (file: string): boolean =>
  isFolder(file) && isFolder(join(file, '_versions'));

const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** A file that is being read. */
export interface OpenFile {
  /** A promise of Lance's: its columns are known once its manifest is read. */
  data(): DataInput | Promise<DataInput>;
  /** Bytes read so far. */
  read(): number;
  /** Undefined of a pipe. */
  readonly size: number | undefined;
  /** The line on which a row begins, of the last that were read; rows count from 0, lines from 1. */
  lineOf(row: number): number | undefined;
}

/**
 * Rows are read as they are pulled. Throws UsageError for a file that is missing, unknown, or without
 * anything in it; JSON without rows is taken where `mayBeEmpty`: columns are known otherwise.
 */
export function openFile(
  file: string,
  signal: AbortSignal,
  mayBeEmpty = false,
  version: LanceVersionChoice = {},
): OpenFile {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new UsageError(`There is no file ${JSON.stringify(file)}.`);
  if (isDataset(file)) return openLance(file, signal, version);
  if (found.isDirectory()) {
    throw new UsageError(
      `${JSON.stringify(file)} is a folder, not a file, and no Lance dataset: it has no folder _versions.`,
    );
  }
  if (Object.keys(version).length > 0) {
    throw new UsageError(
      `--at and --branch name a version of a Lance dataset; ${JSON.stringify(file)} is a file.`,
    );
  }
  const isPipe = found.isFIFO();
  const kind = extname(file).toLowerCase();
  const isArrow = isArrowKind(file);
  const refuseEmpty = (): void => {
    if (mayBeEmpty && !isArrow) return;
    const hint = isArrow ? '' : ' A table without rows can be made with --schema.';
    throw new UsageError(`${JSON.stringify(file)} is empty: it has no rows and no columns.${hint}`);
  };
  if (found.isFile() && found.size === 0) refuseEmpty();
  let bytes = 0;
  const lines = new LastLines();
  const facts = {
    read: () => bytes,
    size: found.isFile() ? found.size : undefined,
    lineOf: (row: number) => lines.of(row),
  };
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const piece of isPipe ? pipe(file, signal) : fileStream(file, signal)) {
      bytes += piece.length;
      yield piece;
    }
    if (bytes === 0) refuseEmpty();
  }
  async function* rows(found: AsyncIterable<JsonRow>): AsyncGenerator<object> {
    let isEmpty = true;
    for await (const { line, row } of found) {
      isEmpty = false;
      lines.add(line);
      yield row;
    }
    if (isEmpty) refuseEmpty();
  }
  if (kind === LANCE) {
    if (!found.isFile()) throw new UsageError(`${JSON.stringify(file)} is no regular file.`);
    return openLance(file, signal);
  }
  if (isArrow && found.isFile()) {
    const count = (more: number): void => {
      bytes += more;
    };
    const ranges = new FileRanges(file, found, signal, count);
    return { data: () => ranges, ...facts };
  }
  if (isArrow) return { data: once(pieces()), ...facts };
  if (LINES.includes(kind)) {
    return { data: once(rows(jsonLines(pieces(), file))), ...facts };
  }
  if (kind === '.json') {
    return { data: once(rows(jsonArray(pieces(), file))), ...facts };
  }
  throw new UsageError(
    `${JSON.stringify(file)} is of no known kind; files are ${[...ARROW, '.json', ...LINES, LANCE].join(', ')}.`,
  );
}

const once =
  (data: DataInput): (() => DataInput) =>
  () =>
    data;

/** A dataset of Lance or one of its data files; the version is that of a dataset. */
function openLance(file: string, signal: AbortSignal, version?: LanceVersionChoice): OpenFile {
  let bytes = 0;
  let size: number | undefined;
  const options = {
    signal,
    onRead: (more: number) => {
      bytes += more;
    },
  };
  const open = async (): Promise<DataInput> => {
    // Other commands start faster without what reads Lance.
    const { openLanceDataFile, openLanceDataset } = await import('../../datasets/index.ts');
    const rows =
      version === undefined
        ? await openLanceDataFile(file, options)
        : await openLanceDataset(file, version, options);
    if (rows.bytes > 0) size = rows.bytes;
    return rows;
  };
  let data: Promise<DataInput> | undefined;
  return {
    data: () => {
      data ??= open();
      return data;
    },
    read: () => bytes,
    get size() {
      return size;
    },
    lineOf: () => undefined,
  };
}

/**
 * A file of which ranges are read, as of a Blob: an Arrow file says at its end where its rows are. Each
 * range is read of the file as it was found, or refused.
 */
class FileRanges implements BlobLike {
  readonly size: number;
  readonly #file: string;
  readonly #found: Stats;
  readonly #signal: AbortSignal;
  readonly #count: (bytes: number) => void;

  constructor(file: string, found: Stats, signal: AbortSignal, count: (bytes: number) => void) {
    this.size = found.size;
    this.#file = file;
    this.#found = found;
    this.#signal = signal;
    this.#count = count;
  }

  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> } {
    return { arrayBuffer: () => this.#read(start, end) };
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#read(0, this.size);
  }

  async #read(start: number, end: number): Promise<ArrayBuffer> {
    this.#signal.throwIfAborted();
    const handle = await openHandle(this.#file, 'r').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      const message = `${JSON.stringify(this.#file)} was removed while it was read.`;
      throw new UsageError(message, { cause });
    });
    try {
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await handle.read(
          bytes,
          filled,
          bytes.length - filled,
          start + filled,
        );
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      // After the bytes were read: a change before and one meanwhile are both seen.
      const { dev, ino, size, mtimeMs } = await handle.stat();
      const before = this.#found;
      const isSame = dev === before.dev && ino === before.ino && size === before.size;
      if (!isSame || mtimeMs !== before.mtimeMs) {
        throw new UsageError(`${JSON.stringify(this.#file)} was changed while it was read.`);
      }
      this.#count(filled);
      return filled === bytes.length ? bytes.buffer : bytes.buffer.slice(0, filled);
    } finally {
      await handle.close();
    }
  }
}

const fileStream = (file: string, signal: AbortSignal): AsyncIterable<Uint8Array> =>
  createReadStream(file, { highWaterMark: PIECE_BYTES, signal });

/** A read of the file system that waits for a writer can be ended by nothing, not even by exiting. */
async function* pipe(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const fd = await promisify(open)(file, 'r');
  const socket = new Socket({ fd, readable: true, writable: false, signal });
  try {
    yield* socket as AsyncIterable<Uint8Array>;
  } finally {
    socket.destroy();
  }
}

/** Where the rows of the batch that is being made begin; of older ones nothing is kept. */
class LastLines {
  readonly #lines: number[] = [];
  #rows = 0;

  add(line: number): void {
    this.#lines[this.#rows++ % KEPT] = line;
  }

  of(row: number): number | undefined {
    return row < this.#rows && row >= this.#rows - KEPT ? this.#lines[row % KEPT] : undefined;
  }
}

/** More than the rows of two batches. */
const KEPT = 1 << 15;
