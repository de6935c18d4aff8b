/**
 * Finds the route of a request by its method and path (`Router`); `find` returns undefined if there
 * is none. Patterns have fixed parts and `{parameters}`; a fixed part wins over a parameter. The
 * route of GET also answers HEAD. A path that is not percent-encoded UTF-8 throws InvalidInput. For
 * the answer to other methods, `methods` lists those that a path takes, and `methodsAt` those of
 * all routes if the path has none. `splitAddress` splits an address into path and query values.
 */
import { parse } from 'node:querystring';
import { DirspaceError } from '../../errors.ts';
import type { QueryValues } from '../../protocol/index.ts';

/** What a route is found by. */
export interface RoutePattern {
  readonly method: string;
  /** Parameters stand in braces and fill a whole part between slashes. */
  readonly path: string;
}

export interface RouteMatch<T> {
  readonly route: T;
  /** Percent-decoded; none is empty. */
  readonly parameters: Readonly<Record<string, string>>;
}

interface Leaf<T> {
  readonly route: T;
  readonly names: readonly string[];
}

/** What may follow after the parts of a path so far. */
interface Branch<T> {
  readonly words: Map<string, Branch<T>>;
  parameter: Branch<T> | undefined;
  readonly leaves: Map<string, Leaf<T>>;
}

const branch = <T>(): Branch<T> => ({ words: new Map(), parameter: undefined, leaves: new Map() });

export class Router<T extends RoutePattern> {
  readonly #root: Branch<T> = branch();
  readonly #all = new Set<string>();

  /** Throws where two routes have the same method and path. */
  constructor(routes: readonly T[]) {
    for (const route of routes) this.#add(route);
  }

  #add(route: T): void {
    const names: string[] = [];
    let at = this.#root;
    for (const part of route.path.slice(1).split('/')) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined) {
        const next = at.words.get(part) ?? branch<T>();
        at.words.set(part, next);
        at = next;
      } else {
        names.push(name);
        at.parameter ??= branch<T>();
        at = at.parameter;
      }
    }
    if (at.leaves.has(route.method)) throw new Error(`two routes ${route.method} ${route.path}`);
    at.leaves.set(route.method, { route, names });
    this.#all.add(route.method);
    if (route.method === 'GET') this.#all.add('HEAD');
  }

  /**
   * The route of a path as it was sent. HEAD is answered by the route of GET, whose body is then left
   * out. Throws InvalidInput where that is not percent-encoded UTF-8.
   */
  find(method: string, path: string): RouteMatch<T> | undefined {
    if (!path.startsWith('/')) return undefined;
    const parts = partsOf(path);
    const values: string[] = [];
    const leaf = search(this.#root, method === 'HEAD' ? 'GET' : method, parts, 0, values);
    if (leaf === undefined) return undefined;
    const parameters: Record<string, string> = {};
    for (const [at, name] of leaf.names.entries()) parameters[name] = values[at] as string;
    return { route: leaf.route, parameters };
  }

  /**
   * The methods that the target of a request takes, sorted: a whole address, or what a method that no
   * route has may name in place of one. Those of all routes where it has none.
   */
  methodsAt(target: string): string[] {
    try {
      const found = this.methods(splitAddress(target).path);
      if (found.length > 0) return found;
    } catch {
      // No path that could be decoded.
    }
    return [...this.#all].sort();
  }

  /** The methods that a path takes, sorted; none where it has no route. */
  methods(path: string): string[] {
    const found = new Set<string>();
    if (path.startsWith('/')) collect(this.#root, partsOf(path), 0, found);
    if (found.has('GET')) found.add('HEAD');
    return [...found].sort();
  }
}

function partsOf(path: string): string[] {
  const parts = path.slice(1).split('/');
  return path.includes('%') ? parts.map(decoded) : parts;
}

function search<T>(
  from: Branch<T>,
  method: string,
  parts: readonly string[],
  at: number,
  values: string[],
): Leaf<T> | undefined {
  if (at === parts.length) return from.leaves.get(method);
  const part = parts[at] as string;
  const next = from.words.get(part);
  const found = next && search(next, method, parts, at + 1, values);
  if (found !== undefined || from.parameter === undefined || part === '') return found;
  values.push(part);
  const leaf = search(from.parameter, method, parts, at + 1, values);
  if (leaf === undefined) values.pop();
  return leaf;
}

function collect<T>(
  from: Branch<T>,
  parts: readonly string[],
  at: number,
  found: Set<string>,
): void {
  if (at === parts.length) {
    for (const method of from.leaves.keys()) found.add(method);
    return;
  }
  const part = parts[at] as string;
  for (const next of [from.words.get(part), part === '' ? undefined : from.parameter]) {
    if (next !== undefined) collect(next, parts, at + 1, found);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new DirspaceError(
      'InvalidInput',
      `The part ${JSON.stringify(part.slice(0, 80))} of the path is not percent-encoded UTF-8.`,
      { cause },
    );
  }
}

const NO_QUERY: QueryValues = Object.freeze(Object.create(null));

/** Path and query values of an address; the scheme and host of a whole one are passed over. */
export function splitAddress(url: string): { readonly path: string; readonly query: QueryValues } {
  const local = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/');
  const at = local.indexOf('?');
  if (at < 0) return { path: local, query: NO_QUERY };
  const query = parse(local.slice(at + 1), '&', '=', { maxKeys: 0 });
  return { path: local.slice(0, at), query };
}
