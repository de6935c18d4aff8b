/** The implementation `dir`: its properties become the options of a directory catalog. */
import { openDirectoryNamespace } from '../directory/directory-namespace.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, flagProperty, type Properties } from './properties.ts';

const RULES = { required: ['root'], optional: ['managed_versioning'] };

export function open(properties: Properties, options: ConnectOptions): Promise<Catalog> {
  const checked = checkProperties('dir', properties, RULES);
  const {
    readOnly,
    fs,
    durability,
    signal,
    env,
    credentialVendor,
    cacheBytes,
    bufferBytes,
    autoCompact,
  } = options;
  return openDirectoryNamespace({
    root: checked.root as string,
    ...defined({
      readOnly,
      fs,
      durability,
      signal,
      autoCompact,
      env,
      credentialVendor,
      cacheBytes,
      bufferBytes,
      managedVersioning: flagProperty(checked, 'managed_versioning'),
    }),
  });
}
