/**
 * Headers and address of a request, and the context of an answer. Nothing is sent here.
 *
 * Context entries named `header.X` are the header X; identity and the other entries travel in JSON
 * bodies, and where there is none, identity becomes headers.
 */

import type { SplitRequest } from '../protocol/exchange.ts';
import type { Context, Identity } from '../protocol/models.ts';
import type { CallOptions } from '../protocol/namespace.ts';
import type { OperationRow } from '../protocol/operation-row.ts';
import { checkHeader } from './client-options.ts';
import {
  API_KEY_HEADER,
  ARROW_FILE_TYPE,
  ARROW_STREAM_TYPE,
  HEADER_CONTEXT,
  IDEMPOTENCY_HEADER,
  JSON_TYPE,
} from './header-names.ts';

interface Envelope {
  readonly identity?: Identity;
  readonly context?: Context;
}

interface SplitEnvelope<Request> {
  readonly headers: Readonly<Record<string, string>>;
  /** The request with what is left for its body. */
  readonly members: Request;
}

/** Headers of the call count for more than those of the connection. */
export function callHeaders<Request extends Envelope>(
  row: OperationRow,
  request: Request,
  connection: readonly (readonly [string, string])[],
  { idempotencyKey }: CallOptions,
): SplitEnvelope<Request> {
  const headers: Record<string, string> = Object.create(null);
  headers.accept =
    row.answer === 'arrow-file' ? `${ARROW_STREAM_TYPE}, ${ARROW_FILE_TYPE};q=0.9` : JSON_TYPE;
  headers['user-agent'] = 'dirspace';
  for (const [name, value] of connection) headers[name] = value;

  const { identity, context, ...members } = request;
  const remaining: Record<string, string> = {};
  for (const [key, value] of Object.entries(context ?? {})) {
    if (!key.startsWith(HEADER_CONTEXT)) {
      remaining[key] = value;
      continue;
    }
    const [name, checked] = checkHeader(key.slice(HEADER_CONTEXT.length), value);
    headers[name] = checked;
  }
  if (idempotencyKey !== undefined) {
    const [name, value] = checkHeader(IDEMPOTENCY_HEADER, idempotencyKey);
    headers[name] = value;
  }

  if (row.body === 'json') {
    headers['content-type'] = JSON_TYPE;
    const envelope = {
      ...(identity === undefined ? {} : { identity }),
      ...(Object.keys(remaining).length === 0 ? {} : { context: remaining }),
    };
    return { headers, members: { ...members, ...envelope } as Request };
  }
  if (row.body === 'map') headers['content-type'] = JSON_TYPE;
  if (row.body === 'arrow-stream') headers['content-type'] = ARROW_STREAM_TYPE;
  if (identity?.api_key !== undefined) {
    headers[API_KEY_HEADER] = checkHeader(API_KEY_HEADER, identity.api_key)[1];
  }
  if (identity?.auth_token !== undefined) {
    headers.authorization = checkHeader('authorization', `Bearer ${identity.auth_token}`)[1];
  }
  return { headers, members: members as Request };
}

export function addressOf(base: string, { path, query }: SplitRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (typeof value === 'string') parameters.append(name, value);
    else for (const item of value) parameters.append(name, item);
  }
  const text = parameters.toString();
  return text === '' ? base + path : `${base}${path}?${text}`;
}

/** Every header of an answer, as context. */
export function contextOf(headers: Headers): Context {
  const context: Record<string, string> = {};
  headers.forEach((value, name) => {
    context[HEADER_CONTEXT + name] = value;
  });
  return context;
}
