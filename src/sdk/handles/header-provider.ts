/**
 * Adds headers, such as a token, to each attempt of a request of a remote catalog
 * (`withProvidedHeaders`). They come from a function or a `HeaderProvider`, as in LanceDB's SDK:
 * fixed headers (`StaticHeaderProvider`), or an OAuth token that is fetched again before it expires
 * (`OAuthHeaderProvider`; outside of a connection, `refreshToken` has to be called first). If the
 * function or provider fails, the call rejects with Unauthenticated, and that attempt is not sent.
 */
import type { Fetch } from '../../client/index.ts';
import { systemEnv } from '../../env.ts';
import { DirspaceError, isDirspaceError, isError } from '../../errors.ts';

/** Gives the headers of each request. */
export abstract class HeaderProvider {
  abstract getHeaders(): Record<string, string>;
}

/** Gives the same headers each time. */
export class StaticHeaderProvider extends HeaderProvider {
  readonly #headers: Record<string, string>;

  constructor(headers: Record<string, string>) {
    super();
    this.#headers = { ...headers };
  }

  getHeaders(): Record<string, string> {
    return { ...this.#headers };
  }
}

/** What a token endpoint answered. */
export interface TokenResponse {
  accessToken: string;
  /** In seconds; it never expires if absent. */
  expiresIn?: number;
}

/** Gives `authorization: Bearer` with a token that is fetched anew before it expires. */
export class OAuthHeaderProvider extends HeaderProvider {
  readonly #fetchToken: () => Promise<TokenResponse> | TokenResponse;
  readonly #bufferMs: number;
  #token: string | undefined;
  #expires = Number.POSITIVE_INFINITY;
  #refreshing: Promise<void> | undefined;

  /** @param refreshBufferSeconds how long before its end a token is replaced */
  constructor(
    tokenFetcher: () => Promise<TokenResponse> | TokenResponse,
    refreshBufferSeconds = 300,
  ) {
    super();
    if (typeof tokenFetcher !== 'function') {
      throw new DirspaceError(
        'InvalidInput',
        'An OAuthHeaderProvider takes a function that fetches a token.',
      );
    }
    this.#fetchToken = tokenFetcher;
    this.#bufferMs = refreshBufferSeconds * 1_000;
  }

  /** @throws Unauthenticated before the first token was fetched; requests of a connection fetch it */
  getHeaders(): Record<string, string> {
    if (this.#token !== undefined) return { authorization: `Bearer ${this.#token}` };
    throw new DirspaceError('Unauthenticated', 'There is no token yet: call refreshToken() first.');
  }

  /** Fetches a token now. Calls at the same time share one fetch. */
  async refreshToken(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Whether the token is missing, or about to expire at that time. */
  isDue(now: number): boolean {
    return this.#token === undefined || now >= this.#expires - this.#bufferMs;
  }

  async #refresh(): Promise<void> {
    const asked = systemEnv.now();
    const answer = await this.#fetchToken();
    if (typeof answer?.accessToken !== 'string' || answer.accessToken === '') {
      throw new DirspaceError('Unauthenticated', "Token fetcher did not return 'accessToken'.");
    }
    this.#token = answer.accessToken;
    const { expiresIn } = answer;
    this.#expires = expiresIn === undefined ? Number.POSITIVE_INFINITY : asked + expiresIn * 1_000;
  }
}

/** A provider, or a function that gives the headers. */
export type HeaderSource =
  | HeaderProvider
  | (() => Record<string, string> | Promise<Record<string, string>>);

/** Asks `source` before each attempt of a request. */
export function withProvidedHeaders(fetch: Fetch, source: HeaderSource): Fetch {
  return async (url, init) => {
    const given = await headersOf(source);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
}

/** @throws Unauthenticated for a provider that fails */
async function headersOf(source: HeaderSource): Promise<Record<string, string>> {
  try {
    if (source instanceof OAuthHeaderProvider && source.isDue(systemEnv.now()))
      await source.refreshToken();
    return (await (typeof source === 'function' ? source() : source.getHeaders())) ?? {};
  } catch (cause) {
    if (isDirspaceError(cause, 'Unauthenticated')) throw cause;
    const why = isError(cause) ? cause.message : String(cause);
    throw new DirspaceError(
      'Unauthenticated',
      `The header provider failed, and nothing was sent: ${why}`,
      { cause },
    );
  }
}
