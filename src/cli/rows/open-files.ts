/**
 * Opens one or several files as one source of rows (`openFiles`) and reads them one after the
 * other. Either all hold JSON rows, or all hold Arrow columns (Arrow files, Lance datasets) like
 * those of the first. Also tells which file and line a row came from, and how far reading has got.
 */

import type { LanceVersionChoice } from '../../datasets/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { DataInput } from '../../sdk/index.ts';
import { UsageError } from '../terminal/index.ts';
import { isArrowKind, type OpenFile, openFile } from './read-file.ts';

/** Where a row stands: rows and lines of its file, both counted from 1. */
export interface RowPlace {
  readonly file: string;
  readonly row: number;
  /** Of rows of JSON, and of the last that were read. */
  readonly line?: number;
}

/** Files that are being read as one. */
export interface OpenFiles {
  /** The same data at every call. */
  data(): Promise<DataInput>;
  /** The file that is read now. */
  current(): string;
  /** Of a row of all the data, counted from 0. */
  placeOf(row: number): RowPlace;
  /** How far the reading is, in words. */
  progress(): string;
}

/**
 * Files of JSON may be without rows beside others that have some, or where a schema says what the
 * columns are. Throws UsageError for a file that is missing or of no known kind before any is read.
 */
export function openFiles(
  names: readonly string[],
  signal: AbortSignal,
  hasSchema: boolean,
  version: LanceVersionChoice = {},
): OpenFiles {
  const isOne = names.length === 1;
  const files = names.map((name) => openFile(name, signal, hasSchema || !isOne, version));
  const [first = ''] = names;
  const other = names.find((name) => isArrowKind(name) !== isArrowKind(first));
  if (other !== undefined) {
    throw new UsageError(
      `The pattern matches Arrow files and files of JSON, such as ${JSON.stringify(first)} and ${JSON.stringify(other)}; import one kind at a time.`,
    );
  }
  /** The number of the first row of each file that was begun. */
  const starts: number[] = [0];
  const enter = (at: number, rows: number): OpenFile => {
    starts[at] = rows;
    return files[at] as OpenFile;
  };

  async function* jsonRows(): AsyncGenerator<object> {
    let rows = 0;
    for (const at of names.keys()) {
      for await (const row of (await enter(at, rows).data()) as AsyncIterable<object>) {
        rows++;
        yield row;
      }
    }
    if (rows > 0 || hasSchema) return;
    throw new UsageError(
      `The ${names.length} files have no rows and no columns. A table without rows can be made with --schema.`,
    );
  }

  async function arrowBatches(): Promise<DataInput> {
    // Other commands start faster without what reads Arrow.
    const { toRecordBatchStream } = await import('../../sdk/index.ts');
    const stream = await toRecordBatchStream(await enter(0, 0).data(), { signal });
    const { schema } = stream;
    async function* batches(): AsyncGenerator<object> {
      let rows = 0;
      for (const at of names.keys()) {
        const start = rows;
        try {
          const data = await enter(at, start).data();
          const own = at === 0 ? stream : await toRecordBatchStream(data, { schema, signal });
          for await (const batch of own) {
            rows += batch.numRows;
            yield batch;
          }
        } catch (error) {
          throw ofAllRows(error, start);
        }
      }
    }
    return Object.assign(batches(), { schema });
  }

  let data: Promise<DataInput> | undefined;
  const open = async (): Promise<DataInput> => {
    if (isOne) return (files[0] as OpenFile).data();
    return isArrowKind(first) ? arrowBatches() : jsonRows();
  };
  return {
    data: () => {
      data ??= open();
      return data;
    },
    current: () => names[starts.length - 1] ?? first,
    placeOf: (row) => {
      const at = starts.findLastIndex((start) => start <= row);
      const start = starts[at] as number;
      const line = files[at]?.lineOf(row - start);
      const place = { file: names[at] as string, row: row - start + 1 };
      return line === undefined ? place : { ...place, line };
    },
    progress: () => progressOf(files, starts.length),
  };
}

/** What reads one file counts its rows alone. */
function ofAllRows(error: unknown, start: number): unknown {
  if (!isDirspaceError(error) || typeof error.details.row !== 'number') return error;
  return new DirspaceError(error.code, error.message, {
    cause: error,
    details: { ...error.details, row: error.details.row + start },
  });
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

function progressOf(files: readonly OpenFile[], begun: number): string {
  const read = megabytes(files.reduce((sum, file) => sum + file.read(), 0));
  // Of pipes no size is known.
  const size = files.reduce((sum, file) => sum + (file.size ?? Number.NaN), 0);
  const of = Number.isNaN(size) ? read : `${read} of ${megabytes(size)}`;
  return files.length === 1 ? of : `${of}, file ${begun} of ${files.length}`;
}
