/**
 * `plannedRecursion` plans a query of WITH RECURSIVE that reads itself. The query must be a UNION
 * whose first parts give the first rows; the other parts make more rows from those of the round
 * before. Both sides are brought to one type for each column. A query of another form throws
 * InvalidInput, and so do types that change from round to round. `refersTo` tells whether a query
 * reads a name.
 */
import { Field, Schema, typesEqual } from '../../arrow/index.ts';
import { type NamedQuery, type QueryBody, refuse } from '../../sql/index.ts';
import {
  castOf,
  castUnlessSame,
  columnTree,
  distinctRows,
  type Plan,
  projected,
  type WorkingStep,
} from '../steps/index.ts';
import type { PlannedQuery, Planner } from './planner.ts';

/** How often types may widen each other, as those of `SELECT 1 UNION ALL SELECT x + 0.5` do. */
const MOST_TRIES = 4;

/** Whether a part of a tree reads a table of that name, beside those that a WITH within it names so. */
export function refersTo(part: unknown, name: string): boolean {
  if (typeof part !== 'object' || part === null) return false;
  if (Array.isArray(part)) return part.some((item) => refersTo(item, name));
  if ('with' in part && Array.isArray(part.with) && part.with.length > 0) {
    const named = part.with as readonly NamedQuery[];
    const hiding = named.findIndex((one) => one.name.toLowerCase() === name.toLowerCase());
    // The queries before the hiding one still read the outer one, and so does it unless recursive.
    const before = hiding + (named[hiding]?.recursive === true ? 0 : 1);
    if (hiding >= 0) return named.slice(0, before).some((one) => refersTo(one.query, name));
  }
  if ('kind' in part && part.kind === 'table' && 'path' in part) {
    const [first = '', ...more] = part.path as readonly string[];
    return more.length === 0 && first.toLowerCase() === name.toLowerCase();
  }
  return Object.values(part).some((value) => refersTo(value, name));
}

/** @param withRows the planner to which the name stands for the rows of the round before */
export function plannedRecursion(
  planner: Planner,
  named: NamedQuery,
  withRows: (rows: PlannedQuery) => Planner,
): PlannedQuery {
  const { base, more, all } = partsOf(named);
  const of = (parts: readonly QueryBody[]): NamedQuery['query'] => {
    const [only] = parts as [QueryBody];
    const body: QueryBody =
      parts.length === 1 ? only : { kind: 'union', all: true, byName: false, parts };
    return { ...named.query, body };
  };
  const first = planner.query(of(base));
  const { names } = first;
  let fields = first.plan.schema.fields.map(
    (field, place) => new Field(planner.freshName(names[place] ?? ''), field.type, true),
  );
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const schema = new Schema(fields);
    const working: WorkingStep = { kind: 'working', rows: {}, schema };
    const step = planner.query(of(more), withRows({ plan: working, names }));
    if (step.names.length !== names.length) {
      const counts = `${names.length} and ${step.names.length}`;
      refuse(named.at, `The parts of ${named.name} have ${counts} columns`);
    }
    const plans = [first.plan, step.plan];
    const casts = fields.map((_, place) =>
      castOf(
        plans.map((plan) => plan.schema.fields[place]?.type as Field['type']),
        place,
        'UNION',
        named.at,
      ),
    );
    const [start, next] = plans.map((plan) =>
      projected(
        plan,
        fields.map(({ name }, place) => {
          const value = columnTree(plan.schema.fields[place]?.name ?? '');
          return { name, value: castUnlessSame(value, casts[place] ?? 'same') };
        }),
      ),
    ) as [Plan, Plan];
    const isSettled = fields.every(({ type }, place) =>
      [start, next].every((plan) =>
        typesEqual(plan.schema.fields[place]?.type as Field['type'], type),
      ),
    );
    if (isSettled) {
      // Refuses values that cannot be told apart.
      if (!all) distinctRows(start, named.at);
      const plan: Plan = {
        ...{ kind: 'recursive', base: start, step: next, rows: working.rows, all, schema },
        name: named.name,
        ...(named.at === undefined ? {} : { at: named.at }),
      };
      return { plan, names };
    }
    fields = fields.map(
      ({ name }, place) => new Field(name, next.schema.fields[place]?.type as Field['type'], true),
    );
  }
  return refuse(
    named.at,
    `The types of the columns of ${named.name} change from round to round; write a CAST in both parts`,
  );
}

/** The parts of the UNION that do not read the query, which come first, and those that do. */
function partsOf({ name, query, at }: NamedQuery): {
  base: readonly QueryBody[];
  more: readonly QueryBody[];
  all: boolean;
} {
  const { body } = query;
  const isBare = query.orderBy.length === 0 && query.orderByAll === undefined;
  if (body.kind !== 'union' || !isBare || query.limit !== undefined || query.offset !== undefined) {
    return refuse(
      at,
      `${name} reads itself, which only SELECT .. UNION ALL SELECT .. can, without ORDER BY and LIMIT of its own`,
    );
  }
  if (body.byName) refuse(at, `${name} reads itself, which UNION BY NAME cannot`);
  const from = body.parts.findIndex((part) => refersTo(part, name));
  if (from === 0 || refersTo(query.with, name)) {
    return refuse(at, `The first part of ${name} reads ${name}, and has to give its first rows`);
  }
  return { base: body.parts.slice(0, from), more: body.parts.slice(from), all: body.all };
}
