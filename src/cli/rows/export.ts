/**
 * `dirspace export` writes the rows of a table to a file or to standard output, as CSV, JSON,
 * Parquet or Arrow. A predicate and other options can select rows and columns, `--at` and
 * `--branch` a version. With `--lance` it writes one whole version as a Lance dataset in a new
 * folder, and refuses options that choose rows. write-rows.ts has the options of the output.
 */
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
import {
  OUTPUT_CHOICES,
  OUTPUT_OPTIONS,
  type OutputHint,
  outputOf,
  writeRows,
} from './write-rows.ts';

export const exportTable: Command = {
  name: 'export',
  summary: 'Write the rows of a table as CSV, JSON, Parquet, Arrow or Lance',
  otherNames: ['dump', 'backup', 'save', 'unload'],
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 3 AND name LIKE \'a%\'"; all rows if absent'],
  ],
  choices: OUTPUT_CHOICES,
  options: [
    ...OUTPUT_OPTIONS.file,
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
    ...OUTPUT_OPTIONS.csv,
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
  const output = await outputOf(call, hintOf(call));
  const limit = options.count('rows', Number.MAX_SAFE_INTEGER);
  const table = await openSelected(call, id);
  // What is told below must be the version that is written.
  const version = await table.version({ signal });
  if (options.text('at') === undefined) await table.checkout(version, { signal });
  const { asked: query } = await askedRows(call, table, limit);
  const path = [...id.namespace, id.name];
  return writeRows(call, query, output, {
    what: `version ${version} of ${call.show(path)}`,
    json: { id: path, version },
  });
}

/** What to type in place of a call that names no format. */
function hintOf({ arguments: [, condition], options }: Call): OutputHint {
  return {
    others: ', or --lance user.lance',
    taken: options.text('output') === undefined ? condition : undefined,
  };
}
