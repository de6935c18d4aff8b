/**
 * `dirspace rename` renames a table, or moves it to another namespace. The new id is a whole one,
 * with its namespace.
 */
import { type Answer, argument, type Call, type Command, parseObject } from '../terminal/index.ts';

export const rename: Command = {
  name: 'rename',
  summary: 'Rename a table or move it to another namespace',
  otherNames: ['mv', 'move'],
  arguments: [
    ['<id>', 'the table'],
    ['<new>', 'its whole new id, with its namespace'],
  ],
  examples: [
    'dirspace rename prod/search/user prod/search/users',
    'dirspace rename draft prod/final',
  ],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const from = parseObject(argument(call, 0));
    const to = parseObject(argument(call, 1));
    await call.connection.renameTable(from.name, to.name, {
      namespacePath: from.namespace,
      newNamespacePath: to.namespace,
      signal: call.signal,
    });
    const [id, new_id] = [from, to].map(({ namespace, name }) => [...namespace, name]);
    return {
      json: { id, new_id },
      note: `Renamed ${call.show(id ?? [])} to ${call.show(new_id ?? [])}.`,
    };
  },
};
