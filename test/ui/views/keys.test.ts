/**
 * Keys of what is drawn for each value or column: they are different among siblings, also where
 * values and names are alike, or else what was drawn before stays.
 */
import type { ComponentChildren, VNode } from 'preact';
import { expect, test } from 'vitest';
import { RowsOf } from '../../../src/ui/sql-page.tsx';
import { Chart } from '../../../src/ui/views/chart.tsx';
import { Histogram } from '../../../src/ui/views/histogram.tsx';
import { fieldRows } from '../../../src/ui/views/schema-view.tsx';

const isNode = (one: unknown): one is VNode<{ children?: ComponentChildren }> =>
  typeof one === 'object' && one !== null && 'props' in one;

/** Keys of siblings that have one, list by list. */
function keysIn(drawn: ComponentChildren): string[][] {
  const own = Array.isArray(drawn) ? drawn.filter(isNode).map(({ key }) => String(key)) : [];
  const inner = (Array.isArray(drawn) ? drawn : [drawn]).flatMap((one) =>
    Array.isArray(one) ? keysIn(one) : isNode(one) ? keysIn(one.props.children) : [],
  );
  return [own.filter((key) => key !== 'undefined' && key !== 'null'), ...inner];
}

const int = { type: 'int64' } as const;
const struct = (name: string) => ({
  name,
  type: { type: 'struct', fields: [{ name: 'x', type: int }] },
});
const column = { name: 'n', type: 'int64' };

test.each<[string, ComponentChildren, number]>([
  [
    'columns of a statement of one name',
    RowsOf({ answer: { columns: [column, column], rows: [[1, 2]] }, sql: 'SELECT n, n FROM t' }),
    2,
  ],
  [
    'edges that read alike',
    Histogram({ label: 'n', edges: ['0.1', '0.1', '0.1'], counts: [1, 2] }),
    2,
  ],
  [
    'fields of one name in two structs',
    [...fieldRows(struct('a'), [0]), ...fieldRows(struct('b'), [1])],
    4,
  ],
  [
    'rules of a chart of one number',
    Chart({ kind: 'bar', label: 'n', x: ['a', 'a'], y: [5e-324, 5e-324] }),
    3,
  ],
])('%s', (_, drawn, most) => {
  const lists = keysIn(drawn);
  expect(Math.max(...lists.map(({ length }) => length))).toBe(most);
  for (const keys of lists) expect(new Set(keys).size).toBe(keys.length);
});
