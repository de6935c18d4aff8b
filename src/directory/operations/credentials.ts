/**
 * `vendedOptions` returns the storage options that a client gets to open a table. If the table is
 * inside the root, the catalog's credential vendor makes them, but only for requests that ask. If
 * it is elsewhere, they come from the configuration of its location, unless the request declines
 * them. A vendor that answers anything but texts throws Internal.
 */

import { ruleOf } from '../../allowed-locations.ts';
import { DirspaceError } from '../../errors.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import { type Catalog, liesOutside } from '../catalog/index.ts';

/** `storage_options` where the caller wants them and the vendor has some. */
export async function vendedOptions(
  catalog: Catalog,
  id: ObjectPath,
  location: string,
  wanted: boolean | undefined,
): Promise<{ storage_options?: Record<string, string> }> {
  const options = await optionsFor(catalog, id, location, wanted);
  if (options === undefined || options === null) return {};
  const strange = Object.entries(options).find(([, value]) => typeof value !== 'string')?.[0];
  if (typeof options === 'object' && strange === undefined) {
    return { storage_options: { ...options } };
  }
  const found =
    strange === undefined
      ? `a value of type ${typeof options}`
      : `${JSON.stringify(strange)} of type ${typeof options[strange]}`;
  throw new DirspaceError(
    'Internal',
    `The credential vendor answered ${found}; it answers an object of strings, also for expires_at_millis.`,
  );
}

/** Outside of the root clients cannot open a table without options, so they are told unless not wanted. */
async function optionsFor(
  catalog: Catalog,
  id: ObjectPath,
  location: string,
  wanted: boolean | undefined,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (!liesOutside(catalog, location))
    return wanted === true ? catalog.vendor?.({ id, location }) : undefined;
  if (wanted === false) return undefined;
  const rule = ruleOf(catalog.locations, location);
  return rule?.vendor === undefined ? rule?.storageOptions : rule.vendor({ id, location });
}
