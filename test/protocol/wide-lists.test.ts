/** Long lists of row ids: made bigints in steps, and refused where one of them is none. */
import { expect, test } from 'vitest';
import { checkedRequest, preparedInSteps } from '../../src/protocol/checked-request.ts';
import { drained } from '../../src/steps.ts';

const prepared = (items: readonly unknown[]): object => {
  const steps = preparedInSteps('TakeRows', { id: ['t'], row_ids: items });
  if (steps === undefined) throw new Error('The list is not long.');
  return drained(steps);
};

test('a long list that was made in steps is checked as it is', () => {
  const items = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? at : String(at)));
  const found = checkedRequest('TakeRows', prepared(items)) as { row_ids: readonly bigint[] };
  expect(found.row_ids).toEqual(items.map((item) => BigInt(item)));
});

test.each([
  ['no integer', 'x'],
  ['a fraction', 1.5],
  ['null', null],
  ['beyond 64 bits', '99999999999999999999'],
])('a long list with an item that is %s is refused by its place', (_, wrong) => {
  const items: unknown[] = Array.from({ length: 20_000 }, (__, at) => at);
  items[12_345] = wrong;
  expect(() => checkedRequest('TakeRows', prepared(items))).toThrow('row_ids[12345]');
});
