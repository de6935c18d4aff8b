/** The implementation `dir`: its properties become the options of a directory catalog. */
import { fileURLToPath } from 'node:url';
import { openDirectoryNamespace } from '../directory/directory-namespace.ts';
import { parseRetention } from '../directory/retention.ts';
import { DirspaceError } from '../errors.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, flagProperty, type Properties } from './properties.ts';

const RULES = { required: ['root'], optional: ['managed_versioning', 'trash_retention'] };

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
    trashRetention,
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
      cacheBytes,
      bufferBytes,
      managedVersioning: flagProperty(checked, 'managed_versioning'),
    }),
  });
}

// Any other colon is part of a name, or ends a drive's.
const SCHEME = /^(?:(file):|([a-z][a-z0-9+.-]+):\/\/)/i;

function directoryOf(root: string): string {
  const [match, file, scheme] = SCHEME.exec(root) ?? [];
  if (match !== undefined && file === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `A directory catalog is opened by a path or a "file:" URL, not by ${JSON.stringify(`${scheme}:`)}. Use connectNamespace(name, properties) for other catalogs.`,
      { details: { scheme } },
    );
  }
  const refuse = (cause?: unknown): never => {
    const message = `${JSON.stringify(root)} names no directory of this machine.`;
    throw new DirspaceError('InvalidInput', message, { cause });
  };
  if (root.includes('\0')) return refuse();
  if (match === undefined) return root;
  try {
    return fileURLToPath(root);
  } catch (cause) {
    return refuse(cause);
  }
}
