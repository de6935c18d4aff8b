/** Credentials for a table's storage: a local disk needs none, a vendor may be plugged in. */
import type { ObjectPath } from '../protocol/ident.ts';
import { type Catalog, locationOf } from './catalog.ts';

/** `storage_options` where the caller wants them and the vendor has some. */
export async function vendedOptions(
  catalog: Catalog,
  id: ObjectPath,
  folder: string,
  wanted: boolean | undefined,
): Promise<{ storage_options?: Record<string, string> }> {
  if (wanted !== true || catalog.vendor === undefined) return {};
  const options = await catalog.vendor({ id, location: locationOf(catalog, folder) });
  return options === undefined ? {} : { storage_options: { ...options } };
}
