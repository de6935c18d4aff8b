/** The ways to a Connection. Which implementations there are is not known here. */
import { fileURLToPath } from 'node:url';
import { DirspaceError } from '../errors.ts';
import type { ConnectOptions } from './connect-options.ts';
import { Connection } from './connection.ts';
import { openNamespace } from './implementations.ts';
import type { Properties } from './properties.ts';

/**
 * Opens the directory catalog at a path, or at a `file:` URL. Only `data/` and the engine's own
 * folder are created, and not even these with `readOnly`.
 */
export async function connect(uri: string, options?: ConnectOptions): Promise<Connection>;
export async function connect(
  options: ConnectOptions & { readonly uri: string },
): Promise<Connection>;
export async function connect(
  target: string | (ConnectOptions & { readonly uri: string }),
  given?: ConnectOptions,
): Promise<Connection> {
  const all = typeof target === 'object' && target !== null ? target : { ...given, uri: target };
  const { uri, ...options } = all;
  return connectNamespace('dir', { root: directoryOf(uri) }, options);
}

/** Opens a catalog of the implementation of that name, such as `dir` with its `root`. */
export async function connectNamespace(
  name: string,
  properties: Properties,
  options: ConnectOptions = {},
): Promise<Connection> {
  const namespace = await openNamespace(name, properties, options);
  const place = properties.root ?? properties.uri;
  return new Connection(namespace, {
    label: place === undefined ? name : `${name}: ${place}`,
    ...(options.env === undefined ? {} : { env: options.env }),
  });
}

// Any other colon is part of a name, or ends a drive's.
const SCHEME = /^(?:(file):|([a-z][a-z0-9+.-]+):\/\/)/i;

function directoryOf(uri: unknown): string {
  if (typeof uri !== 'string' || uri === '') {
    throw new DirspaceError(
      'InvalidInput',
      'connect takes the path of a directory, or an object with it as "uri".',
    );
  }
  const [match, file, scheme] = SCHEME.exec(uri) ?? [];
  if (match === undefined) return uri;
  if (file === undefined) {
    throw new DirspaceError(
      'InvalidInput',
      `connect opens directories: a path or a "file:" URL, not ${JSON.stringify(`${scheme}:`)}. Use connectNamespace(name, properties) for other catalogs.`,
      { details: { scheme } },
    );
  }
  try {
    return fileURLToPath(uri);
  } catch (cause) {
    const message = `${JSON.stringify(uri)} names no directory of this machine.`;
    throw new DirspaceError('InvalidInput', message, { cause });
  }
}
