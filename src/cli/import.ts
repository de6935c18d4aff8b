/** `dirspace import`: rows from a file into a table. */
import { isDirspaceError } from '../errors.ts';
import type { DataInput } from '../sdk/data.ts';
import type { Table } from '../sdk/table.ts';
import { type Answer, argument, type Call, type Command } from './command.ts';
import { parseObject, showPath } from './ids.ts';
import { counted } from './output.ts';
import { withParents } from './parents.ts';
import { type OpenFile, openFile } from './read-file.ts';

const MODES = ['create', 'append', 'overwrite'] as const;

export const importFile: Command = {
  name: 'import',
  summary: 'Import a file of rows into a table',
  arguments: [
    ['<file>', 'Arrow IPC (.arrow, .arrows, .feather, .ipc), .json (an array) or .ndjson (.jsonl)'],
    ['<id>', 'the table'],
  ],
  options: [
    { flags: '--mode <mode>', summary: `${MODES.join(', ')}; ${MODES[0]} if absent` },
    { flags: '-p, --parents', summary: 'create the namespaces that the table is in' },
  ],
  examples: [
    'dirspace import users.arrow prod/search/user',
    'dirspace import more.ndjson user --mode append',
  ],
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 1));
    const mode = call.options.choice('mode', MODES);
    const file = openFile(argument(call, 0), call.signal);
    const id = [...namespace, name];
    call.progress(() => progressOf(file));
    const write = (): Promise<Table> =>
      inFile(argument(call, 0), () =>
        mode === 'append'
          ? append(call, name, namespace, file.data)
          : create(call, name, namespace, file.data, mode),
      );
    const table = call.options.flag('parents') ? await withParents(call, id, write) : await write();
    const [version, rows] = [await table.version(), await table.countRows()];
    return {
      json: { id, version, rows },
      note: `Imported into ${showPath(id)}: version ${version}, ${counted(rows, 'row')}.`,
    };
  },
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

const progressOf = ({ read, size }: OpenFile): string =>
  size === undefined ? megabytes(read()) : `${megabytes(read())} of ${megabytes(size)}`;

/** Says which file it was whose bytes or rows are wrong. */
async function inFile<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isDirspaceError(error, 'InvalidInput') || isDirspaceError(error, 'TableSchemaValidation')) {
      error.message = `${file}: ${error.message} Nothing was imported.`;
    }
    throw error;
  }
}

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
  { connection, signal }: Call,
  name: string,
  namespace: string[],
  data: DataInput,
  mode: 'create' | 'overwrite',
): Promise<Table> {
  try {
    return await connection.createTable(name, data, namespace, { mode, signal });
  } catch (error) {
    if (isDirspaceError(error, 'NamespaceNotFound') && namespace.length > 0) {
      error.message += ' --parents does it too.';
    }
    if (isDirspaceError(error, 'TableAlreadyExists')) {
      const id = showPath([...namespace, name]);
      error.message = `There is a table ${id} already. Give --mode append to add the rows, or --mode overwrite to replace those it has.`;
    }
    throw error;
  }
}
