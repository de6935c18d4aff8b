/** Requests of the page: what it does when its session has ended. */
import { afterEach, expect, test, vi } from 'vitest';
import { ABOUT, ask, ServerError, signIn, whenSignedOut } from '../../../src/ui/base/server.ts';

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
