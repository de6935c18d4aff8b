/**
 * Exports the HTTP server of the protocol: `createServer`, `startServer`, `loadConfig`,
 * `createTrialServer` for test fixtures, and the types of their options and results.
 */

export type {
  ApiKey,
  Authenticate,
  AuthOptions,
  Credentials,
  Grant,
  GrantInput,
  JwtOptions,
  NamedPrincipal,
  Principal,
  RequestHeaders,
} from './auth/index.ts';
export { loadConfig, type ServerConfig } from './config.ts';
export type { DatabaseRouting, DatabaseSource } from './databases.ts';
export type { CorsOptions, HttpAnswer, TlsFiles } from './http/index.ts';
export type { ReloadableOptions } from './live-settings.ts';
export {
  createServer,
  createTrialServer,
  type RunningServer,
  type Server,
  type ServerOptions,
  type StartOptions,
  startServer,
} from './server.ts';
export type { Limits, LogFields, Logger, LogLevel, MetricsOptions } from './settings/index.ts';
export type { Control, Trial, TrialCall, TrialRequest } from './trial.ts';
