/**
 * `importFile` creates a table from the rows of files (the default; a table of that name throws
 * TableAlreadyExists), adds them to a table, merges them into one or replaces its rows. All rows
 * become one version, or none. With `onReject`, rows of CSV that do not fit go to it. Without it,
 * if a row does not fit types that were guessed, the import reads all rows to find the types and
 * starts again, with `progress` called anew, if all files can be read again. Rows that do not fit
 * otherwise throw InvalidInput or TableSchemaValidation, with the name of the file. The files are
 * closed in any case.
 */
import type { DataType, RecordBatch, Schema } from '../arrow/index.ts';
import type { Compression } from '../compression.ts';
import type { Env } from '../env.ts';
import { DirspaceError, isDirspaceError } from '../errors.ts';
import type { CsvOptions, RejectedRow } from '../interchange/index.ts';
import { suggestion } from '../known-names.ts';
import type { LanceMode } from '../lance-mode.ts';
import type { CallOptions } from '../protocol/index.ts';
import { plainPause } from '../steps.ts';
import type { Connection } from './connection.ts';
import {
  type DataInput,
  requireColumns,
  SchemaInference,
  type SchemaInput,
  streamOfFile,
  toSchema,
} from './convert/index.ts';
import {
  checkColumns,
  columnTypesOf,
  type FileColumnTypes,
  type FileInput,
  filesOf,
  type OpenFiles,
  onlyFields,
  openFiles,
  type ReadProgress,
  type RowPlace,
} from './files/index.ts';
import { checkChangeOptions, defined, type Home } from './handles/index.ts';
import type { MergeResult, Table } from './table/index.ts';

/** How far an import is. */
export interface ImportProgress extends ReadProgress {
  /** Rows that the catalog has taken. */
  readonly rows: number;
  readonly elapsedSeconds: number;
  readonly bytesPerSecond: number;
  /** Absent where the size of a file is not known. */
  readonly secondsLeft?: number;
}

/** How to import files. */
export interface ImportFileOptions extends CallOptions {
  /** `merge` updates rows by the columns `on` and inserts others. `create` if not given. */
  readonly mode?: 'create' | 'append' | 'overwrite' | 'merge';
  /** Key columns of a merge. */
  readonly on?: string | readonly string[];
  /** csv, tsv, json, ndjson, parquet or arrow; the ending of the name, or the first bytes, tell if not given. */
  readonly format?: string;
  /** All columns with their types; of a new table only. */
  readonly schema?: SchemaInput;
  /** Types of some columns; of a new table only. */
  readonly types?: FileColumnTypes;
  /** Names of the columns to read, in the order in which they are to come; all if not given. */
  readonly columns?: readonly string[];
  /** How CSV is written, where that is not found out. */
  readonly csv?: Omit<CsvOptions, 'onReject'>;
  /**
   * Gets rows of CSV that cannot be taken, also those that do not fit a type that was guessed. Without
   * it, files are read again with other types, and the first other row is an error.
   */
  readonly onReject?: (row: RejectedRow) => void;
  /** The version of a Lance dataset. */
  readonly dataset?: {
    readonly version?: number | undefined;
    readonly tag?: string | undefined;
    readonly branch?: string | undefined;
  };
  /** Called after each batch. */
  readonly progress?: (progress: ImportProgress) => void;
  /** Of a new table. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Of a new table. */
  readonly lance?: LanceMode;
  /** Of a new table: how its fragments are compressed. */
  readonly compression?: Compression;
}

const IMPORT_FILE_OPTIONS = [
  'mode',
  'on',
  'format',
  'schema',
  'types',
  'columns',
  'csv',
  'onReject',
  'dataset',
  'progress',
  'properties',
  'lance',
  'compression',
] as const satisfies readonly (keyof ImportFileOptions)[];

const MODES = ['create', 'append', 'overwrite', 'merge'] as const;
const OF_NEW_TABLES = ['schema', 'types', 'properties', 'lance', 'compression'] as const;

/** What an import made. */
export interface ImportFileResult {
  readonly table: Table;
  readonly version: number;
  /** Rows that were read and taken. */
  readonly rows: number;
  /** Rows that went to `onReject`. */
  readonly rejected: number;
  /** Of a merge. */
  readonly merged?: MergeResult;
}

/** Which rows are asked for, and how they are to be read. */
interface Reading {
  readonly schema: Schema | undefined;
  readonly types: ReadonlyMap<string, DataType> | undefined;
}

