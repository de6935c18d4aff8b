/**
 * `Sessions` keeps the credentials of the page's callers in memory, by the id in their cookie, so
 * that no script of the page holds a key. `open` and `close` begin and end a session, and
 * `credentialsOf` finds the one of a request. A session is forgotten 12 hours after its last use;
 * beyond 1,000 sessions, the least recently used ends. The cookie outlives that, and is of no use
 * afterwards. page-caller.ts authenticates the credentials again for each request. `redeem` opens a
 * session for a ticket, once. `cookieHeader` builds the cookie (HttpOnly, SameSite=Strict).
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Env } from '../../env.ts';
import { type Credentials, sha256 } from '../auth/index.ts';
import type { RequestState } from '../http/index.ts';
import type { UiTicket } from './options.ts';

const SESSION_MILLIS = 12 * 60 * 60 * 1000;
const MOST_SESSIONS = 1_000;
/** Longer than any session: browsers count from when it was opened, not from its last use. */
const COOKIE_SECONDS = 365 * 24 * 60 * 60;

interface Session {
  readonly credentials: Credentials;
  used: number;
}

export class Sessions {
  readonly #env: Env;
  /** By the digest of their id, least recently used first. */
  readonly #sessions = new Map<string, Session>();
  #ticket: UiTicket | undefined;

  constructor(env: Env, ticket?: UiTicket) {
    this.#env = env;
    this.#ticket = ticket;
  }

  /** Opens a session and answers the value of its cookie. */
  open(credentials: Credentials): string {
    // Not of `env`, whose ids may be replayed: whoever guesses this one has the session.
    const id = randomBytes(32).toString('base64url');
    if (this.#sessions.size >= MOST_SESSIONS) {
      const [oldest] = this.#sessions.keys();
      if (oldest !== undefined) this.#sessions.delete(oldest);
    }
    this.#sessions.set(keyOf(id), { credentials, used: this.#env.now() });
    return id;
  }

  /** The session of the ticket, once; undefined where the token is another or was used before. */
  redeem(token: string): string | undefined {
    const ticket = this.#ticket;
    if (ticket === undefined || !timingSafeEqual(sha256(ticket.token), sha256(token))) {
      return undefined;
    }
    this.#ticket = undefined;
    return this.open(ticket.credentials);
  }

  /** The credentials of a request's session, where its cookie names one that goes on. */
  credentialsOf(state: RequestState): Credentials | undefined {
    const id = cookieOf(state);
    if (id === undefined) return undefined;
    const key = keyOf(id);
    const session = this.#sessions.get(key);
    if (session === undefined) return undefined;
    this.#sessions.delete(key);
    const now = this.#env.now();
    if (now - session.used > SESSION_MILLIS) return undefined;
    session.used = now;
    this.#sessions.set(key, session);
    return session.credentials;
  }

  close(state: RequestState): void {
    const id = cookieOf(state);
    if (id !== undefined) this.#sessions.delete(keyOf(id));
  }
}

const keyOf = (id: string): string => sha256(id).toString('hex');

/** Cookies do not tell ports apart, so the name does: two servers of one machine keep theirs. */
function cookieName({ headers }: RequestState): string {
  const port = /:(\d+)$/.exec(headers.host ?? '')?.[1];
  return port === undefined ? 'dirspace-ui' : `dirspace-ui-${port}`;
}

function cookieOf(state: RequestState): string | undefined {
  const name = cookieName(state);
  for (const part of (state.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/**
 * The header that gives a browser its session; without an id, the one that takes it back. It names no
 * path: the browser takes the folder of the address that it asked, which a proxy may call otherwise.
 */
export function cookieHeader(state: RequestState, isSecure: boolean, id = ''): string {
  // A proxy in front may speak TLS where the server does not: the browser tells by its origin.
  const isOverTls = isSecure || /^https:/i.test(state.headers.origin ?? '');
  const age = id === '' ? 0 : COOKIE_SECONDS;
  const secure = isOverTls ? '; Secure' : '';
  return `${cookieName(state)}=${id}; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
}
