/**
 * `openFiles` opens several files as one source of rows, and reads them one after the other.
 * Without a given schema the first file determines it. Rows of JSON come as objects without a
 * schema, so JSON files beside files of other formats throw InvalidInput. The result gives the rows
 * once (`data`). It also tells which file a row came from, in JSON also on which line, and how far
 * reading has got. A missing file throws InvalidInput before a row is read. `close` closes files
 * that were not read to their end.
 */
import type { DataType, RecordBatch, RecordBatchStream } from '../../arrow/index.ts';
import type { LanceVersionChoice } from '../../datasets/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type {
  BuildColumn,
  ByteSource,
  FileFormat,
  FileRows,
  ReadOptions,
} from '../../interchange/index.ts';
import { buildContext, columnPlace } from '../build/index.ts';
import { type DataInput, toRecordBatchStream } from '../convert/index.ts';
import type { GivenFile } from './file-input.ts';
import { OnlyMembers, onlyColumns } from './only-columns.ts';
import { type Pass, passOver } from './pass.ts';
import { csvForms, jsonForms } from './text-forms.ts';

/** Where a row stands: rows and lines of its file, both counted from 1. */
export interface RowPlace {
  readonly file: string;
  readonly row: number;
  /** Of rows of JSON, and of the last that were read. */
  readonly line?: number;
}

/** How far the reading of files is. */
export interface ReadProgress {
  readonly bytesRead: number;
  /** Absent of pipes and streams. Of compressed files both count the bytes as stored. */
  readonly totalBytes?: number;
  /** The file that is read, from 1. */
  readonly file: number;
  readonly files: number;
}

/** How files are read. */
export interface OpenFilesOptions extends Omit<ReadOptions, 'build'> {
  /** The name of a format; the ending of a file, or its first bytes, tell where it is absent. */
  readonly format?: string | undefined;
  /** Of a Lance dataset. */
  readonly version?: LanceVersionChoice | undefined;
  /** Whether JSON without rows is taken: the columns are known. */
  readonly mayBeEmpty?: boolean | undefined;
}

/** Files that are being read as one. */
export interface OpenFiles {
  /** Rows, or batches with a schema. May be asked for once. */
  data(): Promise<DataInput>;
  /** Whether they are files of JSON that can be read again: their columns are found out from rows. */
  readonly isRepeatableJson: boolean;
  /** The file that is read now. */
  current(): string;
  /** Of a row of all the data, counted from 0. */
  placeOf(row: number): RowPlace | undefined;
  progress(): ReadProgress;
  /**
   * Types that all rows of all files fit, from a pass of its own. Undefined where the format has types
   * of its own, or a file can be read once only.
   */
  allTypes(): Promise<ReadonlyMap<string, DataType> | undefined>;
  /** Closes the files that are not read to their end, however far they were read. */
  close(): Promise<void>;
}

/** One file that is open. */
interface OpenFile {
  readonly name: string;
  readonly isArrow: boolean;
  readonly format: FileFormat | undefined;
  readonly source: ByteSource | undefined;
  rows(options: ReadOptions): Promise<FileRows>;
  read(): number;
  size(): number | undefined;
  close(): Promise<void>;
}

/** Files that may stay open between being looked at and being read; others are opened twice. */
const HELD_FILES = 16;

const build: BuildColumn = (field, values) => {
  const context = buildContext({ roundsIntegers: true });
  return context.build(field.type, csvForms(field.type, values), columnPlace(field, 0), context);
};

