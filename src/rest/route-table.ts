/** Every route of a server: one for each row and alias of the operations table, and its own. */
import { DirspaceError } from '../errors.ts';
import { EVERY_OPERATION, EVERY_OPERATION_NAMES } from '../protocol/every-operation.ts';
import { ALIAS_ROUTES } from '../protocol/operations.ts';
import { jsonAnswer } from './answer.ts';
import type { Route } from './app.ts';
import type { Databases } from './databases.ts';
import { openApiDocument } from './openapi.ts';
import type { RequestState } from './request-state.ts';
import { answerOperation, type Services } from './routes.ts';

export function operationRoutes(services: Services): Route[] {
  const own = EVERY_OPERATION_NAMES.map((operation) => ({
    method: EVERY_OPERATION[operation].method,
    path: EVERY_OPERATION[operation].path,
    answer: (http: Parameters<Route['answer']>[0]) =>
      answerOperation(services, operation, undefined, http),
  }));
  const aliases = ALIAS_ROUTES.map((alias) => ({
    method: alias.method,
    path: alias.path,
    answer: (http: Parameters<Route['answer']>[0]) =>
      answerOperation(services, alias.operation, alias, http),
  }));
  return [...own, ...aliases];
}

/** Need no credentials: they say nothing of what is stored. */
export function ownRoutes(isStopping: () => boolean, databases: Databases): Route[] {
  let document: string | undefined;
  return [
    {
      method: 'GET',
      path: '/health',
      answer: () => jsonAnswer(200, { status: isStopping() ? 'stopping' : 'ok' }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      answer: () => {
        document ??= JSON.stringify(openApiDocument(databases.routingHeaders));
        return { status: 200, headers: { 'content-type': 'application/json' }, body: document };
      },
    },
  ];
}

export function noRoute(
  { request, path }: RequestState,
  allowed: readonly string[],
): DirspaceError {
  const asked = path.slice(0, 200);
  return new DirspaceError(
    'Unsupported',
    allowed.length === 0
      ? `There is no route ${request.method} ${asked}.`
      : `${asked} does not take ${request.method}; it takes ${allowed.join(' and ')}.`,
  );
}
