/**
 * `dirspace restore` writes a new version of a table with the contents of an old one, which is
 * given by number or tag; `--branch` names the branch of the version.
 */
import { defined } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  parseObject,
  versionNumber,
} from '../terminal/index.ts';

export const restore: Command = {
  name: 'restore',
  summary: 'Make an old version of a table its newest one',
  otherNames: ['revert', 'rollback', 'checkout'],
  arguments: [
    ['<id>', 'the table'],
    ['<version>', 'its number, or a tag that names it'],
  ],
  options: [
    { flags: '--branch <name>', summary: 'the branch of the version; the main one if absent' },
  ],
  examples: ['dirspace restore prod/search/user 1', 'dirspace restore prod/search/user v1'],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { options, signal } = call;
    const wanted = argument(call, 1);
    const branch = options.text('branch');
    const isNumber = /^\d+$/.test(wanted);
    const version = isNumber ? versionNumber(wanted) : wanted;
    const table = await call.connection.openTable(name, namespace, defined({ branch, signal }));
    await table.restore(version, { signal });
    const newest = await table.version({ signal });
    const id = [...namespace, name];
    return {
      json: { id, restored: version, version: newest },
      note: `Restored ${isNumber ? `version ${wanted}` : `the tag ${wanted}`} of ${call.show(id)} as version ${newest}.`,
    };
  },
};
