/**
 * The configuration of a server from a file and the environment, checked. Secrets may stand in the
 * environment only, named by the file. Starts nothing.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { DirspaceError } from '../errors.ts';
import type { ApiKey, AuthOptions } from './auth.ts';
import type { DatabaseRouting } from './databases.ts';
import { type JwtOptions, parseGrant } from './jwt.ts';
import { type Limits, resolveLimits } from './limits.ts';
import type { LogLevel } from './logging.ts';
import type { Grant } from './permissions.ts';
import type { StartOptions } from './server.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ServerConfig extends Omit<StartOptions, 'logger' | 'namespace' | 'dialects'> {
  /** Lines below it are not written. */
  readonly logLevel: LogLevel | 'silent';
}

type Members = Readonly<Record<string, unknown>>;

const MEMBERS = [
  'root',
  'databases',
  'databasesRoot',
  'host',
  'port',
  'readOnly',
  'auth',
  'limits',
  'databaseRouting',
  'logLevel',
];

/** Reads the file, where there is one, and the environment, which counts for more. */
export async function loadConfig(
  file: string | undefined,
  env: Environment,
): Promise<ServerConfig> {
  const path = file ?? env.DIRSPACE_CONFIG;
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

function withEnvironment(members: Members, env: Environment): Members {
  const { DIRSPACE_ROOT, DIRSPACE_DATABASES_ROOT, DIRSPACE_HOST, DIRSPACE_PORT } = env;
  const source =
    DIRSPACE_ROOT !== undefined
      ? { root: resolve(DIRSPACE_ROOT), databases: undefined, databasesRoot: undefined }
      : DIRSPACE_DATABASES_ROOT !== undefined
        ? { root: undefined, databases: undefined, databasesRoot: resolve(DIRSPACE_DATABASES_ROOT) }
        : {};
  return {
    ...members,
    ...source,
    ...(DIRSPACE_HOST === undefined ? {} : { host: DIRSPACE_HOST }),
    ...(DIRSPACE_PORT === undefined ? {} : { port: Number(DIRSPACE_PORT) }),
    ...(env.DIRSPACE_LOG_LEVEL === undefined ? {} : { logLevel: env.DIRSPACE_LOG_LEVEL }),
    ...(env.DIRSPACE_READ_ONLY === undefined
      ? {}
      : { readOnly: env.DIRSPACE_READ_ONLY === 'true' }),
  };
}

/** Paths are relative to `base`. Throws InvalidInput that names the member. */
export function configOf(members: Members, base: string, env: Environment): ServerConfig {
  for (const name of Object.keys(members)) {
    if (!MEMBERS.includes(name)) {
      throw invalid(
        `The configuration has ${JSON.stringify(name)}; it takes ${MEMBERS.join(', ')}.`,
      );
    }
  }
  const { root, databases, databasesRoot, host, port, readOnly, auth, limits, logLevel } = members;
  const path = (value: unknown, member: string): string => resolve(base, text(value, member));
  const routing = members.databaseRouting;
  const fromEnv = env.DIRSPACE_API_KEY;
  return {
    ...optional('root', root, path),
    ...optional('databases', databases, (value) =>
      Object.fromEntries(
        Object.entries(object(value, 'databases')).map(([name, at]) => [
          name,
          path(at, `databases.${name}`),
        ]),
      ),
    ),
    ...optional('databasesRoot', databasesRoot, path),
    ...optional('host', host, text),
    ...optional('port', port, portNumber),
    ...optional('readOnly', readOnly, flag),
    ...optional('limits', limits, (value) => resolveLimits(object(value, 'limits') as Limits)),
    ...optional(
      'databaseRouting',
      routing,
      (value) => object(value, 'databaseRouting') as DatabaseRouting,
    ),
    ...authOf(auth, base, env, fromEnv),
    logLevel: level(logLevel ?? 'info'),
  };
}

function authOf(
  auth: unknown,
  base: string,
  env: Environment,
  key: string | undefined,
): { auth?: AuthOptions } {
  if (auth === undefined && key === undefined) return {};
  const { apiKeys = [], jwt } = object(auth ?? {}, 'auth');
  const keys = array(apiKeys, 'auth.apiKeys').map((entry, at) =>
    apiKeyOf(object(entry, `auth.apiKeys[${at}]`), `auth.apiKeys[${at}]`, env),
  );
  if (key !== undefined) {
    keys.push({ key, name: 'environment', grants: [{ namespace: [], permission: 'admin' }] });
  }
  return {
    auth: {
      ...(keys.length === 0 ? {} : { apiKeys: keys }),
      ...(jwt === undefined ? {} : { jwt: jwtOf(object(jwt, 'auth.jwt'), base) }),
    },
  };
}

/** The key itself, its digest, or the name of the variable that holds it. */
function apiKeyOf(
  { key, sha256, keyEnv, name, grants }: Members,
  member: string,
  env: Environment,
): ApiKey {
  const variable = keyEnv === undefined ? undefined : text(keyEnv, `${member}.keyEnv`);
  const value = variable === undefined ? key : env[variable];
  if (variable !== undefined && !value) {
    throw invalid(`${member}: the variable ${variable} is not set.`);
  }
  return {
    ...optional('key', value, (found) => text(found, `${member}.key`)),
    ...optional('sha256', sha256, (found) => text(found, `${member}.sha256`)),
    name: text(name, `${member}.name`),
    grants: grantsOf(grants, `${member}.grants`),
  };
}

function jwtOf(members: Members, base: string): JwtOptions {
  const { jwksFile, defaultGrants, ...rest } = members;
  return {
    ...(rest as unknown as JwtOptions),
    ...optional('jwksFile', jwksFile, (value) => resolve(base, text(value, 'auth.jwt.jwksFile'))),
    ...optional('defaultGrants', defaultGrants, (value) =>
      grantsOf(value, 'auth.jwt.defaultGrants'),
    ),
  };
}

function grantsOf(value: unknown, member: string): Grant[] {
  return array(value, member).map((item, at) => {
    const grant = parseGrant(item);
    if (grant !== undefined) return grant;
    throw invalid(
      `${member}[${at}] is no grant; expected as in {"namespace": "prod$search", "permission": "read"}, or "read:prod$search".`,
    );
  });
}

function optional<Name extends string, Value>(
  name: Name,
  value: unknown,
  read: (value: unknown, member: string) => Value,
): { [Member in Name]?: Value } {
  return (value === undefined || value === null ? {} : { [name]: read(value, name) }) as {
    [Member in Name]?: Value;
  };
}

function text(value: unknown, member: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(`${member} is no text.`);
}

function flag(value: unknown, member: string): boolean {
  if (typeof value === 'boolean') return value;
  throw invalid(`${member} is neither true nor false.`);
}

function portNumber(value: unknown, member: string): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) < 65_536) {
    return value as number;
  }
  throw invalid(`${member} is ${String(value)}; expected 0 to 65535.`);
}

function level(value: unknown): ServerConfig['logLevel'] {
  const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
  const found = levels.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw invalid(`logLevel is ${JSON.stringify(value)}; it is one of ${levels.join(', ')}.`);
}

function object(value: unknown, member: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw invalid(`${member} is no object.`);
}

function array(value: unknown, member: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw invalid(`${member} is no list.`);
}

function invalid(message: string, cause?: unknown): DirspaceError {
  return new DirspaceError('InvalidInput', message, cause === undefined ? {} : { cause });
}
