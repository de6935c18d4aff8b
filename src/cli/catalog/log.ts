/**
 * `dirspace log` lists the versions of a table or of one of its branches, newest first, with time,
 * operation, tags and transaction; all of them unless `--limit` says how many. `--graph` lists the
 * versions of all branches instead (log-graph.ts).
 */
import { defined } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  columns,
  parseObject,
  type RowsAnswer,
} from '../terminal/index.ts';
import { graphAnswer } from './log-graph.ts';

const HEAD = ['VERSION', 'TIME', 'OPERATION', 'TAGS', 'TRANSACTION'];

export const log: Command = {
  name: 'log',
  summary: 'List the versions of a table, newest first',
  otherNames: ['history', 'versions'],
  arguments: [['<id>', 'the table']],
  options: [
    { flags: '-n, --limit <count>', summary: 'at most so many; all of them if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    { flags: '--graph', summary: 'all branches and tags, with lines from version to version' },
  ],
  examples: [
    'dirspace log prod/search/user',
    'dirspace log user --branch draft -n 5',
    'dirspace log user --graph',
  ],
  refusedIsUsage: true,
  reads: true,
  async run(call: Call): Promise<Answer | RowsAnswer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { signal } = call;
    const branch = call.options.text('branch');
    const limit = call.options.count('limit', Number.MAX_SAFE_INTEGER);
    const table = await call.connection.openTable(name, namespace, defined({ branch, signal }));
    if (call.options.flag('graph')) {
      return graphAnswer(call, table, [...namespace, name], limit);
    }
    const listed = await table.listVersions({ descending: true, limit, signal });
    const tags = Object.entries(await (await table.tags()).list({ signal }));
    const tagsOf = (version: number): string[] =>
      tags
        .filter(
          ([, tag]) => tag.version === version && (tag.branch ?? 'main') === (branch ?? 'main'),
        )
        .map(([tag]) => tag);
    const versions = listed.map((version) => ({ ...version, tags: tagsOf(version.version) }));
    const rows = versions.map(({ version, timestamp, tags: names, metadata }) => [
      version,
      Number.isNaN(timestamp.getTime()) ? '' : timestamp.toISOString(),
      metadata.operation,
      names.join(', '),
      metadata.transaction_id,
    ]);
    return { json: versions, text: columns(HEAD, rows) };
  },
};
