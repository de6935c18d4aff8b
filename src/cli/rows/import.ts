/**
 * `dirspace import` writes rows from files into a table. It creates the table, and fails if there
 * is one of that name, unless `--mode` says to append, overwrite or merge. The rows come from a
 * file, the files that match a pattern, a URL, standard input, or a Lance dataset; formats are
 * those of interchange/. After an error in the data nothing is imported. With `--reject <file>`,
 * bad rows of CSV are instead written to that file, which must be new, and the rest is imported.
 * Errors name options as they are typed.
 */
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { COMPRESSIONS, DEFAULT_COMPRESSION } from '../../compression.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { RejectedRow } from '../../interchange/index.ts';
import { LANCE_MODES } from '../../lance-mode.ts';
import {
  defined,
  type FileInput,
  type ImportFileOptions,
  type ImportFileResult,
  type ImportProgress,
} from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  MissingFile,
  parseObject,
  UsageError,
  untilAborted,
  versionOf,
  withParents,
} from '../terminal/index.ts';
import { megabytes, unescaped } from './file-words.ts';

const MODES = ['create', 'append', 'overwrite', 'merge'] as const;
const FORMATS = ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'arrow', 'arrow-stream'] as const;
const RAGGED = ['refuse', 'pad'] as const;
const SAMPLES = ['first', 'all'] as const;
const HEADERS = ['yes', 'no'] as const;
const STANDARD_INPUT = '-';

