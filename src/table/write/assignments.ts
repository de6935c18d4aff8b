/**
 * Compiles the assignments of an update, each a field and an SQL expression (`compileAssignments`,
 * `compileAssignment`), and lists the columns to read for them (`neededColumns`,
 * `expressionColumns`), and the fields that are set (`fieldsSet`). `assignedColumns` evaluates them over one batch and returns all columns of
 * the version with the new values. An unknown field or column throws TableColumnNotFound, and a
 * null in a required field TableSchemaValidation; a value that does not fit, a field in a list, and
 * a field that is set twice throw InvalidInput. `assignedValues`, `readSource` and `withChild` do
 * parts of that for rewrite-fragments.ts.
 */
import { type Data, DataType, describeType, encodeDictionary, Vector } from '../../arrow/index.ts';
import { DirspaceError, isDirspaceError } from '../../errors.ts';
import type { RequestMemory } from '../../request-memory.ts';
import {
  type ColumnSource,
  type CompiledExpression,
  compileValue,
  type EvaluationContext,
} from '../../sql/index.ts';
import { type FieldPlace, findField, type IdentifiedField, leafOf } from '../fields/index.ts';
import { ROW_ID, ROW_OFFSET } from '../read/index.ts';
import type { Snapshot } from '../versions/index.ts';

export interface Assignment {
  readonly place: FieldPlace;
  readonly expression: CompiledExpression;
}

/** @throws TableColumnNotFound, InvalidInput naming column and type */
export async function compileAssignment(
  snapshot: Snapshot,
  place: FieldPlace,
  sql: string,
): Promise<Assignment> {
  for (const { field } of place.chain.slice(0, -1)) {
    if (DataType.isStruct(field.type)) continue;
    throw new DirspaceError(
      'InvalidInput',
      `${JSON.stringify(place.name)} lies in a ${describeType(field.type)}; only fields of structs can be set on their own.`,
    );
  }
  const { type } = leafOf(place).field;
  try {
    return { place, expression: await compileValue(sql, snapshot.schema, type) };
  } catch (error) {
    throw naming(error, place);
  }
}

/** @throws TableColumnNotFound, InvalidInput for a field that is set twice */
export async function compileAssignments(
  snapshot: Snapshot,
  pairs: readonly (readonly [path: string, sql: string])[],
): Promise<readonly Assignment[]> {
  const places = pairs.map(([path]) => findField(snapshot.fields, path));
  for (const [at, place] of places.entries()) {
    const clash = places.slice(0, at).find((other) => overlaps(place, other));
    if (clash === undefined) continue;
    throw new DirspaceError(
      'InvalidInput',
      `The column ${JSON.stringify(place.name)} is set twice${clash.name === place.name ? '' : `: it and ${JSON.stringify(clash.name)} overlap`}.`,
      { details: { column: place.name } },
    );
  }
  return Promise.all(
    places.map((place, at) => compileAssignment(snapshot, place, pairs[at]?.[1] ?? '')),
  );
}

const overlaps = (a: FieldPlace, b: FieldPlace): boolean =>
  a.chain.some((node) => node.id === leafOf(b).id) ||
  b.chain.some((node) => node.id === leafOf(a).id);

/** The fields that are set, each below the top-level column that it is in. */
export const fieldsSet = (assignments: readonly Assignment[]): readonly IdentifiedField[] =>
  assignments.flatMap(({ place }) => {
    const [top] = place.chain;
    if (top === undefined || place.chain.length === 1) return place.chain;
    return { ...top, children: [leafOf(place)] };
  });

/** Names of the columns to read: what is kept, and what the expressions need. */
export function neededColumns(snapshot: Snapshot, assignments: readonly Assignment[]): string[] {
  const replaced = new Set<number>();
  for (const { place } of assignments) {
    if (place.chain.length === 1) replaced.add(leafOf(place).id);
  }
  const names = new Set<string>();
  for (const { id, field } of snapshot.fields) if (!replaced.has(id)) names.add(field.name);
  for (const name of expressionColumns(assignments)) names.add(name);
  return [...names];
}

