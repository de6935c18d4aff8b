/**
 * `pageHeaders` adds the security headers and the caching rule of the page's files and answers;
 * failures have none. `refuseOtherPages` refuses requests that a page of another origin sends
 * (PermissionDenied). host-guard.ts checks the host that a request names.
 */
import { DirspaceError } from '../../errors.ts';
import type { HttpAnswer, RequestState } from '../http/index.ts';

/** No inline code, no frames, nothing from elsewhere. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export const pageHeaders = (answer: HttpAnswer, cache: string): HttpAnswer => ({
  ...answer,
  headers: { ...SECURITY_HEADERS, 'cache-control': cache, ...answer.headers },
});

/**
 * A page of another site may send requests with a session's cookie only where a browser does not
 * know SameSite; what it tells of their origin is checked all the same. @throws PermissionDenied
 */
export function refuseOtherPages({ headers }: RequestState): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new DirspaceError(
    'PermissionDenied',
    'The request comes from a page of another site; the page of this server asks from its own address alone. A proxy in front of it has to pass the header Host on.',
  );
}
