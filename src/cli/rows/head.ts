/**
 * `dirspace head` shows the first rows of a table, 10 unless `--rows` says otherwise, of the newest
 * version or the one that `--at` and `--branch` name.
 */
import {
  argument,
  type Call,
  type Command,
  openSelected,
  parseObject,
  type RowsAnswer,
} from '../terminal/index.ts';
import { readRows } from './read-rows.ts';

const ROWS = 10;

export const head: Command = {
  name: 'head',
  summary: 'Show the first rows of a table',
  otherNames: ['cat', 'peek'],
  arguments: [['<id>', 'the table']],
  options: [
    { flags: '-n, --rows <count>', summary: `how many rows; ${ROWS} if absent` },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
  ],
  examples: ['dirspace head prod/search/user -n 3', 'dirspace head user --at 1 --json'],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<RowsAnswer> {
    const id = parseObject(argument(call, 0));
    const { signal } = call;
    const limit = call.options.count('rows', ROWS);
    const table = await openSelected(call, id);
    const { fields } = await table.schema({ signal });
    const columns = fields.map((field) => field.name);
    return { columns, rows: readRows(table.query().limit(limit), call) };
  },
};
