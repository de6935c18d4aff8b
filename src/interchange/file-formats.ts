/**
 * `FORMATS` is the table of file formats: the names, file endings, reader and writer of each. A new
 * format needs a row here. `formatNamed` throws InvalidInput for an unknown name; `formatOfName`
 * knows formats by the endings of files, which `stemOfName` cuts off. `findFormat` looks at the
 * first bytes of a file: it decompresses gzip and Zstandard, finds the format if the caller names
 * none (CSV if they tell nothing), and throws InvalidInput for binary files under the name of a
 * text format. The readers and writers are in csv/, json/, parquet/ and ipc/ (Arrow). lance-file.ts
 * opens Lance files, which are not in the table.
 */
import type { DataType, RecordBatchStream, Schema } from '../arrow/index.ts';
import { DirspaceError } from '../errors.ts';
import { encodeIpcFile, encodeIpcStream, openArrowBody, openArrowFile } from '../ipc/index.ts';
import { suggestion } from '../known-names.ts';
import {
  type BuildColumn,
  type CsvOptions,
  type CsvWriteOptions,
  csvTypes,
  encodeCsv,
  openCsv,
} from './csv/index.ts';
import {
  type ByteSource,
  compressionOf,
  decompressed,
  fileProblem,
  plainName,
  withHead,
} from './files/index.ts';
import { encodeJson, encodeJsonLines, jsonArray, jsonLines, jsonRows } from './json/index.ts';
import type { ParquetWriteOptions } from './parquet/index.ts';

