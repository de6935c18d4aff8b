/** Which route an address leads to, and what its parameters are. */
import { describe, expect, test } from 'vitest';
import { Router, splitAddress } from '../../src/server/http/router.ts';

const PATHS = [
  'GET /v1/table',
  'POST /v1/table/{id}/describe',
  'POST /v1/table/version/batch',
  'POST /v1/table/{id}/{name}',
  'POST /v1/table/{id}/index/{name}/stats',
  'GET /v1/table/{id}/describe/all',
];
const router = new Router(
  PATHS.map((text) => {
    const [method = '', path = ''] = text.split(' ');
    return { method, path };
  }),
);

const found = (method: string, path: string): unknown => {
  const match = router.find(method, path);
  return match && [match.route.path, match.parameters];
};

describe('a route', () => {
  test.each([
    ['POST', '/v1/table/a/describe', ['/v1/table/{id}/describe', { id: 'a' }]],
    ['POST', '/v1/table/a%2Fb%24c/describe', ['/v1/table/{id}/describe', { id: 'a/b$c' }]],
    ['POST', '/v1/t%61ble/a/describe', ['/v1/table/{id}/describe', { id: 'a' }]],
    // A word goes before a parameter, and gives way where nothing follows it.
    ['POST', '/v1/table/version/batch', ['/v1/table/version/batch', {}]],
    ['POST', '/v1/table/version/describe', ['/v1/table/{id}/describe', { id: 'version' }]],
    ['POST', '/v1/table/version/x', ['/v1/table/{id}/{name}', { id: 'version', name: 'x' }]],
    [
      'POST',
      '/v1/table/a/index/i/stats',
      ['/v1/table/{id}/index/{name}/stats', { id: 'a', name: 'i' }],
    ],
    ['GET', '/v1/table/a/describe/all', ['/v1/table/{id}/describe/all', { id: 'a' }]],
    ['GET', '/v1/table', ['/v1/table', {}]],
    ['POST', '/v1/table/__proto__/describe', ['/v1/table/{id}/describe', { id: '__proto__' }]],
  ])('%s %s', (method, path, expected) => {
    expect(found(method, path)).toEqual(expected);
  });

  test.each([
    ['another method', 'GET', '/v1/table/a/describe'],
    ['no part', 'GET', '/'],
    ['no path', 'OPTIONS', '*'],
    ['too little', 'POST', '/v1/table/a'],
    ['too much', 'POST', '/v1/table/a/describe/x'],
    ['a slash at the end', 'POST', '/v1/table/a/describe/'],
    ['an empty parameter', 'POST', '/v1/table//describe'],
    ['the name of a member of objects', 'POST', '/constructor'],
    ['other letters', 'POST', '/V1/table/a/describe'],
  ])('none for %s', (_, method, path) => {
    expect(found(method, path)).toBeUndefined();
  });

  test.each(['/v1/table/%zz/describe', '/%ff', '/v1/%'])('%s is refused', (path) => {
    expect(() => found('POST', path)).toThrow(
      expect.objectContaining({ code: 'InvalidInput', message: expect.stringContaining('UTF-8') }),
    );
  });

  test('two of one method and path are a mistake', () => {
    const route = { method: 'GET', path: '/a/{x}' };
    expect(() => new Router([route, { method: 'GET', path: '/a/{y}' }])).toThrow('two routes');
  });
});

describe('an address', () => {
  test.each([
    ['/a/b', '/a/b', {}],
    ['/a?', '/a', {}],
    ['/a?x=1&y=2&x=3', '/a', { x: ['1', '3'], y: '2' }],
    ['/a?x=b%20c+d&e', '/a', { x: 'b c d', e: '' }],
    ['/a?x=%zz', '/a', { x: '%zz' }],
    ['http://host:80/a?x=1', '/a', { x: '1' }],
    ['HTTPS://host?x=1', '/', { x: '1' }],
    ['*', '*', {}],
  ])('%s', (url, path, query) => {
    const split = splitAddress(url);
    expect([split.path, { ...split.query }]).toEqual([path, query]);
  });

  test('has as many values as it says, and none of objects', () => {
    const { query } = splitAddress(
      `/a?${Array.from({ length: 3000 }, (_, at) => `k${at}=1`).join('&')}`,
    );
    expect(Object.keys(query)).toHaveLength(3000);
    expect(query.toString).toBeUndefined();
    expect(splitAddress('/a').query.toString).toBeUndefined();
  });
});
