/**
 * `loadConfig` reads the configuration of a server from a JSON file and from environment variables,
 * and validates it. Variables override the file: `DIRSPACE_ROOT`, `_DATABASES_ROOT`, `_HOST`,
 * `_PORT`, `_LOG_LEVEL` and `_READ_ONLY`; one of the first two replaces all roots of the file.
 * `DIRSPACE_API_KEY` adds a key with all rights (config-auth.ts, which reads all keys).
 * `DIRSPACE_CONFIG` names the file where the caller names none. `configOf` validates members that
 * were read. Unknown members, wrong values and a file that cannot be read throw InvalidInput. Paths
 * in the file are relative to its folder.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { checkAllowedLocations } from '../allowed-locations.ts';
import { directoryOf } from '../local-path.ts';
import { parseRetention } from '../retention.ts';
import { authOf } from './config-auth.ts';
import type { DatabaseRouting } from './databases.ts';
import type { StartOptions } from './server.ts';
import {
  count,
  flag,
  invalid,
  type Limits,
  type LogLevel,
  type Members,
  mapOf,
  metricsOf,
  object,
  optional,
  portNumber,
  resolveLimits,
  text,
  texts,
} from './settings/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ServerConfig extends Omit<StartOptions, 'logger' | 'namespace' | 'dialects'> {
  /** Lines below it are not written. */
  readonly logLevel: LogLevel | 'silent';
}

const MEMBERS = [
  'root',
  'databases',
  'databasesRoot',
  'host',
  'port',
  'create',
  'readOnly',
  'allowedHosts',
  'cors',
  'tls',
  'trashRetention',
  'locations',
  'cacheBytes',
  'bufferBytes',
  'vectorBytes',
  'auth',
  'limits',
  'metrics',
  'databaseRouting',
  'logLevel',
  'ui',
];

/** Reads the file, where there is one, and the environment, which counts for more. */
export async function loadConfig(
  file: string | undefined,
  env: Environment,
): Promise<ServerConfig> {
  const path = file ?? (env.DIRSPACE_CONFIG || undefined);
  const members = path === undefined ? {} : await readConfig(path);
  const base = path === undefined ? '.' : dirname(path);
  return configOf(withEnvironment(members, env), base, env);
}

async function readConfig(path: string): Promise<Members> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw invalid(`The configuration ${path} cannot be read.`, cause);
  }
  try {
    return object(JSON.parse(text), 'the configuration');
  } catch (cause) {
    if (cause instanceof SyntaxError) throw invalid(`${path} is not valid JSON.`, cause);
    throw cause;
  }
}

/** Variables that are empty count as absent. */
function withEnvironment(members: Members, env: Environment): Members {
  const { DIRSPACE_ROOT: root, DIRSPACE_DATABASES_ROOT: databasesRoot } = env;
  const none = { root: undefined, databases: undefined, databasesRoot: undefined };
  const source = root
    ? { ...none, root: resolve(directoryOf(root)) }
    : databasesRoot
      ? { ...none, databasesRoot: resolve(directoryOf(databasesRoot)) }
      : {};
  return {
    ...members,
    ...source,
    ...(env.DIRSPACE_HOST ? { host: env.DIRSPACE_HOST } : {}),
    ...(env.DIRSPACE_PORT ? { port: portOf(env.DIRSPACE_PORT) } : {}),
    ...(env.DIRSPACE_LOG_LEVEL ? { logLevel: env.DIRSPACE_LOG_LEVEL } : {}),
    ...(env.DIRSPACE_READ_ONLY ? { readOnly: flagOf(env.DIRSPACE_READ_ONLY) } : {}),
  };
}

function portOf(word: string): number {
  if (/^\d+$/.test(word)) return portNumber(Number(word), 'DIRSPACE_PORT');
  throw invalid(`DIRSPACE_PORT is ${JSON.stringify(word)}; expected 0 to 65535.`);
}

/** Anything else would open for writing what was meant to be read-only. */
function flagOf(word: string): boolean {
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  throw invalid(`DIRSPACE_READ_ONLY is ${JSON.stringify(word)}; expected true or false.`);
}

/** Paths are relative to `base`. Throws InvalidInput that names the member. */
export function configOf(members: Members, base: string, env: Environment): ServerConfig {
  object(members, 'the configuration', MEMBERS);
  const { root, databases, databasesRoot, host, port, readOnly, auth, limits, logLevel } = members;
  const path = (value: unknown, member: string): string =>
    resolve(base, directoryOf(text(value, member)));
  return {
    ...optional('root', root, path),
    ...optional('databases', databases, (value, member) => mapOf(value, member, path)),
    ...optional('databasesRoot', databasesRoot, path),
    ...optional('host', host, text),
    ...optional('port', port, portNumber),
    ...optional('create', members.create, flag),
    ...optional('readOnly', readOnly, flag),
    ...optional('ui', members.ui, flag),
    ...optional('allowedHosts', members.allowedHosts, texts),
    ...optional('cors', members.cors, (value) => ({
      origins: texts(object(value, 'cors', ['origins']).origins, 'cors.origins'),
    })),
    ...optional('tls', members.tls, (value) => {
      const { certFile, keyFile } = object(value, 'tls', ['certFile', 'keyFile']);
      return {
        certFile: resolve(base, text(certFile, 'tls.certFile')),
        keyFile: resolve(base, text(keyFile, 'tls.keyFile')),
      };
    }),
    ...optional('trashRetention', members.trashRetention, (value) =>
      parseRetention(value as number | string),
    ),
    ...optional('locations', members.locations, checkAllowedLocations),
    ...optional('cacheBytes', members.cacheBytes, count),
    ...optional('bufferBytes', members.bufferBytes, count),
    ...optional('vectorBytes', members.vectorBytes, count),
    ...optional('limits', limits, (value) => resolveLimits(object(value, 'limits') as Limits)),
    ...optional('metrics', members.metrics, metricsOf),
    ...optional('databaseRouting', members.databaseRouting, routingOf),
    ...authOf(auth, base, env),
    logLevel: level(logLevel ?? 'info'),
  };
}

function routingOf(value: unknown, member: string): DatabaseRouting {
  const { headers, prefixHeaders, hosts, namespaces } = object(value, member, [
    'headers',
    'prefixHeaders',
    'hosts',
    'namespaces',
  ]);
  return {
    ...optional('headers', headers, texts, `${member}.headers`),
    ...optional('prefixHeaders', prefixHeaders, texts, `${member}.prefixHeaders`),
    ...optional('hosts', hosts, (map, at) => mapOf(map, at, text), `${member}.hosts`),
    ...optional('namespaces', namespaces, flag, `${member}.namespaces`),
  };
}

function level(value: unknown): ServerConfig['logLevel'] {
  const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
  const found = levels.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw invalid(`logLevel is ${JSON.stringify(value)}; it is one of ${levels.join(', ')}.`);
}
