/** Ids of fields that a new schema takes over from a known one. */
import { expect, test } from 'vitest';
import { Field, Int32, Struct, Utf8 } from '../../../src/arrow/index.ts';
import { assignFieldIds, listFieldIds } from '../../../src/table/fields/index.ts';

const int = (name: string): Field => new Field(name, new Int32(), true);
const struct = (name: string, members: Field[]): Field =>
  new Field(name, new Struct(members), true);

test('members of one name and type keep an id each', () => {
  const fields = [struct('s', [int('a'), int('a')]), int('b')];
  const first = assignFieldIds(fields, 0);
  expect(listFieldIds(first.tree)).toEqual([0, 1, 2, 3]);
  const again = assignFieldIds(fields, first.nextFieldId, first.tree);
  expect(again).toEqual(first);
  const three = [struct('s', [int('a'), int('a')]), int('b'), int('c')];
  expect(listFieldIds(assignFieldIds(three, 4, first.tree).tree)).toEqual([0, 1, 2, 3, 4]);
});

test('a field of another type, or of another place, gets a new id', () => {
  const { tree } = assignFieldIds([int('a'), struct('s', [int('a')])], 0);
  expect(listFieldIds(tree)).toEqual([0, 1, 2]);
  const changed = [new Field('a', new Utf8(), true), struct('s', [int('a')]), int('x')];
  expect(listFieldIds(assignFieldIds(changed, 3, tree).tree)).toEqual([3, 1, 2, 4]);
});
