/** Requests of the page: those sent ahead, their addresses, and the end of the session. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { downloadAddress } from '../../../src/ui/base/download.ts';
import {
  ABOUT,
  ask,
  askAhead,
  forgetAhead,
  ServerError,
  signIn,
  useDatabase,
  whenSignedOut,
} from '../../../src/ui/base/server.ts';

beforeEach(() => {
  vi.stubGlobal('location', { pathname: '/ui' });
});
afterEach(() => {
  whenSignedOut(() => {});
  useDatabase(undefined);
  forgetAhead();
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

describe('a request that was sent ahead', () => {
  const answers = (...given: readonly Response[]): { asked: string[] } => {
    const told = { asked: [] as string[] };
    const left = [...given];
    vi.stubGlobal('fetch', async (address: string) => {
      told.asked.push(address);
      return left.shift();
    });
    return told;
  };
  const answer = (number: number): Response => new Response(JSON.stringify({ number }));

  test('answers the first that asks for the same, and no other', async () => {
    const told = answers(answer(1), answer(2), answer(3), answer(4));
    askAhead('table', { id: ['a'] });
    expect(told.asked).toEqual(['/ui/api/table']);
    expect(await ask('table', { id: ['b'] })).toEqual({ number: 2 });
    expect(await ask('table', { id: ['a'] })).toEqual({ number: 1 });
    expect(await ask('table', { id: ['a'] })).toEqual({ number: 3 });
    expect(told.asked).toHaveLength(3);
  });

  test('is of one database', async () => {
    answers(answer(1), answer(2));
    askAhead('table', { id: ['a'] });
    useDatabase('other');
    expect(await ask('table', { id: ['a'] })).toEqual({ number: 2 });
  });

  test('fails where it is asked for, once', async () => {
    answers(new Response('{"error":"no"}', { status: 401 }), answer(2));
    let told = 0;
    whenSignedOut(() => told++);
    askAhead('table', {});
    await expect(ask('table', {})).rejects.toEqual(new ServerError(401, 'no'));
    expect(told).toBe(1);
    expect(await ask('table', {})).toEqual({ number: 2 });
  });

  test('is forgotten once the views have asked', async () => {
    answers(answer(1), answer(2));
    askAhead('table', {});
    forgetAhead();
    expect(await ask('table', {})).toEqual({ number: 2 });
  });
});
