/** The export list of `dirspace/server`, nothing else. */
export type {
  ApiKey,
  Authenticate,
  AuthOptions,
  Credentials,
  RequestHeaders,
} from './rest/auth.ts';
export type { DatabaseRouting, DatabaseSource } from './rest/databases.ts';
export type { JwtOptions } from './rest/jwt.ts';
export type { Limits } from './rest/limits.ts';
export type { LogFields, Logger } from './rest/logging.ts';
export type { Grant, Principal } from './rest/permissions.ts';
export {
  createServer,
  type RunningServer,
  type Server,
  type ServerOptions,
  type StartOptions,
  startServer,
} from './rest/server.ts';
