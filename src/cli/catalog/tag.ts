/**
 * `dirspace tag` lists, creates, moves and deletes the tags of a table. A tag is created on, or
 * moved to, the newest version, or the one that `--at` and `--branch` name. Deleting a tag keeps
 * the version it names.
 */
import type { Table } from '../../sdk/index.ts';
import {
  type Answer,
  action,
  argument,
  type Call,
  type Command,
  columns,
  nameFor,
  openSelected,
  parseObject,
} from '../terminal/index.ts';

const ACTIONS = ['ls', 'create', 'move', 'delete'] as const;

export const tag: Command = {
  name: 'tag',
  summary: 'List, create, move or delete the tags of a table',
  arguments: [
    ['<action>', ACTIONS.join(', ')],
    ['<id>', 'the table'],
    ['[tag]', 'the tag; not for ls'],
  ],
  choices: { action: ACTIONS },
  options: [
    {
      flags: '--at <version|tag>',
      summary: 'create, move: the version, or the one another tag names; the newest if absent',
    },
    {
      flags: '--branch <name>',
      summary: 'create, move: the branch of the version; main if absent',
    },
  ],
  examples: [
    'dirspace tag create prod/search/user v1',
    'dirspace tag move prod/search/user v1 --at 3',
    'dirspace tag ls prod/search/user --json',
  ],
  refusedIsUsage: true,
  reads: ([word]) => word === 'ls',
  async run(call: Call): Promise<Answer> {
    const asked = action(call, 'tag', ACTIONS);
    if (asked !== 'create' && asked !== 'move') {
      call.options.refuse(['at', 'branch'], 'it is for create and move.');
    }
    const name = nameFor(call, asked, 'tag', 'v1');
    const table = await openSelected(call, parseObject(argument(call, 1)));
    if (asked === 'ls') return list(call, table);
    return asked === 'delete' ? remove(call, table, name) : put(call, table, name, asked);
  },
};

async function list({ signal }: Call, table: Table): Promise<Answer> {
  const tags = await (await table.tags()).list({ signal });
  const rows = Object.entries(tags).map(([name, { version, branch }]) => [
    name,
    version,
    branch ?? 'main',
  ]);
  return {
    json: tags,
    text: rows.length === 0 ? '' : columns(['TAG', 'VERSION', 'BRANCH'], rows),
    ...(rows.length === 0 ? { note: 'The table has no tags.' } : {}),
  };
}

async function put(
  { signal }: Call,
  table: Table,
  name: string,
  change: 'create' | 'move',
): Promise<Answer> {
  // Tags are of the branch that the table was opened on.
  const tags = await table.tags();
  const [branch, version] = [table.currentBranch() ?? 'main', await table.version({ signal })];
  if (change === 'create') await tags.create(name, version, { signal });
  else await tags.update(name, version, { signal });
  return {
    json: { tag: name, version, branch },
    note: `The tag ${name} is on version ${version} of ${branch}.`,
  };
}

async function remove(call: Call, table: Table, name: string): Promise<Answer> {
  await (await table.tags()).delete(name, { signal: call.signal });
  const id = argument(call, 1);
  return { json: { tag: name }, note: `Deleted the tag ${name} of ${id}; its version stays.` };
}
