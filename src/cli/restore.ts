/** `dirspace restore`: makes an old version of a table its newest. */
import { defined } from '../sdk/defined.ts';
import { type Answer, argument, type Call, type Command, UsageError } from './command.ts';
import { parseObject } from './ids.ts';

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
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { options, signal } = call;
    const wanted = argument(call, 1);
    const branch = options.text('branch');
    const isNumber = /^\d+$/.test(wanted);
    if (isNumber && !Number.isSafeInteger(Number(wanted))) {
      throw new UsageError(`${wanted} is no version; it is too large.`);
    }
    const table = await call.connection.openTable(name, namespace, defined({ branch, signal }));
    await table.restore(isNumber ? Number(wanted) : wanted, { signal });
    const version = await table.version({ signal });
    const id = [...namespace, name];
    return {
      json: { id, restored: isNumber ? Number(wanted) : wanted, version },
      note: `Restored ${isNumber ? `version ${wanted}` : `the tag ${wanted}`} of ${call.show(id)} as version ${version}.`,
    };
  },
};
