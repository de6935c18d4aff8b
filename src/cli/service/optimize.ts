/**
 * `dirspace optimize` joins the small fragments of a table into larger ones. Unless
 * `--keep-versions` is given, it also removes old versions, by default those older than 7 days.
 * `--compression` sets how the table is compressed, and rewrites the fragments that are stored
 * otherwise. `--plain` rewrites the fragments that other programs cannot read file by file.
 * `--dry-run` changes nothing.
 */
import { COMPRESSIONS } from '../../compression.ts';
import { systemEnv } from '../../env.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  facts,
  parseObject,
  UsageError,
} from '../terminal/index.ts';

const DAYS = 7;

export const optimize: Command = {
  name: 'optimize',
  summary: 'Join small fragments of a table and remove old versions',
  otherNames: ['compact', 'cleanup', 'vacuum'],
  arguments: [['<id>', 'the table']],
  choices: { compression: COMPRESSIONS },
  options: [
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    {
      flags: '--older-than <days>',
      summary: `remove versions older than that, ${DAYS} if absent; files stay 7 days`,
    },
    {
      flags: '--keep-versions',
      summary: 'join fragments and remove nothing; removing needs the right admin on a server',
    },
    { flags: '--target-rows <count>', summary: 'rows of a fragment, at most' },
    {
      flags: '--compression <mode>',
      summary: `how the table is compressed from now on: ${COMPRESSIONS.join(', ')}; its fragments are written anew`,
    },
    {
      flags: '--plain',
      summary: 'write anew what other programs cannot read file by file: see files --plain',
    },
    { flags: '--dry-run', summary: 'say what would be done and do nothing' },
  ],
  examples: ['dirspace optimize prod/search/user', 'dirspace optimize user --dry-run --json'],
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { options, signal } = call;
    const branch = options.text('branch');
    const rows = options.count('targetRows', 0);
    if (options.text('targetRows') !== undefined && rows === 0) {
      throw new UsageError('--target-rows is 0; give a whole number from 1 on.');
    }
    const keeps = options.flag('keepVersions');
    if (keeps && options.text('olderThan') !== undefined) {
      throw new UsageError('--keep-versions removes none, and --older-than says which; give one.');
    }
    const age = options.days('olderThan', DAYS);
    const table = await call.connection.openTable(name, namespace, {
      signal,
      ...(branch === undefined ? {} : { branch }),
    });
    let state = 'reading';
    call.progress(() => state);
    const optimized = table.optimize({
      signal,
      onProgress: ({ rowsDone, rowsTotal }) => {
        state = `${rowsDone.toLocaleString('en')} of ${counted(rowsTotal, 'row')} rewritten`;
      },
      cleanupOlderThan: keeps ? false : new Date(systemEnv.now() - age),
      dryRun: options.flag('dryRun'),
      ...(options.text('compression') === undefined
        ? {}
        : { compression: options.choice('compression', COMPRESSIONS) }),
      compaction: {
        plain: options.flag('plain'),
        ...(rows === 0 ? {} : { targetRows: rows }),
      },
    });
    const stats = await optimized.catch((error) => {
      throw keeps ? error : withoutRight(error);
    });
    const { compaction, prune } = stats;
    const joined = `${compaction.fragmentsRemoved} became ${compaction.fragmentsAdded}`;
    const nothing = stats.dryRun ? { note: 'Nothing was changed.' } : {};
    if (keeps) return { json: stats, text: facts([['fragments', joined]]), ...nothing };
    const text = facts([
      ['fragments', joined],
      ['versions removed', prune.oldVersionsRemoved],
      ['files removed', prune.filesRemoved],
      ['bytes removed', prune.bytesRemoved],
      ['files kept for writers', prune.filesKept ?? 0],
    ]);
    return { json: stats, text, ...nothing };
  },
};

/** Adds a hint: a server refuses all of it to callers who may write but not remove history. */
function withoutRight(error: unknown): unknown {
  if (!isDirspaceError(error, 'PermissionDenied')) return error;
  const hint = 'Nothing was changed. Give --keep-versions to join fragments and remove nothing.';
  const { code, message, details } = error;
  return new DirspaceError(code, `${message} ${hint}`, { details, cause: error });
}
