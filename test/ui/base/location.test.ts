/** The address of the page: what is written is what is read, whatever the names are. */
import { expect, test } from 'vitest';
import {
  changed,
  decoded,
  formatLocation,
  type Location,
  parseLocation,
} from '../../../src/ui/base/location.ts';

test.each<Location>([
  { kind: 'n', path: [], query: {} },
  { kind: 't', path: ['prod', 'user'], query: { view: 'rows', where: "a > 3 AND b = '?&#/%'" } },
  { kind: 't', path: ['..', '.', '-_.0'], query: { text: 'ü 日本 \u{1f600}' } },
  { kind: 't', path: ['__proto__'], query: { __proto__x: '1' } },
  { kind: 'sql', path: [], query: { q: 'SELECT 1\nFROM t -- "x"' } },
])('%j comes back as it was', (location) => {
  expect(parseLocation(formatLocation(location))).toEqual(location);
});

test.each(['', '#', '#/', '#/x/y', '#//t', '#/%zz', 'javascript:alert(1)', '#/?a=1'])(
  '%j is the root, or a place below it',
  (text) => {
    const { kind, path } = parseLocation(text);
    expect([kind, path]).toEqual(['n', []]);
  },
);

test('members that are changed to nothing go', () => {
  const location: Location = { kind: 't', path: ['a'], query: { where: 'x', top: '5' } };
  expect(changed(location, { top: undefined, where: '', view: 'rows' }).query).toEqual({
    view: 'rows',
  });
});

test.each([
  ['a%20b', 'a b'],
  ['100%', '100%'],
  ['%zz', '%zz'],
])('the text %j of an address is %j', (text, shown) => {
  expect(decoded(text)).toBe(shown);
});
