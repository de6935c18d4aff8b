/**
 * `exportRows` writes rows as a file to a path or a stream, and reports progress. The format is an
 * option, or told by the ending of the path. `exportedBytes` yields the same bytes instead. Rows
 * are read only as fast as the file is written, and a failure or an abort leaves the path as it
 * was. An unknown option, a format that is unknown or missing, and an output of another kind throw
 * InvalidInput before any row is read.
 */
import type { Writable } from 'node:stream';
import type { RecordBatch, RecordBatchStream } from '../../arrow/index.ts';
import { systemEnv } from '../../env.ts';
import { DirspaceError } from '../../errors.ts';
import type {
  CsvWriteOptions,
  FileCompression,
  FileFormat,
  ParquetWriteOptions,
  WritableStreamLike,
} from '../../interchange/index.ts';
import { fileOf } from '../../local-path.ts';
import type { CallOptions } from '../../protocol/index.ts';
import { showValue } from '../build/index.ts';
import { checkOptionNames } from '../handles/index.ts';

/** A path or file address; or a stream of Node or of the web, which is ended after the last byte. */
export type FileOutput = string | URL | Writable | WritableStreamLike;

/** How far an export is. */
export interface ExportProgress {
  readonly rows: number;
  /** Bytes that were written, as they are stored. */
  readonly bytes: number;
  readonly elapsedSeconds: number;
  readonly bytesPerSecond: number;
}

/** How to write files, whatever their format. */
export interface ExportOptions extends CallOptions {
  /** Of the whole file; the ending of the name tells if not given: `.gz` or `.zst`. */
  readonly compression?: 'none' | 'gzip' | 'zstd';
  /** Called after each piece. */
  readonly progress?: (progress: ExportProgress) => void;
  /** Ends the export with a TimeoutError after so long. */
  readonly timeoutMs?: number;
}

/** How to write CSV. */
export interface ToCsvOptions extends ExportOptions, CsvWriteOptions {}

/** How to write Parquet, whose pages are compressed and not the whole file. */
export interface ToParquetOptions extends Omit<ExportOptions, 'compression'>, ParquetWriteOptions {}

/** How to write files of any format. */
export interface ToFileOptions extends ExportOptions {
  /** csv, tsv, json, ndjson, parquet, arrow or arrow-stream; the ending of the name tells if not given. */
  readonly format?: string;
  readonly csv?: CsvWriteOptions;
  readonly parquet?: ParquetWriteOptions;
}

/** What was written. */
export interface ExportResult {
  readonly format: string;
  readonly rows: number;
  /** As they are stored. */
  readonly bytes: number;
}

/** The options that exports of every format take. */
export const EXPORT_OPTIONS = ['compression', 'progress', 'timeoutMs', 'signal'] as const;
const COMPRESSIONS = ['none', 'gzip', 'zstd'] as const;

/** Runs what gives the rows. */
export type RowsOf = (options: {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}) => Promise<RecordBatchStream>;

/** @throws InvalidInput before any row is read, for a format or an option that there is not */
export async function exportRows(
  rowsOf: RowsOf,
  output: FileOutput,
  options: ToFileOptions,
): Promise<ExportResult> {
  const { signal } = options;
  const path = pathOf(output);
  const plan = await planOf(options, path);
  const rows = await rowsOf(runOptions(options));
  const counts = new Counts(options);
  const { writeFile, writeStream } = await import('../../interchange/index.ts');
  try {
    const pieces = await plan.pieces(counts.rowsOf(rows));
    const counted = counts.bytesOf(pieces);
    if (path === undefined) {
      await writeStream(output as Writable | WritableStreamLike, counted, signal);
    } else await writeFile(path, () => counted, signal);
  } finally {
    // Where nothing was pulled, the query holds what it opened.
    await rows[Symbol.asyncIterator]().return?.();
  }
  return { format: plan.format.name, rows: counts.rows, bytes: counts.bytes };
}

/** The bytes of the file, pulled as they are wanted. */
export async function* exportedBytes(
  rowsOf: RowsOf,
  options: ToFileOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const plan = await planOf(options, undefined);
  const counts = new Counts(options);
  const rows = await rowsOf(runOptions(options));
  try {
    yield* counts.bytesOf(await plan.pieces(counts.rowsOf(rows)));
  } finally {
    // Where nothing was pulled, the query holds what it opened.
    await rows[Symbol.asyncIterator]().return?.();
  }
}

const runOptions = ({ signal, timeoutMs }: ExportOptions): Parameters<RowsOf>[0] => ({
  ...(signal && { signal }),
  ...(timeoutMs !== undefined && { timeoutMs }),
});

