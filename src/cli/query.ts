/** `dirspace query`: the rows of a table that fit an SQL predicate. */
import { type Answer, argument, type Call, type Command } from './command.ts';
import { parseObject } from './ids.ts';
import { cell, columns, cut } from './output.ts';
import { versionOf } from './selection.ts';

const ROWS = 100;
/** Characters of a value that are shown. */
const MAX_CELL = 60;

export const query: Command = {
  name: 'query',
  summary: 'Show the rows of a table that fit an SQL predicate',
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 3 AND name LIKE \'a%\'"; all rows if absent'],
  ],
  options: [
    { flags: '-s, --select <column>', summary: 'a column; may be given again', repeated: true },
    { flags: '-n, --rows <count>', summary: `how many rows at most; ${ROWS} if absent` },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
  ],
  examples: ['dirspace query prod/search/user "age > 30" -s name -s age'],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const limit = call.options.count('rows', ROWS);
    const table = await call.connection.openTable(name, namespace, versionOf(call.options));
    const selected = call.options.texts('select');
    const names =
      selected.length > 0 ? selected : (await table.schema()).fields.map((field) => field.name);
    let asked = table.query().limit(limit);
    if (selected.length > 0) asked = asked.select([...selected]);
    const predicate = call.arguments[1];
    if (predicate !== undefined) asked = asked.where(predicate);
    const rows = await asked.toArray();
    const cells = rows.map((row) => names.map((column) => cut(cell(row[column]), MAX_CELL)));
    return { json: rows, text: names.length === 0 ? '' : columns(names, cells) };
  },
};
