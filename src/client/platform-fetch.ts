/**
 * The `fetch` of the platform without the clocks of its own: it gives up on an answer that does not
 * begin within five minutes, and how long to wait is the caller's to say.
 */

/** What sends requests in Node's `fetch`, an agent or a proxy of the program's; see undici. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 };

const current = (): Dispatcher | undefined =>
  (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER];

const patient: Dispatcher = {
  dispatch: (options, handler) =>
    (current() as Dispatcher).dispatch({ ...options, ...UNTIMED }, handler),
};

export function platformFetch(url: string, init: RequestInit): Promise<Response> {
  // The dispatcher is there from the first use of anything that belongs to `fetch`.
  if (current() === undefined) new Headers();
  const through = current() === undefined ? init : { ...init, dispatcher: patient };
  return fetch(url, through as RequestInit);
}
