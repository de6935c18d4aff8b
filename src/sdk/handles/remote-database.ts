/**
 * `remoteDatabase` lets programs written for LanceDB open `db://NAME` on a server: it translates
 * the address (`isRemoteDatabase`) and LanceDB's options to those of a `rest` catalog;
 * `readClientConfig` translates `clientConfig`. An address without a name throws InvalidInput. One
 * without `hostOverride` means LanceDB's cloud, and throws Unsupported with an alternative, as
 * options without a counterpart do; `region` is ignored. For other catalogs, `refuseRemoteOptions`
 * throws InvalidInput for the options that only `db://` addresses have.
 */
import { DirspaceError } from '../../errors.ts';
import type { ClientConfig, ConnectOptions } from './connect-options.ts';
import { defined } from './defined.ts';
import { onlyOptions } from './option-names.ts';
import type { Properties } from './properties.ts';

export const isRemoteDatabase = (uri: string): boolean => /^db:\/\//i.test(uri);

const REMOTE = ['apiKey', 'region', 'hostOverride', 'oauthConfig'] as const;

/** @throws InvalidInput for an option that only a `db://` address has a use for */
export function refuseRemoteOptions(options: ConnectOptions, target: string): void {
  for (const name of REMOTE) {
    if (options[name] === undefined) continue;
    throw invalid(
      name,
      `The option ${name} is for a remote database, as in connect("db://name", {hostOverride, apiKey}), and ${target} is none; leave it out.`,
    );
  }
}

export interface RemoteDatabase {
  readonly properties: Properties;
  readonly options: ConnectOptions;
}

/** @throws InvalidInput, Unsupported for LanceDB's cloud and for options that have no counterpart */
export function remoteDatabase(uri: string, given: ConnectOptions): RemoteDatabase {
  const { apiKey, region: _, hostOverride, oauthConfig, clientConfig = {}, ...rest } = given;
  const [name = '', ...prefix] = uri
    .slice('db://'.length)
    .split('/')
    .filter((part) => part !== '');
  if (name === '')
    throw invalid('uri', `${JSON.stringify(uri)} names no database; give db://NAME.`);
  if (oauthConfig !== undefined) {
    throw new DirspaceError(
      'Unsupported',
      'The option oauthConfig is not supported: fetch the token yourself, and give a header provider, as new OAuthHeaderProvider(fetchToken).',
      { details: { option: 'oauthConfig' } },
    );
  }
  if (hostOverride === undefined || hostOverride === '') {
    throw new DirspaceError(
      'Unsupported',
      `${uri} means LanceDB's cloud, which is not reached from here. Give hostOverride, the address of a server such as dirspace serve, or read the cloud with @lancedb/lancedb.`,
      { details: { option: 'hostOverride' } },
    );
  }
  const { headers, delimiter, options } = readClientConfig(clientConfig, rest);
  const sent: Record<string, string> = {
    // What a server of several databases routes by.
    'x-service-database': name,
    ...(prefix.length === 0 ? {} : { 'x-service-database-prefix': prefix.join('/') }),
    ...(apiKey === undefined || apiKey === '' ? {} : { 'x-api-key': apiKey }),
    ...headers,
  };
  const properties = Object.entries(sent).map(([header, value]) => [`headers.${header}`, value]);
  return {
    properties: { uri: hostOverride, ...defined({ delimiter }), ...Object.fromEntries(properties) },
    options,
  };
}

interface ReadConfig {
  readonly headers: Readonly<Record<string, string>>;
  readonly delimiter: string | undefined;
  readonly options: ConnectOptions;
}

/** What `clientConfig` says in terms of headers and of the options of a `rest` catalog. */
export function readClientConfig(config: ClientConfig, options: ConnectOptions): ReadConfig {
  onlyOptions(
    config,
    [
      'userAgent',
      'retryConfig',
      'timeoutConfig',
      'extraHeaders',
      'idDelimiter',
      'tlsConfig',
      'userId',
    ],
    'clientConfig',
  );
  const { userAgent, retryConfig, timeoutConfig, extraHeaders, idDelimiter, tlsConfig, userId } =
    config;
  if (tlsConfig !== undefined) {
    throw unsupportedConfig('tlsConfig', 'give a fetch whose agent has the certificates');
  }
  refuseMembers(
    'retryConfig',
    retryConfig,
    ['retries'],
    'retries says how many attempts there are',
  );
  refuseMembers(
    'timeoutConfig',
    timeoutConfig,
    ['readTimeout'],
    'readTimeout ends what makes no progress, and a signal ends a call',
  );
  // There it counts attempts, the first one included.
  const retries =
    retryConfig?.retries === undefined ? undefined : Math.max(0, retryConfig.retries - 1);
  const seconds = timeoutConfig?.readTimeout;
  const told = defined({
    retries,
    timeoutMs: seconds === undefined ? undefined : Math.round(seconds * 1_000),
  });
  for (const name of Object.keys(told) as (keyof typeof told)[]) {
    if (options[name] === undefined) continue;
    throw invalid(name, `${name} is given as an option and in clientConfig; give it once.`);
  }
  return {
    headers: {
      ...defined({ 'user-agent': userAgent, 'x-lancedb-user-id': userId }),
      ...extraHeaders,
    },
    delimiter: idDelimiter,
    options: { ...options, ...told },
  };
}

function refuseMembers(
  name: string,
  config: object | undefined,
  known: readonly string[],
  instead: string,
): void {
  for (const [member, value] of Object.entries(config ?? {})) {
    if (value === undefined || known.includes(member)) continue;
    throw unsupportedConfig(`${name}.${member}`, instead);
  }
}

const unsupportedConfig = (name: string, instead: string): DirspaceError =>
  new DirspaceError('Unsupported', `clientConfig.${name} is not supported: ${instead}.`, {
    details: { option: `clientConfig.${name}` },
  });

const invalid = (option: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { option } });
