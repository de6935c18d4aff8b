/** The export list of `dirspace/server`, nothing else. */
export type {
  ApiKey,
  Authenticate,
  AuthOptions,
  Credentials,
  NamedPrincipal,
  RequestHeaders,
} from './rest/auth.ts';
export type { CorsOptions } from './rest/cors.ts';
export type { DatabaseRouting, DatabaseSource } from './rest/databases.ts';
export type { Grant, GrantInput } from './rest/grants.ts';
export type { JwtOptions } from './rest/jwt.ts';
export type { Limits } from './rest/limits.ts';
export type { ReloadableOptions } from './rest/live-settings.ts';
export type { LogFields, Logger } from './rest/logging.ts';
export type { MetricsOptions } from './rest/metrics-options.ts';
export type { Principal } from './rest/permissions.ts';
export {
  createServer,
  type RunningServer,
  type Server,
  type ServerOptions,
  type StartOptions,
  startServer,
} from './rest/server.ts';
export type { TlsFiles } from './rest/tls.ts';