/** What is asked of a reader, whatever the format. */
export interface ReadOptions {
  /** All columns with their types. Formats that have types of their own give those; the caller fits them. */
  readonly schema?: Schema | undefined;
  /** Types of some columns by name. */
  readonly types?: ReadonlyMap<string, DataType> | undefined;
  readonly csv?: CsvOptions | undefined;
  /** Makes columns of types that a format of texts has no form for. */
  readonly build?: BuildColumn | undefined;
  /** Names of the columns to read; formats that have to read the others give them too. */
  readonly columns?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What is said of the files to write. */
export interface WriteOptions {
  readonly csv?: CsvWriteOptions | undefined;
  readonly parquet?: ParquetWriteOptions | undefined;
}

/** The rows of a file that is open. */
export interface FileRows {
  /** Batches with a schema, or objects whose columns are yet to be found out. */
  readonly data: RecordBatchStream | AsyncIterable<object>;
  /** The line on which a row begins, of the last that were read; rows count from 0, lines from 1. */
  lineOf?(row: number): number | undefined;
}

export interface FileFormat {
  readonly name: string;
  /** Endings of file names in lower case, with the dot. */
  readonly endings: readonly string[];
  /** Whether its files have columns with types, as opposed to objects of any. */
  readonly isArrow: boolean;
  /** Reads as far as the schema. @throws InvalidInput naming the file and the place */
  open(source: ByteSource, options: ReadOptions): FileRows | Promise<FileRows>;
  /**
   * The bytes of a file of the rows, in pieces that are made as they are pulled.
   * @throws InvalidInput for options that the format does not have
   */
  encode(
    rows: RecordBatchStream,
    options: WriteOptions,
  ): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>;
  /**
   * Finds out the types that all rows of the files fit, where types are found out from rows. Reads
   * the files whole.
   */
  readonly allTypes?: (
    sources: readonly ByteSource[],
    options: ReadOptions,
  ) => Promise<ReadonlyMap<string, DataType>>;
}

const csvFormat = (name: string, ending: string, delimiter?: string): FileFormat => {
  const csvOf = ({ csv = {} }: ReadOptions): CsvOptions =>
    delimiter === undefined ? csv : { ...csv, delimiter: csv.delimiter ?? delimiter };
  return {
    name,
    endings: [ending],
    isArrow: true,
    open: async (source, options) => {
      const { schema, types, build, columns } = options;
      return { data: await openCsv(source, { ...csvOf(options), schema, types, build, columns }) };
    },
    encode: (rows, { csv = {} }) =>
      encodeCsv(
        rows,
        delimiter === undefined ? csv : { ...csv, delimiter: csv.delimiter ?? delimiter },
      ),
    allTypes: (sources, options) => csvTypes(sources, csvOf(options)),
  };
};

const openArrow: FileFormat['open'] = async ({ ranges, pieces }) => ({
  data: await (ranges === undefined ? openArrowBody(pieces()) : openArrowFile(ranges)),
});

const ARROW: FileFormat = {
  name: 'arrow',
  endings: ['.arrow', '.feather', '.ipc'],
  isArrow: true,
  open: openArrow,
  encode: encodeIpcFile,
};

/** Both forms of Arrow are read under either name; they differ in what is written. */
const ARROW_STREAM: FileFormat = {
  name: 'arrow-stream',
  endings: ['.arrows'],
  isArrow: true,
  open: openArrow,
  encode: encodeIpcStream,
};

const CSV = csvFormat('csv', '.csv');
const TSV = csvFormat('tsv', '.tsv', '\t');

/** Its code is loaded with a file of it: most files are none. */
const PARQUET: FileFormat = {
  name: 'parquet',
  endings: ['.parquet', '.pq'],
  isArrow: true,
  open: async (source, { columns, signal }) => {
    const { openParquet } = await import('./parquet/index.ts');
    return { data: await openParquet(source, { columns, signal }) };
  },
  encode: async (rows, { parquet }) => {
    const { encodeParquet } = await import('./parquet/index.ts');
    return encodeParquet(rows, parquet);
  },
};

const JSON_ARRAY: FileFormat = {
  name: 'json',
  endings: ['.json'],
  isArrow: false,
  open: (source) => jsonRows(jsonArray(source.pieces(), source.name)),
  encode: encodeJson,
};

const JSON_LINES: FileFormat = {
  name: 'ndjson',
  endings: ['.ndjson', '.jsonl'],
  isArrow: false,
  open: (source) => jsonRows(jsonLines(source.pieces(), source.name)),
  encode: encodeJsonLines,
};

export const FORMATS: readonly FileFormat[] = [
  ...[ARROW, ARROW_STREAM, CSV, TSV],
  ...[PARQUET, JSON_ARRAY, JSON_LINES],
];

/** Undefined where no format has the ending of the name, which may be followed by `.gz` or `.zst`. */
export function formatOfName(name: string): FileFormat | undefined {
  const plain = plainName(name).toLowerCase();
  return FORMATS.find(({ endings }) => endings.some((ending) => plain.endsWith(ending)));
}

/** The name of a file without the endings that say its format and compression; undefined where none says a format. */
export function stemOfName(name: string): string | undefined {
  const plain = plainName(name);
  const small = plain.toLowerCase();
  const ending = FORMATS.flatMap(({ endings }) => endings).find((each) => small.endsWith(each));
  return ending === undefined ? undefined : plain.slice(0, -ending.length);
}

/** Characters of a name in a message: an address may hold a long one. */
const MOST_SHOWN = 80;

/** @throws InvalidInput where there is no format of that name */
export function formatNamed(name: string): FileFormat {
  const names = FORMATS.map((format) => format.name);
  const found = FORMATS[names.indexOf(name)];
  if (found !== undefined) return found;
  const asked = String(name);
  throw new DirspaceError(
    'InvalidInput',
    `There is no format ${JSON.stringify(asked.slice(0, MOST_SHOWN))}; there is ${names.join(', ')}.${suggestion(asked, names)}`,
  );
}

/** First bytes of files that say what they are. */
const MAGIC: readonly (readonly [format: FileFormat, magic: readonly number[]])[] = [
  [ARROW, [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31]],
  // A stream begins with the mark of a message.
  [ARROW, [0xff, 0xff, 0xff, 0xff]],
  [PARQUET, [0x50, 0x41, 0x52, 0x31]],
];
const [BRACKET, BRACE] = [0x5b, 0x7b];

/**
 * Streams of Arrow before 0.15 have no mark: they begin with the length of the schema, and the place
 * of its table. No text has so many zero bytes there.
 */
function isOldStream(head: Uint8Array): boolean {
  if (head.length < 8) return false;
  const view = new DataView(head.buffer, head.byteOffset, 8);
  const [length, table] = [view.getUint32(0, true), view.getUint32(4, true)];
  return length > 0 && length < 1 << 24 && table >= 4 && table < 32 && table % 4 === 0;
}

/** Undefined for texts. */
const binaryFormat = (head: Uint8Array): FileFormat | undefined =>
  isOldStream(head)
    ? ARROW
    : MAGIC.find(([, magic]) => magic.every((byte, at) => head[at] === byte))?.[0];

/** The format that the first bytes say; CSV where they say nothing. */
function formatOfBytes(head: Uint8Array): FileFormat {
  const found = binaryFormat(head);
  if (found !== undefined) return found;
  const first = head.find((byte) => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf);
  return first === BRACKET ? JSON_ARRAY : first === BRACE ? JSON_LINES : CSV;
}

/** First bytes of files that no reader here knows. */
const FOREIGN: readonly (readonly [what: string, magic: string])[] = [
  ['a ZIP archive, as spreadsheets are', 'PK\u0003\u0004'],
  ['a database of SQLite', 'SQLite format 3\0'],
];

/** @throws InvalidInput for bytes of another format under the name of a format of texts */
async function refuseBinary(
  source: ByteSource,
  head: Uint8Array,
  format: FileFormat,
): Promise<void> {
  const problem = binaryProblem(source.name, head, format);
  if (problem === undefined) return;
  await source.release?.();
  throw problem;
}

function binaryProblem(
  name: string,
  head: Uint8Array,
  format: FileFormat,
): DirspaceError | undefined {
  if (![CSV, TSV, JSON_ARRAY, JSON_LINES].includes(format)) return undefined;
  const begins = Buffer.from(head).toString('latin1');
  const foreign = FOREIGN.find(([, magic]) => begins.startsWith(magic));
  if (foreign !== undefined) {
    const message = `${name} holds ${foreign[0]}, and no ${format.name}. Export it as CSV, JSON or Parquet first.`;
    return fileProblem(message, { file: name });
  }
  // A first column may be called PAR1, but texts have no control characters.
  const found = binaryFormat(head);
  if (found === undefined || !head.some((byte) => byte < 9)) return undefined;
  const message = `${name} holds ${found === PARQUET ? 'Parquet' : 'Arrow'}, and no ${format.name}. Read it as ${found.name}, by its ending or the format.`;
  return fileProblem(message, { file: name });
}

/** A file whose format is known, and its content without compression. */
export interface FoundFormat {
  readonly format: FileFormat;
  readonly source: ByteSource;
}

/**
 * Looks at the first bytes of a file for its compression and, where `format` is not known, its format.
 * @param format as the user or the name of the file says it
 */
export async function findFormat(
  source: ByteSource,
  format: FileFormat | undefined,
): Promise<FoundFormat> {
  const stored = await withHead(source);
  const compression = compressionOf(stored.head);
  if (compression === undefined) {
    if (format !== undefined) await refuseBinary(stored.source, stored.head, format);
    return { format: format ?? formatOfBytes(stored.head), source: stored.source };
  }
  const plain = decompressed(stored.source, compression);
  if (format !== undefined) return { format, source: plain };
  const content = await withHead(plain);
  return { format: formatOfBytes(content.head), source: content.source };
}
