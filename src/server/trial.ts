/**
 * Defines `Trial`, the hooks that a test fixture adds to a server. A fixture can add control routes
 * (`controlRoutes`, recognised by `isControl`) and headers, listen to answered requests, and answer
 * operations in place of the server. Control routes need no credentials, and the listener is not
 * called for them. server.ts makes a server with these hooks (`createTrialServer`).
 */
import type { AnyOperation } from '../protocol/index.ts';
import {
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  jsonAnswer,
  type Route,
  readJson,
} from './http/index.ts';
import type { Services } from './routes.ts';

export interface Control {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Takes the JSON of the body, if there is one; answers JSON, or nothing. */
  readonly answer: (body: unknown) => unknown;
}

/** A request, answered or not. */
export interface TrialRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly operation?: AnyOperation;
  /** When it came, by the clock that only goes forward. */
  readonly begun: number;
}

/** A request of an operation, before it is answered. */
export interface TrialCall {
  readonly operation: AnyOperation;
  /** Carries the request out as the server would. */
  work(): Promise<HttpAnswer>;
  /** Does something first that may take any time. Its signal is aborted when the caller leaves. */
  untimed(first: (signal: AbortSignal) => Promise<void>): Promise<void>;
}

export interface Trial {
  readonly controls: readonly Control[];
  /** Headers that every answer gets besides its own. */
  headers(): Readonly<Record<string, string>>;
  /** Answers a request of an operation. */
  answer(call: TrialCall): Promise<HttpAnswer>;
  /** Called once for each request that is not for a control, before its answer is sent. */
  answered(request: TrialRequest, answer: HttpAnswer): void;
}

const CONTROL = 'control';

export const isControl = (route: string | undefined): boolean => route === CONTROL;

export function controlRoutes({ controls }: Trial, { limits, arrivals }: Services): Route[] {
  return controls.map(({ method, path, answer }) => ({
    method,
    name: CONTROL,
    path,
    answer: async ({ state }: HttpRequest) => {
      const caller = state.request.peer ?? '';
      const arriving = { caller, arrivals, pace: limits, progress: state.progress };
      const body =
        method === 'GET' ? undefined : await readJson(state, limits.maxJsonBytes, arriving);
      const given = await answer(body);
      return given === undefined ? emptyAnswer(204) : jsonAnswer(200, given as object);
    },
  }));
}