/** @throws InvalidInput for a file that is missing, before any row is read */
export async function openFiles(
  given: readonly GivenFile[],
  options: OpenFilesOptions,
): Promise<OpenFiles> {
  const { signal, columns } = options;
  const files: OpenFile[] = [];
  try {
    for (const file of given) {
      const opened = await openOne(file, options);
      files.push(opened);
      const { source } = opened;
      if (files.length > HELD_FILES && source?.isRepeatable === true) await source.release?.();
    }
    refuseTwoKinds(files);
  } catch (error) {
    for (const file of files) await file.close();
    throw error;
  }
  const [first] = files as [OpenFile];
  const isOne = files.length === 1;
  /** The number of the first row of each file that was begun. */
  const starts: number[] = [];
  const opened: FileRows[] = [];
  const passes: Pass<RecordBatch>[] = [];
  const enter = async (at: number, rows: number, read: ReadOptions): Promise<FileRows> => {
    starts[at] = rows;
    const file = files[at] as OpenFile;
    const found = await file.rows({ ...read, build });
    opened[at] = found;
    // Rows of JSON hold nothing open but the bytes that they come from.
    if (!file.isArrow) return found;
    const batches = found.data as RecordBatchStream;
    const pass = passOver(batches);
    passes.push(pass);
    const data: RecordBatchStream = { ...pass, schema: batches.schema };
    return { ...found, data: columns === undefined ? data : onlyColumns(data, columns, file.name) };
  };

  const close = async (): Promise<void> => {
    for (const pass of passes.splice(0)) await pass.close();
    for (const file of files) await file.close();
  };

  async function* jsonRows(): AsyncGenerator<object> {
    const { schema, types } = options;
    const typed = Array.from(types ?? [], ([name, type]) => ({ name, type }));
    const change = jsonForms(schema?.fields ?? typed);
    const members = columns === undefined ? undefined : new OnlyMembers(columns);
    let rows = 0;
    try {
      for (const at of files.keys()) {
        const { data } = await enter(at, rows, options);
        for await (const whole of data as AsyncIterable<object>) {
          const row = members?.of(whole) ?? whole;
          change?.(row);
          rows++;
          yield row;
        }
      }
    } finally {
      await close();
    }
    // Columns that a schema gives may be missing in all rows, as they may in some.
    if (rows > 0 && schema === undefined) {
      members?.check(isOne ? JSON.stringify(first.name) : `the ${files.length} files`);
    }
    if (rows > 0 || options.mayBeEmpty === true) return;
    const what = isOne
      ? `${JSON.stringify(first.name)} is empty: it has`
      : `The ${files.length} files have`;
    throw problem(
      `${what} no rows and no columns. A table without rows needs a schema.`,
      first.name,
    );
  }

  async function arrowBatches(): Promise<DataInput> {
    const begin = (await enter(0, 0, options)).data as RecordBatchStream;
    if (isOne) return begin;
    const stream = await toRecordBatchStream(begin, { signal });
    const { schema } = stream;
    async function* batches(): AsyncGenerator<object> {
      let rows = 0;
      try {
        for (const at of files.keys()) {
          const start = rows;
          try {
            const own = at === 0 ? stream : (await enter(at, start, { ...options, schema })).data;
            const fitted = await toRecordBatchStream(own as DataInput, { schema, signal });
            for await (const batch of fitted) {
              rows += batch.numRows;
              yield batch;
            }
          } catch (error) {
            throw ofAllRows(at > 0 ? ofGuessedSchema(error, options) : error, start);
          }
        }
      } finally {
        await close();
      }
    }
    return Object.assign(batches(), { schema });
  }

  return {
    isRepeatableJson: files.every(
      ({ isArrow, source }) => !isArrow && source?.isRepeatable === true,
    ),
    data: async () => (first.isArrow ? arrowBatches() : jsonRows()),
    current: () => (files[Math.max(0, starts.length - 1)] as OpenFile).name,
    placeOf: (row) => {
      const at = starts.findLastIndex((start) => start <= row);
      const file = files[at];
      if (file === undefined) return undefined;
      const start = starts[at] as number;
      const line = opened[at]?.lineOf?.(row - start);
      const place = { file: file.name, row: row - start + 1 };
      return line === undefined ? place : { ...place, line };
    },
    progress: () => {
      const bytesRead = files.reduce((sum, file) => sum + file.read(), 0);
      const totalBytes = files.reduce((sum, file) => sum + (file.size() ?? Number.NaN), 0);
      const total = Number.isNaN(totalBytes) ? {} : { totalBytes };
      return { bytesRead, ...total, file: Math.max(1, starts.length), files: files.length };
    },
    allTypes: async () => {
      const { format } = first;
      const sources = files.flatMap(({ source }) => (source === undefined ? [] : [source]));
      const isAgain =
        sources.length === files.length &&
        sources.every((source) => source.isRepeatable) &&
        files.every((file) => file.format === format);
      return isAgain ? format?.allTypes?.(sources, options) : undefined;
    },
    close,
  };
}