/** Undefined where the output is a stream. @throws InvalidInput for what is neither */
function pathOf(output: unknown): string | undefined {
  if (output instanceof URL || (typeof output === 'string' && /^file:\/\//i.test(output))) {
    const url = new URL(output);
    if (url.protocol === 'file:') return fileOf(url);
  } else if (typeof output === 'string' && /^[a-z][a-z0-9+.-]+:\/\//i.test(output)) {
    // An address of another scheme is no path.
  } else if (typeof output === 'string' && output !== '') return output;
  else if (typeof output === 'object' && output !== null) {
    const stream = output as { readonly getWriter?: unknown; readonly write?: unknown };
    if ([stream.getWriter, stream.write].some((call) => typeof call === 'function')) {
      return undefined;
    }
  }
  throw new DirspaceError(
    'InvalidInput',
    `The output is ${showValue(output instanceof URL ? output.href : output)}. Give a path, a file address or a stream to write into.`,
  );
}

interface Plan {
  readonly format: FileFormat;
  pieces(rows: RecordBatchStream): Promise<AsyncIterable<Uint8Array>>;
}

async function planOf(options: ToFileOptions, path: string | undefined): Promise<Plan> {
  checkOptionNames(options, ['format', 'csv', 'parquet', ...EXPORT_OPTIONS]);
  const { FORMATS, compressed, compressionOfName, formatNamed, formatOfName } = await import(
    '../../interchange/index.ts'
  );
  const { format: asked, progress, compression: given } = options;
  const format =
    asked !== undefined ? formatNamed(asked) : path === undefined ? undefined : formatOfName(path);
  if (format === undefined) {
    const names = FORMATS.map(({ name }) => name).join(', ');
    throw invalid(
      path === undefined
        ? `A stream has no name that tells the format; give one of ${names}.`
        : `The ending of ${JSON.stringify(path)} tells no format; give the format, one of ${names}.`,
    );
  }
  if (progress !== undefined && typeof progress !== 'function') {
    throw invalid('progress is a function.');
  }
  if (given !== undefined && !COMPRESSIONS.includes(given)) {
    throw invalid(
      `compression is ${JSON.stringify(given)}; a file is compressed with one of ${COMPRESSIONS.join(', ')}.`,
    );
  }
  if (options.csv !== undefined && format.allTypes === undefined) {
    throw invalid(`The options csv are of CSV, and the file is written as ${format.name}.`);
  }
  const isParquet = format.name === 'parquet';
  if (options.parquet !== undefined && !isParquet) {
    throw invalid(`The options parquet are of Parquet, and the file is written as ${format.name}.`);
  }
  const named = path === undefined ? undefined : compressionOfName(path);
  if (isParquet && (given ?? named ?? 'none') !== 'none') {
    throw invalid(
      'The pages of a Parquet file are compressed, and not the file: give parquet: {compression: "zstd"}, and a name that ends with .parquet.',
    );
  }
  const compression: FileCompression | undefined =
    given === undefined ? named : given === 'none' ? undefined : given;
  return {
    format,
    pieces: async (rows) => {
      const pieces = await format.encode(rows, { csv: options.csv, parquet: options.parquet });
      return compression === undefined ? pieces : compressed(pieces, compression);
    },
  };
}

const invalid = (message: string): DirspaceError => new DirspaceError('InvalidInput', message);

/** Counts what goes by, and tells of it. */
class Counts {
  rows = 0;
  bytes = 0;
  readonly #options: ExportOptions;
  readonly #started = systemEnv.now();

  constructor(options: ExportOptions) {
    this.#options = options;
  }

  rowsOf(rows: RecordBatchStream): RecordBatchStream {
    const count = (batch: RecordBatch): void => {
      this.rows += batch.numRows;
    };
    const { signal } = this.#options;
    return {
      schema: rows.schema,
      async *[Symbol.asyncIterator]() {
        for await (const batch of rows) {
          signal?.throwIfAborted();
          yield batch;
          count(batch);
        }
      },
    };
  }

  async *bytesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      this.bytes += piece.length;
      this.#tell();
    }
    this.#tell();
  }

  #tell(): void {
    const { progress } = this.#options;
    if (progress === undefined) return;
    const { rows, bytes } = this;
    const elapsedSeconds = Math.max(0, systemEnv.now() - this.#started) / 1000;
    const bytesPerSecond = elapsedSeconds > 0 ? bytes / elapsedSeconds : 0;
    progress({ rows, bytes, elapsedSeconds, bytesPerSecond });
  }
}
