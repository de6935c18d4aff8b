/**
 * `joinOf` builds a join of two plans from its conditions, and throws InvalidInput for one that is
 * not boolean. Equations between the two plans (`keyOf`, `equationOf`) become keys, also those that
 * all alternatives of an OR have (alternatives.ts). Conditions on one plan move down into it where
 * that gives the same rows (pushed.ts). `comparableKeys` casts the two sides of each key to a
 * common type, and throws InvalidInput for a key whose sides cannot be compared. `isWithin` tells
 * whether an expression reads only the named columns.
 */
import { compileConditionTree, compileTree, type Expression, refuse } from '../../sql/index.ts';
import { impliedBy, withoutShared } from './alternatives.ts';
import { commonKeyType } from './key-types.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { ofOtherSide, pushed, withoutOuter } from './pushed.ts';
import { joinSchema, pairSchema } from './steps.ts';
import { columnsIn, joined, textOf } from './trees.ts';

export const isWithin = (tree: Expression, names: ReadonlySet<string>): boolean =>
  [...columnsIn([tree])].every((name) => names.has(name));

/** A join of two plans whose pairs fulfil all terms. */
export function joinOf(
  join: JoinStep['join'],
  left: Plan,
  right: Plan,
  terms: readonly Expression[],
  before: readonly JoinStep['keys'][number][] = [],
): JoinStep {
  const [leftNames, rightNames] = [namesOf(left), namesOf(right)];
  const keys = [...before];
  const toLeft: Expression[] = [];
  const toRight: Expression[] = [];
  const rest: Expression[] = [];
  const schema = joinSchema(join, left, right);
  const pairs = pairSchema({ join, left, right });
  const isInner = join === 'inner' || join === 'semi';
  const canFail = (term: Expression): boolean => compileConditionTree(term, pairs).canFail;
  for (const term of terms.flatMap((one) => withoutShared(one, canFail))) {
    compileConditionTree(term, pairs);
    const reads = columnsIn([term]);
    if (reads.size > 0 && isInner && isWithin(term, leftNames)) toLeft.push(term);
    else if (reads.size > 0 && join !== 'full' && isWithin(term, rightNames)) toRight.push(term);
    else {
      const key = keyOf(term, leftNames, rightNames);
      if (key !== undefined) keys.push(key);
      else {
        rest.push(term);
        const implied = impliedBy(term, canFail);
        if (isInner) toLeft.push(...implied.filter((one) => isWithin(one, leftNames)));
        if (join !== 'full') toRight.push(...implied.filter((one) => isWithin(one, rightNames)));
      }
    }
  }
  const condition = joined(rest);
  const [moreToLeft, moreToRight] = isInner
    ? [
        ofOtherSide(toRight, { keys: keys.map(turnedKey), left: right, right: left }),
        ofOtherSide(toLeft, { keys, left, right }),
      ]
    : [[], []];
  const all = [...terms, ...before.map(equationOf)];
  return {
    kind: 'join',
    join,
    left: pushed(isInner ? withoutOuter(left, all) : left, [...toLeft, ...moreToLeft]),
    right: pushed(join === 'full' ? right : withoutOuter(right, all), [...toRight, ...moreToRight]),
    keys,
    ...(condition === undefined ? {} : { condition }),
    schema,
  };
}

const turnedKey = ({ left, right }: JoinStep['keys'][number]): JoinStep['keys'][number] => ({
  left: right,
  right: left,
});

/** A key of a join as a condition. */
export const equationOf = ({ left, right }: JoinStep['keys'][number]): Expression => ({
  ...{ kind: 'binary', op: '=', left, right },
});

/** The two sides of an equation between the tables; undefined for other terms. */
export function keyOf(
  term: Expression,
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
): JoinStep['keys'][number] | undefined {
  if (term.kind !== 'binary' || term.op !== '=') return undefined;
  const [a, b] = [term.left, term.right];
  if (columnsIn([a]).size === 0 || columnsIn([b]).size === 0) return undefined;
  if (isWithin(a, left) && isWithin(b, right)) return { left: a, right: b };
  return isWithin(b, left) && isWithin(a, right) ? { left: b, right: a } : undefined;
}

/**
 * The keys of a join in forms that are equal where SQL says so: numbers of different kinds, and
 * times of different units, are converted. @throws InvalidInput for those that cannot be compared
 */
export function comparableKeys({
  left,
  right,
  keys,
}: Pick<JoinStep, 'left' | 'right' | 'keys'>): JoinStep['keys'] {
  return keys.map((key) => {
    const types = [
      compileTree(key.left, left.schema).type,
      compileTree(key.right, right.schema).type,
    ] as const;
    const cast = commonKeyType(types[0], types[1]);
    if (cast === 'same') return key;
    if (cast === 'none') {
      refuse(
        key.left.at ?? key.right.at,
        `${textOf(key.left)} and ${textOf(key.right)} cannot be compared; cast one of them`,
      );
    }
    const as = (arg: Expression): Expression => ({ kind: 'cast', arg, type: cast, lenient: false });
    return { left: as(key.left), right: as(key.right) };
  });
}
