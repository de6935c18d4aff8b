/**
 * `dirspace drop` drops a table or an empty namespace. `--cascade` drops a namespace with
 * everything in it; on a terminal it asks first, unless the namespace is empty or `--yes` is given.
 * Tables are dropped without a question. `dirspace trash` brings dropped tables back while they are
 * kept. An id that could name both drops the table.
 */
import { isDirspaceError } from '../../errors.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  counted,
  Declined,
  parseObject,
} from '../terminal/index.ts';
import { everyListing } from './ls.ts';

export const drop: Command = {
  name: 'drop',
  summary: 'Drop a table or an empty namespace',
  otherNames: ['rm', 'remove'],
  arguments: [['<id>', 'a table or a namespace']],
  options: [
    { flags: '--cascade', summary: 'drop a namespace with all it holds; asks on a terminal' },
    { flags: '-y, --yes', summary: 'do not ask' },
  ],
  examples: ['dirspace drop prod/search/user', 'dirspace drop prod --cascade'],
  refusedIsUsage: true,
  reads: false,
  async run(call: Call): Promise<Answer> {
    const { namespace, name } = parseObject(argument(call, 0));
    const { connection, options, signal, show } = call;
    const id = [...namespace, name];
    try {
      await connection.dropTable(name, namespace, { signal });
      return { json: { kind: 'table', id }, note: `Dropped the table ${show(id)}.` };
    } catch (error) {
      if (!isDirspaceError(error, 'TableNotFound')) throw error;
      if (!(await connection.namespaceExists(id, { signal }))) throw error;
    }
    const behavior = options.flag('cascade') ? 'cascade' : 'restrict';
    if (behavior === 'cascade' && !options.flag('yes') && !(await isConfirmed(call, id))) {
      throw new Declined('Nothing was dropped: the answer was not yes.');
    }
    try {
      await connection.dropNamespace(id, { behavior, signal });
    } catch (error) {
      if (isDirspaceError(error, 'NamespaceNotEmpty')) {
        error.message = `The namespace ${show(id)} still holds tables or namespaces. Drop them first, or give --cascade to drop all of it.`;
      }
      throw error;
    }
    return { json: { kind: 'namespace', id }, note: `Dropped the namespace ${show(id)}.` };
  },
};

/** An empty namespace is dropped without a question, as it is without --cascade. */
function isConfirmed(call: Call, id: string[]): Promise<boolean> {
  return call.confirm(async () => {
    const listings = await everyListing(call, id);
    const tables = listings.reduce((sum, listing) => sum + listing.tables.length, 0);
    const namespaces = listings.length - 1;
    if (tables + namespaces === 0) return undefined;
    const inside = [counted(tables, 'table'), counted(namespaces, 'namespace')].join(' and ');
    return `Drop the namespace ${call.show(id)} with ${inside} in it?`;
  });
}