export const importFile: Command = {
  name: 'import',
  summary: 'Import rows of a file, or of several, into a table',
  otherNames: ['load', 'insert', 'add', 'copy'],
  arguments: [
    [
      '<file>',
      'CSV (.csv, .tsv), JSON (.json, an array or objects; .ndjson, .jsonl), Parquet (.parquet), Arrow IPC (.arrow, .arrows, .feather, .ipc), each plain, .gz or .zst, or a Lance dataset; a quoted pattern, whose files are read by name; an http address; or - for standard input',
    ],
    ['<id>', 'the table'],
  ],
  ofTooMany:
    "Quote a pattern, so that the shell leaves it as it is: dirspace import '*.ndjson' logs.",
  choices: {
    mode: MODES,
    format: FORMATS,
    ragged: RAGGED,
    sample: SAMPLES,
    header: HEADERS,
    lance: LANCE_MODES,
    compression: COMPRESSIONS,
  },
  options: [
    { flags: '--mode <mode>', summary: `${MODES.join(', ')}; ${MODES[0]} if absent` },
    { flags: '--on <columns>', summary: 'of a merge: the key columns, with commas between them' },
    {
      flags: '--format <format>',
      summary: `${FORMATS.join(', ')}; the ending of the name or the first bytes tell if absent`,
    },
    {
      flags: '--types <name:type,...>',
      summary: 'types of columns, in the words of describe; others are found out from the rows',
    },
    {
      flags: '--schema <file>',
      summary: 'types of all columns: the JSON that describe --json prints, or a file of it',
    },
    {
      flags: '--columns <columns>',
      summary:
        'read these columns alone, with commas between them; Parquet and CSV skip the others',
    },
    {
      flags: '--reject <file>',
      summary: 'of CSV: write rows that cannot be taken to a new CSV file, and import the others',
    },
    { flags: '--delimiter <character>', summary: 'of CSV: between fields; found out if absent' },
    { flags: '--quote <character>', summary: 'of CSV: around fields; found out if absent' },
    { flags: '--escape <character>', summary: 'of CSV: before a quote in a quoted field' },
    {
      flags: '--header <yes|no>',
      summary: 'of CSV: whether the first row names the columns; found out if absent',
    },
    {
      flags: '--encoding <name>',
      summary: 'of CSV: utf-8, utf-16le, utf-16be or latin1; found out if absent',
    },
    {
      flags: '--null <text>',
      summary: 'of CSV: a text without quotes that means null, beside the empty one',
      repeated: true,
    },
    {
      flags: '--decimal <character>',
      summary: "of CSV: '.' or ',' before the fraction of numbers; '.' if absent",
    },
    { flags: '--skip <lines>', summary: 'of CSV: lines to pass over at the beginning' },
    {
      flags: '--ragged <refuse|pad>',
      summary: 'of CSV: whether rows with too few fields get nulls; refuse if absent',
    },
    {
      flags: '--sample <first|all>',
      summary: 'of CSV: rows that types are found out from; the first megabyte if absent',
    },
    {
      flags: '--lance <mode>',
      summary: 'whether Lance opens the table too; what the catalog says if absent',
    },
    {
      flags: '--compression <mode>',
      summary: `how the table is compressed: ${COMPRESSIONS.join(', ')}; ${DEFAULT_COMPRESSION} if absent`,
    },
    {
      flags: '--at <version|tag>',
      summary: 'of a Lance dataset: a version or a tag; the newest version if absent',
    },
    { flags: '--branch <name>', summary: 'of a Lance dataset: a branch; the main one if absent' },
    { flags: '-p, --parents', summary: 'create the namespaces that the table is in' },
  ],
  examples: [
    'dirspace import users.csv prod/search/user',
    'dirspace import more.ndjson.gz user --mode append',
    "dirspace import 'logs/*.csv' prod/logs --reject bad.csv",
    'dirspace import changes.csv user --mode merge --on id',
    'dirspace import user.lance prod/search/user --at 3',
    'dirspace import new.csv user2 --types "id:int64,price:decimal128:10:2"',
  ],
  reads: false,
  makesCatalog: true,
  async run(call: Call): Promise<Answer> {
    await refuseOtherOrder(call);
    const { namespace, name } = parseObject(argument(call, 1));
    const mode = call.options.choice('mode', MODES);
    const given = argument(call, 0);
    const { filesNamed, isAddress } = await import('../../interchange/index.ts');
    const isPath = given !== STANDARD_INPUT && !isAddress(given);
    const names = isPath ? await inOwnErrors(() => filesNamed(given, call.signal)) : [given];
    const isPattern = names.length > 1 || names[0] !== given;
    const id = [...namespace, name];
    const files: FileInput | FileInput[] =
      given === STANDARD_INPUT ? standardInput(call.signal) : names;
    const rejects = new RejectFile(call.options.text('reject'));
    const options = await optionsOf(call, mode, rejects);
    const write = (): Promise<ImportFileResult> =>
      inOwnErrors(() => importRows(call, files, name, namespace, options));
    let made: ImportFileResult;
    try {
      made = call.options.flag('parents') ? await withParents(call, id, write) : await write();
    } finally {
      rejects.close();
    }
    const { table, version, rejected, merged, rows: imported } = made;
    const rows = await table.countRows();
    const counts = merged && { updated: merged.numUpdatedRows, inserted: merged.numInsertedRows };
    const passed = rejected > 0 ? ` ${counted(rejected, 'row')} went to ${rejects.file}.` : '';
    const changed = counts ? ` (${counts.updated} updated, ${counts.inserted} inserted)` : '';
    const added = mode === 'append' ? `${counted(imported, 'row')} added, ` : '';
    const total = mode === 'append' ? `${rows.toLocaleString('en')} in all` : counted(rows, 'row');
    return {
      json: {
        ...{ id, version, rows, imported, ...counts },
        ...(rejects.file !== undefined && { rejected }),
        ...(isPattern && { files: names }),
      },
      note: `Imported ${names.length === 1 ? '' : `${counted(names.length, 'file')} `}into ${call.show(id)}: version ${version}, ${added}${total}${changed}.${passed}`,
    };
  },
};

/** As other programs have it: the table, and then the file. */
async function refuseOtherOrder(call: Call): Promise<void> {
  const [file, id] = [argument(call, 0), argument(call, 1)];
  if (existsSync(file) || !existsSync(id)) return;
  const { formatOfName, isLanceFile } = await import('../../interchange/index.ts');
  if (formatOfName(id) === undefined && !isLanceFile(id)) return;
  throw new UsageError(
    `There is no file ${JSON.stringify(file)}. The file comes first: dirspace import ${id} ${file}.`,
  );
}

