/**
 * `fromFile` opens one or several files of other formats as a stream of record batches, for example
 * to create a table from it. `fromCsv`, `fromJson`, `fromJsonLines` and `fromParquet` do so for one
 * format. The stream can be read once, and reads the files as it is pulled. Types that a file lacks
 * are guessed from its beginning. A row of CSV that does not fit them goes to `onReject`. Without
 * that it throws InvalidInput, and a row of JSON TableSchemaValidation; `importFile` would read
 * again with other types.
 */
import type { RecordBatchStream } from '../../arrow/index.ts';
import type { CsvOptions } from '../../interchange/index.ts';
import { type SchemaInput, streamOfFile, toSchema } from '../convert/index.ts';
import { onlyOptions } from '../handles/index.ts';
import { columnTypesOf, type FileColumnTypes } from './column-types.ts';
import { type FileInput, filesOf } from './file-input.ts';
import { checkColumns, onlyFields } from './only-columns.ts';
import { openFiles } from './open-files.ts';

/** How to read files. */
export interface FromFileOptions {
  /** csv, tsv, json, ndjson, parquet or arrow; the ending of the name, or the first bytes, tell if not given. */
  readonly format?: string;
  /** All columns with their types. */
  readonly schema?: SchemaInput;
  /** Types of some columns. */
  readonly types?: FileColumnTypes;
  /** Names of the columns to read, in the order in which they are to come; all if not given. */
  readonly columns?: readonly string[];
  /** How CSV is written, where that is not found out. */
  readonly csv?: CsvOptions;
  /** Stops reading; what is pending rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How to read CSV. */
export interface FromCsvOptions extends CsvOptions, Omit<FromFileOptions, 'format' | 'csv'> {}

/** How to read JSON, and Parquet. */
export type FromJsonOptions = Omit<FromFileOptions, 'format' | 'csv'>;

const FILE_OPTIONS = ['format', 'schema', 'types', 'columns', 'csv', 'signal'] as const;
const TYPED_OPTIONS = ['schema', 'types', 'columns', 'signal'] as const;

/**
 * Opens files of any known format. The stream can be read once.
 * @throws InvalidInput naming the file and the place; so do the batches
 */
export async function fromFile(
  file: FileInput | readonly FileInput[],
  options: FromFileOptions = {},
): Promise<RecordBatchStream> {
  onlyOptions(options, FILE_OPTIONS, 'fromFile');
  const { format, csv, signal } = options;
  const columns = checkColumns(options.columns);
  const schema = options.schema === undefined ? undefined : toSchema(options.schema);
  const types = columnTypesOf(options.types);
  const fitting = { schema: onlyFields(schema, columns), columnTypes: types, signal };
  const files = await filesOf(file, signal);
  const mayBeEmpty = schema !== undefined;
  const opened = await openFiles(files, {
    format,
    csv,
    signal,
    schema,
    types,
    columns,
    mayBeEmpty,
  });
  try {
    return await streamOfFile(await opened.data(), fitting);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Opens CSV. What the options do not say is found out from the first megabyte. */
export function fromCsv(
  file: FileInput | readonly FileInput[],
  options: FromCsvOptions = {},
): Promise<RecordBatchStream> {
  const { schema, types, columns, signal, ...csv } = options;
  return fromFile(file, { format: 'csv', schema, types, columns, signal, csv } as FromFileOptions);
}

/**
 * Opens JSON of one object on each line. Types are those of the first 8,192 rows: numbers that are
 * all whole are int64, or uint64, and others float64.
 */
export function fromJsonLines(
  file: FileInput | readonly FileInput[],
  options: FromJsonOptions = {},
): Promise<RecordBatchStream> {
  onlyOptions(options, TYPED_OPTIONS, 'fromJsonLines');
  return fromFile(file, { ...options, format: 'ndjson' });
}

/** Opens one JSON array of objects, or objects one after another, by types as `fromJsonLines`. */
export function fromJson(
  file: FileInput | readonly FileInput[],
  options: FromJsonOptions = {},
): Promise<RecordBatchStream> {
  onlyOptions(options, TYPED_OPTIONS, 'fromJson');
  return fromFile(file, { ...options, format: 'json' });
}

/** Opens Parquet. Its columns have the types of the file; `schema` and `types` fit them without loss. */
export function fromParquet(
  file: FileInput | readonly FileInput[],
  options: FromJsonOptions = {},
): Promise<RecordBatchStream> {
  onlyOptions(options, TYPED_OPTIONS, 'fromParquet');
  return fromFile(file, { ...options, format: 'parquet' });
}
