/**
 * `createApp` makes the handler of all requests, from sockets (node-http.ts) or from `fetch`
 * (app-fetch.ts). The handler routes a request and converts failures to answers, so that its answer
 * never rejects. Whoever sends the answer calls `end` when the request is over. A path or method
 * without a route fails with `RouteNotFound`, unless `preflight` answers it or it is `OPTIONS *`.
 */
import {
  ClientGone,
  type HttpAnswer,
  type HttpRequest,
  type RequestState,
  type WireRequest,
} from './request-state.ts';
import { type Router, splitAddress } from './router.ts';

export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Stands in metrics: of an operation, its name. */
  readonly name: string;
  /** Parameters stand in braces. */
  readonly path: string;
  /** Answered under load, while stopping, and for every host. */
  readonly always?: true;
  /** Answered under load, but not to every host. */
  readonly underLoad?: true;
  readonly answer: (http: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
}

export interface AppOptions {
  readonly router: Router<Route>;
  /** Called before a request is routed; answers the address to route and what is kept of it. */
  readonly begin: (request: WireRequest) => { readonly url: string; readonly state: RequestState };
  /** Called before a route is asked; throws what refuses the request. */
  readonly admit: (state: RequestState, route: Route | undefined) => void;
  /** The answer to a browser that asks whether it may send a request. */
  readonly preflight: (state: RequestState) => HttpAnswer | undefined;
  /** Adds what goes with every answer. */
  readonly decorate: (state: RequestState, answer: HttpAnswer) => HttpAnswer;
  readonly failed: (state: RequestState, failure: unknown) => HttpAnswer;
  /** Answers a request in place of its route; the route does if absent. */
  readonly answer?: (route: Route, http: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
  /** Called once for each request, when its answer is sent or its caller is gone. */
  readonly ended: (state: RequestState, status: number) => void;
}

/** One request under way. */
export interface Exchange {
  readonly state: RequestState;
  /** Never rejects. */
  readonly answer: Promise<HttpAnswer>;
  /** The caller waits no longer: aborts the signal of the request. */
  gone(): void;
  /** The body of the answer failed on its way: the caller gets a part of it, the log the reason. */
  broken(error: unknown): void;
  /** To be called once, when the answer has been sent with that status or never will be. */
  end(status: number): void;
}

/** Handles a request. The caller (node-http.ts, app-fetch.ts) sends the answer and calls `end`. */
export type Handler = (request: WireRequest) => Exchange;

/** The reason why nothing answers at an address, or not by the method of the request. */
export class RouteNotFound extends Error {
  /** The methods that the address takes; none where it is unknown. */
  readonly allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    super('no route');
    this.allowed = allowed;
  }
}

export function createApp(options: AppOptions): Handler {
  const { router } = options;
  return (request) => {
    const { url, state } = options.begin(request);
    return {
      state,
      answer: answerTo(router, options, request, url, state),
      gone: () => state.progress.abort(new ClientGone()),
      broken: (error) => {
        if (state.progress.reason instanceof ClientGone) return;
        state.brokenOff = error;
        state.progress.abort(error);
      },
      end: (status) => {
        options.ended(state, status);
        state.drop();
      },
    };
  };
}

async function answerTo(
  router: Router<Route>,
  { admit, preflight, decorate, failed, answer }: AppOptions,
  { method }: WireRequest,
  url: string,
  state: RequestState,
): Promise<HttpAnswer> {
  try {
    const { path, query } = splitAddress(url);
    const found = router.find(method, path);
    state.route = found?.route.name;
    admit(state, found?.route);
    const asked = found === undefined ? preflight(state) : undefined;
    if (asked !== undefined) return decorate(state, asked);
    if (method === 'OPTIONS' && path === '*') {
      // Of the server as a whole, and of none of its routes.
      const allow = ['OPTIONS', ...router.methodsAt(path)].sort().join(', ');
      return decorate(state, { status: 204, headers: { allow }, body: '' });
    }
    if (found === undefined) throw new RouteNotFound(router.methods(path));
    const { route, parameters } = found;
    const http = { state, parameters, query };
    const answered = await (answer?.(route, http) ?? route.answer(http));
    return decorate(state, method === 'HEAD' ? ofHead(answered) : answered);
  } catch (failure) {
    return failed(state, failure);
  }
}

/** Nothing is sent of the body of an answer to HEAD, so that no more than the beginning of it is made. */
function ofHead(answer: HttpAnswer): HttpAnswer {
  const { body } = answer;
  if (typeof body === 'string') return answer;
  const pieces = body[Symbol.asyncIterator]();
  const next = async (): Promise<IteratorResult<Uint8Array>> => {
    // Begun, so that what it holds is given back as it ends.
    await pieces.next();
    await pieces.return?.();
    return { done: true, value: undefined };
  };
  const leave = async (): Promise<IteratorResult<Uint8Array>> => {
    await pieces.return?.();
    return { done: true, value: undefined };
  };
  return { ...answer, body: { [Symbol.asyncIterator]: () => ({ next, return: leave }) } };
}
