/**
 * `authOf` parses the `auth` part of a server's configuration: API keys and JWT settings, with the
 * grants of each. A key is given as itself, as its SHA-256, or as the name of an environment
 * variable that holds it. If the variable DIRSPACE_API_KEY is set, its key is added with all
 * rights. With neither that variable nor an `auth` part, the server has no authentication. Wrong
 * members throw InvalidInput. auth.ts later checks that the members go together.
 */
import { resolve } from 'node:path';
import {
  type ApiKey,
  type AuthOptions,
  type Grant,
  type JwtOptions,
  parseGrant,
} from './auth/index.ts';
import {
  count,
  invalid,
  kindOf,
  list,
  type Members,
  object,
  optional,
  text,
  texts,
} from './settings/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `auth` of the file, and the key of the environment, which may do everything. */
export function authOf(auth: unknown, base: string, env: Environment): { auth?: AuthOptions } {
  const own = env.DIRSPACE_API_KEY;
  if ((auth === undefined || auth === null) && !own) return {};
  const { apiKeys, jwt } = object(auth ?? {}, 'auth', ['apiKeys', 'jwt']);
  const keys = list(apiKeys ?? [], 'auth.apiKeys').map((entry, at) =>
    apiKeyOf(entry, `auth.apiKeys[${at}]`, env),
  );
  if (own) {
    const grants: Grant[] = [{ namespace: [], permission: 'admin' }];
    keys.push({ key: own, name: 'environment', grants });
  }
  return {
    auth: {
      ...(keys.length === 0 ? {} : { apiKeys: keys }),
      ...optional('jwt', jwt, (value) => jwtOf(value, base)),
    },
  };
}

const KEY_MEMBERS = ['key', 'sha256', 'keyEnv', 'name', 'grants'];

/** The key itself, its digest, or the name of the variable that holds it. */
function apiKeyOf(entry: unknown, member: string, env: Environment): ApiKey {
  const { key, sha256, keyEnv, name, grants } = object(entry, member, KEY_MEMBERS);
  const ways = [key, sha256, keyEnv].filter((way) => way !== undefined && way !== null);
  if (ways.length !== 1) throw invalid(`${member} needs exactly one of key, sha256 and keyEnv.`);
  const { keyEnv: variable } = optional('keyEnv', keyEnv, text, `${member}.keyEnv`);
  if (variable !== undefined && !env[variable]) {
    // Some write the key itself where the name of its variable belongs; it must not reach a log.
    const named = /^[A-Z_][A-Z0-9_]*$/.test(variable)
      ? `the variable ${variable} is not set`
      : 'no variable of the name given is set; it takes the name of a variable that holds the key';
    throw invalid(`${member}.keyEnv: ${named}.`);
  }
  return {
    ...optional('key', variable === undefined ? key : env[variable], text, `${member}.key`),
    ...optional('sha256', sha256, digest, `${member}.sha256`),
    name: text(name, `${member}.name`),
    grants: grantsOf(grants, `${member}.grants`),
  };
}

function digest(value: unknown, member: string): string {
  const hex = text(value, member).toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hex)) return hex;
  throw invalid(
    `${member} is a text of ${hex.length} characters; give the SHA-256 of the key as 64 hexadecimal digits.`,
  );
}

const JWT_READERS = {
  jwksUrl: text,
  issuer: text,
  audience: text,
  algorithms: texts,
  clockToleranceSeconds: count,
  grantsClaim: text,
  defaultGrants: grantsOf,
} as const;

function jwtOf(value: unknown, base: string): JwtOptions {
  const jwt: Members = object(value, 'auth.jwt', [...Object.keys(JWT_READERS), 'jwksFile']);
  const read = Object.entries(JWT_READERS).map(([name, reader]) =>
    optional(name, jwt[name], reader as typeof text, `auth.jwt.${name}`),
  );
  return {
    ...(Object.assign({}, ...read) as JwtOptions),
    ...optional('jwksFile', jwt.jwksFile, (file) => resolve(base, text(file, 'auth.jwt.jwksFile'))),
  };
}

function grantsOf(value: unknown, member: string): Grant[] {
  return list(value, member).map((item, at) => {
    const grant = parseGrant(item);
    if (grant !== undefined) return grant;
    throw invalid(
      `${member}[${at}] is ${kindOf(item)}, from which no grant can be read; expected as in {"namespace": "prod$search", "permission": "read"}, or "read:prod$search".`,
    );
  });
}
