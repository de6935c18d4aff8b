/**
 * `dirspace query` shows the rows of a table that match an SQL predicate, or all rows. `-s` selects
 * columns and `--sort` orders; `--at` and `--branch` name a version. On a terminal it shows 100
 * rows by default, and a note says how many more there are; elsewhere it shows all.
 */
import type { Table } from '../../sdk/index.ts';
import {
  type Call,
  type Command,
  counted,
  openSelected,
  type RowsAnswer,
} from '../terminal/index.ts';
import { askedRows, tableOf } from './asked-rows.ts';
import { readRows } from './read-rows.ts';

/** Rows that are shown on a terminal; everywhere else all of them are. */
const ROWS = 100;

export const query: Command = {
  name: 'query',
  summary: 'Show the rows of a table that fit an SQL predicate',
  otherNames: ['scan', 'find'],
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 3 AND name LIKE \'a%\'"; all rows if absent'],
  ],
  options: [
    {
      flags: '-s, --select <column,...>',
      summary: 'the columns to show; may be given again',
      repeated: true,
    },
    {
      flags: '--sort <column[:desc],...>',
      summary: 'columns to order by, from small to large unless :desc; may be given again',
      repeated: true,
    },
    {
      flags: '-n, --rows <count>',
      summary: `how many rows at most; if absent ${ROWS} on a terminal, else all`,
    },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
  ],
  examples: [
    'dirspace query prod/search/user "age > 30" -s name,age',
    'dirspace query prod/search/user --sort age:desc -n 3',
    'dirspace query prod/search/user --json > users.json',
  ],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<RowsAnswer> {
    const id = tableOf(call, 'query');
    const { options, signal, terminals } = call;
    const isCut = options.text('rows') === undefined && terminals.output;
    const limit = isCut ? ROWS : options.count('rows', Number.MAX_SAFE_INTEGER);
    const table = await openSelected(call, id);
    // What is counted below must be the version that is shown.
    if (isCut) await table.checkout(await table.version({ signal }), { signal });
    const { asked, columns } = await askedRows(call, table, limit);
    const predicate = call.arguments[1];
    const rows = readRows(asked, call);
    if (!isCut) return { columns, rows };
    return { columns, rows, note: () => noteOfMore(table, predicate, signal) };
  },
};

async function noteOfMore(
  table: Table,
  predicate: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const more = (await table.countRows(predicate, { signal })) - ROWS;
  if (more <= 0) return undefined;
  return `${counted(more, 'more row')} ${more === 1 ? 'is' : 'are'} there; give -n to see more than ${ROWS}.`;
}
