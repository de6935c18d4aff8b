/**
 * `dirspace export`: writes one version of a table, the newest by default, as a Lance dataset in a
 * new folder.
 */
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  parseObject,
  UsageError,
  versionOf,
} from '../terminal/index.ts';

export const exportTable: Command = {
  name: 'export',
  summary: 'Write a table as a Lance dataset',
  otherNames: ['dump', 'backup'],
  arguments: [['<id>', 'the table']],
  options: [
    { flags: '--lance <folder>', summary: 'the folder to make, such as user.lance' },
    { flags: '--at <version|tag>', summary: 'a version or a tag; the newest version if absent' },
    { flags: '--branch <name>', summary: 'a branch; the main one if absent' },
  ],
  examples: [
    'dirspace export prod/search/user --lance user.lance',
    'dirspace export prod/search/user --lance old.lance --at 1',
  ],
  reads: true,
  async run(call: Call): Promise<Answer> {
    const id = parseObject(argument(call, 0));
    const { options, signal } = call;
    const folder = options.text('lance');
    if (folder === undefined || folder === '') {
      throw new UsageError('Name the folder to write: dirspace export <id> --lance user.lance.');
    }
    let rows = 0;
    call.progress(() => counted(rows, 'row'));
    const { version, ...copy } = await call.connection.exportLance(folder, id.name, id.namespace, {
      ...versionOf(options),
      signal,
      progress: ({ outputRows }) => {
        rows = outputRows;
      },
    });
    const path = [...id.namespace, id.name];
    return {
      json: { id: path, version, folder, ...copy },
      note: `Exported version ${version} of ${call.show(path)} to ${folder}: ${counted(copy.rows, 'row')} in ${counted(copy.files, 'file')}.`,
    };
  },
};
