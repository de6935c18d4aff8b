/**
 * `dirspace create-namespace` creates a namespace, optionally with properties, and makes a catalog
 * where none is. `--parents` works as in `mkdir -p`: it also creates missing namespaces above, and
 * accepts a namespace that exists already. If the command fails, it removes the namespaces above
 * that it created, unless they have other content by then.
 */
import { isDirspaceError } from '../../errors.ts';
import type { CreateNamespaceResult } from '../../sdk/index.ts';
import {
  type Answer,
  argument,
  type Call,
  type Command,
  parsePath,
  UsageError,
  withParents,
} from '../terminal/index.ts';

export const createNamespace: Command = {
  name: 'create-namespace',
  summary: 'Create a namespace',
  otherNames: ['mkdir', 'create', 'mkns', 'namespace', 'ns'],
  arguments: [['<path>', 'the new namespace; the one it is in must be there']],
  options: [
    { flags: '--property <key=value>', summary: 'a property; may be repeated', repeated: true },
    { flags: '-p, --parents', summary: 'create what it is in too, and take one that is there' },
  ],
  examples: ['dirspace create-namespace -p prod/search --property owner=search-team'],
  refusedIsUsage: true,
  reads: false,
  makesCatalog: true,
  async run(call: Call): Promise<Answer> {
    const path = parsePath(argument(call, 0));
    if (path.length === 0) throw new UsageError('The root is always there.');
    const properties = Object.fromEntries(call.options.texts('property').map(property));
    const parents = call.options.flag('parents');
    const mode = parents ? 'exist_ok' : 'create';
    const create = (): Promise<CreateNamespaceResult> =>
      call.connection.createNamespace(path, { mode, properties, signal: call.signal });
    const created = await (parents ? withParents(call, path, create) : create()).catch((error) => {
      if (isDirspaceError(error, 'NamespaceNotFound')) error.message += ' --parents does it too.';
      if (isDirspaceError(error, 'NamespaceAlreadyExists')) {
        error.message = `The namespace ${call.show(path)} already exists. Give --parents to take it as it is.`;
      }
      throw error;
    });
    return { json: { id: path, ...created }, note: `Created the namespace ${call.show(path)}.` };
  },
};

function property(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--property is ${JSON.stringify(text)}; it is key=value.`);
}
