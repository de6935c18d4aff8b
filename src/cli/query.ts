/** `dirspace query`: the rows of a table that fit an SQL predicate. */
import type { ColumnOrdering } from '../sdk/query.ts';
import type { Table } from '../sdk/table.ts';
import { argument, type Call, type Command, type RowsAnswer, UsageError } from './command.ts';
import { parseObject } from './ids.ts';
import { counted } from './output.ts';
import { readRows } from './read-rows.ts';
import { versionOf } from './selection.ts';

/** Rows that are shown on a terminal; everywhere else all of them are. */
const ROWS = 100;

export const query: Command = {
  name: 'query',
  summary: 'Show the rows of a table that fit an SQL predicate',
  otherNames: ['select', 'sql', 'scan', 'find', 'export'],
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 3 AND name LIKE \'a%\'"; all rows if absent'],
  ],
  options: [
    { flags: '-s, --select <column>', summary: 'a column; may be given again', repeated: true },
    {
      flags: '--sort <column[:desc]>',
      summary: 'a column to order by, from small to large unless :desc; may be given again',
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
    'dirspace query prod/search/user "age > 30" -s name -s age',
    'dirspace query prod/search/user --sort age:desc -n 3',
    'dirspace query prod/search/user --json > users.json',
  ],
  takesSql: true,
  reads: true,
  async run(call: Call): Promise<RowsAnswer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { options, signal, terminals } = call;
    const isCut = options.text('rows') === undefined && terminals.output;
    const limit = isCut ? ROWS : options.count('rows', Number.MAX_SAFE_INTEGER);
    const table = await call.connection.openTable(name, namespace, {
      ...versionOf(options),
      signal,
    });
    // What is counted below must be the version that is shown.
    if (isCut) await table.checkout(await table.version({ signal }), { signal });
    const selected = options.texts('select');
    if (selected.includes('*')) {
      throw new UsageError('-s takes names of columns; without -s all of them are shown.');
    }
    const columns =
      selected.length > 0
        ? selected
        : (await table.schema({ signal })).fields.map((field) => field.name);
    const predicate = call.arguments[1];
    const asked = table.query().limit(limit);
    if (selected.length > 0) asked.select(selected);
    if (predicate !== undefined) asked.where(predicate);
    const ordering = options.texts('sort').map(orderOf);
    if (ordering.length > 0) asked.orderBy(ordering);
    const rows = readRows(asked, call);
    if (!isCut) return { columns, rows };
    return { columns, rows, note: () => noteOfMore(table, predicate, signal) };
  },
};

/** A column whose own name ends in `:asc` or `:desc` is given with one more of these. */
function orderOf(text: string): ColumnOrdering {
  const [, columnName = text, direction] = /^(.+):(asc|desc)$/s.exec(text) ?? [];
  return { columnName, ascending: direction !== 'desc' };
}

async function noteOfMore(
  table: Table,
  predicate: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const more = (await table.countRows(predicate, { signal })) - ROWS;
  if (more <= 0) return undefined;
  return `${counted(more, 'more row')} ${more === 1 ? 'is' : 'are'} there; give -n to see more than ${ROWS}.`;
}
