/**
 * `dirspace branch` lists, creates and deletes the branches of a table. A branch is created from
 * the newest version, or from the one that `--at` and `--branch` name. Deleting a branch deletes
 * its versions.
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

const ACTIONS = ['ls', 'create', 'delete'] as const;

export const branch: Command = {
  name: 'branch',
  summary: 'List, create or delete the branches of a table',
  arguments: [
    ['<action>', ACTIONS.join(', ')],
    ['<id>', 'the table'],
    ['[name]', 'the branch; not for ls'],
  ],
  choices: { action: ACTIONS },
  options: [
    {
      flags: '--at <version|tag>',
      summary: 'create: the version it starts at, or the one a tag names; the newest if absent',
    },
    { flags: '--branch <name>', summary: 'create: the branch it starts from; main if absent' },
  ],
  examples: [
    'dirspace branch create prod/search/user draft',
    'dirspace branch create prod/search/user old --at 1',
    'dirspace branch delete prod/search/user draft',
  ],
  refusedIsUsage: true,
  reads: ([word]) => word === 'ls',
  async run(call: Call): Promise<Answer> {
    const asked = action(call, 'branch', ACTIONS);
    if (asked !== 'create') call.options.refuse(['at', 'branch'], 'it is for create.');
    const name = nameFor(call, asked, 'branch', 'draft');
    const table = await openSelected(call, parseObject(argument(call, 1)));
    if (asked === 'ls') return list(call, table);
    return asked === 'create' ? create(call, table, name) : remove(call, table, name);
  },
};

async function list({ signal }: Call, table: Table): Promise<Answer> {
  const branches = await (await table.branches()).list({ signal });
  const rows = Object.entries(branches).map(([name, found]) => [
    name,
    found.parentBranch ?? 'main',
    found.parentVersion,
  ]);
  return {
    json: branches,
    text: rows.length === 0 ? '' : columns(['BRANCH', 'FROM', 'VERSION'], rows),
    ...(rows.length === 0 ? { note: 'The table has no branches but main.' } : {}),
  };
}

async function create({ signal }: Call, table: Table, name: string): Promise<Answer> {
  const [from, version] = [table.currentBranch() ?? 'main', await table.version({ signal })];
  await (await table.branches()).create(name, from, version, { signal });
  return {
    json: { branch: name, from, version },
    note: `The branch ${name} starts at version ${version} of ${from}.`,
  };
}

async function remove(call: Call, table: Table, name: string): Promise<Answer> {
  await (await table.branches()).delete(name, { signal: call.signal });
  const id = argument(call, 1);
  return { json: { branch: name }, note: `Deleted the branch ${name} of ${id} with its versions.` };
}
