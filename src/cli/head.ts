/** `dirspace head`: the first rows of a table. */
import { type Answer, argument, type Call, type Command } from './command.ts';
import { parseObject } from './ids.ts';
import { cell, columns, cut } from './output.ts';
import { versionOf } from './selection.ts';

const ROWS = 10;
/** Characters of a value that are shown. */
const MAX_CELL = 60;

export const head: Command = {
  name: 'head',
  summary: 'Show the first rows of a table',
  arguments: [['<id>', 'the table']],
  options: [
    { flags: '-n, --rows <count>', summary: `how many rows; ${ROWS} if absent` },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
  ],
  examples: ['dirspace head prod/search/user -n 3', 'dirspace head user --at 1 --json'],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const limit = call.options.count('rows', ROWS);
    const table = await call.connection.openTable(name, namespace, versionOf(call.options));
    const { fields } = await table.schema();
    const rows = await table.query().limit(limit).toArray();
    const names = fields.map((field) => field.name);
    const cells = rows.map((row) => names.map((column) => cut(cell(row[column]), MAX_CELL)));
    return { json: rows, text: names.length === 0 ? '' : columns(names, cells) };
  },
};