/** @throws InvalidInput for files with types beside files of JSON */
function refuseTwoKinds(files: readonly OpenFile[]): void {
  const [first] = files as [OpenFile];
  const other = files.find(({ isArrow }) => isArrow !== first.isArrow);
  if (other === undefined) return;
  throw problem(
    `The files are of two kinds, such as ${JSON.stringify(first.name)}, which has columns with types, and ${JSON.stringify(other.name)}; import one kind at a time.`,
    other.name,
  );
}

async function openOne(file: GivenFile, options: OpenFilesOptions): Promise<OpenFile> {
  const { findFormat, formatNamed, formatOfName, isDataset, isLanceFile, openLance } = await import(
    '../../interchange/index.ts'
  );
  const { signal, version = {}, format: asked } = options;
  const { name, path, called } = file;
  const known = asked === undefined ? undefined : formatNamed(asked);
  const isFolder = path !== undefined && isDataset(path);
  if (isFolder || (path !== undefined && asked === undefined && isLanceFile(path))) {
    refuseCsv(options, name, 'Lance');
    const lance = openLance(path, signal, isFolder ? version : undefined);
    const close = async (): Promise<void> => {};
    return { name, isArrow: true, format: undefined, source: undefined, ...lance, close };
  }
  if (Object.keys(version).length > 0) {
    throw problem(
      `A version and a branch are of a Lance dataset; ${JSON.stringify(name)} is a file.`,
      name,
    );
  }
  const stored = closable(await file.open(), signal);
  const named = known ?? (called === undefined ? undefined : formatOfName(called));
  const { format, source: found } = await findFormat(stored.source, named).catch(
    async (error: unknown) => {
      await stored.close();
      throw error;
    },
  );
  const content = closable(found);
  const { source } = content;
  const close = async (): Promise<void> => {
    await content.close();
    await stored.close();
  };
  try {
    if (format.allTypes === undefined) refuseCsv(options, name, format.name);
    const takesNothing = options.mayBeEmpty === true && format.allTypes !== undefined;
    if (source.size === 0 && format.isArrow && !takesNothing) {
      throw problem(`${JSON.stringify(name)} is empty: it has no rows and no columns.`, name);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name: source.name,
    isArrow: format.isArrow,
    format,
    source,
    rows: async (read) => format.open(source, read),
    read: () => source.bytesRead(),
    size: () => source.size,
    close,
  };
}

/**
 * The source, and what closes the passes over it that are under way. The signal ends them too, also
 * while a piece has yet to come.
 */
function closable(
  source: ByteSource,
  signal?: AbortSignal,
): { source: ByteSource; close(): Promise<void> } {
  const begun: Pass<Uint8Array>[] = [];
  const pieces = (): AsyncIterable<Uint8Array> => {
    const pass = passOver(source.pieces(), signal);
    begun.push(pass);
    return pass;
  };
  const close = async (): Promise<void> => {
    for (const pass of begun.splice(0)) await pass.close();
    await source.release?.();
  };
  return { source: { ...source, pieces }, close };
}

/** What is said of CSV, also of its rejected rows, would be ignored. @throws InvalidInput */
function refuseCsv({ csv = {} }: OpenFilesOptions, name: string, format: string): void {
  const given = Object.entries(csv).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  throw problem(
    `The option ${given[0]} is of CSV, and ${JSON.stringify(name)} is read as ${format}; leave it out.`,
    name,
  );
}

const problem = (message: string, file: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { file } });

/** The types of the first file may be too narrow for the others: then all files are asked for them. */
function ofGuessedSchema(error: unknown, { schema, types }: OpenFilesOptions): unknown {
  if (!isDirspaceError(error) || schema !== undefined) return error;
  const { file, name } = error.details;
  if (file === undefined || typeof name !== 'string' || types?.has(name)) return error;
  const details = { ...error.details, guessed: true };
  return new DirspaceError(error.code, error.message, { cause: error, details });
}

/** What reads one file counts its rows alone. */
function ofAllRows(error: unknown, start: number): unknown {
  if (!isDirspaceError(error) || typeof error.details.row !== 'number') return error;
  if (error.details.file !== undefined) return error;
  return new DirspaceError(error.code, error.message, {
    cause: error,
    details: { ...error.details, row: error.details.row + start },
  });
}
