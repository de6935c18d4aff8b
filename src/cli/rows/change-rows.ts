/**
 * Defines three commands that change a table or a branch of it. `dirspace delete` and `dirspace
 * update` change the rows that match an SQL predicate. Without a predicate, update changes all
 * rows; delete has to have one. `dirspace add-columns` adds columns of SQL values or of nulls.
 * Options of a wrong form throw UsageError.
 */
import type { DataType } from '../../arrow/index.ts';
import { defined, type Table } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  parseObject,
  UsageError,
} from '../terminal/index.ts';

const ON_BRANCH = {
  flags: '--branch <name>',
  summary: 'a branch; the main one if absent',
} as const;

export const deleteRows: Command = {
  name: 'delete',
  summary: 'Delete the rows of a table that fit an SQL predicate',
  arguments: [
    ['<id>', 'the table'],
    ['<predicate>', 'SQL, such as "age > 40"; "true" deletes every row'],
  ],
  options: [ON_BRANCH],
  examples: ['dirspace delete prod/search/user "age > 40"'],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { table, id } = await open(call);
    const result = await table.delete(argument(call, 1), { signal: call.signal });
    const { numDeletedRows, version } = result;
    const rows = numDeletedRows === undefined ? 'rows' : counted(numDeletedRows, 'row');
    return {
      json: { id, ...result },
      note: `Deleted ${rows} of ${call.show(id)}: version ${version}.`,
    };
  },
};

export const updateRows: Command = {
  name: 'update',
  summary: 'Set columns of the rows of a table that fit an SQL predicate',
  otherNames: ['set'],
  arguments: [
    ['<id>', 'the table'],
    ['[predicate]', 'SQL, such as "age > 40"; every row if absent'],
  ],
  options: [
    {
      flags: '--set <column=sql>',
      summary: 'a column and the SQL of its value; may be given again',
      repeated: true,
    },
    ON_BRANCH,
  ],
  examples: ['dirspace update prod/search/user "name = \'Ada\'" --set "age=age + 1"'],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const given = call.options.texts('set').map(nameAndSql);
    if (given.length === 0) throw new UsageError('Give --set column=sql for each column to set.');
    const values = uniqueNames(given);
    const { table, id } = await open(call);
    const options = defined({ where: call.arguments[1], signal: call.signal });
    const result = await table.update({ valuesSql: values }, options);
    const { rowsUpdated, version } = result;
    return {
      json: { id, ...result },
      note: `Updated ${counted(rowsUpdated, 'row')} of ${call.show(id)}: version ${version}.`,
    };
  },
};

export const addColumns: Command = {
  name: 'add-columns',
  summary: 'Add columns to a table, with values by SQL or of nulls',
  otherNames: ['add-column', 'alter'],
  arguments: [['<id>', 'the table']],
  options: [
    {
      flags: '--set <column=sql>',
      summary: 'a column and the SQL of its values; may be given again',
      repeated: true,
    },
    { flags: '--types <name:type,...>', summary: 'columns of nulls, in the words of describe' },
    ON_BRANCH,
  ],
  examples: [
    'dirspace add-columns prod/search/user --set "double=age * 2"',
    'dirspace add-columns prod/search/user --types "note:utf8,tags:list<utf8>"',
  ],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { options, signal } = call;
    const given = options.texts('set').map(nameAndSql);
    const types = options.text('types');
    if (given.length > 0 === (types !== undefined)) {
      throw new UsageError(
        'Give --set column=sql for columns with values, or --types name:type,... for columns of nulls.',
      );
    }
    const fields = types === undefined ? [] : await fieldsOf(types);
    const values = Object.entries(uniqueNames(given));
    const { table, id } = await open(call);
    const result = await (types === undefined
      ? table.addColumns(
          values.map(([name, valueSql]) => ({ name, valueSql })),
          { signal },
        )
      : table.addColumns(fields, { signal }));
    const names = [...values.map(([name]) => name), ...fields.map(({ name }) => name)];
    return {
      json: { id, columns: names, ...result },
      note: `Added ${names.join(', ')} to ${call.show(id)}: version ${result.version}.`,
    };
  },
};

/** Other commands start faster without what reads Arrow. */
async function fieldsOf(types: string): Promise<{ name: string; type: DataType }[]> {
  const { parseTypes } = await import('./column-types.ts');
  return Array.from(parseTypes(types), ([name, type]) => ({ name, type }));
}

async function open(call: Call): Promise<{ table: Table; id: string[] }> {
  const { namespace, name } = parseObject(argument(call, 0));
  const { connection, options, signal } = call;
  call.progress(() => 'writing');
  const branch = options.text('branch');
  const table = await connection.openTable(name, namespace, defined({ branch, signal }));
  return { table, id: [...namespace, name] };
}

/** `column=sql`; the SQL may hold more of these signs. */
function nameAndSql(text: string): [name: string, sql: string] {
  const at = text.indexOf('=');
  const [name, sql] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (at > 0 && name !== '' && sql !== '') return [name, sql];
  throw new UsageError(`--set is ${JSON.stringify(text)}; it is column=sql.`);
}

function uniqueNames(given: readonly [string, string][]): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, sql] of given) {
    if (values.has(name)) throw new UsageError(`--set sets ${JSON.stringify(name)} twice.`);
    values.set(name, sql);
  }
  return Object.fromEntries(values);
}
