/**
 * `openNamespace` opens a catalog by the name of its implementation; an unknown name, wrong connect
 * options and a factory that answers no catalog throw InvalidInput. The built-in ones, `dir` and
 * `rest`, are loaded on first use. Programs add others with `registerNamespace`, which may replace
 * one that was added; it throws InvalidInput for the name of a built-in one. `implementationNames`
 * lists all names. `Catalog` is the type of an opened catalog.
 */
import { DirspaceError } from '../../errors.ts';
import { suggestion } from '../../known-names.ts';
import type { CatalogExtensions, Namespace } from '../../protocol/index.ts';
import { type ConnectOptions, checkConnectOptions } from './connect-options.ts';
import { checkStrings, type Properties } from './properties.ts';

/** A namespace with what it can do beyond the protocol. */
export type Catalog = Namespace &
  CatalogExtensions & {
    /** Whether this program reads the files of the catalog itself: they are at the locations that it answers. */
    readonly opensFiles?: boolean;
  };

/** Opens a catalog. It checks its properties itself: `checkProperties` says what is wrong. */
export type NamespaceFactory = (
  properties: Properties,
  options: ConnectOptions,
) => Catalog | Promise<Catalog>;

const BUILT_IN = new Map<string, () => Promise<{ open: NamespaceFactory }>>([
  ['dir', () => import('./implementation-dir.ts')],
  ['rest', () => import('./implementation-rest.ts')],
]);

const registered = new Map<string, NamespaceFactory>();

/** Names that can be opened, sorted. */
export function implementationNames(): string[] {
  return [...BUILT_IN.keys(), ...registered.keys()].sort();
}

/**
 * Adds an implementation under a name, or replaces one that was added so. The built-in names
 * cannot be taken.
 */
export function registerNamespace(name: string, factory: NamespaceFactory): void {
  if (typeof name !== 'string' || name === '' || BUILT_IN.has(name)) {
    throw new DirspaceError(
      'InvalidInput',
      `An implementation cannot be registered as ${JSON.stringify(name)}: the name must not be empty or one of the built-in ${[...BUILT_IN.keys()].join(', ')}.`,
    );
  }
  if (typeof factory !== 'function') {
    throw new DirspaceError('InvalidInput', `The factory of ${name} is a ${typeof factory}.`);
  }
  registered.set(name, factory);
}

/**
 * Opens the catalog of the implementation of that name and answers the bare protocol.
 * Throws InvalidInput for an unknown name or for properties the implementation does not take.
 */
export async function openNamespace(
  name: string,
  properties: Properties,
  options: ConnectOptions = {},
): Promise<Catalog> {
  checkConnectOptions(options);
  options.signal?.throwIfAborted();
  const added = registered.get(name);
  const factory = added ?? (await BUILT_IN.get(name)?.())?.open;
  if (factory === undefined) {
    const known = implementationNames();
    throw new DirspaceError(
      'InvalidInput',
      `${name === '' ? 'implName must be a non-empty string' : `There is no implementation ${JSON.stringify(name)}`}; there is ${known.join(', ')}.${suggestion(String(name), known)}`,
      { details: { known } },
    );
  }
  if (added === undefined) return factory(properties, options);
  const catalog = await added(checkStrings(name, properties), options);
  if (typeof catalog === 'object' && catalog !== null) return catalog;
  throw new DirspaceError(
    'InvalidInput',
    `The factory registered as ${JSON.stringify(name)} answered ${catalog === null ? 'null' : `a value of type ${typeof catalog}`}; it answers a catalog.`,
  );
}
