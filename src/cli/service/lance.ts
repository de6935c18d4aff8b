/**
 * `dirspace lance sync` updates the files by which Lance opens tables directly by path. It updates
 * one table, the tables below a namespace, or the whole catalog, for which it also writes the list
 * of its tables. Manifests of other programs that hide a newest version are set aside; other files
 * of theirs are left and listed.
 */
import type { SyncLanceResult } from '../../sdk/index.ts';
import {
  type Answer,
  action,
  type Call,
  type Command,
  columns,
  counted,
  parsePath,
} from '../terminal/index.ts';

const ACTIONS = ['sync'] as const;

export const lance: Command = {
  name: 'lance',
  summary: 'Let Lance open a table, or all below a namespace, by path',
  arguments: [
    ['<action>', 'sync'],
    ['[id]', 'a table or a namespace; the whole catalog if absent'],
  ],
  choices: { action: ACTIONS },
  options: [],
  examples: [
    'dirspace lance sync',
    'dirspace lance sync prod/search/user',
    'dirspace lance sync --json',
  ],
  reads: false,
  async run(call: Call): Promise<Answer> {
    action(call, 'lance', ACTIONS);
    call.progress(() => 'reading');
    const { connection, signal } = call;
    const result = await connection.syncLance(parsePath(call.arguments[1] ?? '/'), { signal });
    const rows = result.tables.flatMap((table) => [
      [
        table.location,
        table.opens ? 'yes' : 'no',
        String(table.versions),
        String(table.written),
        String(table.removed),
        table.reason ?? '',
      ],
      ...table.setAside.map((path) => [path, '', '', '', '', 'of another program; set aside']),
      ...table.left.map((path) => [path, '', '', '', '', 'left as it is']),
    ]);
    return {
      json: result,
      text:
        rows.length === 0
          ? ''
          : columns(['LOCATION', 'OPENS', 'VERSIONS', 'WRITTEN', 'REMOVED', 'NOTE'], rows),
      note: noteOf(result),
    };
  },
};

function noteOf({ tables, catalog }: SyncLanceResult): string {
  const opened = tables.filter(({ opens }) => opens).length;
  const of = `${opened} of ${counted(tables.length, 'table')} open in Lance by path.`;
  if (catalog === undefined) return of;
  const { namespaces, tables: listed } = catalog;
  return `${of} ${catalog.location} lists ${counted(namespaces, 'namespace')} and ${counted(listed, 'table')}.`;
}
