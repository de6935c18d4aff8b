/**
 * `settled` builds, from the server's options, the settings that may change while the server runs
 * (auth, allowed hosts, CORS, certificate). It checks them all before the caller replaces the
 * current ones; a wrong one throws InvalidInput. `checkAddress` refuses to listen without
 * authentication on an address that is not a loopback one.
 */
import { DirspaceError } from '../errors.ts';
import { type AuthOptions, authenticator } from './auth/index.ts';
import type { Databases } from './databases.ts';
import {
  type Certificate,
  Cors,
  type CorsOptions,
  hostGuard,
  isLoopback,
  type RequestState,
  readCertificate,
  type TlsFiles,
} from './http/index.ts';
import { Identification } from './identity.ts';
import type { Limits } from './settings/index.ts';

/** Options that a server takes anew while it runs. */
export interface ReloadableOptions {
  /** Who may do what; anybody everything if absent. */
  readonly auth?: AuthOptions;
  /**
   * Host names, without ports, that the server answers for beside those of this machine; `*.example`
   * stands for any first part. Without `auth` others are refused with 421; with it, only where names
   * are given here.
   */
  readonly allowedHosts?: readonly string[];
  /** Pages of other origins that may use the server from a browser; none if absent. */
  readonly cors?: CorsOptions;
  /** Files of the certificate; plain HTTP if absent. */
  readonly tls?: TlsFiles;
}

export interface LiveSettings {
  readonly identification: Identification;
  readonly checkHost: (state: RequestState) => void;
  readonly cors: Cors;
  readonly certificate: Certificate | undefined;
  readonly authenticates: boolean;
}

/** @throws InvalidInput */
export function settled(
  options: ReloadableOptions,
  limits: Required<Limits>,
  databases: Databases,
): LiveSettings {
  const { auth, tls } = options;
  const { headers, prefixHeaders } = databases.routingHeaders;
  const cors = new Cors(options.cors, [...headers, ...prefixHeaders]);
  const authenticates = auth !== undefined;
  return {
    identification: new Identification(auth && authenticator(auth), limits),
    checkHost: hostGuard({
      allowed: options.allowedHosts ?? [],
      routed: databases.hosts,
      authenticates,
      allowsOrigin: (origin) => cors.allows(origin),
    }),
    cors,
    certificate: tls && readCertificate(tls),
    authenticates,
  };
}

/** @throws InvalidInput where others could do everything at an address that they can reach */
export function checkAddress(host: string, { authenticates }: LiveSettings): void {
  if (authenticates || isLoopback(host)) return;
  throw new DirspaceError(
    'InvalidInput',
    `The address ${host} can be reached from other machines; give "auth", or listen on 127.0.0.1.`,
  );
}
