/**
 * `platformFetch` calls the platform's `fetch` without the timeouts of undici, which gives up when
 * a response does not begin, or pauses, for five minutes. client.ts applies the caller's timeouts
 * instead. `currentDispatcher` returns the dispatcher that sends the requests of Node's `fetch`, or
 * undefined if the platform's `fetch` is not undici's.
 */

/** undici's dispatcher, which sends the requests of Node's `fetch`; a program may set its own. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

const DISPATCHER = Symbol.for('undici.globalDispatcher.1');
export const UNTIMED = { headersTimeout: 0, bodyTimeout: 0 };

const current = (): Dispatcher | undefined =>
  (globalThis as { [DISPATCHER]?: Dispatcher })[DISPATCHER];

const patient: Dispatcher = {
  dispatch: (options, handler) =>
    (current() as Dispatcher).dispatch({ ...options, ...UNTIMED }, handler),
};

/** Undefined on platforms whose `fetch` is not undici's. */
export function currentDispatcher(): Dispatcher | undefined {
  // It is there from the first use of anything that belongs to `fetch`.
  if (current() === undefined) new Headers();
  return current();
}

export function platformFetch(url: string, init: RequestInit): Promise<Response> {
  const through = currentDispatcher() === undefined ? init : { ...init, dispatcher: patient };
  return fetch(url, through as RequestInit);
}
