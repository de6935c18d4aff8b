/**
 * `Calls` makes the checks with which most methods of a connection begin. It throws Closed if the
 * connection was closed, or the reason of an aborted signal, and returns the id of the namespace,
 * table or transaction that the call is about. A name or path of a wrong type throws InvalidInput.
 * For listings the names of the options are checked too.
 */
import { type CallOptions, parseId } from '../protocol/index.ts';
import { type PathAndOptions, pathAndOptions } from './connection-options.ts';
import { checkOptionNames, type Lifetime, pathOf, tableId } from './handles/index.ts';

export class Calls {
  readonly #lifetime: Lifetime;

  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime;
  }

  /** The id of a namespace. */
  path(path: readonly string[], options?: CallOptions): string[] {
    this.#lifetime.enter(options);
    return pathOf(path, 'path');
  }

  /** The id of a table. */
  table(name: string, path?: readonly string[], options?: CallOptions): string[] {
    this.#lifetime.enter(options);
    return tableId(name, path);
  }

  /** The id of a namespace whose content is listed, where the path may be left out, and the options. */
  listing<Options extends CallOptions>(
    given: PathAndOptions<Options>,
    known: readonly string[],
  ): [string[], Options] {
    const [path, options] = pathAndOptions<Options>(given[0], given[1]);
    checkOptionNames(options, known);
    this.#lifetime.enter(options);
    return [path, options];
  }

  /** The id of a transaction, as a text or as its parts. */
  transaction(id: string | readonly string[], options?: CallOptions): string[] {
    this.#lifetime.enter(options);
    return typeof id === 'string' ? parseId(id) : pathOf(id, 'id');
  }
}
