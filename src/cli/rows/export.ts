/**
 * `dirspace export`: writes the rows of a table, or those that a predicate and other options
 * select, to a file or to standard output, as CSV, JSON, Parquet or Arrow. With `--lance` it writes
 * one whole version as a Lance dataset in a new folder.
 */
import type { ExportProgress, ToFileOptions } from '../../sdk/index.ts';
import {
  type Answer,
  type Call,
  type Command,
  counted,
  openSelected,
  type parseObject,
  UsageError,
  versionOf,
} from '../terminal/index.ts';
import { askedRows, tableOf } from './asked-rows.ts';
import { megabytes, unescaped } from './file-words.ts';

const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'arrow-stream'] as const;
const COMPRESSIONS = ['none', 'gzip', 'zstd', 'snappy'] as const;
const HEADERS = ['yes', 'no'] as const;
const STANDARD_OUTPUT = '-';

export const exportTable: Command = {
  name: 'export',
  summary: 'Write the rows of a table as CSV, JSON, Parquet, Arrow or Lance',
  otherNames: ['dump', 'backup', 'save', 'unload'],
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 3 AND name LIKE \'a%\'"; all rows if absent'],
  ],
  choices: { format: FORMATS, compression: COMPRESSIONS, header: HEADERS },
  options: [
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
    {
      flags: '-s, --select <column,...>',
      summary: 'the columns to write; may be given again',
      repeated: true,
    },
    {
      flags: '--sort <column[:desc],...>',
      summary: 'columns to order by, from small to large unless :desc; may be given again',
      repeated: true,
    },
    { flags: '-n, --rows <count>', summary: 'how many rows at most; all if absent' },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    { flags: '--delimiter <character>', summary: 'of CSV: between fields; a comma if absent' },
    { flags: '--header <yes|no>', summary: 'of CSV: whether the first row names the columns' },
    { flags: '--null <text>', summary: 'of CSV: what stands for null; the empty field if absent' },
    { flags: '--lance <folder>', summary: 'the Lance dataset to make, such as user.lance' },
  ],
  examples: [
    'dirspace export prod/search/user -o users.csv.gz',
    'dirspace export user "age > 30" -s name,age -o adults.ndjson',
    'dirspace export user --at 1 --format csv | head',
    'dirspace export prod/search/user --lance user.lance',
  ],
  refusedIsUsage: true,
  reads: true,
  takesBack: true,
  async run(call: Call): Promise<Answer> {
    const id = tableOf(call, 'export');
    const lance = call.options.text('lance');
    if (lance !== undefined) return exportLance(call, id, lance);
    return exportFile(call, id);
  },
};

type Id = ReturnType<typeof parseObject>;

const NOT_OF_LANCE = [
  ...['output', 'format', 'compression', 'rows', 'delimiter', 'header', 'null'],
] as const;

async function exportLance(call: Call, id: Id, folder: string): Promise<Answer> {
  const { options, signal } = call;
  options.refuse(NOT_OF_LANCE, 'a Lance dataset holds a whole version.');
  const isQuery = call.arguments[1] !== undefined;
  if (isQuery || options.texts('select').length + options.texts('sort').length > 0) {
    throw new UsageError('A Lance dataset holds a whole version: leave out what chooses rows.');
  }
  if (folder === '') {
    throw new UsageError('Name the folder to write: dirspace export <id> --lance user.lance.');
  }
  let rows = 0;
  call.progress(() => counted(rows, 'row'));
  const { version, ...copy } = await call.connection.exportLance(folder, id.name, id.namespace, {
    ...versionOf(options),
    signal,
    progress: ({ outputRows }) => {
      rows = outputRows;
    },
  });
  const path = [...id.namespace, id.name];
  return {
    json: { id: path, version, folder, ...copy },
    note: `Exported version ${version} of ${call.show(path)} to ${folder}: ${counted(copy.rows, 'row')} in ${counted(copy.files, 'file')}.`,
  };
}

async function exportFile(call: Call, id: Id): Promise<Answer> {
  const { options, signal } = call;
  const file = options.text('output');
  const isToOutput = file === undefined || file === STANDARD_OUTPUT;
  const asked = await optionsOf(call, isToOutput ? undefined : file);
  const limit = options.count('rows', Number.MAX_SAFE_INTEGER);
  const table = await openSelected(call, id);
  // What is told below must be the version that is written.
  const version = await table.version({ signal });
  if (options.text('at') === undefined) await table.checkout(version, { signal });
  const { asked: query } = await askedRows(call, table, limit);
  if (isToOutput) {
    const { format, ...rest } = asked;
    for await (const piece of query.toBytes(format as string, rest)) await call.write(piece);
    return { json: undefined };
  }
  const { rows, bytes, format } = await query.toFile(file, asked);
  const path = [...id.namespace, id.name];
  return {
    json: { id: path, version, file, format, rows, bytes },
    note: `Exported version ${version} of ${call.show(path)} to ${file}: ${counted(rows, 'row')}, ${counted(bytes, 'byte')}.`,
  };
}

/** @param file undefined where rows go to standard output */
async function optionsOf(call: Call, file: string | undefined): Promise<ToFileOptions> {
  const { options, signal, terminals } = call;
  const choice = <const Word extends string>(name: string, words: readonly [Word, ...Word[]]) =>
    options.text(name) === undefined ? undefined : options.choice(name, words);
  // Other commands start faster without what reads Arrow.
  const { formatOfName } = await import('../../interchange/index.ts');
  const named = file === undefined ? undefined : formatOfName(file)?.name;
  const format = choice('format', FORMATS) ?? (named as ToFileOptions['format']);
  if (format === undefined) {
    const condition = call.arguments[1];
    if (file === undefined && condition !== undefined && formatOfName(condition) !== undefined) {
      throw new UsageError(
        `${JSON.stringify(condition)} stands where a condition does. Name the file with -o ${condition}.`,
      );
    }
    const found = file === undefined ? '' : `The ending of ${JSON.stringify(file)} tells none. `;
    throw new UsageError(
      `${found}Give --format, one of ${FORMATS.join(', ')}; or a file with -o, such as -o users.csv, or --lance user.lance.`,
    );
  }
  const isText = format === 'csv' || format === 'tsv';
  if (!isText) options.refuse(['delimiter', 'header', 'null'], `it is of CSV, not of ${format}.`);
  const compression = choice('compression', COMPRESSIONS);
  const isParquet = format === 'parquet';
  if (compression === 'snappy' && !isParquet) {
    throw new UsageError(`--compression snappy is of Parquet, not of ${format}.`);
  }
  const isBinary = isParquet || format.startsWith('arrow') || (compression ?? 'none') !== 'none';
  if (file === undefined && isBinary && terminals.output) {
    throw new UsageError('Bytes are not written to a terminal; give a file with -o, or a pipe.');
  }
  const header = choice('header', HEADERS);
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