/** @throws InvalidInput naming the file and, where known, the row or line */
export async function importFile(
  connection: Connection,
  { env, lifetime }: Home,
  given: FileInput | readonly FileInput[],
  [name, path]: readonly [string, readonly string[] | undefined],
  options: ImportFileOptions,
): Promise<ImportFileResult> {
  checkChangeOptions(options, IMPORT_FILE_OPTIONS);
  const mode = checkMode(options);
  const { signal, onReject, csv, format, dataset } = options;
  const call = defined({ signal });
  // Rows that are all read are written to the end; who closes the connection waits for no others.
  const reading = AbortSignal.any(
    signal === undefined ? [lifetime.signal] : [signal, lifetime.signal],
  );
  const files = await filesOf(given, reading);
  const isNew = mode === 'create' || mode === 'overwrite';
  const table = isNew ? undefined : await connection.openTable(name, path, call);
  const asked: Reading = {
    schema: options.schema === undefined ? undefined : toSchema(options.schema),
    types: columnTypesOf(options.types),
  };
  const columns = checkColumns(options.columns);
  const known = table === undefined ? asked.schema : await table.schema(call);
  let rejected = 0;
  const reject = (row: RejectedRow): void => {
    rejected++;
    onReject?.(row);
  };
  const open = (types: Reading['types']): Promise<OpenFiles> => {
    rejected = 0;
    return openFiles(files, {
      ...{ format, signal: reading, types, columns, schema: known },
      version: dataset,
      csv: onReject === undefined ? csv : { ...csv, onReject: reject },
      mayBeEmpty: known !== undefined,
    });
  };
  const ownSchema = onlyFields(asked.schema, columns);
  const run = async (opened: OpenFiles, schema = ownSchema): Promise<ImportFileResult> => {
    try {
      const fitting = isNew ? { schema, types: asked.types, isNew } : {};
      const { data, rows } = await counted(opened, fitting, env, options);
      const made = await write(connection, table, data, [name, path], mode, options);
      return { ...made, rows: rows(), rejected };
    } finally {
      await opened.close().catch(() => {});
    }
  };
  const opened = await open(asked.types);
  try {
    return await inFile(opened, () => run(opened));
  } catch (error) {
    if (isPromotable(error)) {
      const types = await opened.allTypes();
      if (types === undefined) throw error;
      const again = await open(new Map([...types, ...(asked.types ?? [])]));
      return inFile(again, () => run(again));
    }
    const isGuessed = isNew && asked.schema === undefined && opened.isRepeatableJson;
    if (!isGuessed || !isOfColumns(error)) throw error;
    const schema = await schemaOfAll(await open(asked.types), asked.types);
    const again = await open(asked.types);
    return inFile(again, () => run(again, onlyFields(schema, columns))).catch((other: unknown) => {
      throw isOfSameRow(error, other) ? error : other;
    });
  }
}

/** The first rows of JSON gave a column no type, or one that a later row does not fit, or lack it. */
const isOfColumns = (error: unknown): error is DirspaceError =>
  isDirspaceError(error, 'TableSchemaValidation') ||
  (isDirspaceError(error, 'InvalidInput') && typeof error.details.column === 'string');

/** The columns of all rows of JSON, in the types that they fit. */
async function schemaOfAll(opened: OpenFiles, types: Reading['types']): Promise<Schema> {
  const inference = new SchemaInference(true);
  const pause = plainPause();
  await inFile(opened, async () => {
    for await (const row of (await opened.data()) as AsyncIterable<object>) {
      inference.add([row]);
      const waiting = pause();
      if (waiting !== undefined) await waiting;
    }
    requireColumns(inference.schema(types, true), types);
  });
  return inference.schema(types, true);
}

/** Then the first error says more: that the type was found out. */
const isOfSameRow = (one: DirspaceError, other: unknown): boolean =>
  isDirspaceError(other) && one.details.row === other.details.row;

/** A field that does not fit the type that the beginning of its file gave its column. */
const isPromotable = (error: unknown): boolean =>
  isDirspaceError(error, 'InvalidInput') && error.details.guessed === true;