/** Names of the columns that the expressions need. */
export function expressionColumns(assignments: readonly Assignment[]): readonly string[] {
  const names = new Set<string>();
  for (const { expression } of assignments) {
    for (const name of expression.columns) names.add(name);
    if (expression.usesRowId) names.add(ROW_ID);
    if (expression.usesRowOffset) names.add(ROW_OFFSET);
  }
  return [...names];
}

/**
 * The version's columns with the new values in place, from those that `neededColumns` named.
 * @throws InvalidInput, TableSchemaValidation naming the column
 */
export function* assignedColumns(
  snapshot: Snapshot,
  assignments: readonly Assignment[],
  read: ReadonlyMap<string, Data>,
  rows: number,
  memory: RequestMemory,
): Generator<void, Data[]> {
  const [source, context] = readSource(read, rows, memory);
  const columns = new Map(read);
  for (const assignment of assignments) {
    const [top] = assignment.place.chain;
    const name = top?.field.name ?? '';
    const values = yield* assignedValues(assignment, source, context);
    const [, ...below] = assignment.place.positions;
    columns.set(name, withChild(columns.get(name), below, values));
    yield;
  }
  return snapshot.fields.map(({ field }) => columns.get(field.name) as Data);
}

/** Columns that were read, as expressions look at them. */
export function readSource(
  read: ReadonlyMap<string, Data>,
  rows: number,
  memory: RequestMemory,
): [source: ColumnSource, context: EvaluationContext] {
  const source: ColumnSource = {
    numRows: rows,
    getChild: (name) => {
      const data = read.get(name);
      return data === undefined ? null : new Vector([data]);
    },
  };
  const context: EvaluationContext = {
    memory,
    ...numbers('rowIds', read.get(ROW_ID)),
    ...numbers('rowOffsets', read.get(ROW_OFFSET)),
  };
  return [source, context];
}

function numbers(
  member: 'rowIds' | 'rowOffsets',
  data: Data | undefined,
): { [key in typeof member]?: BigUint64Array } {
  const { values } = data ?? {};
  return values instanceof BigUint64Array ? { [member]: values } : {};
}

/** The values of one assignment, in the type of its field. */
export function* assignedValues(
  { place, expression }: Assignment,
  source: ColumnSource,
  context: EvaluationContext,
): Generator<void, Data> {
  const { field } = leafOf(place);
  let data: Data;
  try {
    data = (yield* expression.evaluateInSteps(source, context)).data[0] as Data;
    if (DataType.isDictionary(field.type)) data = encodeDictionary(data, field.type);
  } catch (error) {
    throw naming(error, place);
  }
  if (!field.nullable && data.nullCount > 0) {
    throw new DirspaceError(
      'TableSchemaValidation',
      `The column ${JSON.stringify(place.name)} allows no nulls, and ${expression.toSql()} is null for ${data.nullCount} rows. Nothing was changed.`,
      { details: { column: place.name } },
    );
  }
  return data;
}

/** A copy of a struct with one of its members replaced, however deep; or just the member. */
export function withChild(data: Data | undefined, positions: readonly number[], child: Data): Data {
  const [position, ...below] = positions;
  if (data === undefined || position === undefined) return child;
  const children = data.children.map((known, at) =>
    at === position ? withChild(known, below, child) : known,
  );
  return data.clone(data.type, data.offset, data.length, data.nullCount, data.buffers, children);
}

function naming(error: unknown, place: FieldPlace): unknown {
  if (!isDirspaceError(error, 'InvalidInput')) return error;
  return new DirspaceError(
    error.code,
    `The column ${JSON.stringify(place.name)} (${describeType(leafOf(place).field.type)}) cannot take the value: ${error.message}`,
    { cause: error, details: { ...error.details, column: place.name } },
  );
}
