/**
 * `Cors` validates the configured origins (InvalidInput), answers the preflight requests of their
 * pages (`preflight`), and adds the headers that let these pages read answers (`addHeaders`).
 * `preflight` returns undefined for all other requests. On a server without authentication,
 * host-guard.ts refuses requests from pages of other origins.
 */

import { API_KEY_HEADER, IDEMPOTENCY_HEADER, REQUEST_ID_HEADER } from '../../protocol/index.ts';
import { invalid, object, TRACE_HEADERS, texts } from '../settings/index.ts';
import type { HttpAnswer, RequestState } from './request-state.ts';

/** The pages that a browser may let use a server. */
export interface CorsOptions {
  /** As of `https://app.example`: scheme, host, and a port that is not the scheme's own. */
  readonly origins: readonly string[];
}

/** How long a browser may keep the answer about an origin, in seconds. */
const MAX_AGE = 600;

export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #requestHeaders: string;

  /** @param headers those that select databases. @throws InvalidInput for what is no origin */
  constructor(options: CorsOptions | undefined, headers: readonly string[]) {
    const { origins } = object(options ?? { origins: [] }, 'cors', ['origins']);
    this.#origins = new Set(texts(origins, 'cors.origins').map(originOf));
    const known = ['authorization', 'content-type', API_KEY_HEADER, IDEMPOTENCY_HEADER];
    this.#requestHeaders = [...known, REQUEST_ID_HEADER, ...TRACE_HEADERS, ...headers].join(', ');
  }

  allows(origin: string | undefined): boolean {
    return origin !== undefined && this.#origins.has(origin);
  }

  /** The answer to a browser that asks before it sends a request; undefined to anything else. */
  preflight({ request, headers }: RequestState): HttpAnswer | undefined {
    const asked = headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || asked === undefined) return undefined;
    if (!this.allows(headers.origin)) return undefined;
    return {
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': this.#requestHeaders,
        'access-control-max-age': String(MAX_AGE),
      },
      body: '',
    };
  }

  /** Adds to those of an answer what lets the page read it. */
  addHeaders({ headers: { origin } }: RequestState, answer: Record<string, string>): void {
    if (this.#origins.size === 0) return;
    // Caches must not hand the answer to one page to another.
    answer.vary = answer.vary === undefined ? 'origin' : `${answer.vary}, origin`;
    if (origin === undefined || !this.allows(origin)) return;
    answer['access-control-allow-origin'] = origin;
    answer['access-control-expose-headers'] = '*';
  }
}

function originOf(origin: string, at: number): string {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  throw invalid(
    `cors.origins[${at}] is ${JSON.stringify(origin.slice(0, 200))}, which is not an origin such as "https://app.example" (scheme and host, no path); name every origin, "*" is not taken.`,
  );
}
