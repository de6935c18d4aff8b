/**
 * `offered` returns an operation beyond the protocol, bound to its catalog, or throws Unsupported
 * if the catalog does not have it.
 */
import { type CatalogExtensions, unsupported } from '../../protocol/index.ts';
import type { Catalog } from './implementations.ts';

/** @throws Unsupported naming the operation */
export function offered<Name extends keyof CatalogExtensions>(
  catalog: Catalog,
  name: Name,
): NonNullable<Catalog[Name]> {
  const operation = catalog[name];
  if (operation === undefined) throw unsupported(name.charAt(0).toUpperCase() + name.slice(1));
  return operation.bind(catalog) as NonNullable<Catalog[Name]>;
}
