/**
 * `Journal` keeps the newest requests that a fixture answered, so that a test can see what a client
 * sent. It records no headers and no bodies, and cuts addresses of more than 4,096 characters. It
 * shows the values of the protocol's own query parameters only, because others may be keys.
 * `newest` returns a copy, oldest first. `add` ignores a request that began before the last
 * `clear`.
 */
import { DirspaceError } from '../errors.ts';
import { EVERY_OPERATION } from '../protocol/index.ts';

/** A request that a fixture answered. */
export interface FixtureRequest {
  /** From 1 on, since the beginning or the last reset. */
  readonly number: number;
  readonly method: string;
  /** The path and the query as they were sent; `…` stands for values of parameters that the protocol does not have. */
  readonly path: string;
  /** The name of the operation, such as `QueryTable`; absent where the address is of none. */
  readonly operation?: string;
  /** Absent where a fault ended the connection without an answer. */
  readonly status?: number;
}

const MOST_REQUESTS = 1_000_000;
/** Characters of an address; of longer ones the beginning is kept. */
const MOST_ADDRESS = 4_096;
const HIDDEN = '…';

export class Journal {
  readonly #most: number;
  /** A ring: the next one takes the place of the oldest. */
  #requests: FixtureRequest[] = [];
  #count = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** @param most requests that are kept; the oldest go first. @throws InvalidInput */
  constructor(most: number) {
    if (!Number.isSafeInteger(most) || most < 1 || most > MOST_REQUESTS) {
      throw new DirspaceError(
        'InvalidInput',
        `The option journal is ${typeof most === 'number' ? most : JSON.stringify(most)}; it is a whole number of requests from 1 to ${MOST_REQUESTS}.`,
        { details: { option: 'journal' } },
      );
    }
    this.#most = most;
  }

  /** @param begun when the request came, by the clock that only goes forward; one before `clear` is of no use */
  add(request: Omit<FixtureRequest, 'number'>, begun: number): void {
    if (begun < this.#since) return;
    const place = this.#count % this.#most;
    this.#count += 1;
    this.#requests[place] = {
      number: this.#count,
      ...request,
      path: shownAddress(request.path),
    };
  }

  /** A copy, oldest first. */
  newest(): FixtureRequest[] {
    const oldest = this.#count < this.#most ? 0 : this.#count % this.#most;
    return [...this.#requests.slice(oldest), ...this.#requests.slice(0, oldest)];
  }

  clear(): void {
    this.#requests = [];
    this.#count = 0;
    this.#since = performance.now();
  }
}

/** Names of query parameters whose values are shown. */
const SHOWN = new Set([
  'delimiter',
  ...Object.values(EVERY_OPERATION).flatMap(({ query }) => Object.keys(query)),
]);

/** Path and query; whatever may be a key is hidden. */
function shownAddress(url: string): string {
  // A whole address may have a password before its host.
  const local = url.startsWith('/') ? url : url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const at = local.indexOf('?');
  const path = at < 0 ? local : `${local.slice(0, at)}?${shownQuery(local.slice(at + 1))}`;
  return path.length > MOST_ADDRESS ? path.slice(0, MOST_ADDRESS) + HIDDEN : path;
}

const shownQuery = (query: string): string =>
  query
    .slice(0, MOST_ADDRESS)
    .split('&')
    .map((pair) => {
      const [name = '', value] = pair.split('=', 2);
      if (SHOWN.has(name) || pair === '') return pair;
      return value === undefined ? HIDDEN : `${name}=${HIDDEN}`;
    })
    .join('&');
