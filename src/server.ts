/**
 * Exports the public names of the entry `dirspace/server`: `createServer` and `startServer`, with
 * the types of their options. The code is in server/.
 */

export type { AllowedLocation } from './allowed-locations.ts';
export type { Permission } from './protocol/index.ts';
export {
  type ApiKey,
  type Authenticate,
  type AuthOptions,
  type CorsOptions,
  type Credentials,
  createServer,
  type DatabaseRouting,
  type DatabaseSource,
  type Grant,
  type GrantInput,
  type JwtOptions,
  type Limits,
  type LogFields,
  type Logger,
  type MetricsOptions,
  type NamedPrincipal,
  type Principal,
  type ReloadableOptions,
  type RequestHeaders,
  type RunningServer,
  type Server,
  type ServerOptions,
  type StartOptions,
  startServer,
  type TlsFiles,
} from './server/index.ts';
