/**
 * Opens the catalog implementation `dir` (`open`): converts its properties and the connect options
 * to the options of a directory catalog. Unknown properties are refused.
 */
import { openDirectoryNamespace } from '../../directory/index.ts';
import { checkLanceMode } from '../../lance-mode.ts';
import { parseRetention } from '../../retention.ts';
import { directoryOf } from '../../root-path.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, flagProperty, type Properties } from './properties.ts';

const RULES = { required: ['root'], optional: ['managed_versioning', 'trash_retention', 'lance'] };

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
    vectorBytes,
    requestMemory,
    autoCompact,
    lance = checked.lance,
    trashRetention,
    locations,
  } = options;
  const kept = trashRetention ?? checked.trash_retention;
  if (kept !== undefined)
    parseRetention(kept, trashRetention === undefined ? 'The property trash_retention' : undefined);
  return openDirectoryNamespace({
    root: directoryOf(checked.root as string),
    ...defined({
      readOnly,
      fs,
      durability,
      signal,
      autoCompact,
      trashRetention: kept,
      env,
      credentialVendor,
      locations,
      cacheBytes,
      bufferBytes,
      vectorBytes,
      requestMemory,
      lance: lance === undefined ? undefined : checkLanceMode(lance),
      managedVersioning: flagProperty(checked, 'managed_versioning'),
    }),
  });
}
