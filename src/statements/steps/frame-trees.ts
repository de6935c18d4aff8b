/**
 * `frameTrees` returns the expressions that find the window frames of RANGE with distances: the key
 * of the window, and the values at which a frame starts and ends. All three are cast to one type.
 * At an end without a distance the value is the key itself. For all other frames it returns
 * undefined.
 */
import type { Expression } from '../../sql/index.ts';
import type { SortKey, WindowStep } from './plan-tree.ts';

export function frameTrees({
  frame,
  orderBy,
}: Pick<WindowStep, 'frame' | 'orderBy'>): Expression[] | undefined {
  if (typeof frame !== 'object' || frame.unit !== 'range') return undefined;
  const [key] = orderBy;
  const ends = [valueAt(key, frame.start, frame.startBy), valueAt(key, frame.end, frame.endBy)];
  if (key === undefined || ends.every((end) => end === undefined)) return undefined;
  const given = [key.value, ...ends.map((end) => end ?? key.value)];
  return given.map((tree) => inOneType(tree, given));
}

/** The value at a distance from the key of a row. @param side -1 for PRECEDING, 1 for FOLLOWING */
function valueAt(
  key: SortKey | undefined,
  side: number | undefined,
  distance: Expression | undefined,
): Expression | undefined {
  if (key === undefined || side === undefined || distance === undefined) return undefined;
  const op = side < 0 === key.ascending ? '-' : '+';
  return { kind: 'binary', op, left: key.value, right: distance, at: distance.at ?? 0 };
}

/** `tree` in the type that holds it and all others. */
const inOneType = (tree: Expression, others: readonly Expression[]): Expression => ({
  kind: 'case',
  whens: [tree, ...others].map((value) => ({
    when: { kind: 'is', arg: { kind: 'null' }, test: 'null', negated: false },
    value,
  })),
});