function checkMode(options: ImportFileOptions): (typeof MODES)[number] {
  const { mode = 'create', on, onReject, progress } = options;
  if (!MODES.includes(mode)) {
    const hint = suggestion(String(mode), MODES);
    throw invalid(`mode is ${JSON.stringify(mode)}; give one of ${MODES.join(', ')}.${hint}`);
  }
  if (mode === 'merge' && on === undefined) {
    throw invalid('mode is "merge"; name the key columns in `on`, such as on: "id".');
  }
  if (mode !== 'merge' && on !== undefined) {
    throw invalid(`on is given with mode ${JSON.stringify(mode)}; only a merge has key columns.`);
  }
  for (const call of [onReject, progress]) {
    if (call !== undefined && typeof call !== 'function') {
      throw invalid('onReject and progress are functions.');
    }
  }
  if (mode === 'create' || mode === 'overwrite') return mode;
  const given = OF_NEW_TABLES.find((option) => options[option] !== undefined);
  if (given === undefined) return mode;
  throw invalid(
    `${given} is given with mode ${JSON.stringify(mode)}: the table is written as it was created. Leave it out.`,
  );
}

const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);

async function write(
  connection: Connection,
  table: Table | undefined,
  data: DataInput,
  [name, path]: readonly [string, readonly string[] | undefined],
  mode: (typeof MODES)[number],
  options: ImportFileOptions,
): Promise<Pick<ImportFileResult, 'table' | 'version' | 'merged'>> {
  const { signal, idempotencyKey, onContext, on, properties, lance, compression } = options;
  const call = defined({ signal, idempotencyKey, onContext });
  if (table === undefined) {
    const form = defined({ properties, lance, compression });
    const replaces = mode === 'overwrite' ? 'overwrite' : 'create';
    const made = await connection.createTable(name, data, path, {
      ...form,
      ...call,
      mode: replaces,
    });
    return { table: made, version: await made.version(defined({ signal })) };
  }
  if (mode === 'append') {
    const { version } = await table.add(data, call);
    return { table, version };
  }
  const merged = await table
    .mergeInsert(on as string | readonly string[])
    .whenMatchedUpdateAll()
    .whenNotMatchedInsertAll()
    .execute(data, call);
  return { table, version: merged.version, merged };
}

/** The rows of the files in the types asked for, counted as they are taken. */
async function counted(
  opened: OpenFiles,
  { schema, types, isNew = false }: Partial<Reading> & { readonly isNew?: boolean },
  env: Env,
  { signal, progress }: ImportFileOptions,
): Promise<{ readonly data: DataInput; rows(): number }> {
  const found = await opened.data();
  const isTyped = schema !== undefined || types !== undefined || (isNew && !('schema' in found));
  const data = isTyped ? await streamOfFile(found, { schema, columnTypes: types, signal }) : found;
  const started = env.now();
  let rows = 0;
  const tell = (): void => {
    if (progress === undefined) return;
    const read = opened.progress();
    const elapsedSeconds = Math.max(0, env.now() - started) / 1000;
    const bytesPerSecond = elapsedSeconds > 0 ? read.bytesRead / elapsedSeconds : 0;
    const left = ((read.totalBytes ?? Number.NaN) - read.bytesRead) / bytesPerSecond;
    const secondsLeft = Number.isFinite(left) ? { secondsLeft: Math.max(0, left) } : {};
    progress({ ...read, rows, elapsedSeconds, bytesPerSecond, ...secondsLeft });
  };
  async function* items(): AsyncGenerator<object> {
    for await (const item of data as AsyncIterable<object>) {
      yield item;
      const isBatch = 'schema' in data;
      rows += isBatch ? (item as RecordBatch).numRows : 1;
      if (isBatch || rows % TOLD_ROWS === 0) tell();
    }
    tell();
  }
  const iterable = items();
  const own = 'schema' in data ? Object.assign(iterable, { schema: data.schema }) : iterable;
  return { data: own as DataInput, rows: () => rows };
}

/** Rows of JSON come one by one; progress is told of after so many. */
const TOLD_ROWS = 8192;

/** Says which file it was, and where in it, whose rows do not fit. */
async function inFile<Result>(files: OpenFiles, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput', 'TableSchemaValidation')) throw error;
    const { row, file } = error.details;
    // The reader of the file has said it.
    if (file !== undefined) throw error;
    const place = typeof row === 'number' ? files.placeOf(row) : undefined;
    const message =
      place === undefined
        ? error.message
        : `${error.message.replace(/^Row \d+/, textOf(place))} Rows and lines are counted from 1.`;
    throw new DirspaceError(error.code, `${place?.file ?? files.current()}: ${message}`, {
      cause: error,
      details: { ...error.details, ...place },
    });
  }
}

const textOf = ({ row, line }: RowPlace): string =>
  line === undefined ? `Row ${row}` : `Row ${row} on line ${line}`;
