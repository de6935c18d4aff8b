/**
 * `open` opens the catalog implementation `dir`: it converts its properties and the connect
 * options to the options of a directory catalog. A root of `memory://` makes a new catalog in
 * memory. Unknown properties, the options of `db://` addresses, `clientConfig` and
 * `headerProvider` throw InvalidInput. Other options of remote catalogs, such as `fetch` and
 * `retries`, have no effect.
 */
import { keptMemory, openDirectoryNamespace } from '../../directory/index.ts';
import { DirspaceError } from '../../errors.ts';
import { checkLanceMode } from '../../lance-mode.ts';
import { directoryOf } from '../../local-path.ts';
import { parseRetention } from '../../retention.ts';
import { memoryFileSystem } from '../../store/index.ts';
import type { ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import type { Catalog } from './implementations.ts';
import { checkProperties, flagProperty, type Properties } from './properties.ts';
import { refuseRemoteOptions } from './remote-database.ts';
import { sharedMemory } from './session.ts';

const RULES = {
  required: ['root'],
  // LanceDB's nests namespaces where manifest_enabled is true; here they always nest.
  optional: ['managed_versioning', 'trash_retention', 'lance', 'manifest_enabled'],
};

export function open(properties: Properties, options: ConnectOptions): Promise<Catalog> {
  const checked = checkProperties('dir', properties, RULES);
  if (flagProperty(checked, 'manifest_enabled') === false) {
    throw new DirspaceError(
      'InvalidInput',
      'The property "manifest_enabled" is "false": namespaces are always there; leave it out.',
      { details: { property: 'manifest_enabled' } },
    );
  }
  const { fs, root, place } = placeOf(checked.root as string, options);
  const {
    readOnly,
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
    session,
  } = options;
  const kept = trashRetention ?? checked.trash_retention;
  if (kept !== undefined)
    parseRetention(kept, trashRetention === undefined ? 'The property trash_retention' : undefined);
  return openDirectoryNamespace({
    root,
    ...defined({
      place,
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
      kept: session && sharedMemory(session, keptMemory),
      lance: lance === undefined ? undefined : checkLanceMode(lance),
      managedVersioning: flagProperty(checked, 'managed_versioning'),
    }),
  });
}

/** `memory://` is a file system of its own each time, with whatever path is behind it. */
const IN_MEMORY = /^memory:\/\//i;
/** A slash or two were left out, and a folder would be made of what is left. */
const ALMOST_IN_MEMORY = /^memory:(?:$|\/(?!\/))/i;

function placeOf(
  root: string,
  { fs, ...options }: ConnectOptions,
): Pick<ConnectOptions, 'fs'> & { readonly root: string; readonly place?: string } {
  refuseRemoteOptions(options, JSON.stringify(root));
  for (const name of ['clientConfig', 'headerProvider'] as const) {
    if (options[name] === undefined) continue;
    throw new DirspaceError(
      'InvalidInput',
      `The option ${name} is for a remote catalog, and ${JSON.stringify(root)} is a directory; leave it out.`,
      { details: { option: name } },
    );
  }
  if (ALMOST_IN_MEMORY.test(root)) {
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(root)} is no catalog in memory, which is "memory://". A folder of that name is ${JSON.stringify(`./${root}`)}.`,
    );
  }
  if (!IN_MEMORY.test(root)) return { root: directoryOf(root), ...defined({ fs }) };
  if (fs === undefined) {
    return { root: '/catalog', fs: memoryFileSystem(options.env), place: 'memory://' };
  }
  throw new DirspaceError(
    'InvalidInput',
    `${JSON.stringify(root)} is in memory and takes no fs; give a path of that file system.`,
    { details: { option: 'fs' } },
  );
}
