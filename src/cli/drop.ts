/** `dirspace drop`: takes away a table or a namespace. */
import { isDirspaceError } from '../errors.ts';
import { type Answer, argument, type Call, type Command } from './command.ts';
import { parseObject, showPath } from './ids.ts';

export const drop: Command = {
  name: 'drop',
  summary: 'Drop a table or an empty namespace',
  arguments: [['<id>', 'a table or a namespace']],
  options: [{ flags: '--cascade', summary: 'drop a namespace with all it holds' }],
  examples: ['dirspace drop prod/search/user', 'dirspace drop prod --cascade'],
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { signal } = call;
    const id = [...namespace, name];
    try {
      await call.connection.dropTable(name, namespace, { signal });
      return { json: { kind: 'table', id }, note: `Dropped the table ${showPath(id)}.` };
    } catch (error) {
      if (!isDirspaceError(error, 'TableNotFound')) throw error;
      if (!(await call.connection.namespaceExists(id, { signal }))) throw error;
    }
    const behavior = call.options.flag('cascade') ? 'cascade' : 'restrict';
    try {
      await call.connection.dropNamespace(id, { behavior, signal });
    } catch (error) {
      if (isDirspaceError(error, 'NamespaceNotEmpty')) {
        error.message = `The namespace ${showPath(id)} still holds tables or namespaces. Drop them first, or give --cascade to drop all of it.`;
      }
      throw error;
    }
    return { json: { kind: 'namespace', id }, note: `Dropped the namespace ${showPath(id)}.` };
  },
};
