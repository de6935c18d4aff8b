/**
 * Vends credentials for a table's storage, where the catalog has a vendor and the request asks for
 * them. A local disk needs none.
 */
import { DirspaceError } from '../../errors.ts';
import type { ObjectPath } from '../../protocol/index.ts';
import type { Catalog } from '../catalog/index.ts';

/** `storage_options` where the caller wants them and the vendor has some. */
export async function vendedOptions(
  catalog: Catalog,
  id: ObjectPath,
  location: string,
  wanted: boolean | undefined,
): Promise<{ storage_options?: Record<string, string> }> {
  if (wanted !== true || catalog.vendor === undefined) return {};
  const options = await catalog.vendor({ id, location });
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
