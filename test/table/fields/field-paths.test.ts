/** Fields by their paths: exact names first, then without case; in time that names bound, not paths. */
import { expect, test } from 'vitest';
import { Field, Int32, List, Struct } from '../../../src/arrow/apache.ts';
import { assignFieldIds, type IdentifiedField } from '../../../src/table/fields/field-ids.ts';
import { findField } from '../../../src/table/fields/field-paths.ts';

const int = (name: string): Field => new Field(name, new Int32(), true);
const { tree } = assignFieldIds(
  [
    int('a'),
    int('A'),
    int('Once'),
    int('x.y'),
    new Field('x', new Struct([int('y'), int('z.Deep'), int('B'), int('b')]), true),
    new Field('l', new List(new Field('item', new Struct([int('in')]), true)), true),
    int('\u0130'),
    int('q`t'),
  ],
  0,
);
const named = (path: string): string | undefined => {
  try {
    const { name, chain, positions } = findField(tree, path);
    let level: readonly IdentifiedField[] = tree;
    for (const [at, position] of positions.entries()) {
      expect(level[position]).toBe(chain[at]);
      level = chain[at]?.children ?? [];
    }
    return name;
  } catch (error) {
    expect(error).toMatchObject({ code: 'TableColumnNotFound' });
    return undefined;
  }
};

test.each([
  ['a', 'a'],
  ['A', 'A'],
  ['once', 'Once'],
  ['ONCE', 'Once'],
  ['x.y', 'x.y'],
  ['X.Y', 'x.y'],
  ['x.z.Deep', 'x.z.Deep'],
  ['X.Z.DEEP', 'x.z.Deep'],
  ['x.b', 'x.b'],
  ['x.B', 'x.B'],
  ['X.b', 'x.b'],
  ['l.item.in', 'l.item.in'],
  ['l.IN', undefined],
  ['`a`', 'a'],
  ['`x`.`z.Deep`', 'x.z.Deep'],
  ['x.`Z.deep`', 'x.z.Deep'],
  ['`x.y`', 'x.y'],
  ['`q``t`', 'q`t'],
  ['q`t', 'q`t'],
  ['`a', undefined],
  ['`none`', undefined],
  ['i\u0307', '\u0130'],
  ['x', 'x'],
  ['x.', undefined],
  ['.x', undefined],
  ['x.q', undefined],
  ['x.y.z', undefined],
  ['', undefined],
  ['once.a', undefined],
])('%s is %s', (path, name) => {
  expect(named(path)).toBe(name);
});

test('a name that two others have in another case is none of them', () => {
  const { tree: alike } = assignFieldIds([int('aB'), int('Ab')], 0);
  expect(() => findField(alike, 'ab')).toThrow(/No field named ab;/);
});

test('a letter that takes two in another case is found among names of one', () => {
  const { tree: short } = assignFieldIds([int('\u0130')], 0);
  expect(findField(short, 'i\u0307').name).toBe('\u0130');
});

test('a path of many dots is looked up in as much time as the names take', () => {
  let looks = 0;
  const fields = Array.from({ length: 100 }, (_, at) => {
    const field = int(`column${at}`);
    const counted = {
      id: at,
      children: [],
      get field() {
        looks += 1;
        return field;
      },
    };
    return counted as IdentifiedField;
  });
  expect(() => findField(fields, `${'a.'.repeat(1000)}x`)).toThrow(/No field named/);
  expect(looks).toBeLessThan(100 * 100);
});
