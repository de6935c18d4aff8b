/**
 * `dirspace trash` works on dropped tables and namespaces: it lists them, brings a table back, or
 * removes entries for good, all or those that were dropped longer ago than `--older-than`. Before
 * it removes any, it asks on a terminal, unless `--yes` is given. With `--detached` it lists or
 * removes deregistered tables instead. `dirspace undrop` also brings a table back.
 */
import { systemEnv } from '../../env.ts';
import { isDirspaceError } from '../../errors.ts';
import {
  type Answer,
  action,
  type Call,
  type Command,
  columns,
  Declined,
  parseObject,
  parsePath,
  UsageError,
} from '../terminal/index.ts';

const ACTIONS = ['ls', 'restore', 'empty'] as const;

export const trash: Command = {
  name: 'trash',
  summary: 'List what was dropped, bring a table back, or remove it all for good',
  arguments: [
    ['<action>', 'ls, restore or empty'],
    ['[id]', 'ls: a namespace, the root if absent; restore: the table'],
  ],
  choices: { action: ACTIONS },
  options: [
    { flags: '--entry <trash-id>', summary: 'restore: which of several, as ls shows it' },
    { flags: '--detached', summary: 'ls, empty: tables that were deregistered instead' },
    { flags: '--older-than <days>', summary: 'empty: only what was dropped longer ago' },
    { flags: '--dry-run', summary: 'empty: say how much would go and remove nothing' },
    { flags: '-y, --yes', summary: 'empty: do not ask, as it does on a terminal' },
  ],
  examples: [
    'dirspace trash ls',
    'dirspace trash restore prod/search/user',
    'dirspace trash empty --older-than 30',
  ],
  ofDropped: true,
  reads: ([word]) => word === 'ls',
  async run(call: Call): Promise<Answer> {
    const asked = action(call, 'trash', ACTIONS);
    const [, id] = call.arguments;
    const { options } = call;
    if (asked !== 'restore') options.refuse(['entry'], 'it is for restore.');
    if (asked !== 'empty') options.refuse(['olderThan', 'dryRun', 'yes'], 'it is for empty.');
    if (asked === 'restore') options.refuse(['detached'], 'it is for ls and empty.');
    if (asked === 'ls') return list(call, id ?? '/');
    if (asked === 'restore') return restore(call, id);
    return empty(call, id);
  },
};

export const undrop: Command = {
  name: 'undrop',
  summary: 'Bring back a table that was dropped, as trash restore does',
  otherNames: ['undelete', 'recover'],
  arguments: [['<id>', 'the table']],
  options: [{ flags: '--entry <trash-id>', summary: 'which of several, as trash ls shows it' }],
  examples: ['dirspace undrop prod/search/user'],
  ofDropped: true,
  reads: false,
  run: (call) => restore(call, call.arguments[0]),
};

async function list({ connection, options, signal, show }: Call, id: string): Promise<Answer> {
  const showId = (path: readonly string[]): string => (path.length === 0 ? '?' : show(path));
  const detached = options.flag('detached');
  const entries = await connection.listTrash(parsePath(id), { signal, detached });
  const rows = entries.flatMap(({ trashId, kind, path, droppedAt, location, tables = [] }) => [
    [showId(path), kind, droppedAt?.toISOString() ?? '', location ?? trashId],
    ...tables.map((table) => [showId(table), 'table in it', '', trashId]),
  ]);
  return {
    json: entries,
    text:
      rows.length === 0
        ? ''
        : columns(['ID', 'KIND', 'DROPPED', detached ? 'LOCATION' : 'ENTRY'], rows),
    ...(rows.length === 0
      ? { note: detached ? 'No table is deregistered.' : 'There is nothing in the trash.' }
      : {}),
  };
}

async function restore(
  { connection, options, signal, show }: Call,
  id: string | undefined,
): Promise<Answer> {
  if (id === undefined) throw new UsageError('Name the table to restore, such as prod/user.');
  const { namespace, name } = parseObject(id);
  const trashId = options.text('entry');
  const found = await connection
    .undropTable(name, namespace, { signal, ...(trashId === undefined ? {} : { trashId }) })
    .catch(async (error) => {
      const path = [...namespace, name];
      if (
        isDirspaceError(error, 'TableAlreadyExists') &&
        (await connection.namespaceExists(path, { signal }))
      ) {
        error.message = `${show(path)} is a namespace, which is not dropped; name a table that was.`;
      }
      throw error;
    });
  return { json: found, note: `Brought back the table ${show(found.id)}.` };
}

async function empty(call: Call, id: string | undefined): Promise<Answer> {
  const { connection, options, signal, progress } = call;
  if (id !== undefined) {
    throw new UsageError('The trash is emptied as a whole; leave out the id.');
  }
  const dryRun = options.flag('dryRun');
  const until =
    options.text('olderThan') === undefined
      ? {}
      : { olderThan: new Date(systemEnv.now() - options.days('olderThan', 0)) };
  const what = { ...until, detached: options.flag('detached') };
  if (!dryRun && !options.flag('yes') && !(await isConfirmed(call, what))) {
    throw new Declined('Nothing was removed: the answer was not yes.');
  }
  progress(() => 'removing');
  const result = await connection.purgeTrash({ dryRun, signal, ...what });
  const { removed } = result;
  const count = removed === 1 ? 'one entry' : `${removed} entries`;
  const note = dryRun
    ? `Nothing was changed; ${count} would be removed.`
    : `Removed ${count} for good.`;
  return { json: result, note };
}

/** A trash in which there is nothing to remove is emptied without a question. */
function isConfirmed(
  { connection, confirm, signal }: Call,
  what: { olderThan?: Date; detached: boolean },
): Promise<boolean> {
  return confirm(async () => {
    const { removed } = await connection.purgeTrash({ dryRun: true, signal, ...what });
    if (removed === 0) return undefined;
    const count = removed === 1 ? 'one entry' : `${removed} entries`;
    const of = what.detached ? 'deregistered tables' : 'the trash';
    return `Remove ${count} of ${of} for good?`;
  });
}
