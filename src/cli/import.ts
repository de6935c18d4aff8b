/** `dirspace import`: rows from a file into a table. */
import { isDirspaceError } from '../errors.ts';
import type { DataInput } from '../sdk/data.ts';
import type { Table } from '../sdk/table.ts';
import { type Answer, argument, type Call, type Command } from './command.ts';
import { createParents } from './create-namespace.ts';
import { parseObject, showPath } from './ids.ts';
import { readRows } from './read-file.ts';

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
    const data = readRows(argument(call, 0));
    const id = [...namespace, name];
    if (call.options.flag('parents')) await createParents(call.connection, [...id]);
    const table = await inFile(argument(call, 0), () =>
      mode === 'append'
        ? append(call, name, namespace, data)
        : create(call, name, namespace, data, mode),
    );
    const [version, rows] = [await table.version(), await table.countRows()];
    return {
      json: { id, version, rows },
      note: `Imported into ${showPath(id)}: version ${version}, ${rows} rows.`,
    };
  },
};

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
  { connection }: Call,
  name: string,
  namespace: string[],
  data: DataInput,
): Promise<Table> {
  const table = await connection.openTable(name, namespace);
  await table.add(data);
  return table;
}

async function create(
  { connection }: Call,
  name: string,
  namespace: string[],
  data: DataInput,
  mode: 'create' | 'overwrite',
): Promise<Table> {
  try {
    return await connection.createTable(name, data, namespace, { mode });
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
