/**
 * Opens connections. `connect` opens a catalog in a directory (a path or a `file:` URL), in memory
 * (`memory://`), or as a database on a server (`db://NAME` with `hostOverride`; without it
 * Unsupported is thrown). A missing directory is created, unless `readOnly`. `connectNamespace`
 * opens a catalog by the name of its implementation: `dir`, `rest` or one that the program
 * registered. A missing place, an unknown name or option, and a tracer without `startActiveSpan`
 * throw InvalidInput. With the option `tracer` the operations are traced, and after
 * `instrumentLanceDbMetrics` they are counted.
 */
import { systemEnv } from '../env.ts';
import { DirspaceError } from '../errors.ts';
import { Connection } from './connection.ts';
import {
  type ConnectOptions,
  defined,
  type HeaderSource,
  isRemoteDatabase,
  type NamespaceConfig,
  observed,
  openNamespace,
  type Properties,
  propertiesOf,
  recorder,
  remoteDatabase,
  type Session,
} from './handles/index.ts';

/**
 * Opens the directory catalog at a path, or at a `file:` URL. Only `data/` and the engine's own
 * folder are created, and not even these with `readOnly`. `memory://` opens a new one in memory,
 * `db://NAME` the database of that name on the server that `hostOverride` names.
 */
export async function connect(
  uri: string,
  options?: ConnectOptions,
  session?: Session,
  headerProvider?: HeaderSource,
): Promise<Connection>;
export async function connect(
  options: ConnectOptions & { readonly uri: string },
): Promise<Connection>;
export async function connect(
  target: string | (ConnectOptions & { readonly uri: string }),
  given?: ConnectOptions,
  session?: Session,
  headerProvider?: HeaderSource,
): Promise<Connection> {
  const all = typeof target === 'object' && target !== null ? target : { ...given, uri: target };
  const { uri, ...others } = all;
  const options = { ...others, ...defined({ session, headerProvider }) };
  if (typeof uri !== 'string' || uri === '') {
    throw new DirspaceError(
      'InvalidInput',
      'connect takes the path of a directory, or an object with it as "uri".',
    );
  }
  if (!isRemoteDatabase(uri)) return connectNamespace('dir', { root: uri }, options);
  const remote = remoteDatabase(uri, options);
  return connectNamespace('rest', remote.properties, remote.options);
}

/** Opens a catalog of the implementation of that name, such as `dir` with its `root`. */
export async function connectNamespace(
  name: string,
  config: Properties | NamespaceConfig,
  given: ConnectOptions = {},
): Promise<Connection> {
  const { namespaceClientProperties, tracer, ...options } = given ?? {};
  const properties = propertiesOf(name, config, namespaceClientProperties);
  checkTracer(tracer);
  const opened = await openNamespace(name, properties, options);
  const observers = { tracer, record: recorder() };
  const namespace = observed(opened, observers, options.env ?? systemEnv);
  const place = properties.root ?? properties.uri;
  return new Connection(namespace, {
    label: place === undefined ? name : `${name}: ${place}`,
    ...defined({ env: options.env, readOnly: options.readOnly }),
  });
}

function checkTracer(tracer: ConnectOptions['tracer']): void {
  if (tracer === undefined || typeof tracer.startActiveSpan === 'function') return;
  throw new DirspaceError(
    'InvalidInput',
    'The option tracer has no startActiveSpan: give a tracer of OpenTelemetry, such as trace.getTracer("app").',
    { details: { option: 'tracer' } },
  );
}
