/**
 * Builds the headers (`callHeaders`) and the address (`addressOf`) of a request to a server, and
 * the context of a response from its headers (`contextOf`). A context entry named `header.X`
 * becomes the header X; a value that no header can carry, and an entry that has no place in the
 * request, throw InvalidInput. `withoutSecrets` removes the credentials of a request from an error,
 * if they have 6 characters or more.
 */
import { DirspaceError } from '../errors.ts';
import {
  API_KEY_HEADER,
  ARROW_FILE_TYPE,
  ARROW_STREAM_TYPE,
  type CallOptions,
  type Context,
  HEADER_CONTEXT,
  IDEMPOTENCY_HEADER,
  type Identity,
  JSON_TYPE,
  type OperationRow,
  OWN_CLIENT,
  type SplitRequest,
} from '../protocol/index.ts';
import { checkHeader } from './client-options.ts';
import type { ReadHeaders } from './whole-answer.ts';

interface Envelope {
  readonly identity?: Identity;
  readonly context?: Context;
}

interface SplitEnvelope<Request> {
  readonly headers: Readonly<Record<string, string>>;
  /** The request with what is left for its body. */
  readonly members: Request;
}

/**
 * What the request itself names counts for more than the headers of the connection. An identity
 * replaces the connection's credentials whole: a key of the connection beside a token of the
 * request would leave it to the server who asks. Context entries that name no header stay in the
 * JSON body.
 * @throws InvalidInput for what no header can carry, for a header that is named twice, and for
 * such an entry where the request has no JSON body
 */
export function callHeaders<Request extends Envelope>(
  operation: string,
  row: OperationRow,
  request: Request,
  connection: readonly (readonly [string, string])[],
  { idempotencyKey, traceContext }: CallOptions,
): SplitEnvelope<Request> {
  const { identity, context = {}, ...members } = request;
  const credentials = credentialHeaders(identity);
  const headers: Record<string, string> = Object.create(null);
  headers.accept =
    row.answer === 'arrow-file' ? `${ARROW_STREAM_TYPE}, ${ARROW_FILE_TYPE};q=0.9` : JSON_TYPE;
  headers['user-agent'] = OWN_CLIENT;
  for (const [name, value] of connection) {
    if (credentials.size === 0 || !isCredential(name, value)) headers[name] = value;
  }
  // Both, or neither: a state of the connection would belong to another trace.
  if (traceContext !== undefined) {
    delete headers.tracestate;
    for (const [name, value] of Object.entries(traceContext)) {
      if (value !== undefined) headers[name] = checkHeader(name, value)[1];
    }
  }
  const named = new Map(credentials);
  for (const [key, value] of Object.entries(context)) {
    if (key.startsWith(HEADER_CONTEXT)) addHeader(named, key, value);
  }
  for (const [name, value] of named) headers[name] = value;
  if (idempotencyKey !== undefined) {
    const [name, value] = checkHeader(IDEMPOTENCY_HEADER, idempotencyKey);
    headers[name] = value;
  }

  const remaining = Object.entries(context).filter(([key]) => !key.startsWith(HEADER_CONTEXT));
  if (row.body === 'arrow-stream') headers['content-type'] = ARROW_STREAM_TYPE;
  else if (row.body !== 'none') headers['content-type'] = JSON_TYPE;
  if (row.body === 'json') {
    const envelope = {
      ...(identity === undefined ? {} : { identity }),
      ...(remaining.length === 0 ? {} : { context: Object.fromEntries(remaining) }),
    };
    return { headers, members: { ...members, ...envelope } as Request };
  }
  const [unsent] = remaining;
  if (unsent !== undefined) throw noPlace(operation, unsent[0]);
  return { headers, members: members as Request };
}

