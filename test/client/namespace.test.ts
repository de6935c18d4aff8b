/**
 * The namespace suite over the REST client and server: without a socket, and with one.
 *
 * What cannot travel in the path of a URL (ids that are "." or ".." alone, and those of
 * transactions that are no components) is asked of the catalog itself; headers of answers, which
 * the client returns as context, are left out. Watching does not travel at all.
 */
import type { DirectoryOptions } from '../../src/directory/directory-namespace.ts';
import type { CatalogExtensions } from '../../src/protocol/extensions.ts';
import type { Namespace } from '../../src/protocol/namespace.ts';
import { directorySubject } from '../helpers/catalogs.ts';
import { LONG } from '../helpers/long.ts';
import { restPair, type Wire } from '../helpers/rest-pair.ts';
import type { Subject } from '../suites/namespace/context.ts';
import { namespaceSuite } from '../suites/namespace-suite.ts';

type Catalog = Namespace & CatalogExtensions;
type Methods = Record<string, ((...inputs: unknown[]) => Promise<unknown>) | undefined>;

const LEGAL = /^[\w.-]+$/;

function travels(method: string, request: unknown): boolean {
  const { id } = (request ?? {}) as { readonly id?: readonly string[] };
  if (id === undefined) return true;
  if (method.endsWith('Transaction')) return id.length > 0 && id.every((part) => LEGAL.test(part));
  return !(id.length === 1 && (id[0] === '.' || id[0] === '..'));
}

function withoutHeaders(answer: unknown): unknown {
  if (typeof answer !== 'object' || answer === null || !('context' in answer)) return answer;
  const { context, ...rest } = answer;
  const kept = Object.entries(context as object).filter(([name]) => !name.startsWith('header.'));
  return kept.length === 0 ? rest : { ...rest, context: Object.fromEntries(kept) };
}

function viewOf(remote: Namespace, inner: Catalog): Catalog {
  return new Proxy(remote as Catalog, {
    get: (target, name) => {
      const near = inner as unknown as Methods;
      const far = target as unknown as Methods;
      if (typeof name !== 'string') return Reflect.get(target, name, target);
      if (far[name] === undefined) return near[name]?.bind(inner);
      return async (...inputs: unknown[]) =>
        travels(name, inputs[0])
          ? withoutHeaders(await far[name]?.call(target, ...inputs))
          : near[name]?.call(inner, ...inputs);
    },
  });
}

/** A remote view of a fresh catalog in memory, with the catalog's files still in reach. */
async function remoteSubject(
  wire: Wire,
  options: Partial<DirectoryOptions> & { readonly delimiter?: string } = {},
): Promise<Subject> {
  const { delimiter, ...directory } = options;
  const inner = await directorySubject('memory', directory);
  const closers: (() => Promise<void>)[] = [];
  const remote = async (namespace: Catalog): Promise<Catalog> => {
    const pair = await restPair(
      { namespace },
      { wire, ...(delimiter === undefined ? {} : { delimiter }) },
    );
    closers.push(pair.close);
    return viewOf(pair.client, namespace);
  };
  const { reopen } = inner;
  return {
    ...inner,
    namespace: await remote(inner.namespace),
    ...(reopen === undefined
      ? {}
      : { reopen: async (more) => remote(await reopen.call(inner, more)) }),
    close: async () => {
      for (const close of closers) await close();
      await inner.close();
    },
  };
}

namespaceSuite('REST over a socket, with another delimiter', {
  make: () => remoteSubject('socket', { delimiter: '/' }),
});
// The usual delimiter, without a socket, is what the other tests of the server have.
if (LONG) {
  namespaceSuite('REST over a socket', { make: () => remoteSubject('socket') });
  namespaceSuite('REST without a socket', { make: () => remoteSubject('inject') });
}
