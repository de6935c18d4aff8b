/**
 * `openFile`: opens one file of rows for an import. The ending of the name selects the format; a
 * folder must be a Lance dataset. Rows are read on demand: memory holds a piece of the file and a
 * batch. `isKnownKind`, `isArrowKind` and `isDataset` tell the kind of a file beforehand.
 */
import { statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { LanceVersionChoice } from '../../datasets/index.ts';
import { type FileRows, FORMATS, formatOfName, openedFile } from '../../interchange/index.ts';
import type { DataInput } from '../../sdk/index.ts';
import { UsageError } from '../terminal/index.ts';

/** A dataset of Lance, which is a folder, or one of its data files. */
const LANCE = '.lance';
const isLance = (file: string): boolean => extname(file).toLowerCase() === LANCE;

/** Whether the name of a file says how to read it. */
export const isKnownKind = (file: string): boolean =>
  isLance(file) || formatOfName(file) !== undefined;

/** Whether it holds Arrow's columns; rows of JSON otherwise. */
export const isArrowKind = (file: string): boolean =>
  isLance(file) || formatOfName(file)?.isArrow === true || isDataset(file);

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
  if (isLance(file)) {
    if (!found.isFile()) throw new UsageError(`${JSON.stringify(file)} is no regular file.`);
    return openLance(file, signal);
  }
  const format = formatOfName(file);
  if (format === undefined) {
    const endings = [...FORMATS.flatMap((each) => each.endings), LANCE].join(', ');
    throw new UsageError(`${JSON.stringify(file)} is of no known kind; files are ${endings}.`);
  }
  const refuseEmpty = (): void => {
    if (mayBeEmpty && !format.isArrow) return;
    const hint = format.isArrow ? '' : ' A table without rows can be made with --schema.';
    throw new UsageError(`${JSON.stringify(file)} is empty: it has no rows and no columns.${hint}`);
  };
  if (found.isFile() && found.size === 0) refuseEmpty();
  const source = openedFile(file, found, signal);
  let rows: FileRows | undefined;
  const open = async (): Promise<DataInput> => {
    rows = await format.open(source, { signal });
    return format.isArrow ? rows.data : orEmpty(rows.data, refuseEmpty);
  };
  let data: Promise<DataInput> | undefined;
  return {
    data: () => {
      data ??= open();
      return data;
    },
    read: () => source.bytesRead(),
    size: source.size,
    lineOf: (row) => rows?.lineOf?.(row),
  };
}

async function* orEmpty(
  rows: AsyncIterable<object>,
  refuseEmpty: () => void,
): AsyncGenerator<object> {
  let isEmpty = true;
  for await (const row of rows) {
    isEmpty = false;
    yield row;
  }
  if (isEmpty) refuseEmpty();
}

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