/** The headers of an identity. An empty one is refused: the connection's would be sent instead. */
function credentialHeaders({ api_key, auth_token }: Identity = {}): Map<string, string> {
  const headers = new Map<string, string>();
  if (api_key !== undefined) {
    checkGiven('identity.api_key', api_key);
    headers.set(...checkHeader(API_KEY_HEADER, api_key, 'identity.api_key'));
  }
  if (auth_token !== undefined) {
    checkGiven('identity.auth_token', auth_token);
    if (/^\s*bearer\s/i.test(auth_token)) {
      throw badIdentity(
        'identity.auth_token',
        'identity.auth_token begins with "Bearer", which is added when it is sent; give the token alone.',
      );
    }
    headers.set(...checkHeader('authorization', `Bearer ${auth_token}`, 'identity.auth_token'));
  }
  return headers;
}

function checkGiven(member: string, value: string): void {
  if (value.trim() !== '') return;
  throw badIdentity(
    member,
    `${member} is empty; give a credential, or leave it out to use those of the connection.`,
  );
}

const badIdentity = (member: string, message: string): DirspaceError =>
  new DirspaceError('InvalidInput', message, { details: { member } });

/** Other schemes of `authorization` may be meant for a gateway on the way: these stay. */
const isCredential = (name: string, value: string): boolean =>
  name === API_KEY_HEADER || (name === 'authorization' && /^bearer\b/i.test(value));

function addHeader(named: Map<string, string>, key: string, given: string): void {
  const [name, value] = checkHeader(key.slice(HEADER_CONTEXT.length), given, key);
  if (named.has(name) && named.get(name) !== value) {
    throw new DirspaceError(
      'InvalidInput',
      `The request names the header ${name} twice, with different values: the context entry ${JSON.stringify(key)} is one of them. Name it once.`,
      { details: { member: key } },
    );
  }
  named.set(name, value);
}

function noPlace(operation: string, key: string): DirspaceError {
  const shown = JSON.stringify(key.slice(0, 80));
  return new DirspaceError(
    'InvalidInput',
    `The context entry ${shown} cannot be sent: a request of ${operation} has no JSON body for it. Named ${JSON.stringify(HEADER_CONTEXT + key.slice(0, 80))}, it is sent as a header.`,
    { details: { operation, member: `context.${key.slice(0, 80)}` } },
  );
}

/** The error without the credentials of the request: servers and gateways may echo what they got. */
export function withoutSecrets(
  error: DirspaceError,
  sent: Readonly<Record<string, string>>,
): DirspaceError {
  const { [API_KEY_HEADER]: key = '', authorization = '' } = sent;
  const token = authorization.replace(/^\S+ +/, '');
  // Shorter ones protect nothing, and their letters are those of other words.
  const secrets = [key, token]
    .filter((secret) => secret.length >= 6)
    // One may be a part of the other.
    .sort((one, other) => other.length - one.length);
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return secrets.reduce((text, secret) => text.replaceAll(secret, '[redacted]'), value);
    }
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, clean(part)]));
  };
  if (secrets.length === 0) return error;
  const details = clean(error.details) as Readonly<Record<string, unknown>>;
  return new DirspaceError(error.code, clean(error.message) as string, { details });
}

/** Texts that are the same in a query, whichever way they are encoded. */
const PLAIN = /^[\w.-]*$/;

export function addressOf(base: string, { path, query }: SplitRequest): string {
  const [first, ...more] = Object.entries(query);
  if (first === undefined) return base + path;
  const [name, value] = first;
  if (more.length === 0 && typeof value === 'string' && PLAIN.test(name) && PLAIN.test(value)) {
    return `${base}${path}?${name}=${value}`;
  }
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
export function contextOf(headers: ReadHeaders): Context {
  const context: Record<string, string> = {};
  headers.forEach((value, name) => {
    const key = HEADER_CONTEXT + name;
    // Only `set-cookie` comes more than once.
    context[key] = context[key] === undefined ? value : `${context[key]}, ${value}`;
  });
  return context;
}
