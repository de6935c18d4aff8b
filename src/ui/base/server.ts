/**
 * Sends the page's requests to the server as JSON (`ask`), with the session's cookie, and begins
 * and ends the session (`signIn`, `signOut`). A refused request throws `ServerError`; a request
 * without an answer throws one with status 0. `isSignedOut`, `isPassing`, `isMissing` and
 * `isAborted` tell kinds of failures apart. `useDatabase` sets the database of all later requests,
 * and `whenSignedOut` what is called when the session has ended. `askAhead` sends a request before
 * the view that asks for it is there; `forgetAhead` drops such answers. `allPages` gets the pages
 * of a list, at most 20 unless the caller gives another number.
 */

/** An answer of the server that tells of a failure. */
export class ServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const isSignedOut = (error: unknown): boolean =>
  error instanceof ServerError && error.status === 401;

/** Whether the same request may be answered later: no answer came, or the server had no room for it. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ServerError && [0, 429, 503].includes(error.status);

/** Whether the server does not have what was asked for. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ServerError && error.status === 404;

export const isAborted = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Set by the page: the database that requests are for, where there are several. */
let database: string | undefined;

export function useDatabase(name: string | undefined): void {
  database = name;
}

/** The database that requests name; undefined where the server has one catalog. */
export const databaseName = (): string | undefined => database;

/** Asks who the caller is. */
export const ABOUT = 'about';

let signedOut: (() => void) | undefined;

/** Set by the page: what to do when a request of a view finds that the session has ended. */
export function whenSignedOut(listener: () => void): void {
  signedOut = listener;
}

const answered = async (name: string, body: object, signal?: AbortSignal): Promise<unknown> =>
  (await send(`api/${name}`, body, signal)).json();

/** Answers on their way to the first view that asks for them, by request. */
const ahead = new Map<string, Promise<unknown>>();

const requestKey = (name: string, body: object): string => JSON.stringify([name, body, database]);

/**
 * Sends a request that the first view of the page will make, so that it is under way while the page
 * waits for what comes before the view. The first `ask` of the same gets its answer or its failure.
 */
export function askAhead(name: string, body: object): void {
  const answer = answered(name, body);
  ahead.set(requestKey(name, body), answer);
  // Told to the view that asks for it, if any does.
  answer.catch(() => {});
}

/** Lets requests go that were sent ahead and that no view asked for: their answers grow old. */
export const forgetAhead = (): void => ahead.clear();

/** The JSON of an answer. @throws ServerError, and what `fetch` rejects with */
export async function ask<Answer>(
  name: string,
  body: object = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const key = requestKey(name, body);
  const sent = ahead.get(key);
  ahead.delete(key);
  try {
    return (await (sent ?? answered(name, body, signal))) as Answer;
  } catch (error) {
    if (isSignedOut(error) && name !== ABOUT) signedOut?.();
    throw error;
  }
}

/**
 * An address below that of the page, which ends in a slash or not. A proxy may have put a path in
 * front of it.
 */
export const ownAddress = (path: string): string =>
  `${location.pathname.replace(/\/$/, '')}/${path}`;

async function send(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(ownAddress(path), {
      method: 'POST',
      credentials: 'same-origin',
      headers: {
        'content-type': 'application/json',
        ...(database === undefined ? {} : { 'x-service-database': database }),
      },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ServerError(0, 'The server does not answer. It may have been stopped.');
  }
  if (response.ok) return response;
  const text = await response.text();
  throw new ServerError(
    response.status,
    inPaths(detailOf(text) ?? `The server answered ${response.status}.`, body),
  );
}

/** The id of the request, and those of namespaces that it is in, as the page writes them. */
function inPaths(text: string, { id }: { readonly id?: unknown }): string {
  if (!Array.isArray(id)) return text;
  let told = text;
  for (let length = id.length; length > 1; length--) {
    const path = id.slice(0, length);
    told = told.replaceAll(path.join('$'), () => path.join('/'));
  }
  return told;
}

function detailOf(text: string): string | undefined {
  try {
    const { detail, error } = JSON.parse(text) as { detail?: string; error?: string };
    return detail ?? error;
  } catch {
    return undefined;
  }
}

/** Opens a session with an API key or a bearer token. @throws ServerError where it is not valid */
export const signIn = (credential: string): Promise<Response> => send('session', { credential });
export const signOut = (): Promise<Response> => send('session-end', {});

/** The pages of a list, at most `most` of them; 10,000 names each unless the body has a limit. */
export async function allPages<Answer extends { readonly page_token?: string }>(
  name: string,
  body: object,
  signal?: AbortSignal,
  most = 20,
): Promise<Answer[]> {
  const pages: Answer[] = [];
  let token: string | undefined;
  do {
    const page: Answer = await ask<Answer>(
      name,
      { limit: 10_000, ...body, ...(token === undefined ? {} : { page_token: token }) },
      signal,
    );
    pages.push(page);
    token = page.page_token === '' ? undefined : page.page_token;
  } while (token !== undefined && pages.length < most);
  return pages;
}
