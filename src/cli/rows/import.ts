/**
 * `dirspace import`: creates, appends to or overwrites a table with the rows of a file or Lance
 * dataset, or of all files that a pattern matches. An error in the data names the file and, where
 * known, the row and (for JSON) the line; nothing is imported then.
 */
import { existsSync } from 'node:fs';
import { COMPRESSIONS, DEFAULT_COMPRESSION } from '../../compression.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import { LANCE_MODES } from '../../lance-mode.ts';
import type { CreateTableOptions, DataInput, Table } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  parseObject,
  UsageError,
  versionOf,
  withParents,
} from '../terminal/index.ts';
import { filesNamed } from './file-pattern.ts';
import { type OpenFiles, openFiles, type RowPlace } from './open-files.ts';
import { isKnownKind } from './read-file.ts';

const MODES = ['create', 'append', 'overwrite'] as const;

export const importFile: Command = {
  name: 'import',
  summary: 'Import rows of a file, or of several, into a table',
  otherNames: ['load', 'insert', 'add', 'copy'],
  arguments: [
    [
      '<file>',
      'Arrow IPC (.arrow, .arrows, .feather, .ipc), .json (an array), .ndjson (.jsonl) or a Lance dataset; or a quoted pattern, whose files are read by name',
    ],
    ['<id>', 'the table'],
  ],
  ofTooMany:
    "Quote a pattern, so that the shell leaves it as it is: dirspace import '*.ndjson' logs.",
  choices: { mode: MODES, lance: LANCE_MODES, compression: COMPRESSIONS },
  options: [
    { flags: '--mode <mode>', summary: `${MODES.join(', ')}; ${MODES[0]} if absent` },
    {
      flags: '--types <name:type,...>',
      summary: 'types of columns, in the words of describe; others are found out from the rows',
    },
    {
      flags: '--schema <file>',
      summary: 'types of all columns: the JSON that describe --json prints',
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
    'dirspace import users.arrow prod/search/user',
    'dirspace import more.ndjson user --mode append',
    "dirspace import 'logs/*.ndjson' prod/logs",
    'dirspace import user.lance prod/search/user --at 3',
    'dirspace import new.ndjson user2 --types "id:int64,tags:list<utf8>"',
  ],
  reads: false,
  makesCatalog: true,
  async run(call: Call): Promise<Answer> {
    refuseOtherOrder(call);
    const { namespace, name } = parseObject(argument(call, 1));
    const mode = call.options.choice('mode', MODES);
    const typed = await typing(call, mode);
    const form = formOptions(call, mode);
    const given = argument(call, 0);
    const names = await filesNamed(given, call.signal);
    const isPattern = names.length > 1 || names[0] !== given;
    const hasSchema = call.options.text('schema') !== undefined;
    const files = openFiles(names, call.signal, hasSchema, versionOf(call.options));
    const id = [...namespace, name];
    call.progress(files.progress);
    const write = (): Promise<Table> =>
      inFile(files, async () => {
        const data = await files.data();
        return mode === 'append'
          ? append(call, name, namespace, data)
          : create(call, name, namespace, await typed(data), { mode, ...form });
      });
    const table = call.options.flag('parents') ? await withParents(call, id, write) : await write();
    const [version, rows] = [await table.version(), await table.countRows()];
    return {
      json: { id, version, rows, ...(isPattern && { files: names }) },
      note: `Imported ${names.length === 1 ? '' : `${counted(names.length, 'file')} `}into ${call.show(id)}: version ${version}, ${counted(rows, 'row')}.`,
    };
  },
};

/** As other programs have it: the table, and then the file. */
function refuseOtherOrder(call: Call): void {
  const [file, id] = [argument(call, 0), argument(call, 1)];
  if (existsSync(file) || !isKnownKind(id) || !existsSync(id)) return;
  throw new UsageError(
    `There is no file ${JSON.stringify(file)}. The file comes first: dirspace import ${id} ${file}.`,
  );
}

/** How the table is to be stored. */
function formOptions(
  { options }: Call,
  mode: (typeof MODES)[number],
): Pick<CreateTableOptions, 'lance' | 'compression'> {
  if (mode === 'append')
    options.refuse(['lance', 'compression'], 'the table is written as it was created.');
  return {
    ...(options.text('lance') === undefined ? {} : { lance: options.choice('lance', LANCE_MODES) }),
    ...(options.text('compression') === undefined
      ? {}
      : { compression: options.choice('compression', COMPRESSIONS) }),
  };
}

/** What gives the data the types that are asked for. */
async function typing(
  { options, signal }: Call,
  mode: (typeof MODES)[number],
): Promise<(data: DataInput) => DataInput | Promise<DataInput>> {
  if (mode === 'append') options.refuse(['types', 'schema'], 'the table has its types.');
  const types = options.text('types');
  const file = options.text('schema');
  if (types !== undefined && file !== undefined) {
    throw new UsageError('--types and --schema are both given; a schema has all types.');
  }
  if (types === undefined && file === undefined) return (data) => data;
  // Other commands start faster without what reads Arrow.
  const [{ parseTypes, readSchema }, { toRecordBatchStream }] = await Promise.all([
    import('./column-types.ts'),
    import('../../sdk/index.ts'),
  ]);
  if (types !== undefined) {
    const columnTypes = parseTypes(types);
    return (data) => toRecordBatchStream(data, { columnTypes, signal });
  }
  const schema = readSchema(file ?? '');
  return (data) => toRecordBatchStream(data, { schema, signal });
}

/** Says which file it was, and where in it, whose bytes or rows are wrong. */
async function inFile<Result>(files: OpenFiles, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isDirspaceError(error, 'InvalidInput', 'TableSchemaValidation')) throw error;
    const { row, file: ofFile } = error.details;
    // The file is not as it has to be: the message says where.
    if (ofFile !== undefined) throw new UsageError(error.message, { cause: error });
    const place = typeof row === 'number' ? files.placeOf(row) : undefined;
    const message =
      place === undefined
        ? error.message
        : `${error.message.replace(/^Row \d+/, textOf(place))} Rows and lines are counted from 1.`;
    const file = place?.file ?? files.current();
    throw new DirspaceError(error.code, `${file}: ${inOwnWords(message)} Nothing was imported.`, {
      cause: error,
      details: { ...error.details, ...place },
    });
  }
}

/** Messages of the SDK name what a program passes. */
const inOwnWords = (message: string): string =>
  message
    .replace(/\bPass a schema\b/, 'Give --types or --schema')
    .replace(/\bpass a schema\b/, 'give --types or --schema')
    .replace('A schema takes columns', '--schema takes columns')
    .replace('cannot be inferred: the rows hold only', 'is not known: its rows hold only')
    .replace('null, undefined or empty arrays there', 'null or empty lists');

const textOf = ({ row, line }: RowPlace): string =>
  line === undefined ? `Row ${row}` : `Row ${row} on line ${line}`;

async function append(
  { connection, signal }: Call,
  name: string,
  namespace: string[],
  data: DataInput,
): Promise<Table> {
  const table = await connection.openTable(name, namespace, { signal });
  await table.add(data, { signal });
  return table;
}

async function create(
  call: Call,
  name: string,
  namespace: string[],
  data: DataInput,
  options: Pick<CreateTableOptions, 'mode' | 'lance' | 'compression'>,
): Promise<Table> {
  try {
    const { connection, signal } = call;
    return await connection.createTable(name, data, namespace, { ...options, signal });
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
