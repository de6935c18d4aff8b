/**
 * `plannedValues` plans VALUES as one step, with one type for each column. The columns are named
 * `column1`, `column2` and so on. A statement may have thousands of values, so the type of each
 * kind of literal is computed only once. A value that names a column throws InvalidInput, and so do
 * types in one column that have no common type.
 */
import { DataType, Field, Schema } from '../../arrow/index.ts';
import { compileTree, type Expression, type QueryBody, refuse } from '../../sql/index.ts';
import { castOf, castUnlessSame, rewritten, textOf } from '../steps/index.ts';
import type { PlannedQuery, Planner } from './planner.ts';

const NONE = new Schema([]);

export function plannedValues(
  planner: Planner,
  { rows, at }: Extract<QueryBody, { kind: 'values' }>,
): PlannedQuery {
  const known = new Map<string, DataType>();
  const names = (rows[0] ?? []).map((_, place) => `column${place + 1}`);
  const columns = names.map((name, place) => {
    const values = rows.map((row) => constant(row[place] as Expression));
    const types = [...new Set(values.map((value) => typeOf(value, known)))];
    const cast = castOf(types, place, 'VALUES', at);
    const shown = cast === 'same' ? values : values.map((value) => castUnlessSame(value, cast));
    const typed = types.find((type) => !DataType.isNull(type)) ?? (types[0] as DataType);
    const type = cast === 'same' ? typed : compileTree(shown[0] as Expression, NONE).type;
    return { values: shown, field: new Field(planner.freshName(name), type, true) };
  });
  return {
    plan: {
      kind: 'values',
      rows: rows.map((_, row) => columns.map(({ values }) => values[row] as Expression)),
      schema: new Schema(columns.map(({ field }) => field)),
    },
    names,
  };
}

const constant = (value: Expression): Expression =>
  rewritten(value, (part) =>
    part.kind === 'column' ? refuse(part.at, 'VALUES has no columns') : undefined,
  );

/** Types are few, and one object each. */
function typeOf(value: Expression, known: Map<string, DataType>): DataType {
  const key = alike(value);
  let type = known.get(key);
  if (type === undefined) {
    type = compileTree(value, NONE).type;
    known.set(key, type);
  }
  return type;
}

/** The same for values of one type. */
function alike(value: Expression): string {
  if (value.kind === 'number' && /^\d{1,9}$/.test(value.text)) return 'integer';
  const isLiteral = ['string', 'boolean', 'null', 'bytes'].includes(value.kind);
  return isLiteral ? value.kind : `=${textOf(value)}`;
}
