/**
 * `dirspace clone` creates a table from a version of another table, the newest unless `--at` or
 * `--branch` names one. The new table shares the files of the old one; with `--copy` they are
 * copied. The answer tells the number of rows.
 */
import { defined } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  parseObject,
  versionOf,
} from '../terminal/index.ts';

export const clone: Command = {
  name: 'clone',
  summary: 'Make a table of a version of another one',
  otherNames: ['cp', 'fork'],
  arguments: [
    ['<id>', 'the table that is there'],
    ['<new>', 'the whole id of the new one, with its namespace'],
  ],
  options: [
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
    { flags: '--copy', summary: 'copy all files in place of sharing them' },
  ],
  examples: ['dirspace clone prod/user dev/user', 'dirspace clone user trial --at v1'],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const from = parseObject(argument(call, 0));
    const to = parseObject(argument(call, 1));
    const { options, signal } = call;
    const { version, tag, branch } = versionOf(options);
    const table = await call.connection.cloneTable(
      to.name,
      from.name,
      defined({
        targetNamespacePath: to.namespace,
        sourceNamespacePath: from.namespace,
        sourceVersion: version,
        sourceTag: tag,
        sourceBranch: branch,
        isShallow: options.flag('copy') ? false : undefined,
        signal,
      }),
    );
    const [id, new_id] = [from, to].map(({ namespace, name }) => [...namespace, name]);
    const rows = await table.countRows(undefined, { signal });
    return {
      json: { id, new_id, rows },
      note: `Made ${call.show(new_id ?? [])} of ${call.show(id ?? [])}, with ${counted(rows, 'row')}.`,
    };
  },
};
