/**
 * `equalColumns` takes the equations between columns of one type out of the conditions of inner
 * joins, and returns the sets of columns that they make equal, and the other conditions. Two plans
 * then need one equation for each set that both have a column of (`keysBetween`); `equationsWithin`
 * gives those between columns of one plan. Each set comes with the most different values that it
 * can have, an estimate: as many as its smallest table has rows.
 */
import { type Expression, familyOf } from '../../sql/index.ts';
import { differentOf } from './estimates.ts';
import { keyOf } from './joins.ts';
import { commonKeyType } from './key-types.ts';
import type { JoinStep, Plan } from './plan-tree.ts';
import { namesOf } from './pruned.ts';
import { columnTree } from './trees.ts';

/** Columns that have equal values in every row of the joins. */
export interface EqualColumns {
  readonly names: ReadonlySet<string>;
  /** At most how many different values they have. */
  readonly different: number;
}

/** Of these types what is equal to one value is equal among each other. */
const FLAT: ReadonlySet<string> = new Set(
  'int float decimal text bytes bool date time timestamp'.split(' '),
);

/**
 * @param plans what is joined
 * @returns the sets, and the terms that are no such equations
 */
export function equalColumns(
  plans: readonly Plan[],
  terms: readonly Expression[],
): { readonly sets: readonly EqualColumns[]; readonly others: readonly Expression[] } {
  const planOf = new Map(plans.flatMap((plan) => [...namesOf(plan)].map((name) => [name, plan])));
  const typeOf = (name: string) =>
    planOf.get(name)?.schema.fields.find((field) => field.name === name)?.type;
  const sets = new Map<string, Set<string>>();
  const others = terms.filter((term) => {
    const names = columnsOfEquation(term);
    if (names === undefined) return true;
    const [a, b] = names;
    const [one, two] = [typeOf(a), typeOf(b)];
    if (one === undefined || two === undefined || planOf.get(a) === planOf.get(b)) return true;
    if (!FLAT.has(familyOf(one)) || commonKeyType(one, two) !== 'same') return true;
    const all = new Set([a, b].flatMap((name) => [...(sets.get(name) ?? [name])]));
    for (const name of all) sets.set(name, all);
    return false;
  });
  const different = (names: ReadonlySet<string>): number =>
    Math.min(...[...names].map((name) => differentOf(planOf.get(name) as Plan, columnTree(name))));
  return {
    sets: [...new Set(sets.values())].map((names) => ({ names, different: different(names) })),
    others,
  };
}

function columnsOfEquation(term: Expression): [string, string] | undefined {
  if (term.kind !== 'binary' || term.op !== '=') return undefined;
  const names = [term.left, term.right].flatMap((side) =>
    side.kind === 'column' && side.path.length === 1 ? side.path : [],
  );
  return names.length === 2 ? (names as [string, string]) : undefined;
}

/** Equations between columns of one plan that are in one set. */
export const equationsWithin = (
  plan: Plan,
  sets: readonly EqualColumns[],
): readonly Expression[] => {
  const own = namesOf(plan);
  return sets.flatMap(({ names }) => {
    const [first, ...more] = [...names].filter((name) => own.has(name));
    return more.map((name) => equation(first as string, name));
  });
};

/** A key of a join. */
export interface BoundKey {
  readonly key: JoinStep['keys'][number];
  /** Whether it is of a set, and not one of the other terms. */
  readonly isOfSet: boolean;
  /** At most how many different values it has, as far as its set tells. */
  readonly different: number;
}

/** The keys by which two plans are joined. */
export function keysBetween(
  left: ReadonlySet<string>,
  right: ReadonlySet<string>,
  sets: readonly EqualColumns[],
  terms: readonly Expression[],
): readonly BoundKey[] {
  const first = (side: ReadonlySet<string>, names: ReadonlySet<string>): string | undefined =>
    [...names].find((name) => side.has(name));
  return [
    ...sets.flatMap(({ names, different }) => {
      const [one, two] = [first(left, names), first(right, names)];
      if (one === undefined || two === undefined) return [];
      return [{ key: { left: columnTree(one), right: columnTree(two) }, isOfSet: true, different }];
    }),
    ...terms.flatMap((term) => {
      const key = keyOf(term, left, right);
      return key === undefined ? [] : [{ key, isOfSet: false, different: Number.MAX_SAFE_INTEGER }];
    }),
  ];
}

const equation = (left: string, right: string): Expression => ({
  ...{ kind: 'binary', op: '=', left: columnTree(left), right: columnTree(right) },
});