/** It ends where the program before ends it, or with the reason of the signal, also while it waits. */
const standardInput = (signal: AbortSignal): FileInput =>
  Object.assign(
    {
      [Symbol.asyncIterator]: () =>
        untilAborted(process.stdin as AsyncIterable<Uint8Array>, signal),
    },
    { name: 'standard input' },
  );

/** What the user says of the file and the table. */
async function optionsOf(
  call: Call,
  mode: (typeof MODES)[number],
  rejects: RejectFile,
): Promise<ImportFileOptions> {
  const { options, signal } = call;
  const isNew = mode === 'create' || mode === 'overwrite';
  if (!isNew) {
    options.refuse(['lance', 'compression'], 'the table is written as it was created.');
    options.refuse(['types', 'schema'], 'the table has its types.');
  }
  const on = options.text('on')?.split(',');
  if (mode === 'merge' && on === undefined) {
    throw new UsageError('--mode merge needs the key columns: --on id.');
  }
  if (mode !== 'merge') options.refuse(['on'], 'only --mode merge has key columns.');
  const types = options.text('types');
  const schema = options.text('schema');
  if (types !== undefined && schema !== undefined) {
    throw new UsageError('--types and --schema are both given; a schema has all types.');
  }
  // Other commands start faster without what reads Arrow.
  const [{ parseTypes, readSchema }, { REJECTED_HEADER, rejectedLine }] = await Promise.all([
    import('./column-types.ts'),
    import('../../interchange/index.ts'),
  ]);
  const reject = (row: RejectedRow): void => rejects.add(rejectedLine(row), REJECTED_HEADER);
  let latest: ImportProgress | undefined;
  call.progress(() => latest && progressOf(latest));
  const header = options.optionalChoice('header', HEADERS);
  const nulls = options.texts('null');
  return {
    mode,
    signal,
    dataset: versionOf(options),
    ...defined({
      on,
      columns: options.text('columns')?.split(','),
      format: options.optionalChoice('format', FORMATS),
      types: types === undefined ? undefined : parseTypes(types),
      schema: schema === undefined ? undefined : readSchema(schema),
      lance: options.optionalChoice('lance', LANCE_MODES),
      compression: options.optionalChoice('compression', COMPRESSIONS),
      onReject: rejects.file === undefined ? undefined : reject,
    }),
    csv: defined({
      delimiter: unescaped(options.text('delimiter')),
      quote: options.text('quote'),
      escape: options.text('escape'),
      header: header === undefined ? undefined : header === 'yes',
      encoding: options.text('encoding'),
      nulls: nulls.length === 0 ? undefined : ['', ...nulls],
      decimal: options.text('decimal') as '.' | ',' | undefined,
      skipLines: options.text('skip') === undefined ? undefined : options.count('skip', 0),
      ragged: options.optionalChoice('ragged', RAGGED),
      sample: options.optionalChoice('sample', SAMPLES),
    }),
    progress: (progress) => {
      latest = progress;
    },
  };
}

/** The file of `--reject`, made when the first row comes. */
class RejectFile {
  readonly file: string | undefined;
  #handle: number | undefined;

  constructor(file: string | undefined) {
    if (file !== undefined && existsSync(file)) {
      throw new UsageError(
        `--reject names ${JSON.stringify(file)}, which is there already; name a new file.`,
      );
    }
    this.file = file;
  }

