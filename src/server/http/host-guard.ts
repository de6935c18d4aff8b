/**
 * `hostGuard` protects a server without authentication from web pages that reach this machine under
 * a name of their own (DNS rebinding). It refuses foreign host names in requests over a socket
 * (MisdirectedRequest), and requests from pages of other origins (PermissionDenied) unless CORS
 * allows the origin. With authentication, it only checks host names, and only if allowed ones are
 * configured. `requireHost` checks the headers Host and Transfer-Encoding, and
 * `requireMetExpectation` the header Expect (`UnmetExpectation`); both throw InvalidInput.
 * `isLoopback` recognises names and addresses of this machine.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isIPv4 } from 'node:net';
import { DirspaceError } from '../../errors.ts';
import { texts } from '../settings/index.ts';
import type { RequestState } from './request-state.ts';

export interface HostRules {
  /** Host names without a port; `*.` in front stands for any first part. */
  readonly allowed: readonly string[];
  /** Names that select a database. */
  readonly routed: readonly string[];
  readonly authenticates: boolean;
  /** Whether pages of that origin were let in by name. */
  readonly allowsOrigin: (origin: string) => boolean;
}

/** Checks the host of a request. Throws InvalidInput, MisdirectedRequest and PermissionDenied. */
export function hostGuard(rules: HostRules): (state: RequestState) => void {
  const { authenticates } = rules;
  const allowed = texts(rules.allowed, 'allowedHosts');
  // With credentials every name will do, unless names were given.
  const checks = !authenticates || allowed.length > 0;
  const names = new Set([...allowed, ...rules.routed].map((name) => name.toLowerCase()));
  return ({ request, headers }) => {
    // What comes without a socket comes from this program.
    if (checks && request.peer !== undefined) {
      for (const host of [headers.host, authorityOf(request.url)]) {
        if (!isKnown(host, names)) throw misdirected(host);
      }
    }
    const { origin } = headers;
    if (authenticates || (origin !== undefined && rules.allowsOrigin(origin))) return;
    refuseOtherSites(headers);
  };
}

/**
 * HTTP asks for it, and Node would refuse without a body of ours. A body in chunks that a server in between
 * may take for something else would hide a second request in it.
 */
export function requireHost({ request }: RequestState): void {
  const { httpVersion, headers } = request;
  const hosts = request.sent('host').length;
  if (hosts > 1) {
    throw new DirspaceError('InvalidInput', `The request has ${hosts} Host headers; send one.`);
  }
  if (hosts === 0 && httpVersion !== '1.0') {
    throw new DirspaceError('InvalidInput', 'The request has no Host header.');
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion !== '1.0')) return;
  throw new DirspaceError(
    'InvalidInput',
    `The transfer-encoding is ${JSON.stringify(coding.slice(0, 80))} in HTTP/${httpVersion}; bodies come with their length, or from HTTP/1.1 on "chunked".`,
  );
}

/** The server cannot do what the header Expect asks for: the request is answered 417. */
export class UnmetExpectation extends DirspaceError {
  constructor({ expect = '' }: IncomingHttpHeaders) {
    const asked = JSON.stringify(expect.slice(0, 80));
    super('InvalidInput', `The header Expect is ${asked}; the server meets "100-continue" alone.`);
  }
}

export function requireMetExpectation({ request }: RequestState): void {
  if (request.expectsOther) throw new UnmetExpectation(request.headers);
}

/** The host of a target that is a whole address, as proxies are sent; it counts beside the header. */
const authorityOf = (url: string): string | undefined => /^https?:\/\/([^/?]*)/i.exec(url)?.[1];

function isKnown(host: string | undefined, names: ReadonlySet<string>): boolean {
  // Of HTTP/1.0, which no browser speaks.
  if (host === undefined) return true;
  const name = host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  if (isLoopback(name) || names.has(name)) return true;
  const dot = name.indexOf('.');
  return dot > 0 && names.has(`*${name.slice(dot)}`);
}

/** A name or an address that is of this machine, whoever resolves it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

const misdirected = (host: string | undefined): DirspaceError =>
  new DirspaceError(
    'MisdirectedRequest',
    `This server does not answer for the host ${JSON.stringify(String(host).slice(0, 200))}: it answers for this machine's own names and for those of its option "allowedHosts".`,
  );

/**
 * Values of Sec-Fetch-Site of pages that are let in. Browsers ask for images, scripts and links
 * without an Origin, and tell by this header whether a page of another site asks.
 */
const OWN_SITES: readonly unknown[] = [undefined, 'none', 'same-origin'];

function refuseOtherSites(headers: RequestState['headers']): void {
  const { origin, host } = headers;
  const isOwn = origin === undefined || isOfHost(origin, host);
  if (isOwn && OWN_SITES.includes(headers['sec-fetch-site'])) return;
  throw new DirspaceError(
    'PermissionDenied',
    'The request comes from a page of another site; a server without "auth" takes none of these.',
  );
}

/** Whether a page is of the host itself; one that a browser did not get by HTTP is of none. */
function isOfHost(origin: string, host: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: own } = new URL(origin);
  return /^https?:$/.test(protocol) && own === host;
}
