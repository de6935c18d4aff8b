/**
 * `jwtVerifier` makes the function that verifies bearer tokens (JWT) with a key set from a URL or a
 * file. The function returns the principal, or undefined for an invalid token. Grants come from a
 * claim of the token, or from `defaultGrants` if the token lacks that claim; a malformed grant in
 * the claim is ignored. Wrong options and a wrong file throw InvalidInput at once; a URL that
 * cannot be read throws ServiceUnavailable when a token is verified. Only this file imports the
 * package jose, when the first token is verified.
 */
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose';
import { DirspaceError } from '../../errors.ts';
import { count, invalid, object, optional, text, texts } from '../settings/index.ts';
import { checkGrants, type Grant, type GrantInput, parseGrant } from './grants.ts';
import { fetchKeySet, type KeySet, readKeySet } from './key-set.ts';
import type { Principal } from './permissions.ts';

/**
 * Tokens must be signed by a key of the set, and have `exp`, `sub`, this issuer and this audience.
 */
export interface JwtOptions {
  /** Address of the key set, or the path of a file that holds it. Exactly one of them. */
  readonly jwksUrl?: string;
  readonly jwksFile?: string;
  readonly issuer: string;
  readonly audience: string;
  /** Signatures that are accepted; the asymmetric ones of common use if absent. */
  readonly algorithms?: readonly string[];
  /** How far clocks may be apart; 5 if absent. */
  readonly clockToleranceSeconds?: number;
  /**
   * The claim that lists what the bearer may do, as `[{"namespace": "prod$search", "permission":
   * "read"}]` or as words `read:prod$search`, `admin:$`; `dirspace` if absent.
   */
  readonly grantsClaim?: string;
  /** What a bearer may do whose token lacks that claim; nothing if absent. */
  readonly defaultGrants?: readonly GrantInput[];
}

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'RS384', 'RS512', 'PS256', 'EdDSA'];
/** Those that may be asked for. Of symmetric ones the key would have to be in the public key set. */
const KNOWN_ALGORITHMS = [...ALGORITHMS, 'PS384', 'PS512', 'Ed25519'];

/**
 * The principal of a valid token, or undefined. Rejects where the key set cannot be had. @throws
 * InvalidInput for options that do not go together, and a file that is no key set
 */
export function jwtVerifier(
  options: JwtOptions,
): (token: string) => Promise<Principal | undefined> {
  const defaults = checkOptions(options);
  const { jwksFile } = options;
  const local = jwksFile === undefined ? undefined : readKeySet(jwksFile);
  let loading: Promise<Verifier> | undefined;
  return async (token) => {
    loading ??= loadVerifier(options, local).catch((error) => {
      loading = undefined;
      throw error;
    });
    const verify = await loading;
    const claims = await verify(token);
    // Who has no name would share idempotency keys and places with all others that have none.
    if (typeof claims?.sub !== 'string' || claims.sub === '') return undefined;
    return principalOf(claims, options.grantsClaim, defaults);
  };
}

type Claims = Readonly<Record<string, unknown>>;
type Verifier = (token: string) => Promise<Claims | undefined>;

const MEMBERS = [
  'jwksUrl',
  'jwksFile',
  'issuer',
  'audience',
  'algorithms',
  'clockToleranceSeconds',
  'grantsClaim',
  'defaultGrants',
] as const satisfies readonly (keyof JwtOptions)[];

const isHttp = (url: string): boolean =>
  URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** The default grants in their one form. */
function checkOptions(options: JwtOptions): readonly Grant[] {
  object(options, 'auth.jwt', MEMBERS);
  const { jwksUrl, jwksFile, issuer, audience, defaultGrants = [] } = options;
  const fail = (message: string): never => {
    throw new DirspaceError('InvalidInput', message);
  };
  if ((jwksUrl === undefined) === (jwksFile === undefined)) {
    fail('jwt needs exactly one of jwksUrl and jwksFile.');
  }
  if (jwksUrl !== undefined && !isHttp(jwksUrl)) {
    fail(
      `jwksUrl is a text of ${String(jwksUrl).length} characters that is no http or https URL; expected as in "https://auth.example/.well-known/jwks.json".`,
    );
  }
  const member = (name: keyof JwtOptions): string => `auth.jwt.${name}`;
  text(issuer, member('issuer'));
  text(audience, member('audience'));
  const { algorithms } = optional('algorithms', options.algorithms, texts, member('algorithms'));
  const other = algorithms?.find((name) => !KNOWN_ALGORITHMS.includes(name));
  if (other !== undefined || algorithms?.length === 0) {
    const what = other === undefined ? 'is an empty list' : `has ${JSON.stringify(other)}`;
    throw invalid(`${member('algorithms')} ${what}; there is ${KNOWN_ALGORITHMS.join(', ')}.`);
  }
  const { clockToleranceSeconds, grantsClaim } = options;
  optional('seconds', clockToleranceSeconds, count, member('clockToleranceSeconds'));
  optional('claim', grantsClaim, text, member('grantsClaim'));
  return checkGrants(defaultGrants, 'jwt.defaultGrants');
}

async function loadVerifier(options: JwtOptions, local: KeySet | undefined): Promise<Verifier> {
  const jose = await import('jose');
  const keys: JWTVerifyGetKey =
    local === undefined
      ? jose.createRemoteJWKSet(new URL(options.jwksUrl as string), {
          [jose.customFetch]: fetchKeySet,
        })
      : jose.createLocalJWKSet(local as JSONWebKeySet);
  const rules = {
    issuer: options.issuer,
    audience: options.audience,
    algorithms: [...(options.algorithms ?? ALGORITHMS)],
    clockTolerance: options.clockToleranceSeconds ?? 5,
    requiredClaims: ['exp', 'sub'],
  };
  const verify = async (token: string): Promise<Claims> => {
    try {
      return (await jose.jwtVerify(token, keys, rules)).payload;
    } catch (error) {
      if (!(error instanceof jose.errors.JWKSMultipleMatchingKeys)) throw error;
      // The token does not name its key, and there are several it may be.
      for await (const key of error) {
        try {
          return (await jose.jwtVerify(token, key, rules)).payload;
        } catch (failure) {
          if (!(failure instanceof jose.errors.JWSSignatureVerificationFailed)) throw failure;
        }
      }
      throw error;
    }
  };
  return async (token) => {
    try {
      return await verify(token);
    } catch (error) {
      if (!(error instanceof jose.errors.JOSEError)) throw unreachable(error);
      // These are about the key set; everything else is about the token.
      if (error instanceof jose.errors.JWKSTimeout) throw unreachable(error);
      if (error.code === 'ERR_JOSE_GENERIC' || error instanceof jose.errors.JWKSInvalid) {
        throw unreachable(error);
      }
      return undefined;
    }
  };
}

function unreachable(cause: unknown): DirspaceError {
  return new DirspaceError('ServiceUnavailable', 'Tokens cannot be checked now; try again.', {
    cause,
  });
}

function principalOf(
  claims: Claims,
  grantsClaim: string | undefined,
  defaults: readonly Grant[],
): Principal {
  const claim = claims[grantsClaim ?? 'dirspace'];
  return {
    name: `token:${claims.sub}`,
    grants: claim === undefined ? defaults : grantsOf(claim),
  };
}

/** A claim that cannot be read grants nothing: the token is signed, but not by this package. */
function grantsOf(claim: unknown): readonly Grant[] {
  const items = typeof claim === 'string' ? claim.split(/\s+/) : claim;
  return Array.isArray(items) ? items.flatMap((item) => parseGrant(item) ?? []) : [];
}
