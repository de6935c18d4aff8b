/** Requests of the page: what it does when its session has ended. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { downloadAddress } from '../../../src/ui/base/download.ts';
import { ABOUT, ask, ServerError, signIn, whenSignedOut } from '../../../src/ui/base/server.ts';

beforeEach(() => {
  vi.stubGlobal('location', { pathname: '/ui' });
});
afterEach(() => {
  whenSignedOut(() => {});
  vi.unstubAllGlobals();
});

test('a view that finds the session ended tells the page, which asks who the caller is', async () => {
  let status = 401;
  vi.stubGlobal('fetch', async () => new Response('{"error":"no"}', { status }));
  let told = 0;
  whenSignedOut(() => told++);
  await expect(ask('table')).rejects.toEqual(new ServerError(401, 'no'));
  expect(told).toBe(1);
  // The page asks this itself and shows the sign-in; a wrong key is told where it was entered.
  await expect(ask(ABOUT)).rejects.toMatchObject({ status: 401 });
  await expect(signIn('k')).rejects.toMatchObject({ status: 401 });
  status = 403;
  await expect(ask('table')).rejects.toMatchObject({ status: 403 });
  expect(told).toBe(1);
});

test.each(['/front/ui', '/front/ui/'])(
  'requests of the page at %s go below it',
  async (pathname) => {
    vi.stubGlobal('location', { pathname });
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (address: string) => {
      asked.push(address);
      return new Response('{}');
    });
    await ask('table');
    await signIn('k');
    expect(asked).toEqual(['/front/ui/api/table', '/front/ui/session']);
    expect(downloadAddress('csv', {})).toMatch(/^\/front\/ui\/rows\/csv\?/);
  },
);
