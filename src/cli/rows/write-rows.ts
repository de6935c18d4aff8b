/**
 * Writes the rows of a query to a file or to standard output, for the commands `export` and `sql`.
 * The formats are CSV, TSV, JSON, NDJSON, Parquet and Arrow. `OUTPUT_OPTIONS` and `OUTPUT_CHOICES`
 * declare the options. `outputOf` checks them before anything is read; it throws UsageError if they
 * do not fit together, if no format is known, or if bytes would go to a terminal. `writeRows` then
 * writes; a file that is there is replaced.
 */
import type { Exportable, ExportProgress, ToFileOptions } from '../../sdk/index.ts';
import {
  type Answer,
  type Call,
  type CommandOption,
  counted,
  UsageError,
} from '../terminal/index.ts';
import { megabytes, unescaped } from './file-words.ts';

const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'arrow-stream'] as const;
const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const;
const HEADERS = ['yes', 'no'] as const;
const STANDARD_OUTPUT = '-';

export const OUTPUT_CHOICES = { format: FORMATS, compression: COMPRESSIONS, header: HEADERS };

const FILE_OPTIONS: readonly CommandOption[] = [
  {
    flags: '-o, --output <file>',
    summary:
      'the file to write, which is replaced where it is there; standard output if absent, or -',
  },
  {
    flags: '--format <format>',
    summary: `${FORMATS.join(', ')}; the ending of the file tells if absent`,
  },
  {
    flags: '--compression <mode>',
    summary:
      'none, gzip or zstd; .gz and .zst of the name tell if absent. Of Parquet also snappy, which it has if absent',
  },
];

const CSV_OPTIONS: readonly CommandOption[] = [
  { flags: '--delimiter <character>', summary: 'of CSV: between fields; a comma if absent' },
  { flags: '--header <yes|no>', summary: 'of CSV: whether the first row names the columns' },
  { flags: '--null <text>', summary: 'of CSV: what stands for null; the empty field if absent' },
];

export const OUTPUT_OPTIONS = { file: FILE_OPTIONS, csv: CSV_OPTIONS };

/** Where rows go, and how. */
export interface Output {
  /** Undefined for standard output. */
  readonly file: string | undefined;
  readonly options: ToFileOptions;
}

/** What the refusal of a call without a format says beside the formats. */
export interface OutputHint {
  /** Other ways to write, after a comma. */
  readonly others?: string;
  /** What was given in place of a file, if it is the name of one. */
  readonly taken?: string | undefined;
}

/** @throws UsageError for options that do not go together, and where no format is known */
export async function outputOf(call: Call, hint: OutputHint = {}): Promise<Output> {
  const given = call.options.text('output');
  const file = given === STANDARD_OUTPUT ? undefined : given;
  return { file, options: await optionsOf(call, file, hint) };
}

/** @param told what was written, for the note and for `--json` */
export async function writeRows(
  call: Call,
  query: Exportable,
  { file, options }: Output,
  told: { readonly what: string; readonly json: object },
): Promise<Answer> {
  if (file === undefined) {
    const { format, ...rest } = options;
    for await (const piece of query.toBytes(format as string, rest)) await call.write(piece);
    return { json: undefined };
  }
  const { rows, bytes, format } = await query.toFile(file, options);
  return {
    json: { ...told.json, file, format, rows, bytes },
    note: `Exported ${told.what} to ${file}: ${counted(rows, 'row')}, ${counted(bytes, 'byte')}.`,
  };
}

/** @param file undefined where rows go to standard output */
async function optionsOf(
  call: Call,
  file: string | undefined,
  { others = '', taken }: OutputHint,
): Promise<ToFileOptions> {
  const { options, signal, terminals } = call;
  // Other commands start faster without what reads Arrow.
  const { formatOfName } = await import('../../interchange/index.ts');
  const named = file === undefined ? undefined : formatOfName(file)?.name;
  const format = options.optionalChoice('format', FORMATS) ?? (named as ToFileOptions['format']);
  if (format === undefined) {
    if (taken !== undefined && formatOfName(taken) !== undefined) {
      throw new UsageError(
        `${JSON.stringify(taken)} stands where a condition does. Name the file with -o ${taken}.`,
      );
    }
    const found = file === undefined ? '' : `The ending of ${JSON.stringify(file)} tells none. `;
    throw new UsageError(
      `${found}Give --format, one of ${FORMATS.join(', ')}; or a file with -o, such as -o users.csv${others}.`,
    );
  }
  const isText = format === 'csv' || format === 'tsv';
  if (!isText) options.refuse(['delimiter', 'header', 'null'], `it is of CSV, not of ${format}.`);
  const compression = options.optionalChoice('compression', COMPRESSIONS);
  const isParquet = format === 'parquet';
  if (compression === 'snappy' && !isParquet) {
    throw new UsageError(`--compression snappy is of Parquet, not of ${format}.`);
  }
  const isBinary = isParquet || format.startsWith('arrow') || (compression ?? 'none') !== 'none';
  if (file === undefined && isBinary && terminals.output) {
    throw new UsageError('Bytes are not written to a terminal; give a file with -o, or a pipe.');
  }
  const header = options.optionalChoice('header', HEADERS);
  const csv = {
    delimiter: unescaped(options.text('delimiter')),
    header: header === undefined ? undefined : header === 'yes',
    null: options.text('null'),
  };
  let latest: ExportProgress | undefined;
  if (file !== undefined || !terminals.output) {
    call.progress(() => latest && progressOf(latest));
  }
  return {
    format,
    signal,
    ...(compression !== undefined && isParquet && { parquet: { compression } }),
    ...(compression !== undefined && compression !== 'snappy' && !isParquet && { compression }),
    ...(isText && { csv }),
    progress: (progress) => {
      latest = progress;
    },
  };
}

const progressOf = ({ rows, bytes, bytesPerSecond }: ExportProgress): string =>
  `${counted(rows, 'row')}, ${megabytes(bytes)}, ${megabytes(bytesPerSecond)}/s`;