  /** @param header of a file that has no row yet */
  add(row: string, header: string): void {
    if (this.#handle === undefined) {
      this.#handle = openSync(this.file as string, 'wx');
      writeSync(this.#handle, header);
    }
    writeSync(this.#handle, row);
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }
}

function progressOf({
  bytesRead,
  totalBytes,
  file,
  files,
  bytesPerSecond,
  secondsLeft,
}: ImportProgress): string {
  const read = megabytes(bytesRead);
  const of = totalBytes === undefined ? read : `${read} of ${megabytes(totalBytes)}`;
  const which = files === 1 ? '' : `, file ${file} of ${files}`;
  const left = secondsLeft === undefined ? '' : `, ${Math.ceil(secondsLeft)} s left`;
  return `${of}${which}, ${megabytes(bytesPerSecond)}/s${left}`;
}

/** Adds that nothing was imported. Problems of the file or its name become usage errors. */
async function inOwnErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput', 'TableSchemaValidation')) throw error;
    const message = inOwnWords(error.message);
    const { file, row } = error.details;
    if (OF_OPTION.test(message)) throw new UsageError(message, { cause: error });
    if (error.details.missing === true) throw new MissingFile(message, { cause: error });
    if (file !== undefined && row === undefined) throw new UsageError(message, { cause: error });
    if (file !== undefined && error.cause === undefined) {
      throw new UsageError(message, { cause: error });
    }
    throw new DirspaceError(error.code, `${message} Nothing was imported.`, {
      cause: error,
      details: error.details,
    });
  }
}

/** Where an option of CSV is wrong, and not the file. */
const OF_OPTION = /: --(delimiter|quote|escape|encoding|decimal) is /;

/** The options of CSV that the command line gives other names. */
const OTHER_FLAGS: Readonly<Record<string, string>> = {
  onReject: 'reject',
  nulls: 'null',
  skipLines: 'skip',
};

const flagOf = (option: string): string => OTHER_FLAGS[option] ?? option;

/** Messages of the SDK name what a program passes. */
const inOwnWords = (message: string): string =>
  message
    .replace(/\bPass a schema\b/, 'Give --types or --schema')
    .replace(/\bpass a schema\b/, 'give --types or --schema')
    .replace(/The option (delimiter|quote|escape|decimal) of CSV is/, '--$1 is')
    .replace(/The encoding is(?= ")/, '--encoding is')
    .replace(/The option (\w+) is of CSV/, (_, name: string) => `--${flagOf(name)} is of CSV`)
    .replace('A version and a branch are of', '--at and --branch name a version of')
    .replace('A schema takes columns', '--schema takes columns')
    .replace(
      'A table without rows needs a schema.',
      'A table without rows can be made with --schema.',
    )
    .replace(
      'give the type of the column, or find types out from all rows',
      'give --types for the column, or --sample all',
    )
    .replace("With ragged 'pad'", 'With --ragged pad')
    .replace("read with quote ''", "read with --quote ''")
    .replace('Give its encoding, such as latin1', 'Give its --encoding, such as latin1')
    .replace('passed over by skipLines', 'passed over by --skip')
    .replace('onReject takes such rows', '--reject FILE takes such rows')
    .replace(' Give the types of columns.', ' Give --types.')
    .replace('cannot be inferred: the rows hold only', 'is not known: its rows hold only')
    .replace('null, undefined or empty arrays there', 'null or empty lists');

async function importRows(
  call: Call,
  files: FileInput | FileInput[],
  name: string,
  namespace: string[],
  options: ImportFileOptions,
): Promise<ImportFileResult> {
  try {
    return await call.connection.importFile(files, name, namespace, options);
  } catch (error) {
    const isWithParents = call.options.flag('parents');
    if (isDirspaceError(error, 'NamespaceNotFound') && namespace.length > 0 && !isWithParents) {
      error.message += ' --parents does it too.';
    }
    if (isDirspaceError(error, 'TableAlreadyExists')) {
      const path = [...namespace, name];
      const id = call.show(path);
      if (await call.connection.namespaceExists(path, { signal: call.signal })) {
        throw new UsageError(
          `${id} is a namespace; name a table in it, such as ${id}${call.show(['', 'rows'])}.`,
        );
      }
      error.message = `There is a table ${id} already. Give --mode append to add the rows, or --mode overwrite to replace those it has.`;
    }
    throw error;
  }
}
