/**
 * Exports the authentication of callers (API keys, JWTs) and the authorisation of their calls
 * (grants, scopes), which wraps the function that calls a catalog.
 */

export {
  type ApiKey,
  type Authenticate,
  type Authenticator,
  type AuthOptions,
  authenticator,
  bodyCredentials,
  type Credentials,
  hasCredentials,
  headerCredentials,
  type NamedPrincipal,
  type RequestHeaders,
  sha256,
} from './auth.ts';
export { type Call, type Caller, callerOf } from './call.ts';
export { type Grant, type GrantInput, parseGrant } from './grants.ts';
export type { JwtOptions } from './jwt.ts';
export {
  ANYBODY,
  checkMayReadMetrics,
  mayUseDatabase,
  type Principal,
  permittedCaller,
  permittedDatabase,
} from './permissions.ts';
export { scopedCaller } from './scope.ts';
export { delimitedCaller } from './table-ids.ts';
