/**
 * Builds steps of plans with the schema of their rows, for example `projected`, `filtered`,
 * `sorted`, `grouped`, `groupedBySets`, `marked`, `united`, `distinctRows`, and `firstRows`, which
 * keeps one row of each key. A condition that is not boolean throws InvalidInput, and so does a map
 * as a key of groups. `checkOrder` throws it for a value that has no order; `grouped` calls it for
 * ORDER BY within aggregates, `sorted` does not. `joinSchema` and `pairSchema` return the schemas
 * of a join and of its pairs, and `isHalf` recognises semi and anti joins; joins.ts builds the join
 * itself.
 */
import {
  Bool,
  childFields,
  DataType,
  Field,
  Int32,
  Int64,
  Null,
  Schema,
} from '../../arrow/index.ts';
import {
  compileConditionTree,
  compileTree,
  type Expression,
  familyOf,
  refuse,
  typeText,
} from '../../sql/index.ts';
import { hasOrder } from '../../table/index.ts';
import type {
  FilterStep,
  GroupStep,
  JoinStep,
  MarkStep,
  Plan,
  ProjectStep,
  SortKey,
  UnionStep,
  WindowStep,
} from './plan-tree.ts';
import { callTree, columnTree, textOf } from './trees.ts';

/** A column with its name and value. */
export interface NamedValue {
  readonly name: string;
  readonly value: Expression;
}

/** The field of what a tree gives: that of the column where it is one, as its metadata stays. */
function fieldOf(name: string, value: Expression, schema: Schema): Field {
  const whole =
    value.kind === 'column' && value.path.length === 1
      ? schema.fields.find((field) => field.name === value.path[0])
      : undefined;
  if (whole !== undefined) return renamed(whole, name);
  return new Field(name, compileTree(value, schema).type, true);
}

export const renamed = (field: Field, name: string, nullable = field.nullable): Field =>
  new Field(name, field.type, nullable, field.metadata);

export function projected(input: Plan, columns: readonly NamedValue[]): ProjectStep {
  const fields = columns.map(({ name, value }) => fieldOf(name, value, input.schema));
  const values = columns.map(({ value }) => value);
  return { kind: 'project', input, values, schema: new Schema(fields) };
}

/** @throws InvalidInput where it is no condition */
export function filtered(input: Plan, condition: Expression): FilterStep {
  compileConditionTree(condition, input.schema);
  return { kind: 'filter', input, condition, schema: input.schema };
}

/** Whether a join gives rows of the left side alone. */
export const isHalf = (join: string): join is 'semi' | 'anti' => join === 'semi' || join === 'anti';

/** The schema of a join: columns of a side that may be missing may be null. */
export function joinSchema(join: JoinStep['join'], left: Plan, right: Plan): Schema {
  const side = ({ schema }: Plan, mayMiss: boolean): Field[] =>
    schema.fields.map((field) => renamed(field, field.name, field.nullable || mayMiss));
  const ofLeft = side(left, join === 'full');
  if (isHalf(join)) return new Schema(ofLeft);
  return new Schema([...ofLeft, ...side(right, join !== 'inner')]);
}

/** The columns that conditions of a join may read, and its pairs have. */
export const pairSchema = ({
  join,
  left,
  right,
}: Pick<JoinStep, 'join' | 'left' | 'right'>): Schema =>
  joinSchema(isHalf(join) ? 'inner' : join, left, right);

/** The rows of the left side with a column `name` that says whether the right one has their keys. */
export const marked = (
  sides: Pick<MarkStep, 'left' | 'right' | 'keys' | 'compared'>,
  name: string,
): MarkStep => ({
  kind: 'mark',
  ...sides,
  schema: new Schema([...sides.left.schema.fields, new Field(name, new Bool(), true)]),
});

/**
 * @param at where a key without a place of its own is written
 * @throws InvalidInput for maps as keys, and for a FILTER that is no condition
 */
export function grouped(
  input: Plan,
  keys: readonly NamedValue[],
  aggregates: readonly { readonly name: string; readonly call: GroupStep['aggregates'][number] }[],
  typeOf: (call: GroupStep['aggregates'][number]) => Field['type'],
  at?: number,
): GroupStep {
  const plain = ({ name, value }: NamedValue): Field => {
    const { type } = compileTree(value, input.schema);
    if (hasMap(type)) {
      refuse(
        value.at ?? at,
        `Maps are no keys of GROUP BY, DISTINCT, UNION, INTERSECT and EXCEPT, and a column is ${typeText(type)}; take an element of it`,
      );
    }
    return new Field(name, type, true, fieldOf(name, value, input.schema).metadata);
  };
  for (const { call } of aggregates) {
    for (const { value } of call.orderBy) checkOrder(value, input.schema, textOf(value), value.at);
    if (call.filter !== undefined) compileConditionTree(call.filter, input.schema);
  }
  return {
    kind: 'group',
    input,
    keys: keys.map(({ value }) => value),
    aggregates: aggregates.map(({ call }) => call),
    schema: new Schema([
      ...keys.map(plain),
      ...aggregates.map(({ name, call }) => new Field(name, typeOf(call), call.name !== 'count')),
    ]),
  };
}

/** Groups by several sets of the keys; `name` is that of the column with the number of the set. */
export const groupedBySets = (
  step: GroupStep,
  sets: NonNullable<GroupStep['sets']>,
  name: string,
): GroupStep => ({
  ...step,
  sets,
  schema: new Schema([...step.schema.fields, new Field(name, new Int32(), false)]),
});

/**
 * @param written what the statement calls the key
 * @throws InvalidInput for a key whose values have no order
 */
export function checkOrder(key: Expression, schema: Schema, written: string, at?: number): void {
  const { type } = compileTree(key, schema);
  if (familyOf(type) === 'null' || hasOrder(type)) return;
  refuse(
    at,
    `Rows cannot be ordered by ${written}: values of ${typeText(type)} have no order here`,
  );
}

const hasMap = (type: DataType): boolean =>
  DataType.isMap(type) || childFields(type).some((field) => hasMap(field.type));

/** Rows that are equal in all columns become one. */
export const distinctRows = (input: Plan, at?: number): GroupStep =>
  grouped(
    input,
    input.schema.fields.map(({ name }) => ({ name, value: { kind: 'column', path: [name] } })),
    [],
    () => new Null(),
    at,
  );

/** A key of the type null orders nothing, and is left out. */
export function sorted(input: Plan, all: readonly SortKey[]): Plan {
  const { schema } = input;
  const keys = all.filter(({ value }) => familyOf(compileTree(value, schema).type) !== 'null');
  return keys.length === 0 ? input : { kind: 'sort', input, keys, schema };
}

export const united = (inputs: readonly Plan[], schema: Schema): UnionStep => ({
  kind: 'union',
  inputs,
  schema,
});

/** The first row in order of each value of the keys; `number` names a new column that counts rows. */
export function firstRows(
  input: Plan,
  partitionBy: readonly Expression[],
  orderBy: readonly SortKey[],
  number: string,
): FilterStep {
  const schema = new Schema([...input.schema.fields, new Field(number, new Int64(), true)]);
  const calls = [callTree('row_number')];
  const window: WindowStep = {
    ...{ kind: 'window', input, partitionBy, orderBy, frame: 'rows', calls, schema },
  };
  return filtered(window, {
    ...{ kind: 'binary', op: '=', left: columnTree(number) },
    right: { kind: 'number', text: '1' },
  });
}
