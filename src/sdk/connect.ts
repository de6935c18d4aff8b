/**
 * Opens connections: `connect` to the directory catalog at a path or `file:` URL, and
 * `connectNamespace` to a catalog by the name of its implementation, such as `rest`.
 */
import { DirspaceError } from '../errors.ts';
import { Connection } from './connection.ts';
import { type ConnectOptions, openNamespace, type Properties } from './handles/index.ts';

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
  if (typeof uri !== 'string' || uri === '') {
    throw new DirspaceError(
      'InvalidInput',
      'connect takes the path of a directory, or an object with it as "uri".',
    );
  }
  return connectNamespace('dir', { root: uri }, options);
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
