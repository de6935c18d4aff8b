/**
 * Turns statements into plans. `tablesOf` lists the tables that a parsed statement reads. Once they
 * are open, `planStatement` makes a plan, and improves it, for example by the order of its joins;
 * it throws InvalidInput and TableColumnNotFound with the place in the text. `aggregateName`
 * resolves synonyms of aggregates, and `ROW_ID` is the hidden column of tables. The steps of plans
 * are in steps/.
 */
import { Schema } from '../../arrow/index.ts';
import type { Statement, TableReference } from '../../sql/index.ts';
import {
  groupsNarrowed,
  halvesBelow,
  joinsInOrder,
  onSides,
  type Plan,
  pruned,
  renamed,
  type TableSource,
  withoutEmpty,
  withShared,
} from '../steps/index.ts';
import { firstsOfPartitions } from './firsts.ts';
import { FreshNames } from './fresh-names.ts';
import { Planner, sourceKey } from './planner.ts';

export { ROW_ID } from './from-clause.ts';
export { aggregateName } from './functions.ts';

type NamedTable = Extract<TableReference, { kind: 'table' }>;

/** A plan, and the schema of the answer: its columns by place, each with a name of its own. */
export interface PlannedStatement {
  readonly plan: Plan;
  readonly schema: Schema;
  /** What names of the plan stand for, where they are not those of the statement. */
  readonly written: ReadonlyMap<string, readonly string[]>;
}

/** @throws InvalidInput, TableColumnNotFound with the place in the text */
export function planStatement(
  statement: Statement,
  sources: ReadonlyMap<string, TableSource>,
): PlannedStatement {
  const planner = Planner.of(sources);
  const { plan, names } = planner.query(statement);
  const own = new FreshNames();
  const fields = plan.schema.fields.map((field, place) =>
    renamed(field, own.of(names[place] as string, '', '_', 1)),
  );
  const all = new Set(plan.schema.fields.map(({ name }) => name));
  const best = groupsNarrowed(joinsInOrder(halvesBelow(withoutEmpty(plan))));
  const once = withShared(pruned(onSides(firstsOfPartitions(best)), all));
  return { plan: once, schema: new Schema(fields), written: planner.written };
}

/**
 * The tables that a statement reads, each version once. Names of WITH are none where they are
 * known.
 */
export function tablesOf(statement: Statement): Map<string, NamedTable> {
  const found = new Map<string, NamedTable>();
  lookIn(statement, new Set(), found);
  return found;
}

function lookIn(
  { with: named, body, ...rest }: Statement,
  outer: ReadonlySet<string>,
  found: Map<string, NamedTable>,
): void {
  const known = new Set(outer);
  for (const { name, query, recursive } of named) {
    if (recursive === true) known.add(name.toLowerCase());
    lookIn(query, known, found);
    known.add(name.toLowerCase());
  }
  // Queries may stand wherever a value does, so every part of the tree is looked at.
  const look = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      part.forEach(look);
      return;
    }
    if ('kind' in part && (part.kind === 'string' || part.kind === 'number')) return;
    if ('kind' in part && part.kind === 'table') {
      const reference = part as NamedTable;
      const [name = ''] = reference.path;
      const isNamed = reference.path.length === 1 && known.has(name.toLowerCase());
      if (!isNamed) found.set(sourceKey(reference), reference);
      return;
    }
    for (const [member, value] of Object.entries(part)) {
      if (member === 'query') lookIn(value as Statement, known, found);
      else look(value);
    }
  };
  look(body);
  look(rest);
}
